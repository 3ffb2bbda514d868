// How a real number becomes one of its two neighbours in a format. To add a mode, add a struct to namespace
// rounding.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

#include "random.hpp"

namespace narrow::inline NARROW_ABI {

/// The sign of a number, zeros included.
enum class sign : std::uint8_t { positive, negative };

/// The other sign.
constexpr sign operator-(sign s) noexcept { return s == sign::positive ? sign::negative : sign::positive; }
/// The sign of a product.
constexpr sign operator*(sign a, sign b) noexcept { return a == b ? sign::positive : sign::negative; }

namespace rounding {

/// What rounding cuts off a magnitude that was truncated to the format's precision.
struct tail {
  sign of;                 ///< sign of the number
  bool odd;                ///< the truncated magnitude ends in a one
  std::uint64_t fraction;  ///< the first 64 bits cut off: fraction / 2^64 units in the last place
  bool sticky;             ///< some bit after those was one

  static constexpr std::uint64_t half = std::uint64_t{1} << 63;  ///< the fraction of half a unit

  /// Whether anything was cut off.
  constexpr bool inexact() const noexcept { return fraction != 0 || sticky; }
  /// Whether half a unit in the last place or more was cut off.
  constexpr bool at_least_half() const noexcept { return fraction >= half; }
};

// A policy has two members. `away(tail)`: does the magnitude grow by one unit in the last place? It is asked
// exactly once for each non-zero finite number that is rounded, and not of sums of saturating `fixed`, which
// are exact. `overflows_to_infinity(sign)`: what becomes of a number too large for the format, infinity or
// the largest finite number (IEEE 754-2019 section 7.4).

/// To the nearer neighbour, ties to the even mantissa (IEEE 754-2019 roundTiesToEven).
struct nearest_even {
  /// Whether the magnitude grows by one unit in the last place.
  static constexpr bool away(const tail& t) noexcept {
    const bool ties_away = t.odd | t.sticky;  // not ||, a branch on a bit that no processor can foresee
    return t.fraction > tail::half - (ties_away ? 1u : 0u);
  }
  /// Whether a number beyond the largest becomes infinity, or else the largest.
  static constexpr bool overflows_to_infinity(sign) noexcept { return true; }
};

/// To the nearer neighbour, ties to the larger magnitude (IEEE 754-2019 roundTiesToAway).
struct nearest_away {
  static constexpr bool away(const tail& t) noexcept { return t.at_least_half(); }
  static constexpr bool overflows_to_infinity(sign) noexcept { return true; }
};

/// To the smaller magnitude (IEEE 754-2019 roundTowardZero).
struct toward_zero {
  static constexpr bool away(const tail&) noexcept { return false; }
  static constexpr bool overflows_to_infinity(sign) noexcept { return false; }
};

/// Toward plus infinity (IEEE 754-2019 roundTowardPositive).
struct upward {
  static constexpr bool away(const tail& t) noexcept { return t.of == sign::positive && t.inexact(); }
  static constexpr bool overflows_to_infinity(sign s) noexcept { return s == sign::positive; }
};

/// Toward minus infinity (IEEE 754-2019 roundTowardNegative).
struct downward {
  static constexpr bool away(const tail& t) noexcept { return t.of == sign::negative && t.inexact(); }
  static constexpr bool overflows_to_infinity(sign s) noexcept { return s == sign::negative; }
};

/// An inexact number goes to the neighbour with the odd mantissa, so that rounding once more, to a format at
/// least two bits narrower, gives what one rounding would have given (Boldo and Melquiond, "When double
/// rounding is odd", 2005).
struct to_odd {
  static constexpr bool away(const tail& t) noexcept { return !t.odd && t.inexact(); }
  static constexpr bool overflows_to_infinity(sign) noexcept { return false; }
};

/// Away from zero with probability equal to the discarded fraction, so that the expected value is the number
/// itself.
///
/// The first 32 bits of the fraction count. The draw is a function of (seed, offset) alone; element i of an
/// array is rounded by `at(i)`. Without arguments the seed is a fresh ticket of the calling thread's stream
/// (`narrow::seed`).
class stochastic {
 public:
  stochastic() noexcept : stochastic(thread_stream().next()) {}
  /// Element i of an array that it rounds draws under `offset` + i.
  constexpr explicit stochastic(std::uint64_t seed, std::uint64_t offset = 0) noexcept
      : seed_(seed), offset_(offset) {}

  /// What random numbers are drawn from.
  constexpr std::uint64_t seed() const noexcept { return seed_; }
  /// The index of the draw.
  constexpr std::uint64_t offset() const noexcept { return offset_; }
  /// The policy of the element that is `index` on.
  constexpr stochastic at(std::uint64_t index) const noexcept { return stochastic(seed_, offset_ + index); }

  constexpr bool away(const tail& t) const noexcept {
    const std::uint32_t draw =
        detail::random_bits(detail::random_key(seed_, offset_), static_cast<std::uint32_t>(offset_));
    return ((t.fraction >> 32) + draw) >> 32 != 0;
  }
  static constexpr bool overflows_to_infinity(sign) noexcept { return true; }

 private:
  std::uint64_t seed_, offset_;
};

}  // namespace rounding

/// A type with the members `away` and `overflows_to_infinity`, see namespace rounding. Policies of the user's
/// own work wherever the library's do.
template <class T>
concept rounding_policy = std::copyable<T> && requires(const T& policy, const rounding::tail& t, sign s) {
  { policy.away(t) } -> std::same_as<bool>;
  { policy.overflows_to_infinity(s) } -> std::same_as<bool>;
};

namespace detail {
/// Whether an operation that rounds by a policy of its own making cannot throw: a user's policy may.
template <class Round>
inline constexpr bool rounds_without_throwing = std::is_nothrow_default_constructible_v<Round>&&
    std::is_nothrow_copy_constructible_v<Round>&& requires(const Round& policy, const rounding::tail& t,
                                                           sign s) {
  { policy.away(t) }
  noexcept;
  { policy.overflows_to_infinity(s) }
  noexcept;
};

/// Policies that tell the elements of an array apart: those that draw random numbers.
template <class Round>
concept draws_per_element = requires(const Round& round, std::uint64_t index) {
  round.at(index);
};

/// Policies that round the same number in the same way each time.
template <class Round>
concept rounds_by_rule = std::is_empty_v<Round> && !draws_per_element<Round>;
}  // namespace detail

/// The policy for element `index` of an array.
template <rounding_policy Round> constexpr Round at_element(const Round& round, std::uint64_t index) {
  if constexpr (detail::draws_per_element<Round>)
    return round.at(index);
  else
    return round;
}

}  // namespace narrow
