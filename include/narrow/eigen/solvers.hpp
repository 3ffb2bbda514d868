// Decompositions of narrow matrices: computed and kept in float, of `fixed` beyond 24 bits in double.
//
// The algorithms need that range: a Jacobi rotation in fp16 overflows at a ratio of 256, and a Householder
// reflection compares squares with the smallest normal number, which in fixed point is larger than what it
// may ignore. A decomposition of Matrix<fp16> is one of the float matrix with the same values; what it gives
// is float and rounds once where it is stored.
#pragma once

#include "structured.hpp"
#include "sum.hpp"

namespace narrow::inline NARROW_ABI::detail {

template <class M> inline constexpr bool is_plain_matrix = false;
template <class T, int R, int C, int O, int MR, int MC>
inline constexpr bool is_plain_matrix<Eigen::Matrix<T, R, C, O, MR, MC>> = true;

template <class M>
concept narrow_matrix = is_plain_matrix<M> &&(narrow_scalar<typename M::Scalar> || tensor_part<M>);

/// What a decomposition is computed in: the built-in type that holds each number of the format; the
/// coefficients of block formats are of such a type.
template <class T> struct solved_in { using type = T; };
template <narrow_scalar T> struct solved_in<T> { using type = carrier_t<T>; };

template <class M> struct carrier_matrix;
template <class T, int R, int C, int O, int MR, int MC>
struct carrier_matrix<Eigen::Matrix<T, R, C, O, MR, MC>> {
  using type = Eigen::Matrix<typename solved_in<typename Eigen::Matrix<T, R, C, O, MR, MC>::Scalar>::type, R,
                             C, O, MR, MC>;
};
template <class M> using carrier_matrix_t = typename carrier_matrix<M>::type;

/// x as a decomposition takes it: narrow matrices as the carrier matrices of the same values, since Eigen
/// computes with what it is given before it makes a copy; anything else as it is.
template <class X> decltype(auto) carrier_argument(const X& x) {
  if constexpr (requires { requires narrow_expression<X> && dense_expression<X>; })
    return plain_like<typename solved_in<scalar_of<X>>::type, X>(x);
  else
    return (x);
}

/// A decomposition in a built-in type that takes narrow matrices, and solves for narrow right-hand sides in
/// that type, too.
template <class Base> struct carrier_decomposition : Base {
  carrier_decomposition() = default;
  /// What the constructors of Base take. They are not inherited: those that are templates would be the better
  /// match.
  template <class First, class... More>
  requires(!std::derived_from<First, carrier_decomposition>) explicit carrier_decomposition(
      const First& first, const More&... more)
      : Base(carrier_argument(first), carrier_argument(more)...) {}

  template <class First, class... More>
  carrier_decomposition& compute(const First& first, const More&... more) {
    Base::compute(carrier_argument(first), carrier_argument(more)...);
    return *this;
  }
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

}  // namespace narrow::inline NARROW_ABI::detail

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
template <class> class HessenbergDecomposition;
template <class> class Tridiagonalization;
namespace internal {
template <class Matrix, int Size> struct determinant_impl;
template <class Matrix, class Result, int Size> struct compute_inverse_and_det_with_check;
template <class X, bool IsComplex> struct eigenvalues_selector;
}  // namespace internal

#define NARROW_SOLVER(Solver)                                                                       \
  template <narrow::detail::narrow_matrix M>                                                        \
  class Solver<M>                                                                                   \
      : public narrow::detail::carrier_decomposition<Solver<narrow::detail::carrier_matrix_t<M>>> { \
   public:                                                                                          \
    using narrow::detail::carrier_decomposition<                                                    \
        Solver<narrow::detail::carrier_matrix_t<M>>>::carrier_decomposition;                        \
  };
#define NARROW_SOLVER_WITH(Type, Solver)                                                               \
  template <narrow::detail::narrow_matrix M, Type P>                                                   \
  class Solver<M, P>                                                                                   \
      : public narrow::detail::carrier_decomposition<Solver<narrow::detail::carrier_matrix_t<M>, P>> { \
   public:                                                                                             \
    using narrow::detail::carrier_decomposition<                                                       \
        Solver<narrow::detail::carrier_matrix_t<M>, P>>::carrier_decomposition;                        \
  };
NARROW_SOLVER_WITH(int, LLT)
NARROW_SOLVER_WITH(int, LDLT)
NARROW_SOLVER(HouseholderQR)
NARROW_SOLVER_WITH(int, JacobiSVD)
NARROW_SOLVER(SelfAdjointEigenSolver)
NARROW_SOLVER(GeneralizedSelfAdjointEigenSolver)
NARROW_SOLVER(EigenSolver)
NARROW_SOLVER(RealSchur)
NARROW_SOLVER(ComplexEigenSolver)
NARROW_SOLVER(ComplexSchur)
NARROW_SOLVER(GeneralizedEigenSolver)
NARROW_SOLVER(RealQZ)
NARROW_SOLVER(HessenbergDecomposition)
NARROW_SOLVER(Tridiagonalization)
// In Eigen 5 these have a second template parameter: the index type of permutations, or options.
#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
NARROW_SOLVER_WITH(class, PartialPivLU)
NARROW_SOLVER_WITH(class, FullPivLU)
NARROW_SOLVER_WITH(class, ColPivHouseholderQR)
NARROW_SOLVER_WITH(class, FullPivHouseholderQR)
NARROW_SOLVER_WITH(class, CompleteOrthogonalDecomposition)
NARROW_SOLVER_WITH(int, BDCSVD)
#else
NARROW_SOLVER(PartialPivLU)
NARROW_SOLVER(FullPivLU)
NARROW_SOLVER(ColPivHouseholderQR)
NARROW_SOLVER(FullPivHouseholderQR)
NARROW_SOLVER(CompleteOrthogonalDecomposition)
NARROW_SOLVER(BDCSVD)
#endif
#undef NARROW_SOLVER
#undef NARROW_SOLVER_WITH
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

/// `x.eigenvalues()`: computed as by an EigenSolver, both parts rounded once.
template <narrow::detail::narrow_expression X> struct eigenvalues_selector<X, false> {
  using result = typename MatrixBase<X>::EigenvaluesReturnType;
  static result run(const MatrixBase<X>& x) {
    using scalar = typename X::Scalar;
    const auto values = EigenSolver<typename X::PlainObject>(x.derived(), false).eigenvalues();
    result rounded(values.size());
    for (Index i = 0; i < values.size(); ++i)
      rounded(i) = {static_cast<scalar>(values(i).real()), static_cast<scalar>(values(i).imag())};
    return rounded;
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
