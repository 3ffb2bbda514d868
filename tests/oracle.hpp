// What the library's results are compared with. It shares no idea with the library: a format is a sorted
// table of its numbers, decoded one by one from the definition; the true result of an operation is found in
// it by exact comparisons, in GMP's numbers, with the table's entries and the midpoints between them.
#pragma once

#include <gmpxx.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <narrow/concepts.hpp>
#include <narrow/round/overflow.hpp>
#include <narrow/round/rounding.hpp>
#include <narrow/runtime/environment.hpp>

namespace oracle {

// ---- numbers
// -------------------------------------------------------------------------------------------------------

enum class kind { zero, number, infinite, nan };

/// What a code or a built-in number stands for. A long double holds the magnitude of every one that the tests
/// use.
struct datum {
  kind what;
  bool negative;
  long double magnitude;  // of numbers
};

/// A real number without rounding: 2048 bits hold every sum and product that is formed here.
using real = mpf_class;
inline constexpr mp_bitcnt_t real_bits = 2048;

NARROW_STRICT_BEGIN
inline real exact(long double x) {
  if (x >= 1e-300L && x <= 1e300L && static_cast<long double>(static_cast<double>(x)) == x)
    return real(static_cast<double>(x), real_bits);
  // The significand in pieces of 32 bits, each of which is exact as a double.
  int exponent = 0;
  long double rest = std::frexp(x, &exponent);
  real result(0, real_bits);
  for (; rest != 0; exponent -= 32) {
    const long double piece = std::trunc(std::ldexp(rest, 32));
    rest = std::ldexp(rest, 32) - piece;
    real scaled(static_cast<double>(piece), real_bits);
    if (exponent >= 32)
      mpf_mul_2exp(scaled.get_mpf_t(), scaled.get_mpf_t(), static_cast<mp_bitcnt_t>(exponent - 32));
    else
      mpf_div_2exp(scaled.get_mpf_t(), scaled.get_mpf_t(), static_cast<mp_bitcnt_t>(32 - exponent));
    result += scaled;
  }
  return result;
}
NARROW_STRICT_END

// ---- formats
// -------------------------------------------------------------------------------------------------------

/// A floating format by its definition: narrow::specials and narrow::floating say in words what this
/// computes.
struct format {
  int exponent_bits, mantissa_bits;
  narrow::specials special;

  constexpr std::uint64_t codes() const { return std::uint64_t{1} << (1 + exponent_bits + mantissa_bits); }
  constexpr std::uint64_t sign() const { return codes() / 2; }
  constexpr int bias() const {
    return (1 << (exponent_bits - 1)) - (special == narrow::specials::fnuz ? 0 : 1);
  }

  /// The number that a code without its sign stands for, if it stands for one.
  double magnitude(std::uint64_t code) const {
    const std::uint64_t hidden = std::uint64_t{1} << mantissa_bits;
    const auto mantissa = static_cast<double>(code % hidden);
    const int field = static_cast<int>(code / hidden);
    return field == 0 ? std::ldexp(mantissa, 1 - bias() - mantissa_bits)
                      : std::ldexp(mantissa + static_cast<double>(hidden), field - bias() - mantissa_bits);
  }

  datum decode(std::uint64_t code) const {
    using narrow::specials;
    const bool negative = code >= sign();
    const std::uint64_t rest = code % sign(), top = sign() - 1,
                        infinity = sign() - (std::uint64_t{1} << mantissa_bits);
    if (special == specials::ieee && rest == infinity) return {kind::infinite, negative, 0};
    if ((special == specials::ieee && rest > infinity) || (special == specials::fn && rest == top) ||
        (special == specials::fnuz && code == sign()))
      return {kind::nan, negative, 0};
    return {rest == 0 ? kind::zero : kind::number, negative, magnitude(rest)};
  }
};

template <class T> struct format_trait;
template <int E, int M, narrow::specials S, class R, class O>
struct format_trait<narrow::floating<E, M, S, R, O>> {
  static constexpr format value{E, M, S};
};
template <class T> inline constexpr format format_of = format_trait<T>::value;

template <narrow::narrow_float T> datum decode(T x) { return format_of<T>.decode(x.bits()); }

/// A built-in number; of floating-point types only the finite ones, so that -ffast-math can change nothing.
/// Whether a float or double is zero its bits tell: a processor that flushes subnormals finds those equal to
/// it.
NARROW_STRICT_BEGIN
template <class Number> datum datum_of(Number x) {
  const auto value = static_cast<long double>(x);
  bool zero = value == 0, negative = std::signbit(value);
  if constexpr (std::is_same_v<Number, float> || std::is_same_v<Number, double>) {
    using word = std::conditional_t<sizeof x == 4, std::uint32_t, std::uint64_t>;
    const auto bits = std::bit_cast<word>(x);
    zero = static_cast<word>(bits << 1) == 0;
    negative = bits >> (8 * sizeof x - 1) != 0;
  }
  return {zero ? kind::zero : kind::number, negative, std::fabs(value)};
}
NARROW_STRICT_END

/// The finite numbers of a format that are not negative, ascending.
struct table {
  format of;
  std::vector<double> numbers;       // last, the number that would follow if the exponent had no upper end
  std::vector<std::uint64_t> codes;  // of all but that one

  explicit table(format f) : of(f), numbers(), codes() {
    std::vector<std::pair<double, std::uint64_t>> all;
    std::uint64_t largest = 0;
    for (std::uint64_t code = 0; code < f.sign(); ++code) {
      const datum x = f.decode(code);
      if (x.what != kind::zero && x.what != kind::number) continue;
      all.emplace_back(static_cast<double>(x.magnitude), code);
      largest = code;
    }
    std::sort(all.begin(), all.end());
    for (const auto& [number, code] : all) {
      numbers.push_back(number);
      codes.push_back(code);
    }
    numbers.push_back(f.magnitude(largest + 1));
  }
  std::size_t beyond() const { return codes.size(); }
  bool even(std::size_t i) const {
    return (i < beyond() ? codes[i] : codes[beyond() - 1] + 1) % 2 == 0;  // the mantissa's last bit
  }
};

template <class T> const table& table_of() {
  static const table result(format_of<T>);
  return result;
}

// ---- where a true result lies
// --------------------------------------------------------------------------------------

enum class position { on, low_half, middle, high_half };

/// The true result of an operation, seen from a format.
struct outcome {
  kind what = kind::nan;
  bool negative = false;
  std::size_t below = 0;  // numbers[below] is the largest number that is not above it; `beyond()`: too large
  position where = position::on;
  bool cancelled = false;  // a zero that is the sum of two numbers or zeros of different signs
};

/// Finds a positive number r in a table; `against(c)` is the sign of r - c.
template <class Against> outcome locate(const table& t, bool negative, Against against) {
  const auto above =
      std::partition_point(t.numbers.begin(), t.numbers.end(), [&](double c) { return against(c) >= 0; });
  const auto below = static_cast<std::size_t>(above - t.numbers.begin()) - 1;
  if (below == t.beyond() || against(t.numbers[below]) == 0)
    return {kind::number, negative, below, position::on};
  const int side = against((t.numbers[below] + t.numbers[below + 1]) / 2);
  return {kind::number, negative, below,
          side < 0   ? position::low_half
          : side > 0 ? position::high_half
                     : position::middle};
}

// ---- the operations
// ------------------------------------------------------------------------------------------------

/// A datum, or the exact result of operations on data.
struct operand {
  kind what;
  bool negative;
  real magnitude;
  bool cancelled = false;

  operand(kind k, bool n, real m = real(0, real_bits)) : what(k), negative(n), magnitude(std::move(m)) {}
  operand(const datum& x)
      : operand(x.what, x.negative, x.what == kind::number ? exact(x.magnitude) : real(0, real_bits)) {}
};

inline operand sum(const operand& a, const operand& b) {
  if (a.what == kind::nan || b.what == kind::nan) return {kind::nan, false};
  if (a.what == kind::infinite || b.what == kind::infinite) {
    if (a.what == b.what && a.negative != b.negative) return {kind::nan, false};
    return {kind::infinite, a.what == kind::infinite ? a.negative : b.negative};
  }
  if (a.what == kind::zero && b.what == kind::zero && a.negative == b.negative)
    return {kind::zero, a.negative};
  real total(a.magnitude, real_bits);
  if (a.negative) total = -total;
  if (b.negative)
    total -= b.magnitude;
  else
    total += b.magnitude;
  operand result(kind::number, sgn(total) < 0, real(abs(total), real_bits));
  if (sgn(total) == 0) {
    result.what = kind::zero;
    result.cancelled = true;
  }
  return result;
}

inline operand negated(operand x) {
  x.negative = !x.negative;
  return x;
}

inline operand product(const operand& a, const operand& b) {
  const bool negative = a.negative != b.negative;
  if (a.what == kind::nan || b.what == kind::nan) return {kind::nan, false};
  if (a.what == kind::infinite || b.what == kind::infinite) {
    if (a.what == kind::zero || b.what == kind::zero) return {kind::nan, false};
    return {kind::infinite, negative};
  }
  if (a.what == kind::zero || b.what == kind::zero) return {kind::zero, negative};
  return {kind::number, negative, real(a.magnitude * b.magnitude, real_bits)};
}

/// A datum, seen from a format.
inline outcome rounded(const table& t, const datum& x) {
  if (x.what != kind::number) return {x.what, x.negative};
  return locate(t, x.negative, [&](double c) { return (x.magnitude > c) - (x.magnitude < c); });
}

/// A sum or a product, seen from a format.
inline outcome rounded(const table& t, const operand& x) {
  if (x.what != kind::number) return {x.what, x.negative, 0, position::on, x.cancelled};
  return locate(t, x.negative, [&](double c) { return mpf_cmp_d(x.magnitude.get_mpf_t(), c); });
}

/// a / b is above c where a is above c b.
inline outcome quotient(const table& t, const operand& a, const operand& b) {
  const bool negative = a.negative != b.negative;
  if (a.what == kind::nan || b.what == kind::nan) return {};
  if (a.what == b.what && a.what != kind::number) return {};  // 0 / 0, inf / inf
  if (a.what == kind::infinite || b.what == kind::zero) return {kind::infinite, negative};
  if (a.what == kind::zero || b.what == kind::infinite) return {kind::zero, negative};
  return locate(t, negative, [&](double c) {
    return cmp(a.magnitude, real(b.magnitude * real(c, real_bits), real_bits));
  });
}

/// The root of x is above c where x is above c c.
inline outcome square_root(const table& t, const operand& x) {
  if (x.what == kind::zero) return {kind::zero, x.negative};
  if (x.what == kind::nan || x.negative) return {};
  if (x.what == kind::infinite) return {kind::infinite, false};
  return locate(t, false, [&](double c) {
    const real root(c, real_bits);
    return cmp(x.magnitude, real(root * root, real_bits));
  });
}

// ---- rounding
// ------------------------------------------------------------------------------------------------------

enum class neighbour { lower, upper, either };  // in magnitude

/// Which neighbour of an inexact result a mode chooses: IEEE 754-2019 section 4.3, and rounding.hpp for the
/// others.
inline neighbour choose(narrow::rounding::nearest_even, position p, bool, bool lower_is_even) {
  if (p == position::middle) return lower_is_even ? neighbour::lower : neighbour::upper;
  return p == position::low_half ? neighbour::lower : neighbour::upper;
}
inline neighbour choose(narrow::rounding::nearest_away, position p, bool, bool) {
  return p == position::low_half ? neighbour::lower : neighbour::upper;
}
inline neighbour choose(narrow::rounding::toward_zero, position, bool, bool) { return neighbour::lower; }
inline neighbour choose(narrow::rounding::upward, position, bool negative, bool) {
  return negative ? neighbour::lower : neighbour::upper;
}
inline neighbour choose(narrow::rounding::downward, position, bool negative, bool) {
  return negative ? neighbour::upper : neighbour::lower;
}
inline neighbour choose(narrow::rounding::to_odd, position, bool, bool lower_is_even) {
  return lower_is_even ? neighbour::upper : neighbour::lower;
}

/// IEEE 754-2019 section 7.4: whether a mode carries a result that is too large to infinity.
template <class Round> constexpr bool carries_to_infinity(bool negative) {
  if constexpr (std::same_as<Round, narrow::rounding::toward_zero> ||
                std::same_as<Round, narrow::rounding::to_odd>)
    return false;
  if constexpr (std::same_as<Round, narrow::rounding::upward>) return !negative;
  if constexpr (std::same_as<Round, narrow::rounding::downward>) return negative;
  return true;
}

/// The codes that are right: one, or under stochastic rounding the two neighbours.
using codes = std::array<std::uint64_t, 2>;

/// `Table` is one of the numbers of a format: a `table`, or what has the same members.
template <class Round, class Overflow, class Table> codes encode(const Table& t, const outcome& x) {
  using narrow::specials;
  const std::uint64_t largest = t.codes.back();
  const auto signed_code = [&](std::uint64_t magnitude, bool negative) {
    const bool has_minus = magnitude != 0 || t.of.special != specials::fnuz;
    return magnitude + (negative && has_minus ? t.of.sign() : 0);
  };
  const std::uint64_t ieee_infinity = t.of.sign() - (std::uint64_t{1} << t.of.mantissa_bits);
  const std::uint64_t nan = t.of.special == specials::ieee   ? ieee_infinity + 1
                            : t.of.special == specials::fn   ? t.of.sign() - 1
                            : t.of.special == specials::fnuz ? t.of.sign()
                                                             : 0;
  const auto infinity = [&] {
    if (std::same_as<Overflow, narrow::overflow::saturate> || t.of.special == specials::none)
      return signed_code(largest, x.negative);
    return t.of.special == specials::ieee ? signed_code(ieee_infinity, x.negative) : nan;
  };
  const auto too_large = [&] {
    return carries_to_infinity<Round>(x.negative) ? infinity() : signed_code(largest, x.negative);
  };
  const auto at = [&](std::size_t i) {
    return i < t.beyond() ? signed_code(t.codes[i], x.negative) : too_large();
  };
  switch (x.what) {
    case kind::nan:
      return {nan, nan};
    case kind::infinite:
      return {infinity(), infinity()};
    case kind::zero: {
      const bool negative = x.cancelled ? std::same_as<Round, narrow::rounding::downward> : x.negative;
      return {signed_code(0, negative), signed_code(0, negative)};
    }
    case kind::number:
      break;
  }
  if (x.where == position::on) return {at(x.below), at(x.below)};
  // Without arguments `stochastic` would draw from the stream under test.
  const neighbour chosen = [&] {
    if constexpr (std::same_as<Round, narrow::rounding::stochastic>)
      return neighbour::either;
    else
      return choose(Round{}, x.where, x.negative, t.even(x.below));
  }();
  return {at(x.below + (chosen == neighbour::upper)), at(x.below + (chosen != neighbour::lower))};
}

/// Whether a code is one of the right ones. Which NaN is left open here.
inline bool matches(const format& f, const codes& right, std::uint64_t code) {
  const auto same = [&](std::uint64_t expected) {
    return code == expected || (f.decode(code).what == kind::nan && f.decode(expected).what == kind::nan);
  };
  return same(right[0]) || same(right[1]);
}

template <narrow::narrow_float T> bool matches(const outcome& x, T result) {
  const auto& t = table_of<T>();
  return matches(t.of, encode<typename T::round_policy, typename T::overflow_policy>(t, x), result.bits());
}

}  // namespace oracle
