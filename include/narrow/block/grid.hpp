// How a matrix is divided into blocks that share a scale. To add a granularity, add a struct with the members
// of `per_tensor`.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>

#include "../config.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// A rectangle of elements.
struct region {
  std::ptrdiff_t row = 0, col = 0;
  std::ptrdiff_t rows = 0, cols = 0;

  constexpr region transposed() const { return {col, row, cols, rows}; }
};

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
  constexpr std::ptrdiff_t block_of(std::ptrdiff_t row, std::ptrdiff_t col) const {
    return row / tile_rows * block_cols() + col / tile_cols;
  }
  constexpr block_grid transposed() const { return {cols, rows, tile_cols, tile_rows}; }
  constexpr region whole() const { return {0, 0, rows, cols}; }
  constexpr region block(std::ptrdiff_t number) const {
    const std::ptrdiff_t row = number / block_cols() * tile_rows, col = number % block_cols() * tile_cols;
    return {row, col, std::min(tile_rows, rows - row), std::min(tile_cols, cols - col)};
  }

  /// visit(block, piece) for every block that `within` touches, with the piece of `within` that lies in it.
  template <class Visit> void for_each_block(const region& within, Visit visit) const {
    const std::ptrdiff_t across = block_cols(), end_row = within.row + within.rows,
                         end_col = within.col + within.cols, first_col = within.col / tile_cols;
    std::ptrdiff_t block_row = within.row / tile_rows;
    for (std::ptrdiff_t row = within.row, height; row < end_row; row += height, ++block_row) {
      height = std::min(end_row, (block_row + 1) * tile_rows) - row;
      std::ptrdiff_t block_col = first_col;
      for (std::ptrdiff_t col = within.col, width; col < end_col; col += width, ++block_col) {
        width = std::min(end_col, (block_col + 1) * tile_cols) - col;
        visit(block_row * across + block_col, region{row, col, height, width});
      }
    }
  }
};

}  // namespace detail

/// One scale for the whole matrix.
struct per_tensor {
  static constexpr std::ptrdiff_t tile_rows(std::ptrdiff_t rows) { return std::max<std::ptrdiff_t>(rows, 1); }
  static constexpr std::ptrdiff_t tile_cols(std::ptrdiff_t cols) { return std::max<std::ptrdiff_t>(cols, 1); }
  static constexpr std::ptrdiff_t block_row(std::ptrdiff_t) { return 0; }
  static constexpr std::ptrdiff_t block_col(std::ptrdiff_t) { return 0; }
};

/// One scale for each row.
struct per_row : per_tensor {
  static constexpr std::ptrdiff_t tile_rows(std::ptrdiff_t) { return 1; }
  static constexpr std::ptrdiff_t block_row(std::ptrdiff_t row) { return row; }
};

/// One scale for each column.
struct per_column : per_tensor {
  static constexpr std::ptrdiff_t tile_cols(std::ptrdiff_t) { return 1; }
  static constexpr std::ptrdiff_t block_col(std::ptrdiff_t col) { return col; }
};

/// One scale for each tile of Rows x Cols elements, counted from the first element of the matrix; the tiles
/// at the far edges may be smaller.
template <int Rows, int Cols> struct tile {
  static_assert(Rows >= 1 && Cols >= 1, "narrow::tile<Rows, Cols>: both must be at least 1");
  static constexpr std::ptrdiff_t tile_rows(std::ptrdiff_t) { return Rows; }
  static constexpr std::ptrdiff_t tile_cols(std::ptrdiff_t) { return Cols; }
  static constexpr std::ptrdiff_t block_row(std::ptrdiff_t row) { return row / Rows; }
  static constexpr std::ptrdiff_t block_col(std::ptrdiff_t col) { return col / Cols; }
};

/// The size of a block from the size of the matrix, and which row and column of blocks an element is in.
template <class T>
concept granularity = requires(std::ptrdiff_t n) {
  { T::tile_rows(n) } -> std::same_as<std::ptrdiff_t>;
  { T::tile_cols(n) } -> std::same_as<std::ptrdiff_t>;
  { T::block_row(n) } -> std::same_as<std::ptrdiff_t>;
  { T::block_col(n) } -> std::same_as<std::ptrdiff_t>;
};

namespace detail {

template <granularity Block> constexpr block_grid grid_of(std::ptrdiff_t rows, std::ptrdiff_t cols) {
  return {rows, cols, Block::tile_rows(rows), Block::tile_cols(cols)};
}

}  // namespace detail

}  // namespace narrow::inline NARROW_ABI
