// Exact arithmetic on unpacked numbers: each result is the true one, or the true one cut off with a sticky
// bit after at least 48 significant bits, which is all that one rounding to at most 24 bits can see.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <utility>

#include "unpacked.hpp"

namespace narrow::inline NARROW_ABI::detail {

template <class Word> constexpr unpacked<Word> invalid() {
  return {kind::nan, sign::positive, false, 0, Word{1} << (bits_of<Word> - 1)};
}

/// a + b. Significands of up to half a word, or one of up to a word less two bits (a product) where the other
/// starts no lower than half a word below it. `zero` is the sign of an exact zero sum of numbers that are not
/// both zeros of the same sign.
template <class Word> constexpr unpacked<Word> add(unpacked<Word> a, unpacked<Word> b, sign zero) {
  if (a.what == kind::nan) return a;
  if (b.what == kind::nan) return b;
  if (a.what == kind::infinite && b.what == kind::infinite && a.of != b.of) return invalid<Word>();
  if (a.what == kind::infinite) return a;
  if (b.what == kind::infinite) return b;
  if (a.what == kind::zero && b.what == kind::zero) {
    a.of = a.of == b.of ? a.of : zero;
    return a;
  }
  if (a.what == kind::zero) return b;
  if (b.what == kind::zero) return a;

  if (a.leading() < b.leading()) std::swap(a, b);
  // The leading bit of the larger number goes to the second highest bit, which leaves one for a carry.
  const int up = bits_of<Word> - 1 - bit_width_of(a.significand);
  const Word larger = up >= 0 ? a.significand << up : shift_right(a.significand, -up, a.sticky);
  const int exponent = a.exponent - up;
  bool sticky = a.sticky || b.sticky;
  const int down = exponent - b.exponent;
  const Word smaller = down <= 0 ? b.significand << -down : shift_right(b.significand, down, sticky);
  if (a.of == b.of) return {kind::finite, a.of, sticky, exponent, larger + smaller};
  if (larger == smaller && !sticky) return {kind::zero, zero, false, 0, 0};
  if (larger < smaller) return {kind::finite, b.of, false, exponent, smaller - larger};
  // larger - (smaller + something below one unit) = (larger - smaller - 1) + something below one unit
  return {kind::finite, a.of, sticky, exponent, larger - smaller - (sticky ? 1 : 0)};
}

/// a * b, exact: the significands together have at most as many bits as a word.
template <class Word> constexpr unpacked<Word> multiply(unpacked<Word> a, unpacked<Word> b) {
  const sign of = a.of * b.of;
  if (a.what == kind::nan) return a;
  if (b.what == kind::nan) return b;
  if (a.what == kind::infinite || b.what == kind::infinite) {
    if (a.what == kind::zero || b.what == kind::zero) return invalid<Word>();
    return {kind::infinite, of, false, 0, 0};
  }
  if (a.what == kind::zero || b.what == kind::zero) return {kind::zero, of, false, 0, 0};
  return {kind::finite, of, false, a.exponent + b.exponent, a.significand * b.significand};
}

/// a / b; significands of up to half a word. The quotient has a word less two bits at least, and more if
/// those end above 2^last: then the last word of them.
template <class Word>
constexpr unpacked<Word> divide(unpacked<Word> a, unpacked<Word> b,
                                int last = std::numeric_limits<int>::max()) {
  const sign of = a.of * b.of;
  if (a.what == kind::nan) return a;
  if (b.what == kind::nan) return b;
  if (a.what == kind::infinite)
    return b.what == kind::infinite ? invalid<Word>() : unpacked<Word>{a.what, of, false, 0, 0};
  if (b.what == kind::infinite) return {kind::zero, of, false, 0, 0};
  if (b.what == kind::zero) {
    if (a.what == kind::zero) return invalid<Word>();
    return {kind::infinite, of, false, 0, 0};
  }
  if (a.what == kind::zero) return {kind::zero, of, false, 0, 0};

  // Long division, half a word at a time.
  constexpr int half = bits_of<Word> / 2;
  const int up_a = half - bit_width_of(a.significand), up_b = half - bit_width_of(b.significand);
  const Word numerator = a.significand << up_a << (half - 1), denominator = b.significand << up_b;
  Word quotient = numerator / denominator, rest = numerator % denominator;
  int exponent = (a.exponent - up_a) - (b.exponent - up_b) - (half - 1);
  do {
    rest <<= half;
    quotient = (quotient << half) | (rest / denominator);
    rest %= denominator;
    exponent -= half;
  } while (exponent > last);
  return {kind::finite, of, rest != 0, exponent, quotient};
}

/// How many bits `long_root` finds: more than twice as many as the widest result has, and few enough that the
/// remainder fits a word.
template <class Word> inline constexpr int root_bits = bits_of<Word> - 8;

/// The square root of a word of which one of the upper two bits is set, followed by zeros without end: its
/// first root_bits, and what is left when their square is taken away.
/// One digit at a time, as on paper (Knuth, The Art of Computer Programming, vol. 2, section 4.3.1, exercise
/// 30).
template <class Word> constexpr std::pair<Word, Word> long_root(Word radicand) {
  Word root = 0, remainder = 0;
  for (int i = 0; i < root_bits<Word>; ++i) {
    remainder = (remainder << 2) | (radicand >> (bits_of<Word> - 2));
    radicand <<= 2;
    const Word trial = (root << 2) | 1;
    root <<= 1;
    if (remainder >= trial) {
      remainder -= trial;
      root |= 1;
    }
  }
  return {root, remainder};
}

/// `long_root` from the root of a double, whose last bits Newton's step and the remainder put right, whatever
/// the rounding mode was.
inline std::pair<std::uint64_t, std::uint64_t> quick_root(std::uint64_t radicand) {
  constexpr int bits = root_bits<std::uint64_t>, up = 2 * bits - 64;
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(radicand)) * (1 << (up / 2)));
  const uint128 square = uint128{radicand} << up;
  const auto left = [&] { return static_cast<std::int64_t>(square - uint128{root} * root); };
  root += static_cast<std::uint64_t>(left() / static_cast<std::int64_t>(2 * root));
  while (left() < 0) --root;
  while (left() > static_cast<std::int64_t>(2 * root)) ++root;
  return {root, static_cast<std::uint64_t>(left())};
}

/// The square root; a significand of up to half a word. The root has root_bits.
template <class Word> constexpr unpacked<Word> square_root(unpacked<Word> x) {
  if (x.what == kind::nan || x.what == kind::zero) return x;
  if (x.of == sign::negative) return invalid<Word>();
  if (x.what == kind::infinite) return x;

  // The radicand is the word, then zeros without end; its exponent must be even.
  const int up = bits_of<Word> - bit_width_of(x.significand);
  const bool odd = ((x.exponent - up) & 1) != 0;
  const Word radicand = x.significand << (odd ? up - 1 : up);
  const int exponent = x.exponent - (odd ? up - 1 : up);
  const auto [root, remainder] = [&] {
    if constexpr (std::same_as<Word, std::uint64_t>)
      if (!std::is_constant_evaluated()) return quick_root(radicand);
    return long_root(radicand);
  }();
  return {kind::finite, sign::positive, remainder != 0, exponent / 2 - (root_bits<Word> - bits_of<Word> / 2),
          root};
}

/// Order of two numbers by value: NaN is unordered, the zeros are equal.
template <class Word>
constexpr std::partial_ordering compare(const unpacked<Word>& a, const unpacked<Word>& b) {
  if (a.what == kind::nan || b.what == kind::nan) return std::partial_ordering::unordered;
  if (a.what == kind::zero && b.what == kind::zero) return std::partial_ordering::equivalent;
  const auto negative = [](const unpacked<Word>& x) {
    return x.what != kind::zero && x.of == sign::negative;
  };
  if (a.what == kind::zero) return negative(b) ? std::partial_ordering::greater : std::partial_ordering::less;
  if (b.what == kind::zero) return negative(a) ? std::partial_ordering::less : std::partial_ordering::greater;
  if (a.of != b.of) return negative(a) ? std::partial_ordering::less : std::partial_ordering::greater;
  const auto magnitude = [&]() -> std::partial_ordering {
    if (a.what == kind::infinite || b.what == kind::infinite)
      return (a.what == kind::infinite ? 1 : 0) <=> (b.what == kind::infinite ? 1 : 0);
    if (a.leading() != b.leading()) return a.leading() <=> b.leading();
    const auto aligned = [](const unpacked<Word>& x) {
      return static_cast<Word>(x.significand << (bits_of<Word> - bit_width_of(x.significand)));
    };
    return aligned(a) <=> aligned(b);
  }();
  return negative(a) ? 0 <=> magnitude : magnitude;
}

/// Order by value of two codes of a floating format. Little is branched on: signs are
/// often random, and so is which of two numbers is less.
template <class Layout> struct ordered_codes {
  using code = typename Layout::bits_type;
  using wide = std::conditional_t<sizeof(code) < 4, std::int32_t, std::int64_t>;

  static constexpr wide magnitude(code x) { return static_cast<wide>(x & Layout::magnitude_mask); }
  /// An integer that grows with the number, the same for both zeros.
  static constexpr wide key(code x) {
    constexpr int above = std::numeric_limits<code>::digits - Layout::width;  // bits
    const wide sign = static_cast<std::make_signed_t<code>>(static_cast<code>(x << above)) < 0 ? -1 : 0;
    return (magnitude(x) ^ sign) - sign;
  }
  static constexpr std::partial_ordering compare(code a, code b) {
    if (Layout::is_nan(a) || Layout::is_nan(b)) [[unlikely]]
      return std::partial_ordering::unordered;
    return key(a) <=> key(b);
  }
  static constexpr bool less(code a, code b) {
    if constexpr (has_differences) return orders(a, b, key(a) - key(b));
    return key(a) < key(b) && !Layout::is_nan(a) && !Layout::is_nan(b);
  }
  static constexpr bool not_greater(code a, code b) {
    if constexpr (has_differences) return orders(a, b, key(a) - key(b) - 1);
    return key(a) <= key(b) && !Layout::is_nan(a) && !Layout::is_nan(b);
  }
  static constexpr bool equal(code a, code b) {
    return a == b ? !Layout::is_nan(a) : Layout::has_negative_zero && ((a | b) & Layout::magnitude_mask) == 0;
  }

 private:
  /// Whether the differences of integers of that length are such.
  static constexpr bool has_differences = sizeof(code) < sizeof(wide);
  /// The largest magnitude of a number; NaN have larger ones, but that of `fnuz` has none.
  static constexpr bool nan_is_largest = Layout::special_values != specials::fnuz;
  static constexpr wide last = magnitude(Layout::has_infinity ? Layout::infinity : Layout::max_finite);

  /// Whether a difference is negative and neither number NaN: the sign of one integer.
  static constexpr bool orders(code a, code b, wide difference) {
    if constexpr (nan_is_largest)
      return (difference & ~((last - magnitude(a)) | (last - magnitude(b)))) < 0;
    else
      return difference < 0 && !Layout::is_nan(a) && !Layout::is_nan(b);
  }
};

}  // namespace narrow::detail
