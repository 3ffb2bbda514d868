// The comparisons of every narrow scalar, written once: with itself, and with the built-in types. They are
// decided by bits, and so are right under -ffast-math and flush-to-zero too.
#pragma once

#include "operands.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

// What is asked of an order: by codes of floating-point numbers, by integers, or by the order itself.

struct three_way {
  template <class Codes, class Code> static constexpr auto of_codes(Code a, Code b) {
    return Codes::compare(a, b);
  }
  template <std::integral T> static constexpr std::partial_ordering of_integers(T a, T b) { return a <=> b; }
  static constexpr std::partial_ordering of(std::partial_ordering order) { return order; }
};
struct equal {
  template <class Codes, class Code> static constexpr bool of_codes(Code a, Code b) {
    return Codes::equal(a, b);
  }
  template <std::integral T> static constexpr bool of_integers(T a, T b) { return a == b; }
  static constexpr bool of(std::partial_ordering order) { return order == 0; }
};
struct less {
  template <class Codes, class Code> static constexpr bool of_codes(Code a, Code b) {
    return Codes::less(a, b);
  }
  template <std::integral T> static constexpr bool of_integers(T a, T b) { return a < b; }
  static constexpr bool of(std::partial_ordering order) { return order < 0; }
  static bool of_binary16(std::uint16_t a, std::uint16_t b) { return is_binary16_above(b, a); }
};
struct not_greater {
  template <class Codes, class Code> static constexpr bool of_codes(Code a, Code b) {
    return Codes::not_greater(a, b);
  }
  template <std::integral T> static constexpr bool of_integers(T a, T b) { return a <= b; }
  static constexpr bool of(std::partial_ordering order) { return order <= 0; }
  static bool of_binary16(std::uint16_t a, std::uint16_t b) { return is_binary16_not_below(b, a); }
};

/// The code of an operand that a float or a double holds, as such a one.
template <std::floating_point Wide, class T> constexpr auto code_in(T x) {
  using code = typename layout_of_built_in_t<Wide>::bits_type;
  if constexpr (narrow_scalar<T> && std::same_as<Wide, double>)
    return std::bit_cast<code>(double_of(x));
  else
    return std::bit_cast<code>(static_cast<Wide>(x));
}
/// Whether an operand is a number of T or an integer that is one, or has few units in T's last place.
template <narrow_scalar T, class X> constexpr bool enters(X x) {
  if constexpr (std::same_as<T, X>)
    return true;
  else if constexpr (narrow_fixed<T>)
    return has_digits<few_digits>(x);
  else
    return has_integer<T>(x);
}
template <narrow_fixed T, class X> constexpr std::int64_t units_of(X x) {
  if constexpr (std::same_as<T, X>)
    return x.bits();
  else
    return static_cast<std::int64_t>(x) * (std::int64_t{1} << T::fraction_length);
}

/// What Asked says of two operands.
template <class Asked, class A, class B> [[gnu::always_inline]] constexpr auto ordered(A a, B b) {
  using narrow_type = std::conditional_t<narrow_scalar<A>, A, B>;
  using other = std::conditional_t<narrow_scalar<A>, B, A>;
  if constexpr (unscoped_enumeration<other>) {
    return ordered<Asked>(static_cast<number_t<A>>(a), static_cast<number_t<B>>(b));
  } else if constexpr (std::same_as<A, literal>) {
    return ordered<Asked>(a.value, b);
  } else if constexpr (std::same_as<B, literal>) {
    return ordered<Asked>(a, b.value);
  } else if constexpr (narrow_float<A> && std::same_as<A, B>) {
    if constexpr (is_binary16<typename A::layout> && orders_binary16 &&
                  requires { Asked::of_binary16(a.bits(), b.bits()); })
      if (!std::is_constant_evaluated() && !__builtin_constant_p(a.bits()) && !__builtin_constant_p(b.bits()))
        return Asked::of_binary16(a.bits(), b.bits());
    return Asked::template of_codes<ordered_codes<typename A::layout>>(a.bits(), b.bits());
  } else if constexpr (narrow_fixed<A> && std::same_as<A, B>) {
    return Asked::of_integers(a.bits(), b.bits());
  } else if constexpr (std::same_as<other, double> || std::same_as<other, carrier_t<narrow_type>>) {
    return Asked::template of_codes<ordered_codes<layout_of_built_in_t<other>>>(code_in<other>(a),
                                                                                code_in<other>(b));
  } else {
    if constexpr (std::integral<other>)
      if (enters<narrow_type>(a) && enters<narrow_type>(b)) {
        if constexpr (narrow_fixed<narrow_type>)
          return Asked::of_integers(units_of<narrow_type>(a), units_of<narrow_type>(b));
        else
          return ordered<Asked>(narrow_type(a), narrow_type(b));
      }
    return Asked::of(with_unpacked(a, b, [](const auto& x, const auto& y) { return compare(x, y); }));
  }
}

}  // namespace detail
/// The order of the exact values, NaN unordered.
template <class A, class B>
requires detail::mixable<A, B>
constexpr std::partial_ordering operator<=>(A a, B b) noexcept {
  return detail::ordered<detail::three_way>(a, b);
}
/// Whether the exact values are equal: +0 equals -0, and NaN nothing.
template <class A, class B>
requires detail::mixable<A, B>
constexpr bool operator==(A a, B b) noexcept { return detail::ordered<detail::equal>(a, b); }

// What the order says, in fewer instructions. False where one number is NaN.

/// Whether a is less than b.
template <class A, class B>
requires detail::mixable<A, B>
constexpr bool operator<(A a, B b) noexcept { return detail::ordered<detail::less>(a, b); }
/// Whether a is greater than b.
template <class A, class B>
requires detail::mixable<A, B>
constexpr bool operator>(A a, B b) noexcept { return detail::ordered<detail::less>(b, a); }
/// Whether a is less than b or equal to it.
template <class A, class B>
requires detail::mixable<A, B>
constexpr bool operator<=(A a, B b) noexcept { return detail::ordered<detail::not_greater>(a, b); }
/// Whether a is greater than b or equal to it.
template <class A, class B>
requires detail::mixable<A, B>
constexpr bool operator>=(A a, B b) noexcept { return detail::ordered<detail::not_greater>(b, a); }

// Nor do two different narrow types compare by accident.
template <narrow_scalar A, narrow_scalar B>
requires(!std::same_as<A, B>) bool operator==(A, B) = delete;
template <narrow_scalar A, narrow_scalar B>
requires(!std::same_as<A, B>) std::partial_ordering operator<=>(A, B) = delete;

}  // namespace narrow
