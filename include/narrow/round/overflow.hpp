// What a format stores for a number beyond its largest.
#pragma once

#include <concepts>

#include "../config.hpp"

namespace narrow::inline NARROW_ABI {

namespace overflow {

/// Infinity or the largest finite number, as the rounding mode says (IEEE 754-2019 section 7.4). A format
/// without infinity stores NaN in its place; a format with neither saturates. Not for `fixed`.
struct ieee {};

/// The largest finite number of the same sign, also in place of infinity and for x / 0.
struct saturate {};

/// The low WL bits, as two's complement arithmetic does; infinity and x / 0, which have no low bits,
/// saturate. For `fixed` only.
struct wrap {};

}  // namespace overflow

/// One of the three structs of namespace `overflow`.
template <class T>
concept overflow_policy =
    std::same_as<T, overflow::ieee> || std::same_as<T, overflow::saturate> || std::same_as<T, overflow::wrap>;

}  // namespace narrow
