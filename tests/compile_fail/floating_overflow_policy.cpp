// expect: narrow::floating: Overflow must be overflow::ieee or overflow::saturate
#include <narrow/format/operators.hpp>

using narrow::floating, narrow::specials, narrow::rounding::nearest_even;

[[maybe_unused]] floating<5, 10, specials::ieee, nearest_even, narrow::overflow::saturate> saturates = 1;
#if OFFENCE == 1
[[maybe_unused]] floating<5, 10, specials::ieee, nearest_even, narrow::overflow::wrap> wraps = 1;
#elif OFFENCE == 2
[[maybe_unused]] floating<5, 10, specials::ieee, nearest_even, nearest_even> rounds = 1;
#endif
