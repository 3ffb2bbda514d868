// Matrices whose elements share scales in blocks, and what sums of products of their elements are added up
// in.
#pragma once

#include <algorithm>
#include <bit>

#include "../../accumulator.hpp"
#include "../../matrix_view.hpp"
#include "../../runtime/environment.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI {

namespace detail {

/// A scale as a double, whether or not the processor flushes subnormals, as it does to a float that becomes
/// one.
template <class Scale> constexpr double value_of_scale(const Scale& scale) {
  const auto of = static_cast<float>(scale);
  const auto bits = std::bit_cast<std::uint32_t>(of);
  return bits < 0x80'0000 ? static_cast<double>(static_cast<std::int32_t>(bits)) * 0x1p-149
                          : static_cast<double>(of);
}

}  // namespace detail

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
    return detail::value_of_scale(scales((first_row + i) / tile_rows, (first_col + j) / tile_cols));
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

  /// Columns from j on, and rows from i on, over which no element changes its scale.
  constexpr std::ptrdiff_t constant_cols(std::ptrdiff_t j) const {
    return std::min(cols() - j, tile_cols - (first_col + j) % tile_cols);
  }
  constexpr std::ptrdiff_t constant_rows(std::ptrdiff_t i) const {
    return std::min(rows() - i, tile_rows - (first_row + i) % tile_rows);
  }
};

namespace detail {

/// A sum that is a float already.
struct float_sum {
  using sum = float;
};

/// How products of integer elements are added up: exactly; in lanes of a floating type where one holds the
/// partial sums, since every processor multiplies those side by side.
template <class A, class B> struct element_accumulation : accumulation_traits<A, B> {};
template <std::signed_integral A, std::signed_integral B> struct element_accumulation<A, B> {
  // The most negative numbers' product is 2^product_bits.
  static constexpr int product_bits = 8 * static_cast<int>(sizeof(A) + sizeof(B)) - 2;
  using lane = std::conditional_t<(product_bits <= 14), float,
                                  std::conditional_t<(product_bits <= 30), double, std::int64_t>>;
  using sum = std::conditional_t<(product_bits <= 30), std::int64_t, int128>;
  using result = sum;
  static constexpr std::ptrdiff_t safe_terms =
      terms_in_memory(
          std::max(std::int64_t{1} << (std::numeric_limits<lane>::digits - product_bits), std::int64_t{2})) -
      (std::integral<lane> ? 1 : 0);

  template <class T> static constexpr lane decode(T x) { return static_cast<lane>(x); }
};

}  // namespace detail

}  // namespace narrow

NARROW_STRICT_END
