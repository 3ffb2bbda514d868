// Matrices in tiles by the kernels of an instruction set where it has them, or else one number at a time. All
// matrices have lines for columns: kernels want neighbours in a column side by side in memory.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "../convert/encode.hpp"
#include "tiles.hpp"
#include "wide_elements.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

using portable::element_order;
using portable::element_range;
using portable::scale_kind;

/// Elements as kernels take them: fixed-point numbers are integers, in units of their last bit.
template <class Element> matrix_view<Element> stored_elements(const matrix_view<Element>& m) { return m; }
template <class Element>
requires narrow_fixed<std::remove_const_t<Element>>
auto stored_elements(const matrix_view<Element>& m) {
  using bits = typename Element::bits_type;
  using integer = std::conditional_t<std::is_const_v<Element>, const bits, bits>;
  using memory = std::conditional_t<std::is_const_v<Element>, const void*, void*>;
  return matrix_view<integer>{static_cast<integer*>(static_cast<memory>(m.data)), m.rows, m.cols,
                              m.row_stride, m.col_stride};
}
template <class Element> inline constexpr float unit_of_stored = 1;
template <narrow_fixed Element>
inline constexpr float unit_of_stored<Element> = detail::power_of_two(-Element::fraction_length);

/// The lines of two matrices of one shape.
template <class From, class To>
strided_lines columns_of(const matrix_view<From>& from, const matrix_view<To>& to) {
  return {.n = from.rows, .lines = from.cols, .from_stride = from.col_stride, .to_stride = to.col_stride};
}

// ---- magnitudes

/// Gathers nothing.
struct no_statistic {
  static constexpr bool absmax_suffices = true;
  template <class Magnitude> constexpr void add(Magnitude) {}
};

/// Statistics that need nothing of floats but the largest finite magnitude, and infinity if there are others.
template <class Statistic>
concept absmax_statistic = requires {
  Statistic::absmax_suffices;
};

/// The way to a kernel for the largest magnitude pays from so many numbers on.
inline constexpr index min_absmax = 24;

/// Adds all magnitudes to one statistic; returns how many are not finite.
template <class T, class Statistic>
std::size_t add_magnitudes(kernel_set t, const matrix_view<const T>& x, Statistic& statistic) {
  if constexpr (std::same_as<T, float> && absmax_statistic<Statistic>)
    if (const auto kernel = t.get<&kernel_table::absmax>();
        kernel && x.row_stride == 1 && x.rows * x.cols >= min_absmax) {
      const strided_lines lines = columns_of(x, x).joined();
      std::uint32_t largest = 0;
      const std::size_t nonfinite = kernel(x.data, lines, block_runs::one(lines), &largest);
      statistic.add(largest);
      if (nonfinite != 0) statistic.add(detail::binary32::infinity);
      return nonfinite;
    }
  return portable::add_magnitudes(x, statistic);
}

/// Adds the magnitudes of each tile to its statistic; returns how many are not finite.
template <class T, class Statistic>
std::size_t add_magnitudes(kernel_set t, const matrix_view<const T>& x, const tile_map<Statistic>& map) {
  if (map.has_one(x.rows, x.cols)) return add_magnitudes(t, x, *map.first);
  std::size_t nonfinite = 0;
  const auto try_piece = [&](const region& r, const tile_map<Statistic>& of_part) {
    if constexpr (std::same_as<T, float> && absmax_statistic<Statistic>)
      if (const auto kernel = t.get<&kernel_table::absmax>(); kernel && x.row_stride == 1) {
        const auto part = x.block(r);
        std::uint32_t largest[max_scales];
        std::fill_n(largest, of_part.tiles_down(r.rows) * of_part.tiles_across(r.cols), 0);
        // One by one the tiles tell in which of them something is not finite.
        if (kernel(part.data, columns_of(part, part), of_part.runs(), largest) != 0) return false;
        of_part.for_each_value(r.rows, r.cols, [&](index k, Statistic& s) { s.add(largest[k]); });
        return true;
      }
    return false;
  };
  map.for_each_piece(x.rows, x.cols, try_piece, [&](const region& r, Statistic& statistic) {
    nonfinite += add_magnitudes(t, x.block(r), statistic);
  });
  return nonfinite;
}

// ---- encoding and decoding

/// visit(part, runs, scales) for parts of an m x n matrix of at most max_buffered numbers, whose lines meet
/// the same blocks; stops where it returns false. Lines longer than that are to lie in one block.
template <class Visit>
bool for_each_band(index m, index n, const block_runs& runs, const float* scales, const Visit& visit) {
  const index along = (runs.before + m - 1) / runs.width + 1, most = std::max<index>(max_buffered / m, 1);
  for (index j = 0, end = runs.height - runs.above; j < n; end += runs.height, scales += along)
    for (index width; j < std::min(end, n); j += width) {
      width = std::min({most, end - j, n - j});
      const block_runs of_band{.width = runs.width, .before = runs.before, .height = width};
      for (index i = 0, height; i < m; i += height) {
        height = std::min(max_buffered, m - i);
        if (!visit(region{i, j, height, width}, of_band, scales)) return false;
      }
    }
  return true;
}

/// Scales that were read from a map, as many as a kernel takes, in units of `unit`.
class scale_list {
 public:
  template <class Scale>
  scale_list(const tile_map<const Scale>& map, index m, index n, float unit)
      : count_(map.for_each_value(
            m, n, [&](index k, const Scale& s) { values_[k] = static_cast<float>(s) * unit; })) {}
  std::span<const float> values() const { return {values_, static_cast<std::size_t>(count_)}; }

 private:
  float values_[max_scales];
  index count_;
};

/// How floating-point numbers become Elements: divided by their tile's scale, in units of `unit`, each
/// rounded once under the index that an order gives it, and held to the range.
template <class Element, class Round> struct encoder {
  kernel_set t;
  scale_kind kind;
  element_range range;
  const Round& round;
  float unit = 1;

  template <class T, class Scale>
  void encode(const matrix_view<const T>& x, const matrix_view<Element>& q, const tile_map<const Scale>& map,
              const element_order& order) const {
    if (map.has_one(q.rows, q.cols)) return encode_tile(x, q, static_cast<float>(*map.first) * unit, order);
    const auto try_piece = [&](const region& r, const tile_map<const Scale>& of_part) {
      if constexpr (std::same_as<T, float>)
        if (x.row_stride == 1 && q.row_stride == 1) {
          const scale_list scales(of_part, r.rows, r.cols, unit);
          return encode_by_kernel(x.block(r), q.block(r), scales.values(), of_part.runs(),
                                  order.at(r.row, r.col));
        }
      return false;
    };
    map.for_each_piece(q.rows, q.cols, try_piece, [&](const region& r, const Scale& scale) {
      encode_tile(x.block(r), q.block(r), static_cast<float>(scale) * unit, order.at(r.row, r.col));
    });
  }

  template <class T>
  void encode_tile(const matrix_view<const T>& x, const matrix_view<Element>& q, float scale,
                   const element_order& order) const {
    if (!detail::is_positive(scale)) return portable::encode_over_nan(x, q, range);
    if constexpr (std::same_as<T, float>) {
      const bool in_lines = x.row_stride == 1 && q.row_stride == 1;
      if (q.rows * q.cols >= min_encoded &&
          (in_lines ? encode_by_kernel(x, q, {&scale, 1}, {.width = q.rows, .height = q.cols}, order)
                    : draws && encode_copies(x, q, scale, order)))
        return;
      const double inverse = portable::inverse_of(double(scale));
      if (kind == scale_kind::real)
        portable::encode_elements(x, q, portable::real_quotient{inverse}, range, round, order);
      else
        portable::encode_elements(x, q, portable::exact_quotient{inverse}, range, round, order);
    } else {
      portable::encode_elements(x, q, portable::wide_quotient<T>(scale, kind), range, round, order);
    }
  }

 private:
  static constexpr bool draws = std::same_as<Round, rounding::stochastic>;

  static constexpr index min_encoded = 5;  // fewer numbers do not repay the call of a kernel

  /// Encodes a tile whose neighbours do not lie side by side by way of lines where they do; policies without
  /// draws are too cheap to repay that.
  bool encode_copies(const matrix_view<const float>& x, const matrix_view<Element>& q, float scale,
                     const element_order& order) const {
    constexpr index max_line = 512;
    float floats[max_line];
    Element elements[max_line];
    for (index j = 0; j < q.cols; ++j)
      for (index i = 0; i < q.rows; i += max_line) {
        const index n = std::min(max_line, q.rows - i);
        for (index k = 0; k < n; ++k) floats[k] = x(i + k, j);
        if (!encode_by_kernel({floats, n, 1, 1, n}, {elements, n, 1, 1, n}, {&scale, 1}, {.width = n},
                              order.at(i, j)))
          return false;
        for (index k = 0; k < n; ++k) q(i + k, j) = elements[k];
      }
    return true;
  }

  /// False if there is no kernel, a scale is NaN, or elements are floats and a number is; then what q holds
  /// means nothing.
  bool encode_by_kernel(const matrix_view<const float>& x, const matrix_view<Element>& q,
                        std::span<const float> scales, const block_runs& runs,
                        const element_order& order) const {
    if (!std::all_of(scales.begin(), scales.end(), [](float s) { return detail::is_positive(s); }))
      return false;
    if constexpr (narrow_float<Element>) {
      const auto scale = t.get<&kernel_table::scale_blocks>();
      if (!scale || kind != scale_kind::power_of_two) return false;
      std::array<float, max_scales> inverses;
      std::transform(scales.begin(), scales.end(), inverses.begin(), [](float s) { return 1 / s; });
      const auto encode_band = [&](const region& r, const block_runs& of_band, const float* factors) {
        float values[max_buffered];
        scale(&x(r.row, r.col), values, {r.rows, r.cols, x.col_stride, r.rows}, of_band, factors);
        for (index k = 0; k < r.cols; ++k)
          if (!encode_line<Element, overflow::saturate>(t, values + k * r.rows, &q(r.row, r.col + k), r.rows,
                                                        round, order(r.row, r.col + k), order.row_step))
            return false;
        return true;
      };
      return for_each_band(q.rows, q.cols, runs, inverses.data(), encode_band);
    } else {
      const auto kernel = integer_encoder<Element, Round>(t);
      quantization how{range.lowest, range.highest, kind == scale_kind::real};
      if (!kernel || !portable::describe(how.draws, round, order, q.rows, q.cols)) return false;
      strided_lines lines = columns_of(x, q);
      std::array<double, max_scales> inverses;
      std::transform(scales.begin(), scales.end(), inverses.begin(), portable::inverse_of);
      if (scales.size() > 1) {
        kernel(x.data, q.data, lines, how, runs, inverses.data());
      } else {
        if (!draws || order.col_step == order.row_step * static_cast<std::uint64_t>(q.rows))
          lines = lines.joined();
        kernel(x.data, q.data, lines, how, block_runs::one(lines), inverses.data());
      }
      return true;
    }
  }
};

/// x = q times scales. False if neighbours in a column do not lie side by side, or there is no kernel.
template <class Element>
bool decode_by_kernel(kernel_set t, const matrix_view<const Element>& q, std::span<const float> scales,
                      const block_runs& runs, const matrix_view<float>& x) {
  if (x.row_stride != 1 || q.row_stride != 1) return false;
  if constexpr (narrow_float<Element>) {
    const auto scale = t.get<&kernel_table::scale_blocks>();
    const auto decode_band = [&](const region& r, const block_runs& of_band, const float* factors) {
      float values[max_buffered];
      for (index k = 0; k < r.cols; ++k) decode(t, &q(r.row, r.col + k), 1, values + k * r.rows, r.rows);
      scale(values, &x(r.row, r.col), {r.rows, r.cols, r.rows, x.col_stride}, of_band, factors);
      return true;
    };
    return scale != nullptr && for_each_band(x.rows, x.cols, runs, scales.data(), decode_band);
  } else {
    const auto kernel = integer_kernel<Element, &quantize_kernels<Element>::dequantize>(t);
    if (!kernel) return false;
    const strided_lines lines = scales.size() > 1 ? columns_of(q, x) : columns_of(q, x).joined();
    kernel(q.data, x.data, lines, scales.size() > 1 ? runs : block_runs::one(lines), scales.data());
    return true;
  }
}

/// x = q times its tiles' scales, in units of `unit`.
template <class Element, class Scale>
void decode(kernel_set t, const matrix_view<const Element>& q, const tile_map<const Scale>& map, float unit,
            const matrix_view<float>& x) {
  const auto try_piece = [&](const region& r, const tile_map<const Scale>& of_part) {
    const scale_list scales(of_part, r.rows, r.cols, unit);
    return decode_by_kernel(t, q.block(r), scales.values(), of_part.runs(), x.block(r));
  };
  map.for_each_piece(q.rows, q.cols, try_piece, [&](const region& r, const Scale& stored) {
    const float scale = static_cast<float>(stored) * unit;
    if (!decode_by_kernel(t, q.block(r), std::span(&scale, 1), {.width = r.rows, .height = r.cols},
                          x.block(r)))
      portable::decode_elements(q.block(r), scale, x.block(r));
  });
}

}  // namespace narrow::kernel

NARROW_STRICT_END
