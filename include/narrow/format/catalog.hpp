// The named floating formats. To add one, add its line and its place in `all_formats`: tests and benchmarks
// follow.
#pragma once

#include <tuple>

#include "operators.hpp"

namespace narrow::inline NARROW_ABI {

using fp16 = floating<5, 10>;  ///< IEEE 754-2019 binary16
using bf16 = floating<8, 7>;   ///< bfloat16: the upper half of a float

using fp8_e5m2 = floating<5, 2>;                      ///< OCP OFP8 E5M2
using fp8_e4m3fn = floating<4, 3, specials::fn>;      ///< OCP OFP8 E4M3
using fp8_e3m4 = floating<3, 4>;                      ///< the IEEE pattern with three exponent bits
using fp8_e5m2fnuz = floating<5, 2, specials::fnuz>;  ///< Noune et al., "8-bit numerical formats" (2022)
using fp8_e4m3fnuz = floating<4, 3, specials::fnuz>;  ///< Noune et al., "8-bit numerical formats" (2022)

using fp6_e2m3 = floating<2, 3, specials::none>;  ///< OCP MX FP6 E2M3
using fp6_e3m2 = floating<3, 2, specials::none>;  ///< OCP MX FP6 E3M2
using fp4_e2m1 = floating<2, 1, specials::none>;  ///< OCP MX FP4 E2M1

using all_formats = std::tuple<fp16, bf16, fp8_e5m2, fp8_e4m3fn, fp8_e3m4, fp8_e5m2fnuz, fp8_e4m3fnuz,
                               fp6_e2m3, fp6_e3m2, fp4_e2m1>;

}  // namespace narrow::inline NARROW_ABI
