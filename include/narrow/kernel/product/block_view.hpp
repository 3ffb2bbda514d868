// Matrices whose elements share scales in blocks, and what their products are made of.
#pragma once

#include <vector>

#include "../../accumulator.hpp"
#include "../../simd/dispatch.hpp"
#include "../quantize/elements.hpp"

namespace narrow::inline NARROW_ABI {

/// A matrix of elements that share scales in blocks of tile_rows x tile_cols, the first of which begins
/// first_row rows above and first_col columns left of the view. Nothing is owned and nothing is checked.
template <class Element, class Scale> struct block_view {
  using element_type = Element;

  matrix_view<const Element> elements;
  matrix_view<const Scale> scales;
  std::ptrdiff_t tile_rows = 1, tile_cols = 1;
  std::ptrdiff_t first_row = 0, first_col = 0;
  std::int64_t largest =
      detail::largest_element<Element>();  // magnitude of an integer element; none may be larger

  constexpr std::ptrdiff_t rows() const { return elements.rows; }
  constexpr std::ptrdiff_t cols() const { return elements.cols; }
  constexpr double scale(std::ptrdiff_t i, std::ptrdiff_t j) const {
    return static_cast<float>(scales((first_row + i) / tile_rows, (first_col + j) / tile_cols));
  }
  constexpr const block_view& view() const { return *this; }
  constexpr block_view transposed() const {
    return {elements.transposed(), scales.transposed(), tile_cols, tile_rows, first_col, first_row, largest};
  }
  constexpr block_view block(std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t height,
                             std::ptrdiff_t width) const {
    return {elements.block(i, j, height, width),
            scales,
            tile_rows,
            tile_cols,
            first_row + i,
            first_col + j,
            largest};
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

}  // namespace narrow::inline NARROW_ABI

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// The product of two scales with the precision of a float and the range of a double: as if floats had more
/// exponents, so that neither a zero sum times an infinite scale nor a lost one can happen.
inline double scale_product(double a, double b) {
  const double exact = a * b;
  if (exact >= 0x1p-126 && exact <= 0x1p127) return static_cast<double>(static_cast<float>(exact));
  int up_a = 0, up_b = 0;
  const double mantissa = std::frexp(a, &up_a) * std::frexp(b, &up_b);
  return std::ldexp(static_cast<double>(static_cast<float>(mantissa)), up_a + up_b);
}

/// values[j] = float(sums[j]) * (row_scale * col_scales[j]), each operation rounded to float.
template <class Meeting, class Sum>
void scale_row(const Sum* sums, float row_scale, const float* col_scales, float* values, index n) {
  using result = typename Meeting::result;
  if constexpr (std::same_as<Sum, std::int64_t> &&
                (std::integral<result> || std::same_as<result, detail::int128>))
    if (const auto kernel = dispatch::instance().kernels().get<&kernel_table::scale>())
      if (kernel(sums, row_scale, col_scales, values, n)) return;
  const auto scaled = [&](index j, double scale) {
    return static_cast<float>(double{detail::nearest_float(result(sums[j]))} * scale);
  };
  bool plain = true;  // no product of scales beyond the normal floats
  for (index j = 0; j < n; ++j) {
    const double exact = double{row_scale} * double{col_scales[j]};
    plain &= exact >= 0x1p-126 && exact <= 0x1p127;
    values[j] = scaled(j, double{static_cast<float>(exact)});
  }
  if (plain) return;
  for (index j = 0; j < n; ++j) values[j] = scaled(j, scale_product(row_scale, col_scales[j]));
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

}  // namespace narrow::inline NARROW_ABI::kernel

NARROW_STRICT_END
