// Products of matrices that are small enough to be decoded whole, before they are multiplied as floats.
#pragma once

#include "../convert/copy.hpp"
#include "../convert/decode.hpp"
#include "plan.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// n numbers of a line as floats.
template <class T> void decode_line_of(kernel_set t, const T* from, index stride, float* to, index n) {
  if (std::same_as<T, float> && stride == 1)
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(float));
  else
    decode(t, from, stride, to, n);
}

/// The numbers of a matrix of at most max_compact ones, as floats in the order in which they lie.
template <class T> matrix_view<const float> decode_compact(kernel_set t, matrix_view<const T> m, float* to) {
  const bool by_rows = detail::lies_by_rows(m);
  const matrix_view<const T> lines = by_rows ? m : m.transposed();
  if (lines.col_stride == 1 && lines.row_stride == lines.cols)
    decode_line_of(t, lines.data, 1, to, lines.rows * lines.cols);
  else
    for (index l = 0; l < lines.rows; ++l)
      decode_line_of(t, lines.data + l * lines.row_stride, lines.col_stride, to + l * lines.cols, lines.cols);
  const matrix_view<const float> decoded{to, lines.rows, lines.cols, lines.cols, 1};
  return by_rows ? decoded : decoded.transposed();
}

template <class A, class B, class Store>
void run_compact(kernel_set t, const matrix_view<const A>& a, const matrix_view<const B>& b,
                 const Store& store) {
  constexpr index room = max_compact + compact_factors::max_spare;
  float left[max_compact], right[room], turned[room], sums[max_compact];
  const auto x = decode_compact(t, a, left);
  auto y = decode_compact(t, b, right);
  float* end = right + y.rows * y.cols;
  if (y.col_stride != 1) {
    const matrix_view<float> rows{turned, y.rows, y.cols, y.cols, 1};
    copy(t, y, rows);
    y = rows;
    end = turned + y.rows * y.cols;
  }
  std::fill_n(end, compact_factors::max_spare, 0.0f);
  t.get<&kernel_table::compact>()(
      {x.data, y.data, x.row_stride, x.col_stride, y.row_stride, x.rows, x.cols, y.cols}, sums);
  store(0, 0, matrix_view{static_cast<const float*>(sums), x.rows, y.cols, y.cols, 1});
}

}  // namespace narrow::kernel

NARROW_STRICT_END
