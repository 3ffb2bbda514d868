// Elements and the scales of their blocks, of any format: what it is, is known at run time here, so that the
// formats with one type of element share what is compiled.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "../errors.hpp"
#include "../kernel/product.hpp"
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

/// Throws unless there are no clipping values, one, or one for each block, finite and not negative.
inline void check_clips(std::span<const float> clips, std::size_t blocks) {
  if (!clips.empty() && clips.size() != 1 && clips.size() != blocks)
    detail::fail<std::invalid_argument>("narrow::block_tensor: " + std::to_string(clips.size()) +
                                        " clipping values for " + std::to_string(blocks) +
                                        " blocks; there must be one, or one for each block");
  for (const float clip : clips)
    if (magnitude_bits(clip) >= binary32::infinity || clip < 0)
      detail::fail<std::invalid_argument>("narrow::block_tensor: the clipping value " +
                                          to_text(double(clip)) + " must be finite and not negative");
}

/// The scale of a block that is to hold what asks for a larger one, `needed`: the present one doubled until
/// it does, but not beyond `largest`, so that a block does not grow often. A block that may be all zeros,
/// whose scale is `smallest`, takes what is needed; NaN, the scale of nothing but NaN, stays and is taken at
/// once. On bits, as subnormal scales ask for.
inline float grown_scale(float present, float needed, float smallest, float largest) {
  const auto bits = [](float x) { return magnitude_bits(x); };
  if (bits(present) == bits(smallest) || bits(needed) > binary32::infinity) return needed;
  std::uint32_t grown = bits(present);
  while (grown < bits(needed)) grown += grown < binary32::min_normal ? grown : binary32::min_normal;
  return std::bit_cast<float>(std::min(grown, bits(largest)));
}

/// A `block_tensor` but for what its format says. Shapes, parts and grids were checked.
template <class Element, class Scale> class block_storage {
 public:
  std::ptrdiff_t rows() const { return grid_.rows; }
  std::ptrdiff_t cols() const { return grid_.cols; }
  std::ptrdiff_t size() const { return rows() * cols(); }
  storage_order order() const { return order_; }

  /// What is stored: the elements in storage order, and the scales of the blocks, row by row.
  std::span<const Element> mantissas() const { return mantissas_; }
  std::span<const Scale> scales() const { return scales_; }
  /// How many NaNs and infinities were written since the last whole assignment, that one included.
  std::size_t nonfinite() const { return nonfinite_; }

  /// to(i, j) = (*this)(i, j). Throws std::invalid_argument naming both shapes if they do not match.
  void dequantize(matrix_view<float> to) const {
    check_shapes(to.rows == rows() && to.cols == cols(), "narrow::block_tensor::dequantize", "the tensor",
                 extents(rows(), cols()), "to", extents(to.rows, to.cols));
    kernel::dequantize(elements(), per_block(scales_.data()), to);
  }

 protected:
  block_storage() = default;
  explicit block_storage(storage_order order) : order_(order) {}
  block_storage(const block_storage&) = default;
  /// What was moved from is empty, and keeps its order.
  block_storage(block_storage&& other) noexcept : block_storage(other.order()) { swap(other); }
  /// If memory is short, what is there stays.
  block_storage& operator=(const block_storage& other) {
    reserve(other.scales_.size(), other.mantissas_.size());
    grid_ = other.grid_;
    block_cols_ = other.block_cols_;
    order_ = other.order_;
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
            {scales_.data(), grid_.block_rows(), block_cols_, block_cols_, 1},
            grid_.tile_rows,
            grid_.tile_cols,
            0,
            0,
            largest};
  }

  /// The value of an element, whose block is in a row and a column of blocks.
  float value(std::ptrdiff_t row, std::ptrdiff_t col, std::ptrdiff_t block_row,
              std::ptrdiff_t block_col) const {
    const Element& element = elements()(row, col);
    const float by =
        static_cast<float>(scales_[static_cast<std::size_t>(block_row * block_cols_ + block_col)]);
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

  /// The assignment of a whole matrix: scales are chosen, then parts are taken, which together are all of it.
  /// The source may be computed from what is stored, which stays as it is until the end.
  template <class Value, class Statistic, class Round> class whole_assignment {
   public:
    whole_assignment(block_storage& to, const block_grid& grid, const value_source<Value>& source,
                     const block_rules& rules, scale_rule<Statistic> rule, const Round& round)
        : to_(to), result_(to.order()), source_(source), rules_(rules), rule_(rule), round_(round) {
      result_.reshape(grid, rules.smallest);
      // No Value lies among the elements, so that their memory can serve again where Values are read in
      // place.
      takes_memory_ = source.in_place() && grid.rows == to.rows() && grid.cols == to.cols();
      if (!takes_memory_) result_.mantissas_.resize(static_cast<std::size_t>(result_.size()));
    }

    /// The scales at which clipping values fit; where there are none, those that the rule gives, for some
    /// rows of blocks at a time: statistics can be larger than what they are of.
    void choose_scales(kernel::kernel_set t, std::span<const float> clips) {
      auto& scales = result_.scales_;
      check_clips(clips, scales.size());
      counts_nonfinite_ = !clips.empty();
      if (counts_nonfinite_) {
        for (std::size_t block = 0; block < scales.size(); ++block)
          scales[block] = Scale(rules_.reaching(magnitude_bits(clips[clips.size() == 1 ? 0 : block])));
        return;
      }
      constexpr std::ptrdiff_t max_statistics = (std::ptrdiff_t{1} << 24) / sizeof(Statistic);
      const block_grid& grid = result_.grid_;
      const std::ptrdiff_t rows = grid.block_rows(), cols = result_.block_cols_,
                           most = std::max<std::ptrdiff_t>(max_statistics / std::max<std::ptrdiff_t>(cols, 1),
                                                           1);
      Statistic only;  // small matrices of one block are worth no allocation
      std::vector<Statistic> several;
      for (std::ptrdiff_t row = 0, count; row < rows; row += count) {
        count = std::min(most, rows - row);
        const auto first = static_cast<std::size_t>(row * cols),
                   blocks = static_cast<std::size_t>(count * cols);
        if (scales.size() > 1) several.assign(blocks, Statistic{});
        const auto statistics = scales.size() > 1 ? std::span(several.data(), blocks) : std::span(&only, 1);
        const std::ptrdiff_t top = row * grid.tile_rows;
        const region band{top, 0, std::min(count * grid.tile_rows, grid.rows - top), grid.cols};
        for (source_walk<Value> walk(source_, band, to_.order()); walk.next();)
          result_.nonfinite_ += kernel::gather_magnitudes(
              t, walk.values(), result_.per_block(statistics.data(), walk.part().row - top, walk.part().col));
        rule_(statistics, std::span(scales).subspan(first, blocks));
      }
    }
    region whole() const { return result_.grid_.whole(); }
    /// Once a part that is in memory was taken nothing throws.
    void take(kernel::kernel_set t, const region& part) {
      if (counts_nonfinite_)
        for (source_walk<Value> walk(source_, part, result_.order()); walk.next();)
          result_.nonfinite_ += kernel::count_nonfinite(t, walk.values());
      if (std::exchange(takes_memory_, false)) result_.mantissas_.swap(to_.mantissas_);
      result_.encode(t, part, source_, rules_, round_);
    }
    void finish() noexcept { to_.swap(result_); }

   private:
    block_storage& to_;
    block_storage result_;
    value_source<Value> source_;
    block_rules rules_;
    scale_rule<Statistic> rule_;
    Round round_;
    bool counts_nonfinite_ = false;
    bool takes_memory_ = false;  // that of the elements which are there
  };

  /// Rounds `part` from a source in memory that does not depend on it; blocks in which something does not fit
  /// grow.
  template <class Value, class Statistic, class Round>
  void write(const region& part, const value_source<Value>& source, const block_rules& rules,
             scale_rule<Statistic> rule, const Round& round) {
    const auto present = per_block(scales_.data(), part.row, part.col);
    const std::ptrdiff_t across = present.tiles_across(part.cols);
    const auto blocks = static_cast<std::size_t>(across * present.tiles_down(part.rows));
    Statistic only;
    std::vector<Statistic> several(blocks > 1 ? blocks : 0);
    const kernel::tile_map<Statistic> found{blocks > 1 ? several.data() : &only,
                                            across,
                                            1,
                                            present.rows,
                                            present.cols,
                                            present.above,
                                            present.left};
    nonfinite_ += kernel::gather_magnitudes(source.block(part), found);
    present.for_each_tile(part.rows, part.cols, [&](const region& r, Scale& scale) {
      Scale needed(rules.smallest);
      rule(std::span<const Statistic>(&found(r.row, r.col), 1), std::span(&needed, 1));
      grow_scale(scale, static_cast<float>(needed), part.row + r.row, part.col + r.col, rules, round);
    });
    kernel::enter([&](kernel::kernel_set t) { encode(t, part, source, rules, round); });
  }

  /// Takes elements in storage order and scales that fit the shape.
  void take(const block_grid& grid, std::vector<Element> mantissas, std::vector<Scale> scales) noexcept {
    grid_ = grid;
    block_cols_ = grid.block_cols();
    mantissas_ = std::move(mantissas);
    scales_ = std::move(scales);
    nonfinite_ = 0;
  }

  void swap(block_storage& other) noexcept {
    std::swap(grid_, other.grid_);
    std::swap(block_cols_, other.block_cols_);
    std::swap(order_, other.order_);
    mantissas_.swap(other.mantissas_);
    scales_.swap(other.scales_);
    std::swap(nonfinite_, other.nonfinite_);
  }

 private:
  /// Room for so much, so that what follows cannot fail.
  void reserve(std::size_t scales, std::size_t mantissas) {
    scales_.reserve(scales);
    mantissas_.reserve(mantissas);
  }
  /// A new shape, but for the mantissas.
  void reshape(const block_grid& grid, float smallest) {
    grid_ = grid;
    block_cols_ = grid.block_cols();
    scales_.assign(static_cast<std::size_t>(grid.count()), Scale(smallest));
    nonfinite_ = 0;
  }

  matrix_view<const Element> elements() const {
    return stored_matrix(mantissas_.data(), rows(), cols(), order_);
  }
  matrix_view<Element> elements(const region& r) {
    return stored_matrix(mantissas_.data(), rows(), cols(), order_).block(r);
  }
  /// Values of all blocks as those of the part of the matrix that begins at (row, col).
  template <class T>
  kernel::tile_map<T> per_block(T* values, std::ptrdiff_t row = 0, std::ptrdiff_t col = 0) const {
    return kernel::tile_map<T>{values, block_cols_, 1, grid_.tile_rows, grid_.tile_cols}.at(row, col);
  }

  /// Rounds a part under the scales that there are.
  template <class Value, class Round>
  void encode(kernel::kernel_set t, const region& part, const value_source<Value>& source,
              const block_rules& rules, const Round& round) {
    for (source_walk<Value> walk(source, part, order_); walk.next();) {
      const region& r = walk.part();
      kernel::quantize(t, walk.values(), elements(r), per_block(std::as_const(scales_).data(), r.row, r.col),
                       rules.kind, rules.range, round, order_within(r, cols()));
    }
  }

  /// Makes room in the block of an element for what needs another scale.
  template <class Round>
  void grow_scale(Scale& scale, float needed, std::ptrdiff_t row, std::ptrdiff_t col,
                  const block_rules& rules, const Round& round) {
    const auto present = static_cast<float>(scale);
    if (magnitude_bits(needed) <= magnitude_bits(present)) return;
    const float grown = grown_scale(present, needed, rules.smallest, rules.reaching(binary32::infinity - 1));
    if (magnitude_bits(grown) == magnitude_bits(present)) return;
    const region block = grid_.block_of(row, col);
    std::vector<float> values(static_cast<std::size_t>(block.rows * block.cols));
    const matrix_view<float> x{values.data(), block.rows, block.cols, block.cols, 1};
    const auto q = elements(block);
    kernel::dequantize<Element>(q, present, x);
    kernel::quantize(x, q, grown, rules.kind, rules.range, round, order_within(block, cols()));
    scale = Scale(grown);
  }

  block_grid grid_;
  std::ptrdiff_t block_cols_ = 0;
  storage_order order_ = storage_order::row_major;
  std::vector<Element> mantissas_;
  std::vector<Scale> scales_;
  std::size_t nonfinite_ = 0;
};

}  // namespace narrow::detail

NARROW_STRICT_END
