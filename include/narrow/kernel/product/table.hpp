// What an instruction set offers for products of matrices, of a matrix and a vector, and of two vectors.
#pragma once

#include <type_traits>

#include "../shapes.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// Rows of a product's left factor: the word of row i and group p is at data + i row_step + p group_step, in
/// bytes and on no boundary.
struct left_panel {
  const unsigned char* data = nullptr;
  index row_step = 0, group_step = 0;
  index next_panel = 0;  // bytes to the one that is wanted next, if it is far away
};

/// What a lane of a sum takes of either factor: a word, of as many elements as it holds, or one double.
template <class Lane> using factor_of_lane = std::conditional_t<std::is_same_v<Lane, double>, double, word>;

/// How the words of a panel of the left factor lie in memory that a kernel reads fast.
enum class left_order {
  rows_side_by_side,  // of all rows, then of the next group
  rows_along          // of all groups, then of the next row
};

/// tile[i * stride + l] = start[i] + sum over p < groups of a(i, p) . b[p * cols + l], where . multiplies the
/// elements of two words and adds the products; at least one group. Or only for the first half of the
/// columns.
template <class Lane> struct panel_kernel {
  using function = void (*)(const left_panel& a, const factor_of_lane<Lane>* b, index groups,
                            const Lane* start, Lane* tile, index stride);
  int rows = 0, cols = 0;
  function all = nullptr, first_half = nullptr;
  /// Of a kernel that takes elements of b which count 128 too much: the sums of the elements of a's rows.
  /// Without it `start` has zeros, and need not be read.
  void (*row_sums)(const left_panel& a, index groups, Lane* sums) = nullptr;

  left_order order = left_order::rows_side_by_side;
  index multiple = 1;  // of groups, which it is for
  /// What a thread does before the first of its products and after the last one.
  void (*begin)() = nullptr, (*end)() = nullptr;

  /// Of a kernel that takes int16 in two bytes: of every `multiple` groups of a row, and of a panel of b,
  /// these put the words of upper bytes first, then those of lower ones.
  void (*split_row)(word* row, index groups) = nullptr;
  void (*split_panel)(word* panel, index groups) = nullptr;
  /// The same sums, of any int16, in 64 bits: of up to so many groups.
  void (*wide)(const left_panel& a, const word* b, index groups, std::int64_t* tile, index stride) = nullptr;
  index wide_groups = 0;

  /// The same with fewer rows, if there is one.
  const panel_kernel* lower = nullptr;

  constexpr explicit operator bool() const { return all != nullptr; }
  constexpr bool takes_bytes() const { return split_row != nullptr; }
  /// The one for a left factor of n rows: the lower one where it computes less that is no row. It reads the
  /// panels of b more often, which is dear where they do not stay in the first-level cache.
  const panel_kernel& for_rows(index n, index groups) const {
    if (lower == nullptr) return *this;
    const auto computed = [n](const panel_kernel& k) { return (n + k.rows - 1) / k.rows * k.rows; };
    const index by_lower = computed(*lower);
    const bool stays = groups * cols * index{sizeof(word)} <= near_bytes;
    return computed(*this) - (stays ? by_lower : 3 * by_lower / 2) > n / 64 ? *lower : *this;
  }
  /// For so many columns, which the tile has room for, and panels of b so many words apart.
  void multiply(index width, const left_panel& a, const word* b, index panel_words, index groups,
                const Lane* start, Lane* tile, index stride) const {
    for (; width > 0; width -= cols, b += panel_words, tile += cols)
      (2 * width <= cols ? first_half : all)(a, b, groups, start, tile, stride);
  }
};

/// Lines of elements: element k of line l is at data + l line_step + k depth_step, in bytes.
struct line_source {
  const unsigned char* data = nullptr;
  index line_step = 0, depth_step = 0;
  index lines = 0, readable = 0;  // and how many lines of the matrix there are from here on
  index depth = 0;
};

/// A matrix times a vector, with elements of the matrix as they lie in memory; x has a float, two int16 or
/// four int8 in a word.
template <class Lane, class Sum> struct line_kernels {
  int group = 0;     // elements of x in a word
  int vectors = 0;   // that `columns` adds to at once,
  int elements = 0;  // and their lanes
  /// Adds the sum over j < count of x[j] a[i + j stride], stride in bytes, to sums[i], i < n, in the order
  /// that lane_of() gives; sums are as many as make whole vectors.
  void (*columns)(const void* a, index stride, index count, const word* x, index n, Lane* sums) = nullptr;
  /// Adds the sum over j < n of x[j] a[j + i stride] to sums[i], i < count.
  void (*rows)(const void* a, index stride, index count, const word* x, index n, Sum* sums) = nullptr;
  constexpr explicit operator bool() const { return columns != nullptr; }

  int excess = 0;  // what each element of the matrix counts more than it is

  /// Columns are interleaved within 128 bits: vector v has quads v, v + vectors, ... of the rows.
  constexpr index lane_of(index row) const {
    constexpr index quad = 16 / sizeof(Lane);
    const index within = row % elements, block = row - within, parts = elements / quad / vectors;
    const index number = within / quad;
    return block + (number % vectors * parts + number / vectors) * quad + within % quad;
  }
};

/// Sums in units of 2^-dropped_bits of a mantissa, of which there are those from `lowest` to `highest`.
struct integer_rounding {
  int dropped_bits;
  std::int32_t lowest, highest;
  element_draws draws = {};
};
/// To mantissas of 8, of 16 and, if sums have 64 bits, of 32 bits, held to their range. Of sums of 32 bits 1
/// to 30 bits are dropped, of those of 64 bits 1 to 32.
template <class Sum> struct rounding_kernels {
  using kernel = void (*)(const Sum* sums, const tile_shape&, const integer_rounding&, void* to);
  kernel to8 = nullptr, to16 = nullptr;  // to nearest even
  kernel to8_stochastic = nullptr, to16_stochastic = nullptr;
  kernel to32 = nullptr, to32_stochastic = nullptr;
};

template <class Sum>
using scaling_kernel = void (*)(const Sum* sums, const tile_shape&, const float* row_scales,
                                const float* col_scales, float* values);

/// Products of integers of more than 16 bits, in lanes of double, which hold sums to 2^53 exactly.
struct wide_kernels {
  panel_kernel<double> panels, line;  // the latter of one row
  /// Integers as doubles: x, or one of the digits of x = 2^16 high + low, which are from -2^15 to 2^15. n is
  /// a multiple of 16.
  using widening = void (*)(const word* x, double* to, index n);
  widening whole = nullptr, high = nullptr, low = nullptr;
  /// total[i] += sums[i] 2^shift for integers of at most 2^53, n a multiple of 16.
  void (*add)(const double* sums, int shift, std::int64_t* total, index n) = nullptr;
  constexpr explicit operator bool() const { return add != nullptr; }
};

/// The kernels of products; one that an instruction set has not is null.
struct product_table {
  panel_kernel<float> fp32;  // a float each
  panel_kernel<float>
      bf16;  // two bf16 each; subnormals, of which there must be none in a and b, count as zeros
  panel_kernel<std::int32_t> int16;  // two int16 each; wraps
  panel_kernel<std::int32_t> int8;   // four int8 each, or in b, with row_sums, uint8; wraps
  /// The same where the sums are deep.
  panel_kernel<float> deep_bf16 = {};
  /// Numbers split in two bf16, the panels of b followed by others of as many groups whose words have their
  /// halves exchanged; neither subnormals nor sums below 2^-126.
  panel_kernel<float> deep_two_bf16 = {};
  panel_kernel<std::int32_t> deep_int16 = {};  // in bytes
  panel_kernel<std::int32_t> deep_int8 = {};

  /// to[p * width + l] = the word of line l and group p, its bits in `flip` flipped; zeros take the place of
  /// elements and lines that are none. Width: a multiple of 16, or less than 16. By the bytes of an element.
  void (*pack1)(const line_source&, index width, word flip, word* to) = nullptr;
  void (*pack2)(const line_source&, index width, word flip, word* to) = nullptr;
  void (*pack4)(const line_source&, index width, word flip, word* to) = nullptr;
  /// Each int16 x = 256 high + low in whole vectors of words becomes one of them.
  void (*take_high)(word* x, index n) = nullptr;
  void (*take_low)(word* x, index n) = nullptr;
  /// Finite numbers of at most 16 bits as two bf16 that add up to them, the larger one in the upper half.
  void (*split)(const float* from, word* to, index n) = nullptr;
  void (*exchange_halves)(const word* from, word* to, index n) = nullptr;  // of whole vectors

  // What becomes of tiles of sums.
  /// to = alpha sums + beta to, each operation rounded; `to` is not read where beta is 0.
  void (*combine)(const float* sums, const tile_shape&, float alpha, float beta, float* to) = nullptr;
  /// values = float(sums) * (row_scales[i] * col_scales[j]), each operation rounded.
  scaling_kernel<std::int32_t> scale_tile = nullptr;
  scaling_kernel<float> scale_float_tile = nullptr;
  /// values += float(sums) * (row_scales[i] * col_scales[j]), each operation rounded.
  scaling_kernel<std::int32_t> add_scaled_tile = nullptr;
  scaling_kernel<float> add_scaled_float_tile = nullptr;
  rounding_kernels<std::int32_t> round = {};
  rounding_kernels<std::int64_t> round_wide = {};
  /// total[i] = 2^8 high[i] + low[i], n a multiple of 16.
  void (*join)(const std::int32_t* high, const std::int32_t* low, std::int64_t* total, index n) = nullptr;
  /// total[i] += sums[i] 2^shift, n a multiple of 16.
  void (*add_tile)(const std::int32_t* sums, int shift, std::int64_t* total, index n) = nullptr;

  /// values[j] = float(sums[j]) * (row_scale * col_scales[j]), each operation rounded to float. False if a
  /// product of scales is no normal float; then the values mean nothing.
  bool (*scale)(const std::int64_t* sums, float row_scale, const float* col_scales, float* values,
                index n) = nullptr;

  // Sums of a[i] b[i] over lines.
  float (*dot_fp32)(const void* a, const void* b, index n) = nullptr;
  float (*dot_bf16)(const void* a, const void* b, index n) = nullptr;         // subnormals count as zeros
  std::int64_t (*dot_int8)(const void* a, const void* b, index n) = nullptr;  // n to 2^18
  std::int64_t (*dot_int16)(const void* a, const void* b,
                            index n) = nullptr;  // n to 2^11, |a[i] b[i]| to 2^22

  float (*dot_fp16)(const void* a, const void* b, index n) = nullptr;               // as of decoded ones
  std::int64_t (*dot_wide_int16)(const void* a, const void* b, index n) = nullptr;  // n to 2^11
  /// The same as dot_bf16; false if a subnormal took part.
  bool (*dot_any_bf16)(const void* a, const void* b, index n, float* sum) = nullptr;

  wide_kernels wide = {};

  line_kernels<float, float> lines_fp32 = {}, lines_fp16 = {}, lines_bf16 = {};
  line_kernels<std::int32_t, std::int64_t> lines_int8 = {}, lines_int16 = {};  // wrap
};

}  // namespace narrow::inline NARROW_ABI::kernel
