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
    return enter([&](kernel_set t) { return gather_in_shares(t, from, statistics); });
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

/// q = x / scale, each element rounded once by `round` under the index that `order` gives it. Integers
/// saturate at the ends of `range`, floating-point elements at their largest finite number; a NaN becomes 0.
/// Over a scale that is NaN numbers become zeros. T: float, double or long double.
template <class T, class Element, class Scale, class Round>
void quantize(matrix_view<T> x, matrix_view<Element> q, const tile_map<const Scale>& scales, scale_kind kind,
              const element_range& range, const Round& round, const element_order& order) {
  enter([&](kernel_set t) {
    const auto stored = stored_elements(q);
    constexpr float unit = unit_of_stored<Element>;
    using stored_type = std::remove_pointer_t<decltype(stored.data)>;
    const encoder<stored_type, Round> by{
        t, kind, {range.lowest / double(unit), range.highest / double(unit)}, round, unit};
    encode_in_shares(by, matrix_view<const T>(x), stored, scales, order);
  });
}
template <class T, class Element, class Round>
void quantize(matrix_view<T> x, matrix_view<Element> q, float scale, scale_kind kind,
              const element_range& range, const Round& round, const element_order& order) {
  quantize(x, q, tile_map<const float>::all(scale, q.rows, q.cols), kind, range, round, order);
}

/// q = x 2^fraction_length, rounded likewise to integers of up to 32 bits; returns how many elements of x are
/// not finite.
template <class T, class Element, class Round>
std::size_t to_fixed(matrix_view<T> x, matrix_view<Element> q, int fraction_length,
                     const element_range& range, const Round& round, const element_order& order) {
  return enter([&](kernel_set t) {
    return encode_in_steps(t, matrix_view<const T>(x), q, fraction_length, range, round, order);
  });
}

/// x = q scale, rounded to float.
template <class Element, class Scale>
void dequantize(matrix_view<const Element> q, const tile_map<const Scale>& scales, matrix_view<float> x) {
  enter([&](kernel_set t) { decode_lines(t, stored_elements(q), scales, unit_of_stored<Element>, x); });
}
template <class Element> void dequantize(matrix_view<const Element> q, float scale, matrix_view<float> x) {
  dequantize(q, tile_map<const float>::all(scale, q.rows, q.cols), x);
}

}  // namespace narrow::kernel

NARROW_STRICT_END
