// Matrices in a block format: integer mantissas and scales in memory, floats to the reader.
#pragma once

#include "format.hpp"
#include "storage.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI {

/// A rows x cols matrix in a block format.
///
/// Memory    one element (`Format::element_type`) each and one scale (`Format::scale_type`) per block.
/// Value     element (i, j) is mantissa * scale of its block, rounded to float (exact for power-of-two scales
///           while float holds it).
/// Writing   whole assignment chooses every scale anew. Writing a part rounds into the present scales; what
///           does not fit grows its block's scale by a power of two and rounds the block again; a scale only
///           shrinks in whole assignment.
/// Reading   rows(), cols(), size(), order(); mantissas(), the elements in storage order, and scales(), of the
///           blocks row by row; nonfinite(), how many NaNs and infinities were written since the last whole
///           assignment; dequantize(to), which writes the values to a matrix_view<float> of the same shape.
template <block_format Format>
class block_tensor
    : public detail::block_storage<typename Format::element_type, typename Format::scale_type> {
  using storage = detail::block_storage<typename Format::element_type, typename Format::scale_type>;

 public:
  using format = Format;
  using element_type = typename Format::element_type;
  using scale_type = typename Format::scale_type;
  /// What products read.
  using view_type = block_view<element_type, scale_type>;

  block_tensor() = default;
  /// All zeros. Throws std::invalid_argument if rows or cols is negative, std::length_error if no array can
  /// have so many elements.
  block_tensor(std::ptrdiff_t rows, std::ptrdiff_t cols, storage_order order = storage_order::row_major)
      : storage(order) {
    resize(rows, cols);
  }

  view_type view() const { return storage::view(largest); }

  /// mantissa * scale, rounded to float.
  float operator()(std::ptrdiff_t row, std::ptrdiff_t col) const {
    const detail::block_grid blocks =
        detail::grid_of<typename Format::block_type>(this->rows(), this->cols());
    return storage::value(row, col, detail::blocks_before(row, blocks.tile_rows, blocks.rows),
                          detail::blocks_before(col, blocks.tile_cols, blocks.cols));
  }

  /// A new shape, all zeros.
  void resize(std::ptrdiff_t rows, std::ptrdiff_t cols) {
    storage::resize(grid_of(rows, cols), Format::step::smallest);
  }

  /// Takes the shape and the values of a matrix, of any narrow or built-in type, each rounded once, from what
  /// it is in that type; it may lie in this tensor's own values. `clips`, if not empty, replaces the largest
  /// magnitude that the scales are chosen from: one number for all blocks, or one for each; what is larger
  /// than the largest element times the scale saturates (`int8`: at the clip; powers of two reach up to twice
  /// as far).
  ///
  /// Throws    std::invalid_argument if there are neither 0, 1 nor scales().size() clips, or one of them is
  ///           negative or not finite.
  template <class T, rounding_policy Round = typename Format::round_policy>
  void assign(matrix_view<T> values, const Round& round = Round{}, std::span<const float> clips = {}) {
    assign(values.rows, values.cols, values, round, clips);
  }
  /// Takes the values of a function, values(row, column), which is asked twice for each coefficient.
  template <class Values, rounding_policy Round = typename Format::round_policy>
  void assign(std::ptrdiff_t rows, std::ptrdiff_t cols, const Values& values, const Round& round = Round{},
              std::span<const float> clips = {}) {
    kernel::enter([&](kernel::kernel_set t) {
      auto assignment = begin(rows, cols, values, round);
      assignment.choose_scales(t, clips);
      assignment.take(t, assignment.whole());
      assignment.finish();
    });
  }

  /// Writes `values` to the part of the matrix that begins at (row, col). Throws std::invalid_argument if
  /// they reach beyond it.
  template <class T, rounding_policy Round = typename Format::round_policy>
  void write(std::ptrdiff_t row, std::ptrdiff_t col, matrix_view<T> values, const Round& round = Round{}) {
    write({row, col, values.rows, values.cols}, values, round);
  }
  /// Writes the values of a function, values(row, column), counted from the first element of `part`.
  template <class Values, rounding_policy Round = typename Format::round_policy>
  void write(const detail::region& part, const Values& values, const Round& round = Round{}) {
    detail::check_part("narrow::block_tensor", part, this->rows(), this->cols());
    using Value = detail::values_of<Values>;
    using statistic = statistic_of<typename Format::write_statistic, Value>;
    auto source = detail::source_of<Value>(values, part.row, part.col);
    std::vector<Value> copy;
    detail::make_independent(source, part, copy);
    storage::template write<Value, statistic>(part, source, rules<Round>, scales_reaching<Round, statistic>,
                                              round);
  }

  /// Takes what `mantissas()` and `scales()` gave of a tensor of this format and storage order; nothing is
  /// rounded.
  ///
  /// Throws    as `resize` does; std::invalid_argument if there are not rows * cols mantissas and a scale for each block, a
  ///           mantissa is larger than the format has, or a scale is none of its scales.
  void assign_stored(std::ptrdiff_t rows, std::ptrdiff_t cols, std::vector<element_type> mantissas,
                     std::vector<scale_type> scales) {
    constexpr std::string_view function = "narrow::block_tensor::assign_stored";
    const detail::block_grid grid = grid_of(rows, cols);
    const auto require = [&](const char* what, std::ptrdiff_t there, std::ptrdiff_t due) {
      if (there != due)
        detail::fail<std::invalid_argument>(std::string(function) + ": " + std::to_string(there) + ' ' +
                                            what + " for " + detail::shape(rows, cols) +
                                            " elements, which have " + std::to_string(due));
    };
    require("mantissas", std::ssize(mantissas), rows * cols);
    require("scales", std::ssize(scales), grid.count());
    if constexpr (std::signed_integral<element_type> || narrow_fixed<element_type>)
      for (const element_type q : mantissas)
        if (const auto value = static_cast<float>(q); value > Format::limit || value < -Format::limit)
          detail::fail<std::invalid_argument>(
              std::string(function) + ": the mantissa " + detail::to_text(value) + " must be at most " +
              detail::to_text(static_cast<float>(Format::limit)) + " in magnitude");
    if constexpr (std::same_as<scale_type, float>)
      for (const float s : scales)
        if (!Format::step::is_step(s))
          detail::fail<std::invalid_argument>(std::string(function) + ": the scale " + detail::to_text(s) +
                                              " must be " + Format::step::allowed());
    storage::take(grid, std::move(mantissas), std::move(scales));
  }

  void swap(block_tensor& other) noexcept { storage::swap(other); }
  friend void swap(block_tensor& a, block_tensor& b) noexcept { a.swap(b); }

 private:
  template <block_format F, class T, class Round> friend class tensor_assignment;

  template <class Statistic, class Value>
  using statistic_of = typename detail::statistic_of_values<Statistic, Value>::type;
  template <class Value, class Round>
  using whole_assignment =
      typename storage::template whole_assignment<Value, statistic_of<typename Format::statistic, Value>,
                                                  Round>;
  template <class Values, class Round>
  auto begin(std::ptrdiff_t rows, std::ptrdiff_t cols, const Values& values, const Round& round) {
    using Value = detail::values_of<Values>;
    return whole_assignment<Value, Round>(
        *this, grid_of(rows, cols), detail::source_of<Value>(values), rules<Round>,
        scales_of<Round, statistic_of<typename Format::statistic, Value>>, round);
  }

  static detail::block_grid grid_of(std::ptrdiff_t rows, std::ptrdiff_t cols) {
    detail::check_shape("narrow::block_tensor", rows, cols);
    return detail::grid_of<typename Format::block_type>(rows, cols);
  }

  /// The scales that a whole assignment chooses: the format's, or those at which the largest magnitudes fit.
  template <class Round, class Statistic>
  static void scales_of(std::span<const Statistic> statistics, std::span<scale_type> scales) {
    if constexpr (requires(const Statistic& s) { Format::template scale_of<Round>(s); })
      for (std::size_t block = 0; block < scales.size(); ++block)
        scales[block] = scale_type(Format::template scale_of<Round>(statistics[block]));
    else
      scales_reaching<Round>(statistics, scales);
  }
  /// The scales at which the largest magnitudes fit.
  template <class Round, class Statistic>
  static void scales_reaching(std::span<const Statistic> statistics, std::span<scale_type> scales) {
    for (std::size_t block = 0; block < scales.size(); ++block)
      scales[block] = scale_type(Format::step::template reaching<Round>(statistics[block].bits));
  }

  /// The largest magnitude of an integer element, which a product needs room for.
  static constexpr std::int64_t largest = std::signed_integral<element_type>
                                              ? static_cast<std::int64_t>(Format::limit)
                                              : detail::largest_element<element_type>();
  template <class Round>
  static constexpr detail::block_rules rules{
      {-double(Format::limit), double(Format::limit)},
      Format::step::power_of_two ? kernel::scale_kind::power_of_two : kernel::scale_kind::real,
      Format::step::smallest,
      &Format::step::template reaching<Round>};
};

}  // namespace narrow

NARROW_STRICT_END
