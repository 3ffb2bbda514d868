// expect: narrow::fixed: Overflow must be overflow::saturate or overflow::wrap
#include <narrow/format/operators.hpp>

using narrow::fixed, narrow::rounding::nearest_even;

[[maybe_unused]] fixed<8, 4, nearest_even, narrow::overflow::wrap> wraps = 1;
#if OFFENCE == 1
[[maybe_unused]] fixed<8, 4, nearest_even, narrow::overflow::ieee> infinite = 1;
#elif OFFENCE == 2
[[maybe_unused]] fixed<8, 4, nearest_even, nearest_even> rounds = 1;
#endif
