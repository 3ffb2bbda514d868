// What sums of products of narrow numbers are gathered in, and how a sum becomes a number again.
#pragma once

#include <compare>
#include <type_traits>

#include "format/operators.hpp"

namespace narrow::inline NARROW_ABI {

/// An exact sum of products of two fixed-point numbers: mantissa() * 2^-fraction_length.
///
/// 64 bits where word lengths of at most 12 make an overflow impossible in any memory (2^41 terms), 128 bits
/// beyond.
template <class Word, int FractionLength> class fixed_sum {
 public:
  /// Bits after the binary point.
  static constexpr int fraction_length = FractionLength;

  constexpr fixed_sum() = default;
  /// The sum mantissa * 2^-fraction_length.
  constexpr explicit fixed_sum(Word mantissa) : mantissa_(mantissa) {}
  /// The sum in units of 2^-fraction_length.
  constexpr Word mantissa() const { return mantissa_; }

  /// Rounded to nearest, ties to even.
  constexpr explicit operator double() const { return detail::nearest<double>(unpack(*this)); }
  /// Rounded to nearest, ties to even.
  constexpr explicit operator float() const { return detail::nearest<float>(unpack(*this)); }
  /// Adds the other sum, exactly.
  constexpr fixed_sum& operator+=(const fixed_sum& other) {
    mantissa_ += other.mantissa_;
    return *this;
  }
  friend constexpr bool operator==(const fixed_sum&, const fixed_sum&) = default;
  friend constexpr auto operator<=>(const fixed_sum&, const fixed_sum&) = default;

  friend constexpr detail::unpacked<detail::uint128> unpack(const fixed_sum& sum) {
    const bool negative = sum.mantissa_ < 0;
    const auto magnitude = static_cast<detail::uint128>(sum.mantissa_);
    return {sum.mantissa_ != 0 ? detail::kind::finite : detail::kind::zero,
            negative ? sign::negative : sign::positive, false, -FractionLength,
            negative ? 0 - magnitude : magnitude};
  }

 private:
  Word mantissa_ = 0;
};

namespace detail {

/// A sum rounded once, to a format of no longer fractions: most are in 64 bits, in which that is sooner done.
template <narrow_fixed T, class Word, int FractionLength>
constexpr T rounded_sum(const fixed_sum<Word, FractionLength>& sum) {
  const typename T::round_policy round{};
  const typename T::overflow_policy overflow{};
  constexpr int dropped = FractionLength - T::fraction_length;
  if constexpr (dropped >= 0 && dropped < 63) {
    const auto mantissa = static_cast<std::int64_t>(sum.mantissa());
    if (mantissa == sum.mantissa()) [[likely]]
      return T::from_bits(static_cast<typename T::bits_type>(
          mantissa_of(mantissa, dropped, T::word_length, round, overflow)));
  }
  return T(unpack(sum), round, overflow);
}

/// A sum of integers as the nearest float, ties to even; of 128 bits if it is less than 2^99, which no sum of
/// products of 32 bits in memory reaches.
template <class Sum> float nearest_float(const Sum& sum) { return static_cast<float>(sum); }
inline float nearest_float(int128 sum) {
  constexpr int below = 36;
  const auto lower = static_cast<std::int64_t>(sum);
  const bool fits = lower == sum;
  // Rounded to odd: far more bits than a float has, and the last one is set if something is below it.
  const bool inexact = (lower & ((std::int64_t{1} << below) - 1)) != 0;
  const auto upper = static_cast<std::int64_t>(sum >> below) | (inexact ? 1 : 0);
  return static_cast<float>(fits ? lower : upper) * (fits ? 1.0f : 0x1p36f);
}

/// The built-in type that holds every value of T.
template <class T> struct carried { using type = T; };
template <narrow_scalar T> struct carried<T> { using type = carrier_t<T>; };
template <class T> using carried_t = typename carried<T>::type;

/// So many terms, or as many as there can be, if that is less.
template <std::integral Int> constexpr std::ptrdiff_t terms_in_memory(Int count) {
  constexpr auto all = std::numeric_limits<std::ptrdiff_t>::max();
  return count < all ? static_cast<std::ptrdiff_t>(count) : all;
}

/// How products of elements A and B are added up: each is decoded into `lane`, products of lanes are added in
/// `lane`, and after at most `safe_terms` of them the partial sum moves on to `sum`.
///
/// Floating-point operands, and pairs of different kinds: float, or double where one of them needs double.
template <class A, class B> struct accumulation_traits {
  using lane = std::common_type_t<carried_t<A>, carried_t<B>>;
  using sum = lane;
  using result = lane;
  static constexpr std::ptrdiff_t safe_terms = std::numeric_limits<std::ptrdiff_t>::max();

  static constexpr lane decode(const A& x) requires(!std::same_as<A, B>) { return static_cast<lane>(x); }
  static constexpr lane decode(const B& x) { return static_cast<lane>(x); }
};

/// Fixed point with itself: exact in integers.
template <narrow_fixed T> struct accumulation_traits<T, T> {
  // The most negative mantissa squared is 2^(2 WL - 2); an int64 holds 2^63 - 1 of sum.
  static constexpr int product_bits = 2 * T::word_length - 2;
  static constexpr std::ptrdiff_t safe_terms = terms_in_memory((std::int64_t{1} << (63 - product_bits)) - 1);
  using lane = std::int64_t;
  using sum = std::conditional_t<(product_bits <= 22), std::int64_t, int128>;
  using result = fixed_sum<sum, 2 * T::fraction_length>;

  static constexpr lane decode(const T& x) { return x.bits(); }
};

/// The largest magnitude of an integer or fixed-point element, in units of its last bit; else 0.
template <class T> constexpr std::int64_t largest_element() {
  if constexpr (narrow_fixed<T>)
    return std::int64_t{1} << (T::word_length - 1);
  else if constexpr (std::signed_integral<T>)
    return -std::int64_t{std::numeric_limits<T>::min()};
  else
    return 0;
}

}  // namespace detail

/// What dot products of T come back as: float; for `fixed` the exact sum. Plain sums of `fixed`, whose terms
/// have half its fraction length, come back as a fixed_sum of their own.
template <narrow_scalar T> using accumulator_t = typename detail::accumulation_traits<T, T>::result;

}  // namespace narrow
