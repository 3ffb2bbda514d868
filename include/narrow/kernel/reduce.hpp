// The door to sums over numbers: their sum, their moments, their squares.
#pragma once

#include "reduce/moments.hpp"
#include "reduce/sum.hpp"

namespace narrow::inline NARROW_ABI::detail {
/// A kernel's sum of elements A as the layers above see it.
template <class A, class Sum> auto sum_of(Sum sum) {
  if constexpr (narrow_fixed<A>)
    return fixed_sum<int128, A::fraction_length>(sum);
  else
    return sum;
}
}  // namespace narrow::detail

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// sum over i of a[i stride]: float, or the exact sum of fixed-point numbers.
template <class A> auto sum(const A* a, index stride, index n) {
  return enter_lightly([&](kernel_set t) { return detail::sum_of<A>(sum_of_line(t, a, stride, n)); });
}

/// The sum of all elements of a matrix, column by column, or row by row where rows are what lies in memory.
template <class A> auto sum(matrix_view<A> a) {
  using element = std::remove_const_t<A>;
  return enter_lightly([&](kernel_set t) { return detail::sum_of<element>(sum_of_matrix<element>(t, a)); });
}

/// Adds lines of which n is a multiple of moment_places to the sums.
inline void add_moments(const float* from, const strided_lines& lines, const moment_sums& sums) {
  enter([&](kernel_set t) { add_moments(t, from, lines, sums); });
}

/// Adds to the counts what such lines have.
inline void count_tails(const float* from, const strided_lines& lines, const tail_counts& counts) {
  enter([&](kernel_set t) { count_tails(t, from, lines, counts); });
}

/// Adds the squares of n numbers to square_sums sums.
inline void add_squares(const float* from, index n, double* sums) {
  enter([&](kernel_set t) { add_squares(t, from, n, sums); });
}

/// to[i] += from[i] / divisor, and adds the squares of `to` to square_sums sums.
inline void add_quotients(const float* from, double divisor, double* to, index n, double* sums) {
  enter([&](kernel_set t) { add_quotients(t, from, divisor, to, n, sums); });
}

/// x[i] *= factor, each product rounded to float.
inline void scale_in_place(float* x, index n, float factor) {
  enter([&](kernel_set t) {
    if (const auto kernel = t.get<&kernel_table::axpby>())
      kernel(x, tile_shape::line(n), factor, 0, x);
    else
      for (index i = 0; i < n; ++i) x[i] *= factor;
  });
}

}  // namespace narrow::kernel

NARROW_STRICT_END
