// The door to products: pointers, shapes and strides in, results out. How they are computed is decided behind
// it, in product/plan.hpp.
#pragma once

#include "../simd/jobs.hpp"
#include "product/block_dot.hpp"
#include "product/compiled.hpp"
#include "product/explain.hpp"
#include "product/few.hpp"
#include "product/quaternions.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// The product of small matrices (see small_product). False, and nothing is done, where there is no kernel
/// for it.
template <int Rows, int Depth, int Cols, class A, class B, class C>
[[gnu::always_inline]] inline bool multiply_small(const A& a, const B& b, const C& c, float alpha,
                                                  float beta) {
  using product = small_product<A, B, C, Rows, Depth, Cols>;
  if constexpr (few::multiplies<product>) {
    if (!few::are_ready()) [[unlikely]]
      return few::multiply_otherwise<product>(a, b, c, alpha, beta);
    few::multiply<product>(a, b, c, alpha, beta);
    return true;
  }
  return do_job<product>([&](const auto& kernel) { kernel(a, b, c, alpha, beta); });
}

}  // namespace narrow::kernel

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// The row-major indices of a matrix.
template <class C> element_order row_by_row(const matrix_view<C>& c) {
  return {0, static_cast<std::uint64_t>(c.cols), 1};
}

/// Whether neighbours in a column of C, not in a row, lie side by side: then the tiles of C^T are to be
/// computed.
template <class C> bool lies_down(const matrix_view<C>& c) { return c.row_stride == 1 && c.col_stride != 1; }

/// C = alpha A B + beta C. Shapes: A (m, k), B (k, n), C (m, n), any strides; C overlaps neither A nor B and
/// is not read where beta is 0. Sums are wide (`accumulator_t`); each coefficient is rounded once by `round`,
/// under its row-major element index. A factor with a store is packed once for all products, and must not
/// change; the bits are the same.
template <class A, class B, class C, class Round>
void gemm(const matrix_view<const A>& a, const matrix_view<const B>& b, const matrix_view<C>& c, double alpha,
          double beta, const Round& round, const kept_panels& kept = {}) {
  enter([&](kernel_set t) { multiply(t, a, b, epilogue{c, alpha, beta, round, row_by_row(c)}, kept); });
}
/// The same, but that floating-point exceptions which the numbers of a small product raise may stay.
template <class A, class B, class C, class Round>
void gemm_lightly(const matrix_view<const A>& a, const matrix_view<const B>& b, const matrix_view<C>& c,
                  double alpha, double beta, const Round& round, const kept_panels& kept = {}) {
  enter_lightly([&](kernel_set t) {
    multiply(t, a, b, epilogue{c, alpha, beta, round, row_by_row(c)}, kept);
  });
}

/// Looks at the numbers of a matrix whose panels the store is to keep, once for all products.
template <class T> void examine(panel_store& store, matrix_view<const T> m) {
  enter([&](kernel_set t) { store.examine(t, m); });
}

/// How `gemm` computes A B for a row-major C.
template <class A, class B> product_plan plan_of(matrix_view<A> a, matrix_view<B> b) {
  using left = std::remove_const_t<A>;
  using right = std::remove_const_t<B>;
  return enter([&](kernel_set t) {
    return plan_product<detail::accumulation_traits<left, right>>(
        t, matrix_view<const left>(a), matrix_view<const right>(b), largest_elements<left, right>());
  });
}

/// sum over i of a[i stride_a] b[i stride_b], in the accumulator of the pair of types.
template <class A, class B> auto dot(const A* a, index stride_a, const B* b, index stride_b, index n) {
  using accumulation = detail::accumulation_traits<A, B>;
  return enter_lightly([&](kernel_set t) {
    packing_plan plan;
    plan_dot<accumulation, A, B>(t, largest_elements<A, B>(), packed_type::int8, plan);
    return typename accumulation::result(dot_of_lines<accumulation>(t, plan, a, stride_a, b, stride_b, n));
  });
}

/// The sum over all elements of a(i, j) b(i, j), for two matrices of one shape.
template <class A, class B> auto dot(matrix_view<A> a, matrix_view<B> b) {
  using left = std::remove_const_t<A>;
  using right = std::remove_const_t<B>;
  return enter_lightly([&](kernel_set t) {
    return typename detail::accumulation_traits<left, right>::result(dot_of_matrices<left, right>(t, a, b));
  });
}

/// The product of a as a row and b as a column of the same length, in blocks, as `gemm` computes it. False,
/// and nothing is done, where scales change with every term.
template <class E, class S, class F, class T>
requires summed_in_64_bits<E, F>
bool try_dot(const block_line<E, S>& a, const block_line<F, T>& b, float& result) {
  return enter_lightly([&](kernel_set t) { return try_dot_of_blocks(t, a, b, result); });
}

/// The exact sums of products of integers A B of at most these magnitudes, handed to store(t, i, j, sums), a
/// matrix_view of 32, 64 or 128 bits, in tiles.
template <class A, class B, class Store>
void integer_product(matrix_view<const A> a, matrix_view<const B> b, magnitudes largest, const Store& store) {
  enter([&](kernel_set t) {
    products<detail::element_accumulation<A, B>>(t, a, b, largest,
                                                 [&](index i, index j, auto sums) { store(t, i, j, sums); });
  });
}

/// c = alpha sum + beta c for an exact sum, rounded once to the type of c; c is not read where beta is 0.
using portable::store_exact_axpby;
/// alpha sum + beta c for an exact sum, not rounded.
using portable::exact_axpby;

/// C = alpha A B + beta C for matrices in blocks: where no scale changes along the summed dimension, each
/// coefficient of A B is float(exact sum of products of elements) * (scale of the row * scale of the column),
/// each operation rounded to float; where scales change, such pieces are added in float in ascending order,
/// and where they change with every term, or sums of floating elements under one scale would be rounded, the
/// values are multiplied, and added in float.
template <scales_of_terms Scales = scales_of_terms::may_change, class E, class S, class F, class T, class C,
          class Round>
void gemm(const block_view<E, S>& a, const block_view<F, T>& b, matrix_view<C> c, double alpha, double beta,
          const Round& round, const kept_panels& kept = {}) {
  enter([&](kernel_set t) {
    const epilogue to{c, alpha, beta, round, row_by_row(c)};
    if constexpr (Scales == scales_of_terms::stay && compiles_products)
      multiply_under_one_scale(t, a, b, to, kept);
    else
      multiply_blocks(t, a, b, to, kept);
  });
}

/// How that is computed for a row-major C, or its first piece where pieces are multiplied one by one.
template <class E, class S, class F, class T>
product_plan plan_of(const block_view<E, S>& a, const block_view<F, T>& b) {
  return enter([&](kernel_set t) { return plan_blocks(t, a, b); });
}

}  // namespace narrow::kernel

NARROW_STRICT_END
