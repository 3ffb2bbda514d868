// Householder reflections and Jacobi rotations of narrow matrices, in place or stored:
// `b.applyOnTheLeft(qr.householderQ().adjoint())`, `b.applyOnTheRight(0, 1, rotation)`, `Q =
// qr.householderQ()`, and `b = decomposition.solve(b)`. They are computed wide, each coefficient rounded
// once.
#pragma once

#include "../assignment.hpp"

namespace Eigen {
// Not declared by Eigen/Core itself, but by Eigen/Householder and Eigen/Jacobi.
template <class Vectors, class Coeffs, int Side> class HouseholderSequence;
namespace internal {
template <class Scalar, class Other, int Size, int Alignment, bool Vectorizable>
struct apply_rotation_in_the_plane_selector;
}  // namespace internal
}  // namespace Eigen

namespace narrow::inline NARROW_ABI::detail {

/// The base class of expressions of narrow scalars, in place of Eigen's MatrixBase. A sequence of reflections
/// has a working memory of its own type, which its members hand to those of the matrix that it is applied to,
/// and those would round after each reflection: here the product is computed in the type of the sequence, and
/// then stored. Through a `MatrixBase<Derived>&` write `m.derived().applyOnTheLeft(q)`, or `m = q * m`.
template <class Derived> class narrow_matrix_base : public Eigen::MatrixBase<Derived> {
  using base = Eigen::MatrixBase<Derived>;

 public:
  using base::operator=;
  using base::applyOnTheLeft;
  using base::applyOnTheRight;

  template <class Vectors, class Coeffs, int Side>
  requires(!narrow_scalar<typename Vectors::Scalar>) void applyOnTheLeft(
      const Eigen::HouseholderSequence<Vectors, Coeffs, Side>& q) {
    change_wide<typename Vectors::Scalar>([&](auto& wide) { q.applyThisOnTheLeft(wide); });
  }
  template <class Vectors, class Coeffs, int Side>
  requires(!narrow_scalar<typename Vectors::Scalar>) void applyOnTheRight(
      const Eigen::HouseholderSequence<Vectors, Coeffs, Side>& q) {
    change_wide<typename Vectors::Scalar>([&](auto& wide) { q.applyThisOnTheRight(wide); });
  }

 protected:
  narrow_matrix_base() = default;
  narrow_matrix_base(const narrow_matrix_base&) = default;
  narrow_matrix_base& operator=(const narrow_matrix_base&) = default;

 private:
  template <class Wide, class Change> void change_wide(const Change& change) {
    plain_like<Wide, Derived> wide = this->derived().template cast<Wide>();
    change(wide);
    this->derived() = wide;
  }
};

}  // namespace narrow::detail

namespace Eigen::internal {

template <class Derived>
requires narrow::narrow_scalar<typename traits<Derived>::Scalar>
struct dense_xpr_base<Derived, MatrixXpr> {
  using type = narrow::detail::narrow_matrix_base<Derived>;
};

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

/// `b = decomposition.solve(b)` of a float matrix, also of its transpose and its adjoint, which Eigen has
/// patterns of their own for (Core/Solve.h): the steps of the solution, kept in b, would each be rounded.
#define NARROW_SOLVE(...)                                                                       \
  template <class Dst, class Decomposition, class Rhs, narrow::narrow_scalar T>                 \
  requires std::floating_point<typename Decomposition::Scalar>                                  \
  struct Assignment<Dst, Solve<__VA_ARGS__, Rhs>, assign_op<T, T>, Dense2Dense> {               \
    static void run(Dst& dst, const Solve<__VA_ARGS__, Rhs>& src, const assign_op<T, T>&) {     \
      using wide = typename Decomposition::Scalar;                                              \
      const auto rhs = narrow::detail::wide_copy<wide>(src.rhs());                              \
      const narrow::detail::plain_like<wide, Solve<__VA_ARGS__, Rhs>> x = src.dec().solve(rhs); \
      dst = x;                                                                                  \
    }                                                                                           \
  };
NARROW_SOLVE(Decomposition)
NARROW_SOLVE(Transpose<const Decomposition>)
NARROW_SOLVE(
    CwiseUnaryOp<scalar_conjugate_op<typename Decomposition::Scalar>, const Transpose<const Decomposition>>)
#undef NARROW_SOLVE

/// x, y = c x + s y, c y - s x (Jacobi/Jacobi.h).
template <narrow::narrow_scalar T, class Other, int Size, int Alignment>
struct apply_rotation_in_the_plane_selector<T, Other, Size, Alignment, false> {
  static void run(T* x, Index x_step, T* y, Index y_step, Index size, Other cosine, Other sine) {
    using narrow::detail::uncontracted;
    using wide = std::common_type_t<narrow::detail::routine_t<T>, narrow::detail::routine_t<Other>>;
    const auto c = static_cast<wide>(cosine), s = static_cast<wide>(sine);
    for (Index i = 0; i < size; ++i, x += x_step, y += y_step) {
      const auto a = static_cast<wide>(*x), b = static_cast<wide>(*y);
      *x = static_cast<T>(uncontracted(c * a) + uncontracted(s * b));
      *y = static_cast<T>(uncontracted(c * b) - uncontracted(s * a));
    }
  }
};

}  // namespace Eigen::internal
