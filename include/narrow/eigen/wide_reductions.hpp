// Reductions of Eigen expressions whose results are not rounded to the format of the coefficients. They take
// expressions of float and double, too, where they are Eigen's own: a function written over its scalar calls
// them for both.
#pragma once

#include "reductions.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// Also of matrices in blocks, whose coefficients are floats.
template <class X>
concept built_in_expression = std::floating_point<scalar_of<X>>;

}  // namespace detail

/// Sum of the coefficients: float, or an exact `fixed_sum`.
template <class X>
requires detail::narrow_expression<X>
[[nodiscard]] auto sum(const Eigen::DenseBase<X>& x) { return detail::wide_sum(x.derived()); }
template <detail::built_in_expression X> [[nodiscard]] auto sum(const Eigen::DenseBase<X>& x) {
  return x.sum();
}

/// Mean of the coefficients, in their carrier type; NaN for an empty expression. `x.mean()` is built by Eigen
/// from the rounded sum and the rounded count.
template <class X>
requires detail::narrow_expression<X>
[[nodiscard]] auto mean(const Eigen::DenseBase<X>& x) {
  return detail::mean_of<carrier_t<typename X::Scalar>>(sum(x), static_cast<std::size_t>(x.size()));
}
template <detail::built_in_expression X> [[nodiscard]] auto mean(const Eigen::DenseBase<X>& x) {
  return sum(x) / static_cast<typename X::Scalar>(x.size());
}

/// Frobenius norm, in the carrier type: no overflow where the square passes the largest narrow number.
template <class X>
requires detail::narrow_expression<X>
[[nodiscard]] auto norm(const Eigen::MatrixBase<X>& x) {
  return detail::root_of<carrier_t<typename X::Scalar>>(detail::wide_sum(x.cwiseAbs2()));
}
template <detail::built_in_expression X> [[nodiscard]] auto norm(const Eigen::MatrixBase<X>& x) {
  return x.norm();
}

/// Inner product of two vectors: float, or the exact sum of fixed-point products.
template <class A, class B>
requires detail::narrow_product<A, B>
[[nodiscard]] auto dot(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  EIGEN_STATIC_ASSERT_VECTOR_ONLY(A)
  EIGEN_STATIC_ASSERT_VECTOR_ONLY(B)
  eigen_assert(a.size() == b.size());
  return detail::sum_of_products(a.derived(), b.derived());
}
template <detail::built_in_expression A, detail::built_in_expression B>
requires(!detail::narrow_product<A, B>)
    [[nodiscard]] auto dot(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  return a.dot(b);
}

}  // namespace narrow
