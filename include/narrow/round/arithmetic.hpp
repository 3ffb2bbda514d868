// Exact arithmetic on unpacked numbers: each result is the true one, or the true one cut off with a sticky
// bit after at least 48 significant bits, which is all that one rounding to at most 24 bits can see.
#pragma once

#include <algorithm>
#include <compare>
#include <utility>

#include "unpacked.hpp"

namespace narrow::detail {

template <class Word> constexpr unpacked<Word> invalid() {
  return {kind::nan, sign::positive, false, 0, Word{1} << (bits_of<Word> - 1)};
}

/// x moved down by `shift` bits; what falls off makes the result sticky.
template <class Word> constexpr Word shift_right(Word x, int shift, bool& sticky) {
  if (shift <= 0) return x;
  if (shift >= bits_of<Word>) {
    sticky = sticky || x != 0;
    return 0;
  }
  sticky = sticky || (x << (bits_of<Word> - shift)) != 0;
  return x >> shift;
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

/// a / b; significands of up to half a word. The quotient has a word less two bits at least.
template <class Word> constexpr unpacked<Word> divide(unpacked<Word> a, unpacked<Word> b) {
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

  // Long division in two digits of half a word each.
  constexpr int half = bits_of<Word> / 2;
  const int up_a = half - bit_width_of(a.significand), up_b = half - bit_width_of(b.significand);
  const Word numerator = a.significand << up_a << (half - 1), denominator = b.significand << up_b;
  const Word high = numerator / denominator;
  const Word rest = (numerator % denominator) << half;
  const Word low = rest / denominator;
  const int exponent = (a.exponent - up_a) - (b.exponent - up_b) - (half - 1) - half;
  return {kind::finite, of, rest % denominator != 0, exponent, (high << half) | low};
}

/// The square root; a significand of up to half a word. The root has a word less eight bits.
/// One digit at a time, as on paper (Knuth, The Art of Computer Programming, vol. 2, section 4.3.1, exercise
/// 30).
template <class Word> constexpr unpacked<Word> square_root(unpacked<Word> x) {
  if (x.what == kind::nan || x.what == kind::zero) return x;
  if (x.of == sign::negative) return invalid<Word>();
  if (x.what == kind::infinite) return x;

  // The radicand is the word, then zeros without end; its exponent must be even.
  const int up = bits_of<Word> - bit_width_of(x.significand);
  const bool odd = ((x.exponent - up) & 1) != 0;
  Word radicand = x.significand << (odd ? up - 1 : up);
  const int exponent = x.exponent - (odd ? up - 1 : up);
  constexpr int digits = bits_of<Word> - 8;
  Word root = 0, remainder = 0;
  for (int i = 0; i < digits; ++i) {
    remainder = (remainder << 2) | (radicand >> (bits_of<Word> - 2));
    radicand <<= 2;
    const Word trial = (root << 2) | 1;
    root <<= 1;
    if (remainder >= trial) {
      remainder -= trial;
      root |= 1;
    }
  }
  return {kind::finite, sign::positive, remainder != 0, exponent / 2 - (digits - bits_of<Word> / 2), root};
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

}  // namespace narrow::detail
