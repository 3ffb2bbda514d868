// From sums of products to the coefficients of a result.
#pragma once

#include <array>

#include "../../format/limits.hpp"
#include "../../runtime/scratch.hpp"
#include "../convert/encode.hpp"
#include "block_view.hpp"
#include "portable.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

using portable::element_order;

/// c = alpha sums + beta c for a format whose codes have kernels.
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
      t.get<&kernel_table::combine>()(&sums(i, j), {part.rows, part.cols, sums.row_stride, width}, alpha,
                                      beta, values);
      if (encode<C, typename C::overflow_policy>(values, {part.rows, part.cols, width, part.row_stride},
                                                 part.data))
        continue;
      for (index k = 0; k < part.rows; ++k)
        for (index l = 0; l < part.cols; ++l)
          part(k, l) = C(detail::unpack(values[k * width + l]), rounding::nearest_even{},
                         typename C::overflow_policy{});
    }
}

/// The most bits that the kernels drop from sums.
template <class Sum> inline constexpr int most_dropped_bits = sizeof(Sum) == 4 ? 30 : 32;

/// A sum as one of 64 bits that is rounded alike after `excess` bits fewer are dropped than are to be dropped
/// from it, 32 where there is an excess. What 64 bits do not hold is beyond the range of a mantissa then.
template <class Round, class Sum> std::int64_t shortened(Sum sum, int excess) {
  using limits = std::numeric_limits<std::int64_t>;
  if (excess > 0 && std::same_as<Round, rounding::stochastic>) {  // which sees 32 bits of a magnitude
    sum = sum < 0 ? -(-sum >> excess) : sum >> excess;
  } else if (excess > 0) {  // to odd: only whether there is something in the lower bits matters
    const bool inexact = (sum & ((Sum{1} << excess) - 1)) != 0;
    sum = (sum >> excess) | (inexact ? 1 : 0);
  }
  return static_cast<std::int64_t>(std::clamp<Sum>(sum, limits::min(), limits::max()));
}

/// Integer sums that lose as many bits as `how` says, and are held to its range, as elements; by a kernel.
/// False if there is none, or the elements need more than one key; then c may be half written.
template <class Sum, class Element, class Round>
bool round_sums(matrix_view<const Sum> sums, matrix_view<Element> c, integer_rounding how, const Round& round,
                const element_order& order) {
  constexpr bool draws = std::same_as<Round, rounding::stochastic>;
  if constexpr ((!draws && !std::same_as<Round, rounding::nearest_even>) ||
                (sizeof(Sum) == 4 && sizeof(Element) == 4)) {
    return false;
  } else {
    if (sums.cols == 1 && sums.rows > 1)
      return round_sums(sums.transposed(), c.transposed(), how, round, order.transposed());
    if (sums.col_stride != 1 || c.col_stride != 1 || how.dropped_bits < 1) return false;
    const int excess = std::max(how.dropped_bits - most_dropped_bits<Sum>, 0);
    if constexpr (sizeof(Sum) > 4)
      if (excess > 0 || sizeof(Sum) > 8) {
        constexpr index longest = 256;
        std::int64_t piece[longest];
        how.dropped_bits -= excess;
        for (index i = 0; i < sums.rows; ++i)
          for (index j = 0, n; j < sums.cols; j += n) {
            n = std::min(longest, sums.cols - j);
            for (index l = 0; l < n; ++l) piece[l] = shortened<Round>(sums(i, j + l), excess);
            if (!round_sums(matrix_view<const std::int64_t>{piece, 1, n, n, 1}, c.block(i, j, 1, n), how,
                            round, order.at(i, j)))
              return false;
          }
        return true;
      }
    if constexpr (sizeof(Sum) > 8) {
      return false;
    } else {
      constexpr auto of_sums = [] {
        if constexpr (sizeof(Sum) == 4)
          return &kernel_table::round;
        else
          return &kernel_table::round_wide;
      }();
      using kernels = rounding_kernels<Sum>;
      constexpr auto member = sizeof(Element) == 4   ? draws ? &kernels::to32_stochastic : &kernels::to32
                              : sizeof(Element) == 2 ? draws ? &kernels::to16_stochastic : &kernels::to16
                              : draws                ? &kernels::to8_stochastic
                                                     : &kernels::to8;
      const auto kernel = dispatch::instance().kernels().get<of_sums, member>();
      if (!kernel || excess > 0 || !portable::describe(how.draws, round, order.transposed(), c.cols, c.rows))
        return false;
      kernel(sums.data, {sums.rows, sums.cols, sums.row_stride, c.row_stride}, how, c.data);
      return true;
    }
  }
}

/// c = unit sums for integer sums and a power of two, each rounded once.
template <class Sum> void scale_sums(matrix_view<const Sum> sums, float unit, matrix_view<float> c) {
  if (sums.cols == 1 && sums.rows > 1) return scale_sums(sums.transposed(), unit, c.transposed());
  constexpr index longest = 256;
  [[maybe_unused]] static constexpr auto ones = [] {
    std::array<float, longest> result{};
    for (float& x : result) x = 1;
    return result;
  }();
  const kernel_set t = dispatch::instance().kernels();
  const bool dense = sums.col_stride == 1 && c.col_stride == 1;
  if constexpr (std::same_as<Sum, std::int32_t>)
    if (const auto kernel = t.get<&kernel_table::scale_tile>(); kernel && dense) {
      constexpr index most = 32;
      std::array<float, most> units;
      units.fill(unit);
      for (index i = 0; i < sums.rows; i += most)
        for (index j = 0; j < sums.cols; j += longest) {
          const index m = std::min(most, sums.rows - i), n = std::min(longest, sums.cols - j);
          kernel(&sums(i, j), {m, n, sums.row_stride, c.row_stride}, units.data(), ones.data(), &c(i, j));
        }
      return;
    }
  for (index i = 0; i < sums.rows; ++i)
    for (index j = 0, n; j < sums.cols; j += n) {
      n = std::min(longest, sums.cols - j);
      if constexpr (std::same_as<Sum, std::int64_t>)
        if (const auto kernel = t.get<&kernel_table::scale>();
            kernel && dense && kernel(&sums(i, j), unit, ones.data(), &c(i, j), n))
          continue;
      for (index l = j; l < j + n; ++l) c(i, l) = detail::nearest_float(sums(i, l)) * unit;
    }
}

/// c = alpha sums + beta c by the kernels for tiles, coefficients rounded under their indices in `order`.
/// False if they have none for it; then c may be half written, but only where beta is 0.
template <class Meeting, class Sum, class C, class Round>
bool try_finish(matrix_view<const Sum> sums, double alpha, double beta, matrix_view<C> c, const Round& round,
                const element_order& order) {
  constexpr bool nearest = std::same_as<Round, rounding::nearest_even>;
  const kernel_set t = dispatch::instance().kernels();
  if (!t.get<&kernel_table::combine>() || c.col_stride != 1 || sums.col_stride != 1) return false;
  [[maybe_unused]] const bool plain = alpha == 1 && beta == 0;
  constexpr bool exact = requires { Meeting::result::fraction_length; };
  if constexpr (std::same_as<Sum, float> && std::same_as<C, float>) {
    t.get<&kernel_table::combine>()(sums.data, {sums.rows, sums.cols, sums.row_stride, c.row_stride},
                                    static_cast<float>(alpha), static_cast<float>(beta), c.data);
    return true;
  } else if constexpr (std::same_as<Sum, float> && has_coder<C> && nearest) {
    if (plain)
      return encode<C, typename C::overflow_policy>(
          sums.data, {sums.rows, sums.cols, sums.row_stride, c.row_stride}, c.data);
    combine_and_encode(t, sums, static_cast<float>(alpha), static_cast<float>(beta), c);
    return true;
  } else if constexpr (exact && std::same_as<C, float>) {
    constexpr float unit = detail::power_of_two(-Meeting::result::fraction_length);
    if (plain) scale_sums(sums, unit, c);
    return plain;
  } else if constexpr (exact && narrow_fixed<C>) {
    constexpr int dropped = Meeting::result::fraction_length - C::fraction_length;
    constexpr std::int32_t highest = std::numeric_limits<C>::max().bits();
    using element = typename C::bits_type;
    if constexpr (std::same_as<typename C::overflow_policy, overflow::saturate>)
      return plain && round_sums(sums,
                                 matrix_view<element>{static_cast<element*>(static_cast<void*>(c.data)),
                                                      c.rows, c.cols, c.row_stride, c.col_stride},
                                 {dropped, -highest - 1, highest}, round, order);
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

/// Scales of rows, or of columns, of a matrix in blocks, which `read` sets.
class line_scales {
 public:
  explicit line_scales(index n) : scales_(n) {}

  /// Those of the rows of m from its column j on, in units of 1 / unit.
  template <class E, class S> void read(const block_view<E, S>& m, index j, float unit = 1) {
    are_positive_ = true;
    for (index i = 0, n; i < m.rows(); i += n) {
      n = std::min(m.rows() - i, m.tile_rows - (m.first_row + i) % m.tile_rows);
      const float scale = static_cast<float>(m.scale(i, j)) * unit;
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
    return are_positive_ && other.are_positive_ && double{smallest_} * double{other.smallest_} >= 0x1p-126 &&
           double{largest_} * double{other.largest_} <= 0x1p127;
  }

 private:
  scratch<float> scales_;
  float smallest_ = 0, largest_ = 0;  // if none is NaN
  bool are_positive_ = true;          // and not NaN
};

/// values = float(sums) * (scale of the row * scale of the column), each operation rounded to float.
template <class Meeting, class Sum>
void scale_tile(matrix_view<const Sum> sums, const line_scales& rows, index i0, const line_scales& cols,
                index j0, float* values, index values_stride) {
  constexpr bool has_kernel = (std::same_as<Sum, float> && std::same_as<typename Meeting::result, float>) ||
                              (std::same_as<Sum, std::int32_t> && std::integral<typename Meeting::result>);
  if constexpr (has_kernel) {
    constexpr auto member = [] {
      if constexpr (std::same_as<Sum, float>)
        return &kernel_table::scale_float_tile;
      else
        return &kernel_table::scale_tile;
    }();
    if (const auto scale = dispatch::instance().kernels().get<member>();
        scale && sums.col_stride == 1 && rows.all_normal_with(cols))
      return scale(sums.data, {sums.rows, sums.cols, sums.row_stride, values_stride}, rows.from(i0),
                   cols.from(j0), values);
  }
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

}  // namespace narrow::inline NARROW_ABI::kernel

NARROW_STRICT_END
