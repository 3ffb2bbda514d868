// The oracle of the fixed-point formats: exact rationals, scaled to the format's unit and split at the binary
// point.
#pragma once

#include "oracle.hpp"

namespace oracle {

/// The true result of an operation in units of a fixed format's last place.
struct fixed_outcome {
  kind what = kind::nan;
  bool negative = false;
  mpz_class whole = 0;  // of the magnitude
  position where = position::on;
};

inline mpz_class power_of_two(int exponent) { return mpz_class(1) << static_cast<mp_bitcnt_t>(exponent); }

template <narrow::narrow_fixed T> mpq_class value(T x) {
  mpq_class result(mpz_class(static_cast<long>(x.bits())), power_of_two(T::fraction_length));
  result.canonicalize();
  return result;
}

inline mpq_class value(const operand& x) {
  mpq_class result;
  mpq_set_f(result.get_mpq_t(), x.magnitude.get_mpf_t());
  return x.negative ? mpq_class(-result) : result;
}

inline fixed_outcome rounded(int fraction_length, const mpq_class& x) {
  const mpq_class scaled = abs(x) * power_of_two(fraction_length);
  fixed_outcome result{kind::number, sgn(x) < 0, scaled.get_num() / scaled.get_den(), position::on};
  const int side = cmp(mpq_class(scaled - result.whole), mpq_class(1, 2));
  if (scaled != result.whole)
    result.where = side < 0 ? position::low_half : side > 0 ? position::high_half : position::middle;
  return result;
}

/// A floating-point datum, seen from a fixed format.
inline fixed_outcome rounded(int fraction_length, const operand& x) {
  if (x.what != kind::number && x.what != kind::zero) return {x.what, x.negative, 0, position::on};
  return rounded(fraction_length, value(x));
}

inline fixed_outcome quotient(int fraction_length, const mpq_class& a, const mpq_class& b) {
  if (sgn(b) == 0) return {sgn(a) == 0 ? kind::nan : kind::infinite, sgn(a) < 0, 0, position::on};
  return rounded(fraction_length, mpq_class(a / b));
}

/// In units of the last place the root is the root of x 4^FL, which is an integer here: `x` is of the same
/// format.
inline fixed_outcome square_root(int fraction_length, const mpq_class& x) {
  if (sgn(x) < 0) return {};
  const mpz_class scaled = mpq_class(x * power_of_two(2 * fraction_length)).get_num();
  fixed_outcome result{kind::number, false, sqrt(scaled), position::on};
  const mpz_class twice = 2 * result.whole + 1;  // the midpoint above, which no integer is the square of
  if (scaled != result.whole * result.whole)
    result.where = 4 * scaled < twice * twice ? position::low_half : position::high_half;
  return result;
}

/// The mantissas that are right: one, or under stochastic rounding two.
using mantissas = std::array<std::int64_t, 2>;

template <class Round, class Overflow> mantissas encode(int word_length, const fixed_outcome& x) {
  if (x.what == kind::nan) return {0, 0};
  const mpz_class most = power_of_two(word_length - 1) - 1, least = -power_of_two(word_length - 1);
  const auto fitted = [&](mpz_class mantissa) -> std::int64_t {
    if (x.negative) mantissa = -mantissa;
    if (std::same_as<Overflow, narrow::overflow::saturate>) {
      if (mantissa > most) mantissa = most;
      if (mantissa < least) mantissa = least;
    } else {
      mpz_class low;
      mpz_fdiv_r_2exp(low.get_mpz_t(), mantissa.get_mpz_t(), static_cast<mp_bitcnt_t>(word_length));
      mantissa = low > most ? mpz_class(low - power_of_two(word_length)) : low;
    }
    return mantissa.get_si();
  };
  if (x.what == kind::infinite) {  // saturates under both rules
    const std::int64_t end = (x.negative ? least : most).get_si();
    return {end, end};
  }
  if (x.where == position::on) return {fitted(x.whole), fitted(x.whole)};
  const neighbour chosen = [&] {
    if constexpr (std::same_as<Round, narrow::rounding::stochastic>)
      return neighbour::either;
    else
      return choose(Round{}, x.where, x.negative, mpz_class(x.whole % 2) == 0);
  }();
  return {fitted(x.whole + (chosen == neighbour::upper ? 1 : 0)),
          fitted(x.whole + (chosen != neighbour::lower ? 1 : 0))};
}

template <narrow::narrow_fixed T> bool matches(const fixed_outcome& x, T result) {
  const auto right = encode<typename T::round_policy, typename T::overflow_policy>(T::word_length, x);
  return result.bits() == right[0] || result.bits() == right[1];
}

}  // namespace oracle
