// Decompositions of narrow matrices: computed and kept in float, of `fixed` beyond 24 bits in double.
//
// The algorithms need that range: a Jacobi rotation in fp16 overflows at a ratio of 256, and a Householder
// reflection compares squares with the smallest normal number, which in fixed point is larger than what it
// may ignore. A decomposition of Matrix<fp16> is one of the float matrix with the same values; what it gives
// is float and rounds once where it is stored.
#pragma once

#include "../tensors/traits.hpp"

namespace narrow::inline NARROW_ABI::detail {

template <class M> inline constexpr bool is_plain_matrix = false;
template <class T, int R, int C, int O, int MR, int MC>
inline constexpr bool is_plain_matrix<Eigen::Matrix<T, R, C, O, MR, MC>> = true;

template <class M>
concept narrow_matrix = is_plain_matrix<M> &&(narrow_scalar<typename M::Scalar> || tensor_part<M>);

/// The matrix that a decomposition computes in, of the built-in type that holds each number of the format;
/// the coefficients of block formats are of such a type.
template <class M> struct carrier_matrix;
template <class T, int R, int C, int O, int MR, int MC>
struct carrier_matrix<Eigen::Matrix<T, R, C, O, MR, MC>> {
  using scalar = typename Eigen::Matrix<T, R, C, O, MR, MC>::Scalar;
  using type = Eigen::Matrix<carried_t<scalar>, R, C, O, MR, MC>;
};
template <class M> using carrier_matrix_t = typename carrier_matrix<M>::type;

/// x as a decomposition takes it: narrow matrices as the carrier matrices of the same values, since Eigen
/// computes with what it is given before it makes a copy; anything else as it is.
template <class X> decltype(auto) carrier_argument(const X& x) {
  if constexpr (requires { requires narrow_expression<X>; }) {  // some arguments are no expressions at all
    if constexpr (dense_expression<X>)
      return plain_like<carrier_t<scalar_of<X>>, X>(x);
    else
      return (x);
  } else {
    return (x);
  }
}

/// A class of Eigen's that is defined: its decompositions are in headers of their own.
template <class Base> struct defined_by_eigen {
  static_assert(
      requires { sizeof(Base); },
      "narrow: decompositions need <Eigen/Dense>, or the header of Eigen's that has this one; include "
      "it before or after <narrow/eigen.hpp>");
  using type = Base;
};

/// The transpose or the adjoint of a decomposition, which solves for narrow right-hand sides, too, in the
/// decomposition's type.
template <class Decomposition, class Transposed> class transposed_decomposition {
 public:
  explicit transposed_decomposition(const Transposed& of) : of_(of) {}
  template <class B> auto solve(const Eigen::MatrixBase<B>& b) const {
    using scalar = typename Decomposition::MatrixType::Scalar;
    const plain_like<scalar, B> rhs = b;
    return plain_matrix<scalar, Decomposition::MatrixType::RowsAtCompileTime, B::ColsAtCompileTime>(
        of_.solve(rhs));
  }

 private:
  const Transposed of_;
};

/// A decomposition in a built-in type that takes narrow matrices, and solves for narrow right-hand sides in
/// that type, too.
template <class Base> struct carrier_decomposition : defined_by_eigen<Base>::type {
  carrier_decomposition() = default;
  /// Takes what the constructors of Base take. These are not inherited: those that are templates would be the
  /// better match.
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

  /// Its transpose and its adjoint, to solve with: they refer to this.
  auto transpose() const requires requires(const Base& base) { base.transpose(); }
  { return transposed_decomposition<Base, decltype(Base::transpose())>(Base::transpose()); }
  auto adjoint() const requires requires(const Base& base) { base.adjoint(); }
  { return transposed_decomposition<Base, decltype(Base::adjoint())>(Base::adjoint()); }

  /// `b` becomes the solution, rounded once; true, as Eigen has it.
  template <class B> auto solveInPlace(const Eigen::MatrixBase<B>& b) const {
    if constexpr (narrow_expression<B>)
      return b.const_cast_derived() = solve(b), true;
    else
      return Base::solveInPlace(b.const_cast_derived());
  }
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
template <class> class HessenbergDecomposition;
template <class> class Tridiagonalization;
namespace internal {
template <class X, bool IsComplex> struct eigenvalues_selector;
}  // namespace internal

// The further argument is the kind of a second template parameter, where Eigen's class has one.
#define NARROW_DECOMPOSITION(Solver, ...)                                                              \
  template <narrow::detail::narrow_matrix M __VA_OPT__(, __VA_ARGS__ P)>                               \
  class Solver<M __VA_OPT__(, P)> : public narrow::detail::carrier_decomposition<                      \
                                        Solver<narrow::detail::carrier_matrix_t<M> __VA_OPT__(, P)>> { \
   public:                                                                                             \
    using Solver::carrier_decomposition::carrier_decomposition;                                        \
  };
NARROW_DECOMPOSITION(LLT, int)
NARROW_DECOMPOSITION(LDLT, int)
NARROW_DECOMPOSITION(HouseholderQR)
NARROW_DECOMPOSITION(JacobiSVD, int)
NARROW_DECOMPOSITION(SelfAdjointEigenSolver)
NARROW_DECOMPOSITION(GeneralizedSelfAdjointEigenSolver)
NARROW_DECOMPOSITION(EigenSolver)
NARROW_DECOMPOSITION(RealSchur)
NARROW_DECOMPOSITION(ComplexEigenSolver)
NARROW_DECOMPOSITION(ComplexSchur)
NARROW_DECOMPOSITION(GeneralizedEigenSolver)
NARROW_DECOMPOSITION(RealQZ)
NARROW_DECOMPOSITION(HessenbergDecomposition)
NARROW_DECOMPOSITION(Tridiagonalization)
// In Eigen 5 these have a second parameter: the index type of permutations, or options.
#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
#define NARROW_DECOMPOSITION_OF_TWO(Solver, kind) NARROW_DECOMPOSITION(Solver, kind)
#else
#define NARROW_DECOMPOSITION_OF_TWO(Solver, kind) NARROW_DECOMPOSITION(Solver)
#endif
NARROW_DECOMPOSITION_OF_TWO(PartialPivLU, class)
NARROW_DECOMPOSITION_OF_TWO(FullPivLU, class)
NARROW_DECOMPOSITION_OF_TWO(ColPivHouseholderQR, class)
NARROW_DECOMPOSITION_OF_TWO(FullPivHouseholderQR, class)
NARROW_DECOMPOSITION_OF_TWO(CompleteOrthogonalDecomposition, class)
NARROW_DECOMPOSITION_OF_TWO(BDCSVD, int)
#undef NARROW_DECOMPOSITION_OF_TWO
#undef NARROW_DECOMPOSITION

namespace internal {
/// `x.eigenvalues()` (Eigenvalues/MatrixBaseEigenvalues.h): computed as by an EigenSolver, both parts rounded
/// once.
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
}  // namespace internal

}  // namespace Eigen
