// Decompositions of narrow matrices.
//
// Of floating formats: computed and kept in float, whose range the algorithms need (a Jacobi rotation in fp16
// overflows at a ratio of 256). A decomposition of Matrix<fp16> is one of the float matrix with the same
// values; what it gives is float and rounds once where it is stored. Of block formats, too. Of `fixed`: LLT,
// LDLT, LU and QR run in fixed point, the iterative ones, which would never terminate there, are refused.
#pragma once

#include "structured.hpp"
#include "sum.hpp"

namespace narrow::detail {

template <class M> inline constexpr bool is_plain_matrix = false;
template <class T, int R, int C, int O, int MR, int MC>
inline constexpr bool is_plain_matrix<Eigen::Matrix<T, R, C, O, MR, MC>> = true;

template <class M>
concept narrow_float_matrix = is_plain_matrix<M> &&(narrow_float<typename M::Scalar> || tensor_part<M>);
template <class M>
concept narrow_fixed_matrix = is_plain_matrix<M> && narrow_fixed<typename M::Scalar>;

template <class M> struct float_matrix;
template <class T, int R, int C, int O, int MR, int MC>
struct float_matrix<Eigen::Matrix<T, R, C, O, MR, MC>> {
  using type = Eigen::Matrix<widened_t<typename Eigen::Matrix<T, R, C, O, MR, MC>::Scalar>, R, C, O, MR, MC>;
};
template <class M> using float_matrix_t = typename float_matrix<M>::type;

/// A decomposition in float that solves for narrow right-hand sides in float too.
template <class Base> struct float_decomposition : Base {
  using Base::Base;

  template <class B> auto solve(const Eigen::MatrixBase<B>& b) const {
    using scalar = typename Base::MatrixType::Scalar;
    const plain_like<scalar, B> rhs = b;
    return plain_matrix<scalar, Base::MatrixType::ColsAtCompileTime, B::ColsAtCompileTime>(Base::solve(rhs));
  }

  /// `b` becomes the solution, rounded once; true, as Eigen has it.
  template <class B> auto solveInPlace(const Eigen::MatrixBase<B>& b) const {
    if constexpr (narrow_expression<B>)
      return b.const_cast_derived() = solve(b), true;
    else
      return Base::solveInPlace(b.const_cast_derived());
  }
};

template <class X> auto wide_inverse(const X& x) {
  using wide = plain_like<shadow_scalar_t<X>, X>;
  return wide(wide(x).inverse());
}

template <class Dst, class X>
concept inverse_of_ours = dense_expression<X> &&(narrow_expression<X> || narrow_expression<Dst>);

template <class M> inline constexpr bool iterates_in_fixed_point = false;

template <class M> struct refuse_fixed {
  static_assert(
      iterates_in_fixed_point<M>,
      "narrow: SVD and eigenvalue solvers do not terminate on narrow::fixed; use matrix.cast<float>()");
};

}  // namespace narrow::detail

namespace Eigen {

// Not declared by Eigen/Core itself.
template <class> class SelfAdjointEigenSolver;
template <class> class GeneralizedSelfAdjointEigenSolver;
template <class> class EigenSolver;
template <class> class RealSchur;
template <class> class ComplexEigenSolver;
template <class> class ComplexSchur;
template <class> class GeneralizedEigenSolver;
template <class> class RealQZ;
namespace internal {
template <class Matrix, int Size> struct determinant_impl;
template <class Matrix, class Result, int Size> struct compute_inverse_and_det_with_check;
}  // namespace internal

#define NARROW_SOLVER(Solver)                                                                               \
  template <narrow::detail::narrow_float_matrix M>                                                          \
  class Solver<M> : public narrow::detail::float_decomposition<Solver<narrow::detail::float_matrix_t<M>>> { \
   public:                                                                                                  \
    using narrow::detail::float_decomposition<                                                              \
        Solver<narrow::detail::float_matrix_t<M>>>::float_decomposition;                                    \
  };
#define NARROW_SOLVER_WITH(Type, Solver)                                                           \
  template <narrow::detail::narrow_float_matrix M, Type P>                                         \
  class Solver<M, P>                                                                               \
      : public narrow::detail::float_decomposition<Solver<narrow::detail::float_matrix_t<M>, P>> { \
   public:                                                                                         \
    using narrow::detail::float_decomposition<                                                     \
        Solver<narrow::detail::float_matrix_t<M>, P>>::float_decomposition;                        \
  };
#define NARROW_REFUSE_FIXED(Solver) \
  template <narrow::detail::narrow_fixed_matrix M> class Solver<M> : narrow::detail::refuse_fixed<M> {};
#define NARROW_REFUSE_FIXED_WITH(Type, Solver)             \
  template <narrow::detail::narrow_fixed_matrix M, Type P> \
  class Solver<M, P> : narrow::detail::refuse_fixed<M> {};

NARROW_SOLVER_WITH(int, LLT)
NARROW_SOLVER_WITH(int, LDLT)
NARROW_SOLVER(HouseholderQR)
NARROW_SOLVER_WITH(int, JacobiSVD)
NARROW_REFUSE_FIXED_WITH(int, JacobiSVD)
NARROW_SOLVER(SelfAdjointEigenSolver)
NARROW_REFUSE_FIXED(SelfAdjointEigenSolver)
NARROW_SOLVER(GeneralizedSelfAdjointEigenSolver)
NARROW_REFUSE_FIXED(GeneralizedSelfAdjointEigenSolver)
NARROW_SOLVER(EigenSolver)
NARROW_REFUSE_FIXED(EigenSolver)
NARROW_SOLVER(RealSchur)
NARROW_REFUSE_FIXED(RealSchur)
NARROW_SOLVER(ComplexEigenSolver)
NARROW_REFUSE_FIXED(ComplexEigenSolver)
NARROW_SOLVER(ComplexSchur)
NARROW_REFUSE_FIXED(ComplexSchur)
NARROW_SOLVER(GeneralizedEigenSolver)
NARROW_REFUSE_FIXED(GeneralizedEigenSolver)
NARROW_SOLVER(RealQZ)
NARROW_REFUSE_FIXED(RealQZ)
#if EIGEN_VERSION_AT_LEAST(4, 0, \
                           0)  // a second template parameter: the index type of permutations, the options
NARROW_SOLVER_WITH(class, PartialPivLU)
NARROW_SOLVER_WITH(class, FullPivLU)
NARROW_SOLVER_WITH(class, ColPivHouseholderQR)
NARROW_SOLVER_WITH(class, FullPivHouseholderQR)
NARROW_SOLVER_WITH(class, CompleteOrthogonalDecomposition)
NARROW_SOLVER_WITH(int, BDCSVD)
NARROW_REFUSE_FIXED_WITH(int, BDCSVD)
#else
NARROW_SOLVER(PartialPivLU)
NARROW_SOLVER(FullPivLU)
NARROW_SOLVER(ColPivHouseholderQR)
NARROW_SOLVER(FullPivHouseholderQR)
NARROW_SOLVER(CompleteOrthogonalDecomposition)
NARROW_SOLVER(BDCSVD)
NARROW_REFUSE_FIXED(BDCSVD)
#endif
#undef NARROW_SOLVER
#undef NARROW_SOLVER_WITH
#undef NARROW_REFUSE_FIXED
#undef NARROW_REFUSE_FIXED_WITH

namespace internal {
/// `Q = qr.householderQ()`: the sequence of reflections is multiplied out in its own type, then rounded.
template <class Dst, class Vectors, class Coeffs, int Side, class Functor>
requires(narrow::narrow_scalar<typename Dst::Scalar> &&
         !narrow::narrow_scalar<
             typename Vectors::Scalar>) struct Assignment<Dst, HouseholderSequence<Vectors, Coeffs, Side>,
                                                          Functor, EigenBase2EigenBase> {
  static void run(Dst& dst, const HouseholderSequence<Vectors, Coeffs, Side>& src, const Functor& functor) {
    const Matrix<typename Vectors::Scalar, Dynamic, Dynamic> values = src;
    call_assignment_no_alias(dst, values, functor);
  }
};

/// `dst = x.inverse()`: of the wide copy, each coefficient rounded once. The cofactors of a small narrow
/// matrix would leave its range.
template <class Dst, class X>
requires narrow::detail::inverse_of_ours<Dst, X>
struct Assignment<Dst, Inverse<X>, assign_op<typename Dst::Scalar, typename X::Scalar>, Dense2Dense> {
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

#define NARROW_DETERMINANT(Parameters, Size)                                                   \
  template <class X Parameters>                                                                \
  requires narrow::detail::narrow_expression<X>                                                \
  struct determinant_impl<X, Size> {                                                           \
    static typename X::Scalar run(const X& x) {                                                \
      return static_cast<typename X::Scalar>(                                                  \
          narrow::detail::plain_like<narrow::detail::shadow_scalar_t<X>, X>(x).determinant()); \
    }                                                                                          \
  };
#define NARROW_COMMA ,
NARROW_DETERMINANT(NARROW_COMMA int N, N)
NARROW_DETERMINANT(, 2)
NARROW_DETERMINANT(, 3)
NARROW_DETERMINANT(, 4)
#undef NARROW_COMMA
#undef NARROW_DETERMINANT

#define NARROW_CHECKED_INVERSE(Size)                                                      \
  template <class X, class Result>                                                        \
  requires narrow::detail::narrow_expression<X>                                           \
  struct compute_inverse_and_det_with_check<X, Result, Size> {                            \
    static void run(const X& x, const typename X::RealScalar& threshold, Result& inverse, \
                    typename Result::Scalar& determinant, bool& invertible) {             \
      using wide = narrow::detail::shadow_scalar_t<X>;                                    \
      narrow::detail::plain_like<wide, X> result;                                         \
      wide wide_determinant;                                                              \
      narrow::detail::plain_like<wide, X>(x).computeInverseAndDetWithCheck(               \
          result, wide_determinant, invertible, static_cast<wide>(threshold));            \
      determinant = static_cast<typename Result::Scalar>(wide_determinant);               \
      if (invertible) inverse = result;                                                   \
    }                                                                                     \
  };
NARROW_CHECKED_INVERSE(2)
NARROW_CHECKED_INVERSE(3)
NARROW_CHECKED_INVERSE(4)
#undef NARROW_CHECKED_INVERSE
}  // namespace internal

}  // namespace Eigen
