// From sums of products to the coefficients of a result.
#pragma once

#include <array>

#include "../../format/limits.hpp"
#include "../convert/encode.hpp"
#include "../quantize/elements.hpp"
#include "plan.hpp"
#include "portable.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

using portable::element_order;

/// c = alpha sums + beta c, each coefficient rounded once under its index in `order`; c is not read where
/// beta is 0.
template <class C, class Round> struct epilogue {
  matrix_view<C> c;
  double alpha, beta;
  const Round& round;
  element_order order;

  epilogue transposed() const { return {c.transposed(), alpha, beta, round, order.transposed()}; }
  epilogue block(index i, index j, index rows, index cols) const {
    return {c.block(i, j, rows, cols), alpha, beta, round, order.at(i, j)};
  }
  /// Whether neighbours in a column of C, not in a row, lie side by side: then C^T = B^T A^T is computed.
  bool lies_down() const { return c.row_stride == 1 && c.col_stride != 1; }
  bool copies() const { return alpha == 1 && beta == 0; }
  /// C where sums in float can be written to it in place of tiles; else no matrix.
  matrix_view<float> direct() const {
    if constexpr (std::same_as<C, float>)
      if (copies() && c.col_stride == 1) return c;
    return {};
  }
};
template <class C, class Round>
epilogue(matrix_view<C>, double, double, const Round&, element_order) -> epilogue<C, Round>;

/// c = alpha sums + beta c for a format whose codes have kernels.
template <class C>
void axpby_and_encode(kernel_set t, const matrix_view<const float>& sums, float alpha, float beta,
                      const matrix_view<C>& c) {
  constexpr index max_values = 512;
  float values[max_values];
  const index width = std::min(c.cols, max_values), height = max_values / width;
  for (index i = 0; i < c.rows; i += height)
    for (index j = 0; j < c.cols; j += width) {
      const auto part = c.block(i, j, std::min(height, c.rows - i), std::min(width, c.cols - j));
      if (beta != 0)
        for (index k = 0; k < part.rows; ++k) decode(t, &part(k, 0), 1, values + k * width, part.cols);
      t.get<&kernel_table::axpby>()(&sums(i, j), {part.rows, part.cols, sums.row_stride, width}, alpha, beta,
                                    values);
      if (encode<C, typename C::overflow_policy>(t, values, {part.rows, part.cols, width, part.row_stride},
                                                 part.data))
        continue;
      for (index k = 0; k < part.rows; ++k)
        for (index l = 0; l < part.cols; ++l)
          part(k, l) = C(detail::unpack(values[k * width + l]), rounding::nearest_even{},
                         typename C::overflow_policy{});
    }
}

/// The most bits that the kernels drop from sums.
template <class Sum> inline constexpr int max_dropped_bits = sizeof(Sum) == 4 ? 30 : 32;

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

/// The kernel that rounds sums to mantissas of type Element.
template <class Sum, class Element, bool Draws> auto rounding_kernel(kernel_set t) {
  using kernels = rounding_kernels<Sum>;
  constexpr auto member = sizeof(Element) == 4   ? Draws ? &kernels::to32_stochastic : &kernels::to32
                          : sizeof(Element) == 2 ? Draws ? &kernels::to16_stochastic : &kernels::to16
                          : Draws                ? &kernels::to8_stochastic
                                                 : &kernels::to8;
  if constexpr (sizeof(Sum) == 4)
    return t.get<&kernel_table::round, member>();
  else
    return t.get<&kernel_table::round_wide, member>();
}

/// Integer sums that lose as many bits as `how` says, and are held to its range, as elements; by a kernel.
/// False if there is none, or the elements need more than one key; then c may be half written.
template <class Sum, class Element, class Round>
bool round_sums(kernel_set t, const matrix_view<const Sum>& sums, const matrix_view<Element>& c,
                integer_rounding how, const Round& round, const element_order& order) {
  constexpr bool draws = std::same_as<Round, rounding::stochastic>;
  if constexpr ((!draws && !std::same_as<Round, rounding::nearest_even>) ||
                (sizeof(Sum) == 4 && sizeof(Element) == 4)) {
    return false;
  } else {
    if (sums.cols == 1 && sums.rows > 1)
      return round_sums(t, sums.transposed(), c.transposed(), how, round, order.transposed());
    if (sums.col_stride != 1 || c.col_stride != 1 || how.dropped_bits < 1) return false;
    const int excess = std::max(how.dropped_bits - max_dropped_bits<Sum>, 0);
    if constexpr (sizeof(Sum) > 4)
      if (excess > 0 || sizeof(Sum) > 8) {
        constexpr index max_piece = 256;
        std::int64_t piece[max_piece];
        how.dropped_bits -= excess;
        for (index i = 0; i < sums.rows; ++i)
          for (index j = 0, n; j < sums.cols; j += n) {
            n = std::min(max_piece, sums.cols - j);
            for (index l = 0; l < n; ++l) piece[l] = shortened<Round>(sums(i, j + l), excess);
            if (!round_sums(t, matrix_view<const std::int64_t>{piece, 1, n, n, 1}, c.block(i, j, 1, n), how,
                            round, order.at(i, j)))
              return false;
          }
        return true;
      }
    if constexpr (sizeof(Sum) > 8) {
      return false;
    } else {
      const auto kernel = rounding_kernel<Sum, Element, draws>(t);
      if (!kernel || excess > 0 || !portable::describe(how.draws, round, order.transposed(), c.cols, c.rows))
        return false;
      kernel(sums.data, {sums.rows, sums.cols, sums.row_stride, c.row_stride}, how, c.data);
      return true;
    }
  }
}

/// c = unit sums for integer sums and a power of two, each rounded once.
template <class Sum>
void scale_sums(kernel_set t, const matrix_view<const Sum>& sums, float unit, const matrix_view<float>& c) {
  if (sums.cols == 1 && sums.rows > 1) return scale_sums(t, sums.transposed(), unit, c.transposed());
  constexpr index max_cols = 256;
  [[maybe_unused]] static constexpr auto ones = [] {
    std::array<float, max_cols> result{};
    for (float& x : result) x = 1;
    return result;
  }();
  const bool dense = sums.col_stride == 1 && c.col_stride == 1;
  if constexpr (std::same_as<Sum, std::int32_t>)
    if (const auto& kernels = tile_scaling<Sum>(t); kernels && dense) {
      constexpr index max_rows = 32;
      std::array<float, max_rows> units;
      units.fill(unit);
      for (index i = 0; i < sums.rows; i += max_rows)
        for (index j = 0; j < sums.cols; j += max_cols) {
          const index m = std::min(max_rows, sums.rows - i), n = std::min(max_cols, sums.cols - j);
          kernels.set(&sums(i, j), {m, n, sums.row_stride, c.row_stride}, units.data(), ones.data(),
                      &c(i, j));
        }
      return;
    }
  for (index i = 0; i < sums.rows; ++i)
    for (index j = 0, n; j < sums.cols; j += n) {
      n = std::min(max_cols, sums.cols - j);
      if constexpr (std::same_as<Sum, std::int64_t>)
        if (const auto kernel = t.get<&kernel_table::scale>();
            kernel && dense && kernel(&sums(i, j), unit, ones.data(), &c(i, j), n))
          continue;
      for (index l = j; l < j + n; ++l) c(i, l) = detail::nearest_float(sums(i, l)) * unit;
    }
}

/// The epilogue by the kernels for tiles. False if they have none for it; then c may be half written, but
/// only where beta is 0.
template <class Accumulation, class Sum, class C, class Round>
bool try_epilogue(kernel_set t, const matrix_view<const Sum>& sums, const epilogue<C, Round>& e) {
  constexpr bool nearest = std::same_as<Round, rounding::nearest_even>;
  constexpr bool exact = requires { Accumulation::result::fraction_length; };
  const auto axpby = t.get<&kernel_table::axpby>();
  const matrix_view<C>& c = e.c;
  if (!axpby || c.col_stride != 1 || sums.col_stride != 1) return false;
  const tile_shape shape{sums.rows, sums.cols, sums.row_stride, c.row_stride};
  if constexpr (std::same_as<Sum, float> && std::same_as<C, float>) {
    axpby(sums.data, shape, static_cast<float>(e.alpha), static_cast<float>(e.beta), c.data);
    return true;
  } else if constexpr (std::same_as<Sum, float> && has_coder<C> && nearest) {
    if (e.copies()) return encode<C, typename C::overflow_policy>(t, sums.data, shape.joined(), c.data);
    axpby_and_encode(t, sums, static_cast<float>(e.alpha), static_cast<float>(e.beta), c);
    return true;
  } else if constexpr (exact && std::same_as<C, float>) {
    constexpr float unit = detail::power_of_two(-Accumulation::result::fraction_length);
    if (e.copies()) scale_sums(t, sums, unit, c);
    return e.copies();
  } else if constexpr (exact && narrow_fixed<C>) {
    constexpr int dropped = Accumulation::result::fraction_length - C::fraction_length;
    constexpr std::int32_t highest = std::numeric_limits<C>::max().bits();
    using element = typename C::bits_type;
    if constexpr (std::same_as<typename C::overflow_policy, overflow::saturate>)
      return e.copies() && round_sums(t, sums,
                                      matrix_view<element>{static_cast<element*>(static_cast<void*>(c.data)),
                                                           c.rows, c.cols, c.row_stride, c.col_stride},
                                      {dropped, -highest - 1, highest}, e.round, e.order);
  }
  return false;
}

template <class Accumulation, class Sum, class C, class Round>
void apply_epilogue(kernel_set t, const matrix_view<const Sum>& sums, const epilogue<C, Round>& e) {
  if (e.c.rows == 0 || e.c.cols == 0) return;
  if (sums.cols == 1 && sums.rows > 1)
    return apply_epilogue<Accumulation>(t, sums.transposed(), e.transposed());
  if (try_epilogue<Accumulation>(t, sums, e)) return;
  for (index i = 0; i < e.c.rows; ++i)
    for (index j = 0; j < e.c.cols; ++j)
      portable::store_axpby<Accumulation>(sums(i, j), e.alpha, e.beta, e.c(i, j),
                                          at_element(e.round, e.order(i, j)));
}

/// Stores tiles of the sums of a product where they belong in its result.
template <class Accumulation, class C, class Round> struct epilogue_store {
  kernel_set t;
  epilogue<C, Round> result;

  template <class Sums> void operator()(index i, index j, const Sums& sums) const {
    apply_epilogue<Accumulation>(t, sums, result.block(i, j, sums.rows, sums.cols));
  }
};
/// Stores what belongs to the transposed result.
template <class Store> auto transposed(const Store& store) {
  return [&store](index i, index j, const auto& sums) { store(j, i, sums.transposed()); };
}
template <class Accumulation, class C, class Round>
auto transposed(const epilogue_store<Accumulation, C, Round>& store) {
  return epilogue_store<Accumulation, C, Round>{store.t, store.result.transposed()};
}

}  // namespace narrow::kernel

NARROW_STRICT_END
