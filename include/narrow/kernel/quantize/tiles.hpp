// How a matrix is divided into tiles that share a scale, and the pieces of it that kernels take.
#pragma once

#include <algorithm>

#include "../../matrix_view.hpp"
#include "table.hpp"

namespace narrow::inline NARROW_ABI::kernel {

using detail::region;

/// Limits of what a kernel is handed: scales at a time (1 KiB), and numbers that one kernel leaves to the
/// next (8 KiB, a quarter of a first-level cache). From min_in_pieces numbers on several tiles at a time pay.
inline constexpr index max_scales = 256, max_buffered = 2048, min_in_pieces = 17;
static_assert(max_places <= max_buffered);

/// visit(part) for the parts of at most rows x cols that an m x n matrix is cut into, of which the first ones
/// lack `above` rows and `left` columns.
template <class Visit>
void for_each_part(index m, index n, index rows, index cols, index above, index left, const Visit& visit) {
  for (index j = 0, width, next = cols - left; j < n; j += width, next = cols) {
    width = std::min(next, n - j);
    for (index i = 0, height, below = rows - above; i < m; i += height, below = rows) {
      height = std::min(below, m - i);
      visit(region{i, j, height, width});
    }
  }
}

/// What each tile of a matrix has, its scale or its statistic: tiles of rows x cols elements, of which the
/// first ones begin `above` rows above and `left` columns left of the matrix. Next to one in memory are those
/// that lie `down` and `across` further.
template <class T> struct tile_map {
  T* first = nullptr;
  index down = 0, across = 0;
  index rows = 1, cols = 1;
  index above = 0, left = 0;

  /// The map of an m x n matrix that is one tile.
  static constexpr tile_map all(T& of_tile, index m, index n) { return {&of_tile, 0, 0, m, n}; }

  /// The one of the tile that element (i, j) is in.
  constexpr T& operator()(index i, index j) const {
    return first[tiles_before(above + i, rows) * down + tiles_before(left + j, cols) * across];
  }
  constexpr tile_map transposed() const { return {first, across, down, cols, rows, left, above}; }
  /// The map of the part of the matrix that begins at element (i, j).
  constexpr tile_map at(index i, index j) const {
    const index tiles_above = tiles_before(above + i, rows), tiles_left = tiles_before(left + j, cols);
    return {first + (tiles_above * down + tiles_left * across),
            down,
            across,
            rows,
            cols,
            above + i - tiles_above * rows,
            left + j - tiles_left * cols};
  }
  /// Few numbers are worth no division.
  static constexpr index tiles_before(index place, index size) { return place < size ? 0 : place / size; }
  /// Whether an m x n matrix lies in one tile.
  constexpr bool has_one(index m, index n) const { return above + m <= rows && left + n <= cols; }
  /// The tiles as kernels see them, which take columns for lines.
  constexpr block_runs runs() const {
    return {.width = rows, .before = above, .height = cols, .above = left};
  }

  /// use_tile(part, value) for the parts of an m x n matrix that lie in one tile each.
  template <class UseTile> void for_each_tile(index m, index n, const UseTile& use_tile) const {
    for_each_part(m, n, rows, cols, above, left,
                  [&](const region& r) { use_tile(r, (*this)(r.row, r.col)); });
  }
  /// try_piece(part, map) for parts with at most max_scales tiles, few enough for a kernel; use_tile, as in
  /// for_each_tile, where that gives false and for matrices that are worth no kernel.
  template <class TryPiece, class UseTile>
  void for_each_piece(index m, index n, const TryPiece& try_piece, const UseTile& use_tile) const {
    if (has_one(m, n)) return use_tile(region{0, 0, m, n}, *first);
    if (m * n < min_in_pieces) return for_each_tile(m, n, use_tile);
    const index most = (runs().are_narrow() ? max_places : max_buffered) / rows;
    const index along = std::clamp<index>(most, 1, std::min(tiles_down(m), max_scales));
    for_each_part(m, n, along * rows, max_scales / along * cols, above, left, [&](const region& r) {
      const tile_map of_part = at(r.row, r.col);
      if (!try_piece(r, of_part))
        of_part.for_each_tile(
            r.rows, r.cols, [&](const region& tile, T& value) { use_tile(tile.moved(r.row, r.col), value); });
    });
  }
  /// How many tiles of an m x n matrix lie one above the other, and side by side.
  constexpr index tiles_down(index m) const { return tiles_before(above + m - 1, rows) + 1; }
  constexpr index tiles_across(index n) const { return tiles_before(left + n - 1, cols) + 1; }
  /// visit(k, value) for the tiles of an m x n matrix, column by column; returns how many there are.
  template <class Visit> index for_each_value(index m, index n, const Visit& visit) const {
    const index height = tiles_down(m), width = tiles_across(n);
    index k = 0;
    for (index j = 0; j < width; ++j)
      for (index i = 0; i < height; ++i) visit(k++, first[i * down + j * across]);
    return k;
  }
};

}  // namespace narrow::kernel
