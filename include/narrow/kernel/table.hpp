// What an instruction set offers: a table of kernels, written over pointers, so that it can be compiled for a
// processor that the rest of the program is not compiled for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../round/random.hpp"

namespace narrow::kernel {

using index = std::ptrdiff_t;

/// Four bytes: one float, two bf16 or int16, four int8; neighbours along the summed dimension of a product.
using word = std::uint32_t;

/// Rows of a product's left factor: the word of row i and group p is at data + i row_step + p group_step, in
/// bytes and on no boundary.
struct left_panel {
  const unsigned char* data = nullptr;
  index row_step = 0, group_step = 0;
  index next_panel = 0;  // bytes to the one that is wanted next, if it is far away
};

/// What a lane of a sum takes of either factor: a word, of as many elements as it holds, or one double.
template <class Lane> using factor_of_lane = std::conditional_t<std::is_same_v<Lane, double>, double, word>;

/// Half of a first-level cache.
inline constexpr index near_bytes = 16384;

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

/// Lines of numbers that follow one another, and so many elements from one line to the next.
struct line_block {
  index n = 0, lines = 1;
  index from_stride = 0, to_stride = 0;

  /// As one line where nothing lies between them.
  constexpr line_block joined() const {
    return from_stride == n && to_stride == n ? line_block{.n = n * lines} : *this;
  }
};

/// What elements are rounded stochastically under: the indices first, first + step, ..., those of the next
/// line line_step on.
struct element_draws {
  detail::random_key key{0, 0};
  std::uint32_t first = 0, step = 1, line_step = 0;
};

/// Of lines that meet narrow blocks.
inline constexpr index most_places = 256;

/// How lines are divided into blocks that share a scale: `width` places of `height` lines each; the first
/// ones lack the places `before` the lines and the lines `above` them. Blocks are counted along the lines.
struct block_runs {
  index width = 1, before = 0;
  index height = 1, above = 0;

  /// Whether a scale for each place of the lines, which then have at most most_places, is better than a block
  /// at a time.
  constexpr bool are_narrow() const { return width < 16 || (2 * width <= most_places && height >= 4); }
  static constexpr block_runs one(const line_block& b) { return {.width = b.n, .height = b.lines}; }
};
/// How floats become integers: x * inverse, to the nearest multiple of 2^-30 if `snaps`, held to the range,
/// rounded.
struct quantization {
  double lowest = 0, highest = 0;
  bool snaps = false;
  element_draws draws = {};
};

/// to = float(from) * scale, rounded.
template <class Element>
using scaling_of_blocks = void (*)(const Element* from, float* to, const line_block&, const block_runs&,
                                   const float* scales);

template <class Element> struct quantize_kernels {
  using kernel = void (*)(const float* from, Element* to, const line_block&, const quantization&,
                          const block_runs&, const double* inverses);
  kernel nearest_even = nullptr, toward_zero = nullptr, stochastic = nullptr;
  scaling_of_blocks<Element> dequantize = nullptr;
};

/// How many sums each place has in moment_sums: additions to one of them do not wait for those to the others.
inline constexpr int moment_parts = 4;
/// Of how many places kernels take multiples.
inline constexpr index moment_places = 8;
/// Sums over the numbers at each place of lines, where everything has so many places.
struct moment_sums {
  index places = 0;
  const double* pivots = nullptr;
  double *sums = nullptr, *squares = nullptr;  // of differences from the pivot; place k of line l in element
                                               // k + l % moment_parts * places
  std::int64_t* finite = nullptr;              // how many are finite: no others are in the sums
  std::int32_t* largest = nullptr;             // the bits of the largest finite magnitude
};
/// How many of the finite numbers at each place differ from pivot + mean by more than the deviation, and how
/// many magnitudes have greater bits than the limit.
struct tail_counts {
  const double *pivots = nullptr, *means = nullptr, *deviations = nullptr;
  const std::int32_t* limits = nullptr;
  std::int64_t *far = nullptr, *beyond = nullptr;
};

/// How many sums squares are added to: that of element i to the one i % square_sums.
inline constexpr int square_sums = 32;

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

/// A floating-point format, as the conversion from float sees it.
struct encoding {
  int dropped_bits;          // of float's mantissa
  std::uint32_t half;        // the first of them
  std::uint32_t rebias;      // between the exponents, in units of the code
  std::uint32_t min_normal;  // as a float's bits
  float magic;               // what is added to smaller ones
  std::uint32_t last_code;   // of a finite number, or the next one, which is that of what is beyond
  int sign_shift;
  std::uint32_t zero_sign;  // the code of -0
  bool is_upper_half;       // of float's code, rounded: bf16
};

/// The same, as the conversion to float sees it.
struct decoding {
  int dropped_bits, sign_shift;
  float factor;  // between the exponents
  std::uint32_t magnitude_mask, max_code, infinity, payload_mask;
};

/// Rows of numbers, `stride` elements apart, and where they go.
struct tile_shape {
  index rows = 0, cols = 0, stride = 0, to_stride = 0;

  static constexpr tile_shape line(index n) { return {1, n, n, n}; }
};

/// Between floats and codes of so many bits.
struct code_kernels {
  /// To nearest even. False if something was NaN, whose code then means nothing.
  bool (*encode)(const float* from, const tile_shape&, void* to, const encoding&) = nullptr;
  /// A line, rounded stochastically.
  bool (*encode_stochastic)(const float* from, void* to, index n, const encoding&,
                            const element_draws&) = nullptr;
  void (*decode)(const void* from, float* to, index n, const decoding&) = nullptr;
};

/// Codes of 16 bits: those that have `first` or one of the `count` numbers from there on in the bits of the
/// mask.
struct code_range {
  std::uint16_t mask, first, count;
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

/// What one instruction set adds to the one that it extends; a kernel that it has not is null.
struct kernel_table {
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

  quantize_kernels<std::int8_t> quantize_int8 = {};
  quantize_kernels<std::int16_t> quantize_int16 = {};
  quantize_kernels<std::int32_t> quantize_int32 = {};
  scaling_of_blocks<float> scale_blocks = nullptr;
  /// Raises `largest` of each block to the bits of the largest finite magnitude; returns how many numbers are
  /// not finite.
  std::size_t (*survey)(const float* from, const line_block&, const block_runs&,
                        std::uint32_t* largest) = nullptr;

  // Lines of which n is a multiple of moment_places are added to what is there.
  void (*add_moments)(const float* from, const line_block&, const moment_sums&) = nullptr;
  void (*count_tails)(const float* from, const line_block&, const tail_counts&) = nullptr;

  // n a multiple of square_sums.
  /// Adds the squares of `from`.
  void (*add_squares)(const float* from, index n, double* sums) = nullptr;
  /// to[i] += from[i] / divisor, and adds the squares of `to`.
  void (*add_quotients)(const float* from, double divisor, double* to, index n, double* sums) = nullptr;

  /// values[j] = float(sums[j]) * (row_scale * col_scales[j]), each operation rounded to float. False if a
  /// product of scales is no normal float; then the values mean nothing.
  bool (*scale)(const std::int64_t* sums, float row_scale, const float* col_scales, float* values,
                index n) = nullptr;

  code_kernels codes8 = {}, codes16 = {}, codes32 = {};

  /// Whether there is such a code.
  bool (*has_code16)(const void* codes, index n, const code_range&) = nullptr;

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

  // Sums of a[i] over lines, n to 2^15; the floating ones are the same whatever the format.
  float (*sum_fp32)(const void* a, index n) = nullptr;
  float (*sum_fp16)(const void* a, index n) = nullptr;
  float (*sum_bf16)(const void* a, index n) = nullptr;
  std::int64_t (*sum_int8)(const void* a, index n) = nullptr;
  std::int64_t (*sum_int16)(const void* a, index n) = nullptr;
  std::int64_t (*sum_int32)(const void* a, index n) = nullptr;

  /// to[i] = values[code] for the lower 7 bits of the code; its upper bit is the result's.
  void (*look_up8)(const void* from, void* to, index n, const std::uint16_t* values) = nullptr;

  line_kernels<float, float> lines_fp32 = {}, lines_fp16 = {}, lines_bf16 = {};
  line_kernels<std::int32_t, std::int64_t> lines_int8 = {}, lines_int16 = {};  // wrap

  /// Copies past the caches; `end_stream` afterwards, so that other threads see it.
  void (*stream)(void* to, const void* from, std::size_t bytes) = nullptr;
  void (*end_stream)() = nullptr;

  void (*fp16_to_float)(const void* from, float* to, index n) = nullptr;
  /// To nearest even, overflow as IEEE has it; NaN too.
  void (*float_to_fp16)(const float* from, const tile_shape&, void* to) = nullptr;
};

struct instruction_set {
  std::string_view name, extends;
  bool (*supported)();   // by the processor and the operating system
  std::size_t base = 0;  // where in the list the one is that it extends
};

// A program compiles the kernels that it asks for. So an instruction set is not a table, but a type with a
// function template `offer(table)`, which offers each kernel by its name to a table of all or of one.

template <auto Member> struct member {};

template <auto Member> struct one_kernel {
  std::remove_cvref_t<decltype(std::declval<kernel_table>().*Member)> kernel = {};
  template <auto Offered> static constexpr bool wants = std::is_same_v<member<Offered>, member<Member>>;
  template <auto> constexpr auto& at() { return kernel; }
};
struct every_kernel {
  kernel_table kernels = {};
  template <auto> static constexpr bool wants = true;
  template <auto Member> constexpr auto& at() { return kernels.*Member; }
};
struct no_kernels {
  template <class Table> static constexpr void offer(Table&) {}
};
/// In such a function: the kernel `name` is what follows.
#define NARROW_OFFER(name, ...)                             \
  if constexpr (Table::template wants<&kernel_table::name>) \
  table.template at<&kernel_table::name>() = __VA_ARGS__

}  // namespace narrow::kernel
