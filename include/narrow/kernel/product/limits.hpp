// Which products are multiplied without packing their factors, because these are narrow or small: as was
// measured.
#pragma once

#include "../../matrix_view.hpp"
#include "../../runtime/thread_pool.hpp"
#include "code_lines.hpp"
#include "packed_type.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// A matrix of A that is multiplied with a vector as P.
template <packed_type P, class A> struct gemv_traits {
  static constexpr bool integers = std::integral<lane_of<P>>;
  static constexpr bool fits_bf16 = !integers && narrowest<A>() == packed_type::bf16;
  /// An element of a decoded matrix, and of the vector.
  using decoded =
      std::conditional_t<integers || fits_bf16, element_of<fits_bf16 ? packed_type::bf16 : P>, float>;
  using factor = std::conditional_t<integers, decoded, float>;
  /// Whether the kernels take elements as they are in the matrix.
  static constexpr bool in_place = integers ? sizeof(A) == sizeof(decoded)
                                            : std::same_as<A, float> || coded_as_fp16<A> || coded_as_bf16<A>;
  using element = std::conditional_t<in_place, A, decoded>;

  static const auto& kernels(kernel_set t) {
    if constexpr (P == packed_type::int8)
      return t.get<&kernel_table::gemv_int8>();
    else if constexpr (integers)
      return t.get<&kernel_table::gemv_int16>();
    else if constexpr (coded_as_fp16<A>)
      return t.get<&kernel_table::gemv_fp16>();
    else if constexpr (fits_bf16)
      return t.get<&kernel_table::gemv_bf16>();
    else
      return t.get<&kernel_table::gemv_fp32>();
  }
  /// Those that take elements as they are in the matrix, if the ones above do not; null if there are none.
  static const auto* kernels_in_place(kernel_set t) {
    const auto* const usual = &kernels(t);
    if constexpr (in_place) {
      return usual;
    } else if constexpr (fits_bf16 && sizeof(A) == 1) {
      const auto& lines = code_lines<A>().gemv;
      return lines ? &lines : nullptr;
    } else {
      return decltype(usual){};
    }
  }
};

/// Where a matrix is multiplied with a few columns without being packed: with at most so many, of which each
/// takes at least so many terms of a sum (below that the sums of a vector's lanes cost more than packing
/// does), and from so many elements on.
struct skinny_limits {
  index columns, terms_each = 1, elements = 0;
};
inline constexpr index max_skinny = 32, min_skinny_lines = 64;

/// As far as panels took at least as long in products of matrices from 64 x 64 to 1024 x 1024 (an Intel Xeon,
/// with AVX2, AVX-512, VNNI, BF16 and AMX). Kernels of bytes and of tiles multiply so fast that even most of
/// a panel may be for nothing; a matrix by columns is read once for each column; one that is decoded is so
/// for every four.
template <packed_type P, class A> skinny_limits skinny_limits_of(kernel_set t, bool by_rows) {
  using traits = gemv_traits<P, A>;
  const auto& kernels = traits::kernels(t);
  if (!kernels) return {0};
  const bool is_wide = kernels.elements / kernels.k_pack >= 16;  // lanes: registers of 512 bits
  if constexpr (P == packed_type::int8) {
    if (!t.get<&kernel_table::int8>()) return {by_rows ? max_skinny : 4, by_rows ? 32 : 1};
    constexpr index large = index{1} << 17;
    if (!by_rows) return {2, 1, large};
    return {4, t.get<&kernel_table::large_k_int8>() ? 256 : 64, large};
  } else if constexpr (traits::integers) {
    if (!by_rows) return {2};
    return {is_wide ? 4 : 0, 64};
  } else if constexpr (!traits::fits_bf16) {
    if (!by_rows) return {4};
    return {16, is_wide ? 16 : 32};
  } else {
    const bool has_tiles = static_cast<bool>(t.get<&kernel_table::large_k_bf16>());
    if constexpr (!traits::in_place) {
      if (!by_rows || has_tiles) return {0};
      return {is_wide ? 8 : 4, 32};
    } else {
      if (has_tiles) return by_rows ? skinny_limits{4, 128} : skinny_limits{2};
      if (!by_rows) return {4};
      return {t.get<&kernel_table::bf16>() ? 8 : 16, is_wide ? 16 : 32};
    }
  }
}

template <packed_type P, class A> bool is_skinny(kernel_set t, const matrix_view<const A>& a, index cols) {
  const skinny_limits most = skinny_limits_of<P, A>(t, detail::lies_by_rows(a));
  return cols <= most.columns && cols * most.terms_each <= a.cols && a.rows * a.cols >= most.elements;
}

/// Numbers that kernels of small products read, and those that they store.
template <class T>
concept compact_number = std::same_as<T, float> ||(narrow_float<T>&& has_coder<T>);
template <class T> bool lies_in_lines(const matrix_view<T>& m) {
  return m.row_stride == 1 || m.col_stride == 1;
}

/// Whether there is a kernel for small products of such matrices: of numbers that it reads where they lie, or
/// of what is decoded before.
template <class A, class B>
bool has_compact(kernel_set t, const matrix_view<const A>& a, const matrix_view<const B>& b) {
  if constexpr (compact_number<A> && compact_number<B>)  // a job of those that have any vectors
    return t.get<&kernel_table::packing>() && (a.rows == 1 || lies_in_lines(a)) && lies_in_lines(b);
  else
    return static_cast<bool>(t.get<&kernel_table::compact>());
}

/// Whether a row times a matrix B (depth, cols) is so small that the kernels of larger ones take longer to
/// begin (Zen 5).
template <class A, class B>
[[gnu::always_inline]] inline bool is_compact_line(index depth, index cols, index b_term_step,
                                                   index b_col_step) {
  if (!compact_number<A> || !compact_number<B>) return false;
  // Numbers of 8 bits are decoded before, and floats fill the caches sooner.
  constexpr index max_numbers = sizeof(B) == 1 ? max_compact : 2 * near_bytes / index{sizeof(B)},
                  max_in_columns = sizeof(B) == 2 ? 4 * max_numbers : max_numbers;
  return depth > 0 && cols > 1 && depth <= max_compact && cols <= max_compact &&
         (b_col_step == 1    ? depth * cols <= max_numbers
          : b_term_step == 1 ? depth * cols <= max_in_columns
                             : false);
}
inline bool fits_compact(index rows, index cols) {
  return rows <= max_compact && cols <= max_compact && rows * cols <= max_compact;
}
/// So many rows or columns of a result are few: for these it is not worth packing the larger factor.
inline constexpr index few_lines = 8;

/// Whether a product (rows, depth) by (depth, cols) has a result of few rows or columns, and sums of few
/// terms. It is computed in parts of at most max_compact numbers, for any number of the others.
inline bool is_thin(index rows, index depth, index cols) {
  return depth < min_skinny_lines && std::min(rows, cols) <= few_lines;
}
/// Whether a product has a result of few rows or columns, and not many of the others, but more terms than are
/// decoded at a time. These are added in parts.
inline bool is_deep(index rows, index depth, index cols) {
  const index fewer = std::min(rows, cols), more = std::max(rows, cols);
  return fewer > 1 && fewer <= few_lines && more < min_skinny_lines && !fits_compact(more, depth);
}
/// Whether a product (rows, depth) by (depth, cols) of several rows and columns is so small that to pack its
/// factors is most of the work whatever they are packed as, or has so few terms that to add them is not.
inline bool is_surely_compact(index rows, index depth, index cols) {
  constexpr index side = 16, few_terms = 4, max_results = index{1} << 18;
  if (is_thin(rows, depth, cols) || is_deep(rows, depth, cols)) return true;
  if (!fits_compact(rows, depth) || !fits_compact(depth, cols)) return false;
  return depth <= few_terms ? rows * cols <= max_results
                            : fits_compact(rows, cols) && rows * cols * depth <= side * side * side;
}
/// The same for what the factors would be packed as: by as many multiplications as those of matrices of so
/// many rows and columns that panels took longer for (Zen 5).
template <packed_type Best> bool is_compact(kernel_set t, const work_shape& w, packed_type max_type) {
  const bool is_best = max_type >= Best, has_tiles = static_cast<bool>(t.get<&kernel_table::large_k_bf16>());
  index side = 48;
  if (Best == packed_type::bf16 && is_best && t.get<&kernel_table::bf16>()) side = has_tiles ? 16 : 32;
  if (Best == packed_type::two_bf16 && is_best && has_tiles) side = 32;
  return is_surely_compact(w.rows, w.depth, w.cols) ||
         (fits_compact(w.rows, w.cols) && fits_compact(w.rows, w.depth) && fits_compact(w.depth, w.cols) &&
          w.rows * w.cols * w.depth <= side * side * side);
}

/// use(i, j, rows, cols) for each part of the result of a compact product, until one returns false: all of
/// it, or, where it is thin, so many rows or columns of it.
template <class Use> bool for_compact_parts(index rows, index depth, index cols, const Use& use) {
  if (rows == 1 || (fits_compact(rows, depth) && fits_compact(depth, cols)))
    return use(index{0}, index{0}, rows, cols);
  constexpr index vector = 16;  // of columns, so that there are no spare lanes but in the last part
  const index most = max_compact / std::max(depth, std::min(rows, cols)) / vector * vector,
              height = rows > cols ? most : rows, width = rows > cols ? cols : most;
  for (index i = 0; i < rows; i += height)
    for (index j = 0; j < cols; j += width)
      if (!use(i, j, std::min(height, rows - i), std::min(width, cols - j))) return false;
  return true;
}

}  // namespace narrow::kernel

NARROW_STRICT_END
