// The scales of matrices in blocks: what sums of products of their elements are multiplied by.
#pragma once

#include <cmath>
#include <vector>

#include "../../runtime/scratch.hpp"
#include "block_view.hpp"
#include "plan.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// The product of two scales with the precision of a float and the range of a double: as if floats had more
/// exponents, so that neither a zero sum times an infinite scale nor a lost one can happen.
inline double scale_product(double a, double b) {
  const double exact = a * b;
  if (exact >= 0x1p-126 && exact <= 0x1p127) return static_cast<double>(static_cast<float>(exact));
  int up_a = 0, up_b = 0;
  const double mantissa = std::frexp(a, &up_a) * std::frexp(b, &up_b);
  return std::ldexp(static_cast<double>(static_cast<float>(mantissa)), up_a + up_b);
}

/// values[j] = float(sums[j]) * (row_scale * col_scales[j]), each operation rounded to float.
template <class Accumulation, class Sum>
void scale_row(kernel_set t, const Sum* sums, float row_scale, const float* col_scales, float* values,
               index n) {
  using result = typename Accumulation::result;
  if constexpr (std::same_as<Sum, std::int64_t> &&
                (std::integral<result> || std::same_as<result, detail::int128>))
    if (const auto kernel = t.get<&kernel_table::scale>())
      if (kernel(sums, row_scale, col_scales, values, n)) return;
  const auto scaled = [&](index j, double scale) {
    return static_cast<float>(double(detail::nearest_float(result(sums[j]))) * scale);
  };
  bool plain = true;  // no product of scales beyond the normal floats
  for (index j = 0; j < n; ++j) {
    const double exact = double(row_scale) * double(col_scales[j]);
    plain &= exact >= 0x1p-126 && exact <= 0x1p127;
    values[j] = scaled(j, double(static_cast<float>(exact)));
  }
  if (plain) return;
  for (index j = 0; j < n; ++j)
    values[j] = scaled(j, scale_product(double(row_scale), double(col_scales[j])));
}

/// All elements as floats, row by row.
template <class E, class S> std::vector<float> dequantized(const block_view<E, S>& m) {
  std::vector<float> values(static_cast<std::size_t>(m.rows() * m.cols()));
  for (index i = 0; i < m.rows(); ++i)
    for (index j = 0; j < m.cols(); ++j)
      values[static_cast<std::size_t>(i * m.cols() + j)] =
          static_cast<float>(static_cast<double>(static_cast<float>(m.elements(i, j))) * m.scale(i, j));
  return values;
}

/// Scales of rows, or of columns, of a matrix in blocks, which `read` sets.
class line_scales {
 public:
  explicit line_scales(index n) : scales_(n) {}

  /// Those of the rows of m from its column j on, in units of 1 / unit.
  template <class E, class S> void read(const block_view<E, S>& m, index j, float unit = 1) {
    are_positive_ = true;
    // Places of blocks are counted: to divide for each row would take longer than all else.
    const auto scales = m.scales.col((m.first_col + j) / m.tile_cols);
    index block = m.first_row / m.tile_rows, n = m.constant_rows(0);
    for (index i = 0; i < m.rows(); i += n, n = std::min(m.tile_rows, m.rows() - i), ++block) {
      const float scale = static_cast<float>(scales(block, 0)) * unit;
      std::fill_n(scales_.data() + i, n, scale);
      smallest_ = i > 0 && smallest_ <= scale ? smallest_ : scale;
      largest_ = i > 0 && largest_ >= scale ? largest_ : scale;
      are_positive_ &= detail::is_positive(scale);
    }
  }
  const float* from(index i) const { return scales_.data() + i; }
  float operator[](index i) const { return *from(i); }
  bool all_one() const { return are_positive_ && smallest_ == 1 && largest_ == 1; }
  /// Whether every product of these with those is a normal float.
  bool all_normal_with(const line_scales& other) const {
    return are_positive_ && other.are_positive_ && double(smallest_) * double(other.smallest_) >= 0x1p-126 &&
           double(largest_) * double(other.largest_) <= 0x1p127;
  }

 private:
  scratch<float> scales_;
  float smallest_ = 0, largest_ = 0;  // if none is NaN
  bool are_positive_ = true;          // and not NaN
};

/// values = float(sums) * (scale of the row * scale of the column), each operation rounded to float.
template <class Accumulation, class Sum>
void scale_tile(kernel_set t, const matrix_view<const Sum>& sums, const line_scales& rows, index i0,
                const line_scales& cols, index j0, float* values, index values_stride) {
  constexpr bool has_kernel =
      (std::same_as<Sum, float> && std::same_as<typename Accumulation::result, float>) ||
      (std::same_as<Sum, std::int32_t> && std::integral<typename Accumulation::result>);
  if constexpr (has_kernel)
    if (const auto& kernels = tile_scaling<Sum>(t);
        kernels && sums.col_stride == 1 && rows.all_normal_with(cols))
      return kernels.set(sums.data, {sums.rows, sums.cols, sums.row_stride, values_stride}, rows.from(i0),
                         cols.from(j0), values);
  constexpr index max_piece = 64;
  Sum side_by_side[max_piece];
  for (index i = 0; i < sums.rows; ++i)
    for (index j = 0, n; j < sums.cols; j += n) {
      n = sums.col_stride == 1 ? sums.cols : std::min(sums.cols - j, max_piece);
      const Sum* line = &sums(i, j);
      if (sums.col_stride != 1) {
        for (index l = 0; l < n; ++l) side_by_side[l] = sums(i, j + l);
        line = side_by_side;
      }
      scale_row<Accumulation>(t, line, rows[i0 + i], cols.from(j0 + j), values + i * values_stride + j, n);
    }
}

}  // namespace narrow::kernel

NARROW_STRICT_END
