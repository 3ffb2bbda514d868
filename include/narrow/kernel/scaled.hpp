// Blocks of elements that share a scale, by lines where there is a kernel for it, or else in plain C++.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "lines.hpp"

NARROW_STRICT_BEGIN

namespace narrow::kernel {

using portable::element_order;
using portable::element_range;
using portable::scale_kind;

/// The mantissas of fixed-point numbers.
template <class T, class Mantissa> matrix_view<Mantissa> mantissas_of(const matrix_view<T>& m) {
  using memory = std::conditional_t<std::is_const_v<Mantissa>, const void*, void*>;
  return {static_cast<Mantissa*>(static_cast<memory>(m.data)), m.rows, m.cols, m.row_stride, m.col_stride};
}

/// Lines of x times a factor, one after the other, as use(i, j, values, n) has them from (i, j) down; stops
/// where it returns false. False, too, if there is no kernel.
template <class Use> bool for_scaled_lines(matrix_view<const float> x, float factor, const Use& use) {
  const auto multiply = dispatch::instance().kernels().get<&kernel_table::combine>();
  if (!multiply) return false;
  constexpr index longest = 512;
  float values[longest];
  for (index j = 0; j < x.cols; ++j)
    for (index i = 0, n; i < x.rows; i += n) {
      n = std::min(longest, x.rows - i);
      const float* from = &x(i, j);
      if (x.row_stride != 1) {
        for (index k = 0; k < n; ++k) values[k] = x(i + k, j);
        from = values;
      }
      multiply(from, {1, n, n, n}, factor, 0, values);
      if (!use(i, j, values, n)) return false;
    }
  return true;
}

/// q = x / scale for a power of two, by lines. False if there is no kernel, or something is NaN; then what q
/// holds means nothing.
template <narrow_float Element, class Round>
bool encode_block(matrix_view<const float> x, matrix_view<Element> q, float scale, const Round& round,
                  element_order order) {
  if (detail::lies_by_rows(q)) {
    x = x.transposed();
    q = q.transposed();
    order = order.transposed();
  }
  if (q.row_stride != 1 || !(scale > 0)) return false;
  return for_scaled_lines(x, 1 / scale, [&](index i, index j, const float* values, index n) {
    return encode_line<Element, overflow::saturate>(values, &q(i, j), n, round, order(i, j), order.row_step);
  });
}

/// q(i, j) from x(i, j) over one scale, rounded under the index order(i, j).
template <class Element, class Round>
NARROW_KERNEL void quantize_block(matrix_view<const float> x, matrix_view<Element> q, float scale,
                                  scale_kind kind, const element_range& range, const Round& round,
                                  const element_order& order) {
  if constexpr (narrow_fixed<Element>) {
    constexpr float unit = detail::power_of_two(-Element::fraction_length);
    quantize_block(x, mantissas_of<Element, typename Element::bits_type>(q), scale * unit, kind,
                   {range.lowest / unit, range.highest / unit}, round, order);
  } else {
    if constexpr (narrow_float<Element>)
      if (kind == scale_kind::power_of_two && encode_block(x, q, scale, round, order)) return;
    portable::quantize(x, q, scale, kind, range, round, order);
  }
}

/// Scales of rows, which runs of them share.
struct row_scales {
  std::span<const float> values;
  place_runs runs = {};

  /// One for each of so many rows, at most most_places_across.
  std::array<float, most_places_across> by_row(index rows) const {
    std::array<float, most_places_across> result;
    runs.for_each(rows, [&](index run, index row, index end) {
      std::fill(result.begin() + row, result.begin() + end, values[static_cast<std::size_t>(run)]);
    });
    return result;
  }
  /// f of each of them, put into `to`.
  template <class Value, class F>
  std::span<const Value> mapped(std::array<Value, most_places_across>& to, F f) const {
    std::transform(values.begin(), values.end(), to.begin(), f);
    return std::span(to).first(values.size());
  }
};

/// Quantising by columns for scales that are powers of two. False if there is no kernel, or something is NaN;
/// then what q holds means nothing.
template <narrow_float Element, class Round>
bool encode_across(matrix_view<const float> x, matrix_view<Element> q, const row_scales& scales,
                   const Round& round, const element_order& order) {
  const auto multiply = dispatch::instance().kernels().get<&kernel_table::multiply>();
  if (!multiply || !std::all_of(scales.values.begin(), scales.values.end(), [](float s) { return s > 0; }))
    return false;
  std::array<float, most_places_across> by_run, values;
  const row_scales inverse{scales.mapped(by_run, [](float scale) { return 1 / scale; }), scales.runs};
  const auto inverses = inverse.by_row(x.rows);
  for (index j = 0; j < x.cols; ++j) {
    multiply(&x(0, j), inverses.data(), values.data(), x.rows);
    if (!encode_line<Element, overflow::saturate>(values.data(), &q(0, j), q.rows, round, order(0, j),
                                                  order.row_step))
      return false;
  }
  return true;
}

/// q(i, j) from x(i, j) over the scale of row i, at most most_places_across rows, if neighbours in a column
/// lie side by side. False if they do not, or there is no kernel; then what q holds means nothing.
template <class Element, class Round>
NARROW_KERNEL bool quantize_across(matrix_view<const float> x, matrix_view<Element> q,
                                   const row_scales& scales, scale_kind kind, const element_range& range,
                                   const Round& round, const element_order& order) {
  if (x.row_stride != 1 || q.row_stride != 1) return false;
  if constexpr (narrow_fixed<Element>) {
    constexpr float unit = detail::power_of_two(-Element::fraction_length);
    std::array<float, most_places_across> steps;
    const row_scales of_mantissas{scales.mapped(steps, [](float scale) { return scale * unit; }),
                                  scales.runs};
    return quantize_across(x, mantissas_of<Element, typename Element::bits_type>(q), of_mantissas, kind,
                           {range.lowest / unit, range.highest / unit}, round, order);
  } else if constexpr (narrow_float<Element>) {
    return kind == scale_kind::power_of_two && encode_across(x, q, scales, round, order);
  } else {
    using of = quantize_kernels<Element>;
    const auto kernel = portable::kernel_for_policy<Element, Round, &of::nearest_even_across,
                                                    &of::toward_zero_across, &of::stochastic_across>();
    quantization how{0, range.lowest, range.highest, kind == scale_kind::real};
    if (!kernel || !portable::describe(how.draws, round, order, q.rows, q.cols)) return false;
    std::array<double, most_places_across> inverses;
    scales.mapped(inverses, portable::inverse_of);
    kernel(x.data, q.data,
           {.n = q.rows, .lines = q.cols, .from_stride = x.col_stride, .to_stride = q.col_stride}, how,
           scales.runs, inverses.data());
    return true;
  }
}

/// largest[i] = the bits of the largest magnitude in run i of the rows, at most most_places_across of them,
/// if neighbours in a column lie side by side. False if they do not, there is no kernel, or something is not
/// finite.
inline bool survey_across(matrix_view<const float> x, const place_runs& runs,
                          std::span<std::uint32_t> largest) {
  const auto kernel = dispatch::instance().kernels().get<&kernel_table::survey_across>();
  return kernel && x.row_stride == 1 &&
         kernel(x.data, {.n = x.rows, .lines = x.cols, .from_stride = x.col_stride}, runs, largest.data());
}

/// x(i, j) = q(i, j) scale, rounded to float.
template <class Element>
NARROW_KERNEL void dequantize_block(matrix_view<const Element> q, float scale, matrix_view<float> x) {
  if (detail::lies_by_rows(x)) {
    x = x.transposed();
    q = q.transposed();
  }
  if constexpr (narrow_fixed<Element>) {
    constexpr float unit = detail::power_of_two(-Element::fraction_length);
    dequantize_block(mantissas_of<const Element, const typename Element::bits_type>(q), scale * unit, x);
  } else {
    const kernel_set t = dispatch::instance().kernels();
    if constexpr (narrow_float<Element>) {
      const auto multiply = t.get<&kernel_table::combine>();
      if (multiply && x.row_stride == 1) {
        for (index j = 0; j < x.cols; ++j) {
          decode(t, q.col(j).data, q.row_stride, &x(0, j), x.rows);
          multiply(&x(0, j), {1, x.rows, x.rows, x.rows}, scale, 0, &x(0, j));
        }
        return;
      }
    } else {
      const auto kernel = portable::quantizers_of<Element, &quantize_kernels<Element>::dequantize>(t);
      if (kernel && x.row_stride == 1 && q.row_stride == 1) {
        const bool one_line = x.col_stride == x.rows && q.col_stride == q.rows;
        return kernel(q.data, x.data,
                      {.n = one_line ? x.rows * x.cols : x.rows,
                       .lines = one_line ? 1 : x.cols,
                       .from_stride = q.col_stride,
                       .to_stride = x.col_stride},
                      scale);
      }
    }
    for (index j = 0; j < x.cols; ++j)
      for (index i = 0; i < x.rows; ++i)
        x(i, j) = static_cast<float>(static_cast<double>(static_cast<float>(q(i, j))) * double{scale});
  }
}

/// x(i, j) = q(i, j) * the scale of row i, rounded to float, at most most_places_across rows, if neighbours
/// in a column lie side by side. False if they do not, or there is no kernel.
template <class Element>
NARROW_KERNEL bool dequantize_across(matrix_view<const Element> q, const row_scales& scales,
                                     matrix_view<float> x) {
  const auto multiply = dispatch::instance().kernels().get<&kernel_table::multiply>();
  if (!multiply || x.row_stride != 1 || q.row_stride != 1) return false;
  const auto by_row = scales.by_row(x.rows);
  for (index j = 0; j < x.cols; ++j) {
    const auto line = x.block(0, j, x.rows, 1);
    dequantize_block(q.block(0, j, q.rows, 1), 1, line);  // exact
    multiply(line.data, by_row.data(), line.data, line.rows);
  }
  return true;
}

}  // namespace narrow::kernel

NARROW_STRICT_END
