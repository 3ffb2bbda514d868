// expect: narrow::fixed: Round must be a rounding policy, see narrow::rounding
#include <narrow/format/operators.hpp>

[[maybe_unused]] narrow::fixed<8, 4, narrow::rounding::upward> up = 1;
#if OFFENCE == 1
[[maybe_unused]] narrow::fixed<8, 4, double> number = 1;
#elif OFFENCE == 2
[[maybe_unused]] narrow::fixed<8, 4, narrow::overflow::wrap> overflow = 1;
#endif
