// The named floating formats. A format is one line of NARROW_CATALOG: its name, its place in `all_formats`,
// and with that tests and benchmarks, follow.
#pragma once

#include <string_view>
#include <tuple>

#include "operators.hpp"

// clang-format off
/// name, exponent bits, mantissa bits, specials
#define NARROW_CATALOG(FORMAT)                                                                  \
  FORMAT(fp16, 5, 10, ieee)        /* IEEE 754-2019 binary16 */                                 \
  FORMAT(bf16, 8, 7, ieee)         /* bfloat16: the upper half of a float */                    \
  FORMAT(fp8_e5m2, 5, 2, ieee)     /* OCP OFP8 E5M2 */                                          \
  FORMAT(fp8_e4m3fn, 4, 3, fn)     /* OCP OFP8 E4M3 */                                          \
  FORMAT(fp8_e3m4, 3, 4, ieee)     /* the IEEE pattern with three exponent bits */              \
  FORMAT(fp8_e5m2fnuz, 5, 2, fnuz) /* E5M2 of Noune et al., "8-bit numerical formats" (2022) */ \
  FORMAT(fp8_e4m3fnuz, 4, 3, fnuz) /* E4M3 of Noune et al., "8-bit numerical formats" (2022) */ \
  FORMAT(fp6_e2m3, 2, 3, none)     /* OCP MX FP6 E2M3 */                                        \
  FORMAT(fp6_e3m2, 3, 2, none)     /* OCP MX FP6 E3M2 */                                        \
  FORMAT(fp4_e2m1, 2, 1, none)     /* OCP MX FP4 E2M1 */
// clang-format on

namespace narrow::inline NARROW_ABI {

/// A format of the catalogue.
#define NARROW_ALIAS(name, E, M, kind) using name = floating<E, M, specials::kind>;
NARROW_CATALOG(NARROW_ALIAS)
#undef NARROW_ALIAS

namespace detail {

/// The name of a format of the catalogue; empty for any other type.
template <class T> inline constexpr std::string_view catalog_name;
#define NARROW_NAME(name, ...) template <> inline constexpr std::string_view catalog_name<name> = #name;
NARROW_CATALOG(NARROW_NAME)
#undef NARROW_NAME

template <class, class... Ts> struct tuple_after_first { using type = std::tuple<Ts...>; };

}  // namespace detail

#define NARROW_LISTED(name, ...) , name
/// Every format of the catalogue, in its order.
using all_formats = detail::tuple_after_first<void NARROW_CATALOG(NARROW_LISTED)>::type;
#undef NARROW_LISTED
#undef NARROW_CATALOG

}  // namespace narrow
