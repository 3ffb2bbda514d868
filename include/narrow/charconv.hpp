// Narrow scalars from text and to it, rounded once and as short as can be: from_chars and to_chars.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

#include "format/limits.hpp"
#include "round/decimal.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// What text says, and where it ends: where it begins if it is no number.
struct number_text {
  unpacked<std::uint64_t> value{};
  const char* end = nullptr;
};

constexpr char lower_case(char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
/// The digit's value; `base` or more for what is none.
constexpr int digit_of(char c, int base) {
  if ('0' <= c && c <= '9') return c - '0';
  const char letter = lower_case(c);
  return 'a' <= letter && letter <= 'f' ? letter - 'a' + 10 : base;
}
/// Whether text begins with a word, in letters of either case.
constexpr bool begins_with(const char* first, const char* last, std::string_view word) {
  if (last - first < static_cast<std::ptrdiff_t>(word.size())) return false;
  for (const char c : word)
    if (lower_case(*first++) != c) return false;
  return true;
}

/// The digits of a hexadecimal number, up to those that 64 bits hold.
struct hexadecimal {
  std::uint64_t significand = 0;
  int exponent = 0;
  bool sticky = false;

  constexpr void append(int digit, bool after_point) {
    constexpr int bits = 4;
    const bool kept = significand >> (64 - bits) == 0;
    if (kept)
      significand = significand << bits | static_cast<std::uint64_t>(digit);
    else
      sticky = sticky || digit != 0;
    constexpr int far = 1 << 29;  // which text of any length does not pass
    exponent = std::clamp(exponent + (kept ? 0 : bits) - (after_point ? bits : 0), -far, far);
  }
};

/// The end of the digits in [first, last), with a point among or before them; `first` where there is none.
template <class Digits>
constexpr const char* read_digits(const char* first, const char* last, int base, Digits& digits) {
  bool any = false, after_point = false;
  const char* p = first;
  for (; p != last; ++p) {
    if (*p == '.' && !after_point) {
      after_point = true;
      continue;
    }
    const int digit = digit_of(*p, base);
    if (digit >= base) break;
    digits.append(digit, after_point);
    any = true;
  }
  return any ? p : first;
}

/// The end of an exponent that begins with `letter`; `first` where there is none.
constexpr const char* read_exponent(const char* first, const char* last, char letter, int& exponent) {
  if (first == last || lower_case(*first) != letter) return first;
  const char* p = first + 1;
  const bool negative = p != last && *p == '-';
  if (p != last && (*p == '-' || *p == '+')) ++p;
  const char* const digits = p;
  constexpr int far = 1 << 24;
  int value = 0;
  for (; p != last && digit_of(*p, 10) < 10; ++p) value = std::min(far, 10 * value + digit_of(*p, 10));
  if (p == digits) return first;
  exponent = negative ? -value : value;
  return p;
}

/// Infinity or NaN.
constexpr number_text read_special(const char* first, const char* last, sign of) {
  for (const std::string_view word : {"infinity", "inf"})
    if (begins_with(first, last, word)) return {{kind::infinite, of, false, 0, 0}, first + word.size()};
  constexpr std::string_view nan = "nan";
  if (!begins_with(first, last, nan)) return {{}, first};
  const char* end = first + nan.size();
  if (end != last && *end == '(') {  // NaN(characters)
    const char* p = end + 1;
    while (p != last &&
           (*p == '_' || digit_of(*p, 10) < 10 || ('a' <= lower_case(*p) && lower_case(*p) <= 'z')))
      ++p;
    if (p != last && *p == ')') end = p + 1;
  }
  return {{kind::nan, of, false, 0, 0}, end};
}

/// The number at the beginning of [first, last), as std::from_chars has it.
constexpr number_text read_number(const char* first, const char* last, std::chars_format format) {
  const bool minus = first != last && *first == '-';
  const sign of = minus ? sign::negative : sign::positive;
  const char* const begin = first + (minus ? 1 : 0);
  int exponent = 0;
  if (format == std::chars_format::hex) {
    hexadecimal digits;
    const char* const end = read_digits(begin, last, 16, digits);
    if (end != begin) {
      const char* const whole = read_exponent(end, last, 'p', exponent);
      const kind what = digits.significand != 0 ? kind::finite : kind::zero;
      return {{what, of, digits.sticky, digits.exponent + exponent, digits.significand}, whole};
    }
  } else {
    decimal digits;
    const char* const end = read_digits(begin, last, 10, digits);
    if (end != begin) {
      const char* whole = end;
      if (format != std::chars_format::fixed) whole = read_exponent(end, last, 'e', exponent);
      if (format == std::chars_format::scientific && whole == end) return {{}, first};
      digits.of = of;
      if (digits.count > 0) digits.move_point(exponent);
      return {unpack(digits), whole};
    }
  }
  const number_text special = read_special(begin, last, of);
  return special.end == begin ? number_text{{}, first} : special;
}

/// x rounded by T's policy; nothing where that leads beyond the numbers of T.
template <narrow_float T> constexpr std::optional<T> in_range(const unpacked<std::uint64_t>& x) {
  using layout = typename T::layout;
  if (x.what == kind::infinite && !layout::has_infinity) return {};
  if (x.what == kind::nan && !layout::has_nan) return {};
  if (x.what == kind::finite && x.leading() > layout::max_exponent) return {};
  const T result(x, typename T::round_policy{}, overflow::ieee{});
  if (x.what == kind::finite && !layout::is_finite(result.bits())) return {};
  return result;
}
template <narrow_fixed T> constexpr std::optional<T> in_range(const unpacked<std::uint64_t>& x) {
  if (x.what == kind::zero) return T::from_bits(0);
  if (x.what != kind::finite || x.leading() + T::fraction_length >= T::word_length) return {};
  const bool negative = x.of == sign::negative;
  const auto magnitude =
      static_cast<std::int64_t>(round_to_multiple(x, -T::fraction_length, typename T::round_policy{}));
  constexpr std::int64_t end = std::int64_t{1} << (T::word_length - 1);
  if (magnitude > end - (negative ? 0 : 1)) return {};
  return T::from_bits(static_cast<typename T::bits_type>(negative ? -magnitude : magnitude));
}

/// Whether text with these digits is read as x: by a policy that draws random numbers only if it is x.
template <narrow_scalar T> bool reads_as(const decimal& digits, T x) {
  const auto number = unpack(digits);
  const auto is_x = [&](const auto& round) {
    return T(number, round, typename T::overflow_policy{}).bits() == x.bits();
  };
  if constexpr (rounds_by_rule<typename T::round_policy>) {
    const std::optional<T> read = in_range<T>(number);
    return read && read->bits() == x.bits();
  } else {
    return is_x(rounding::upward{}) && is_x(rounding::downward{});
  }
}

/// All digits of a number, finite and not zero.
inline decimal every_digit(double x) {
  char text[max_decimal_digits + 16];  // a sign, a point, an exponent
  const auto end =
      std::to_chars(text, std::end(text), x, std::chars_format::scientific, max_decimal_digits).ptr;
  decimal result;
  result.of = std::signbit(x) ? sign::negative : sign::positive;
  const char* const begin = text + (text[0] == '-' ? 1 : 0);
  int exponent = 0;
  read_exponent(read_digits(begin, static_cast<const char*>(end), 10, result), end, 'e', exponent);
  result.move_point(exponent);
  while (result.digits[static_cast<std::size_t>(result.count - 1)] == 0) --result.count;
  return result;
}

/// The fewest digits that are read as x, of these the nearest to x.
template <narrow_scalar T> decimal fewest_digits(const decimal& all, T x) {
  for (int n = 1; n < all.count; ++n) {
    const bool nearer_up = all.digits[static_cast<std::size_t>(n)] >= 5;
    for (const bool up : {nearer_up, !nearer_up})
      if (const decimal shorter = all.cut(n, up); reads_as(shorter, x)) return shorter;
  }
  return all;
}

/// Text that is written into a range, or does not fit it.
class text_writer {
 public:
  text_writer(char* first, char* last) : at_(first), last_(last) {}

  void put(char c) {
    if (at_ == last_)
      fits_ = false;
    else
      *at_++ = c;
  }
  /// The digits from `begin` to `end`; zeros before the first one and after the last.
  void put(const decimal& x, int begin, int end) {
    for (int i = begin; i < end; ++i)
      put(0 <= i && i < x.count ? static_cast<char>('0' + x.digits[static_cast<std::size_t>(i)]) : '0');
  }
  std::to_chars_result result() const {
    return fits_ ? std::to_chars_result{at_, std::errc{}}
                 : std::to_chars_result{last_, std::errc::value_too_large};
  }

 private:
  char *at_, *last_;
  bool fits_ = true;
};

inline void put_scientific(text_writer& out, const decimal& x) {
  out.put(x, 0, 1);
  if (x.count > 1) {
    out.put('.');
    out.put(x, 1, x.count);
  }
  const int exponent = x.point - 1, magnitude = exponent < 0 ? -exponent : exponent;
  out.put('e');
  out.put(exponent < 0 ? '-' : '+');
  out.put(static_cast<char>('0' + magnitude / 10));
  out.put(static_cast<char>('0' + magnitude % 10));
}
inline int scientific_size(const decimal& x) { return x.count + (x.count > 1 ? 1 : 0) + 4; }

/// A whole number has all of its digits, not zeros in place of those that are not needed.
inline void put_fixed(text_writer& out, const decimal& shortest, const decimal& all) {
  const decimal& x = shortest.point >= shortest.count ? all : shortest;
  out.put(x, std::min(0, x.point - 1), x.point);
  if (x.point < x.count) {
    out.put('.');
    out.put(x, x.point, x.count);
  }
}
inline int fixed_size(const decimal& x) {
  return std::max(1, x.point) + (x.point < x.count ? 1 + x.count - x.point : 0);
}

enum class notation { shorter_one, scientific, fixed, general };

template <narrow_scalar T> std::to_chars_result to_shortest(char* first, char* last, T x, notation as) {
  const auto kind_of_x = unpack(x).what;
  const auto value = nearest<double>(unpack(x));
  if (kind_of_x != kind::finite) return std::to_chars(first, last, value);
  const decimal all = every_digit(value), digits = fewest_digits(all, x);
  text_writer out(first, last);
  if (all.of == sign::negative) out.put('-');
  // What std::printf prints as %g.
  const bool of_usual_size = -4 < digits.point && digits.point <= 6;
  if (as == notation::fixed || (as == notation::general && of_usual_size) ||
      (as == notation::shorter_one && fixed_size(digits) <= scientific_size(digits)))
    put_fixed(out, digits, all);
  else
    put_scientific(out, digits);
  return out.result();
}

}  // namespace detail

/// As std::from_chars: reads the number at the beginning of [first, last) in the C locale, found by
/// argument-dependent lookup.
///
/// Rounding  the number of the text, however many digits it has, is rounded once by T's policy; what is too
///           small for T becomes zero.
/// Special   "inf" and "nan" as std::from_chars, where T has them.
/// Errors    std::errc::invalid_argument where there is no number, std::errc::result_out_of_range where it is
///           beyond T's finite numbers, also where T saturates or wraps: rounded, it would be infinite or NaN,
///           or have another exponent than T's largest one; of `fixed`, be another number. Then `value` is as
///           it was.
/// Cost      a fraction of a microsecond for text of a few digits. Allocates nothing.
template <narrow_scalar T>
std::from_chars_result from_chars(const char* first, const char* last, T& value,
                                  std::chars_format format = std::chars_format::general) {
  const auto text = detail::read_number(first, last, format);
  if (text.end == first) return {first, std::errc::invalid_argument};
  const auto read = detail::in_range<T>(text.value);
  if (!read) return {text.end, std::errc::result_out_of_range};
  value = *read;
  return {text.end, std::errc{}};
}

/// As std::to_chars: the shortest text from which `from_chars` has the same number, of those with as few
/// digits the nearest to x; in the notation that is shorter, fixed or scientific, or the one that is asked
/// for.
///
/// Special   where T's policy draws random numbers, all digits of x, which are exact.
/// Errors    std::errc::value_too_large where the text does not fit; then what is in [first, last) is
///           unspecified.
/// Cost      some microseconds. Allocates nothing.
template <narrow_scalar T> std::to_chars_result to_chars(char* first, char* last, T x) {
  return detail::to_shortest(first, last, x, detail::notation::shorter_one);
}
/// The same in one notation.
template <narrow_scalar T>
std::to_chars_result to_chars(char* first, char* last, T x, std::chars_format format) {
  switch (format) {
    case std::chars_format::scientific:
      return detail::to_shortest(first, last, x, detail::notation::scientific);
    case std::chars_format::fixed:
      return detail::to_shortest(first, last, x, detail::notation::fixed);
    case std::chars_format::hex:
      return std::to_chars(first, last, static_cast<carrier_t<T>>(x), format);
    case std::chars_format::general:
      break;
  }
  return detail::to_shortest(first, last, x, detail::notation::general);
}
/// With so many digits, as std::to_chars.
template <narrow_scalar T>
std::to_chars_result to_chars(char* first, char* last, T x, std::chars_format format, int precision) {
  return std::to_chars(first, last, static_cast<carrier_t<T>>(x), format, precision);
}

}  // namespace narrow
