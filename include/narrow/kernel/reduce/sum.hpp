// Sums of lines: with the instruction set in use, or in plain C++.
#pragma once

#include "../product/dot.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// What numbers of T are added as, where they do not lie in memory in a form of their own.
template <class T>
using summed_element =
    std::conditional_t<narrow_fixed<T>,
                       std::conditional_t<sizeof(T) == 1, std::int8_t,
                                          std::conditional_t<sizeof(T) == 2, std::int16_t, std::int32_t>>,
                       std::conditional_t<narrowest<T>() == packed_type::bf16, std::uint16_t, float>>;

/// The kernel for lines of summed_element<T>.
template <class T> auto sum_kernel_for(kernel_set t) {
  if constexpr (narrow_fixed<T>)
    return t.get < &kernel_table::sum_integers, sizeof(T) == 1   ? &integer_sum_kernels::int8
                                                : sizeof(T) == 2 ? &integer_sum_kernels::int16
                                                                 : &integer_sum_kernels::int32 > ();
  else
    return t.get < &kernel_table::sum_floats,
           narrowest<T>() == packed_type::bf16 ? &float_sum_kernels::bf16 : &float_sum_kernels::fp32 > ();
}

/// sum over i of a[i stride], float or the exact sum of mantissas. The pieces that are summed up by
/// themselves are as long for every stride, so that the sum is the same.
template <class T> auto sum_of_line(kernel_set t, const T* a, index stride, index n) {
  if constexpr (!narrow_fixed<T> && narrowest<T>() != packed_type::bf16 &&
                narrowest<T>() != packed_type::fp32) {
    return portable::sum(a, stride, n);
  } else {
    using result = decltype(portable::sum(a, stride, n));
    const auto add_pieces = [&]<class Element>(std::type_identity<Element>, const auto& kernel) {
      line_piece<Element, T> piece;
      result total = 0;
      for (index i = 0; i < n; i += piece.max_length) {
        const index count = std::min(piece.max_length, n - i);
        total += kernel(piece.read(t, a + i * stride, stride, count), count);
      }
      return total;
    };
    const auto kernel = sum_kernel_for<T>(t);
    if (!kernel) return portable::sum(a, stride, n);
    if constexpr (coded_as_fp16<T>) {
      if (stride == 1)
        return add_pieces(std::type_identity<codes_of_t<T>>{},
                          t.get<&kernel_table::sum_floats, &float_sum_kernels::fp16>());
    } else if constexpr (lies_in_code_lines<T> && sizeof(T) == 1) {
      if (const auto of_codes = code_lines<T>().sum)
        return add_pieces(std::type_identity<codes_of_t<T>>{}, of_codes);
    }
    return add_pieces(std::type_identity<summed_element<T>>{}, kernel);
  }
}

template <class T> auto sum_of_matrix(kernel_set t, matrix_view<const T> a) {
  if (detail::lies_by_rows(a)) a = a.transposed();
  if (detail::is_one_line(a)) return sum_of_line(t, a.data, 1, a.rows * a.cols);
  decltype(sum_of_line(t, a.data, 1, 0)) total = 0;
  for (index j = 0; j < a.cols; ++j) total += sum_of_line(t, a.col(j).data, a.row_stride, a.rows);
  return total;
}

}  // namespace narrow::kernel

NARROW_STRICT_END
