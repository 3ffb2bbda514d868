// expect: floating<E, M>: E must be 2 to 8 exponent bits
#include <narrow/format/operators.hpp>

[[maybe_unused]] narrow::floating<2, 3> fewest = 1;
[[maybe_unused]] narrow::floating<8, 3> most = 1;
#if OFFENCE == 1
[[maybe_unused]] narrow::floating<1, 3> too_few = 1;
#elif OFFENCE == 2
[[maybe_unused]] narrow::floating<9, 3> too_many = 1;
#elif OFFENCE == 3
[[maybe_unused]] narrow::floating<0, 3> none = 1;
#elif OFFENCE == 4
[[maybe_unused]] narrow::floating<-1, 3> negative = 1;
#elif OFFENCE == 5
[[maybe_unused]] narrow::floating<40, 3> far_too_many = 1;
#endif
