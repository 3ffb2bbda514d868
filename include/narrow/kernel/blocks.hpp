// Products of matrices whose elements share scales in blocks: sums of products of elements, then the scales.
#pragma once

#include <vector>

#include "portable.hpp"
#include "quantize.hpp"

namespace narrow {

/// A matrix of elements that share scales in blocks of tile_rows x tile_cols, the first of which begins
/// first_row rows above and first_col columns left of the view. Nothing is owned and nothing is checked.
template <class Element, class Scale> struct block_view {
  using element_type = Element;

  matrix_view<const Element> elements;
  matrix_view<const Scale> scales;
  std::ptrdiff_t tile_rows = 1, tile_cols = 1;
  std::ptrdiff_t first_row = 0, first_col = 0;

  constexpr std::ptrdiff_t rows() const { return elements.rows; }
  constexpr std::ptrdiff_t cols() const { return elements.cols; }
  constexpr double scale(std::ptrdiff_t i, std::ptrdiff_t j) const {
    return static_cast<float>(scales((first_row + i) / tile_rows, (first_col + j) / tile_cols));
  }
  constexpr const block_view& view() const { return *this; }
  constexpr block_view transposed() const {
    return {elements.transposed(), scales.transposed(), tile_cols, tile_rows, first_col, first_row};
  }
  constexpr block_view block(std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t height,
                             std::ptrdiff_t width) const {
    return {elements.block(i, j, height, width), scales, tile_rows, tile_cols, first_row + i, first_col + j};
  }

  /// Columns from j on over which no element changes its scale.
  constexpr std::ptrdiff_t constant_cols(std::ptrdiff_t j) const {
    return std::min(cols() - j, tile_cols - (first_col + j) % tile_cols);
  }
};

namespace detail {

/// A sum that is a float already.
struct float_sum {
  using sum = float;
};

/// How integer elements meet in a kernel: exactly; in lanes of a floating type where one holds the partial
/// sums, since every processor multiplies those side by side.
template <class A, class B> struct element_meeting : meeting<A, B> {};
template <std::signed_integral A, std::signed_integral B> struct element_meeting<A, B> {
  // The most negative numbers' product is 2^product_bits.
  static constexpr int product_bits = 8 * static_cast<int>(sizeof(A) + sizeof(B)) - 2;
  using lane = std::conditional_t<(product_bits <= 14), float,
                                  std::conditional_t<(product_bits <= 30), double, std::int64_t>>;
  using sum = std::conditional_t<(product_bits <= 30), std::int64_t, int128>;
  using result = sum;
  static constexpr std::ptrdiff_t safe_terms =
      std::max(std::ptrdiff_t{1} << (std::numeric_limits<lane>::digits - product_bits), std::ptrdiff_t{2}) -
      (std::integral<lane> ? 1 : 0);

  template <class T> static constexpr lane decode(T x) { return static_cast<lane>(x); }
};

}  // namespace detail

}  // namespace narrow

NARROW_STRICT_BEGIN

namespace narrow::kernel::portable {

/// The product of two scales with the precision of a float and the range of a double: as if floats had more
/// exponents, so that neither a zero sum times an infinite scale nor a lost one can happen.
inline double scale_product(double a, double b) {
  const double exact = a * b;
  if (exact >= 0x1p-126 && exact <= 0x1p127) return static_cast<double>(static_cast<float>(exact));
  int up_a = 0, up_b = 0;
  const double mantissa = std::frexp(a, &up_a) * std::frexp(b, &up_b);
  return std::ldexp(static_cast<double>(static_cast<float>(mantissa)), up_a + up_b);
}

/// All elements as floats, row by row.
template <class E, class S> NARROW_KERNEL std::vector<float> dequantized(const block_view<E, S>& m) {
  std::vector<float> values(static_cast<std::size_t>(m.rows() * m.cols()));
  for (index i = 0; i < m.rows(); ++i)
    for (index j = 0; j < m.cols(); ++j)
      values[static_cast<std::size_t>(i * m.cols() + j)] =
          static_cast<float>(static_cast<double>(static_cast<float>(m.elements(i, j))) * m.scale(i, j));
  return values;
}

/// C = alpha A B + beta C. Where no scale changes along the summed dimension, a coefficient of A B is
/// float(sum of products of elements) * (scale of the row * scale of the column), each operation rounded to
/// float; else such pieces are added in float, in ascending order.
template <class A, class B, class C, class Round>
NARROW_KERNEL void gemm(const A& a, const B& b, matrix_view<C> c, double alpha, double beta,
                        const Round& round) {
  using left = typename A::element_type;
  using right = typename B::element_type;
  using meeting = detail::element_meeting<left, right>;
  const index depth = a.cols();
  const auto store = [&](index i, index j, float value) {
    finish<detail::float_sum>(value, alpha, beta, c(i, j),
                              at_element(round, detail::element_index(i, j, c.cols)));
  };
  const auto b_transposed = b.transposed();
  const auto piece = [&](index first) {
    return std::min(a.constant_cols(first), b_transposed.constant_cols(first));
  };

  std::vector<float> pieces;  // sums of the pieces so far, where there is more than one
  if (depth > 0 && piece(0) < depth) pieces.assign(static_cast<std::size_t>(c.rows * c.cols), 0.0f);
  std::vector<double> row_scales(static_cast<std::size_t>(c.rows)),
      col_scales(static_cast<std::size_t>(c.cols));
  for (index first = 0, length; first < depth; first += length) {
    length = piece(first);
    for (index i = 0; i < c.rows; ++i) row_scales[static_cast<std::size_t>(i)] = a.scale(i, first);
    for (index j = 0; j < c.cols; ++j) col_scales[static_cast<std::size_t>(j)] = b.scale(first, j);
    product<meeting>(a.elements.block(0, first, c.rows, length), b.elements.block(first, 0, length, c.cols),
                     [&](index i, index j, const typename meeting::sum& sum) {
                       const double scale = scale_product(row_scales[static_cast<std::size_t>(i)],
                                                          col_scales[static_cast<std::size_t>(j)]);
                       const auto exact = static_cast<float>(typename meeting::result(sum));
                       const auto value = static_cast<float>(static_cast<double>(exact) * scale);
                       if (length == depth)
                         store(i, j, value);
                       else
                         pieces[static_cast<std::size_t>(i * c.cols + j)] += value;
                     });
  }
  if (depth == 0 || !pieces.empty())
    for (index i = 0; i < c.rows; ++i)
      for (index j = 0; j < c.cols; ++j)
        store(i, j, depth == 0 ? 0.0f : pieces[static_cast<std::size_t>(i * c.cols + j)]);
}

}  // namespace narrow::kernel::portable

NARROW_STRICT_END
