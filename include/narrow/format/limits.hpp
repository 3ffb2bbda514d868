// std::numeric_limits and std::hash, computed from the formats' constants.
#pragma once

#include <functional>
#include <limits>

#include "operators.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Which of the standard's styles a rounding policy has: from what it answers for fractions just above 0,
/// just below and above one half and just below 1, of even and of odd numbers. A policy that has state, tells
/// elements apart or cannot be asked in a constant expression is indeterminate.
template <class Round>
inline constexpr std::float_round_style round_style = [] {
  using rounding::tail;
  if constexpr (detail::rounds_by_rule<Round> &&
                requires { typename std::bool_constant<Round{}.away(tail{})>; }) {
    constexpr auto answers = [](sign of) {
      unsigned result = 0;
      for (const bool odd : {false, true})
        for (const std::uint64_t fraction :
             {std::uint64_t{1}, tail::half - 1, tail::half + 1, ~std::uint64_t{0}})
          result = 2 * result + (Round{}.away(tail{of, odd, fraction, false}) ? 1 : 0);
      return result;
    };
    constexpr unsigned never = 0, always = 0b1111'1111, above_half = 0b0011'0011;
    constexpr unsigned up = answers(sign::positive), down = answers(sign::negative);
    if (up == above_half && down == above_half) return std::round_to_nearest;
    if (up == never && down == never) return std::round_toward_zero;
    if (up == always && down == never) return std::round_toward_infinity;
    if (up == never && down == always) return std::round_toward_neg_infinity;
  }
  return std::round_indeterminate;
}();

template <class T> struct limits_of_narrow {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_bounded = true;
  static constexpr int radix = 2;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;
  static constexpr bool has_denorm_loss = false;
  static constexpr std::float_round_style round_style = detail::round_style<typename T::round_policy>;
  /// Half a unit in the last place, or one where the mode is not to nearest. T's own policy has no part in
  /// it: a stochastic one would draw.
  static constexpr T round_error() noexcept {
    return narrow_cast<T>(round_style == std::round_to_nearest ? 0.5f : 1.0f, rounding::toward_zero{});
  }
};

}  // namespace narrow::detail

template <int E, int M, narrow::specials Specials, class Round, class Overflow>
class std::numeric_limits<narrow::floating<E, M, Specials, Round, Overflow>>
    : public narrow::detail::limits_of_narrow<narrow::floating<E, M, Specials, Round, Overflow>> {
  using T = narrow::floating<E, M, Specials, Round, Overflow>;
  using layout = typename T::layout;

 public:
  static constexpr bool is_exact = false;
  static constexpr bool is_modulo = false;
  static constexpr bool has_infinity = layout::has_infinity;
  static constexpr bool has_quiet_NaN = layout::has_nan;
  static constexpr bool has_signaling_NaN = layout::has_payload && M > 1;
  static constexpr std::float_denorm_style has_denorm = std::denorm_present;
  static constexpr bool is_iec559 =
      Specials == narrow::specials::ieee && std::is_same_v<Overflow, narrow::overflow::ieee>;

  // C17 section 5.2.4.2.2: digits10 = floor((p - 1) log10 2), max_digits10 = ceil(1 + p log10 2), with p = M
  // + 1.
  static constexpr int digits = M + 1;
  static constexpr int digits10 = narrow::detail::decimal_digits(M);
  static constexpr int max_digits10 = 2 + narrow::detail::decimal_digits(M + 1);
  static constexpr int min_exponent = layout::min_exponent + 1;
  static constexpr int min_exponent10 = -narrow::detail::decimal_digits(-layout::min_exponent);
  static constexpr int max_exponent = layout::max_exponent + 1;
  static constexpr int max_exponent10 = [] {
    int decades = 0;
    for (double power = 10; power <= double{float{T::from_bits(layout::max_finite)}}; power *= 10) ++decades;
    return decades;
  }();

  static constexpr T min() noexcept { return T::from_bits(layout::min_normal); }
  static constexpr T max() noexcept { return T::from_bits(layout::max_finite); }
  static constexpr T lowest() noexcept { return -max(); }
  static constexpr T denorm_min() noexcept { return T::from_bits(1); }
  /// From 1 to the next larger number: 2^-M.
  static constexpr T epsilon() noexcept {
    return narrow::narrow_cast<T>(1.0f / static_cast<float>(1 << M), narrow::rounding::toward_zero{});
  }
  static constexpr T infinity() noexcept {
    return has_infinity ? T::from_bits(layout::infinity) : T::from_bits(0);
  }
  static constexpr T quiet_NaN() noexcept {
    return has_quiet_NaN ? T::from_bits(layout::quiet_nan) : T::from_bits(0);
  }
  static constexpr T signaling_NaN() noexcept {
    if constexpr (has_signaling_NaN)  // a payload other than 0, without the quiet bit
      return T::from_bits(
          static_cast<typename T::bits_type>(layout::exponent_mask | (layout::quiet_bit >> 1)));
    return quiet_NaN();
  }
};

template <int WL, int FL, class Round, class Overflow>
class std::numeric_limits<narrow::fixed<WL, FL, Round, Overflow>>
    : public narrow::detail::limits_of_narrow<narrow::fixed<WL, FL, Round, Overflow>> {
  using T = narrow::fixed<WL, FL, Round, Overflow>;

 public:
  static constexpr bool is_exact = true;
  static constexpr bool is_modulo = std::is_same_v<Overflow, narrow::overflow::wrap>;
  static constexpr bool has_infinity = false;
  static constexpr bool has_quiet_NaN = false;
  static constexpr bool has_signaling_NaN = false;
  static constexpr bool is_iec559 = false;
  static constexpr std::float_denorm_style has_denorm = std::denorm_absent;

  static constexpr int digits = WL - 1;
  static constexpr int digits10 = narrow::detail::decimal_digits(WL - 1);
  static constexpr int max_digits10 = 2 + narrow::detail::decimal_digits(WL);
  static constexpr int min_exponent = 1 - FL;
  static constexpr int min_exponent10 = -narrow::detail::decimal_digits(FL);
  static constexpr int max_exponent = WL - 1 - FL;
  static constexpr int max_exponent10 =  // 10^0 is too large where no bit is left before the point
      FL == WL - 1 ? -1 : narrow::detail::decimal_digits(WL - 1 - FL);

  /// The smallest positive number, which is also the step.
  static constexpr T min() noexcept { return T::from_bits(1); }
  static constexpr T max() noexcept {
    return T::from_bits(std::numeric_limits<std::int32_t>::max() >> (32 - WL));
  }
  static constexpr T lowest() noexcept {
    return T::from_bits(std::numeric_limits<std::int32_t>::min() >> (32 - WL));
  }
  static constexpr T denorm_min() noexcept { return min(); }
  static constexpr T epsilon() noexcept { return min(); }
  static constexpr T infinity() noexcept { return T::from_bits(0); }
  static constexpr T quiet_NaN() noexcept { return T::from_bits(0); }
  static constexpr T signaling_NaN() noexcept { return T::from_bits(0); }
};

/// Equal numbers, the two zeros among them, have equal hashes.
template <narrow::narrow_scalar T> struct std::hash<T> {
  std::size_t operator()(T x) const noexcept {
    const bool zero = x == T::from_bits(0);
    return std::hash<typename T::bits_type>{}(zero ? typename T::bits_type{0} : x.bits());
  }
};
