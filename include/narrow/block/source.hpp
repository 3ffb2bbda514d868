// What a tensor is assigned from: numbers in memory, or computed in panels.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "../accumulator.hpp"
#include "../errors.hpp"
#include "../format/limits.hpp"
#include "../kernel/convert.hpp"
#include "../kernel/quantize.hpp"
#include "grid.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI {

/// Which neighbours lie side by side in memory.
enum class storage_order { row_major, column_major };

namespace detail {

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
    return std::bit_cast<Value>(
        pack_code<layout_of_built_in_t<Value>>(unpack(x), rounding::to_odd{}, overflow::ieee{}));
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
  matrix_view<const Value> block(const region& r) const { return values.block(r.moved(-row, -col)); }
  /// Some of those that are computed.
  void compute_block(const region& r, matrix_view<Value> to) const {
    compute(*this, r.moved(-row, -col), to);
  }
};

/// The numbers of a source for the part `within`: at once where they are in memory, else computed in panels
/// of this order, one after the other.
template <std::floating_point Value> class source_walk {
 public:
  source_walk(const value_source<Value>& source, const region& within, storage_order order)
      : source_(source),
        within_(within),
        by_rows_(order == storage_order::row_major),
        panels_(turned(within).rows, turned(within).cols) {}

  /// Goes on to the next panel, at first to the first one. False where there is none.
  bool next() {
    if (source_.in_place()) {
      part_ = within_;
      values_ = source_.block(part_);
      return !std::exchange(began_, true);
    }
    if (!panels_.next()) return false;
    const matrix_view<Value> panel = turned(panels_.panel());
    part_ = turned(panels_.part()).moved(within_.row, within_.col);
    source_.compute_block(part_, panel);
    values_ = panel;
    return true;
  }
  const region& part() const { return part_; }
  const matrix_view<const Value>& values() const { return values_; }

 private:
  template <class T> T turned(const T& x) const { return by_rows_ ? x.transposed() : x; }

  const value_source<Value>& source_;
  region within_, part_;
  bool by_rows_, began_ = false;
  matrix_view<const Value> values_;
  kernel::panel_walk<Value> panels_;
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

/// Makes a source for `part` one that does not depend on the tensor which is written: values in memory stay
/// as they are, computed ones are computed, once, into `copy`.
template <std::floating_point Value>
void make_independent(value_source<Value>& source, const region& part, std::vector<Value>& copy) {
  if (source.in_place()) return;
  copy.resize(static_cast<std::size_t>(part.rows * part.cols));
  const auto values = stored_matrix(copy.data(), part.rows, part.cols, storage_order::column_major);
  source.compute_block(part, values);
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
  constexpr std::ptrdiff_t max_size = std::numeric_limits<std::ptrdiff_t>::max();
  if (cols > 0 && rows > max_size / cols)
    detail::fail<std::length_error>(std::string(type) + ": the shape " + shape(rows, cols) +
                                    " must have at most " + std::to_string(max_size) + " elements");
}
inline void check_part(std::string_view type, const region& part, std::ptrdiff_t rows, std::ptrdiff_t cols) {
  if (part.row < 0 || part.col < 0 || part.rows < 0 || part.cols < 0 || part.row > rows - part.rows ||
      part.col > cols - part.cols)
    detail::fail<std::invalid_argument>(
        std::string(type) + ": " + shape(part.rows, part.cols) + " values at (" + std::to_string(part.row) +
        ", " + std::to_string(part.col) + ") are not within a tensor of " + shape(rows, cols));
}

}  // namespace detail

}  // namespace narrow

NARROW_STRICT_END
