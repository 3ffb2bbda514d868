// Matrices of numbers that do not mix, and what is said where they meet in one expression. Eigen would say
// that a class of its own has no type of some name.
#pragma once

#include <complex>

#include "expression_traits.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// What an expression cannot have beside numbers of format T: another format, whichever library's, integers,
/// complex numbers of other numbers than T. (A single integer is a factor like others.)
template <class T, class Other>
inline constexpr bool is_other_number = std::integral<Other> || foreign_scalar<Other>;
template <class T, narrow_scalar Other>
inline constexpr bool is_other_number<T, Other> = !std::same_as<T, Other>;
template <class T, class Real>
inline constexpr bool is_other_number<T, std::complex<Real>> = !std::same_as<T, Real>;

template <class A, class B>
concept refused_together = (narrow_scalar<A> && is_other_number<A, B>) ||
                           (narrow_scalar<B> && is_other_number<B, A>);

/// Complete only where the message is wanted.
template <class A, class B> struct refused_mixture {
  static_assert(!refused_together<A, B>,
                "narrow: numbers of two formats, and of integers and a format, do not mix in one expression; "
                "cast one of the matrices, as in a + b.cast<narrow::fp16>(), or both to float");
};

}  // namespace narrow::detail

namespace Eigen {

namespace internal {
/// Every operation on two coefficients is derived from this.
template <class A, class B>
requires narrow::detail::refused_together<A, B>
struct binary_op_base<A, B> : narrow::detail::refused_mixture<A, B> {
  using first_argument_type = A;
  using second_argument_type = B;
};
}  // namespace internal

/// Products ask for the type of their coefficients without an operation on two.
template <class A, class B, class Op>
requires narrow::detail::refused_together<A, B>
struct ScalarBinaryOpTraits<A, B, Op> : narrow::detail::refused_mixture<A, B> {
  using ReturnType = void;
};
/// This Eigen asks for a single integer, too, and then takes it as a literal. It is what is done with a
/// product's coefficients that is refused.
template <class A, class B, class Op>
requires(narrow::detail::refused_together<A, B> &&
         (std::integral<A> || std::integral<B>)) struct ScalarBinaryOpTraits<A, B, Op> {
  using ReturnType = narrow::detail::refused_mixture<A, B>;
};

}  // namespace Eigen
