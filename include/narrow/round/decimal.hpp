// Decimal digits as a number taken apart, exactly: what is rounded to a format after that is rounded once.
#pragma once

#include <algorithm>
#include <array>

#include "unpacked.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// The most digits, without zeros at either end, of a number that is half-way between two of a format, or is
/// one: of p bits, and a multiple of 2^-q, it is an integer below 2^p 5^q times 10^-q.
inline constexpr int max_decimal_digits = [] {
  constexpr int q = 1 - binary32::min_quantum, p = binary32::mantissa_bits + 2;
  return decimal_digits(p) + (q - decimal_digits(q)) + 2;  // 5^q = 10^q / 2^q
}();

/// (-1)^s 0.d1 d2 d3 ... 10^point, and where `sticky`, some more: less than one unit of the last digit.
struct decimal {
  sign of = sign::positive;
  bool sticky = false;
  int count = 0;  // of the digits; the first one is not 0
  int point = 0;
  std::array<char, max_decimal_digits> digits{};  // each from 0 to 9

  /// From 10^beyond on all numbers are larger than those of any format, and below 10^-beyond they are less
  /// than half of the smallest one.
  static constexpr int beyond =
      decimal_digits(std::max(binary32::max_exponent, 1 - binary32::min_quantum)) + 2;

  /// Digits are written from the first to the last; zeros before all others leave no trace but the point's.
  constexpr void append(int digit, bool after_point) {
    if (count == 0 && digit == 0) {
      if (after_point) move_point(-1);
      return;
    }
    if (count < max_decimal_digits)
      digits[static_cast<std::size_t>(count++)] = static_cast<char>(digit);
    else
      sticky = sticky || digit != 0;
    if (!after_point) move_point(1);
  }
  /// Text may have any number of digits, and of exponents: what is far beyond stays where it is.
  constexpr void move_point(int by) {
    constexpr int far = 1 << 29;
    point = std::clamp(point + by, -far, far);
  }

  /// The first `n` digits; where `up`, with one added to the last of them.
  constexpr decimal cut(int n, bool up) const {
    decimal result = *this;
    result.sticky = false;
    result.count = n;
    if (!up) return result;
    int at = n - 1;
    while (at >= 0 && result.digits[static_cast<std::size_t>(at)] == 9)
      result.digits[static_cast<std::size_t>(at--)] = 0;
    if (at >= 0) {
      ++result.digits[static_cast<std::size_t>(at)];
    } else {  // 9.99 becomes 10.0
      result.digits[0] = 1;
      ++result.point;
    }
    return result;
  }
};

/// A natural number of as many words as the conversion of a `decimal` takes.
class natural {
 public:
  constexpr void multiply_add(std::uint32_t factor, std::uint32_t summand) {
    std::uint64_t carry = summand;
    for (std::size_t i = 0; i < size_; ++i) {
      carry += std::uint64_t{words_[i]} * factor;
      words_[i] = static_cast<std::uint32_t>(carry);
      carry >>= word_bits;
    }
    if (carry != 0) words_[size_++] = static_cast<std::uint32_t>(carry);
  }
  /// The remainder.
  constexpr std::uint32_t divide(std::uint32_t divisor) {
    std::uint64_t rest = 0;
    for (std::size_t i = size_; i-- > 0;) {
      rest = rest << word_bits | words_[i];
      words_[i] = static_cast<std::uint32_t>(rest / divisor);
      rest %= divisor;
    }
    while (size_ > 0 && words_[size_ - 1] == 0) --size_;
    return static_cast<std::uint32_t>(rest);
  }
  /// Times 2^(32 n).
  constexpr void shift_words(int n) {
    std::copy_backward(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(size_),
                       words_.begin() + static_cast<std::ptrdiff_t>(size_) + n);
    std::fill_n(words_.begin(), n, std::uint32_t{0});
    size_ += static_cast<std::size_t>(n);
  }
  constexpr int words() const { return static_cast<int>(size_); }

  /// Times 2^exponent: the uppermost 64 bits, and whether more follow.
  constexpr unpacked<std::uint64_t> top(sign of, int exponent, bool sticky) const {
    unpacked<uint128> x{kind::finite, of, sticky, exponent, 0};
    for (std::size_t i = size_; i-- > 0;) {
      if ((x.significand >> (64 + word_bits)) == 0) {
        x.significand = x.significand << word_bits | uint128{words_[i]};
      } else {
        x.sticky = x.sticky || words_[i] != 0;
        x.exponent += word_bits;
      }
    }
    const int shift = std::max(0, bit_width_of(x.significand) - 64);
    bool lost = x.sticky;
    const auto significand = static_cast<std::uint64_t>(shift_right(x.significand, shift, lost));
    return {kind::finite, of, lost, x.exponent + shift, significand};
  }

  static constexpr int word_bits = 32;
  /// Powers of ten that a word holds, so many digits at once.
  static constexpr std::uint32_t powers[] = {1,       10,        100,        1'000,       10'000,
                                             100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};
  static constexpr int step = static_cast<int>(std::size(powers)) - 1;
  /// Words that a number has to have, beside one for each power that it is divided by, so that the quotient
  /// has more than 64 bits: each of the powers is less than a word.
  static constexpr int words_of_quotient = 64 / word_bits + 1;

 private:
  static constexpr int most_divisions = (max_decimal_digits + decimal::beyond + step - 1) / step;
  static constexpr std::size_t capacity = most_divisions + words_of_quotient;
  std::array<std::uint32_t, capacity> words_{};
  std::size_t size_ = 0;
};

/// The number, exactly: of one with more than 64 bits, the first ones and whether more follow. What is beyond
/// every format becomes another number that is.
constexpr unpacked<std::uint64_t> unpack(const decimal& x) {
  if (x.count == 0) return {kind::zero, x.of, false, 0, 0};
  constexpr int far = 3 * decimal::beyond * natural::word_bits;
  if (x.point > decimal::beyond) return {kind::finite, x.of, false, far, 1};
  if (x.point < -decimal::beyond) return {kind::finite, x.of, true, -far, 1};

  constexpr const auto& powers = natural::powers;
  constexpr int step = natural::step;
  natural n;
  for (int i = 0; i < x.count;) {
    const int digits = std::min(step, x.count - i);
    std::uint32_t chunk = 0;
    for (const int end = i + digits; i < end; ++i)
      chunk = 10 * chunk + static_cast<std::uint32_t>(x.digits[static_cast<std::size_t>(i)]);
    n.multiply_add(powers[digits], chunk);
  }
  int tens = x.point - x.count, exponent = 0;
  bool sticky = x.sticky;
  for (; tens > 0; tens -= std::min(step, tens)) n.multiply_add(powers[std::min(step, tens)], 0);
  if (tens < 0) {
    const int up = std::max(0, (-tens + step - 1) / step + natural::words_of_quotient - n.words());
    n.shift_words(up);
    exponent = -natural::word_bits * up;
    for (; tens < 0; tens += std::min(step, -tens))
      sticky = n.divide(powers[std::min(step, -tens)]) != 0 || sticky;
  }
  return n.top(x.of, exponent, sticky);
}

}  // namespace narrow::detail
