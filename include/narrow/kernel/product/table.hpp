// What an instruction set offers for products of matrices, of a matrix and a vector, and of two vectors.
#pragma once

#include <array>
#include <type_traits>

#include "../shapes.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// Rows of a product's left factor: the word of row i and k-pack p is at data + i row_step + p pack_step, in
/// bytes and on no boundary. A k-pack is what a word holds: neighbours along the summed dimension.
struct left_panel {
  const unsigned char* data = nullptr;
  index row_step = 0, pack_step = 0;
  index next_panel = 0;  // bytes to the panel that is wanted next, if it is far away
};

/// What a lane of a sum takes of either factor: a word, of as many elements as it holds, or one double.
template <class Lane> using factor_of_lane = std::conditional_t<std::is_same_v<Lane, double>, double, word>;

/// How the words of a panel of the left factor lie in memory that a kernel reads fast.
enum class left_order {
  rows_side_by_side,  // the words of all rows, then those of the next k-pack
  rows_along          // the words of all k-packs, then those of the next row
};

/// A kernel that multiplies a panel of rows with a panel of columns:
/// tile[i * stride + l] = start[i] + sum over p < packs of a(i, p) . b[p * cols + l], where . multiplies the
/// elements of two words and adds the products; packs >= 1. `first_half` does so for the first half of the
/// columns only.
template <class Lane> struct panel_kernel {
  using function = void (*)(const left_panel& a, const factor_of_lane<Lane>* b, index packs,
                            const Lane* start, Lane* tile, index stride);
  int rows = 0, cols = 0;
  function all = nullptr, first_half = nullptr;
  /// A kernel that takes elements of b which count 128 too much has this for the sums of the elements of a's
  /// rows, from which `start` follows. Of other kernels `start` has zeros, and need not be read.
  void (*row_sums)(const left_panel& a, index packs, Lane* sums) = nullptr;

  left_order order = left_order::rows_side_by_side;
  index multiple = 1;  // the number of packs must be one of it
  /// What a thread does before the first of its products and after the last one.
  void (*begin)() = nullptr, (*end)() = nullptr;

  /// A kernel that takes int16 in two bytes has these, which change a row of a, and a panel of b, such that
  /// of every `multiple` packs the words of upper bytes come first, then those of lower ones.
  void (*split_row)(word* row, index packs) = nullptr;
  void (*split_panel)(word* panel, index packs) = nullptr;
  /// Sums of products of any int16 in 64 bits, of at most `max_wide_packs` packs.
  void (*wide)(const left_panel& a, const word* b, index packs, std::int64_t* tile, index stride) = nullptr;
  index max_wide_packs = 0;

  /// A kernel with fewer rows that gives the same sums, if there is one.
  const panel_kernel* lower = nullptr;
  /// The instruction that multiplies, for people.
  const char* instruction = "";

  constexpr explicit operator bool() const { return all != nullptr; }
  constexpr bool takes_bytes() const { return split_row != nullptr; }
  /// The kernel for a left factor of n rows: the lower one where it computes less that is no row. It reads
  /// the panels of b more often, which is dear where they do not stay in the first-level cache.
  const panel_kernel& for_rows(index n, index packs) const {
    if (lower == nullptr) return *this;
    const auto computed = [n](const panel_kernel& k) { return (n + k.rows - 1) / k.rows * k.rows; };
    const index by_lower = computed(*lower);
    const bool stays = packs * cols * index{sizeof(word)} <= near_bytes;
    return computed(*this) - (stays ? by_lower : 3 * by_lower / 2) > n / 64 ? *lower : *this;
  }
  /// Multiplies with `width` columns, which the tile has room for, in panels `panel_words` apart.
  void multiply(index width, const left_panel& a, const word* b, index panel_words, index packs,
                const Lane* start, Lane* tile, index stride) const {
    for (; width > 0; width -= cols, b += panel_words, tile += cols)
      (2 * width <= cols ? first_half : all)(a, b, packs, start, tile, stride);
  }
};

/// Lines of elements: element k of line l is at data + l line_step + k depth_step, in bytes.
struct line_source {
  const unsigned char* data = nullptr;
  index line_step = 0, depth_step = 0;
  index lines = 0, readable = 0;  // the latter: lines of the matrix from the first one on
  index depth = 0;
};

// Kernels that need each other are one type, which is offered whole or not at all: its constructor takes them
// all. A program tests the type before it calls one of them.

/// Kernels that pack lines of elements as words.
struct packing_kernels {
  /// to[i * panel_words + p * width + l] = the word of line i * width + l and k-pack p, its bits in `flip`
  /// flipped; in as many panels as the lines take, zeros take the place of elements and lines that are none.
  /// Width: a multiple of 16, or less than 16.
  using packing = void (*)(const line_source&, index width, index panel_words, word flip, word* to);
  using change = void (*)(word* x, index n);

  packing bytes1 = nullptr, bytes2 = nullptr, bytes4 = nullptr;  // for elements of so many bytes
  /// n numbers of int8 as int16, for an instruction that multiplies no shorter integers.
  void (*int8_to_int16)(const void* from, void* to, index n) = nullptr;
  /// Each int16 x = 256 high + low in whole vectors of words becomes one of them.
  change take_high = nullptr, take_low = nullptr;

  constexpr packing_kernels() = default;
  constexpr packing_kernels(packing of1, packing of2, packing of4, decltype(int8_to_int16) widen, change high,
                            change low)
      : bytes1(of1), bytes2(of2), bytes4(of4), int8_to_int16(widen), take_high(high), take_low(low) {}
  constexpr explicit operator bool() const { return bytes1 != nullptr; }
};

/// Kernels for numbers that are the sum of two bf16, all four products of which are added.
struct two_bf16_kernels {
  /// The panels of b are followed by others of as many packs whose words have their halves exchanged. There
  /// must be neither subnormals nor sums below 2^-126.
  panel_kernel<float> panels;
  /// Finite numbers of at most 16 bits as two bf16 that add up to them, the larger one in the upper half.
  void (*split)(const float* from, word* to, index n) = nullptr;
  void (*exchange_halves)(const word* from, word* to, index n) = nullptr;  // of whole vectors

  constexpr two_bf16_kernels() = default;
  constexpr two_bf16_kernels(const panel_kernel<float>& product, decltype(split) to_halves,
                             decltype(exchange_halves) exchange)
      : panels(product), split(to_halves), exchange_halves(exchange) {}
};

/// Kernels that add sums of 32 bits to ones of 64 bits; n is a multiple of 16.
struct widening_kernels {
  /// total[i] = 2^8 high[i] + low[i].
  void (*join)(const std::int32_t* high, const std::int32_t* low, std::int64_t* total, index n) = nullptr;
  /// total[i] += sums[i] 2^shift.
  void (*add)(const std::int32_t* sums, int shift, std::int64_t* total, index n) = nullptr;

  constexpr widening_kernels() = default;
  constexpr widening_kernels(decltype(join) joining, decltype(add) adding) : join(joining), add(adding) {}
  constexpr explicit operator bool() const { return join != nullptr; }
};

/// Numbers of a factor, or of a result, of products that are multiplied without panels because they are
/// small: a first-level cache holds three times as many floats. The second factor may have more where the
/// first one is a row.
inline constexpr index max_compact = 4096;

/// The most numbers of a matrix whose product is made by moving the lanes of vectors: as many as a vector of
/// 512 bits has.
inline constexpr index few_numbers = 16;
/// row_of_place[cols][p]: the row of number p of a matrix of so many columns that lies row by row.
inline constexpr auto row_of_place = [] {
  std::array<std::array<std::int32_t, few_numbers>, few_numbers + 1> rows{};
  for (std::size_t cols = 1; cols < rows.size(); ++cols)
    for (std::size_t p = 0; p < rows[cols].size(); ++p) rows[cols][p] = static_cast<std::int32_t>(p / cols);
  return rows;
}();

/// Whether the three matrices of a product have few numbers each.
constexpr bool has_few_numbers(index rows, index depth, index cols) {
  return rows * depth <= few_numbers && depth * cols <= few_numbers && rows * cols <= few_numbers;
}

/// Two such matrices (rows, depth) and (depth, cols): neighbours lie side by side along the rows or along the
/// columns of each of them.
template <class A, class B> struct compact_factors {
  const A* a;
  const B* b;
  index a_row_step, a_term_step, b_term_step, b_col_step;
  index rows, depth, cols;

  /// Numbers after those of a decoded matrix that are read, but not used.
  static constexpr index max_spare = 16;

  /// Whether the three matrices have few numbers, and those of A and of B follow one another.
  bool are_few() const {
    return has_few_numbers(rows, depth, cols) &&
           ((a_term_step == 1 && a_row_step == depth) || (a_row_step == 1 && a_term_step == rows)) &&
           ((b_col_step == 1 && b_term_step == cols) || (b_term_step == 1 && b_col_step == depth));
  }
  /// The factors of so many rows and columns of the product, from row i and column j on.
  compact_factors part(index i, index j, index so_many_rows, index so_many_cols) const {
    return {a + i * a_row_step, b + j * b_col_step, a_row_step, a_term_step, b_term_step,
            b_col_step,         so_many_rows,       depth,      so_many_cols};
  }
};
/// Whether the kernel of such factors with so many columns raises no floating-point exceptions that their
/// numbers do not raise: where there are no spare lanes, or few.
constexpr bool raises_no_others(index cols) {
  constexpr index lanes = 16;  // at most
  return cols < lanes || cols % (lanes / 2) == 0;
}
/// C = alpha A B + beta C for more than one row, products added in ascending order in float; then each
/// operation is rounded, and the result to nearest even. Coefficient (i, j) of C is at c + i * steps.line +
/// j * steps.element, and is not read where beta is 0.
template <class A, class B, class C> struct compact_product {
  using function = void(const compact_factors<A, B>&, C* c, const line_steps&, float alpha, float beta);
};
/// The same for a row `a`, all of which is read before anything is written; from four terms on, the products
/// are added in another order. No exceptions are raised that the numbers do not raise.
template <class A, class B, class C> struct compact_line {
  using function = void(const compact_line&);

  const A* a;
  const B* b;
  C* c;
  index a_step, b_term_step, b_col_step, c_step;
  index depth, cols;
  float alpha, beta;
};

/// Kernels that scale tiles of sums of one type.
template <class Sum> struct scaling_kernels {
  using scaling = void (*)(const Sum* sums, const tile_shape&, const float* row_scales,
                           const float* col_scales, float* values);
  scaling set = nullptr;  // values = float(sums) * (row_scales[i] * col_scales[j]), each operation rounded
  scaling add = nullptr;  // values += that, rounded once more

  constexpr scaling_kernels() = default;
  constexpr scaling_kernels(scaling setting, scaling adding) : set(setting), add(adding) {}
  constexpr explicit operator bool() const { return set != nullptr; }
};

/// Lines of elements of 8 bits, whose numbers are multiplied by powers of two, one for each run of them: the
/// first run of a line has `first_run` elements, the others have `run`.
struct scaled_lines {
  index lines, length;
  index stride, to_stride;  // from a line to the next
  index first_run, run;
  /// What is added to the codes of a line's runs as bf16: 2^7 times the exponent, or `by_nan`. Those of the
  /// next line are steps_stride further on.
  const std::uint16_t* steps;
  index steps_stride;

  static constexpr std::uint16_t by_nan = 0xffff;
};
/// The least and the largest magnitude of finite numbers that are not zero, as codes of bf16. Of those that
/// bf16 cannot hold as normal numbers it is a number below all those codes, or above.
struct bf16_magnitudes {
  std::uint16_t least = 0xffff, most = 0;
};

/// Kernels for scaled lines as bf16. Zeros and what is not finite stay. The exponents of factors, and of
/// elements, add up to -2^8 to 2^8.
struct scaling_to_bf16_kernels {
  using kernel = void (*)(const void* from, const std::uint16_t* values, const scaled_lines&, void* to,
                          bf16_magnitudes& seen);
  kernel integers = nullptr;
  kernel codes = nullptr;         // each of which is values[code]
  kernel signed_codes = nullptr;  // likewise, for the lower 7 bits of the code; its upper bit is the result's

  constexpr scaling_to_bf16_kernels() = default;
  constexpr scaling_to_bf16_kernels(kernel of_integers, kernel of_codes, kernel of_signed_codes)
      : integers(of_integers), codes(of_codes), signed_codes(of_signed_codes) {}
  constexpr explicit operator bool() const { return integers != nullptr; }
};

/// How many vectors a matrix is multiplied with at once, where it is with several.
inline constexpr index vectors_at_once = 4;

/// A matrix times a vector, with elements of the matrix as they lie in memory; x has a float, two int16 or
/// four int8 in a word.
template <class Lane, class Sum> struct gemv_kernels {
  int k_pack = 0;    // elements of x in a word
  int vectors = 0;   // that `columns` adds to at once
  int elements = 0;  // the lanes of these vectors
  /// Adds the sum over j < count of x[j] a[i + j stride], stride in bytes, to sums[i], i < n, in the order
  /// that for_lanes() gives; sums are as many as make whole vectors.
  void (*columns)(const void* a, index stride, index count, const word* x, index n, Lane* sums) = nullptr;
  /// Adds the sum over j < n of x[j] a[j + i stride] to sums[i], i < count.
  void (*rows)(const void* a, index stride, index count, const word* x, index n, Sum* sums) = nullptr;
  /// Adds, for each of vectors_at_once vectors, the sum over j < n of x[c][j] a[j + i stride] to sums[i
  /// row_step + c vector_step], i < count.
  void (*few)(const void* a, index stride, index count, const word* const* x, index n, Sum* sums,
              index row_step, index vector_step) = nullptr;
  int excess = 0;  // each element of the matrix counts so much more than it is

  constexpr gemv_kernels() = default;
  constexpr gemv_kernels(int k, int at_once, int lanes, decltype(columns) by_columns, decltype(rows) by_rows,
                         decltype(few) by_rows_at_once, int too_much)
      : k_pack(k),
        vectors(at_once),
        elements(lanes),
        columns(by_columns),
        rows(by_rows),
        few(by_rows_at_once),
        excess(too_much) {}
  constexpr explicit operator bool() const { return columns != nullptr; }

  /// use(row, lane) for the first n rows. Columns are interleaved within 128 bits: vector v has quads v, v +
  /// vectors, ... of the rows.
  template <class Use> constexpr void for_lanes(index n, const Use& use) const {
    constexpr index quad = 16 / sizeof(Lane);
    const index parts = elements / quad / vectors;
    index row = 0;
    for (index block = 0; block < n; block += elements)
      for (index p = 0; p < parts; ++p)
        for (index v = 0; v < vectors; ++v)
          for (index l = 0; l < quad && row < n; ++l, ++row) use(row, block + (v * parts + p) * quad + l);
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

/// Products of integers of more than 16 bits, in lanes of double, which hold sums to 2^53 exactly.
struct wide_kernels {
  panel_kernel<double> panels, line;  // the latter of one row
  /// Integers as doubles: x, or one of the limbs of x = 2^16 high + low, which are from -2^15 to 2^15. n is
  /// a multiple of 16.
  using widening = void (*)(const word* x, double* to, index n);
  widening whole = nullptr, high = nullptr, low = nullptr;
  /// total[i] += sums[i] 2^shift for integers of at most 2^53, n a multiple of 16.
  void (*add)(const double* sums, int shift, std::int64_t* total, index n) = nullptr;
  constexpr explicit operator bool() const { return add != nullptr; }
};

/// Of lines of one format's codes, each of which is decoded where it is multiplied; sums are those of decoded
/// numbers.
struct code_line_kernels {
  float (*dot)(const void* a, const void* b, index n) = nullptr;
  float (*sum)(const void* a, index n) = nullptr;
  gemv_kernels<float, float> gemv = {};
};
/// A job that gives those for lines of these codes, of which none may be there.
template <class Codes> struct code_lines_of { using function = const code_line_kernels&(); };

/// Sums of a[i] b[i] over lines of bf16.
struct bf16_dot_kernels {
  float (*flushing)(const void* a, const void* b, index n) = nullptr;  // subnormals count as zeros
  /// As `flushing`; false if a subnormal took part that is no zero here.
  bool (*checked)(const void* a, const void* b, index n, float* sum) = nullptr;

  constexpr bf16_dot_kernels() = default;
  constexpr bf16_dot_kernels(decltype(flushing) flush, decltype(checked) check)
      : flushing(flush), checked(check) {}
  constexpr explicit operator bool() const { return flushing != nullptr; }
};

/// Sums of a[i] b[i] over lines of int16; n to 2^11.
struct int16_dot_kernels {
  using dot = std::int64_t (*)(const void* a, const void* b, index n);
  static constexpr std::int64_t max_narrow = std::int64_t{1} << 22;

  dot narrow = nullptr;  // |a[i] b[i]| to max_narrow
  dot wide = nullptr;    // any: b in two limbs

  constexpr int16_dot_kernels() = default;
  constexpr int16_dot_kernels(dot narrow_sums, dot wide_sums) : narrow(narrow_sums), wide(wide_sums) {}
  constexpr explicit operator bool() const { return narrow != nullptr; }
};

/// The kernels of products; one that an instruction set has not is null.
struct product_table {
  panel_kernel<float> fp32 = {};          // a float in a word
  panel_kernel<float> bf16 = {};          // two bf16; of a and b none is subnormal, which it takes for a zero
  panel_kernel<std::int32_t> int16 = {};  // two int16; wraps
  panel_kernel<std::int32_t> int8 = {};   // four int8, or in b, with row_sums, uint8; wraps
  // Kernels that are faster from some depth on.
  panel_kernel<float> large_k_bf16 = {};
  panel_kernel<std::int32_t> large_k_int16 = {};  // in bytes
  panel_kernel<std::int32_t> large_k_int8 = {};
  two_bf16_kernels two_bf16 = {};
  wide_kernels wide = {};
  compact_product<float, float, float>::function* compact = nullptr;  // where no job is for the types
  packing_kernels packing = {};                                       // without these no panels are used
  widening_kernels widening = {};  // without these no panels of integers whose sums do not fit 32 bits

  // What becomes of tiles of sums.
  /// to = alpha sums + beta to, each operation rounded; `to` is not read where beta is 0.
  void (*axpby)(const float* sums, const tile_shape&, float alpha, float beta, float* to) = nullptr;
  scaling_kernels<std::int32_t> scale_tile = {};
  scaling_kernels<float> scale_float_tile = {};
  rounding_kernels<std::int32_t> round = {};
  rounding_kernels<std::int64_t> round_wide = {};
  /// values[j] = float(sums[j]) * (row_scale * col_scales[j]), each operation rounded to float. False if a
  /// product of scales is no normal float; then the values mean nothing.
  bool (*scale)(const std::int64_t* sums, float row_scale, const float* col_scales, float* values,
                index n) = nullptr;

  scaling_to_bf16_kernels scale_to_bf16 = {};

  // Sums of a[i] b[i] over lines.
  float (*dot_fp32)(const void* a, const void* b, index n) = nullptr;
  float (*dot_fp16)(const void* a, const void* b, index n) = nullptr;  // as dot_fp32 of decoded numbers
  std::int64_t (*dot_int8)(const void* a, const void* b, index n) = nullptr;  // n to 2^18
  bf16_dot_kernels dot_bf16 = {};
  int16_dot_kernels dot_int16 = {};

  gemv_kernels<float, float> gemv_fp32 = {}, gemv_fp16 = {}, gemv_bf16 = {};
  gemv_kernels<std::int32_t, std::int64_t> gemv_int8 = {}, gemv_int16 = {};  // wrap
};

}  // namespace narrow::kernel
