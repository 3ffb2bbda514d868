// What functions as sums of two floats (float_pairs.inl) are made of.
#pragma once

#include <array>
#include <numbers>

#include "approximations.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// A constant as the float next to it, and what it is more than that.
struct constant_pair {
  float high, low;
  explicit constexpr constant_pair(double x)
      : high(static_cast<float>(x)), low(static_cast<float>(x - double(high))) {}
};

/// Powers of two with exponents from 0 to 1, in Count steps: as many as an instruction chooses from.
template <int Count> struct powers_of_two_between {
  static constexpr constant_pair step{std::numbers::ln2 / Count};  // in exponents of e
  struct table {
    alignas(4 * Count) std::array<float, Count> high{}, low{};
  };
  static constexpr table powers = [] {
    table t;
    for (std::size_t k = 0; k < Count; ++k) {
      const constant_pair power(
          approximation::exponential(static_cast<double>(k) * std::numbers::ln2 / Count));
      t.high[k] = power.high;
      t.low[k] = power.low;
    }
    return t;
  }();
  /// (e^x - 1 - x) / x^2, as far as half a step from zero.
  static constexpr double half = std::numbers::ln2 / (2 * Count);
  static constexpr auto rest = approximation::polynomial_near < Count >= 16
                                   ? 3
                                   : 4 > ([](double x) { return approximation::rest_of_exp(x); }, -half,
                                          half);
};

}  // namespace narrow::kernel

NARROW_STRICT_END
