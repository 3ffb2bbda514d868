// What the operators of narrow scalars take.
#pragma once

#include "../round/arithmetic.hpp"
#include "fixed.hpp"
#include "floating.hpp"

namespace narrow::inline NARROW_ABI::detail {

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

template <class T> inline constexpr bool rounds_to_nearest_even = false;
template <narrow_scalar T>
inline constexpr bool rounds_to_nearest_even<T> =
    std::same_as<typename T::round_policy, rounding::nearest_even>;

/// Unpacks both numbers into the widest of the two words that they need and Least.
template <class Least = std::uint64_t, class A, class B, class F>
constexpr auto with_unpacked(const A& a, const B& b, F f) {
  const auto x = unpack(a);
  const auto y = unpack(b);
  using Word = uint_at_least<std::max(
      {bits_of<Least>, bits_of<decltype(x.significand)>, bits_of<decltype(y.significand)>})>;
  return f(widened<Word>(x), widened<Word>(y));
}

/// Whether an integer is one of those that a format has because they are of few digits. Another policy of
/// rounding may be a user's, who is not asked about them.
template <narrow_scalar T> constexpr bool has_integer(std::integral auto x) {
  if constexpr (narrow_float<T> && rounds_to_nearest_even<T>)
    return has_digits<std::min(T::layout::mantissa_bits + 1, T::layout::max_exponent)>(x);
  return false;
}

/// The value in double. Of a subnormal number by way of its bits: where processors flush those of float, it
/// would be lost on the way.
template <narrow_scalar T> constexpr double double_of(T x) {
  if constexpr (narrow_float<T>) {
    using layout = typename T::layout;
    const std::uint32_t magnitude = x.bits() & std::uint32_t{layout::magnitude_mask};
    if (deciding_floats<layout>::may_flush && magnitude - 1 < std::uint32_t{layout::min_normal} - 1)
      return nearest<double>(unpack(x));
  }
  return static_cast<double>(static_cast<carrier_t<T>>(x));
}

}  // namespace narrow::detail
