// Products of matrices that are small enough to be decoded whole, before they are multiplied as floats.
#pragma once

#include <functional>

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

/// Whether a kernel of small products can store results as C: nothing but a rounding to nearest even.
template <class C, class Round>
inline constexpr bool stores_in_lanes = std::same_as<C, float> ||
                                        (compact_number<C> && std::same_as<Round, rounding::nearest_even>);
template <class Store> inline constexpr bool is_stored_in_lanes = false;
template <class Accumulation, class C, class Round>
inline constexpr bool is_stored_in_lanes<epilogue_store<Accumulation, C, Round>> = stores_in_lanes<C, Round>;

/// A matrix as lines of numbers, which are element_step apart.
template <class T> struct compact_lines {
  T* from;
  index lines, step, length, element_step;

  [[gnu::always_inline]] T* end() const {
    return from + (lines - 1) * step + (length - 1) * element_step + 1;
  }
};
template <class A, class B>
compact_factors<A, B> compact_factors_of(const matrix_view<const A>& a, const matrix_view<const B>& b) {
  return {a.data, b.data, a.row_stride, a.col_stride, b.row_stride, b.col_stride, a.rows, a.cols, b.cols};
}

/// Whether two matrices of lines without negative steps share no memory.
template <class T, class U>
[[gnu::always_inline]] inline bool are_apart(const compact_lines<T>& x, const compact_lines<U>& y) {
  const std::less_equal<const void*> before;
  return x.step >= 0 && x.element_step >= 0 && y.step >= 0 && y.element_step >= 0 &&
         (before(x.end(), y.from) || before(y.end(), x.from));
}

/// The product by the job for these types. False, and nothing is done, where there is none.
template <class A, class B, class C>
[[gnu::always_inline]] inline bool multiply_line(const compact_line<A, B, C>& line) {
  return do_job<compact_line<A, B, C>>([&](const auto& kernel) { kernel(line); });
}
/// The same where the plan would be a compact product, and B shares no memory with c: at once, since to make
/// a plan takes longer than many a product.
template <class A, class B, class C>
[[gnu::always_inline]] inline bool multiply_if_due(const compact_line<A, B, C>& x) {
  return is_compact_line<A, B>(x.depth, x.cols, x.b_term_step, x.b_col_step) &&
         are_apart(compact_lines<const B>{x.b, x.cols, x.b_col_step, x.depth, x.b_term_step},
                   compact_lines<C>{x.c, 1, 0, x.cols, x.c_step}) &&
         multiply_line(x);
}

template <class A, class B, class C>
[[gnu::always_inline]] inline bool multiply_factors(const compact_factors<A, B>& x, C* c,
                                                    const line_steps& steps, float alpha, float beta) {
  return do_job<compact_product<A, B, C>>([&](const auto& kernel) { kernel(x, c, steps, alpha, beta); });
}
template <class A, class B, class C>
[[gnu::always_inline]] inline bool multiply_if_due(const compact_factors<A, B>& x, C* c, index c_row_step,
                                                   float alpha, float beta) {
  const auto lies_in_lines = [](index row_step, index col_step) { return row_step == 1 || col_step == 1; };
  const compact_lines<C> to{c, x.rows, c_row_step, x.cols, 1};
  if (x.rows <= 1 || x.cols <= 1 || x.depth <= 0 || !lies_in_lines(x.a_row_step, x.a_term_step) ||
      !lies_in_lines(x.b_term_step, x.b_col_step) ||
      !are_apart(compact_lines<const A>{x.a, x.rows, x.a_row_step, x.depth, x.a_term_step}, to) ||
      !are_apart(compact_lines<const B>{x.b, x.cols, x.b_col_step, x.depth, x.b_term_step}, to))
    return false;
  // Few multiplications take about as long as the questions after this one, whose answers are known for them.
  if (has_few_numbers(x.rows, x.depth, x.cols)) return multiply_factors(x, c, {c_row_step, 1}, alpha, beta);
  return is_surely_compact(x.rows, x.depth, x.cols) && !is_deep(x.rows, x.depth, x.cols) &&
         raises_no_others(x.cols) &&
         for_compact_parts(x.rows, x.depth, x.cols, [&](index i, index j, index rows, index cols) {
           return multiply_factors(x.part(i, j, rows, cols), c + i * c_row_step + j, {c_row_step, 1}, alpha,
                                   beta);
         });
}
/// c = alpha A B + beta c by the job for these types, which c may share no memory with; but with A, if that
/// is one row. A may be a part of so many rows in all, on which the order of additions depends. False, and
/// nothing is done, where there is none.
template <class A, class B, class C, class Round>
bool multiply_compact(kernel_set t, const matrix_view<const A>& a, const matrix_view<const B>& b,
                      const epilogue<C, Round>& e, index all_rows) {
  return with_decoded_bytes(t, a, [&]<class Left>(const matrix_view<const Left>& left) {
    return with_decoded_bytes(t, b, [&]<class Right>(const matrix_view<const Right>& right) {
      const auto alpha = static_cast<float>(e.alpha), beta = static_cast<float>(e.beta);
      if (all_rows == 1)
        return multiply_line(compact_line<Left, Right, C>{left.data, right.data, e.c.data, left.col_stride,
                                                          right.row_stride, right.col_stride, e.c.col_stride,
                                                          left.cols, right.cols, alpha, beta});
      return multiply_factors(compact_factors_of(left, right), e.c.data, {e.c.row_stride, e.c.col_stride},
                              alpha, beta);
    });
  });
}

/// c = A B + beta c. False, and nothing is done, where there is no kernel.
template <class A, class B>
bool compact_sums(kernel_set t, const matrix_view<const A>& a, const matrix_view<const B>& b,
                  const matrix_view<float>& c, float beta, index all_rows) {
  if constexpr (compact_number<A> && compact_number<B>) {
    return multiply_compact(
        t, a, b, epilogue{c, 1, static_cast<double>(beta), rounding::nearest_even{}, element_order{}},
        all_rows);
  } else {
    float left[max_compact], right[max_compact];
    t.get<&kernel_table::compact>()(
        compact_factors_of(decode_compact(t, a, left), decode_compact(t, b, right)), c.data,
        {c.row_stride, c.col_stride}, 1, beta);
    return true;
  }
}

/// The sums of a deep product, handed to store(0, 0, sums). False, and nothing is done, where there is no
/// kernel.
template <class A, class B, class Store>
bool run_deep(kernel_set t, const matrix_view<const A>& a, const matrix_view<const B>& b,
              const Store& store) {
  constexpr index terms = max_compact / min_skinny_lines;
  float sums[few_lines * min_skinny_lines];
  const matrix_view<float> c{sums, a.rows, b.cols, b.cols, 1};
  for (index p = 0; p < a.cols; p += terms) {
    const index n = std::min(terms, a.cols - p);
    if (!compact_sums(t, a.block(0, p, a.rows, n), b.block(p, 0, n, b.cols), c, p == 0 ? 0.0f : 1.0f, a.rows))
      return false;
  }
  store(0, 0, matrix_view<const float>(c));
  return true;
}

/// The sums of A B, handed to store(i, j, sums), a matrix_view, or stored where it would store them.
template <class A, class B, class Store>
void run_compact(kernel_set t, const matrix_view<const A>& a, const matrix_view<const B>& b,
                 const Store& store) {
  if (is_deep(a.rows, a.cols, b.cols) && run_deep(t, a, b, store)) return;
  const bool done = for_compact_parts(a.rows, a.cols, b.cols, [&](index i, index j, index rows, index cols) {
    const auto left = a.block(i, 0, rows, a.cols);
    const auto right = b.block(0, j, b.rows, cols);
    if constexpr (compact_number<A> && compact_number<B> && is_stored_in_lanes<Store>) {
      return multiply_compact(t, left, right, store.result.block(i, j, rows, cols), a.rows);
    } else {
      float sums[max_compact];
      const index height = max_compact / cols;
      for (index l = 0; l < rows; l += height) {
        const auto part = left.block(l, 0, std::min(height, rows - l), a.cols);
        const matrix_view<float> c{sums, part.rows, cols, cols, 1};
        if (!compact_sums(t, part, right, c, 0, a.rows)) return false;
        store(i + l, j, matrix_view<const float>(c));
      }
      return true;
    }
  });
  if (!done) portable::product<detail::accumulation_traits<A, B>>(a, b, store);
}

}  // namespace narrow::kernel

NARROW_STRICT_END
