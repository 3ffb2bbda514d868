// expect: narrow::overflow::wrap is for narrow::fixed
#include <narrow/format/catalog.hpp>
#include <narrow/format/operators.hpp>

using narrow::fp16, narrow::narrow_cast, narrow::rounding::nearest_even;

[[maybe_unused]] auto saturated = narrow_cast<fp16>(1e9, nearest_even{}, narrow::overflow::saturate{});
#if OFFENCE == 1
[[maybe_unused]] auto wrapped = narrow_cast<fp16>(1e9, nearest_even{}, narrow::overflow::wrap{});
#endif
