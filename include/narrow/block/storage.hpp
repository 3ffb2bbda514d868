// Elements and the scales of their blocks, of any format: what it is, is known at run time here, so that the
// formats with one type of element share what is compiled.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "../errors.hpp"
#include "scale.hpp"
#include "source.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::detail {

/// What a format, and the policy that it is rounded by, come to at run time.
struct block_rules {
  kernel::element_range range;  // of the elements
  kernel::scale_kind kind;
  float smallest;                              // of the scales: that of a block of zeros
  float (*reaching)(std::uint32_t magnitude);  // the scale at which a magnitude fits, from its bits
};

/// The blocks that lines in memory meet, few enough to have their scales at hand.
struct block_lines {
  std::size_t first, run_step, band_step;  // their numbers
  std::ptrdiff_t runs, bands;              // how many along a line, and how often lines meet others
  kernel::block_runs shape;

  std::size_t count() const { return static_cast<std::size_t>(runs * bands); }
  /// visit(k, number) for the k-th one.
  template <class Visit> void for_each(const Visit& visit) const {
    std::size_t k = 0, band = first;
    for (std::ptrdiff_t i = 0; i < bands; ++i, band += band_step) {
      std::size_t number = band;
      for (std::ptrdiff_t j = 0; j < runs; ++j, number += run_step) visit(k++, number);
    }
  }
};

/// A matrix in blocks, and how its elements lie in memory.
struct block_layout {
  block_grid grid{0, 0, 1, 1};
  storage_order order = storage_order::row_major;

  bool by_rows() const { return order == storage_order::row_major; }
  /// A matrix, a grid or a region with the lines in memory as columns; of such a one, what it is of.
  template <class T> T as_lines(const T& x) const { return by_rows() ? x.transposed() : x; }
  template <class T> matrix_view<T> elements(T* data) const {
    return stored_matrix(data, grid.rows, grid.cols, order);
  }

  /// visit(piece, blocks) for pieces of `within`. False if a visit was, or it is not worth it: for one block,
  /// whose lines may be one, or a few numbers.
  template <class Visit> bool for_each_piece(const region& within, const Visit& visit) const {
    constexpr std::ptrdiff_t few = 16, most_scales = kernel::block_scales::most_scales;
    if (grid.count() == 1 || within.rows * within.cols <= few) return false;
    const block_grid lines = as_lines(grid);
    const kernel::block_runs shape{.width = lines.tile_rows, .height = lines.tile_cols};
    const std::ptrdiff_t most =
        (shape.are_narrow() ? kernel::most_places : kernel::most_between) / shape.width;
    const std::ptrdiff_t runs =
        std::clamp<std::ptrdiff_t>(most, 1, std::min(lines.block_rows(), most_scales));
    block_grid pieces = lines;
    pieces.tile_rows *= runs;
    pieces.tile_cols *= most_scales / runs;
    const auto next_row = static_cast<std::size_t>(grid.block_cols());
    bool all = true;
    pieces.for_each_block(as_lines(within), [&](std::ptrdiff_t, const region& r) {
      const region piece = as_lines(r);
      kernel::block_runs blocks = shape;
      blocks.before = r.row % shape.width;
      blocks.above = r.col % shape.height;
      all = all && visit(piece, block_lines{static_cast<std::size_t>(grid.block_of(piece.row, piece.col)),
                                            by_rows() ? 1 : next_row, by_rows() ? next_row : 1,
                                            lines.pieces(blocks.before + r.rows, shape.width),
                                            lines.pieces(blocks.above + r.cols, shape.height), blocks});
    });
    return all;
  }
};

/// What can be gathered by several threads.
template <class Statistic>
concept sharable = requires {
  Statistic::largest_suffices;
};

/// How many numbers of a part are not finite.
template <class Value>
std::size_t nonfinite_of(const region& part, storage_order order, const value_source<Value>& source) {
  std::atomic<std::size_t> count = 0;
  for_shared_panels(part, order, 1, source, [&](const region&, const matrix_view<const Value>& x) {
    count += kernel::count_nonfinite(x);
  });
  return count;
}

/// Adds all magnitudes of a part, in whole blocks, to the statistics of blocks, which begin with block
/// `first`; returns how many are not finite.
template <class Value, class Statistic>
std::size_t survey_blocks(const block_layout& layout, const region& part, const value_source<Value>& source,
                          std::span<Statistic> statistics, std::size_t first = 0) {
  std::atomic<std::size_t> nonfinite = 0;
  if (layout.grid.count() == 1) {  // which is surveyed in any order
    const auto other = other_order(layout.order), order = source.lies_in(other) ? other : layout.order;
    if constexpr (sharable<Statistic>) {
      std::mutex merging;
      for_shared_panels(part, order, 1, source, [&](const region&, const matrix_view<const Value>& x) {
        Statistic found;
        nonfinite += kernel::survey(x, found);
        const std::lock_guard lock(merging);
        statistics.front().add(found.bits);
      });
    } else {
      for_each_panel(part, order, source, [&](const region&, const matrix_view<const Value>& x) {
        nonfinite += kernel::survey(x, statistics.front());
      });
    }
    return nonfinite;
  }
  const auto survey = [&](const region& panel, const matrix_view<const Value>& x) {
    const auto values = [&](const region& r) {
      return x.block(r.row - panel.row, r.col - panel.col, r.rows, r.cols);
    };
    if constexpr (sharable<Statistic> && std::same_as<Value, float>) {
      const bool done = layout.for_each_piece(panel, [&](const region& r, const block_lines& blocks) {
        std::array<std::uint32_t, kernel::block_scales::most_scales> memory;
        const auto found = std::span(memory).first(blocks.count());
        std::ranges::fill(found, 0);
        if (!kernel::survey_blocks(layout.as_lines(values(r)), blocks.shape, found)) return false;
        blocks.for_each([&](std::size_t k, std::size_t block) { statistics[block - first].add(found[k]); });
        return true;
      });
      if (done) return;  // else what was added is added again, which changes nothing
    }
    layout.grid.for_each_block(panel, [&](std::ptrdiff_t block, const region& r) {
      nonfinite += kernel::survey(values(r), statistics[static_cast<std::size_t>(block) - first]);
    });
  };
  const std::ptrdiff_t together = layout.by_rows() ? layout.grid.tile_rows : layout.grid.tile_cols;
  for_shared_panels(part, layout.order, together, source, survey);
  return nonfinite;
}

/// Throws unless there are no clipping values, one, or one for each block, finite and not negative.
inline void check_clips(std::span<const float> clips, std::size_t blocks) {
  if (!clips.empty() && clips.size() != 1 && clips.size() != blocks)
    detail::fail<std::invalid_argument>("narrow::block_tensor: " + std::to_string(clips.size()) +
                                        " clipping values for " + std::to_string(blocks) +
                                        " blocks; there must be one, or one for each block");
  for (const float clip : clips)
    if (magnitude_bits(clip) >= nonfinite_bits || clip < 0)
      detail::fail<std::invalid_argument>("narrow::block_tensor: the clipping value " + to_text(clip) +
                                          " must be finite and not negative");
}

/// The scale of a block that is to hold what asks for a larger one, `needed`: the present one doubled until
/// it does, but not beyond `largest`, so that a block does not grow often. A block that may be all zeros,
/// whose scale is `smallest`, takes what is needed; NaN, the scale of nothing but NaN, stays and is taken at
/// once. On bits, as subnormal scales ask for.
inline float grown_scale(float present, float needed, float smallest, float largest) {
  const auto bits = [](float x) { return magnitude_bits(x); };
  if (bits(present) == bits(smallest) || bits(needed) > nonfinite_bits) return needed;
  std::uint32_t grown = bits(present);
  while (grown < bits(needed)) grown += grown < binary32::min_normal ? grown : binary32::min_normal;
  return std::bit_cast<float>(std::min(grown, bits(largest)));
}

/// A `block_tensor` but for what its format says. Shapes, parts and grids were checked.
template <class Element, class Scale> class block_storage {
 public:
  std::ptrdiff_t rows() const { return grid().rows; }
  std::ptrdiff_t cols() const { return grid().cols; }
  std::ptrdiff_t size() const { return rows() * cols(); }
  storage_order order() const { return layout_.order; }

  /// What is stored: the elements in storage order, and the scales of the blocks, row by row.
  std::span<const Element> mantissas() const { return mantissas_; }
  std::span<const Scale> scales() const { return scales_; }
  /// How many NaNs and infinities were written since the last whole assignment, that one included.
  std::size_t nonfinite() const { return nonfinite_; }

  /// to(i, j) = (*this)(i, j). Throws std::invalid_argument naming both shapes if they do not match.
  void dequantize(matrix_view<float> to) const {
    check_shapes(to.rows == rows() && to.cols == cols(), "narrow::block_tensor::dequantize", "the tensor",
                 extents(rows(), cols()), "to", extents(to.rows, to.cols));
    const bool done = layout_.for_each_piece(grid().whole(), [&](const region& r, const block_lines& blocks) {
      scale_memory scales;
      return kernel::try_dequantize_blocks(layout_.as_lines(elements().block(r.row, r.col, r.rows, r.cols)),
                                           scales_of(blocks, scales),
                                           layout_.as_lines(to.block(r.row, r.col, r.rows, r.cols)));
    });
    if (done) return;
    grid().for_each_block(grid().whole(), [&](std::ptrdiff_t number, const region& r) {
      kernel::dequantize(elements().block(r.row, r.col, r.rows, r.cols), scale(number),
                         to.block(r.row, r.col, r.rows, r.cols));
    });
  }

 protected:
  block_storage() = default;
  explicit block_storage(storage_order order) { layout_.order = order; }
  block_storage(const block_storage&) = default;
  /// What was moved from is empty, and keeps its order.
  block_storage(block_storage&& other) noexcept : block_storage(other.order()) { swap(other); }
  /// If memory is short, what is there stays.
  block_storage& operator=(const block_storage& other) {
    reserve(other.scales_.size(), other.mantissas_.size());
    layout_ = other.layout_;
    block_cols_ = other.block_cols_;
    mantissas_ = other.mantissas_;
    scales_ = other.scales_;
    nonfinite_ = other.nonfinite_;
    return *this;
  }
  block_storage& operator=(block_storage&& other) noexcept {
    swap(other);
    return *this;
  }
  ~block_storage() = default;

  block_view<Element, Scale> view(std::int64_t largest) const {
    return {elements(),
            {scales_.data(), grid().block_rows(), block_cols_, block_cols_, 1},
            grid().tile_rows,
            grid().tile_cols,
            0,
            0,
            largest};
  }

  /// The value of an element, whose block is in a row and a column of blocks.
  float value(std::ptrdiff_t row, std::ptrdiff_t col, std::ptrdiff_t block_row,
              std::ptrdiff_t block_col) const {
    const std::ptrdiff_t place = layout_.by_rows() ? row * cols() + col : row + col * rows();
    const Element& element = mantissas_[static_cast<std::size_t>(place)];
    const float by = scale(block_row * block_cols_ + block_col);
    // Where subnormals take part, the caller's floating-point control register must not: in integers.
    return by > 0x1p-60f ? static_cast<float>(element) * by
                         : nearest<float>(multiply(unpack(element), unpack(by)));
  }

  /// A new shape, all zeros. If memory is short, what is there stays.
  void resize(const block_grid& grid, float smallest) {
    const auto size = static_cast<std::size_t>(grid.rows * grid.cols);
    reserve(static_cast<std::size_t>(grid.count()), size);
    reshape(grid, smallest);
    mantissas_.assign(size, Element{});
  }

  /// The scales of blocks of which these are the statistics.
  template <class Statistic>
  using scale_rule = void (*)(std::span<const Statistic> statistics, std::span<Scale> scales);

  /// The assignment of a whole matrix in parts, which together are all of it. The source may be computed from
  /// what is stored, which stays as it is until the end.
  template <class Value, class Statistic, class Round> class whole_assignment {
   public:
    whole_assignment(block_storage& to, const block_grid& grid, const value_source<Value>& source,
                     const block_rules& rules, scale_rule<Statistic> scales_of, const Round& round,
                     std::span<const float> clips)
        : to_(to), result_(to.order()), source_(source), rules_(rules), round_(round) {
      result_.reshape(grid, rules.smallest);
      check_clips(clips, result_.scales_.size());
      if (clips.empty()) {
        choose_scales(scales_of);
      } else {
        for (std::size_t block = 0; block < result_.scales_.size(); ++block)
          result_.scales_[block] =
              Scale(rules.reaching(magnitude_bits(clips[clips.size() == 1 ? 0 : block])));
      }
      counts_nonfinite_ = !clips.empty();
      // No Value lies among the elements, so that their memory can serve again where Values are read in
      // place.
      takes_memory_ = source.in_place() && grid.rows == to.rows() && grid.cols == to.cols();
      if (!takes_memory_) result_.mantissas_.resize(static_cast<std::size_t>(result_.size()));
    }

    region whole() const { return result_.grid().whole(); }
    /// From the first part that is in memory on, nothing throws.
    void take(const region& part) {
      if (counts_nonfinite_) result_.nonfinite_ += nonfinite_of(part, result_.order(), source_);
      if (std::exchange(takes_memory_, false)) result_.mantissas_.swap(to_.mantissas_);
      result_.round_into_scales(part, source_, rules_, round_);
    }
    void finish() noexcept { to_.swap(result_); }

   private:
    /// Some rows of blocks at a time: statistics can be larger than what they are of.
    void choose_scales(scale_rule<Statistic> scales_of) {
      const block_grid& grid = result_.grid();
      constexpr std::ptrdiff_t at_a_time = (std::ptrdiff_t{1} << 24) / sizeof(Statistic);
      const std::ptrdiff_t across = grid.block_cols();
      const std::ptrdiff_t rows =
          std::max<std::ptrdiff_t>(at_a_time / std::max<std::ptrdiff_t>(across, 1), 1);
      Statistic only;  // small matrices of one block are worth no allocation
      std::vector<Statistic> several;
      for (std::ptrdiff_t row = 0, count; row < grid.block_rows(); row += count) {
        count = std::min(rows, grid.block_rows() - row);
        const auto first = static_cast<std::size_t>(row * across),
                   blocks = static_cast<std::size_t>(count * across);
        if (grid.count() > 1) several.assign(blocks, Statistic{});
        const auto statistics = grid.count() > 1 ? std::span(several) : std::span(&only, 1);
        const std::ptrdiff_t top = row * grid.tile_rows;
        const region band{top, 0, std::min(count * grid.tile_rows, grid.rows - top), grid.cols};
        result_.nonfinite_ += survey_blocks(result_.layout_, band, source_, statistics, first);
        scales_of(statistics, std::span(result_.scales_).subspan(first, blocks));
      }
    }

    block_storage& to_;
    block_storage result_;
    value_source<Value> source_;
    block_rules rules_;
    Round round_;
    bool counts_nonfinite_ = false;
    bool takes_memory_ = false;  // that of the elements which are there
  };

  /// Rounds `part` from a source that does not depend on it; blocks in which something does not fit grow.
  template <class Value, class Statistic, class Round>
  void write(const region& part, const value_source<Value>& source, const block_rules& rules,
             scale_rule<Statistic> choose, const Round& round) {
    grid().for_each_block(part, [&](std::ptrdiff_t number, const region& piece) {
      Statistic s;
      nonfinite_ += kernel::survey(source.block(piece), s);
      Scale needed(rules.smallest);
      choose(std::span<const Statistic>(&s, 1), std::span(&needed, 1));
      admit(number, static_cast<float>(needed), rules, round);
    });
    round_into_scales(part, source, rules, round);
  }

  void swap(block_storage& other) noexcept {
    std::swap(layout_, other.layout_);
    std::swap(block_cols_, other.block_cols_);
    mantissas_.swap(other.mantissas_);
    scales_.swap(other.scales_);
    std::swap(nonfinite_, other.nonfinite_);
  }

 private:
  const block_grid& grid() const { return layout_.grid; }
  /// Room for so much, so that what follows cannot fail.
  void reserve(std::size_t scales, std::size_t mantissas) {
    scales_.reserve(scales);
    mantissas_.reserve(mantissas);
  }
  /// A new shape, but for the mantissas.
  void reshape(const block_grid& grid, float smallest) {
    layout_.grid = grid;
    block_cols_ = grid.block_cols();
    scales_.assign(static_cast<std::size_t>(grid.count()), Scale(smallest));
    nonfinite_ = 0;
  }

  float scale(std::ptrdiff_t block) const {
    return static_cast<float>(scales_[static_cast<std::size_t>(block)]);
  }
  using scale_memory = std::array<float, kernel::block_scales::most_scales>;
  /// Those of some blocks, put into `to`.
  kernel::block_scales scales_of(const block_lines& blocks, scale_memory& to) const {
    blocks.for_each([&](std::size_t k, std::size_t block) { to[k] = static_cast<float>(scales_[block]); });
    return {std::span(to).first(blocks.count()), blocks.shape};
  }
  matrix_view<const Element> elements() const { return layout_.elements(mantissas_.data()); }
  matrix_view<Element> elements() { return layout_.elements(mantissas_.data()); }

  template <class Value, class Round>
  void round_into_scales(const region& part, const value_source<Value>& source, const block_rules& rules,
                         const Round& round) {
    const auto to = elements();
    for_shared_panels(part, order(), 1, source, [&](const region& panel, const matrix_view<const Value>& x) {
      const auto from = [&](const region& r) {
        return x.block(r.row - panel.row, r.col - panel.col, r.rows, r.cols);
      };
      if constexpr (std::same_as<Value, float>) {
        const bool done = layout_.for_each_piece(panel, [&](const region& r, const block_lines& blocks) {
          const auto order = order_within(r, cols());
          scale_memory scales;
          return kernel::try_quantize_blocks(layout_.as_lines(from(r)),
                                             layout_.as_lines(to.block(r.row, r.col, r.rows, r.cols)),
                                             scales_of(blocks, scales), rules.kind, rules.range, round,
                                             layout_.by_rows() ? order.transposed() : order);
        });
        if (done) return;
      }
      grid().for_each_block(panel, [&](std::ptrdiff_t block, const region& r) {
        kernel::quantize(from(r), to.block(r.row, r.col, r.rows, r.cols), scale(block), rules.kind,
                         rules.range, round, order_within(r, cols()));
      });
    });
  }

  /// Makes room in a block for what needs another scale.
  template <class Round>
  void admit(std::ptrdiff_t block, float needed, const block_rules& rules, const Round& round) {
    const float present = scale(block);
    if (magnitude_bits(needed) <= magnitude_bits(present)) return;
    const float grown = grown_scale(present, needed, rules.smallest, rules.reaching(nonfinite_bits - 1));
    if (magnitude_bits(grown) == magnitude_bits(present)) return;
    const region r = grid().block(block);
    std::vector<float> values(static_cast<std::size_t>(r.rows * r.cols));
    const matrix_view<float> x{values.data(), r.rows, r.cols, r.cols, 1};
    const auto q = elements().block(r.row, r.col, r.rows, r.cols);
    kernel::dequantize<Element>(q, present, x);
    kernel::quantize(x, q, grown, rules.kind, rules.range, round, order_within(r, cols()));
    scales_[static_cast<std::size_t>(block)] = Scale(grown);
  }

  block_layout layout_;
  std::ptrdiff_t block_cols_ = 0;
  std::vector<Element> mantissas_;
  std::vector<Scale> scales_;
  std::size_t nonfinite_ = 0;
};

}  // namespace narrow::inline NARROW_ABI::detail

NARROW_STRICT_END
