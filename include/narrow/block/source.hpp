// What a tensor is assigned from: numbers in memory, or computed, in panels that are in memory.
#pragma once

#include <memory>
#include <vector>

#include "../errors.hpp"
#include "../format/limits.hpp"
#include "../kernel/convert.hpp"
#include "../kernel/product.hpp"
#include "../kernel/quantize.hpp"
#include "../kernel/reduce.hpp"
#include "../runtime/thread_pool.hpp"
#include "grid.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI {

/// Which neighbours lie side by side in memory.
enum class storage_order { row_major, column_major };

namespace detail {

constexpr storage_order other_order(storage_order order) {
  return order == storage_order::row_major ? storage_order::column_major : storage_order::row_major;
}

/// A type whose numbers are Values as they are.
template <std::floating_point Value, class T>
inline constexpr bool is_value = std::same_as<T, Value> || std::same_as<T, float>;

/// Any number as Value: as it is where Value holds all T; else rounded to odd, so that rounding to a format
/// of two bits less, to nearest or in a direction, gives what rounding once would have given. In integers,
/// whatever the caller's rounding mode.
template <std::floating_point Value, class T> Value to_value(const T& x) {
  if constexpr (is_value<Value, T>) {
    return x;
  } else if constexpr (narrow_scalar<T> && std::same_as<carried_t<T>, float>) {
    return static_cast<float>(x);
  } else if constexpr (std::same_as<Value, long double>) {
    return static_cast<long double>(x);
  } else if constexpr (narrow_scalar<T> || builtin_arithmetic<T>) {
    using layout = std::conditional_t<std::same_as<Value, float>, binary32, binary64>;
    return std::bit_cast<Value>(pack_code<layout>(unpack(x), rounding::to_odd{}, overflow::ieee{}));
  } else {
    return static_cast<Value>(x);
  }
}

/// The first of float, double and long double that holds every T.
template <class T> constexpr auto holding() {
  constexpr int digits = std::numeric_limits<T>::digits;
  if constexpr (digits <= std::numeric_limits<float>::digits)
    return float{};
  else if constexpr (digits <= std::numeric_limits<double>::digits)
    return double{};
  else
    return static_cast<long double>(0);
}
/// What a tensor is assigned from where its source gives Ts: each is rounded once, from what it is.
template <class T> using value_of = decltype(holding<std::remove_cvref_t<T>>());
/// Its source: a view or a function of (row, column).
template <class Coefficient>
using values_of = value_of<decltype(std::declval<const Coefficient&>()(std::ptrdiff_t{}, std::ptrdiff_t{}))>;

/// Elements that follow one another, as a matrix.
template <class T>
matrix_view<T> stored_matrix(T* data, std::ptrdiff_t rows, std::ptrdiff_t cols, storage_order order) {
  return order == storage_order::row_major ? matrix_view<T>{data, rows, cols, cols, 1}
                                           : matrix_view<T>{data, rows, cols, 1, rows};
}

/// The numbers that a part of a tensor, which begins at (row, col), is assigned from. One type whatever they
/// come from, so that what is done with them is compiled once: only `compute` knows.
template <std::floating_point Value> struct value_source {
  using value_type = Value;

  matrix_view<const Value> values = {};  // in memory; or else
  const void* coefficient = nullptr;     // what they are computed from, anew for each panel
  void (*compute)(const value_source&, const region& part, matrix_view<Value> to) = nullptr;
  std::ptrdiff_t row = 0, col = 0;

  bool in_place() const { return compute == nullptr; }
  /// Some of those in memory.
  matrix_view<const Value> block(const region& r) const {
    return values.block(r.row - row, r.col - col, r.rows, r.cols);
  }
  /// Whether they are in memory, neighbours side by side in lines of this order.
  bool lies_in(storage_order order) const {
    const auto lines = order == storage_order::row_major ? values.transposed() : values;
    return in_place() && (lines.row_stride == 1 || lines.rows <= 1);
  }
  void copy(const region& r, matrix_view<Value> to) const {
    if (in_place())
      kernel::copy(block(r), to);
    else
      compute(*this, {r.row - row, r.col - col, r.rows, r.cols}, to);
  }
};

/// to(i, j) = coefficient(i, j) for a part.
template <std::floating_point Value, class Coefficient>
void compute_values(const value_source<Value>& source, const region& part, matrix_view<Value> to) {
  const auto& at = *static_cast<const Coefficient*>(source.coefficient);
  if constexpr (requires { at.compute(part, to); })  // many at once
    at.compute(part, to);
  else
    kernel::for_each_place(to, [&](std::ptrdiff_t i, std::ptrdiff_t j) {
      to(i, j) = to_value<Value>(at(part.row + i, part.col + j));
    });
}

template <class T, class Value>
concept readable_in_place = is_value<Value, std::remove_const_t<T>>;

/// What a part of a tensor that begins at (row, col) is assigned from, in steps of Value or of what lies in
/// memory: a view, or a function of (row, column), which must outlive it.
template <std::floating_point Value, class Coefficient>
value_source<Value> source_of(const Coefficient& coefficient, std::ptrdiff_t row = 0,
                              std::ptrdiff_t col = 0) {
  return {{}, std::addressof(coefficient), compute_values<Value, Coefficient>, row, col};
}
template <std::floating_point Value, readable_in_place<Value> T>
value_source<std::remove_const_t<T>> source_of(const matrix_view<T>& values, std::ptrdiff_t row = 0,
                                               std::ptrdiff_t col = 0) {
  return {values, nullptr, nullptr, row, col};
}

/// visit(region, values) for all of `within` in panels small enough for the first-level cache, whose values
/// lie in the order. Out of line, as it needs a large frame.
template <std::floating_point Value, class Visit>
[[gnu::noinline]] void for_each_copied_panel(const region& within, storage_order order,
                                             const value_source<Value>& source, const Visit& visit) {
  // Long enough for lines in memory, and not too thin for blocks that lie across them.
  constexpr std::ptrdiff_t elements = 4096, line = 128;
  Value buffer[elements];
  const bool by_rows = order == storage_order::row_major;
  const std::ptrdiff_t length = std::clamp<std::ptrdiff_t>(by_rows ? within.cols : within.rows, 1, line);
  const std::ptrdiff_t lines = elements / length;
  const std::ptrdiff_t rows = by_rows ? lines : length, cols = by_rows ? length : lines;
  for (std::ptrdiff_t i = 0; i < within.rows; i += rows)
    for (std::ptrdiff_t j = 0; j < within.cols; j += cols) {
      const region r{within.row + i, within.col + j, std::min(rows, within.rows - i),
                     std::min(cols, within.cols - j)};
      const auto panel = stored_matrix(buffer, r.rows, r.cols, order);
      source.copy(r, panel);
      visit(r, matrix_view<const Value>(panel));
    }
}

/// The same, but at once where the values are in memory as they are wanted.
template <std::floating_point Value, class Visit>
void for_each_panel(const region& within, storage_order order, const value_source<Value>& source,
                    const Visit& visit) {
  if (source.lies_in(order))
    visit(within, source.block(within));
  else
    for_each_copied_panel(within, order, source, visit);
}

/// The same by several threads at a time where values are in memory, each for some lines in this order,
/// `together` of which are not separated.
template <std::floating_point Value, class Visit>
void for_shared_panels(const region& within, storage_order order, std::ptrdiff_t together,
                       const value_source<Value>& source, const Visit& visit) {
  constexpr std::ptrdiff_t few = 1024;  // too few to look for threads
  if (!source.in_place() || within.rows * within.cols <= few)
    return for_each_panel(within, order, source, visit);
  const bool by_rows = order == storage_order::row_major;
  kernel::in_shares(by_rows ? within.rows : within.cols, together, by_rows ? within.cols : within.rows,
                    [&](std::ptrdiff_t first, std::ptrdiff_t count) {
                      const region share = by_rows
                                               ? region{within.row + first, within.col, count, within.cols}
                                               : region{within.row, within.col + first, within.rows, count};
                      for_each_panel(share, order, source, visit);
                    });
}

/// Makes a source for `part` one that does not depend on the tensor which is written: values in memory stay
/// as they are, computed ones are computed, once, into `copy`.
template <std::floating_point Value>
void make_independent(value_source<Value>& source, const region& part, std::vector<Value>& copy) {
  if (source.in_place()) return;
  copy.resize(static_cast<std::size_t>(part.rows * part.cols));
  const auto values = stored_matrix(copy.data(), part.rows, part.cols, storage_order::column_major);
  source.copy(part, values);
  source = source_of<Value>(values, part.row, part.col);
}

/// The row-major indices of a part of a matrix with so many columns.
inline kernel::element_order order_within(const region& part, std::ptrdiff_t cols) {
  return {element_index(part.row, part.col, cols), static_cast<std::uint64_t>(cols), 1};
}

inline void check_shape(std::string_view type, std::ptrdiff_t rows, std::ptrdiff_t cols) {
  if (rows < 0 || cols < 0)
    detail::fail<std::invalid_argument>(std::string(type) + ": the shape " + shape(rows, cols) +
                                        " must not be negative");
  constexpr std::ptrdiff_t most = std::numeric_limits<std::ptrdiff_t>::max();
  if (cols > 0 && rows > most / cols)
    detail::fail<std::length_error>(std::string(type) + ": the shape " + shape(rows, cols) +
                                    " must have at most " + std::to_string(most) + " elements");
}
inline void check_part(std::string_view type, const region& part, std::ptrdiff_t rows, std::ptrdiff_t cols) {
  if (part.row < 0 || part.col < 0 || part.rows < 0 || part.cols < 0 || part.row > rows - part.rows ||
      part.col > cols - part.cols)
    detail::fail<std::invalid_argument>(
        std::string(type) + ": " + shape(part.rows, part.cols) + " values at (" + std::to_string(part.row) +
        ", " + std::to_string(part.col) + ") are not within a tensor of " + shape(rows, cols));
}

}  // namespace detail

}  // namespace narrow::inline NARROW_ABI

NARROW_STRICT_END
