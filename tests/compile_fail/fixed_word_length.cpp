// expect: fixed<WL, FL>: the word length WL must be 2 to 32 bits
#include <narrow/format/operators.hpp>

[[maybe_unused]] narrow::fixed<2, 0> shortest = 1;
[[maybe_unused]] narrow::fixed<32, 0> longest = 1;
#if OFFENCE == 1
[[maybe_unused]] narrow::fixed<1, 0> too_short = 1;
#elif OFFENCE == 2
[[maybe_unused]] narrow::fixed<33, 0> too_long = 1;
#elif OFFENCE == 3
[[maybe_unused]] narrow::fixed<0, 0> none = 1;
#elif OFFENCE == 4
[[maybe_unused]] narrow::fixed<-8, 0> negative = 1;
#endif
