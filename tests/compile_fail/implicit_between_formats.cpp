// expect: (conversion from .* requested|no viable conversion from)
#include <narrow/format/catalog.hpp>
#include <narrow/format/operators.hpp>

using narrow::fp16, narrow::bf16, narrow::fp8_e5m2;
using fixed = narrow::fixed<8, 4>;

constexpr bf16 coarse = 1;
constexpr fixed point = 1;
[[maybe_unused]] fp16 direct = fp16(coarse);
[[maybe_unused]] fp16 cast = narrow::narrow_cast<fp16>(point);
[[maybe_unused]] float carrier = coarse;
#if OFFENCE == 1
[[maybe_unused]] fp16 implicit = coarse;
#elif OFFENCE == 2
[[maybe_unused]] fp16 implicit = point;
#elif OFFENCE == 3
[[maybe_unused]] fixed implicit = coarse;
#elif OFFENCE == 4
[[maybe_unused]] fp16 implicit = fp8_e5m2(1);  // no value would be lost: explicit all the same
#elif OFFENCE == 5
[[maybe_unused]] narrow::fixed<16, 4> implicit = point;
#endif
