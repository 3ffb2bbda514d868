// C = alpha A B + beta C, of matrices of numbers and of matrices in blocks: with the instruction set in use,
// or in plain C++.
#pragma once

#include "dot.hpp"
#include "epilogue.hpp"
#include "gemv.hpp"
#include "wide_product.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// The sums of A B, handed to store(i, j, sums), a matrix_view, in tiles; but those that are floats perhaps
/// written to `direct`, if there is such a matrix.
template <class Meeting, class A, class B, class Store>
void products(matrix_view<const A> a, matrix_view<const B> b, magnitudes largest, const Store& store,
              const matrix_view<float>& direct = {}) {
  if (a.rows == 1 && b.cols == 1) {
    const typename Meeting::sum sum =
        dot_of_lines<Meeting>(a.data, a.col_stride, b.data, b.row_stride, a.cols, largest);
    store(0, 0, matrix_view{&sum, 1, 1, 1, 1});
  } else if (!try_panel_product<Meeting>(a, b, largest, direct, store) &&
             !try_vector_product<Meeting>(a, b, largest, store) &&
             !try_wide_product<Meeting>(a, b, largest, store)) {
    portable::product<Meeting>(a, b, store);
  }
}

/// Whether neighbours in a column of C, not in a row, lie side by side: then C^T = B^T A^T is computed.
template <class C> bool lies_down(const matrix_view<C>& c) { return c.row_stride == 1 && c.col_stride != 1; }

/// C = alpha A B + beta C, a coefficient rounded under its index in `order`. C overlaps neither A nor B.
template <class A, class B, class C, class Round>
NARROW_KERNEL void multiply(matrix_view<const A> a, matrix_view<const B> b, matrix_view<C> c, double alpha,
                            double beta, const Round& round, element_order order) {
  if (lies_down(c))
    return multiply<B, A>(b.transposed(), a.transposed(), c.transposed(), alpha, beta, round,
                          order.transposed());
  using meeting = detail::meeting<A, B>;
  const auto store = [&](index i, index j, auto sums) {
    finish_tile<meeting>(sums, alpha, beta, c.block(i, j, sums.rows, sums.cols), round, order.at(i, j));
  };
  matrix_view<float> direct;
  if constexpr (std::same_as<C, float>)
    if (alpha == 1 && beta == 0 && c.col_stride == 1) direct = c;
  products<meeting>(a, b, {detail::largest_element<A>(), detail::largest_element<B>()}, store, direct);
}

/// What an integer sum of products counts in.
template <class Meeting> constexpr float unit_of_sums() {
  if constexpr (requires { Meeting::result::fraction_length; })
    return detail::power_of_two(-Meeting::result::fraction_length);
  else
    return 1;
}

/// Tries to compute the products of pieces of the depth within which no scale changes, their sums in float
/// handed to store(i, j, values). False, and nothing was stored, if the pieces differ in length, a product of
/// scales is no normal float, or there is no kernel.
template <class Meeting, class A, class B, class Piece, class Store>
bool try_pieces(const A& a, const B& b, const Piece& piece, const Store& store) {
  const index depth = a.cols(), length = piece(0), count = (depth + length - 1) / length;
  std::vector<float> row_scales, col_scales;
  for (index first = 0; first < depth; first += length) {
    if (piece(first) != std::min(length, depth - first)) return false;
    line_scales rows(a.rows()), cols(b.cols());
    rows.read(a, first, unit_of_sums<Meeting>());
    cols.read(b.transposed(), first);
    if (!rows.all_normal_with(cols)) return false;
    if (first == 0) {
      row_scales.reserve(static_cast<std::size_t>(a.rows() * count));
      col_scales.reserve(static_cast<std::size_t>(b.cols() * count));
    }
    row_scales.insert(row_scales.end(), rows.from(0), rows.from(a.rows()));
    col_scales.insert(col_scales.end(), cols.from(0), cols.from(b.cols()));
  }
  return try_scaled_pieces<Meeting>(a.elements, b.elements, {a.largest, b.largest}, length,
                                    {row_scales.data(), a.rows()}, {col_scales.data(), b.cols()}, store);
}

/// C = alpha A B + beta C for matrices in blocks. Where no scale changes along the summed dimension, a
/// coefficient of A B is float(sum of products of elements) * (scale of the row * scale of the column), each
/// operation rounded to float; else such pieces are added in float, in ascending order. Rounded under its
/// index in `order`.
template <class A, class B, class C, class Round>
NARROW_KERNEL void multiply_blocks(const A& a, const B& b, matrix_view<C> c, double alpha, double beta,
                                   const Round& round, element_order order) {
  if (lies_down(c))
    return multiply_blocks(b.transposed(), a.transposed(), c.transposed(), alpha, beta, round,
                           order.transposed());
  using meeting = detail::element_meeting<typename A::element_type, typename B::element_type>;
  const index depth = a.cols();
  const auto store = [&](index i, index j, matrix_view<const float> values) {
    finish_tile<detail::float_sum>(values, alpha, beta, c.block(i, j, values.rows, values.cols), round,
                                   order.at(i, j));
  };
  const auto b_transposed = b.transposed();
  const auto piece = [&](index first) {
    return std::min(a.constant_cols(first), b_transposed.constant_cols(first));
  };

  if (depth > 0 && piece(0) < depth &&
      try_pieces<meeting>(a, b, piece, [&](index i, index j, auto values) { store(i, j, values); }))
    return;

  std::vector<float> pieces;  // sums of the pieces so far, where there is more than one
  if (depth == 0 || piece(0) < depth) pieces.assign(static_cast<std::size_t>(c.rows * c.cols), 0.0f);
  line_scales row_scales(c.rows), col_scales(c.cols);
  for (index first = 0, length; first < depth; first += length) {
    length = piece(first);
    row_scales.read(a, first);
    col_scales.read(b_transposed, first);
    const auto scale_and_store = [&](index i, index j, auto sums) {
      if constexpr (std::same_as<C, float>)
        if (length == depth && alpha == 1 && beta == 0 && c.col_stride == 1)
          return scale_tile<meeting>(sums, row_scales, i, col_scales, j, &c(i, j), c.row_stride);
      constexpr index longest = max_panel_rows * max_panel_cols;
      float values[longest];
      // As many rows, or columns of one, as there is room for.
      const index height = std::max<index>(longest / sums.cols, 1), width = std::min(sums.cols, longest);
      for (index k = 0; k < sums.rows; k += height)
        for (index l = 0; l < sums.cols; l += width) {
          const auto some = sums.block(k, l, std::min(height, sums.rows - k), std::min(width, sums.cols - l));
          scale_tile<meeting>(some, row_scales, i + k, col_scales, j + l, values, width);
          const matrix_view<const float> scaled{values, some.rows, some.cols, width, 1};
          if (length == depth) {
            store(i + k, j + l, scaled);
          } else {
            for (index row = 0; row < some.rows; ++row)
              for (index col = 0; col < some.cols; ++col)
                pieces[static_cast<std::size_t>((i + k + row) * c.cols + j + l + col)] += scaled(row, col);
          }
        }
    };
    matrix_view<float> direct;
    if constexpr (std::same_as<C, float>)
      if (length == depth && alpha == 1 && beta == 0 && c.col_stride == 1 && row_scales.all_one() &&
          col_scales.all_one())
        direct = c;
    products<meeting>(a.elements.block(0, first, c.rows, length), b.elements.block(first, 0, length, c.cols),
                      {a.largest, b.largest}, scale_and_store, direct);
  }
  if (!pieces.empty()) store(0, 0, {pieces.data(), c.rows, c.cols, c.cols, 1});
}

}  // namespace narrow::inline NARROW_ABI::kernel

NARROW_STRICT_END
