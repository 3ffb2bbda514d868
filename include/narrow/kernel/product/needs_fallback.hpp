// Numbers that a multiplier takes for others: where a factor has one, the product is computed as a wider type.
#pragma once

#include "../../matrix_view.hpp"
#include "packed_type.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// Whether all elements of a matrix lie side by side.
template <class T> constexpr bool is_dense(const matrix_view<T>& m) {
  return (m.row_stride == 1 && m.col_stride == m.rows) || (m.col_stride == 1 && m.row_stride == m.cols);
}

/// The codes of such numbers: as bf16 subnormals, which multipliers take for zeros; as two bf16 what is not
/// finite.
template <packed_type P, class T> constexpr code_range fallback_codes() {
  if constexpr (P == packed_type::bf16 && coded_as_bf16<T>) {
    return {T::layout::magnitude_mask, 1, T::layout::min_normal - 1};
  } else if constexpr (P == packed_type::two_bf16) {
    constexpr auto finite = T::layout::max_finite, mask = T::layout::magnitude_mask;
    return {mask, finite + 1, mask - finite};
  } else {
    return {};
  }
}

/// Whether one of the n numbers from[i * stride] cannot be multiplied as P.
template <packed_type P, class T> bool needs_fallback(kernel_set t, const T* from, index stride, index n) {
  static constexpr code_range codes = fallback_codes<P, T>();
  if (const auto kernel = t.get<&kernel_table::has_code16>(); kernel && stride == 1)
    return kernel(from, n, codes);
  bool any = false;
  for (index i = 0; i < n; ++i)
    any |= static_cast<std::uint16_t>((from[i * stride].bits() & codes.mask) - codes.first) < codes.count;
  return any;
}
template <packed_type P, class T> bool needs_fallback(kernel_set t, matrix_view<const T> m) {
  if constexpr (fallback_codes<P, T>().count == 0) {
    return false;
  } else {
    if (is_dense(m)) return needs_fallback<P>(t, m.data, 1, m.rows * m.cols);
    if (detail::lies_by_rows(m)) m = m.transposed();
    for (index j = 0; j < m.cols; ++j)
      if (needs_fallback<P>(t, m.col(j).data, m.row_stride, m.rows)) return true;
    return false;
  }
}

}  // namespace narrow::inline NARROW_ABI::kernel

NARROW_STRICT_END
