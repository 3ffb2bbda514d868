// Polynomials and quotients of polynomials that come near to functions, in float or double, computed by the
// compiler: those that meet the function at Chebyshev nodes, whose largest error is nearly the least that
// there is (Trefethen, "Approximation theory and approximation practice", chapter 16). Of what a function is
// made of they need its values in double, which power series give.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "../../round/layout.hpp"
#include "../../runtime/environment.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel::approximation {

/// e^x by its series, from where it converges soon.
constexpr double exponential(double x) {
  constexpr int halvings = 8, terms = 16;
  double part = x;
  for (int i = 0; i < halvings; ++i) part /= 2;
  double sum = 1;
  for (int n = terms; n > 0; --n) sum = 1 + part / n * sum;
  for (int i = 0; i < halvings; ++i) sum *= sum;
  return sum;
}
/// (e^x - 1) / x for |x| < 1, without the difference.
constexpr double relative_expm1(double x) {
  double sum = 1;
  for (int n = 20; n > 1; --n) sum = 1 + x / n * sum;
  return sum;
}
/// (e^x - 1 - x) / x^2 for |x| < 1, without the differences.
constexpr double rest_of_exp(double x) {
  double sum = 1;
  for (int n = 20; n > 2; --n) sum = 1 + x / n * sum;
  return sum / 2;
}
/// (log(1 + x) - x) / x^2 for 1 + x > 0, without the difference: log(1 + x) is 2 atanh(x / (2 + x)).
constexpr double rest_of_log1p(double x) {
  const double share = x / (2 + x);
  double sum = 0;
  for (int n = 41; n > 1; n -= 2) sum = 1.0 / n + share * share * sum;
  return (2 * share * sum / (2 + x) - 1) / (2 + x);
}
/// (sin(x) - x) / x^3, by the square of x.
constexpr double rest_of_sin(double square) {
  double sum = 1;
  for (int n = 30; n > 3; n -= 2) sum = 1 - square / (n * (n + 1)) * sum;
  return -sum / 6;
}
/// log(1 + x) / x for 1 + x > 0.
constexpr double relative_log1p(double x) { return 1 + x * rest_of_log1p(x); }
/// erf(x) / x by the square of x, by a series without differences.
constexpr double relative_erf(double square) {
  double sum = 1;
  for (int n = 81; n > 1; n -= 2) sum = 1 + 2 * square / n * sum;
  return 2 * std::numbers::inv_sqrtpi * sum / exponential(square);
}
/// The share of a normal distribution that lies above x >= 0, times e^(x^2 / 2): by Laplace's continued
/// fraction, where that converges soon, and elsewhere what is left of a half.
constexpr double scaled_tail(double x) {
  constexpr double root_of_half = 1 / std::numbers::sqrt2, density = root_of_half * std::numbers::inv_sqrtpi;
  if (x < 2) return (0.5 - root_of_half * x / 2 * relative_erf(x * x / 2)) * exponential(x * x / 2);
  double fraction = x;
  for (int n = 200; n > 0; --n) fraction = x + n / fraction;
  return density / fraction;
}
constexpr double cosine(double x) {
  double sum = 1;
  for (int n = 30; n > 0; n -= 2) sum = 1 - x * x / (n * (n - 1)) * sum;
  return sum;
}
/// The float next to a normal x in the direction of zero.
constexpr float cut_to_float(double x) {
  constexpr int spare = detail::binary64::mantissa_bits - detail::binary32::mantissa_bits;
  return static_cast<float>(std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) >> spare << spare));
}
constexpr double root(double x) {
  double y = x > 1 ? x : 1;
  for (int i = 0; i < 60; ++i) y = (y + x / y) / 2;
  return y;
}
/// Numbers between low and high, the more of them the nearer to these.
template <std::size_t Count> constexpr std::array<double, Count> nodes(double low, double high) {
  std::array<double, Count> x{};
  for (std::size_t i = 0; i < Count; ++i)
    x[i] = (low + high) / 2 +
           (high - low) / 2 * cosine(std::numbers::pi * (static_cast<double>(i) + 0.5) / Count);
  return x;
}

/// The coefficients of x^0, x^1, ... in P and Q, where P / Q is the approximation and Q(0) = 1.
template <class Number, std::size_t Above, std::size_t Below> struct quotient {
  std::array<Number, Above> above{};
  std::array<Number, Below> below{};
};

/// The solution of linear equations, each with its right-hand side as the last number: Gauss's elimination.
template <std::size_t Count>
constexpr std::array<double, Count> solved(std::array<std::array<double, Count + 1>, Count> rows) {
  const auto size = [](double x) { return x < 0 ? -x : x; };
  for (std::size_t k = 0; k < Count; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < Count; ++i)
      if (size(rows[i][k]) > size(rows[pivot][k])) pivot = i;
    const auto row = rows[pivot];
    rows[pivot] = rows[k];
    rows[k] = row;
    for (std::size_t i = k + 1; i < Count; ++i) {
      const double factor = rows[i][k] / row[k];
      for (std::size_t j = k; j <= Count; ++j) rows[i][j] -= factor * row[j];
    }
  }
  std::array<double, Count> x{};
  for (std::size_t k = Count; k-- > 0;) {
    double rest = rows[k][Count];
    for (std::size_t j = k + 1; j < Count; ++j) rest -= rows[k][j] * x[j];
    x[k] = rest / rows[k][k];
  }
  return x;
}

/// P / Q that meets f between low and high, P with so many coefficients, and Q, the first of which is 1.
template <std::size_t Above, std::size_t Below, class Number = float, class F>
constexpr quotient<Number, Above, Below> quotient_near(F f, double low, double high) {
  constexpr std::size_t count = Above + Below - 1;
  std::array<std::array<double, count + 1>, count> equations{};
  const auto x = nodes<count>(low, high);
  const double scale = high > -low ? high : -low;  // so that powers are of like size
  for (std::size_t i = 0; i < count; ++i) {
    const double value = f(x[i]);
    double power = 1;
    for (std::size_t n = 0; n < Above; ++n, power *= x[i] / scale) equations[i][n] = power;
    power = x[i] / scale;
    for (std::size_t n = 1; n < Below; ++n, power *= x[i] / scale)
      equations[i][Above + n - 1] = -value * power;
    equations[i][count] = value;
  }
  const auto c = solved<count>(equations);
  quotient<Number, Above, Below> result;
  double power = 1;
  for (std::size_t n = 0; n < Above; ++n, power *= scale) result.above[n] = static_cast<Number>(c[n] / power);
  result.below[0] = 1;
  power = scale;
  for (std::size_t n = 1; n < Below; ++n, power *= scale)
    result.below[n] = static_cast<Number>(c[Above + n - 1] / power);
  return result;
}
/// The polynomial with so many coefficients that meets f between low and high.
template <std::size_t Terms, class Number = float, class F>
constexpr std::array<Number, Terms> polynomial_near(F f, double low, double high) {
  return quotient_near<Terms, 1, Number>(f, low, high).above;
}

}  // namespace narrow::kernel::approximation

NARROW_STRICT_END
