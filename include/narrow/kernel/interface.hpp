// The only door to the kernels for the layers above: pointers, shapes and strides in, results out. Faster
// kernels are chosen behind it.
#pragma once

#include "portable.hpp"

namespace narrow::detail {
/// A kernel's sum of elements A as the layers above see it.
template <class A, class Sum> auto sum_of(Sum sum) {
  if constexpr (narrow_fixed<A>)
    return fixed_sum<int128, A::fraction_length>(sum);
  else
    return sum;
}
}  // namespace narrow::detail

namespace narrow::kernel {

using index = std::ptrdiff_t;

/// C = alpha A B + beta C. Shapes: A (m, k), B (k, n), C (m, n), any strides; C overlaps neither A nor B and
/// is not read where beta is 0. Sums are wide (`accumulator_t`); each coefficient is rounded once by `round`,
/// under its row-major element index.
template <class A, class B, class C, class Round>
void gemm(matrix_view<A> a, matrix_view<B> b, matrix_view<C> c, double alpha, double beta,
          const Round& round) {
  const detail::float_environment guard;
  portable::gemm<std::remove_const_t<A>, std::remove_const_t<B>>(a, b, c, alpha, beta, round);
}

/// sum over i of a[i stride_a] b[i stride_b], in the accumulator of the pair of types.
template <class A, class B>
typename detail::meeting<A, B>::result dot(const A* a, index stride_a, const B* b, index stride_b, index n) {
  const detail::float_environment guard;
  return typename detail::meeting<A, B>::result(portable::dot(a, stride_a, b, stride_b, n));
}

/// The same over all elements of two matrices of one shape.
template <class A, class B> auto dot(matrix_view<A> a, matrix_view<B> b) {
  using left = std::remove_const_t<A>;
  using right = std::remove_const_t<B>;
  const detail::float_environment guard;
  return typename detail::meeting<left, right>::result(portable::dot<left, right>(a, b));
}

/// sum over i of a[i stride]: float, or the exact sum of fixed-point numbers.
template <class A> auto sum(const A* a, index stride, index n) {
  const detail::float_environment guard;
  return detail::sum_of<A>(portable::sum(a, stride, n));
}

/// The same over all elements of a matrix.
template <class A> auto sum(matrix_view<A> a) {
  using element = std::remove_const_t<A>;
  const detail::float_environment guard;
  return detail::sum_of<element>(portable::sum<element>(a));
}

}  // namespace narrow::kernel
