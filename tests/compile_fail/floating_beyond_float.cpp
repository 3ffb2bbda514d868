// expect: float must hold every value; fn, fnuz and none need E of at most 7
#include <narrow/format/operators.hpp>

using narrow::floating, narrow::specials;

[[maybe_unused]] floating<8, 3, specials::ieee> ieee = 1;
[[maybe_unused]] floating<7, 3, specials::fn> fn = 1;
[[maybe_unused]] floating<7, 3, specials::fnuz> fnuz = 1;
[[maybe_unused]] floating<7, 3, specials::none> none = 1;
#if OFFENCE == 1
[[maybe_unused]] floating<8, 3, specials::fn> beyond = 1;
#elif OFFENCE == 2
[[maybe_unused]] floating<8, 3, specials::fnuz> beyond = 1;
#elif OFFENCE == 3
[[maybe_unused]] floating<8, 3, specials::none> beyond = 1;
#endif
