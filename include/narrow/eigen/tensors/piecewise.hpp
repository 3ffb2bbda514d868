// Block tensors in coefficient-wise expressions: dequantised a piece of a line at a time.
#pragma once

#include "../../kernel/quantize.hpp"
#include "../expressions/piecewise.hpp"
#include "traits.hpp"

namespace narrow::inline NARROW_ABI::detail {

template <class X>
concept tensor_of_floats = block_format<format_below<X>>;

/// A tensor in blocks, or a part of one, perhaps turned.
template <tensor_of_floats X> class piecewise<X> {
  using view = decltype(tensor_access<X>::view(std::declval<const X&>()));
  using element = typename view::element_type;

 public:
  using value = float;
  static constexpr int orders = storage_order_of<X>;
  static constexpr bool any_narrow = true;

  explicit piecewise(const X& x) : view_(tensor_access<X>::view(x)) {}

  bool gapless(traversal order) const {
    const view lines = lines_of(order);
    return lines.elements.row_stride == 1 && lines.elements.col_stride == lines.rows() &&
           lines.first_row + lines.rows() <= lines.tile_rows &&
           lines.first_col + lines.cols() <= lines.tile_cols;
  }

  piece_view get(traversal order, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    const view lines = lines_of(order);
    const element* const from = contiguous(line_from(lines.elements, by_columns, line, first), n, gathered_);
    const Eigen::Index tile = (lines.first_col + line) / lines.tile_cols;
    constexpr Eigen::Index long_run = 32;
    if (first + n > lines.rows()) {  // into the next lines: of one scale, since it is gapless
      dequantize(from, static_cast<float>(lines.scale(0, line)), 0, n);
    } else if (lines.tile_rows >= std::min(long_run, n)) {
      for_each_run(lines, first, n, tile, [&](Eigen::Index i, Eigen::Index count, float scale) {
        dequantize(from + i, scale, i, count);
      });
    } else {
      dequantize(from, 1, 0, n);  // exact
      if (const place scaled{order, tile, first, n}; scaled != scaled_) {
        for_each_run(lines, first, n, tile, [&](Eigen::Index i, Eigen::Index count, float scale) {
          std::fill_n(scales_.values + i, count, scale);
        });
        scaled_ = scaled;
      }
      Eigen::Map<piece>(floats_.values, n) *= piece_view(scales_.values, n);
    }
    return {floats_.values, n};
  }

 private:
  /// Numbers of a piece; their scales are those of the pieces in the neighbouring lines, too.
  struct place {
    traversal order;
    Eigen::Index tile, first, n;
    bool operator==(const place&) const = default;
  };

  /// use(i, count, scale) for the numbers of a piece that share one.
  template <class Use>
  static void for_each_run(const view& lines, Eigen::Index first, Eigen::Index n, Eigen::Index tile,
                           const Use& use) {
    const Eigen::Index width = lines.tile_rows, begin = lines.first_row + first;
    Eigen::Index run = begin / width, left = width - begin % width;
    for (Eigen::Index i = 0, count; i < n; i += count, ++run, left = width) {
      count = std::min(left, n - i);
      use(i, count, static_cast<float>(lines.scales(run, tile)));
    }
  }

  /// The lines of a traversal, as columns.
  view lines_of(traversal order) const { return order == by_columns ? view_ : view_.transposed(); }
  void dequantize(const element* from, float scale, Eigen::Index at, Eigen::Index n) {
    kernel::dequantize(matrix_view<const element>{from, n, 1, 1, n}, scale,
                       matrix_view<float>{floats_.values + at, n, 1, 1, n});
  }

  view view_;
  element gathered_[piece_size];
  piece_buffer floats_, scales_;
  place scaled_{by_columns, -1, 0, 0};
};

}  // namespace narrow::detail
