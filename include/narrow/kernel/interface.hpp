// The only door to the kernels for the layers above: pointers, shapes and strides in, results out. Faster
// kernels are chosen behind it.
#pragma once

#include "gemm.hpp"
#include "quantize.hpp"
#include "quantize_wide.hpp"
#include "scaled.hpp"
#include "sum.hpp"

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

/// sum over i of a[i stride]: float, or the exact sum of fixed-point numbers.
template <class A> auto sum(const A* a, index stride, index n) {
  const detail::float_environment guard;
  return detail::sum_of<A>(sum_of_line(a, stride, n));
}

/// The same over all elements of a matrix.
template <class A> auto sum(matrix_view<A> a) {
  using element = std::remove_const_t<A>;
  const detail::float_environment guard;
  return detail::sum_of<element>(sum_of_matrix<element>(a));
}

/// Adds the magnitudes of all elements of x to the statistic; returns how many are not finite.
/// T: float, double or long double.
template <class T, class Statistic> std::size_t survey(matrix_view<T> x, Statistic& statistic) {
  return portable::survey(matrix_view<const T>(x), statistic);
}
/// How many elements are not finite.
template <class T> std::size_t count_nonfinite(matrix_view<const T> x) {
  portable::no_statistic none;
  return portable::survey(x, none);
}

/// q = x / scale, each element rounded once by `round` under the index that `order` gives it. Integers
/// saturate at the ends of `range`, floating-point elements at their largest finite number; a NaN becomes 0.
/// Over a scale that is NaN numbers become zeros. T: float, double or long double.
template <class T, class Element, class Round>
void quantize(matrix_view<T> x, matrix_view<Element> q, float scale, scale_kind kind,
              const element_range& range, const Round& round, element_order order) {
  const detail::float_environment guard;
  const matrix_view<const T> from = x;
  if (!detail::is_positive(scale)) return quantize_by_nan<std::remove_const_t<T>>(from, q, range);
  if constexpr (std::same_as<const T, const float>)
    quantize_block(from, q, scale, kind, range, round, order);
  else
    quantize_wide_block(from, q, scale, kind, range, round, order);
}

/// The same with scales for blocks of columns. False if there is no kernel for that, or one of them is NaN;
/// then what q holds means nothing.
template <class Element, class Round>
bool try_quantize_blocks(matrix_view<const float> x, matrix_view<Element> q, const block_scales& scales,
                         scale_kind kind, const element_range& range, const Round& round,
                         const element_order& order) {
  const detail::float_environment guard;
  return quantize_blocks(x, q, scales, kind, range, round, order);
}
/// The same as `quantize` for a scale 2^-fraction_length, and integers of up to 32 bits.
template <class T, class Element, class Round>
void quantize_fixed(matrix_view<const T> x, matrix_view<Element> q, int fraction_length,
                    const element_range& range, const Round& round, element_order order) {
  const detail::float_environment guard;
  const double scale = 1 / static_cast<double>(std::uint64_t{1} << fraction_length);
  if constexpr (std::same_as<T, long double>)
    quantize_wide_fixed(x, q, fraction_length, range, round, order);
  else
    portable::quantize(x, q, scale, scale_kind::power_of_two, range, round, order);
}

/// The exact sums of products of integers A B of at most these magnitudes, handed to store(i, j, sums), a
/// matrix_view of 32, 64 or 128 bits, in tiles.
template <class A, class B, class Store>
void integer_product(matrix_view<const A> a, matrix_view<const B> b, magnitudes largest, const Store& store) {
  const detail::float_environment guard;
  products<detail::element_meeting<A, B>>(a, b, largest, store);
}

/// x = q scale, rounded to float.
template <class Element> void dequantize(matrix_view<const Element> q, float scale, matrix_view<float> x) {
  const detail::float_environment guard;
  dequantize_block(q, scale, x);
}

/// The same with scales for blocks of columns. False if there is no kernel for that.
template <class Element>
bool try_dequantize_blocks(matrix_view<const Element> q, const block_scales& scales, matrix_view<float> x) {
  const detail::float_environment guard;
  return dequantize_blocks(q, scales, x);
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

}  // namespace narrow::kernel
