// Short ways to the mantissas of fixed-point numbers: from built-in numbers, and of quotients and roots, by
// integers of 64 bits.
#pragma once

#include <cmath>

#include "pack.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Integers of at most so many digits are units in the last place of a fixed-point number that fit a word, a
/// unit being 2^-31 at least.
inline constexpr int few_digits = 31;

/// Of what a mantissa is found in a short way.
template <class T>
concept has_short_mantissa = std::integral<T> || std::same_as<T, float> || std::same_as<T, double>;

/// The mantissa of x with word length wl and fraction length fl, as that of `unpack(x)`.
template <rounding_policy Round, overflow_policy Overflow, has_short_mantissa T>
[[gnu::always_inline]] constexpr std::int32_t mantissa_of_built_in(T x, int wl, int fl, const Round& round,
                                                                   Overflow overflow) {
  if constexpr (std::integral<T>) {
    // Another policy may be a user's, who is asked even where nothing is cut off.
    if (std::same_as<Round, rounding::nearest_even> && has_digits<few_digits>(x)) [[likely]]
      return mantissa_of(static_cast<std::int64_t>(x) * (std::int64_t{1} << fl), 0, wl, round, overflow);
  } else {
    using from = layout_of_built_in_t<T>;
    const auto code = std::bit_cast<typename from::bits_type>(x);
    const auto magnitude = static_cast<typename from::bits_type>(code & from::magnitude_mask);
    if (magnitude == 0) return 0;
    // How many bits are cut off the significand: too many of a number far below a unit in the last place,
    // fewer than none of one that is far too large, of infinity and of NaN.
    const int down =
        from::bias + from::mantissa_bits - fl - static_cast<int>(magnitude >> from::mantissa_bits);
    if (0 <= down && down < bits_of<std::int64_t>) [[likely]] {
      const auto significand =
          static_cast<std::int64_t>((magnitude & from::mantissa_mask) | from::min_normal);
      return mantissa_of((code & from::sign_mask) != 0 ? -significand : significand, down, wl, round,
                         overflow);
    }
  }
  return mantissa_of(unpack(x), wl, fl, round, overflow);
}

/// a / b rounded to the nearest integer, ties to even: a is at most 2^62 in magnitude, b, which is not 0, at
/// most 2^31.
constexpr std::int64_t nearest_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t down = a / b, rest = a % b;
  const std::int64_t twice = 2 * (rest < 0 ? -rest : rest), size = b < 0 ? -b : b;
  const std::int64_t away = twice + (down & 1) > size ? 1 : 0;
  return down + ((a ^ b) < 0 ? -away : away);
}

/// The root of an integer that is not negative, rounded to the nearest one; it is never half-way between two.
/// In any rounding mode: the root of a double errs by less than 1.
inline std::int64_t nearest_root(std::int64_t x) {
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(x)));
  root -= root * root > x ? 1 : 0;
  const std::int64_t rest = x - root * root;
  return root + (rest > root ? 1 : 0);
}

}  // namespace narrow::detail
