// How a matrix is divided into tiles that share a scale, and the pieces of it that kernels take.
#pragma once

#include <algorithm>

#include "../../matrix_view.hpp"
#include "table.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// The most scales that a kernel is told at a time, and the most numbers that lie between two kernels.
inline constexpr index max_scales = 256, max_buffered = 2048;
static_assert(max_places <= max_buffered);

/// visit(i, j, height, width) for the rectangles of at most rows x cols that an m x n matrix is cut into, of
/// which the first ones lack `above` rows and `left` columns.
template <class Visit>
void for_each_rectangle(index m, index n, index rows, index cols, index above, index left,
                        const Visit& visit) {
  for (index j = 0, width, next = cols - left; j < n; j += width, next = cols) {
    width = std::min(next, n - j);
    for (index i = 0, height, below = rows - above; i < m; i += height, below = rows) {
      height = std::min(below, m - i);
      visit(i, j, height, width);
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

  /// For an m x n matrix that is one tile.
  static constexpr tile_map all(T& of_tile, index m, index n) { return {&of_tile, 0, 0, m, n}; }

  /// The one of the tile that element (i, j) is in.
  constexpr T& operator()(index i, index j) const {
    return first[(above + i) / rows * down + (left + j) / cols * across];
  }
  constexpr tile_map transposed() const { return {first, across, down, cols, rows, left, above}; }
  /// Of the part of the matrix that begins at element (i, j).
  constexpr tile_map at(index i, index j) const {
    return {&(*this)(i, j), down, across, rows, cols, (above + i) % rows, (left + j) % cols};
  }
  /// Whether an m x n matrix lies in one tile.
  constexpr bool has_one(index m, index n) const { return above + m <= rows && left + n <= cols; }
  /// Of lines that are columns of m elements.
  constexpr block_runs runs() const {
    return {.width = rows, .before = above, .height = cols, .above = left};
  }

  /// visit(i, j, height, width) for the parts of an m x n matrix that lie in one tile each.
  template <class Visit> void for_each_tile(index m, index n, const Visit& visit) const {
    for_each_rectangle(m, n, rows, cols, above, left, visit);
  }
  /// The same for parts whose tiles are few enough for a kernel.
  template <class Visit> void for_each_piece(index m, index n, const Visit& visit) const {
    const index most = (runs().are_narrow() ? max_places : max_buffered) / rows;
    const index along = std::clamp<index>(most, 1, std::min((above + m - 1) / rows + 1, max_scales));
    for_each_rectangle(m, n, along * rows, max_scales / along * cols, above, left, visit);
  }
  /// visit(k, value) for the tiles of an m x n matrix, column by column.
  template <class Visit> void for_each_value(index m, index n, const Visit& visit) const {
    const index tiles_down = (above + m - 1) / rows + 1, tiles_across = (left + n - 1) / cols + 1;
    std::size_t k = 0;
    for (index j = 0; j < tiles_across; ++j)
      for (index i = 0; i < tiles_down; ++i) visit(k++, first[i * down + j * across]);
  }
};

}  // namespace narrow::inline NARROW_ABI::kernel
