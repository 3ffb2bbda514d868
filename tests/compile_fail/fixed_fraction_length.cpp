// expect: fixed<WL, FL>: the fraction length FL must be 0 to WL - 1
#include <narrow/format/operators.hpp>

[[maybe_unused]] narrow::fixed<8, 0> shortest = 1;
[[maybe_unused]] narrow::fixed<8, 7> longest = 0.5;
#if OFFENCE == 1
[[maybe_unused]] narrow::fixed<8, -1> negative = 1;
#elif OFFENCE == 2
[[maybe_unused]] narrow::fixed<8, 8> whole_word = 0.5;
#elif OFFENCE == 3
[[maybe_unused]] narrow::fixed<8, 40> beyond = 0.5;
#endif
