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
/// The functions that there are vectors for, `nearly` in functions.inl or `quickly` in float_functions.inl.
using functions_in_lanes =
    std::tuple<functions::exp, functions::expm1, functions::log, functions::log2, functions::log10,
               functions::log1p, functions::sin, functions::cos, functions::tan, functions::atan,
               functions::sinh, functions::cosh, functions::tanh, functions::atanh, functions::logistic,
               functions::asin, functions::acos, functions::asinh, functions::acosh, functions::rsqrt,
               functions::erf, functions::erfc, functions::softplus, functions::silu, functions::gelu,
               functions::gelu_tanh>;
template <class Function, class List = functions_in_lanes> inline constexpr bool has_lanes = false;
template <class Function, class... Listed>
inline constexpr bool has_lanes<Function, std::tuple<Listed...>> = (std::same_as<Function, Listed> || ...);

/// Of which a function has a finite value that is decided: a spare lane, which takes it, raises no exceptions
/// and is not computed on its own.
template <class Function> inline constexpr float usual_argument = 0.3f;
template <> inline constexpr float usual_argument<functions::acosh> = 1.3f;

/// The coefficients of x^0, x^1, ... in a polynomial that comes near to (2^x - 1) / x as far as 1/2 from
/// zero.
template <std::size_t Terms> consteval std::array<double, Terms> relative_growth_of_exp2() {
  return approximation::polynomial_near<Terms, double>(
      [](double x) { return std::numbers::ln2 * approximation::relative_expm1(x * std::numbers::ln2); }, -0.5,
      0.5);
}
/// The coefficients of x^First, x^(First + 2), ... in the power series of e^x, 1 / n!, with alternating signs
/// where Sign is -1: sinh and sin from the first power on, cosh and cos from the zeroth.
template <std::size_t Terms, std::size_t First, int Sign>
consteval std::array<double, Terms> series_of_exp() {
  std::array<double, Terms> c{};
  double factorial = 1, sign = 1;
  for (std::size_t n = 0, power = 0; n < Terms; ++n, sign *= Sign) {
    for (; power < First + 2 * n; ++power) factorial *= static_cast<double>(power + 1);
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

}  // namespace narrow::kernel

NARROW_STRICT_END
