// From sums of products to the coefficients of a result.
#pragma once

#include "blocks.hpp"
#include "lines.hpp"
#include "portable.hpp"

NARROW_STRICT_BEGIN

namespace narrow::kernel {

using portable::element_order;

/// The codes of floats in a format of at most 16 bits, to nearest even. False if something is NaN; then what
/// `to` holds means nothing.
template <class C> bool encode_tile(kernel_set t, const float* values, const tile_shape& s, C* to) {
  using overflow_policy = typename C::overflow_policy;
  if constexpr (coded_as_fp16<C> && std::same_as<overflow_policy, overflow::ieee>) {
    t.tile<&tile_kernels::to_fp16>()(values, s, to);
    return true;
  } else {
    static constexpr encoding e = encoding_of<C, overflow_policy>();
    constexpr auto kernel = sizeof(C) == 1 ? &tile_kernels::encode8 : &tile_kernels::encode16;
    return t.tile<kernel>()(values, s, to, e);
  }
}

/// c = alpha sums + beta c for a format of which `encode_tile` knows the codes.
template <class C>
void combine_and_encode(kernel_set t, matrix_view<const float> sums, float alpha, float beta,
                        matrix_view<C> c) {
  constexpr index longest = 512;
  float values[longest];
  const index width = std::min(c.cols, longest), height = longest / width;
  for (index i = 0; i < c.rows; i += height)
    for (index j = 0; j < c.cols; j += width) {
      const auto part = c.block(i, j, std::min(height, c.rows - i), std::min(width, c.cols - j));
      if (beta != 0)
        for (index k = 0; k < part.rows; ++k) decode(t, &part(k, 0), 1, values + k * width, part.cols);
      t.tile<&tile_kernels::combine>()(&sums(i, j), {part.rows, part.cols, sums.row_stride, width}, alpha,
                                       beta, values);
      if (encode_tile(t, values, {part.rows, part.cols, width, part.row_stride}, part.data)) continue;
      for (index k = 0; k < part.rows; ++k)
        for (index l = 0; l < part.cols; ++l)
          part(k, l) = C(detail::unpack(values[k * width + l]), rounding::nearest_even{},
                         typename C::overflow_policy{});
    }
}

/// Integer sums that lose `Dropped` bits, by a kernel. False if the elements need more than one key.
template <int Dropped, class Sum, class C, class Round>
bool round_integers(kernel_set t, matrix_view<const Sum> sums, matrix_view<C> c, const Round& round,
                    const element_order& order) {
  constexpr std::int32_t highest = std::numeric_limits<C>::max().bits();
  integer_rounding how{Dropped, -highest - 1, highest};
  if (!portable::describe(how.draws, round, order.transposed(), c.cols, c.rows)) return false;
  using kernels = rounding_kernels<Sum>;
  constexpr auto of_sums = [] {
    if constexpr (sizeof(Sum) == sizeof(std::int32_t))
      return &tile_kernels::round;
    else
      return &tile_kernels::round_wide;
  }();
  constexpr bool draws = std::same_as<Round, rounding::stochastic>;
  constexpr auto kernel = sizeof(C) == 1 ? draws ? &kernels::to8_stochastic : &kernels::to8
                          : draws        ? &kernels::to16_stochastic
                                         : &kernels::to16;
  t.get<&kernel_table::tiles, of_sums, kernel>()(
      sums.data, {sums.rows, sums.cols, sums.row_stride, c.row_stride}, how, c.data);
  return true;
}

/// c = alpha sums + beta c by the kernels for tiles, coefficients rounded under their indices in `order`.
/// False if they have none for it; then c may be half written, but only where beta is 0.
template <class Meeting, class Sum, class C, class Round>
bool try_finish(matrix_view<const Sum> sums, double alpha, double beta, matrix_view<C> c, const Round& round,
                const element_order& order) {
  constexpr bool nearest = std::same_as<Round, rounding::nearest_even>,
                 draws = std::same_as<Round, rounding::stochastic>;
  const kernel_set t = dispatch::instance().kernels();
  if (!t.tile<&tile_kernels::combine>() || c.col_stride != 1 || sums.col_stride != 1) return false;
  [[maybe_unused]] const bool plain = alpha == 1 && beta == 0;
  if constexpr (std::same_as<Sum, float> && std::same_as<C, float>) {
    t.tile<&tile_kernels::combine>()(sums.data, {sums.rows, sums.cols, sums.row_stride, c.row_stride},
                                     static_cast<float>(alpha), static_cast<float>(beta), c.data);
    return true;
  } else if constexpr (std::same_as<Sum, float> && narrow_float<C> && nearest && sizeof(C) <= 2) {
    if (plain)
      return encode_tile(t, sums.data, {sums.rows, sums.cols, sums.row_stride, c.row_stride}, c.data);
    combine_and_encode(t, sums, static_cast<float>(alpha), static_cast<float>(beta), c);
    return true;
  } else if constexpr (narrow_fixed<C> && std::signed_integral<Sum> && sizeof(Sum) <= 8 &&
                       (nearest || draws)) {
    constexpr int dropped = Meeting::result::fraction_length - C::fraction_length;
    if constexpr (0 < dropped && dropped < 31 && sizeof(C) <= 2 &&
                  std::same_as<typename C::overflow_policy, overflow::saturate>)
      return plain && round_integers<dropped>(t, sums, c, round, order);
  }
  return false;
}

/// c = alpha sums + beta c, coefficients rounded once under their indices in `order`.
template <class Meeting, class Sum, class C, class Round>
void finish_tile(matrix_view<const Sum> sums, double alpha, double beta, matrix_view<C> c, const Round& round,
                 element_order order) {
  if (c.rows == 0 || c.cols == 0) return;
  if (sums.cols == 1 && sums.rows > 1)
    return finish_tile<Meeting>(sums.transposed(), alpha, beta, c.transposed(), round, order.transposed());
  if (try_finish<Meeting>(sums, alpha, beta, c, round, order)) return;
  for (index i = 0; i < c.rows; ++i)
    for (index j = 0; j < c.cols; ++j)
      portable::finish<Meeting>(sums(i, j), alpha, beta, c(i, j), at_element(round, order(i, j)));
}

/// Scales of rows, or of columns, of a matrix in blocks.
class line_scales {
 public:
  explicit line_scales(index n) : scales_(static_cast<std::size_t>(n)) {}

  /// Those of the rows of m from its column j on, in units of 1 / unit.
  template <class E, class S> void read(const block_view<E, S>& m, index j, float unit = 1) {
    for (index i = 0, n; i < m.rows(); i += n) {
      n = std::min(m.rows() - i, m.tile_rows - (m.first_row + i) % m.tile_rows);
      const float scale = static_cast<float>(m.scale(i, j)) * unit;
      std::fill_n(scales_.begin() + i, n, scale);
      // A NaN makes both ends NaN, and stays.
      smallest_ = i > 0 && smallest_ <= scale ? smallest_ : scale;
      largest_ = i > 0 && largest_ >= scale ? largest_ : scale;
      whole_ &= scale > 0;
    }
  }
  const float* from(index i) const { return scales_.data() + i; }
  float operator[](index i) const { return *from(i); }
  /// Whether every product of these with those is a normal float.
  bool all_normal_with(const line_scales& other) const {
    return whole_ && other.whole_ && double{smallest_} * double{other.smallest_} >= 0x1p-126 &&
           double{largest_} * double{other.largest_} <= 0x1p127;
  }

 private:
  std::vector<float> scales_;
  float smallest_ = 0, largest_ = 0;
  bool whole_ = true;  // are numbers above 0
};

/// values = float(sums) * (scale of the row * scale of the column), each operation rounded to float.
template <class Meeting, class Sum>
void scale_tile(matrix_view<const Sum> sums, const line_scales& rows, index i0, const line_scales& cols,
                index j0, float* values, index values_stride) {
  if constexpr (std::same_as<Sum, std::int32_t> && std::integral<typename Meeting::result>)
    if (const auto scale = dispatch::instance().kernels().tile<&tile_kernels::scale>();
        scale && sums.col_stride == 1 && rows.all_normal_with(cols))
      return scale(sums.data, {sums.rows, sums.cols, sums.row_stride, values_stride}, rows.from(i0),
                   cols.from(j0), values);
  constexpr index longest = 64;
  Sum side_by_side[longest];
  for (index i = 0; i < sums.rows; ++i)
    for (index j = 0, n; j < sums.cols; j += n) {
      n = sums.col_stride == 1 ? sums.cols : std::min(sums.cols - j, longest);
      const Sum* line = &sums(i, j);
      if (sums.col_stride != 1) {
        for (index l = 0; l < n; ++l) side_by_side[l] = sums(i, j + l);
        line = side_by_side;
      }
      scale_row<Meeting>(line, rows[i0 + i], cols.from(j0 + j), values + i * values_stride + j, n);
    }
}

}  // namespace narrow::kernel

NARROW_STRICT_END
