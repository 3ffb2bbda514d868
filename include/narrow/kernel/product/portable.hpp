// The kernels in plain C++: what runs where nothing faster does, and what the faster ones are tested against.
//
// Order of additions: a matrix product adds the terms of a coefficient in ascending order of the summed
// index; inner products and sums run eight lanes side by side and add those at the end. No result depends on
// strides or alignment.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "../../accumulator.hpp"
#include "../../matrix_view.hpp"
#include "../../runtime/environment.hpp"
#include "../../runtime/scratch.hpp"
#include "../../simd/kernel_table.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel::portable {

/// alpha sum + beta c, where `zero` is the sign of an exact zero sum. It is exact as long as alpha times the
/// sum fits 126 bits, which leaves room for the addition: always for alpha = +-2^n. For other factors all but
/// the sum's first 73 bits may be rounded to odd.
inline detail::unpacked<detail::uint128> exact_axpby(detail::unpacked<detail::uint128> sum, double alpha,
                                                     double beta, const detail::unpacked<detail::uint128>& c,
                                                     sign zero) {
  using word = detail::uint128;
  using detail::widened;
  if (alpha != 1) {
    auto factor = detail::unpack(alpha);
    if (factor.what == detail::kind::finite) {
      const int zeros = std::countr_zero(factor.significand);
      factor.significand >>= zeros;
      factor.exponent += zeros;
      const int excess =
          detail::bit_width_of(sum.significand) + detail::bit_width_of(factor.significand) - 126;
      bool inexact = false;
      sum.significand = detail::shift_right(sum.significand, excess, inexact);
      sum.significand |= inexact ? 1 : 0;
      sum.exponent += std::max(excess, 0);
    }
    sum = detail::multiply(sum, widened<word>(factor));
  }
  if (beta == 0) return sum;
  return detail::add(sum, detail::multiply(widened<word>(detail::unpack(beta)), c), zero);
}

/// c = alpha sum + beta c for an exact sum, rounded once to the type of c; c is not read where beta is 0.
template <class C, class Round>
void store_exact_axpby(const detail::unpacked<detail::uint128>& sum, double alpha, double beta, C& c,
                       const Round& round) {
  using detail::unpack;
  detail::unpacked<detail::uint128> old;
  if (beta != 0) old = detail::widened<detail::uint128>(unpack(c));
  const auto value = exact_axpby(sum, alpha, beta, old, detail::sign_of_zero_sum(round));
  if constexpr (narrow_scalar<C>)
    c = C(value, round, typename C::overflow_policy{});
  else
    c = detail::nearest<C>(value);
}

/// c = alpha sum + beta c for any sum of products; a floating-point one is added up in its own type, or C's
/// if that is wider.
template <class Accumulation, class C, class Round>
void store_axpby(const typename Accumulation::sum& sum, double alpha, double beta, C& c, const Round& round) {
  if constexpr (std::floating_point<typename Accumulation::sum>) {
    using wide = std::common_type_t<typename Accumulation::sum, detail::carried_t<C>>;
    wide value = alpha == 1 ? wide{sum} : detail::uncontracted(static_cast<wide>(alpha) * wide{sum});
    if (beta != 0) value = detail::uncontracted(static_cast<wide>(beta) * static_cast<wide>(c)) + value;
    if constexpr (narrow_scalar<C>)
      c = C(detail::unpack(value), round, typename C::overflow_policy{});
    else
      c = static_cast<C>(value);
  } else {
    store_exact_axpby(unpack(typename Accumulation::result(sum)), alpha, beta, c, round);
  }
}

/// Copies `count` of the matrix's columns into panels of Width columns, decoded, row after row within a
/// panel; what a last panel lacks is filled with zeros. Panels of rows: pack the transposed matrix.
template <int Width, class Lane, class T, class Decode>
void pack(matrix_view<const T> m, index first, index count, Lane* to, Decode decode) {
  for (index j = first; j < first + count; j += Width) {
    const index width = std::min<index>(Width, first + count - j);
    for (index p = 0; p < m.rows; ++p, to += Width) {
      for (index l = 0; l < width; ++l) to[l] = decode(m(p, j + l));
      std::fill(to + width, to + Width, Lane(0));
    }
  }
}

/// Two vectors of the width that every 64-bit processor has.
template <class Lane> using vector [[gnu::vector_size(16)]] = Lane;
template <class Lane> inline constexpr int tile_cols = 2 * 16 / static_cast<int>(sizeof(Lane));

/// The Rows x tile_cols block of products of a panel of Rows rows and a panel of columns, `depth` terms each.
template <int Rows, class Lane>
void multiply_panels(const Lane* a, const Lane* b, index depth, Lane (&result)[Rows][tile_cols<Lane>]) {
  using vec = vector<Lane>;
  vec low[Rows] = {}, high[Rows] = {};
  for (index p = 0; p < depth; ++p, a += Rows, b += tile_cols<Lane>) {
    vec b_low, b_high;
    std::memcpy(&b_low, b, sizeof(vec));
    std::memcpy(&b_high, b + tile_cols<Lane> / 2, sizeof(vec));
    for (int i = 0; i < Rows; ++i) {
      low[i] += detail::uncontracted(b_low * a[i]);
      high[i] += detail::uncontracted(b_high * a[i]);
    }
  }
  for (int i = 0; i < Rows; ++i) {
    std::memcpy(&result[i][0], &low[i], sizeof(vec));
    std::memcpy(&result[i][tile_cols<Lane> / 2], &high[i], sizeof(vec));
  }
}

/// The sums of A B in tiles of Rows x tile_cols, handed to store(i, j, sums).
template <int Rows, class Accumulation, class A, class B, class Store>
void product_tiles(matrix_view<const A> a, matrix_view<const B> b, const Store& store) {
  using lane = typename Accumulation::lane;
  using sum = typename Accumulation::sum;
  constexpr int cols = tile_cols<lane>;
  const index depth = a.cols;
  // A block of columns of B stays in the second-level cache while the rows of A go by.
  const index block =
      std::clamp<index>((index{1} << 17) / std::max<index>(depth, 1) / cols * cols, cols, 32 * cols);
  scratch<lane> packed_b(std::min(block, (b.cols + cols - 1) / cols * cols) * depth), packed_a(Rows * depth);
  const auto decode = [](const auto& x) { return Accumulation::decode(x); };

  for (index j0 = 0; j0 < b.cols; j0 += block) {
    const index width = std::min(block, b.cols - j0);
    pack<cols>(b, j0, width, packed_b.data(), decode);
    for (index i0 = 0; i0 < a.rows; i0 += Rows) {
      pack<Rows>(a.transposed(), i0, std::min<index>(Rows, a.rows - i0), packed_a.data(), decode);
      for (index j = 0; j < width; j += cols) {
        const lane* panel_b = packed_b.data() + j * depth;
        sum total[Rows][cols] = {};
        for (index p = 0; p < depth; p += std::min(Accumulation::safe_terms, depth - p)) {
          lane partial[Rows][cols];
          multiply_panels<Rows>(packed_a.data() + p * Rows, panel_b + p * cols,
                                std::min(Accumulation::safe_terms, depth - p), partial);
          for (int i = 0; i < Rows; ++i)
            for (int l = 0; l < cols; ++l) total[i][l] += static_cast<sum>(partial[i][l]);
        }
        store(i0, j0 + j,
              matrix_view<const sum>{total[0], std::min<index>(Rows, a.rows - i0),
                                     std::min<index>(cols, width - j), cols, 1});
      }
    }
  }
}

/// Eight running sums of term(i), i = 0 .. n-1, folded into one.
template <class Sum, class Lane, class Term> Sum lanewise_sum(index n, index safe_terms, Term term) {
  constexpr index lanes = 8;
  Sum total = 0;
  for (index first = 0; first < n;) {
    const index steps = std::min((n - first) / lanes, safe_terms);
    Lane partial[lanes] = {};
    for (index step = 0; step < steps; ++step, first += lanes)
      for (index l = 0; l < lanes; ++l) partial[l] += term(first + l);
    if (steps == 0)
      for (index l = 0; first < n; ++l, ++first) partial[l] += term(first);
    for (index l = 0; l < lanes; ++l) total += static_cast<Sum>(partial[l]);
  }
  return total;
}

/// sum over i of a[i stride_a] b[i stride_b].
template <class Accumulation, class A, class B>
typename Accumulation::sum dot(const A* a, index stride_a, const B* b, index stride_b, index n) {
  using lane = typename Accumulation::lane;
  return lanewise_sum<typename Accumulation::sum, lane>(n, Accumulation::safe_terms, [=](index i) {
    return detail::uncontracted(
        static_cast<lane>(Accumulation::decode(a[i * stride_a]) * Accumulation::decode(b[i * stride_b])));
  });
}

/// The sums of A B, handed to store(i, j, sums) in tiles.
template <class Accumulation, class A, class B, class Store>
void product(matrix_view<const A> a, matrix_view<const B> b, const Store& store) {
  // Lanes run along columns: a thin result lies down.
  constexpr index rows = 4;
  if (a.rows == 0 || b.cols == 0) return;
  const bool turned = a.rows > 1 && b.cols < std::min(rows, a.rows);
  const auto store_tile = [&](index i, index j, auto sums) {
    if (turned)
      store(j, i, sums.transposed());
    else
      store(i, j, sums);
  };
  const auto multiply = [&](auto left, auto right) {
    if (left.rows == 1)
      product_tiles<1, Accumulation>(left, right, store_tile);
    else
      product_tiles<rows, Accumulation>(left, right, store_tile);
  };
  if (turned)
    multiply(b.transposed(), a.transposed());
  else
    multiply(a, b);
}

template <class A> NARROW_KERNEL auto sum(const A* a, index stride, index n) {
  if constexpr (narrow_fixed<A>) {
    constexpr index safe_terms =  // terms of at most 2^(WL - 1)
        detail::terms_in_memory((std::int64_t{1} << (64 - A::word_length)) - 1);
    return lanewise_sum<detail::int128, std::int64_t>(
        n, safe_terms, [=](index i) { return std::int64_t{a[i * stride].bits()}; });
  } else {
    using lane = typename detail::accumulation_traits<A, A>::lane;
    return lanewise_sum<lane, lane>(n, n, [=](index i) { return static_cast<lane>(a[i * stride]); });
  }
}

template <class A> NARROW_KERNEL auto sum(matrix_view<const A> a) {
  if (detail::lies_by_rows(a)) a = a.transposed();
  decltype(sum(a.data, 1, 0)) total = 0;
  for (index j = 0; j < a.cols; ++j) total += sum(a.col(j).data, a.row_stride, a.rows);
  return total;
}

}  // namespace narrow::kernel::portable

NARROW_STRICT_END
