// expect: narrow::overflow::ieee is for narrow::floating
#include <narrow/format/catalog.hpp>
#include <narrow/format/operators.hpp>

using fixed = narrow::fixed<8, 4>;
using narrow::narrow_cast, narrow::rounding::nearest_even;

[[maybe_unused]] auto wrapped = narrow_cast<fixed>(1e9, nearest_even{}, narrow::overflow::wrap{});
#if OFFENCE == 1
[[maybe_unused]] auto infinite = narrow_cast<fixed>(1e9, nearest_even{}, narrow::overflow::ieee{});
#endif
