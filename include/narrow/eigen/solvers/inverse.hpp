// Inverses and determinants of narrow matrices: computed on wide copies, each coefficient rounded once. The
// cofactors of a small narrow matrix would leave its range.
#pragma once

#include "../assignment.hpp"
#include "../products/dense.hpp"

namespace narrow::inline NARROW_ABI::detail {

template <class X> auto wide_inverse(const X& x) {
  using wide = plain_like<routine_scalar_t<X>, X>;
  return wide(wide(x).inverse());
}

/// An inverse in a program of lanes: computed before the program runs.
template <narrow_expression X>
requires(dense_expression<X>&&
             std::same_as<widened_t<typename X::Scalar>, float>) struct lane_program<Eigen::Inverse<X>>
    : lane_numbers_of_any_order {
  using expression = Eigen::Inverse<X>;
  using number = float;
  static constexpr bool computes_first = true;
  template <traversal Order> static auto make(const expression& x) {
    using held = held_like<float, expression, Order>;
    return kernel::lane_held<held>{held(wide_inverse(x.nestedExpression())),
                                   Order == by_rows ? x.cols() : x.rows()};
  }
};

template <narrow_expression X> struct wide_determinant {
  static typename X::Scalar run(const X& x) {
    return static_cast<typename X::Scalar>(plain_like<routine_scalar_t<X>, X>(x).determinant());
  }
};

template <narrow_expression X, class Result> struct wide_checked_inverse {
  static void run(const X& x, const typename X::RealScalar& threshold, Result& inverse,
                  typename Result::Scalar& determinant, bool& invertible) {
    using wide = routine_scalar_t<X>;
    plain_like<wide, X> result;
    wide wide_determinant;
    plain_like<wide, X>(x).computeInverseAndDetWithCheck(result, wide_determinant, invertible,
                                                         static_cast<wide>(threshold));
    determinant = static_cast<typename Result::Scalar>(wide_determinant);
    if (invertible) inverse = result;
  }
};

}  // namespace narrow::detail

namespace Eigen::internal {

// Declared by Eigen/LU: LU/Determinant.h and LU/InverseImpl.h.
template <class Matrix, int Size> struct determinant_impl;
template <class Matrix, class Result, int Size> struct compute_inverse_and_det_with_check;

/// `dst = x.inverse()`.
template <class Dst, class X>
requires(narrow::detail::dense_expression<X>&& narrow::detail::some_narrow_expression<
         X, Dst>) struct Assignment<Dst, Inverse<X>, assign_op<typename Dst::Scalar, typename X::Scalar>,
                                    Dense2Dense> {
  using Functor = assign_op<typename Dst::Scalar, typename X::Scalar>;
  static void run(Dst& dst, const Inverse<X>& src, const Functor& functor) {
    call_dense_assignment_loop(dst, narrow::detail::wide_inverse(src.nestedExpression()), functor);
  }
};
/// An inverse inside a larger expression: wide for floating formats, rounded once for `fixed`.
template <class X>
requires(narrow::detail::dense_expression<X>&&
             narrow::detail::narrow_expression<X>) struct unary_evaluator<Inverse<X>>
    : narrow::detail::value_evaluator<
          narrow::detail::plain_like<narrow::detail::widened_t<typename X::Scalar>, Inverse<X>>> {
  explicit unary_evaluator(const Inverse<X>& xpr)
      : unary_evaluator::value_evaluator(narrow::detail::wide_inverse(xpr.nestedExpression())) {}
};

// Eigen specialises these for sizes of its own, and so does the library.

template <narrow::detail::narrow_expression X, int N>
struct determinant_impl<X, N> : narrow::detail::wide_determinant<X> {};
#define NARROW_SMALL_INVERSE(Size)                             \
  template <narrow::detail::narrow_expression X, class Result> \
  struct compute_inverse_and_det_with_check<X, Result, Size>   \
      : narrow::detail::wide_checked_inverse<X, Result> {};
#define NARROW_SMALL_DETERMINANT(Size)           \
  template <narrow::detail::narrow_expression X> \
  struct determinant_impl<X, Size> : narrow::detail::wide_determinant<X> {};
NARROW_SMALL_DETERMINANT(2)
NARROW_SMALL_DETERMINANT(3)
NARROW_SMALL_DETERMINANT(4)
NARROW_SMALL_INVERSE(2)
NARROW_SMALL_INVERSE(3)
NARROW_SMALL_INVERSE(4)
#undef NARROW_SMALL_DETERMINANT
#undef NARROW_SMALL_INVERSE

}  // namespace Eigen::internal
