// Functions of real numbers, rounded once: their values in double, and what is known of them where a double
// does not tell to which side of a number of a narrow format the exact value lies.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "limits.hpp"

// It has no layout for a list that is no code.
// clang-format off
// The elementary functions: F(name) of each.
#define NARROW_ELEMENTARY_FUNCTIONS(F)                                                  \
  F(exp) F(expm1) F(log) F(log2) F(log10) F(log1p) F(sin) F(cos) F(tan) F(asin) F(acos) \
  F(atan) F(sinh) F(cosh) F(tanh) F(asinh) F(acosh) F(atanh) F(rsqrt) F(logistic)
// clang-format on

namespace narrow::inline NARROW_ABI::detail {

/// The value of a number in double or long double.
template <std::floating_point Wide, narrow_scalar T> constexpr Wide widened(T x) {
  return static_cast<Wide>(double_of(x));
}
template <std::floating_point Wide, arithmetic_operand T> constexpr Wide widened(T x) {
  return static_cast<Wide>(x);
}
template <std::floating_point Wide> constexpr Wide widened(literal x) { return x.value; }

template <narrow_scalar T, class Word> constexpr T rounded(const unpacked<Word>& x) {
  return T(x, typename T::round_policy{}, typename T::overflow_policy{});
}

/// A number of few bits at which the exact value of a function lies, or so near to it that only `side`
/// matters.
struct neighbour {
  double number;
  int side;  // that of the exact value: -1 below the number, 0 it is the number, 1 above
};
constexpr int sign_of(double x) { return x < 0 ? -1 : 1; }
/// The number nearest to x of half as many bits as a double has; in any floating-point environment.
constexpr double with_few_bits(double x) {
  constexpr std::uint64_t one = std::uint64_t{1} << (binary64::mantissa_bits / 2);
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(x) + one / 2) & ~(one - 1));
}
/// Between the number and zero, or beyond it.
constexpr neighbour toward_zero_of(double number) { return {number, -sign_of(number)}; }
constexpr neighbour away_from_zero_of(double number) { return {number, sign_of(number)}; }

/// What a function has unless it says otherwise.
struct usual_function {
  /// More units in the last place than `of` errs by.
  static constexpr int error = 64;
  /// Whether the exact value is not the zero or the infinity that `of` gives for a finite number other than
  /// zero.
  static constexpr bool underflows = false, overflows = false;
  /// Asked where y, the value of x in double, lies within its error of a number of few bits: that number, and
  /// the side of it on which the exact value lies. x is finite, y neither zero nor infinite. A function that
  /// says nothing has such values only where they are exact.
  static neighbour near(double /*x*/, double y) { return {with_few_bits(y), 0}; }
};

/// Functions by their names, each with its value in double, `of`, and in float where Eigen has the function.
/// What `near` says are the first terms of power series, limits and exact values. By the theorem of Lindemann
/// and Weierstrass functions that are made of exponentials have no others at rational numbers.
namespace functions {

struct exp : usual_function {
  static constexpr bool underflows = true, overflows = true;
  template <std::floating_point Real> static Real of(Real x) { return std::exp(x); }
  static neighbour near(double x, double) { return {1, x == 0 ? 0 : sign_of(x)}; }
};
struct exp2 : usual_function {
  static constexpr bool underflows = true, overflows = true;
  template <std::floating_point Real> static Real of(Real x) { return std::exp2(x); }
  static neighbour near(double x, double) {
    const double whole = std::round(x);
    return {std::ldexp(1, static_cast<int>(whole)), x == whole ? 0 : sign_of(x - whole)};
  }
};
struct expm1 : usual_function {
  static constexpr bool overflows = true;
  template <std::floating_point Real> static Real of(Real x) { return std::expm1(x); }
  static neighbour near(double x, double) { return {x < -1 ? -1 : x, 1}; }
};
struct log : usual_function {
  template <std::floating_point Real> static Real of(Real x) { return std::log(x); }
};
struct log2 : usual_function {
  template <std::floating_point Real> static Real of(Real x) { return std::log2(x); }
};
struct log10 : usual_function {
  template <std::floating_point Real> static Real of(Real x) { return std::log10(x); }
};
struct log1p : usual_function {
  template <std::floating_point Real> static Real of(Real x) { return std::log1p(x); }
  static neighbour near(double x, double) { return {x, -1}; }
};
struct cbrt : usual_function {
  template <std::floating_point Real> static Real of(Real x) { return std::cbrt(x); }
};
/// 1 / sqrt(x)
struct rsqrt : usual_function {
  template <std::floating_point Real> static Real of(Real x) { return 1 / std::sqrt(x); }
  /// The number is below the exact value where its square times x is less than 1.
  static neighbour near(double x, double y) {
    const double number = with_few_bits(y), square = opaque(number * number), product = opaque(square * x);
    const double rest = opaque(1 - product) - std::fma(square, x, -product);
    return {number, rest == 0 ? 0 : sign_of(rest)};
  }
};
struct sin : usual_function {
  template <std::floating_point Real> static Real of(Real x) { return std::sin(x); }
  static neighbour near(double x, double) { return toward_zero_of(x); }
};
struct cos : usual_function {
  template <std::floating_point Real> static Real of(Real x) { return std::cos(x); }
  static neighbour near(double x, double) { return {1, x == 0 ? 0 : -1}; }
};
struct tan : usual_function {
  template <std::floating_point Real> static Real of(Real x) { return std::tan(x); }
  static neighbour near(double x, double) { return away_from_zero_of(x); }
};
struct asin : usual_function {
  template <std::floating_point Real> static Real of(Real x) { return std::asin(x); }
  static neighbour near(double x, double) { return away_from_zero_of(x); }
};
struct acos : usual_function {
  template <std::floating_point Real> static Real of(Real x) { return std::acos(x); }
};
struct atan : usual_function {
  template <std::floating_point Real> static Real of(Real x) { return std::atan(x); }
  static neighbour near(double x, double) { return toward_zero_of(x); }
};
struct sinh : usual_function {
  static constexpr bool overflows = true;
  template <std::floating_point Real> static Real of(Real x) { return std::sinh(x); }
  static neighbour near(double x, double) { return away_from_zero_of(x); }
};
struct cosh : usual_function {
  static constexpr bool overflows = true;
  template <std::floating_point Real> static Real of(Real x) { return std::cosh(x); }
  static neighbour near(double x, double) { return {1, x == 0 ? 0 : 1}; }
};
struct tanh : usual_function {
  template <std::floating_point Real> static Real of(Real x) { return std::tanh(x); }
  static neighbour near(double x, double) { return toward_zero_of(std::abs(x) < 1 ? x : sign_of(x)); }
};
struct asinh : usual_function {
  template <std::floating_point Real> static Real of(Real x) { return std::asinh(x); }
  static neighbour near(double x, double) { return toward_zero_of(x); }
};
struct acosh : usual_function {
  template <std::floating_point Real> static Real of(Real x) { return std::acosh(x); }
};
struct atanh : usual_function {
  template <std::floating_point Real> static Real of(Real x) { return std::atanh(x); }
  static neighbour near(double x, double) { return away_from_zero_of(x); }
};
struct erf : usual_function {
  static double of(double x) { return std::erf(x); }
  static neighbour near(double x, double) { return toward_zero_of(sign_of(x)); }
};
struct erfc : usual_function {
  static constexpr bool underflows = true;
  static double of(double x) { return std::erfc(x); }
  static neighbour near(double x, double) {
    return x < -1 ? neighbour{2, -1} : neighbour{1, x == 0 ? 0 : -sign_of(x)};
  }
};
struct lgamma : usual_function {
  static double of(double x) { return std::lgamma(x); }
};
/// Whole numbers for whole numbers; near zero 1 / x less Euler's constant.
struct tgamma : usual_function {
  static constexpr bool underflows = true, overflows = true;
  static double of(double x) { return std::tgamma(x); }
  static neighbour near(double x, double y) {
    return std::abs(x) < 1 ? neighbour{1 / x, -1} : neighbour{with_few_bits(y), 0};
  }
};

// What networks are made of. `of` multiplies the relative error of an argument of exp or erfc by that
// argument, which is below 100 where the result is not too small for float. Below -1000 all are nearer to
// zero than any double.

/// 1 / (1 + e^-x)
struct logistic : usual_function {
  static constexpr bool underflows = true;
  template <std::floating_point Real> static Real of(Real x) { return 1 / (1 + std::exp(-x)); }
  static neighbour near(double x, double) {
    return x > 1 ? neighbour{1, -1} : neighbour{0.5, x == 0 ? 0 : sign_of(x)};
  }
};
/// log(1 + e^x)
struct softplus : usual_function {
  static constexpr bool underflows = true;
  static double of(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
  static neighbour near(double x, double) { return {x, 1}; }
};
/// x times a share that grows from 0 by way of 1/2 at zero to 1.
struct gated : usual_function {
  static constexpr int error = 4096;
  static constexpr bool underflows = true;
  static neighbour near(double x, double) { return x > 1 ? neighbour{x, -1} : neighbour{x / 2, 1}; }
  /// Not of NaN, which under -ffast-math only its bits tell.
  static bool vanishes(double x) { return x < -1000 && !binary64::is_nan(std::bit_cast<std::uint64_t>(x)); }
};
/// x logistic(x)
struct silu : gated {
  static double of(double x) { return vanishes(x) ? -0.0 : x / (1 + std::exp(-x)); }
};
/// x Phi(x), with Gauss's distribution function
struct gelu : gated {
  static double of(double x) { return vanishes(x) ? -0.0 : x / 2 * std::erfc(-x / std::numbers::sqrt2); }
};
/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
struct gelu_tanh : gated {
  static double of(double x) {
    constexpr double twice_root = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    return vanishes(x) ? -0.0 : x / (1 + std::exp(-twice_root * (x + 0.044715 * x * x * x)));
  }
};

// Of two arguments, of which the first one is `x` in what usual_function says.

/// x^y. A value in double within its error of a number of few bits is taken for that, unless it is 1: if
/// powers lie at random, fewer than one in 2^30 is so near to one without being one.
struct pow : usual_function {
  static constexpr bool underflows = true, overflows = true;
  template <std::floating_point Real> static Real of(Real x, Real y) { return std::pow(x, y); }
  static neighbour near(double x, double y, double value) {
    const double number = with_few_bits(value), size = std::abs(x);
    if (std::abs(number) != 1 || size == 1 || y == 0) return {number, 0};
    return (size > 1) == (y > 0) ? away_from_zero_of(number) : toward_zero_of(number);
  }
};
struct atan2 : usual_function {
  template <std::floating_point Real> static Real of(Real y, Real x) { return std::atan2(y, x); }
  static neighbour near(double y, double x, double) {
    const double ratio = with_few_bits(y / x);
    return opaque(ratio * x) == y ? toward_zero_of(ratio) : toward_zero_of(y / x);
  }
};
struct hypot : usual_function {
  template <std::floating_point Real> static Real of(Real x, Real y) { return std::hypot(x, y); }
  /// The squares are exact, and so is the difference of two that differ by less than a factor of 2: if
  /// -ffast-math leaves the sum in this order.
  static neighbour near(double x, double y, double value) {
    const double number = with_few_bits(value), large = std::max(std::abs(x), std::abs(y)),
                 small = std::min(std::abs(x), std::abs(y));
    const double rest = opaque(opaque(large * large) - opaque(number * number)) + small * small;
    return {number, rest == 0 ? 0 : sign_of(rest)};
  }
};

}  // namespace functions

/// The significant bits of a number half-way between two neighbours in a format.
template <narrow_scalar T> consteval int bits_of_ties() {
  if constexpr (narrow_float<T>)
    return T::layout::mantissa_bits + 2;
  else
    return T::word_length;
}

/// Whether no number with so many significant bits lies within `error` units in the last place of x.
template <int Bits, std::floating_point Real> constexpr bool is_far_from_ties(Real x, int error) {
  using layout = layout_of_built_in_t<Real>;
  using word = typename layout::bits_type;
  constexpr word spacing = word{1} << (layout::mantissa_bits + 1 - Bits);
  const word beyond = std::bit_cast<word>(x) & (spacing - 1), margin = static_cast<word>(error);
  return beyond - margin <= spacing - 2 * margin;
}

/// A neighbour, and on the other side of it whatever is between it and all others.
constexpr unpacked<std::uint64_t> unpack(const neighbour& x) {
  auto result = unpack(x.number);
  if (x.side == 0) return result;
  const bool away = (x.side < 0) == (result.of == sign::negative);
  result.sticky = true;
  if (!away) {  // the odd number before four times as much, and the sticky rest
    result.significand = 4 * result.significand - 1;
    result.exponent -= 2;
  }
  return result;
}
/// A number that double takes for zero or for infinity.
constexpr unpacked<std::uint64_t> beyond_double(sign of, int exponent) {
  return {kind::finite, of, true, exponent, 1};
}

/// The result where the value of x, ... in double does not decide it.
template <class Function, narrow_scalar T, class... Rest>
[[gnu::cold, gnu::noinline]] T rounded_near_tie(double value, double x, Rest... rest) {
  constexpr int beyond = 2 * binary64::bias, least = -1000;  // exponents; below `least` double has fewer bits
  const auto is_number = [](double at) {
    return unpack(at).what == kind::zero || unpack(at).what == kind::finite;
  };
  const auto about = unpack(value);
  const bool is_zero = unpack(x).what == kind::zero;
  if (!(is_number(x) && ... && is_number(rest)) || about.what == kind::nan) return T(value);
  if (about.what == kind::zero || (about.what == kind::finite && about.leading() < least))
    return Function::underflows && !is_zero ? rounded<T>(beyond_double(about.of, -beyond)) : T(value);
  if (about.what == kind::infinite)
    return narrow_float<T> && Function::overflows && !is_zero ? rounded<T>(beyond_double(about.of, beyond))
                                                              : T(value);
  const neighbour near = Function::near(x, rest..., value);
  constexpr unsigned margin = 2 * Function::error;
  const std::uint64_t distance =
      std::bit_cast<std::uint64_t>(near.number) - std::bit_cast<std::uint64_t>(value);
  return distance + margin <= 2 * margin ? rounded<T>(unpack(near)) : T(value);
}

/// The exact value of a function, rounded once by the policy of T, a format of at most 16 bits; of formats
/// with more that of a number within Function::error units of double's last place. Stochastic rounding, and
/// policies with a state of their own, round the double.
template <class Function, narrow_scalar T, class... Rest> T rounded_value(double x, Rest... rest) {
  const double value = Function::of(x, rest...);
  if constexpr (std::is_empty_v<typename T::round_policy>)
    if (!is_far_from_ties<bits_of_ties<T>()>(value, Function::error)) [[unlikely]]
      return rounded_near_tie<Function, T>(value, x, rest...);
  return T(value);
}
/// What float holds as it is: numbers of some formats, and some of these integers; subnormal floats may be
/// flushed.
template <class T>
concept enters_float = std::integral<T> || narrow_float<T>;
template <enters_float T> constexpr bool is_float(T x) {
  if constexpr (std::integral<T>) {
    return has_digits<std::numeric_limits<float>::digits>(x);
  } else {
    using layout = typename T::layout;
    const std::uint32_t magnitude = x.bits() & std::uint32_t{layout::magnitude_mask};
    return !deciding_floats<layout>::may_flush || magnitude == 0 || magnitude >= layout::min_normal;
  }
}
/// Functions of which <cmath> has the value in float, or from which it is a step or two.
template <class Function, class... X>
concept has_float_value =
    (enters_float<X> && ...) && std::same_as<decltype(Function::of(static_cast<float>(X{})...)), float>;
/// More units in the last place than such a value errs by, in whichever rounding mode; those of glibc err by
/// up to 3 to nearest (The GNU C Library Reference Manual, "Known maximum errors in math functions").
inline constexpr int float_error = 32;

/// The exact value of a function: where the value in float tells what it is rounded to, which takes half as
/// long as that in double, by way of that.
template <class Function, narrow_scalar T, class... X> T value_rounded_once(X... x) {
  if constexpr (has_float_value<Function, X...> && computed_in_float<T>)
    if ((is_float(x) && ...)) {
      const float value = opaque(Function::of(opaque(static_cast<float>(x))...));
      const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & binary32::magnitude_mask;
      if (magnitude - binary32::min_normal < binary32::infinity - binary32::min_normal &&
          is_far_from_ties<bits_of_ties<T>()>(value, float_error)) [[likely]]
        return T(value);
    }
  return rounded_value<Function, T>(widened<double>(x)...);
}
template <class Function, narrow_scalar T> T function_of(T x) { return value_rounded_once<Function, T>(x); }

}  // namespace narrow::detail
