// Products of matrices that are small enough to be decoded whole, before they are multiplied as floats.
#pragma once

#include "../../simd/jobs.hpp"
#include "../convert/decode.hpp"
#include "epilogue.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// The numbers of a matrix of at most max_compact ones, as floats in the order in which they lie.
template <class T> matrix_view<const float> decode_compact(kernel_set t, matrix_view<const T> m, float* to) {
  const bool by_rows = detail::lies_by_rows(m);
  const matrix_view<const T> columns = by_rows ? m.transposed() : m;
  const index lines = detail::is_one_line(columns) ? 1 : columns.cols,
              length = lines == 1 ? columns.rows * columns.cols : columns.rows;
  for (index l = 0; l < lines; ++l)
    decode(t, columns.data + l * columns.col_stride, columns.row_stride, to + l * length, length);
  const matrix_view<const float> decoded{to, columns.rows, columns.cols, 1, columns.rows};
  return by_rows ? decoded.transposed() : decoded;
}

/// use(m), of numbers of 8 bits as floats, which kernels decode many at a time.
template <class T, class Use> auto with_decoded_bytes(kernel_set t, const matrix_view<const T>& m, Use use) {
  if constexpr (sizeof(T) == 1) {
    float decoded[max_compact];
    return use(decode_compact(t, m, decoded));
  } else {
    return use(m);
  }
}

/// Whether a kernel of small products can store what Store would: nothing but a rounding to nearest even.
template <class Store> inline constexpr bool stores_in_lanes = false;
template <class Accumulation, class C, class Round>
inline constexpr bool stores_in_lanes<epilogue_store<Accumulation, C, Round>> =
    std::same_as<C, float> || (compact_number<C> && std::same_as<Round, rounding::nearest_even>);

template <class A, class B>
compact_factors<A, B> compact_factors_of(const matrix_view<const A>& a, const matrix_view<const B>& b) {
  return {a.data, b.data, a.row_stride, a.col_stride, b.row_stride, b.col_stride, a.rows, a.cols, b.cols};
}

/// c = alpha A B + beta c by the job for these types. False, and nothing is done, where there is none.
template <class A, class B, class C, class Round>
bool multiply_compact(kernel_set t, const matrix_view<const A>& a, const matrix_view<const B>& b,
                      const epilogue<C, Round>& e) {
  return with_decoded_bytes(t, a, [&]<class Left>(const matrix_view<const Left>& left) {
    return with_decoded_bytes(t, b, [&]<class Right>(const matrix_view<const Right>& right) {
      return do_job<compact_product<Left, Right, C>>([&](const auto& kernel) {
        kernel(compact_factors_of(left, right), e.c.data, line_steps{e.c.row_stride, e.c.col_stride},
               static_cast<float>(e.alpha), static_cast<float>(e.beta));
      });
    });
  });
}

/// The sums of A B, handed to store(i, j, sums), a matrix_view, or stored where it would store them.
template <class A, class B, class Store>
void run_compact(kernel_set t, const matrix_view<const A>& a, const matrix_view<const B>& b,
                 const Store& store) {
  if constexpr (!compact_number<A> || !compact_number<B>) {
    float left[max_compact], right[max_compact], sums[max_compact];
    t.get<&kernel_table::compact>()(
        compact_factors_of(decode_compact(t, a, left), decode_compact(t, b, right)), sums, {b.cols, 1}, 1, 0);
    return store(0, 0, matrix_view{static_cast<const float*>(sums), a.rows, b.cols, b.cols, 1});
  } else if constexpr (stores_in_lanes<Store>) {
    if (multiply_compact(t, a, b, store.result)) return;
  } else {
    float sums[max_compact];
    const matrix_view<float> c{sums, a.rows, b.cols, b.cols, 1};
    const rounding::nearest_even round;
    if (multiply_compact(t, a, b, epilogue{c, 1, 0, round, element_order{}}))
      return store(0, 0, matrix_view<const float>(c));
  }
  portable::product<detail::accumulation_traits<A, B>>(a, b, store);
}

}  // namespace narrow::kernel

NARROW_STRICT_END
