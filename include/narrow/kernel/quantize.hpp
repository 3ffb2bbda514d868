// The door to quantising: numbers to elements that share scales, and back, in tiles of any shape. Matrices
// may lie in memory in any way; large ones are shared out among threads.
#pragma once

#include "quantize/panels.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// Adds the magnitudes of all elements to the statistics of their tiles; returns how many are not finite.
/// T: float, double or long double.
template <class T, class Statistic>
std::size_t gather_magnitudes(matrix_view<T> x, const tile_map<Statistic>& statistics) {
  const matrix_view<const T> from = x;
  if (x.rows * x.cols >= min_absmax)
    return enter([&](kernel_set t) { return gather_magnitudes(t, from, statistics); });
  std::size_t nonfinite = 0;  // of few numbers it is found in integers, which need no environment
  statistics.for_each_tile(x.rows, x.cols, [&](const region& r, Statistic& statistic) {
    nonfinite += portable::add_magnitudes(from.block(r), statistic);
  });
  return nonfinite;
}
template <class T, class Statistic> std::size_t gather_magnitudes(matrix_view<T> x, Statistic& statistic) {
  return gather_magnitudes(x, tile_map<Statistic>::all(statistic, x.rows, x.cols));
}
/// How many elements are not finite.
template <class T> std::size_t count_nonfinite(matrix_view<T> x) {
  no_statistic none;
  return gather_magnitudes(x, none);
}

/// What `quantize` and `dequantize` do with kernels, for those who have none yet.
template <class T, class Element, class Scale, class Round>
void quantize(matrix_view<T> x, matrix_view<Element> q, const tile_map<const Scale>& scales, scale_kind kind,
              const element_range& range, const Round& round, const element_order& order) {
  enter([&](kernel_set t) { quantize(t, matrix_view<const T>(x), q, scales, kind, range, round, order); });
}
template <class T, class Element, class Round>
void quantize(matrix_view<T> x, matrix_view<Element> q, float scale, scale_kind kind,
              const element_range& range, const Round& round, const element_order& order) {
  quantize(x, q, tile_map<const float>::all(scale, q.rows, q.cols), kind, range, round, order);
}
template <class Element, class Scale>
void dequantize(matrix_view<const Element> q, const tile_map<const Scale>& scales, matrix_view<float> x) {
  enter([&](kernel_set t) { dequantize(t, q, scales, x); });
}
template <class Element> void dequantize(matrix_view<const Element> q, float scale, matrix_view<float> x) {
  dequantize(q, tile_map<const float>::all(scale, q.rows, q.cols), x);
}

/// q = x 2^fraction_length, rounded by `round` under the index that `order` gives each element to integers of
/// up to 32 bits, which saturate; returns how many elements of x are not finite.
template <class T, class Element, class Round>
std::size_t to_fixed(matrix_view<T> x, matrix_view<Element> q, int fraction_length,
                     const element_range& range, const Round& round, const element_order& order) {
  return enter([&](kernel_set t) {
    return encode_in_steps(t, matrix_view<const T>(x), q, fraction_length, range, round, order);
  });
}

}  // namespace narrow::kernel

NARROW_STRICT_END
