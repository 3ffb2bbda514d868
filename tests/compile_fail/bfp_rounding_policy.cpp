// expect: narrow::bfp: Round must be a rounding policy, see narrow::rounding
#include <narrow/block/format.hpp>

[[maybe_unused]] narrow::bfp<8, narrow::per_row, narrow::rounding::stochastic> fair = 1;
#if OFFENCE == 1
[[maybe_unused]] narrow::bfp<8, narrow::per_row, int> number = 1;
#elif OFFENCE == 2
[[maybe_unused]] narrow::bfp<8, narrow::per_row, narrow::exponent::max> exponent = 1;
#endif
