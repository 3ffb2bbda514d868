// Numbers from one matrix to another as they are.
#pragma once

#include <algorithm>
#include <cstring>

#include "../../matrix_view.hpp"
#include "../../simd/dispatch.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// f(i, j) for all places of a matrix, neighbours in its memory one after the other.
template <class T, class F> void for_each_place(const matrix_view<T>& m, const F& f) {
  if (detail::lies_by_rows(m)) {
    for (index i = 0; i < m.rows; ++i)
      for (index j = 0; j < m.cols; ++j) f(i, j);
  } else {
    for (index j = 0; j < m.cols; ++j)
      for (index i = 0; i < m.rows; ++i) f(i, j);
  }
}

/// to(i, j) = from(i, j), matrices of one shape that do not overlap.
template <std::floating_point T> void copy(kernel_set t, matrix_view<const T> from, matrix_view<T> to) {
  if constexpr (sizeof(T) == sizeof(word)) {
    if (detail::lies_by_rows(to)) {
      from = from.transposed();
      to = to.transposed();
    }
    if (const auto turn = t.get<&kernel_table::packing, &packing_kernels::bytes4>();
        turn && from.col_stride == 1 && to.row_stride == 1) {
      constexpr index side = 64, size = sizeof(T);
      word words[side * side];
      for (index i = 0; i < to.rows; i += side)
        for (index j = 0; j < to.cols; j += side) {
          const auto part = to.block(i, j, std::min(side, to.rows - i), std::min(side, to.cols - j));
          turn({.data = reinterpret_cast<const unsigned char*>(&from(i, j)),
                .line_step = from.row_stride * size,
                .depth_step = size,
                .lines = part.rows,
                .readable = part.rows,
                .depth = part.cols},
               side, 0, 0, words);
          for (index k = 0; k < part.cols; ++k)
            std::memcpy(&part(0, k), words + k * side, static_cast<std::size_t>(part.rows * size));
        }
      return;
    }
  }
  for_each_place(to, [&](index i, index j) { to(i, j) = from(i, j); });
}

}  // namespace narrow::kernel
