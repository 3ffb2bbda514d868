// The door to quantising: floats to elements that share scales, and back.
#pragma once

#include "quantize/blocks.hpp"
#include "quantize/wide_elements.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// Adds the magnitudes of all elements of x to the statistic; returns how many are not finite.
/// T: float, double or long double.
template <class T, class Statistic> std::size_t survey(matrix_view<T> x, Statistic& statistic) {
  return portable::survey(matrix_view<const T>(x), statistic);
}
/// How many elements are not finite.
template <class T> std::size_t count_nonfinite(matrix_view<const T> x) {
  portable::no_statistic none;
  return portable::survey(x, none);
}

/// q = x / scale, each element rounded once by `round` under the index that `order` gives it. Integers
/// saturate at the ends of `range`, floating-point elements at their largest finite number; a NaN becomes 0.
/// Over a scale that is NaN numbers become zeros. T: float, double or long double.
template <class T, class Element, class Round>
void quantize(matrix_view<T> x, matrix_view<Element> q, float scale, scale_kind kind,
              const element_range& range, const Round& round, element_order order) {
  const detail::float_environment guard;
  const matrix_view<const T> from = x;
  if (!detail::is_positive(scale)) return quantize_by_nan<std::remove_const_t<T>>(from, q, range);
  if constexpr (std::same_as<const T, const float>)
    quantize_block(from, q, scale, kind, range, round, order);
  else
    quantize_wide_block(from, q, scale, kind, range, round, order);
}

/// The same with scales for blocks of columns. False if there is no kernel for that, or one of them is NaN;
/// then what q holds means nothing.
template <class Element, class Round>
bool try_quantize_blocks(matrix_view<const float> x, matrix_view<Element> q, const block_scales& scales,
                         scale_kind kind, const element_range& range, const Round& round,
                         const element_order& order) {
  const detail::float_environment guard;
  return quantize_blocks(x, q, scales, kind, range, round, order);
}
/// The same as `quantize` for a scale 2^-fraction_length, and integers of up to 32 bits.
template <class T, class Element, class Round>
void quantize_fixed(matrix_view<const T> x, matrix_view<Element> q, int fraction_length,
                    const element_range& range, const Round& round, element_order order) {
  const detail::float_environment guard;
  const double scale = 1 / static_cast<double>(std::uint64_t{1} << fraction_length);
  if constexpr (std::same_as<T, long double>)
    quantize_wide_fixed(x, q, fraction_length, range, round, order);
  else
    portable::quantize(x, q, scale, scale_kind::power_of_two, range, round, order);
}

/// x = q scale, rounded to float.
template <class Element> void dequantize(matrix_view<const Element> q, float scale, matrix_view<float> x) {
  const detail::float_environment guard;
  dequantize_block(q, scale, x);
}

/// The same with scales for blocks of columns. False if there is no kernel for that.
template <class Element>
bool try_dequantize_blocks(matrix_view<const Element> q, const block_scales& scales, matrix_view<float> x) {
  const detail::float_environment guard;
  return dequantize_blocks(q, scales, x);
}

}  // namespace narrow::inline NARROW_ABI::kernel

NARROW_STRICT_END
