// Products of Eigen/Geometry that Eigen makes of single numbers or of copies: summed wide and rounded once.
#pragma once

#include "../kernel/product.hpp"
#include "products/dense.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// The product of two quaternions of coefficients x, y, z, w: the matrix of the left one times the
/// coefficients of the right one. The lowest fixed-point number, whose negative its format has not, is
/// negated as `-x` is.
template <class T>
[[gnu::noinline]] Eigen::Matrix<T, 4, 1> quaternion_product(const Eigen::Matrix<T, 4, 1>& a,
                                                            const Eigen::Matrix<T, 4, 1>& b) {
  const T x = a(0), y = a(1), z = a(2), w = a(3);
  Eigen::Matrix<T, 4, 4> left;
  left << w, -z, y, x,  //
      z, w, -x, y,      //
      -y, x, w, z,      //
      -x, -y, -z, w;
  return left * b;
}

}  // namespace narrow::detail

namespace Eigen::internal {

// Declared by Eigen/Geometry: Geometry/Quaternion.h and Geometry/Transform.h.
template <int Arch, class L, class R, class T> struct quat_product;
template <class Transform, class Vector, int Case, int Cols> struct transform_right_product_impl;

template <int Arch, class L, class R, narrow::narrow_scalar T> struct quat_product<Arch, L, R, T> {
  [[gnu::always_inline]] static Quaternion<T> run(const QuaternionBase<L>& a, const QuaternionBase<R>& b) {
    Quaternion<T> result;
    const T* const left = a.coeffs().data();
    if (!narrow::kernel::multiply_quaternions(left, b.coeffs().data(), result.coeffs().data())) [[unlikely]]
      result.coeffs() = narrow::detail::quaternion_product<T>(a.coeffs(), b.coeffs());
    return result;
  }
};

/// An affine transform of a vector of as many coefficients as it has dimensions.
template <class Transform, class Vector>
requires narrow::narrow_scalar<typename Vector::Scalar>
struct transform_right_product_impl<Transform, Vector, 2, 1> {
  using ResultType = typename Vector::PlainObject;
  [[gnu::always_inline]] static ResultType run(const Transform& t, const Vector& x) {
    ResultType result = t.translation();
    result.noalias() += t.linear() * x;
    return result;
  }
};

}  // namespace Eigen::internal
