// How a matrix is divided into blocks that share a scale. To add a granularity, add a struct with the two
// members of `per_tensor`.
#pragma once

#include <algorithm>
#include <concepts>

#include "../matrix_view.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// A matrix of rows x cols in blocks of tile_rows x tile_cols; those at the far edges may be smaller. Blocks
/// are counted row by row.
struct block_grid {
  std::ptrdiff_t rows = 0, cols = 0;
  std::ptrdiff_t tile_rows = 1, tile_cols = 1;

  static constexpr std::ptrdiff_t pieces(std::ptrdiff_t length, std::ptrdiff_t size) {
    return length / size + (length % size != 0 ? 1 : 0);
  }
  constexpr std::ptrdiff_t block_rows() const { return pieces(rows, tile_rows); }
  constexpr std::ptrdiff_t block_cols() const { return pieces(cols, tile_cols); }
  constexpr std::ptrdiff_t count() const { return block_rows() * block_cols(); }
  constexpr region whole() const { return {0, 0, rows, cols}; }
  /// The block that an element is in.
  constexpr region block_of(std::ptrdiff_t row, std::ptrdiff_t col) const {
    row -= row % tile_rows;
    col -= col % tile_cols;
    return {row, col, std::min(tile_rows, rows - row), std::min(tile_cols, cols - col)};
  }
};

}  // namespace detail

/// One scale for the whole matrix.
struct per_tensor {
  /// How many rows a block has, of a matrix with so many.
  static constexpr std::ptrdiff_t tile_rows(std::ptrdiff_t rows) { return rows; }
  /// How many columns a block has, of a matrix with so many.
  static constexpr std::ptrdiff_t tile_cols(std::ptrdiff_t cols) { return cols; }
};

/// One scale for each row.
struct per_row : per_tensor {
  static constexpr std::ptrdiff_t tile_rows(std::ptrdiff_t) { return 1; }
};

/// One scale for each column.
struct per_column : per_tensor {
  static constexpr std::ptrdiff_t tile_cols(std::ptrdiff_t) { return 1; }
};

/// One scale for each tile of Rows x Cols elements, counted from the first element of the matrix; the tiles
/// at the far edges may be smaller.
template <int Rows, int Cols> struct tile {
  static_assert(Rows >= 1 && Cols >= 1, "narrow::tile<Rows, Cols>: both must be at least 1");
  static constexpr std::ptrdiff_t tile_rows(std::ptrdiff_t) { return Rows; }
  static constexpr std::ptrdiff_t tile_cols(std::ptrdiff_t) { return Cols; }
};

/// The size of a block from the size of the matrix. All else follows from it.
template <class T>
concept granularity = requires(std::ptrdiff_t n) {
  { T::tile_rows(n) } -> std::same_as<std::ptrdiff_t>;
  { T::tile_cols(n) } -> std::same_as<std::ptrdiff_t>;
};

namespace detail {

/// A block has at least one row and one column, that of an empty matrix too.
template <granularity Block> constexpr block_grid grid_of(std::ptrdiff_t rows, std::ptrdiff_t cols) {
  return {rows, cols, std::max<std::ptrdiff_t>(Block::tile_rows(rows), 1),
          std::max<std::ptrdiff_t>(Block::tile_cols(cols), 1)};
}

/// The rows of blocks above the one that a row is in, of so many rows in all; columns likewise. Where the
/// compiler knows `size` nothing is divided, nor where there is one block.
constexpr std::ptrdiff_t blocks_before(std::ptrdiff_t place, std::ptrdiff_t size, std::ptrdiff_t length) {
  return size >= length ? 0 : place / size;
}

}  // namespace detail

}  // namespace narrow
