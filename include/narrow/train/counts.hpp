// Counts that do not wrap.
#pragma once

#include <cstdint>
#include <limits>

#include "../config.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// a + b, or 2^64 - 1 where that is more.
constexpr std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  return a > largest - b ? largest : a + b;
}

/// More than any run can count one after another: 2^62 nanoseconds are 146 years. A count that was read and
/// is no larger can be counted on from.
inline constexpr std::uint64_t max_count = std::uint64_t{1} << 62;

}  // namespace narrow::detail
