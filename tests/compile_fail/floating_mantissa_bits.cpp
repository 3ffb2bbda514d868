// expect: floating<E, M>: M must be 1 to 23 mantissa bits
#include <narrow/format/operators.hpp>

[[maybe_unused]] narrow::floating<4, 1> fewest = 1;
[[maybe_unused]] narrow::floating<8, 23> most = 1;
#if OFFENCE == 1
[[maybe_unused]] narrow::floating<4, 0> none = 1;
#elif OFFENCE == 2
[[maybe_unused]] narrow::floating<4, 24> too_many = 1;
#elif OFFENCE == 3
[[maybe_unused]] narrow::floating<4, -1> negative = 1;
#elif OFFENCE == 4
[[maybe_unused]] narrow::floating<4, 80> far_too_many = 1;
#endif
