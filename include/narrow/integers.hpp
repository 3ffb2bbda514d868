// Integers by the number of their bits. Those of 128 are the compiler's own, or where it has none, as for
// processors of 32 bits, a class that does what this library asks of them.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "config.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Two words in two's complement, of which the upper one counts as a High: that of an unsigned integer, or of
/// a signed one. Overflow wraps. Built-in integers convert to it implicitly, as to a wider built-in one.
template <std::integral High> class wide_integer {
  using word = std::uint64_t;
  static constexpr int word_bits = 64;

 public:
  wide_integer() = default;
  template <std::integral T> constexpr wide_integer(T x) : low_(static_cast<word>(x)), high_(0) {
    if constexpr (std::signed_integral<T>) high_ = x < 0 ? ~word{0} : 0;
  }
  template <class Other>
  constexpr explicit wide_integer(const wide_integer<Other>& x)
      : low_(static_cast<word>(x)), high_(static_cast<word>(x >> word_bits)) {}

  /// The lower bits.
  template <std::integral T> constexpr explicit operator T() const { return static_cast<T>(low_); }
  /// Rounded to nearest, ties to even. The bit below the uppermost 64 tells whether anything is there; those
  /// are far more than a double has.
  constexpr explicit operator double() const {
    if (is_negative()) return -static_cast<double>(-*this);
    wide_integer x = *this;
    double unit = 1;
    for (; x.high_ != 0; x = x >> 1 | (x.low_ & 1)) unit *= 2;
    return static_cast<double>(x.low_) * unit;
  }

  friend constexpr bool operator==(const wide_integer&, const wide_integer&) = default;
  friend constexpr std::strong_ordering operator<=>(const wide_integer& a, const wide_integer& b) {
    if (a.high_ != b.high_) return static_cast<High>(a.high_) <=> static_cast<High>(b.high_);
    return a.low_ <=> b.low_;
  }

  friend constexpr wide_integer operator+(const wide_integer& a, const wide_integer& b) {
    const word low = a.low_ + b.low_;
    return of(low, a.high_ + b.high_ + (low < a.low_ ? 1 : 0));
  }
  constexpr wide_integer operator~() const { return of(~low_, ~high_); }
  constexpr wide_integer operator-() const { return ~*this + 1; }
  friend constexpr wide_integer operator-(const wide_integer& a, const wide_integer& b) { return a + -b; }
  friend constexpr wide_integer operator*(const wide_integer& a, const wide_integer& b) {
    // Digits of half a word: a product of two has a word, and the sums of three fit one, too.
    const word a0 = lower_half(a.low_), a1 = upper_half(a.low_), b0 = lower_half(b.low_),
               b1 = upper_half(b.low_);
    const word first = a0 * b0, second = a1 * b0 + upper_half(first), third = a0 * b1 + lower_half(second);
    return of(third << half_bits | lower_half(first),
              a1 * b1 + upper_half(second) + upper_half(third) + a.low_ * b.high_ + a.high_ * b.low_);
  }
  friend constexpr wide_integer operator/(const wide_integer& a,
                                          const wide_integer& b) requires std::unsigned_integral<High> {
    return divided(a, b).quotient;
  }
  friend constexpr wide_integer operator%(const wide_integer& a,
                                          const wide_integer& b) requires std::unsigned_integral<High> {
    return divided(a, b).rest;
  }
  friend constexpr wide_integer operator&(const wide_integer& a, const wide_integer& b) {
    return of(a.low_ & b.low_, a.high_ & b.high_);
  }
  friend constexpr wide_integer operator|(const wide_integer& a, const wide_integer& b) {
    return of(a.low_ | b.low_, a.high_ | b.high_);
  }
  friend constexpr wide_integer operator^(const wide_integer& a, const wide_integer& b) {
    return of(a.low_ ^ b.low_, a.high_ ^ b.high_);
  }
  /// By 0 to 127 bits.
  constexpr wide_integer operator<<(int n) const {
    if (n >= word_bits) return of(0, low_ << (n - word_bits));
    return n == 0 ? *this : of(low_ << n, high_ << n | low_ >> (word_bits - n));
  }
  constexpr wide_integer operator>>(int n) const {
    const auto high = static_cast<High>(high_);
    const auto sign = static_cast<word>(is_negative() ? High(-1) : High(0));
    if (n >= word_bits) return of(static_cast<word>(high >> (n - word_bits)), sign);
    return n == 0 ? *this : of(low_ >> n | high_ << (word_bits - n), static_cast<word>(high >> n));
  }

  constexpr wide_integer& operator+=(const wide_integer& x) { return *this = *this + x; }
  constexpr wide_integer& operator-=(const wide_integer& x) { return *this = *this - x; }
  constexpr wide_integer& operator*=(const wide_integer& x) { return *this = *this * x; }
  constexpr wide_integer& operator%=(const wide_integer& x) { return *this = *this % x; }
  constexpr wide_integer& operator|=(const wide_integer& x) { return *this = *this | x; }
  constexpr wide_integer& operator<<=(int n) { return *this = *this << n; }
  constexpr wide_integer& operator>>=(int n) { return *this = *this >> n; }

 private:
  static constexpr int half_bits = word_bits / 2;
  static constexpr word lower_half(word x) { return x & (~word{0} >> half_bits); }
  static constexpr word upper_half(word x) { return x >> half_bits; }

  static constexpr wide_integer of(word low, word high) {
    wide_integer x = low;
    x.high_ = high;
    return x;
  }
  constexpr bool is_negative() const { return static_cast<High>(high_) < High(0); }

  struct division;
  /// One digit at a time, as on paper.
  static constexpr division divided(const wide_integer& a, const wide_integer& b) {
    if (a.high_ == 0 && b.high_ == 0) return {a.low_ / b.low_, a.low_ % b.low_};
    division result{0, 0};
    for (int i = 2 * word_bits - 1; i >= 0; --i) {
      const bool carry = result.rest.high_ >> (word_bits - 1) != 0;
      result.rest = result.rest << 1 | (a >> i & 1);
      result.quotient <<= 1;
      if (carry || result.rest >= b) {
        result.rest -= b;
        result.quotient |= 1;
      }
    }
    return result;
  }

  word low_, high_;
};

template <std::integral High> struct wide_integer<High>::division { wide_integer quotient, rest; };

#if defined(__SIZEOF_INT128__)
// std::integral does not count them as integers in strict mode.
__extension__ typedef unsigned __int128 uint128;
__extension__ typedef __int128 int128;
#else
using uint128 = wide_integer<std::uint64_t>;
using int128 = wide_integer<std::int64_t>;
#endif

/// The smallest unsigned type with at least Bits bits.
template <int Bits>
using uint_at_least = std::conditional_t<
    Bits <= 8, std::uint8_t,
    std::conditional_t<Bits <= 16, std::uint16_t,
                       std::conditional_t<Bits <= 32, std::uint32_t,
                                          std::conditional_t<Bits <= 64, std::uint64_t, uint128>>>>;

/// The smallest signed type with at least Bits bits.
template <int Bits>
using int_at_least =
    std::conditional_t<Bits <= 8, std::int8_t, std::conditional_t<Bits <= 16, std::int16_t, std::int32_t>>;

}  // namespace narrow::detail
