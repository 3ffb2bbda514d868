// Matrices in a block format: integer mantissas and scales in memory, floats to the reader.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "../kernel/interface.hpp"
#include "format.hpp"

NARROW_STRICT_BEGIN

namespace narrow {

/// Which neighbours lie side by side in memory.
enum class storage_order { row_major, column_major };

namespace detail {

/// A type whose numbers are Values as they are.
template <std::floating_point Value, class T>
inline constexpr bool is_value = std::same_as<T, Value> || std::same_as<T, float>;

/// Any number as Value, which a format rounds once more: rounded to odd, so that rounding to nearest or in a
/// direction gives what rounding once would have given; and in integers, whatever the caller's rounding mode.
template <std::floating_point Value, class T> Value to_value(const T& x) {
  if constexpr (is_value<Value, T>) {
    return x;
  } else if constexpr (narrow_scalar<T> && std::same_as<carried_t<T>, float>) {
    return static_cast<float>(x);
  } else if constexpr (narrow_scalar<T> || builtin_arithmetic<T>) {
    using layout = std::conditional_t<std::same_as<Value, float>, binary32, binary64>;
    return std::bit_cast<Value>(pack_code<layout>(unpack(x), rounding::to_odd{}, overflow::ieee{}));
  } else {
    return static_cast<Value>(x);
  }
}

/// Numbers in memory that a part of a tensor, which begins at (row, col), is assigned from: `panel` gives
/// some of them without a copy.
template <std::floating_point Value> struct values_in_memory {
  static constexpr bool in_place = true;
  using value_type = Value;
  matrix_view<const Value> values;
  std::ptrdiff_t row = 0, col = 0;

  matrix_view<const Value> panel(const region& r, Value*) const {
    return values.block(r.row - row, r.col - col, r.rows, r.cols);
  }
};

/// Numbers coefficient(i, j), computed anew for each panel.
template <std::floating_point Value, class Coefficient> struct computed_values {
  static constexpr bool in_place = false;
  using value_type = Value;
  Coefficient coefficient;
  std::ptrdiff_t row = 0, col = 0;

  matrix_view<const Value> panel(const region& r, Value* buffer) const {
    for (std::ptrdiff_t j = 0; j < r.cols; ++j)
      for (std::ptrdiff_t i = 0; i < r.rows; ++i)
        buffer[i + j * r.rows] = to_value<Value>(coefficient(r.row - row + i, r.col - col + j));
    return {buffer, r.rows, r.cols, 1, r.rows};
  }
};

template <class T, class Value>
concept readable_in_place = is_value<Value, std::remove_const_t<T>>;

/// What a part of a tensor that begins at (row, col) is assigned from, in steps of Value or of what lies in
/// memory: a view, or a function of (row, column).
template <std::floating_point Value, class Coefficient>
auto source_of(const Coefficient& coefficient, std::ptrdiff_t row = 0, std::ptrdiff_t col = 0) {
  return computed_values<Value, Coefficient>{coefficient, row, col};
}
template <std::floating_point Value, readable_in_place<Value> T>
auto source_of(const matrix_view<T>& values, std::ptrdiff_t row = 0, std::ptrdiff_t col = 0) {
  return values_in_memory<std::remove_const_t<T>>{values, row, col};
}

/// visit(region, values) for all of `within`, in panels small enough for the first-level cache.
template <class Source, class Visit>
void for_each_panel(const region& within, storage_order order, const Source& source, Visit visit) {
  if constexpr (Source::in_place) {
    visit(within, source.panel(within, nullptr));
  } else {
    // Long enough for lines in memory, and not too thin for blocks that lie across them.
    constexpr std::ptrdiff_t elements = 4096, line = 128;
    typename Source::value_type buffer[elements];
    const bool by_rows = order == storage_order::row_major;
    const std::ptrdiff_t length = std::clamp<std::ptrdiff_t>(by_rows ? within.cols : within.rows, 1, line);
    const block_grid panels{within.rows, within.cols, by_rows ? elements / length : length,
                            by_rows ? length : elements / length};
    for (std::ptrdiff_t number = 0; number < panels.count(); ++number) {
      region r = panels.block(number);
      r.row += within.row;
      r.col += within.col;
      visit(r, source.panel(r, buffer));
    }
  }
}

/// use(source) with a source for `part` that does not depend on the tensor which is written: values in memory
/// as they are, computed ones after they were computed, once.
template <std::floating_point Value, class Values, class Use>
void with_independent_source(const region& part, const Values& values, Use use) {
  const auto source = source_of<Value>(values, part.row, part.col);
  if constexpr (source.in_place) {
    use(source);
  } else {
    std::vector<Value> copy(static_cast<std::size_t>(part.rows * part.cols));
    source.panel(part, copy.data());
    use(values_in_memory<Value>{{copy.data(), part.rows, part.cols, 1, part.rows}, part.row, part.col});
  }
}

/// Elements that follow one another, as a matrix.
template <class T>
matrix_view<T> stored_matrix(T* data, std::ptrdiff_t rows, std::ptrdiff_t cols, storage_order order) {
  return order == storage_order::row_major ? matrix_view<T>{data, rows, cols, cols, 1}
                                           : matrix_view<T>{data, rows, cols, 1, rows};
}

/// The row-major indices of a part of a matrix with so many columns.
inline kernel::element_order order_within(const region& part, std::ptrdiff_t cols) {
  return {element_index(part.row, part.col, cols), static_cast<std::uint64_t>(cols), 1};
}

/// The scale of a block that is to hold what asks for the scale `needed`: the present one doubled until it
/// does, but not beyond `largest`, so that a block does not grow often. A block that may be all zeros takes
/// what is needed; NaN, the scale of nothing but NaN, stays and is taken at once. On bits, as subnormal
/// scales ask for.
template <class Step> constexpr float grown_scale(float present, float needed, float largest) {
  const auto bits = [](float x) { return magnitude_bits(x); };
  if (bits(needed) <= bits(present)) return present;
  if (bits(present) == bits(Step::smallest) || bits(needed) > nonfinite_bits) return needed;
  std::uint32_t grown = bits(present);
  while (grown < bits(needed)) grown += grown < binary32::min_normal ? grown : binary32::min_normal;
  return std::bit_cast<float>(std::min(grown, bits(largest)));
}

inline void check_shape(std::string_view type, std::ptrdiff_t rows, std::ptrdiff_t cols) {
  if (rows < 0 || cols < 0)
    throw std::invalid_argument(std::string(type) + ": the shape " + shape(rows, cols) +
                                " must not be negative");
}
inline void check_part(std::string_view type, const region& part, std::ptrdiff_t rows, std::ptrdiff_t cols) {
  if (part.row < 0 || part.col < 0 || part.rows < 0 || part.cols < 0 || part.row > rows - part.rows ||
      part.col > cols - part.cols)
    throw std::invalid_argument(std::string(type) + ": " + shape(part.rows, part.cols) + " values at (" +
                                std::to_string(part.row) + ", " + std::to_string(part.col) +
                                ") reach beyond a tensor of " + shape(rows, cols));
}

}  // namespace detail

/// A rows x cols matrix in a block format.
///
/// Memory    one element (`Format::element_type`) each and one scale (`Format::scale_type`) per block.
/// Value     element (i, j) is mantissa * scale of its block, rounded to float (exact for power-of-two scales
///           while float holds it).
/// Writing   whole assignment chooses every scale anew. Writing a part rounds into the present scales; what
///           does not fit grows its block's scale by a power of two and rounds the block again; a scale only
///           shrinks in whole assignment.
template <block_format Format> class block_tensor {
 public:
  using format = Format;
  using element_type = typename Format::element_type;
  using scale_type = typename Format::scale_type;
  using view_type = block_view<element_type, scale_type>;

  block_tensor() = default;
  block_tensor(const block_tensor&) = default;
  block_tensor(block_tensor&& other) noexcept { swap(other); }
  block_tensor& operator=(const block_tensor&) = default;
  block_tensor& operator=(block_tensor&& other) noexcept {
    swap(other);
    return *this;
  }
  /// All zeros. Throws std::invalid_argument if rows or cols is negative.
  block_tensor(std::ptrdiff_t rows, std::ptrdiff_t cols, storage_order order = storage_order::row_major)
      : order_(order) {
    resize(rows, cols);
  }

  std::ptrdiff_t rows() const { return grid_.rows; }
  std::ptrdiff_t cols() const { return grid_.cols; }
  std::ptrdiff_t size() const { return rows() * cols(); }
  storage_order order() const { return order_; }

  /// What is stored: the elements in storage order, and the scales of the blocks, row by row.
  std::span<const element_type> mantissas() const { return mantissas_; }
  std::span<const scale_type> scales() const { return scales_; }
  view_type view() const {
    const auto blocks = grid_.block_cols();
    return {elements(mantissas_),
            {scales_.data(), grid_.block_rows(), blocks, blocks, 1},
            grid_.tile_rows,
            grid_.tile_cols,
            0,
            0,
            largest};
  }

  /// How many NaNs and infinities were written since the last whole assignment, that one included.
  std::size_t nonfinite() const { return nonfinite_; }

  float operator()(std::ptrdiff_t row, std::ptrdiff_t col) const {
    using block = typename Format::block_type;
    const std::ptrdiff_t place = order_ == storage_order::row_major ? row * cols() + col : row + col * rows();
    const std::ptrdiff_t number = block::block_row(row) * block_cols_ + block::block_col(col);
    const element_type& element = mantissas_[static_cast<std::size_t>(place)];
    const float by = scale(number);
    // Where subnormals take part, the caller's floating-point control register must not.
    if (by > 0x1p-60f) return static_cast<float>(element) * by;
    float value = 0;
    kernel::dequantize<element_type>({&element, 1, 1, 1, 1}, by, {&value, 1, 1, 1, 1});
    return value;
  }

  /// A new shape, all zeros.
  void resize(std::ptrdiff_t rows, std::ptrdiff_t cols) {
    reshape(rows, cols);
    mantissas_.assign(static_cast<std::size_t>(rows * cols), element_type{});
  }

  /// Takes the shape and the values of a matrix, of any narrow or built-in type; it may lie in this tensor's
  /// own values. `clips`, if not empty, replaces the largest magnitude that the scales are chosen from: one
  /// number for all blocks, or one for each; what is larger saturates.
  ///
  /// Throws    std::invalid_argument if there are neither 0, 1 nor scales().size() clips, or one of them is
  ///           negative or not finite.
  template <class T, rounding_policy Round = typename Format::round_policy>
  void assign(matrix_view<T> values, const Round& round = Round{}, std::span<const float> clips = {}) {
    assign(values.rows, values.cols, values, round, clips);
  }
  /// The same from values(row, column), which is asked twice for each coefficient.
  template <class Values, rounding_policy Round = typename Format::round_policy>
  void assign(std::ptrdiff_t rows, std::ptrdiff_t cols, const Values& values, const Round& round = Round{},
              std::span<const float> clips = {}) {
    block_tensor result;  // the values may be computed from what is stored now
    result.order_ = order_;
    result.reshape(rows, cols);
    const auto source = detail::source_of<float>(values);
    result.choose_scales(source, round, clips);
    // No float lies among the elements, so that their memory can serve again where floats are read in place.
    if (source.in_place && rows == this->rows() && cols == this->cols())
      result.mantissas_.swap(mantissas_);
    else
      result.mantissas_.resize(static_cast<std::size_t>(rows * cols));
    result.round_into_scales(result.grid_.whole(), source, round);
    swap(result);
  }

  /// Writes `values` to the part of the matrix that begins at (row, col). Throws std::invalid_argument if
  /// they reach beyond it.
  template <class T, rounding_policy Round = typename Format::round_policy>
  void write(std::ptrdiff_t row, std::ptrdiff_t col, matrix_view<T> values, const Round& round = Round{}) {
    write({row, col, values.rows, values.cols}, values, round);
  }
  /// The same from values(row, column), counted from the first element of `part`.
  template <class Values, rounding_policy Round = typename Format::round_policy>
  void write(const detail::region& part, const Values& values, const Round& round = Round{}) {
    detail::check_part("narrow::block_tensor", part, rows(), cols());
    detail::with_independent_source<float>(part, values, [&](const auto& source) {
      grid_.for_each_block(part, [&](std::ptrdiff_t number, const detail::region& piece) {
        typename Format::write_statistic s;
        nonfinite_ += kernel::survey(source.panel(piece, nullptr), s);
        admit(number, s.bits, round);
      });
      round_into_scales(part, source, round);
    });
  }

  /// to(i, j) = (*this)(i, j). Throws std::invalid_argument naming both shapes if they do not match.
  void dequantize(matrix_view<float> to) const {
    detail::check_shapes(to.rows == rows() && to.cols == cols(), "narrow::block_tensor::dequantize",
                         "the tensor", detail::extents(rows(), cols()), "to",
                         detail::extents(to.rows, to.cols));
    grid_.for_each_block(grid_.whole(), [&](std::ptrdiff_t number, const detail::region& r) {
      kernel::dequantize(elements(mantissas_).block(r.row, r.col, r.rows, r.cols), scale(number),
                         to.block(r.row, r.col, r.rows, r.cols));
    });
  }

  void swap(block_tensor& other) noexcept {
    std::swap(grid_, other.grid_);
    std::swap(block_cols_, other.block_cols_);
    std::swap(order_, other.order_);
    mantissas_.swap(other.mantissas_);
    scales_.swap(other.scales_);
    std::swap(nonfinite_, other.nonfinite_);
  }
  friend void swap(block_tensor& a, block_tensor& b) noexcept { a.swap(b); }

 private:
  /// A new shape, but for the mantissas.
  void reshape(std::ptrdiff_t rows, std::ptrdiff_t cols) {
    detail::check_shape("narrow::block_tensor", rows, cols);
    grid_ = detail::grid_of<typename Format::block_type>(rows, cols);
    block_cols_ = grid_.block_cols();
    scales_.assign(static_cast<std::size_t>(grid_.count()), scale_type(Format::step::smallest));
    nonfinite_ = 0;
  }

  float scale(std::ptrdiff_t block) const {
    return static_cast<float>(scales_[static_cast<std::size_t>(block)]);
  }

  template <class Elements> auto elements(Elements& stored) const {
    return detail::stored_matrix(stored.data(), rows(), cols(), order_);
  }

  template <class Source, class Round>
  void choose_scales(const Source& source, const Round&, std::span<const float> clips) {
    const bool clipped = !clips.empty();
    if (clipped && clips.size() != 1 && clips.size() != scales_.size())
      throw std::invalid_argument("narrow::block_tensor: " + std::to_string(clips.size()) +
                                  " clipping values for " + std::to_string(scales_.size()) +
                                  " blocks; there must be one, or one for each block");
    for (const float clip : clips)
      if (!(clip >= 0 && clip <= std::numeric_limits<float>::max()))
        throw std::invalid_argument("narrow::block_tensor: the clipping value " + detail::to_text(clip) +
                                    " must be finite and not negative");
    std::vector<typename Format::statistic> statistics(scales_.size());
    survey(source, statistics);
    for (std::size_t block = 0; block < scales_.size(); ++block)
      scales_[block] = scale_type(clipped ? Format::step::template reaching<Round>(
                                                detail::magnitude_bits(clips[clips.size() == 1 ? 0 : block]))
                                          : Format::template scale_of<Round>(statistics[block]));
  }

  /// Whether neighbours in memory have scales of their own.
  bool blocks_cross() const {
    return order_ == storage_order::row_major ? grid_.tile_cols == 1 : grid_.tile_rows == 1;
  }

  /// For blocks that cross the lines in memory: visit(piece, block) for pieces of `within` in which all lines
  /// meet the same blocks, number block(k) at place k. False if they do not cross, or a visit was.
  template <class Visit> bool for_each_crossing(const detail::region& within, const Visit& visit) const {
    if (!blocks_cross()) return false;
    const bool by_rows = order_ == storage_order::row_major;
    detail::block_grid pieces = grid_;
    (by_rows ? pieces.tile_cols : pieces.tile_rows) = kernel::most_rows_across;
    bool all = true;
    pieces.for_each_block(within, [&](std::ptrdiff_t, const detail::region& piece) {
      const std::ptrdiff_t step = by_rows ? 1 : grid_.block_cols();
      all = all && visit(piece, [&, first = grid_.block_of(piece.row, piece.col)](std::size_t k) {
              return static_cast<std::size_t>(first) + k * static_cast<std::size_t>(step);
            });
    });
    return all;
  }
  /// With the lines in memory as columns.
  template <class T> matrix_view<T> as_lines(const matrix_view<T>& m) const {
    return order_ == storage_order::row_major ? m.transposed() : m;
  }

  template <class Source, class Statistic>
  void survey(const Source& source, std::vector<Statistic>& statistics) {
    detail::for_each_panel(
        grid_.whole(), order_, source, [&](const detail::region& panel, matrix_view<const float> x) {
          if constexpr (requires { Statistic::largest_suffices; }) {
            const bool done = for_each_crossing(panel, [&](const detail::region& r, const auto& block) {
              const auto lines = as_lines(x.block(r.row - panel.row, r.col - panel.col, r.rows, r.cols));
              std::array<std::uint32_t, kernel::most_rows_across> found{};
              if (!kernel::survey_across(lines, found)) return false;
              for (std::size_t k = 0; k < static_cast<std::size_t>(lines.rows); ++k)
                statistics[block(k)].add(found[k]);
              return true;
            });
            if (done) return;  // else what was added is added again, which changes nothing
          }
          grid_.for_each_block(panel, [&](std::ptrdiff_t block, const detail::region& r) {
            nonfinite_ += kernel::survey(x.block(r.row - panel.row, r.col - panel.col, r.rows, r.cols),
                                         statistics[static_cast<std::size_t>(block)]);
          });
        });
  }

  template <class Source, class Round>
  void round_into_scales(const detail::region& part, const Source& source, const Round& round) {
    const auto to = elements(mantissas_);
    detail::for_each_panel(
        part, order_, source, [&](const detail::region& panel, matrix_view<const float> x) {
          const auto from = [&](const detail::region& r) {
            return x.block(r.row - panel.row, r.col - panel.col, r.rows, r.cols);
          };
          const bool done = for_each_crossing(panel, [&](const detail::region& r, const auto& block) {
            const auto lines = as_lines(to.block(r.row, r.col, r.rows, r.cols));
            std::array<float, kernel::most_rows_across> scales;
            const auto count = static_cast<std::size_t>(lines.rows);
            for (std::size_t k = 0; k < count; ++k) scales[k] = static_cast<float>(scales_[block(k)]);
            const auto order = detail::order_within(r, cols());
            return kernel::try_quantize_rows<typename Format::step>(
                as_lines(from(r)), lines, std::span(scales).first(count), range, round,
                order_ == storage_order::row_major ? order.transposed() : order);
          });
          if (done) return;
          grid_.for_each_block(panel, [&](std::ptrdiff_t block, const detail::region& r) {
            kernel::quantize<typename Format::step>(from(r), to.block(r.row, r.col, r.rows, r.cols),
                                                    scale(block), range, round,
                                                    detail::order_within(r, cols()));
          });
        });
  }

  /// Makes room in a block for a magnitude.
  template <class Round> void admit(std::ptrdiff_t block, std::uint32_t magnitude, const Round& round) {
    const float present = scale(block);
    const float grown = detail::grown_scale<typename Format::step>(
        present, Format::step::template reaching<Round>(magnitude),
        Format::step::template reaching<Round>(detail::nonfinite_bits - 1));
    if (detail::magnitude_bits(grown) == detail::magnitude_bits(present)) return;
    const detail::region r = grid_.block(block);
    const auto whole = elements(mantissas_);
    std::vector<float> values(static_cast<std::size_t>(r.rows * r.cols));
    const matrix_view<float> x{values.data(), r.rows, r.cols, r.cols, 1};
    const auto q = whole.block(r.row, r.col, r.rows, r.cols);
    kernel::dequantize<element_type>(q, present, x);
    kernel::quantize<typename Format::step>(x, q, grown, range, round, detail::order_within(r, cols()));
    scales_[static_cast<std::size_t>(block)] = scale_type(grown);
  }

  /// Of integer elements: what a product of them needs room for.
  static constexpr std::int64_t largest = std::signed_integral<element_type>
                                              ? static_cast<std::int64_t>(Format::limit)
                                              : detail::largest_element<element_type>();
  static constexpr kernel::element_range range{-Format::limit, Format::limit};

  detail::block_grid grid_{0, 0, 1, 1};
  std::ptrdiff_t block_cols_ = 0;
  storage_order order_ = storage_order::row_major;
  std::vector<element_type> mantissas_;
  std::vector<scale_type> scales_;
  std::size_t nonfinite_ = 0;
};

}  // namespace narrow

NARROW_STRICT_END
