// NEON, which every AArch64 processor has, and what dot products of int8, BF16 and products of matrices of
// int8 add to it: vectors of 128 bits.
#pragma once

#include <arm_neon.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "../lanes.hpp"
#include "processor.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel::neon {

#include "../parts.inl"

struct instructions : parts_in_memory {
  using integers = int32x4_t;
  using floats = float32x4_t;
  using doubles = float64x2_t;

  static bool any_of(integers x) { return vmaxvq_u32(vreinterpretq_u32_s32(x)) != 0; }
  static int first_lane(integers x) {
    // One bit of each lane, of which the lowest is found.
    const auto bits = vandq_u32(vreinterpretq_u32_s32(x), uint32x4_t{1, 2, 4, 8});
    return std::countr_zero(vaddvq_u32(bits) | 1u << sizeof x / sizeof(int));
  }
  static bool any_without(integers x, integers bits, floats numbers) {
    const uint32x4_t with = vreinterpretq_u32_s32(vandq_s32(x, bits)), are_zero = vceqzq_f32(numbers);
    return vminvq_u32(vorrq_u32(with, are_zero)) == 0;
  }
  static bool any_nan(floats x, floats y) {
    return vminvq_u32(vandq_u32(vceqq_f32(x, x), vceqq_f32(y, y))) == 0;
  }
  static bool any_unequal(floats x, floats y) { return vminvq_u32(vceqq_f32(x, y)) == 0; }
  template <int Size> static void store_lower(void* to, integers x) {
    const int16x4_t halves = vmovn_s32(x);
    if constexpr (Size == 1) {
      const int8x8_t bytes = vmovn_s16(vcombine_s16(halves, halves));
      std::memcpy(to, &bytes, 4);
    } else if constexpr (Size == 2) {
      std::memcpy(to, &halves, sizeof halves);
    } else {
      std::memcpy(to, &x, sizeof x);
    }
  }
  template <int Size> static integers load_lower(const void* from) {
    if constexpr (Size == 1)
      return vreinterpretq_s32_u32(
          vmovl_u16(vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(load_as<word>(from)))))));
    else if constexpr (Size == 2)
      return vreinterpretq_s32_u32(vmovl_u16(load_as<uint16x4_t>(from)));
    else
      return load_as<integers>(from);
  }
  template <int Size> static integers load_signed(const void* from) {
    if constexpr (Size == 1)
      return vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(load_as<word>(from))))));
    else if constexpr (Size == 2)
      return vmovl_s16(load_as<int16x4_t>(from));
    else
      return load_as<integers>(from);
  }
  static floats multiply_add(floats acc, floats a, floats b) { return vfmaq_f32(acc, a, b); }
  static doubles multiply_add(doubles acc, doubles a, doubles b) { return vfmaq_f64(acc, a, b); }
  static integers multiply_add(integers acc, integers a, integers b) {
    const int16x8_t x = vreinterpretq_s16_s32(a), y = vreinterpretq_s16_s32(b);
    return vmlal_high_s16(vmlal_s16(acc, vget_low_s16(x), vget_low_s16(y)), x, y);
  }
  /// With the first elements of all words of b side by side, then the second ones: once for all rows of a
  /// panel.
  static integers multiply_add(integers acc, word a, integers b) {
    const int16x8_t separated =
        vuzp1q_s16(vreinterpretq_s16_s32(b), vreinterpretq_s16_s32(vshrq_n_s32(b, 16)));
    const int16x4_t pair = vreinterpret_s16_u32(vdup_n_u32(a));
    return vmlal_high_lane_s16(vmlal_lane_s16(acc, vget_low_s16(separated), pair, 0), separated, pair, 1);
  }
  static floats square_root(floats x) { return vsqrtq_f32(x); }
  static doubles square_root(doubles x) { return vsqrtq_f64(x); }
  template <std::float_round_style Style> static floats to_integers(floats x) {
    if constexpr (Style == std::round_toward_zero)
      return vrndq_f32(x);
    else if constexpr (Style == std::round_to_nearest)
      return vrndnq_f32(x);
    else
      return Style == std::round_toward_infinity ? vrndpq_f32(x) : vrndmq_f32(x);
  }
  static floats quick_reciprocal_root(floats x) { return vdivq_f32(vdupq_n_f32(1), vsqrtq_f32(x)); }
  static floats permuted(floats x, integers places) {
    const int32x4_t first = vshlq_n_s32(vandq_s32(places, vdupq_n_s32(3)), 2);  // bytes of the lanes
    const int32x4_t bytes = vmlaq_s32(vdupq_n_s32(0x03020100), first, vdupq_n_s32(0x01010101));
    return vreinterpretq_f32_u8(vqtbl1q_u8(vreinterpretq_u8_f32(x), vreinterpretq_u8_s32(bytes)));
  }
  static integers int8_to_int16(const void* from) {
    return vreinterpretq_s32_s16(vmovl_s8(load_as<int8x8_t>(from)));
  }
  static floats load_fp16(const void* from) { return vcvt_f32_f16(load_as<float16x4_t>(from)); }
  static void store_fp16(void* to, floats x) {
    const float16x4_t codes = vcvt_f16_f32(x);
    std::memcpy(to, &codes, sizeof codes);
  }
  static integers to_int64(doubles x) { return vreinterpretq_s32_s64(vcvtq_s64_f64(x)); }

 private:
  template <class T> static T load_as(const void* from) {
    T x;
    std::memcpy(&x, from, sizeof x);
    return x;
  }
};

#include "../lanes.inl"
#include "../vector_kernels.inl"

/// As many products as an inner product of int16 may have fill four lanes, but not eight.
struct int16_dot : int16_line {
  struct vector {
    int32x4_t low, high;
  };
  static constexpr int ways = 4;
  static vector zero() { return {integers::zero(), integers::zero()}; }
  static vector add(vector a, vector b) {
    return {integers::add(a.low, b.low), integers::add(a.high, b.high)};
  }
  static vector multiply_add(vector acc, int32x4_t a, int32x4_t b) {
    const int16x8_t x = vreinterpretq_s16_s32(a), y = vreinterpretq_s16_s32(b);
    return {vmlal_s16(acc.low, vget_low_s16(x), vget_low_s16(y)), vmlal_high_s16(acc.high, x, y)};
  }
  static sum total(vector acc) { return int16_line::total(acc.low) + int16_line::total(acc.high); }
};

/// For 16 codes of 8 bits at a time: the values of their lower 7 bits, with the upper one as the sign.
struct byte_table {
  static constexpr index count = 16;
  uint8x16x4_t low[2], high[2];  // bytes of the values of the lower and of the upper codes
  explicit byte_table(const std::uint16_t* values) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values);
    for (int half = 0; half < 2; ++half)
      for (int k = 0; k < 4; ++k, bytes += 2 * count) {
        const uint8x16x2_t separated = vld2q_u8(bytes);
        low[half].val[k] = separated.val[0];
        high[half].val[k] = separated.val[1];
      }
  }
  void operator()(const std::uint8_t* codes, std::uint8_t* to) const {
    const uint8x16_t code = vld1q_u8(codes);
    const uint8x16_t lower = vandq_u8(code, vdupq_n_u8(0x7f)), upper = vsubq_u8(lower, vdupq_n_u8(64));
    // What is no index of a table becomes 0, or in the second look-up stays as it is.
    uint8x16x2_t value = {{vqtbx4q_u8(vqtbl4q_u8(low[0], lower), low[1], upper),
                           vqtbx4q_u8(vqtbl4q_u8(high[0], lower), high[1], upper)}};
    value.val[1] = vorrq_u8(value.val[1], vandq_u8(code, vdupq_n_u8(0x80)));
    vst2q_u8(to, value);
  }
};

NARROW_KERNEL inline void look_up8(const void* from, void* to, index n, const std::uint16_t* values) {
  constexpr index count = byte_table::count;
  const byte_table look(values);
  const auto* next = static_cast<const std::uint8_t*>(from);
  auto* result = static_cast<std::uint8_t*>(to);
  for (; n >= count; n -= count, next += count, result += 2 * count) look(next, result);
  if (n <= 0) return;
  std::uint8_t rest[count], results[2 * count];
  read_part(rest, next, n);
  look(rest, results);
  std::memcpy(result, results, 2 * static_cast<std::size_t>(n));
}

struct kernels {
  template <class Table> static constexpr void offer(Table& table) {
    offer_vectors(table);
    NARROW_OFFER(fp32, panels<floats, 6, 4>("fmla"));
    NARROW_OFFER(int16, panels<int16_pairs, 6, 4>("smlal"));
    NARROW_OFFER(wide, wide_products<doubles, 6, 4>("fmla"));
    NARROW_OFFER(dot_int16, {dot_line<int16_dot>, dot_line<in_halves<int16_dot>>});
    NARROW_OFFER(look_up8, look_up8);
  }
};

}  // namespace narrow::kernel::neon

NARROW_STRICT_END

// clang 14 declares the intrinsics of what follows only where the whole file is compiled for them: hence the
// assembly.

NARROW_TARGET_BEGIN("dotprod")

namespace narrow::inline NARROW_ABI::kernel::neon_dot {

using neon::read_part;
#include "../../kernel/product/dot.inl"
#include "../../kernel/product/gemv.inl"
#include "../../kernel/product/panels.inl"

/// SDOT takes int8 in both factors, which needs no correction, and does not saturate.
struct int8_quads : neon::integers {
  static vector multiply_add(vector acc, vector a, vector b) {
    asm("sdot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(a), "w"(b));
    return acc;
  }
  static vector step(vector acc, word a, vector b) {
    return multiply_add(acc, b, fill(static_cast<lane>(a)));
  }
};

struct int8_line : int8_quads {
  using sum = std::int64_t;
  static constexpr int elements = 4 * lanes, element_size = 1, x_size = 1, ways = 8;
  static sum total(vector acc) { return total_of_lanes<int8_line>(acc); }
};

struct kernels {
  template <class Table> static constexpr void offer(Table& table) {
    NARROW_OFFER(int8, panels<int8_quads, 6, 4>("sdot"));
    NARROW_OFFER(dot_int8, dot_line<int8_line>);
    NARROW_OFFER(gemv_int8, gemv_of<quad_columns<int8_line>, int8_line>());
  }
};

}  // namespace narrow::kernel::neon_dot

NARROW_TARGET_END

NARROW_TARGET_BEGIN("bf16")

namespace narrow::inline NARROW_ABI::kernel::neon_bf16 {

using neon::read_part;
#include "../../kernel/product/dot.inl"
#include "../../kernel/product/panels.inl"

/// BFDOT and BFMMLA are not used: they round to odd, twice for two products, which is more than the error
/// that a product may have, and flush subnormals. BFMLALB and BFMLALT are FMA of the first and the second
/// elements of words, as float has it.
struct bf16_pairs : neon::floats {
  static vector multiply_add(vector acc, vector a, vector b) {
    asm("bfmlalb %0.4s, %1.8h, %2.8h" : "+w"(acc) : "w"(a), "w"(b));
    asm("bfmlalt %0.4s, %1.8h, %2.8h" : "+w"(acc) : "w"(a), "w"(b));
    return acc;
  }
  static vector step(vector acc, word a, vector b) { return multiply_add(acc, b, broadcast(a)); }
};

struct bf16_line : neon::fp32_line {
  static constexpr int elements = 2 * lanes, element_size = 2;
  static vector multiply_add(vector acc, vector a, vector b) { return bf16_pairs::multiply_add(acc, a, b); }
};

NARROW_KERNEL inline bool dot_checked_bf16(const void* a, const void* b, index n, float* sum) {
  *sum = dot_line<bf16_line>(a, b, n);
  return true;  // subnormals count
}

struct kernels {
  template <class Table> static constexpr void offer(Table& table) {
    NARROW_OFFER(bf16, panels<bf16_pairs, 6, 4>("bfmlalb"));
    NARROW_OFFER(dot_bf16, {dot_line<bf16_line>, dot_checked_bf16});
  }
};

}  // namespace narrow::kernel::neon_bf16

NARROW_TARGET_END

NARROW_TARGET_BEGIN("i8mm")

namespace narrow::inline NARROW_ABI::kernel::neon_i8mm {

/// SMMLA multiplies two rows of eight int8 with two columns of eight: two packs at a time. Of panels as wide
/// as `Width` vectors the first ones.
template <int Rows, int Width, int Vectors>
NARROW_KERNEL void multiply_panels(const left_panel& a, const word* b, index packs, const std::int32_t*,
                                   std::int32_t* tile, index stride) {
  using ints = neon::integers;
  static_assert(Rows % 2 == 0);
  constexpr int row_pairs = Rows / 2, column_pairs = 2 * Vectors;
  ints::vector acc[row_pairs][column_pairs];  // of two rows and two columns
  NARROW_UNROLL for (auto& pair : acc) NARROW_UNROLL for (ints::vector& sums : pair) sums = ints::zero();
  for (index p = 0; p < packs; p += 2, b += 2 * Width * ints::lanes) {
    ints::vector columns[column_pairs];
    NARROW_UNROLL for (int v = 0; v < Vectors; ++v) {
      const ints::vector x = ints::load(b + v * ints::lanes), y = ints::load(b + (Width + v) * ints::lanes);
      columns[2 * v] = vzip1q_s32(x, y);
      columns[2 * v + 1] = vzip2q_s32(x, y);
    }
    NARROW_UNROLL for (int i = 0; i < row_pairs; ++i) {
      word words[ints::lanes];
      for (int w = 0; w < ints::lanes; ++w)
        std::memcpy(&words[w], a.data + (2 * i + w / 2) * a.row_step + (p + w % 2) * a.pack_step,
                    sizeof words[w]);
      const ints::vector rows = ints::load(words);
      NARROW_UNROLL for (int v = 0; v < column_pairs; ++v) asm(
          "smmla %0.4s, %1.16b, %2.16b" : "+w"(acc[i][v]) : "w"(rows), "w"(columns[v]));
    }
  }
  NARROW_UNROLL for (int i = 0; i < row_pairs; ++i) NARROW_UNROLL for (int v = 0; v < Vectors; ++v) {
    const int64x2_t left = vreinterpretq_s64_s32(acc[i][2 * v]),
                    right = vreinterpretq_s64_s32(acc[i][2 * v + 1]);
    std::int32_t* const to = tile + 2 * i * stride + v * ints::lanes;
    ints::store(to, vreinterpretq_s32_s64(vzip1q_s64(left, right)));
    ints::store(to + stride, vreinterpretq_s32_s64(vzip2q_s64(left, right)));
  }
}

template <int Rows, int Vectors> constexpr panel_kernel<std::int32_t> panels() {
  panel_kernel<std::int32_t> result{Rows, Vectors * neon::integers::lanes,
                                    multiply_panels<Rows, Vectors, Vectors>,
                                    multiply_panels<Rows, Vectors, Vectors / 2>};
  result.multiple = 2;
  result.instruction = "smmla";
  return result;
}

struct kernels {
  template <class Table> static constexpr void offer(Table& table) { NARROW_OFFER(int8, panels<8, 2>()); }
};

}  // namespace narrow::kernel::neon_i8mm

NARROW_TARGET_END
