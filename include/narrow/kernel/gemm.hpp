// C = alpha A B + beta C, of matrices of numbers and of matrices in blocks: with the instruction set in use,
// or in plain C++.
#pragma once

#include <vector>

#include "blocks.hpp"
#include "dot.hpp"
#include "gemv.hpp"
#include "lines.hpp"

NARROW_STRICT_BEGIN

namespace narrow::kernel {

/// The sums of A B, handed to store(i, j, count, sums) in pieces of rows.
template <class Meeting, class A, class B, class Store>
void products(matrix_view<const A> a, matrix_view<const B> b, magnitudes largest, const Store& store) {
  if (!try_panel_product<Meeting>(a, b, largest, store) &&
      !try_vector_product<Meeting>(a, b, largest, store) && !try_dot_products<Meeting>(a, b, largest, store))
    portable::product<Meeting>(a, b, store);
}

using portable::element_order;

/// c(0, j) = alpha sums[j] + beta c(0, j), rounded once under index order(0, j).
template <class Meeting, class Sum, class C, class Round>
void finish_row(const Sum* sums, double alpha, double beta, matrix_view<C> c, const Round& round,
                element_order order) {
  if constexpr (std::same_as<Sum, float>) {
    if (alpha == 1 && beta == 0 && c.col_stride == 1) {
      if constexpr (std::same_as<C, float>) {
        std::copy(sums, sums + c.cols, c.data);
        return;
      } else if constexpr (narrow_float<C> && std::same_as<Round, rounding::nearest_even>) {
        if (encode<C, typename C::overflow_policy>(sums, c.data, c.cols)) return;
      }
    }
  }
  if constexpr (narrow_fixed<C> && std::same_as<Sum, std::int64_t>) {
    using result = typename Meeting::result;
    constexpr int dropped = result::fraction_length - C::fraction_length;
    if constexpr (0 < dropped && dropped <= 32 && std::same_as<Round, rounding::nearest_even> &&
                  std::same_as<typename C::overflow_policy, overflow::saturate>)
      if (alpha == 1 && beta == 0) {
        // The sums are far from the ends of 64 bits, see fixed_sum.
        constexpr std::int64_t half = std::int64_t{1} << (dropped - 1);
        constexpr std::int64_t highest = std::numeric_limits<C>::max().bits(), lowest = -highest - 1;
        for (index j = 0; j < c.cols; ++j) {
          const std::int64_t rounded = (sums[j] + (half - 1) + (sums[j] >> dropped & 1)) >> dropped;
          c(0, j) = C::from_bits(static_cast<typename C::bits_type>(std::clamp(rounded, lowest, highest)));
        }
        return;
      }
  }
  for (index j = 0; j < c.cols; ++j)
    portable::finish<Meeting>(sums[j], alpha, beta, c(0, j), at_element(round, order(0, j)));
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
  const auto store = [&](index i, index j, index count, const auto* sums) {
    finish_row<meeting>(sums, alpha, beta, c.block(i, j, 1, count), round, order.at(i, j));
  };
  products<meeting>(a, b, {detail::largest_element<A>(), detail::largest_element<B>()}, store);
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
  constexpr index longest = 1024;
  const index depth = a.cols();
  const auto store = [&](index i, index j, index count, const float* values) {
    finish_row<detail::float_sum>(values, alpha, beta, c.block(i, j, 1, count), round, order.at(i, j));
  };
  const auto b_transposed = b.transposed();
  const auto piece = [&](index first) {
    return std::min(a.constant_cols(first), b_transposed.constant_cols(first));
  };

  std::vector<float> pieces;  // sums of the pieces so far, where there is more than one
  if (depth == 0 || piece(0) < depth) pieces.assign(static_cast<std::size_t>(c.rows * c.cols), 0.0f);
  std::vector<double> row_scales(static_cast<std::size_t>(c.rows)),
      col_scales(static_cast<std::size_t>(c.cols));
  for (index first = 0, length; first < depth; first += length) {
    length = piece(first);
    for (index i = 0; i < c.rows; ++i) row_scales[static_cast<std::size_t>(i)] = a.scale(i, first);
    for (index j = 0; j < c.cols; ++j) col_scales[static_cast<std::size_t>(j)] = b.scale(first, j);
    products<meeting>(a.elements.block(0, first, c.rows, length), b.elements.block(first, 0, length, c.cols),
                      {a.largest, b.largest}, [&](index i, index j, index count, const auto* sums) {
                        float values[longest];
                        for (; count > 0; j += longest, sums += longest, count -= longest) {
                          const index n = std::min(count, longest);
                          scale_row<meeting>(sums, row_scales[static_cast<std::size_t>(i)],
                                             col_scales.data() + j, values, n);
                          if (length == depth) {
                            store(i, j, n, values);
                          } else {
                            float* const row = pieces.data() + i * c.cols + j;
                            for (index l = 0; l < n; ++l) row[l] += values[l];
                          }
                        }
                      });
  }
  if (!pieces.empty())
    for (index i = 0; i < c.rows; ++i) store(i, 0, c.cols, pieces.data() + i * c.cols);
}

}  // namespace narrow::kernel

NARROW_STRICT_END
