// Functions in programs of lanes (functions.inl).
#pragma once

#include <array>
#include <numbers>
#include <tuple>

#include "../../format/functions.hpp"
#include "approximations.hpp"
#include "program.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// A function (format/functions.hpp) of a float, rounded to float.
template <class Function, class Round = rounding::nearest_even> NARROW_KERNEL float function_of(float x) {
  using number = floating<8, detail::binary32::mantissa_bits, specials::ieee, Round>;
  const auto at = number::from_bits(std::bit_cast<std::uint32_t>(x));
  return std::bit_cast<float>(detail::function_of<Function>(at).bits());
}

// The same as operations of a program.
template <class Function> struct lane_function {};
/// For what is rounded to nearest next, to a format of at most 16 bits whose ties have Bits significant bits:
/// a float with none of these ties between it and the exact value.
template <class Function, int Bits> struct lane_function_before_rounding {};

namespace functions = detail::functions;
/// The functions that there are vectors for, `nearly` in functions.inl.
using functions_in_lanes =
    std::tuple<functions::exp, functions::expm1, functions::log, functions::log2, functions::log10,
               functions::log1p, functions::sin, functions::cos, functions::tan, functions::atan,
               functions::sinh, functions::cosh, functions::tanh, functions::atanh, functions::logistic,
               functions::asin, functions::acos, functions::asinh, functions::acosh, functions::rsqrt>;
template <class Function, class List = functions_in_lanes> inline constexpr bool has_lanes = false;
template <class Function, class... Listed>
inline constexpr bool has_lanes<Function, std::tuple<Listed...>> = (std::same_as<Function, Listed> || ...);

/// Of which a function has a finite value that is decided: a spare lane, which takes it, raises no exceptions
/// and is not computed on its own.
template <class Function> inline constexpr float usual_argument = 0.3f;
template <> inline constexpr float usual_argument<functions::acosh> = 1.3f;

/// The coefficients of x^0, x^1, ... in the power series of 2^x: (ln 2)^n / n!.
template <std::size_t Terms> consteval std::array<double, Terms> series_of_exp2() {
  std::array<double, Terms> c{1};
  for (std::size_t n = 1; n < Terms; ++n) c[n] = c[n - 1] * std::numbers::ln2 / static_cast<double>(n);
  return c;
}
/// Those of x^First, x^(First + 2), ... in that of e^x, 1 / n!, with alternating signs where Sign is -1: sinh
/// and sin from the first power on, cosh and cos from the zeroth.
template <std::size_t Terms, std::size_t First, int Sign, std::size_t Step = 2>
consteval std::array<double, Terms> series_of_exp() {
  std::array<double, Terms> c{};
  double factorial = 1, sign = 1;
  for (std::size_t n = 0, power = 0; n < Terms; ++n, sign *= Sign) {
    for (; power < First + n * Step; ++power) factorial *= static_cast<double>(power + 1);
    c[n] = sign / factorial;
  }
  return c;
}
/// Those of x, x^3, x^5, ... in that of atanh(x), 1 / n, and with alternating signs atan(x).
template <std::size_t Terms, int Sign> consteval std::array<double, Terms> series_of_atanh() {
  std::array<double, Terms> c{};
  double sign = 1;
  for (std::size_t n = 0; n < Terms; ++n, sign *= Sign) c[n] = sign / static_cast<double>(2 * n + 1);
  return c;
}
/// Those of x, x^3, x^5, ... in the power series of tanh(x), the derivative of which is 1 - tanh(x)^2.
template <std::size_t Terms> consteval std::array<double, Terms> series_of_tanh() {
  std::array<double, 2 * Terms> c{};  // of x^n
  for (std::size_t n = 0; n + 1 < 2 * Terms; ++n) {
    double derivative = n == 0 ? 1 : 0;
    for (std::size_t i = 0; i <= n; ++i) derivative -= c[i] * c[n - i];
    c[n + 1] = derivative / static_cast<double>(n + 1);
  }
  std::array<double, Terms> odd{};
  for (std::size_t i = 0; i < Terms; ++i) odd[i] = c[2 * i + 1];
  return odd;
}

/// What a first look at a function in float (float_functions.inl) has to know of a format of at most 16 bits
/// whose ties have Bits significant bits.
template <int Bits> struct quick_limits {
  static constexpr int exponent_bits = std::min(detail::binary32::exponent_bits, 17 - Bits);  // at most
  static constexpr bool is_wide = exponent_bits == detail::binary32::exponent_bits;
  /// Below this power of two all is nearer to zero than to another number.
  static constexpr int bias = 1 << (exponent_bits - 1), least_tie = 3 - bias - Bits;
  // Powers of e beyond these are rounded as these are: halfway, as logarithms go, from one number of Bits
  // significant bits to the next. Of a wide format they are zero and infinite.
  static constexpr auto least_log =
                            static_cast<float>((is_wide ? -127 : least_tie - 1.6) * std::numbers::ln2),
                        largest_log = static_cast<float>((is_wide ? 128 : bias + 0.6) * std::numbers::ln2);
  /// As far as e^-x has to go for 1 / (1 + e^-x).
  static constexpr float least_share = is_wide ? largest_log : -least_log;
  // Where 1 / (1 + e^-x) and tanh(x) come so near to 1 that they are halfway from the last such number to 1.
  static constexpr auto log_of_share = static_cast<float>((Bits + 1) * std::numbers::ln2),
                        largest_tanh = static_cast<float>((Bits + 2) * std::numbers::ln2 / 2);
  /// Whether floats have so many bits to spare that shorter polynomials do.
  static constexpr bool is_coarse = Bits <= 9;

  static constexpr std::size_t terms_of_expm1 = is_coarse ? 5 : 6;
  static constexpr auto series_of_expm1 = approximation::polynomial_near<terms_of_expm1>(
      [](double x) { return approximation::relative_expm1(x); }, -std::numbers::ln2 / 2,
      std::numbers::ln2 / 2);
  static constexpr std::size_t terms_of_tanh = is_coarse ? 4 : 5;
  /// tanh(x) / x by the square of x.
  static constexpr auto tanh = approximation::quotient_near<terms_of_tanh, 4>(
      [](double square) {
        const double x = approximation::root(square);
        return (1 - 2 / (approximation::exponential(2 * x) + 1)) / x;
      },
      0, double{largest_tanh} * largest_tanh);
};

/// More units in the last place than `quickly` errs by, a power of two. Of all floats whose function is a
/// normal one, with AVX-512, exp was off by at most 1.4 units for ties of 12 bits (fp16), logistic by 3.2,
/// tanh by 4.3 and rsqrt by 1.5; for fewer bits, where polynomials are shorter, all of them by at most 4.8.
template <int Bits, class Function> inline constexpr std::uint32_t quick_error = 8;
template <> inline constexpr std::uint32_t quick_error<12, functions::exp> = 2;
template <> inline constexpr std::uint32_t quick_error<12, functions::rsqrt> = 2;
template <> inline constexpr std::uint32_t quick_error<12, functions::logistic> = 4;

}  // namespace narrow::kernel

NARROW_STRICT_END
