// Block tensors in coefficient-wise expressions: whole ones are dequantised before a program of lanes reads
// them, parts of one a piece of a line at a time.
#pragma once

#include "../../kernel/quantize.hpp"
#include "../expressions/lane_programs.hpp"
#include "traits.hpp"

namespace narrow::inline NARROW_ABI::detail {

template <class X>
concept tensor_of_floats = block_format<format_below<X>>;

/// Floats in memory that a thread keeps for later ones.
class kept_floats {
 public:
  using Scalar = float;

  explicit kept_floats(Eigen::Index n)
      : memory_(kernel::memory_of_thread::take(static_cast<std::size_t>(n) * sizeof(float))) {}
  kept_floats(kept_floats&& other) noexcept : memory_(std::exchange(other.memory_, {})) {}
  kept_floats& operator=(kept_floats&&) = delete;
  ~kept_floats() {
    if (memory_.data != nullptr) kernel::memory_of_thread::give(memory_);
  }
  float* data() const { return static_cast<float*>(memory_.data); }

 private:
  kernel::memory_block memory_;
};

/// Formats of integers with one scale for all of them.
template <class S>
concept format_with_one_scale = block_format<S> && std::same_as<typename S::block_type, per_tensor> &&
    std::signed_integral<typename S::element_type>;

/// Integers are read where they lie, and multiplied by their scale.
template <format_with_one_scale S, int R, int C, int O, int MR, int MC>
requires(!is_few(Eigen::Matrix<S, R, C, O, MR, MC>::SizeAtCompileTime)) struct lane_program<
    Eigen::Matrix<S, R, C, O, MR, MC>> {
  using expression = Eigen::Matrix<S, R, C, O, MR, MC>;
  using number = float;
  static constexpr traversal orders = storage_order_of<expression>;
  static constexpr bool dequantizes = true;
  template <traversal Order> static bool gapless(const expression&) { return Order == orders; }
  template <traversal Order> static constexpr bool always_gapless = Order == orders;
  template <traversal Order> static auto make(const expression& x) {
    const auto all = x.tensor().view();
    const auto& elements = all.elements;
    const float scale = x.size() == 0 ? 1.0f : float{all.scales(0, 0)};  // as it is, whatever is flushed
    const Eigen::Index row_step = elements.row_stride, col_step = elements.col_stride;
    constexpr int step = Order == orders ? 1 : Eigen::Dynamic;
    const auto integers = Order == by_columns ? lane_leaf<step>(elements.data, col_step, row_step)
                                              : lane_leaf<step>(elements.data, row_step, col_step);
    return kernel::lane_binary<kernel::lane_product, std::remove_const_t<decltype(integers)>,
                               kernel::lane_constant>{integers, {scale}};
  }
};

/// All others are made floats before.
template <block_format S, int R, int C, int O, int MR, int MC>
struct lane_program<Eigen::Matrix<S, R, C, O, MR, MC>> : lane_numbers_of_any_order {
  using expression = Eigen::Matrix<S, R, C, O, MR, MC>;
  using number = float;
  static constexpr bool dequantizes = true;
  template <traversal Order> static auto make(const expression& x) {
    const Eigen::Index rows = x.rows(), cols = x.cols(), length = Order == by_rows ? cols : rows;
    kernel::lane_held<decltype(memory<Order>(x.size()))> numbers{memory<Order>(x.size()), length};
    x.tensor().dequantize(
        {numbers.values.data(), rows, cols, Order == by_rows ? cols : 1, Order == by_rows ? 1 : rows});
    return numbers;
  }

 private:
  template <traversal Order> static auto memory(Eigen::Index n) {
    if constexpr (is_few(expression::SizeAtCompileTime))
      return held_like<float, expression, Order>();
    else
      return kept_floats(n);
  }
};

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
