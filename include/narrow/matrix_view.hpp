// Matrices that live elsewhere: a pointer, a shape and two strides.
#pragma once

#include <charconv>
#include <cstddef>
#include <ranges>
#include <string>
#include <string_view>

#include "concepts.hpp"
#include "errors.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// A rectangle of the elements of a matrix.
struct region {
  std::ptrdiff_t row = 0, col = 0;
  std::ptrdiff_t rows = 0, cols = 0;

  constexpr region transposed() const { return {col, row, cols, rows}; }
  constexpr region moved(std::ptrdiff_t down, std::ptrdiff_t right) const {
    return {row + down, col + right, rows, cols};
  }
};

}  // namespace detail

/// `rows` x `cols` elements of T at `data`; neighbours in a column are `row_stride` elements apart,
/// neighbours in a row `col_stride`. Strides may be negative. Nothing is owned and nothing is checked.
template <class T> struct matrix_view {
  T* data = nullptr;              ///< element (0, 0)
  std::ptrdiff_t rows = 0;        ///< how many there are
  std::ptrdiff_t cols = 0;        ///< how many there are
  std::ptrdiff_t row_stride = 0;  ///< elements from one row to the next
  std::ptrdiff_t col_stride = 0;  ///< elements from one column to the next

  /// Element (i, j), of which nothing is checked.
  constexpr T& operator()(std::ptrdiff_t i, std::ptrdiff_t j) const {
    return data[i * row_stride + j * col_stride];
  }
  constexpr matrix_view transposed() const { return {data, cols, rows, col_stride, row_stride}; }
  /// Row i, as a matrix of one row.
  constexpr matrix_view row(std::ptrdiff_t i) const {
    return {moved(i * row_stride), 1, cols, row_stride, col_stride};
  }
  /// Column j, as a matrix of one column.
  constexpr matrix_view col(std::ptrdiff_t j) const {
    return {moved(j * col_stride), rows, 1, row_stride, col_stride};
  }
  /// `height` x `width` elements from (i, j) on.
  constexpr matrix_view block(std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t height,
                              std::ptrdiff_t width) const {
    return {moved(i * row_stride + j * col_stride), height, width, row_stride, col_stride};
  }
  /// The elements of a rectangle.
  constexpr matrix_view block(const detail::region& r) const { return block(r.row, r.col, r.rows, r.cols); }
  /// The data `offset` elements on; null where a matrix without elements has no memory.
  constexpr T* moved(std::ptrdiff_t offset) const { return data == nullptr ? data : data + offset; }
  /// The same elements, to be read.
  constexpr operator matrix_view<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, cols, row_stride, col_stride};
  }
};

/// Deduced by the language itself from C++20 on; clang does so from version 17.
template <class T>
matrix_view(T*, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t) -> matrix_view<T>;

/// A contiguous range that knows its size: what every range function of the library takes.
template <class R>
concept sized_array = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;

namespace detail {

/// Whether neighbours in a row lie closer together than neighbours in a column.
template <class T> constexpr bool lies_by_rows(const matrix_view<T>& m) {
  const auto apart = [](std::ptrdiff_t stride) { return stride < 0 ? -stride : stride; };
  return m.cols > 1 && (m.rows <= 1 || apart(m.row_stride) > apart(m.col_stride));
}

/// Whether the elements of the columns, one column after the other, follow one another in memory.
template <class T> constexpr bool is_one_line(const matrix_view<T>& columns) {
  return columns.row_stride == 1 && (columns.cols <= 1 || columns.col_stride == columns.rows);
}

/// The row-major index of an element of a matrix with so many columns.
constexpr std::uint64_t element_index(std::ptrdiff_t row, std::ptrdiff_t col, std::ptrdiff_t cols) {
  return static_cast<std::uint64_t>(row) * static_cast<std::uint64_t>(cols) + static_cast<std::uint64_t>(col);
}

/// The shortest text that reads back as x.
template <std::floating_point T> std::string to_text(T x) {
  char digits[32];
  return std::string(digits, std::to_chars(digits, std::end(digits), x).ptr);
}

inline std::string shape(std::ptrdiff_t rows, std::ptrdiff_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

/// A number of elements, or of rows and columns, which becomes text only where it does not fit.
struct extents {
  std::ptrdiff_t rows, cols;
  template <std::integral N> constexpr extents(N n) : rows(static_cast<std::ptrdiff_t>(n)), cols(-1) {}
  constexpr extents(std::ptrdiff_t row_count, std::ptrdiff_t col_count) : rows(row_count), cols(col_count) {}
  std::string text() const { return cols < 0 ? std::to_string(rows) : shape(rows, cols); }
};

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_shapes(std::string_view function,
                                                                 std::string_view a, extents of_a,
                                                                 std::string_view b, extents of_b) {
  detail::fail<std::invalid_argument>(std::string(function) + ": shapes do not match: " + std::string(a) +
                                      " is " + of_a.text() + ", " + std::string(b) + " is " + of_b.text());
}
inline void check_shapes(bool match, std::string_view function, std::string_view a, extents of_a,
                         std::string_view b, extents of_b) {
  if (!match) refuse_shapes(function, a, of_a, b, of_b);
}

template <class Matrix> constexpr extents extents_of(const Matrix& m) {
  if constexpr (requires { m.rows(); })
    return {m.rows(), m.cols()};
  else
    return {m.rows, m.cols};
}
/// That A and B, and A B and C, have shapes of a product; that x and y have as many elements as A x takes and
/// gives.
inline void check_factors(std::string_view function, extents a, extents b) {
  check_shapes(a.cols == b.rows, function, "A", a, "B", b);
}
inline void check_result(std::string_view function, extents a, extents b, extents c) {
  check_shapes(a.rows == c.rows && b.cols == c.cols, function, "A B", extents(a.rows, b.cols), "C", c);
}
inline void check_vectors(std::string_view function, extents a, std::ptrdiff_t x, std::ptrdiff_t y) {
  check_shapes(a.cols == x, function, "A", a, "x", x);
  check_shapes(a.rows == y, function, "A", a, "y", y);
}

/// A shape, and the lines in memory that it comes to.
[[gnu::noinline]] inline void check_lines(std::ptrdiff_t size, extents of, std::ptrdiff_t lines,
                                          std::ptrdiff_t length, std::ptrdiff_t leading_dimension,
                                          std::string_view function) {
  const auto refuse = [&](const std::string& what) {
    detail::fail<std::invalid_argument>("narrow::" + std::string(function) + ": " + what);
  };
  if (lines < 0 || length < 0) refuse("the shape " + shape(of.rows, of.cols) + " must not be negative");
  if (leading_dimension < length)
    refuse("the leading dimension " + std::to_string(leading_dimension) +
           " must be at least the line length " + std::to_string(length));
  // The last line needs no padding. Compared by division: the product could overflow.
  const bool fits = lines == 0 || length == 0 ||
                    (size >= length && (lines == 1 || (size - length) / leading_dimension >= lines - 1));
  if (!fits)
    refuse("a range of " + std::to_string(size) + " elements is too short for " + std::to_string(lines) +
           " lines of " + std::to_string(length) + ", " + std::to_string(leading_dimension) + " apart");
}
template <sized_array R>
auto checked_matrix(R& range, extents of, std::ptrdiff_t lines, std::ptrdiff_t length,
                    std::ptrdiff_t leading_dimension, std::string_view function) {
  check_lines(static_cast<std::ptrdiff_t>(std::ranges::size(range)), of, lines, length, leading_dimension,
              function);
  return std::ranges::data(range);
}

template <class R> using view_of = matrix_view<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

}  // namespace detail

/// A range read as a matrix whose rows follow one another, `leading_dimension` elements apart (default:
/// `cols`). Throws std::invalid_argument where the range is too short or the leading dimension less than
/// `cols`.
template <sized_array R>
detail::view_of<R> row_major(R&& range, std::ptrdiff_t rows, std::ptrdiff_t cols,
                             std::ptrdiff_t leading_dimension) {
  return {detail::checked_matrix(range, {rows, cols}, rows, cols, leading_dimension, "row_major"), rows, cols,
          leading_dimension, 1};
}
/// Rows that follow one another without gaps.
template <sized_array R> detail::view_of<R> row_major(R&& range, std::ptrdiff_t rows, std::ptrdiff_t cols) {
  return row_major(range, rows, cols, cols);
}

/// A range read as a matrix whose columns follow one another, `leading_dimension` elements apart (default:
/// `rows`). Throws as `row_major` does.
template <sized_array R>
detail::view_of<R> column_major(R&& range, std::ptrdiff_t rows, std::ptrdiff_t cols,
                                std::ptrdiff_t leading_dimension) {
  return {detail::checked_matrix(range, {rows, cols}, cols, rows, leading_dimension, "column_major"), rows,
          cols, 1, leading_dimension};
}
/// Columns that follow one another without gaps.
template <sized_array R>
detail::view_of<R> column_major(R&& range, std::ptrdiff_t rows, std::ptrdiff_t cols) {
  return column_major(range, rows, cols, rows);
}

}  // namespace narrow
