// A real number taken apart, and the way into it from every type. All of it is integer arithmetic: neither
// -ffast-math nor the state of the floating-point unit can change a bit of what follows from it.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>

#include "layout.hpp"
#include "rounding.hpp"

namespace narrow::inline NARROW_ABI::detail {

enum class kind : std::uint8_t { zero, finite, infinite, nan };

/// (-1)^s * significand * 2^exponent, and where `sticky`, some more: less than one unit of the significand.
/// Finite numbers have a significand other than 0; a NaN carries its mantissa field left-aligned in it.
template <class Word> struct unpacked {
  kind what = kind::zero;
  sign of = sign::positive;
  bool sticky = false;
  int exponent = 0;
  Word significand = 0;

  /// The exponent of the leading bit: 2^leading() <= |x| < 2^(leading() + 1).
  constexpr int leading() const;
};

template <class Word> inline constexpr int bits_of = 8 * sizeof(Word);

constexpr int bit_width_of(std::uint64_t x) { return 64 - std::countl_zero(x); }
constexpr int bit_width_of(uint128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? 64 + bit_width_of(high) : bit_width_of(static_cast<std::uint64_t>(x));
}

template <class Word> constexpr int unpacked<Word>::leading() const {
  return exponent + bit_width_of(significand) - 1;
}

template <class Wide, class Word> constexpr unpacked<Wide> widened(const unpacked<Word>& x) {
  // A NaN payload is aligned to the top of the word.
  const int shift = x.what == kind::nan ? bits_of<Wide> - bits_of<Word> : 0;
  return {x.what, x.of, x.sticky, x.exponent, static_cast<Wide>(Wide{x.significand} << shift)};
}

/// Takes the code of a floating format of up to 64 bits apart.
template <class Layout> constexpr unpacked<std::uint64_t> unpack_code(typename Layout::bits_type bits) {
  constexpr int M = Layout::mantissa_bits;
  const sign of = (bits & Layout::sign_mask) != 0 ? sign::negative : sign::positive;
  const auto mantissa = static_cast<std::uint64_t>(bits & Layout::mantissa_mask);
  const int field = static_cast<int>((bits & Layout::exponent_mask) >> M);
  if (Layout::is_nan(bits)) return {kind::nan, of, false, 0, Layout::has_payload ? mantissa << (64 - M) : 0};
  if (Layout::is_infinity(bits)) return {kind::infinite, of, false, 0, 0};
  if (field != 0)
    return {kind::finite, of, false, field - Layout::bias - M, mantissa | (std::uint64_t{1} << M)};
  if (mantissa != 0) return {kind::finite, of, false, Layout::min_quantum, mantissa};
  return {kind::zero, of, false, 0, 0};
}

constexpr unpacked<std::uint64_t> unpack(float x) {
  return unpack_code<binary32>(std::bit_cast<std::uint32_t>(x));
}
constexpr unpacked<std::uint64_t> unpack(double x) {
  return unpack_code<binary64>(std::bit_cast<std::uint64_t>(x));
}

/// Whether an integer is at most 2^Digits, up and down.
template <int Digits, std::integral T> constexpr bool has_digits(T x) {
  if constexpr (std::numeric_limits<T>::digits <= Digits)
    return true;
  else if constexpr (std::signed_integral<T>)
    return -(T{1} << Digits) <= x && x <= T{1} << Digits;
  else
    return x <= T{1} << Digits;
}

/// The word that holds any value of an integer type and the arithmetic on it: 64 bits would do for the value
/// of a long, but not for its exact sum with a narrow number.
template <std::integral T> using word_for = std::conditional_t<sizeof(T) <= 4, std::uint64_t, uint128>;

template <std::integral T> constexpr unpacked<word_for<T>> unpack(T x) {
  using Word = word_for<T>;
  bool negative = false;
  if constexpr (std::signed_integral<T>) negative = x < 0;
  const Word magnitude = negative ? Word{0} - static_cast<Word>(x) : static_cast<Word>(x);
  return {magnitude != 0 ? kind::finite : kind::zero, negative ? sign::negative : sign::positive, false, 0,
          magnitude};
}

/// A 128-bit integer taken apart, for conversion alone: the arithmetic would need a longer word.
/// (std::integral does not count these types in strict mode.)
constexpr unpacked<uint128> unpack(uint128 x) {
  return {x != 0 ? kind::finite : kind::zero, sign::positive, false, 0, x};
}
constexpr unpacked<uint128> unpack(int128 x) {
  const auto magnitude = static_cast<uint128>(x);
  auto result = unpack(x < 0 ? uint128{0} - magnitude : magnitude);
  if (x < 0) result.of = sign::negative;
  return result;
}

/// The integer that an enumerator stands for.
template <unscoped_enumeration T> constexpr auto unpack(T x) { return unpack(static_cast<number_t<T>>(x)); }

/// The narrow number that has the code of x.
template <foreign_scalar T> constexpr foreign_format_t<T> as_narrow(T x) {
  using format = foreign_format_t<T>;
  return format::from_bits(std::bit_cast<typename format::bits_type>(x));
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

/// A sum of two doubles, of which the second one is at most half a unit in the last place of the first one,
/// as POWER's long double is. What is more than 2^-126 below the whole makes it sticky.
constexpr unpacked<uint128> unpack_sum(double larger, double smaller) {
  auto sum = widened<uint128>(unpack(larger));
  auto rest = widened<uint128>(unpack(smaller));
  if (sum.what != kind::finite || rest.what != kind::finite) return sum;
  const int gap = sum.exponent - rest.exponent,
            up = std::min(gap, bits_of<uint128> - 2 - std::numeric_limits<double>::digits);
  sum.significand <<= up;
  sum.exponent -= up;
  rest.significand = shift_right(rest.significand, gap - up, sum.sticky);
  if (sum.of == rest.of)
    sum.significand += rest.significand;
  else
    sum.significand -= rest.significand + (sum.sticky ? 1 : 0);
  return sum;
}

/// A long double taken apart, whatever its format on the platform; in constant expressions by exact scaling,
/// since its padding cannot be read there.
template <std::same_as<long double> T> constexpr unpacked<uint128> unpack(T x) {
  using limits = std::numeric_limits<T>;
  static_assert(limits::digits == 64 || limits::digits == 53 || limits::digits == 106 ||
                limits::digits == 113);
  if constexpr (limits::digits == 53) {
    return widened<uint128>(unpack(static_cast<double>(x)));
  } else if constexpr (limits::digits == 106) {
    if (std::is_constant_evaluated()) {
      const auto larger = static_cast<double>(x);
      return unpack_sum(larger, static_cast<double>(x - larger));
    }
    double parts[2];
    std::memcpy(parts, &x, sizeof parts);
    return unpack_sum(parts[0], parts[1]);
  } else if constexpr (limits::digits == 113) {
    return [](uint128 bits) -> unpacked<uint128> {
      const uint128 mantissa = bits & ((uint128{1} << 112) - 1);
      const int field = static_cast<int>(bits >> 112) & 0x7fff;
      const sign of = (bits >> 127) != 0 ? sign::negative : sign::positive;
      if (field == 0x7fff) return {mantissa != 0 ? kind::nan : kind::infinite, of, false, 0, mantissa << 16};
      if (field != 0) return {kind::finite, of, false, field - 16383 - 112, mantissa | (uint128{1} << 112)};
      return {mantissa != 0 ? kind::finite : kind::zero, of, false, -16382 - 112, mantissa};
    }(std::bit_cast<uint128>(x));
  } else if (std::is_constant_evaluated()) {
    if (x != x) return {kind::nan, sign::positive, false, 0, uint128{1} << 127};
    // x is +0 or -0 if it is neither positive nor negative; constant evaluation cannot tell the zeros apart
    // portably.
    const sign of = x < 0 ? sign::negative : sign::positive;
    long double magnitude = x < 0 ? -x : x;
    if (magnitude == 0) return {kind::zero, of, false, 0, 0};
    if (magnitude > limits::max()) return {kind::infinite, of, false, 0, 0};
    int exponent = 0;
    for (; magnitude >= 0x1p64L; ++exponent) magnitude *= 0.5L;
    for (; magnitude < 0x1p63L; --exponent) magnitude *= 2.0L;
    return {kind::finite, of, false, exponent, static_cast<std::uint64_t>(magnitude)};
  } else {  // x87: 64 bits of significand with the leading one, then 15 of exponent and the sign
    std::uint64_t significand = 0;
    std::uint16_t top = 0;
    std::memcpy(&significand, &x, sizeof significand);
    std::memcpy(&top, reinterpret_cast<const unsigned char*>(&x) + sizeof significand, sizeof top);
    const sign of = (top >> 15) != 0 ? sign::negative : sign::positive;
    const int field = top & 0x7fff;
    if (field == 0x7fff) {
      const std::uint64_t payload = significand << 1;
      if (payload == 0) return {kind::infinite, of, false, 0, 0};
      return {kind::nan, of, false, 0, uint128{payload} << 64};
    }
    if (significand == 0) return {kind::zero, of, false, 0, 0};
    return {kind::finite, of, false, (field == 0 ? 1 : field) - 16383 - 63, significand};
  }
}

}  // namespace narrow::detail
