// The door to products: pointers, shapes and strides in, results out. Which kernels compute them is chosen
// behind it.
#pragma once

#include "product/gemm.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// The row-major indices of a matrix.
template <class C> element_order row_by_row(const matrix_view<C>& c) {
  return {0, static_cast<std::uint64_t>(c.cols), 1};
}

/// C = alpha A B + beta C. Shapes: A (m, k), B (k, n), C (m, n), any strides; C overlaps neither A nor B and
/// is not read where beta is 0. Sums are wide (`accumulator_t`); each coefficient is rounded once by `round`,
/// under its row-major element index.
template <class A, class B, class C, class Round>
void gemm(matrix_view<A> a, matrix_view<B> b, matrix_view<C> c, double alpha, double beta,
          const Round& round) {
  const detail::float_environment guard;
  multiply<std::remove_const_t<A>, std::remove_const_t<B>>(a, b, c, alpha, beta, round, row_by_row(c));
}

/// sum over i of a[i stride_a] b[i stride_b], in the accumulator of the pair of types.
template <class A, class B>
typename detail::meeting<A, B>::result dot(const A* a, index stride_a, const B* b, index stride_b, index n) {
  const detail::float_environment guard;
  using meeting = detail::meeting<A, B>;
  return typename meeting::result(dot_of_lines<meeting>(
      a, stride_a, b, stride_b, n, {detail::largest_element<A>(), detail::largest_element<B>()}));
}

/// The same over all elements of two matrices of one shape.
template <class A, class B> auto dot(matrix_view<A> a, matrix_view<B> b) {
  using left = std::remove_const_t<A>;
  using right = std::remove_const_t<B>;
  const detail::float_environment guard;
  return typename detail::meeting<left, right>::result(dot_of_matrices<left, right>(a, b));
}

/// The exact sums of products of integers A B of at most these magnitudes, handed to store(i, j, sums), a
/// matrix_view of 32, 64 or 128 bits, in tiles.
template <class A, class B, class Store>
void integer_product(matrix_view<const A> a, matrix_view<const B> b, magnitudes largest, const Store& store) {
  const detail::float_environment guard;
  products<detail::element_meeting<A, B>>(a, b, largest, store);
}

/// c = alpha sum + beta c for an exact sum, rounded once to the type of c; c is not read where beta is 0.
using portable::finish_exact;
/// The same without the rounding.
using portable::exact_combination;

/// C = alpha A B + beta C for matrices in blocks: where no scale changes along the summed dimension, each
/// coefficient of A B is float(exact sum of products of elements) * (scale of the row * scale of the column),
/// each operation rounded to float; where scales change, such pieces are added in float in ascending order,
/// and where they change with every term the dequantised matrices are multiplied in float.
template <class E, class S, class F, class T, class C, class Round>
void gemm(const block_view<E, S>& a, const block_view<F, T>& b, matrix_view<C> c, double alpha, double beta,
          const Round& round) {
  const detail::float_environment guard;
  if (a.cols() > 1 && (a.tile_cols == 1 || b.tile_rows == 1)) {
    const std::vector<float> left = dequantized(a), right = dequantized(b);
    multiply<float, float>(matrix_view{left.data(), a.rows(), a.cols(), a.cols(), index{1}},
                           matrix_view{right.data(), b.rows(), b.cols(), b.cols(), index{1}}, c, alpha, beta,
                           round, row_by_row(c));
  } else {
    multiply_blocks(a, b, c, alpha, beta, round, row_by_row(c));
  }
}

}  // namespace narrow::inline NARROW_ABI::kernel

NARROW_STRICT_END
