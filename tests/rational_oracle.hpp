// A second oracle of floating formats, for those that have too many numbers for a table: the neighbours of an
// exact quotient of integers are found by dividing it by the step of its binade.
#pragma once

#include "fixed_oracle.hpp"

namespace oracle {

/// A positive number, as a quotient of positive integers that may have common factors.
struct fraction {
  mpz_class above, below = 1;
};

inline fraction operator*(fraction x, const fraction& y) { return {x.above * y.above, x.below * y.below}; }
inline fraction operator/(fraction x, const fraction& y) { return {x.above * y.below, x.below * y.above}; }

inline fraction times_power_of_two(fraction x, int exponent) {
  (exponent < 0 ? x.below : x.above) *= power_of_two(std::abs(exponent));
  return x;
}

inline fraction magnitude(const operand& x) {
  mpq_class result;
  mpq_set_f(result.get_mpq_t(), x.magnitude.get_mpf_t());
  return {result.get_num(), result.get_den()};
}

/// The exponent of the power of two that is the largest not above x.
inline int exponent_of(const fraction& x) {
  const auto bits = [](const mpz_class& n) { return static_cast<int>(mpz_sizeinbase(n.get_mpz_t(), 2)); };
  const int exponent = bits(x.above) - bits(x.below);
  const fraction scaled = times_power_of_two(x, -exponent);
  return scaled.above < scaled.below ? exponent - 1 : exponent;
}

/// The finite numbers of a format that are not negative, as a `table` has them. None of them is kept: that
/// with the code i is the i-th one.
struct ladder {
  struct code_list {
    std::uint64_t largest;
    std::uint64_t back() const { return largest; }
    std::uint64_t operator[](std::size_t i) const { return i; }
  };
  format of;
  code_list codes;

  explicit ladder(format f) : of(f), codes{f.sign() - 1} {
    const auto is_number = [&] { return of.decode(codes.largest).what == kind::number; };
    if (!is_number()) --codes.largest;  // NaN
    if (!is_number())                   // more than one NaN, below them infinity
      codes.largest = of.sign() - (std::uint64_t{1} << of.mantissa_bits) - 1;
  }
  std::size_t beyond() const { return static_cast<std::size_t>(codes.largest + 1); }
  bool even(std::size_t i) const { return i % 2 == 0; }
  int least_exponent() const { return 1 - of.bias(); }
};

/// The number that is `quotient` + `rest` steps of the binade with this exponent: `side` is the sign of the
/// rest less half a step.
inline outcome on_ladder(const ladder& t, bool negative, int exponent, const mpz_class& quotient, bool exact,
                         int side) {
  const mpz_class code = (exponent - t.least_exponent()) * power_of_two(t.of.mantissa_bits) + quotient;
  if (code > mpz_class(static_cast<unsigned long>(t.codes.largest)))
    return {kind::number, negative, t.beyond(), position::on};
  return {kind::number, negative, code.get_ui(),
          exact      ? position::on
          : side < 0 ? position::low_half
          : side > 0 ? position::high_half
                     : position::middle};
}

inline outcome locate(const ladder& t, bool negative, const fraction& x) {
  const int exponent = std::max(exponent_of(x), t.least_exponent());
  const fraction steps = times_power_of_two(x, t.of.mantissa_bits - exponent);
  const mpz_class quotient = steps.above / steps.below, rest = steps.above % steps.below;
  return on_ladder(t, negative, exponent, quotient, rest == 0, cmp(mpz_class(2 * rest), steps.below));
}

inline outcome rounded(const ladder& t, const operand& x) {
  if (x.what != kind::number) return {x.what, x.negative, 0, position::on, x.cancelled};
  return locate(t, x.negative, magnitude(x));
}

inline outcome quotient(const ladder& t, const operand& a, const operand& b) {
  const bool negative = a.negative != b.negative;
  if (a.what == kind::nan || b.what == kind::nan) return {};
  if (a.what == b.what && a.what != kind::number) return {};  // 0 / 0, inf / inf
  if (a.what == kind::infinite || b.what == kind::zero) return {kind::infinite, negative};
  if (a.what == kind::zero || b.what == kind::infinite) return {kind::zero, negative};
  return locate(t, negative, magnitude(a) / magnitude(b));
}

/// The root by the integer root of x / step^2; against the middle of two steps by squares of integers, too.
inline outcome square_root(const ladder& t, const operand& x) {
  if (x.what == kind::zero) return {kind::zero, x.negative};
  if (x.what == kind::nan || x.negative) return {};
  if (x.what == kind::infinite) return {kind::infinite, false};
  const fraction number = magnitude(x);
  const int of_x = exponent_of(number), of_root = (of_x - (of_x % 2 != 0)) / 2;
  const int exponent = std::max(of_root, t.least_exponent());
  const fraction squares = times_power_of_two(number, 2 * (t.of.mantissa_bits - exponent));
  const mpz_class root = sqrt(mpz_class(squares.above / squares.below)), twice = 2 * root + 1;
  return on_ladder(t, false, exponent, root, squares.above == root * root * squares.below,
                   cmp(mpz_class(4 * squares.above), mpz_class(twice * twice * squares.below)));
}

template <class T> const ladder& ladder_of() {
  static const ladder result(format_of<T>);
  return result;
}

/// Whether a number of T is `x`, an outcome on T's ladder, rounded by T's policies.
template <narrow::narrow_float T> bool matches_on_ladder(const outcome& x, T result) {
  const ladder& t = ladder_of<T>();
  return matches(t.of, encode<typename T::round_policy, typename T::overflow_policy>(t, x), result.bits());
}

}  // namespace oracle
