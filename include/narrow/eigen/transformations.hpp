// Reflections and rotations applied to narrow matrices in place:
// `b.applyOnTheLeft(qr.householderQ().adjoint())`, `b.applyOnTheRight(0, 1, rotation)`. Computed wide, each
// coefficient rounded once.
#pragma once

#include "structured.hpp"

namespace Eigen {
template <class Vectors, class Coeffs, int Side>
class HouseholderSequence;  // not declared by Eigen/Core itself
namespace internal {
template <class Scalar, class Other, int Size, int Alignment, bool Vectorizable>
struct apply_rotation_in_the_plane_selector;
}  // namespace internal
}  // namespace Eigen

namespace narrow::inline NARROW_ABI::detail {

/// What Eigen's MatrixBase is for expressions of narrow scalars. A sequence of reflections has a working
/// memory of its own type, which its members hand to those of the matrix that it is applied to, and those
/// would round after each reflection: here the product is computed in the type of the sequence, and then
/// stored. Through a `MatrixBase<Derived>&` write `m.derived().applyOnTheLeft(q)`, or `m = q * m`.
template <class Derived> class narrow_matrix_base : public Eigen::MatrixBase<Derived> {
  using base = Eigen::MatrixBase<Derived>;

 public:
  using base::operator=;
  using base::applyOnTheLeft;
  using base::applyOnTheRight;

  template <class Vectors, class Coeffs, int Side>
  requires(!narrow_scalar<typename Vectors::Scalar>) void applyOnTheLeft(
      const Eigen::HouseholderSequence<Vectors, Coeffs, Side>& q) {
    auto wide = widened<typename Vectors::Scalar>();
    q.applyThisOnTheLeft(wide);
    this->derived() = wide;
  }
  template <class Vectors, class Coeffs, int Side>
  requires(!narrow_scalar<typename Vectors::Scalar>) void applyOnTheRight(
      const Eigen::HouseholderSequence<Vectors, Coeffs, Side>& q) {
    auto wide = widened<typename Vectors::Scalar>();
    q.applyThisOnTheRight(wide);
    this->derived() = wide;
  }

 protected:
  narrow_matrix_base() = default;
  narrow_matrix_base(const narrow_matrix_base&) = default;
  narrow_matrix_base& operator=(const narrow_matrix_base&) = default;

 private:
  template <class Wide> plain_like<Wide, Derived> widened() const {
    return this->derived().template cast<Wide>();
  }
};

}  // namespace narrow::inline NARROW_ABI::detail

namespace Eigen::internal {

template <class Derived>
requires narrow::narrow_scalar<typename traits<Derived>::Scalar>
struct dense_xpr_base<Derived, MatrixXpr> {
  using type = narrow::detail::narrow_matrix_base<Derived>;
};

/// `b = decomposition.solve(b)` of a float matrix: the steps of the solution, kept in b, would each be
/// rounded.
template <class Dst, class Decomposition, class Rhs>
requires(narrow::narrow_scalar<typename Dst::Scalar>&& std::floating_point<
         typename Decomposition::Scalar>) struct Assignment<Dst, Solve<Decomposition, Rhs>,
                                                            assign_op<typename Dst::Scalar,
                                                                      typename Dst::Scalar>,
                                                            Dense2Dense> {
  using Functor = assign_op<typename Dst::Scalar, typename Dst::Scalar>;
  static void run(Dst& dst, const Solve<Decomposition, Rhs>& src, const Functor&) {
    using wide = typename Decomposition::Scalar;
    const auto rhs = narrow::detail::copied<wide>(src.rhs());
    const narrow::detail::plain_like<wide, Solve<Decomposition, Rhs>> x = src.dec().solve(rhs);
    dst = x;
  }
};

/// x, y = c x + s y, c y - s x.
template <narrow::narrow_scalar T, class Other, int Size, int Alignment>
struct apply_rotation_in_the_plane_selector<T, Other, Size, Alignment, false> {
  static void run(T* x, Index x_step, T* y, Index y_step, Index size, Other cosine, Other sine) {
    using narrow::detail::uncontracted;
    using wide = std::common_type_t<typename narrow::detail::shadow_scalar<T>::type,
                                    typename narrow::detail::shadow_scalar<Other>::type>;
    const auto c = static_cast<wide>(cosine), s = static_cast<wide>(sine);
    for (Index i = 0; i < size; ++i, x += x_step, y += y_step) {
      const auto a = static_cast<wide>(*x), b = static_cast<wide>(*y);
      *x = static_cast<T>(uncontracted(c * a) + uncontracted(s * b));
      *y = static_cast<T>(uncontracted(c * b) - uncontracted(s * a));
    }
  }
};

}  // namespace Eigen::internal
