// The operators of every narrow scalar, written once: with itself, and with the built-in types.
#pragma once

#include <optional>

#include "../round/arithmetic.hpp"
#include "fixed.hpp"
#include "floating.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// A number that takes the type of its narrow partner, entering the operation exactly: what `0.1` means in
/// `0.1 * A` where the operands of an expression template have one scalar type.
struct literal {
  double value = 0;

  constexpr literal() = default;
  template <arithmetic_operand T> constexpr literal(T x) noexcept : value(static_cast<double>(x)) {}

  template <narrow_scalar T> constexpr operator T() const noexcept(T::cannot_throw) { return T(value); }
  friend constexpr unpacked<uint128> unpack(literal x) { return widened<uint128>(detail::unpack(x.value)); }
  friend constexpr bool operator==(literal a, literal b) { return a.value == b.value; }
};

template <class A, class B>
concept narrow_with_other = narrow_scalar<A> &&(arithmetic_operand<B> || std::same_as<B, literal>);

/// The operand pairs that the operators take: a narrow type with itself, with any built-in type, with an
/// enumerator or with a literal.
template <class A, class B>
concept mixable =
    (narrow_scalar<A> && std::same_as<A, B>) || narrow_with_other<A, B> || narrow_with_other<B, A>;

template <class A, class B> struct mixed_result {
  using type = B;  // floating-point B: its arithmetic
};
template <class A, class B>
requires std::same_as<A, B> || std::integral<B> || std::same_as<B, literal>
struct mixed_result<A, B> {
  using type = A;
};

/// What `A op B` gives: narrow with itself or with an integer, that narrow type; with float, double or long
/// double, that.
template <class A, class B>
using mixed_t = typename std::conditional_t<narrow_scalar<A>, mixed_result<A, number_t<B>>,
                                            mixed_result<B, number_t<A>>>::type;

template <class T> inline constexpr bool cannot_throw = true;
template <narrow_scalar T> inline constexpr bool cannot_throw<T> = T::cannot_throw;

/// Unpacks both numbers into the widest of the two words that they need and Least.
template <class Least = std::uint64_t, class A, class B, class F>
constexpr auto with_unpacked(const A& a, const B& b, F f) {
  const auto x = unpack(a);
  const auto y = unpack(b);
  using Word = uint_at_least<std::max(
      {bits_of<Least>, bits_of<decltype(x.significand)>, bits_of<decltype(y.significand)>})>;
  return f(widened<Word>(x), widened<Word>(y));
}

// What an operation does: `exact` to unpacked numbers, `native` to built-in ones. For fixed-point numbers
// with fraction length FL, `of_mantissas` is the exact result in units of 2^-(FL fraction_lengths).

struct plus {
  static constexpr int fraction_lengths = 1;
  static constexpr std::int64_t of_mantissas(std::int64_t a, std::int64_t b) { return a + b; }
  template <class T> static constexpr T native(T a, T b) { return a + b; }
  template <class U> static constexpr U exact(const U& a, const U& b, sign zero) { return add(a, b, zero); }
};
struct minus {
  static constexpr int fraction_lengths = 1;
  static constexpr std::int64_t of_mantissas(std::int64_t a, std::int64_t b) { return a - b; }
  template <class T> static constexpr T native(T a, T b) { return a - b; }
  template <class U> static constexpr U exact(const U& a, U b, sign zero) {
    if (b.what != kind::nan) b.of = -b.of;
    return add(a, b, zero);
  }
};
struct times {
  static constexpr int fraction_lengths = 2;
  static constexpr std::int64_t of_mantissas(std::int64_t a, std::int64_t b) { return a * b; }
  template <class T> static constexpr T native(T a, T b) { return a * b; }
  template <class U> static constexpr U exact(const U& a, const U& b, sign) { return multiply(a, b); }
};
struct over {
  template <class T> static constexpr T native(T a, T b) { return a / b; }
  template <class U> static constexpr U exact(const U& a, const U& b, sign) { return divide(a, b); }
};

/// Whether x is certain to be a multiple of 2^max_word_length: adding it does not change a fixed-point number
/// that wraps.
template <class Word> constexpr bool is_multiple_of_words(const unpacked<Word>& x) {
  return x.what == kind::finite && x.exponent >= max_word_length;
}

/// k 2^-(FL + down), rounded once.
template <narrow_fixed T, class Int> constexpr T rounded_fixed(Int k, int down) {
  return T::from_bits(static_cast<typename T::bits_type>(
      mantissa_of(k, down, T::word_length, typename T::round_policy{}, typename T::overflow_policy{})));
}

/// Formats whose operations may be computed in float and rounded once more.
template <class T> inline constexpr bool computed_in_float = false;
template <narrow_float T>
requires std::same_as<typename T::round_policy, rounding::nearest_even>
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

/// A narrow result is the exact one, rounded once. A built-in result is that type's own arithmetic on the
/// value of the narrow operand, in double where the narrow operand needs double.
template <class Op, class A, class B>
constexpr mixed_t<A, B> apply_thoroughly(A a, B b) noexcept(cannot_throw<mixed_t<A, B>>) {
  using result = mixed_t<A, B>;
  if constexpr (computed_in_float<A> && std::same_as<A, B>)
    if (!std::is_constant_evaluated()) {
      const float x = opaque(Op::native(static_cast<float>(a), opaque(static_cast<float>(b))));
      if (deciding_floats<typename A::layout>::have(x)) [[likely]]
        return A(x);
      if (is_zero(x))
        if (const std::optional<A> zero = exact_zero<Op>(a, b)) return *zero;
    }
  if constexpr (narrow_fixed<A> && std::same_as<A, B> && requires { Op::fraction_lengths; }) {
    return rounded_fixed<A>(Op::of_mantissas(a.bits(), b.bits()),
                            (Op::fraction_lengths - 1) * A::fraction_length);
  } else if constexpr (narrow_scalar<result>) {
    if constexpr (narrow_fixed<B> && std::same_as<A, literal> && std::same_as<Op, times>)
      return apply_thoroughly<Op>(b, a);
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
  } else {
    using narrow_type = std::conditional_t<narrow_scalar<A>, A, B>;
    using wide = std::common_type_t<result, carrier_t<narrow_type>>;
    return static_cast<result>(Op::native(static_cast<wide>(a), static_cast<wide>(b)));
  }
}

/// Whether float's result of an operation on two numbers with quick operators decides it. A product and a
/// quotient that are zeros in float are so exactly where none is flushed.
template <class Op, class Layout> [[gnu::always_inline]] inline bool is_decided_by(float x) {
  if constexpr (!deciding_floats<Layout>::may_flush && (std::same_as<Op, times> || std::same_as<Op, over>))
    return (std::bit_cast<std::uint32_t>(x) & binary32::magnitude_mask) < binary32::infinity;
  else
    return deciding_floats<Layout>::have(x);
}
/// The same, not inlined, of codes and to one that are handed over as floats: nothing that is done with a
/// number but storing it then asks for a register of another kind than the one in which it is computed.
template <class Op, class T>
[[gnu::noinline]] float apply_elsewhere(float a, float b) noexcept(cannot_throw<T>) {
  const auto number = [](float code) {
    return T::from_bits(static_cast<typename T::bits_type>(std::bit_cast<std::uint32_t>(code)));
  };
  return std::bit_cast<float>(std::uint32_t{apply_thoroughly<Op>(number(a), number(b)).bits()});
}
/// The code of the same as a word, as quick_code gives it: by the quick way where that decides it.
template <class Op, class T>
[[gnu::always_inline]] inline std::uint32_t apply_quickly(T a, T b) noexcept(cannot_throw<T>) {
  using layout = typename T::layout;
  if (may_be_quick<layout>()) [[likely]] {
    const float x = opaque(Op::native(quick_value<layout>(a.bits()), opaque(quick_value<layout>(b.bits()))));
    if (is_decided_by<Op, layout>(x)) [[likely]]
      return quick_code<layout>(x);
  }
  const auto code = [](T x) { return std::bit_cast<float>(std::uint32_t{x.bits()}); };
  const auto other = std::bit_cast<std::uint32_t>(apply_elsewhere<Op, T>(code(a), code(b)));
  if (other > std::numeric_limits<typename T::bits_type>::max()) __builtin_unreachable();
  return other;
}

/// The same, quickly where the compiler does not compute it.
template <class Op, class A, class B>
[[gnu::always_inline]] constexpr mixed_t<A, B> apply(A a, B b) noexcept(cannot_throw<mixed_t<A, B>>) {
  if constexpr (has_quick_operators<A> && std::same_as<A, B>)
    if (!std::is_constant_evaluated())
      return A::from_bits(static_cast<typename A::bits_type>(apply_quickly<Op>(a, b)));
  return apply_thoroughly<Op>(a, b);
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

/// The order of the exact values, NaN unordered. It is found from the bits, and so is right under -ffast-math
/// and flush-to-zero too.
template <class A, class B>
requires detail::mixable<A, B>
constexpr std::partial_ordering operator<=>(A a, B b) noexcept {
  if constexpr (narrow_fixed<A> && std::same_as<A, B>)
    return a.bits() <=> b.bits();
  else if constexpr (narrow_float<A> && std::same_as<A, B>)
    return detail::ordered_codes<typename A::layout>::compare(a.bits(), b.bits());
  else
    return detail::with_unpacked(a, b, [](const auto& x, const auto& y) { return detail::compare(x, y); });
}
/// Whether the exact values are equal: +0 equals -0, and NaN nothing.
template <class A, class B>
requires detail::mixable<A, B>
constexpr bool operator==(A a, B b) noexcept {
  if constexpr (narrow_float<A> && std::same_as<A, B>)
    return detail::ordered_codes<typename A::layout>::equal(a.bits(), b.bits());
  else
    return (a <=> b) == 0;
}

/// What the order says of two numbers of one format, in fewer instructions: whether a is less than b; false
/// where one is NaN.
template <narrow_float T> constexpr bool operator<(T a, T b) noexcept {
  return detail::ordered_codes<typename T::layout>::less(a.bits(), b.bits());
}
/// Whether a is greater than b; false where one is NaN.
template <narrow_float T> constexpr bool operator>(T a, T b) noexcept { return b < a; }
/// Whether a is less than b or equal to it; false where one is NaN.
template <narrow_float T> constexpr bool operator<=(T a, T b) noexcept {
  return detail::ordered_codes<typename T::layout>::not_greater(a.bits(), b.bits());
}
/// Whether a is greater than b or equal to it; false where one is NaN.
template <narrow_float T> constexpr bool operator>=(T a, T b) noexcept { return b <= a; }

// Nor do two different narrow types compare by accident.
template <narrow_scalar A, narrow_scalar B>
requires(!std::same_as<A, B>) bool operator==(A, B) = delete;
template <narrow_scalar A, narrow_scalar B>
requires(!std::same_as<A, B>) std::partial_ordering operator<=>(A, B) = delete;

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
