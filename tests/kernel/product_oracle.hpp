// Operands and exact results for the tests of products and sums.
#pragma once

#include <cstddef>
#include <vector>

#include "../refusal.hpp"
#include "../round/arithmetic.hpp"

namespace test {

/// The exact value of any finite scalar.
template <class T> mpq_class exact_value(T x) {
  if constexpr (narrow::narrow_fixed<T>)
    return oracle::value(x);
  else
    return oracle::value(oracle::operand(oracle::datum_of(x)));
}

/// A random number of T whose products with others leave float's range on neither side: |x| in [2^-30, 2^16],
/// fewer where T has fewer, or zero.
template <class T> T random_number(generator& random) {
  if (below(random, 16) == 0) return T(0);
  if constexpr (narrow::narrow_fixed<T>) {
    return T::from_bits(static_cast<typename T::bits_type>(random()));
  } else {
    const int exponent = static_cast<int>(below(random, 40)) - 30;
    const auto significand = static_cast<double>((random() >> 11) | (std::uint64_t{1} << 52));
    const double x = std::ldexp(significand, exponent - 52) * (below(random, 2) != 0 ? 1 : -1);
    if constexpr (narrow::narrow_float<T>)
      return narrow::narrow_cast<T>(x, narrow::rounding::nearest_even{}, narrow::overflow::saturate{});
    else
      return static_cast<T>(x);
  }
}

template <class T> std::vector<T> random_numbers(std::size_t n, generator& random) {
  std::vector<T> result(n);
  for (T& x : result) x = random_number<T>(random);
  return result;
}

/// g(k) = k u / (1 - k u), u the unit roundoff of the accumulator.
template <class Wide> mpq_class gamma(std::size_t k) {
  mpq_class ku(static_cast<unsigned long>(k), 1);
  ku /= mpq_class(oracle::power_of_two(std::numeric_limits<Wide>::digits));
  return ku / (1 - ku);
}

/// |result - exact| <= bound.
template <class Wide> bool within(Wide result, const mpq_class& exact, const mpq_class& bound) {
  return narrow::detail::is_finite(result) && abs(mpq_class(exact_value(result) - exact)) <= bound;
}

/// Sum of the products and of their magnitudes.
struct exact_sum {
  mpq_class value = 0, magnitude = 0;
  void add(const mpq_class& a, const mpq_class& b) {
    const mpq_class product = a * b;
    value += product;
    magnitude += abs(product);
  }
};

/// What happens to terms of which some are not finite.
struct special_sum {
  bool nan = false, positive = false, negative = false;  // some term is
  void add(const oracle::datum& a, const oracle::datum& b) {
    const oracle::operand product = oracle::product(a, b);
    nan = nan || product.what == oracle::kind::nan;
    if (product.what == oracle::kind::infinite) (product.negative ? negative : positive) = true;
  }
  oracle::kind what() const {
    if (nan || (positive && negative)) return oracle::kind::nan;
    return positive || negative ? oracle::kind::infinite : oracle::kind::number;
  }
  /// Whether a float has the kind and, of infinities, the sign.
  bool matches(float result) const {
    const auto bits = std::bit_cast<std::uint32_t>(result);
    if (what() == oracle::kind::nan) return (bits & 0x7fff'ffffu) > 0x7f80'0000u;
    if (what() == oracle::kind::infinite) return bits == (negative ? 0xff80'0000u : 0x7f80'0000u);
    return (bits & 0x7fff'ffffu) < 0x7f80'0000u;
  }
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace test
