// Blocks of elements that share a scale, by lines where there is a kernel for it, or else in plain C++.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "../convert/encode.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

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
  const auto multiply = dispatch::instance().kernels().get<&kernel_table::axpby>();
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

/// q = x / scale for a positive power of two, by lines. False if there is no kernel, or something is NaN;
/// then what q holds means nothing.
template <narrow_float Element, class Round>
bool encode_block(matrix_view<const float> x, matrix_view<Element> q, float scale, const Round& round,
                  element_order order) {
  if (detail::lies_by_rows(q)) {
    x = x.transposed();
    q = q.transposed();
    order = order.transposed();
  }
  if (q.row_stride != 1) return false;
  return for_scaled_lines(x, 1 / scale, [&](index i, index j, const float* values, index n) {
    return encode_line<Element, overflow::saturate>(values, &q(i, j), n, round, order(i, j), order.row_step);
  });
}

/// q(i, j) from x(i, j) over a scale that is NaN, and makes NaNs of all values. Its inverse counts as 0:
/// numbers become zeros, and infinities the largest element.
template <class T, class Element>
void quantize_by_nan(const matrix_view<const T>& x, const matrix_view<Element>& q,
                     const element_range& range) {
  for (index j = 0; j < q.cols; ++j)
    for (index i = 0; i < q.rows; ++i) {
      const auto number = detail::unpack(x(i, j));
      if constexpr (narrow_float<Element>) {
        using layout = typename Element::layout;
        const bool negative = number.of == sign::negative && number.what != detail::kind::nan;
        q(i, j) = number.what == detail::kind::infinite   ? std::numeric_limits<Element>::max()
                  : negative && layout::has_negative_zero ? Element::from_bits(layout::sign_mask)
                                                          : Element();
      } else {
        const double value = number.what == detail::kind::infinite ? range.highest : 0;
        if constexpr (narrow_fixed<Element>)
          q(i, j) = Element(value);
        else
          q(i, j) = static_cast<Element>(value);
      }
    }
}

/// q(i, j) from x(i, j) over one positive scale, rounded under the index order(i, j).
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

/// How many numbers are decoded or scaled in between.
inline constexpr index most_between = 2048;

/// The scales of the blocks of lines, at most most_scales.
struct block_scales {
  static constexpr index most_scales = 256;
  std::span<const float> values;
  block_runs runs = {};

  bool all_positive() const {
    return std::all_of(values.begin(), values.end(), [](float scale) { return detail::is_positive(scale); });
  }
  /// f of each of them, put into `to`.
  template <class Value, class F>
  std::span<const Value> mapped(std::array<Value, most_scales>& to, F f) const {
    std::transform(values.begin(), values.end(), to.begin(), f);
    return std::span(to).first(values.size());
  }
  /// Those of the mantissas of fixed-point elements.
  template <narrow_fixed Element> block_scales of_mantissas(std::array<float, most_scales>& to) const {
    constexpr float unit = detail::power_of_two(-Element::fraction_length);
    return {mapped(to, [](float scale) { return scale * unit; }), runs};
  }
  /// visit(j, count, scales) for so many lines of so many places, those that meet the same scales at a time,
  /// but no more than most_between numbers; stops where that returns false.
  template <class Visit> bool for_each_band(index places, index lines, const Visit& visit) const {
    const index most = most_between / places, width = (runs.before + places + runs.width - 1) / runs.width;
    const float* scales = values.data();
    for (index j = 0, end = runs.height - runs.above; j < lines; end += runs.height, scales += width)
      for (index count; j < std::min(end, lines); j += count) {
        count = std::min({most, end - j, lines - j});
        if (!visit(j, count, scales)) return false;
      }
    return true;
  }
  /// Those of a band, of so many lines.
  block_runs along(index lines) const {
    return {.width = runs.width, .before = runs.before, .height = lines};
  }
};

/// For scales that are positive powers of two. False if there is no kernel, or something is NaN; then what q
/// holds means nothing.
template <narrow_float Element, class Round>
bool encode_blocks(matrix_view<const float> x, matrix_view<Element> q, const block_scales& scales,
                   const Round& round, const element_order& order) {
  const auto scale = dispatch::instance().kernels().get<&kernel_table::scale_blocks>();
  if (!scale || x.rows > most_between || !scales.all_positive()) return false;
  std::array<float, block_scales::most_scales> inverses;
  const block_scales by{scales.mapped(inverses, [](float s) { return 1 / s; }), scales.runs};
  return by.for_each_band(x.rows, x.cols, [&](index j, index lines, const float* factors) {
    float values[most_between];
    scale(&x(0, j), values, {x.rows, lines, x.col_stride, x.rows}, by.along(lines), factors);
    for (index k = 0; k < lines; ++k)
      if (!encode_line<Element, overflow::saturate>(values + k * x.rows, &q(0, j + k), x.rows, round,
                                                    order(0, j + k), order.row_step))
        return false;
    return true;
  });
}

/// q from x over the scales of blocks, if neighbours in a column lie side by side. False if they do not, a
/// scale is NaN, or there is no kernel; then what q holds means nothing.
template <class Element, class Round>
NARROW_KERNEL bool quantize_blocks(matrix_view<const float> x, matrix_view<Element> q,
                                   const block_scales& scales, scale_kind kind, const element_range& range,
                                   const Round& round, const element_order& order) {
  if (x.row_stride != 1 || q.row_stride != 1) return false;
  if constexpr (narrow_fixed<Element>) {
    if (!scales.all_positive()) return false;
    constexpr float unit = detail::power_of_two(-Element::fraction_length);
    std::array<float, block_scales::most_scales> steps;
    return quantize_blocks(x, mantissas_of<Element, typename Element::bits_type>(q),
                           scales.of_mantissas<Element>(steps), kind,
                           {range.lowest / unit, range.highest / unit}, round, order);
  } else if constexpr (narrow_float<Element>) {
    return kind == scale_kind::power_of_two && encode_blocks(x, q, scales, round, order);
  } else {
    const auto kernel = portable::quantize_kernel<Element, Round>();
    quantization how{range.lowest, range.highest, kind == scale_kind::real};
    if (!kernel || !portable::describe(how.draws, round, order, q.rows, q.cols)) return false;
    std::array<double, block_scales::most_scales> inverses;
    scales.mapped(inverses, portable::inverse_of);
    kernel(x.data, q.data, portable::columns_of(x, q), how, scales.runs, inverses.data());
    return true;
  }
}

/// Raises `largest` of each block to the bits of the largest magnitude, if neighbours in a column lie side by
/// side. False if they do not, there is no kernel, or something is not finite.
inline bool survey_blocks(matrix_view<const float> x, const block_runs& runs,
                          std::span<std::uint32_t> largest) {
  const auto kernel = dispatch::instance().kernels().get<&kernel_table::survey>();
  return kernel && x.row_stride == 1 && kernel(x.data, portable::columns_of(x, x), runs, largest.data()) == 0;
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
      const auto multiply = t.get<&kernel_table::axpby>();
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
        const line_block lines = portable::columns_of(q, x).joined();
        return kernel(q.data, x.data, lines, block_runs::one(lines), &scale);
      }
    }
    for (index j = 0; j < x.cols; ++j)
      for (index i = 0; i < x.rows; ++i)
        x(i, j) = static_cast<float>(static_cast<double>(static_cast<float>(q(i, j))) * double{scale});
  }
}

/// x from q and the scales of blocks, if neighbours in a column lie side by side. False if they do not, or
/// there is no kernel.
template <class Element>
NARROW_KERNEL bool dequantize_blocks(matrix_view<const Element> q, const block_scales& scales,
                                     matrix_view<float> x) {
  if (x.row_stride != 1 || q.row_stride != 1) return false;
  const kernel_set t = dispatch::instance().kernels();
  if constexpr (narrow_fixed<Element>) {
    std::array<float, block_scales::most_scales> steps;
    return dequantize_blocks(mantissas_of<const Element, const typename Element::bits_type>(q),
                             scales.of_mantissas<Element>(steps), x);
  } else if constexpr (narrow_float<Element>) {
    const auto scale = t.get<&kernel_table::scale_blocks>();
    if (!scale || x.rows > most_between) return false;
    return scales.for_each_band(x.rows, x.cols, [&](index j, index lines, const float* factors) {
      float values[most_between];
      for (index k = 0; k < lines; ++k) decode(t, &q(0, j + k), 1, values + k * x.rows, x.rows);
      scale(values, &x(0, j), {x.rows, lines, x.rows, x.col_stride}, scales.along(lines), factors);
      return true;
    });
  } else {
    const auto kernel = portable::quantizers_of<Element, &quantize_kernels<Element>::dequantize>(t);
    if (!kernel) return false;
    kernel(q.data, x.data, portable::columns_of(q, x), scales.runs, scales.values.data());
    return true;
  }
}

}  // namespace narrow::inline NARROW_ABI::kernel

NARROW_STRICT_END
