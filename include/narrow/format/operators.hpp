// The arithmetic operators of every narrow scalar, written once: with itself, and with the built-in types.
#pragma once

#include <optional>

#include "comparisons.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

// What an operation does: `exact` to unpacked numbers, `native` to built-in ones.

struct plus {
  static std::uint32_t of_binary16(std::uint16_t a, std::uint16_t b) { return binary16_sum(a, b); }
  template <class T> static constexpr T native(T a, T b) { return a + b; }
  template <class U> static constexpr U exact(const U& a, const U& b, sign zero) { return add(a, b, zero); }
};
struct minus {
  static std::uint32_t of_binary16(std::uint16_t a, std::uint16_t b) { return binary16_difference(a, b); }
  template <class T> static constexpr T native(T a, T b) { return a - b; }
  template <class U> static constexpr U exact(const U& a, U b, sign zero) {
    if (b.what != kind::nan) b.of = -b.of;
    return add(a, b, zero);
  }
};
struct times {
  static std::uint32_t of_binary16(std::uint16_t a, std::uint16_t b) { return binary16_product(a, b); }
  template <class T> static constexpr T native(T a, T b) { return a * b; }
  template <class U> static constexpr U exact(const U& a, const U& b, sign) { return multiply(a, b); }
};
struct over {
  static std::uint32_t of_binary16(std::uint16_t a, std::uint16_t b) { return binary16_quotient(a, b); }
  template <class T> static constexpr T native(T a, T b) { return a / b; }
  template <class U> static constexpr U exact(const U& a, const U& b, sign) { return divide(a, b); }
};

/// Whether x is certain to be a multiple of 2^max_word_length: adding it does not change a fixed-point number
/// that wraps.
template <class Word> constexpr bool is_multiple_of_words(const unpacked<Word>& x) {
  return x.what == kind::finite && x.exponent >= max_word_length;
}

/// k 2^-(FL + down), rounded once.
template <narrow_fixed T, class Int> [[gnu::always_inline]] constexpr T rounded_fixed(Int k, int down) {
  return T::from_bits(static_cast<typename T::bits_type>(
      mantissa_of(k, down, T::word_length, typename T::round_policy{}, typename T::overflow_policy{})));
}

/// What a fixed-point number counts in units of 2^-FL, and an integer in whole ones; and how many fraction
/// lengths the unit has.
template <narrow_fixed T> constexpr std::int64_t count_of(T x) { return x.bits(); }
template <std::integral T> constexpr std::int64_t count_of(T x) { return static_cast<std::int64_t>(x); }
template <class T> inline constexpr int fraction_lengths = narrow_fixed<T> ? 1 : 0;
template <class T>
concept counted = narrow_fixed<T> || std::integral<T>;

/// An operation on numbers of a fixed-point format T, or on one and an integer, in integers of 64 bits.
template <class Op, narrow_fixed T, counted A, counted B> struct in_integers {
  static constexpr int unit = T::fraction_length, units_a = fraction_lengths<A>,
                       units_b = fraction_lengths<B>;
  static constexpr bool divides = std::same_as<Op, over>;
  static constexpr int numerator_unit = divides ? unit * (1 + units_b - units_a) : 0;

  static constexpr std::int64_t raised(std::int64_t x, int by) { return x * (std::int64_t{1} << by); }

  /// Whether there is a result, and integers that it is found in.
  static constexpr bool exists(A a, B b) {
    if (divides && count_of(b) == 0) return false;
    if constexpr (std::integral<A>)
      return has_digits<std::min(few_digits, 2 * few_digits - numerator_unit)>(a);
    if constexpr (std::integral<B>) return has_digits<few_digits>(b);
    return true;
  }
  [[gnu::always_inline]] static constexpr T of(A a, B b) {
    const std::int64_t x = count_of(a), y = count_of(b);
    if constexpr (divides)
      return rounded_fixed<T>(nearest_quotient(raised(x, numerator_unit), y), 0);
    else if constexpr (std::same_as<Op, times>)
      return rounded_fixed<T>(x * y, unit * (units_a + units_b - 1));
    else
      return rounded_fixed<T>(Op::native(raised(x, unit * (1 - units_a)), raised(y, unit * (1 - units_b))),
                              0);
  }
};

/// Formats whose operations may be computed in float and rounded once more.
template <class T> inline constexpr bool computed_in_float = false;
template <narrow_float T>
requires rounds_to_nearest_even<T>
inline constexpr bool computed_in_float<T> = deciding_floats<typename T::layout>::exist;

/// The result of an operation that float computed as a zero, the sign of which may be that of another
/// rounding mode and which may have been a subnormal number: nothing, unless zero is exact.
template <class Op, narrow_float T> constexpr std::optional<T> exact_zero(T a, T b) {
  using layout = typename T::layout;
  using word = typename T::bits_type;
  const auto zero = [](bool negative) {
    return T::from_bits(negative && layout::has_negative_zero ? word{layout::sign_mask} : word{0});
  };
  const word x = a.bits() & layout::magnitude_mask, y = b.bits() & layout::magnitude_mask;
  const bool x_negative = (a.bits() & layout::sign_mask) != 0,
             y_negative = (b.bits() & layout::sign_mask) != 0;
  if constexpr (std::same_as<Op, times> || std::same_as<Op, over>) {
    if (x == 0 || y == 0) return zero(x_negative != y_negative);
  } else {
    const bool added_negative = y_negative != std::same_as<Op, minus>;
    if (x == 0 && y == 0) return zero(x_negative && added_negative);
    if (x == y && x_negative != added_negative) return zero(false);
  }
  return {};
}

/// Formats whose numbers the operators take and give in a few instructions.
template <class T> inline constexpr bool has_quick_operators = false;
template <narrow_float T>
requires(computed_in_float<T>) inline constexpr bool has_quick_operators<T> =
    is_quick<typename T::layout>() && std::same_as<typename T::overflow_policy, overflow::ieee>;

/// The exact result, rounded once, whatever the operands: not inlined, and so in nobody's way.
template <class Op, class A, class B>
[[gnu::noinline]] constexpr mixed_t<A, B> apply_exactly(A a, B b) noexcept(cannot_throw<mixed_t<A, B>>) {
  using result = mixed_t<A, B>;
  if constexpr (narrow_fixed<B> && std::same_as<A, literal> && std::same_as<Op, times>)
    return apply_exactly<Op>(b, a);
  if constexpr (narrow_fixed<A> && std::same_as<B, literal> && std::same_as<Op, times>) {
    auto factor = detail::unpack(b.value);
    if (factor.what == kind::finite && factor.exponent <= 0 && factor.exponent > -bits_of<uint128>) {
      const int zeros = std::min(std::countr_zero(factor.significand), -factor.exponent);
      factor.significand >>= zeros;
      factor.exponent += zeros;
      const auto digits = static_cast<std::int64_t>(factor.significand);
      const auto times_digits = [&]<class Int>(Int k) {
        k *= digits;
        return rounded_fixed<A>(factor.of == sign::negative ? -k : k, -factor.exponent);
      };
      const int product_bits = A::word_length + bit_width_of(factor.significand);
      if (product_bits < 64 && factor.exponent > -64) return times_digits(std::int64_t{a.bits()});
      return times_digits(int128{a.bits()});
    }
  }
  const typename result::round_policy round{};
  constexpr bool wraps = std::same_as<typename result::overflow_policy, overflow::wrap>,
                 divides = std::same_as<Op, over>;
  const auto of = [](const auto& x) {
    using number = std::remove_cvref_t<decltype(x)>;
    return wraps && is_multiple_of_words(x) ? number{} : x;
  };
  // Wrapping asks for the last of a quotient's digits, of which division by 2^-1074 gives many: as many as
  // the result has, and 32 after them to round by.
  const auto exact = with_unpacked<std::conditional_t<wraps && divides, uint128, std::uint64_t>>(
      a, b, [&](const auto& x, const auto& y) {
        if constexpr (wraps && divides)
          return divide(x, y, -(result::fraction_length + 32));
        else
          return Op::exact(of(x), of(y), sign_of_zero_sum(round));
      });
  return result(exact, round, typename result::overflow_policy{});
}
/// The same where float gave x, which decides nothing, or a zero.
template <class Op, class T> [[gnu::noinline]] T apply_rarely(T a, T b, float x) noexcept(cannot_throw<T>) {
  if (is_zero(x))
    if (const std::optional<T> zero = exact_zero<Op>(a, b)) return *zero;
  return apply_exactly<Op>(a, b);
}
/// The same by way of float.
template <class Op, class T>
requires computed_in_float<T>
[[gnu::always_inline]] inline T apply_in_float(T a, T b) noexcept(cannot_throw<T>) {
  const float x = opaque(Op::native(static_cast<float>(a), opaque(static_cast<float>(b))));
  if (deciding_floats<typename T::layout>::have(x)) [[likely]]
    return T(x);
  return apply_rarely<Op>(a, b, x);
}

/// Whether float's result of an operation on two numbers with quick operators decides it. A product and a
/// quotient that are zeros in float are so exactly where none is flushed.
template <class Op, class Layout> [[gnu::always_inline]] inline bool is_decided_by(float x) {
  if constexpr (!deciding_floats<Layout>::may_flush && (std::same_as<Op, times> || std::same_as<Op, over>))
    return (std::bit_cast<std::uint32_t>(x) & binary32::magnitude_mask) < binary32::infinity;
  else
    return deciding_floats<Layout>::have(x);
}
/// The result, by a call, of codes and as one that are handed over as floats: nothing that is done with a
/// number but storing it then asks for a register of another kind than the one in which it is computed.
template <class Op, class T>
[[gnu::noinline]] float apply_elsewhere(float a, float b) noexcept(cannot_throw<T>) {
  const auto number = [](float code) {
    return T::from_bits(static_cast<typename T::bits_type>(std::bit_cast<std::uint32_t>(code)));
  };
  return std::bit_cast<float>(std::uint32_t{apply_in_float<Op>(number(a), number(b)).bits()});
}
/// The code of the same as a word, as quick_code gives it: by the quick way where that decides it.
template <class Op, class T>
[[gnu::always_inline]] inline std::uint32_t apply_quickly(T a, T b) noexcept(cannot_throw<T>) {
  using layout = typename T::layout;
  if (computes_directly<layout>()) {
    const std::uint32_t code = Op::of_binary16(a.bits(), b.bits());
    if (!is_binary16_nan(code)) [[likely]]
      return code;
  } else if (may_be_quick<layout>()) [[likely]] {
    const float x = opaque(Op::native(quick_value<layout>(a.bits()), opaque(quick_value<layout>(b.bits()))));
    if (is_decided_by<Op, layout>(x)) [[likely]]
      return quick_code<layout>(x);
  }
  const auto code = [](T x) { return std::bit_cast<float>(std::uint32_t{x.bits()}); };
  const auto other = std::bit_cast<std::uint32_t>(apply_elsewhere<Op, T>(code(a), code(b)));
  if (other > std::numeric_limits<typename T::bits_type>::max()) __builtin_unreachable();
  return other;
}

/// What double holds as it is: an integer of so many digits, a literal, a number of such a format.
template <class T>
concept takes_part_in_double = std::integral<T> || std::same_as<T, literal> || computed_in_float<T>;
template <takes_part_in_double T> constexpr bool is_double(T x) {
  if constexpr (std::integral<T>) return has_digits<std::numeric_limits<double>::digits>(x);
  return true;
}
template <takes_part_in_double T> constexpr double in_double(T x) {
  if constexpr (std::integral<T>)
    return static_cast<double>(x);
  else if constexpr (std::same_as<T, literal>)
    return x.value;
  else
    return double_of(x);
}
/// The exact result, rounded once, by way of double where that decides it. Not inlined: an operator that has
/// this within it is too long for compilers to inline it where it is asked for less.
template <class Op, takes_part_in_double A, takes_part_in_double B>
[[gnu::noinline]] mixed_t<A, B> apply_in_double(A a, B b) noexcept(cannot_throw<mixed_t<A, B>>) {
  using result = mixed_t<A, B>;
  if (is_double(a) && is_double(b)) {
    const double x = opaque(Op::native(in_double(a), opaque(in_double(b))));
    if (is_decided_by_double<typename result::layout>(x)) [[likely]]
      return result(x);
  }
  return apply_exactly<Op>(a, b);
}
/// A narrow result is the exact one, rounded once, found in the shortest way there is. A built-in result is
/// that type's own arithmetic on the value of the narrow operand, in double where the narrow operand needs
/// double.
template <class Op, class A, class B>
[[gnu::always_inline]] constexpr mixed_t<A, B> apply(A a, B b) noexcept(cannot_throw<mixed_t<A, B>>) {
  using result = mixed_t<A, B>;
  if constexpr (unscoped_enumeration<A> || unscoped_enumeration<B>) {
    return apply<Op>(static_cast<number_t<A>>(a), static_cast<number_t<B>>(b));
  } else if constexpr (!narrow_scalar<result>) {
    using narrow_type = std::conditional_t<narrow_scalar<A>, A, B>;
    using wide = std::common_type_t<result, carrier_t<narrow_type>>;
    return static_cast<result>(Op::native(static_cast<wide>(a), static_cast<wide>(b)));
  } else {
    if constexpr (std::same_as<A, B> && computed_in_float<A>)
      if (!std::is_constant_evaluated()) {
        if constexpr (has_quick_operators<A>)
          return A::from_bits(static_cast<typename A::bits_type>(apply_quickly<Op>(a, b)));
        else
          return apply_in_float<Op>(a, b);
      }
    if constexpr (std::integral<B>)
      if (has_integer<A>(b)) [[likely]]
        return apply<Op>(a, A(b));
    if constexpr (std::integral<A>)
      if (has_integer<B>(a)) [[likely]]
        return apply<Op>(B(a), b);
    if constexpr (narrow_fixed<result> && counted<A> && counted<B> &&
                  (rounds_to_nearest_even<result> || (std::same_as<A, B> && !std::same_as<Op, over>)))
      if (in_integers<Op, result, A, B>::exists(a, b)) [[likely]]
        return in_integers<Op, result, A, B>::of(a, b);
    if constexpr (computed_in_float<result> && takes_part_in_double<A> && takes_part_in_double<B>)
      if (!std::is_constant_evaluated()) return apply_in_double<Op>(a, b);
    return apply_exactly<Op>(a, b);
  }
}

}  // namespace detail

/// A op B for two numbers of a narrow type, or one and a number of a built-in type; `a op= b` is `a = a op
/// b`, as for the built-in types. Two different narrow types do not meet by accident, in the float that both
/// convert to: convert one of them.
#define NARROW_OPERATOR(op, operation)                                                                     \
  template <class A, class B>                                                                              \
  requires detail::mixable<A, B>                                                                           \
  constexpr detail::mixed_t<A, B> operator op(A a,                                                         \
                                              B b) noexcept(detail::cannot_throw<detail::mixed_t<A, B>>) { \
    return detail::apply<detail::operation>(a, b);                                                         \
  }                                                                                                        \
  template <narrow_scalar A, class B>                                                                      \
  requires detail::mixable<A, B>                                                                           \
  constexpr A& operator op##=(A& a, B b) noexcept(A::cannot_throw) { return a = static_cast<A>(a op b); }  \
  template <narrow_scalar A, narrow_scalar B>                                                              \
  requires(!std::same_as<A, B>) void operator op(A, B) = delete;
NARROW_OPERATOR(+, plus)
NARROW_OPERATOR(-, minus)
NARROW_OPERATOR(*, times)
NARROW_OPERATOR(/, over)
#undef NARROW_OPERATOR

/// x itself.
template <narrow_scalar T> constexpr T operator+(T x) noexcept { return x; }

/// -x, exact, NaN included; the most negative number of a fixed format saturates or wraps.
template <narrow_float T> constexpr T operator-(T x) noexcept {
  using layout = typename T::layout;
  if (!layout::has_negative_zero && (x.bits() & layout::magnitude_mask) == 0) return x;
  return T::from_bits(static_cast<typename T::bits_type>(x.bits() ^ layout::sign_mask));
}
template <narrow_fixed T> constexpr T operator-(T x) noexcept(T::cannot_throw) {
  return detail::rounded_fixed<T>(-std::int64_t{x.bits()}, 0);
}

/// x + 1, rounded once.
template <narrow_scalar T> constexpr T& operator++(T& x) noexcept(T::cannot_throw) { return x += 1; }
/// x - 1, rounded once.
template <narrow_scalar T> constexpr T& operator--(T& x) noexcept(T::cannot_throw) { return x -= 1; }
/// x as it was; it becomes x + 1, rounded once.
template <narrow_scalar T> constexpr T operator++(T& x, int) noexcept(T::cannot_throw) {
  const T before = x;
  ++x;
  return before;
}
/// x as it was; it becomes x - 1, rounded once.
template <narrow_scalar T> constexpr T operator--(T& x, int) noexcept(T::cannot_throw) {
  const T before = x;
  --x;
  return before;
}

/// `x` in the format To, rounded once; policies other than To's own can be given for this one conversion.
///
/// `x` is any narrow scalar, built-in number or enumerator of an unscoped enumeration, or a number of another
/// library's. Signalling NaNs become quiet.
template <narrow_scalar To, class From, rounding_policy Round = typename To::round_policy,
          overflow_policy Overflow = typename To::overflow_policy>
requires narrow_scalar<From> || detail::arithmetic_value<From> || foreign_scalar<From>
[[nodiscard]] constexpr To narrow_cast(
    From x, const Round& round = Round{},
    Overflow overflow = Overflow{}) noexcept(detail::rounds_without_throwing<Round>) {
  using detail::unpack;
  if constexpr (foreign_scalar<From>)
    return narrow_cast<To>(detail::as_narrow(x), round, overflow);
  else if constexpr (narrow_float<To> && detail::has_short_way<From, Round>)
    return To::from_bits(detail::nearest_code<typename To::layout>(x, overflow));
  else if constexpr (narrow_fixed<To> && detail::has_short_mantissa<From>)
    return To::from_bits(static_cast<typename To::bits_type>(
        detail::mantissa_of_built_in(x, To::word_length, To::fraction_length, round, overflow)));
  else
    return To(unpack(x), round, overflow);
}

}  // namespace narrow

/// The common type is that of the sum. `std::ranges::find(numbers, 0.5f)` asks for it.
template <narrow::narrow_scalar A, narrow::detail::arithmetic_operand B> struct std::common_type<A, B> {
  using type = narrow::detail::mixed_t<A, B>;
};
template <narrow::detail::arithmetic_operand A, narrow::narrow_scalar B>
struct std::common_type<A, B> : std::common_type<B, A> {};
