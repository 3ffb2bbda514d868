// Counts that do not wrap.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "../errors.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// a + b, or 2^64 - 1 where that is more.
constexpr std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return a > most - b ? most : a + b;
}

/// More than any run can count one after another: centuries of nanoseconds. A count that was read and is no
/// larger can be counted on from.
inline constexpr std::uint64_t most_counted = std::uint64_t{1} << 62;

/// Throws std::invalid_argument naming the count, its value and the range, unless least <= count <= most.
inline void check_count(std::string_view owner, std::string_view name, std::uint64_t count,
                        std::uint64_t least, std::uint64_t most = most_counted) {
  if (least <= count && count <= most) return;
  fail<std::invalid_argument>(std::string(owner) + ": " + std::string(name) + " is " + std::to_string(count) +
                              ", must be in [" + std::to_string(least) + ", " + std::to_string(most) + "]");
}

}  // namespace narrow::inline NARROW_ABI::detail
