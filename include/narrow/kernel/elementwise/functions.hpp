// Functions in programs of lanes (functions.inl): of a float, rounded to the nearest float.
#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include "program.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

// `of` is the function in double, which decides where vectors cannot.

struct exponential {
  static double of(double x) { return std::exp(x); }
};
struct hyperbolic_tangent {
  static double of(double x) { return std::tanh(x); }
};
struct logistic {
  static double of(double x) { return 1 / (1 + std::exp(-x)); }
};

/// Function of a number: its value in double, rounded to float. (The C library's double errs by less than a
/// unit in its last place, so that of 2^28 results one may lie so near to the middle of two floats that the
/// wrong one is taken.)
template <class Function> NARROW_KERNEL float function_of(float x) {
  return static_cast<float>(Function::of(static_cast<double>(x)));
}
/// The same as an operation of a program.
template <class Function> struct lane_function {};

/// The coefficients of x^0, x^1, ... in the power series of 2^x: (ln 2)^n / n!.
template <std::size_t Terms> consteval std::array<double, Terms> series_of_exp2() {
  std::array<double, Terms> c{1};
  for (std::size_t n = 1; n < Terms; ++n) c[n] = c[n - 1] * std::numbers::ln2 / static_cast<double>(n);
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

}  // namespace narrow::kernel

NARROW_STRICT_END
