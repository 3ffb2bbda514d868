// Decompositions of narrow matrices.
//
// Of floating formats: computed and kept in float, whose range the algorithms need (a Jacobi rotation in fp16
// overflows at a ratio of 256). A decomposition of Matrix<fp16> is one of the float matrix with the same
// values; what it gives is float and rounds once where it is stored. Of `fixed`: LLT, LDLT, LU and QR run in
// fixed point, the iterative ones, which would never terminate there, are refused.
#pragma once

#include "structured.hpp"
#include "sum.hpp"

namespace narrow::detail {

template <class M> inline constexpr bool is_plain_matrix = false;
template <class T, int R, int C, int O, int MR, int MC>
inline constexpr bool is_plain_matrix<Eigen::Matrix<T, R, C, O, MR, MC>> = true;

template <class M>
concept narrow_float_matrix = is_plain_matrix<M> && narrow_float<typename M::Scalar>;
template <class M>
concept narrow_fixed_matrix = is_plain_matrix<M> && narrow_fixed<typename M::Scalar>;

template <class M> struct float_matrix;
template <class T, int R, int C, int O, int MR, int MC>
struct float_matrix<Eigen::Matrix<T, R, C, O, MR, MC>> {
  using type = Eigen::Matrix<float, R, C, O, MR, MC>;
};
template <class M> using float_matrix_t = typename float_matrix<M>::type;

/// A decomposition in float that solves for narrow right-hand sides in float too.
template <class Base> struct float_decomposition : Base {
  using Base::Base;

  template <class B> auto solve(const Eigen::MatrixBase<B>& b) const {
    const plain_like<float, B> rhs = b;
    return plain_matrix<float, Base::MatrixType::ColsAtCompileTime, B::ColsAtCompileTime>(Base::solve(rhs));
  }
};

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
requires(narrow::narrow_float<typename Dst::Scalar> &&
         !narrow::narrow_scalar<
             typename Vectors::Scalar>) struct Assignment<Dst, HouseholderSequence<Vectors, Coeffs, Side>,
                                                          Functor, EigenBase2EigenBase> {
  static void run(Dst& dst, const HouseholderSequence<Vectors, Coeffs, Side>& src, const Functor& functor) {
    const Matrix<typename Vectors::Scalar, Dynamic, Dynamic> values = src;
    call_assignment_no_alias(dst, values, functor);
  }
};
}  // namespace internal

}  // namespace Eigen
