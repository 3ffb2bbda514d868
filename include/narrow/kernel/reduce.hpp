// The door to sums of numbers.
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
}  // namespace narrow::inline NARROW_ABI::detail

namespace narrow::inline NARROW_ABI::kernel {

/// sum over i of a[i stride]: float, or the exact sum of fixed-point numbers.
template <class A> auto sum(const A* a, index stride, index n) {
  const detail::float_environment guard;
  return detail::sum_of<A>(sum_of_line(a, stride, n));
}

/// The same over all elements of a matrix.
template <class A> auto sum(matrix_view<A> a) {
  using element = std::remove_const_t<A>;
  const detail::float_environment guard;
  return detail::sum_of<element>(sum_of_matrix<element>(a));
}

/// x[i] *= factor, each product rounded to float.
inline void scale_in_place(float* x, index n, float factor) {
  enter([&](kernel_set t) {
    if (const auto kernel = t.get<&kernel_table::combine>())
      kernel(x, tile_shape::line(n), factor, 0, x);
    else
      for (index i = 0; i < n; ++i) x[i] *= factor;
  });
}

}  // namespace narrow::inline NARROW_ABI::kernel
