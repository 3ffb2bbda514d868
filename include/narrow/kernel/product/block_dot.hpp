// Inner products of vectors in blocks of integers.
#pragma once

#include "block_product.hpp"
#include "dot.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// Elements whose products are summed up exactly in 64 bits.
template <class A, class B>
concept summed_in_64_bits = std::signed_integral<A> && std::signed_integral<B> &&
    std::same_as<typename detail::element_accumulation<A, B>::sum, std::int64_t>;

/// A row or a column of a matrix in blocks: `size` elements, `step` apart, of which each `tile` share a
/// scale; the first of them is the one at `first` of its block.
template <class Element, class Scale> struct block_line {
  const Element* elements;
  index step, size;
  const Scale* scales;
  index scale_step, tile, first;
  std::int64_t largest;

  // Most have one block, and a division takes longer than all else of a short inner product.
  double scale(index i) const {
    const index at = first + i;
    return detail::value_of_scale(scales[at < tile ? 0 : at / tile * scale_step]);
  }
  /// How many from i on have one scale.
  index constant(index i) const {
    const index at = first + i;
    return std::min(size - i, tile - (at < tile ? at : at % tile));
  }
};
enum class line_kind { row, column };
/// The first row or column.
template <line_kind Kind, class E, class S> block_line<E, S> first_line(const block_view<E, S>& m) {
  constexpr bool is_row = Kind == line_kind::row;
  // Numbers, and no views that are turned: a processor waits where it reads at once what was written in
  // parts.
  const index before = is_row ? m.first_row : m.first_col, height = is_row ? m.tile_rows : m.tile_cols,
              block_step = is_row ? m.scales.row_stride : m.scales.col_stride;
  return {m.elements.data,
          is_row ? m.elements.col_stride : m.elements.row_stride,
          is_row ? m.cols() : m.rows(),
          m.scales.data + (before < height ? 0 : before / height * block_step),
          is_row ? m.scales.col_stride : m.scales.row_stride,
          is_row ? m.tile_cols : m.tile_rows,
          is_row ? m.first_col : m.first_row,
          m.largest};
}

/// The product of a as a row and b as a column of the same length, as multiply_blocks() computes it. False,
/// and nothing is done, where scales change with every term.
template <class E, class S, class F, class T>
requires summed_in_64_bits<E, F>
bool try_dot_of_blocks(kernel_set t, const block_line<E, S>& a, const block_line<F, T>& b, float& result) {
  using accumulation = detail::element_accumulation<E, F>;
  if (a.size > 1 && (a.tile == 1 || b.tile == 1)) return false;
  packing_plan plan;
  plan_dot<accumulation, E, F>(t, {a.largest, b.largest}, packed_type::int8, plan);
  float total = 0;
  for (index i = 0, length; i < a.size; i += length) {
    length = std::min(a.constant(i), b.constant(i));
    const std::int64_t sum = dot_of_lines<accumulation>(t, plan, a.elements + i * a.step, a.step,
                                                        b.elements + i * b.step, b.step, length);
    const double scale = scale_product(a.scale(i), b.scale(i));
    const auto scaled = static_cast<float>(double(detail::nearest_float(sum)) * scale);
    total = length == a.size ? scaled : total + scaled;  // which is not to change the sign of a zero
  }
  result = total;
  return true;
}

}  // namespace narrow::kernel

NARROW_STRICT_END
