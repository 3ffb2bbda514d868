// AMX: what tiles of 16 rows of 64 bytes add to AVX-512. In assembly: the intrinsics of g++ 12 do not tell the compiler
// what memory they read, nor take a tile's number from a template.
#pragma once

#include "avx512.hpp"

NARROW_TARGET_BEGIN("avx512f,amx-tile,amx-int8,amx-bf16")

namespace narrow::kernel::amx {

inline constexpr int tile_rows = 16, tile_words = 16;

/// What LDTILECFG reads (Intel SDM volume 2, there): palette 1, all tiles as large as they can be.
struct tile_configuration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(tile_configuration) == 64);

NARROW_KERNEL inline void begin() {
  static constexpr tile_configuration configuration = [] {
    tile_configuration result;
    for (int i = 0; i < 8; ++i) {
      result.row_bytes[i] = tile_words * sizeof(word);
      result.rows[i] = tile_rows;
    }
    return result;
  }();
  asm volatile("ldtilecfg %0" : : "m"(configuration));
}
NARROW_KERNEL inline void end() { asm volatile("tilerelease"); }

template <int Tile> inline void zero() { asm volatile("tilezero %%tmm%c0" : : "i"(Tile)); }
template <int Tile> inline void load(const void* from, index row_step) {
  asm volatile("tileloadd (%0, %1), %%tmm%c2" : : "r"(from), "r"(row_step), "i"(Tile) : "memory");
}
template <int Tile> inline void store(void* to, index row_step) {
  asm volatile("tilestored %%tmm%c2, (%0, %1)" : : "r"(to), "r"(row_step), "i"(Tile) : "memory");
}

/// Subnormal factors and sums count as zeros.
struct bf16_pairs {
  using lane = float;
  static constexpr int right_words = 1;
  template <int Sums, int A, int B> static void step() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sums), "i"(A), "i"(B));
  }
};
/// Words of a times those of b, and those of b with their halves exchanged.
struct two_bf16 : bf16_pairs {
  static constexpr int right_words = 2;
};
struct int8_quads {
  using lane = std::int32_t;
  static constexpr int right_words = 1;
  template <int Sums, int A, int B> static void step() {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sums), "i"(A), "i"(B));
  }
};

/// 32 rows times 32 columns, in four tiles, or the first 16 columns, in two.
template <class Op, bool Half>
NARROW_KERNEL void multiply_tiles(const left_panel& a, const word* b, index groups, const typename Op::lane*,
                                  typename Op::lane* tile, index stride) {
  constexpr index panel_cols = 2 * tile_words, b_step = panel_cols * index{sizeof(word)};
  zero<0>();
  zero<1>();
  if constexpr (!Half) {
    zero<2>();
    zero<3>();
  }
  const unsigned char *upper = a.data, *lower = a.data + tile_rows * a.row_step;
  for (index p = 0; p < groups; p += tile_words, b += tile_rows * panel_cols) {
    load<4>(upper, a.row_step);
    load<5>(lower, a.row_step);
    NARROW_UNROLL for (int k = 0; k < Op::right_words; ++k) {
      const word* const right = b + k * groups * panel_cols;
      load<6>(right, b_step);
      Op::template step<0, 4, 6>();
      Op::template step<1, 5, 6>();
      if constexpr (!Half) {
        load<7>(right + tile_words, b_step);
        Op::template step<2, 4, 7>();
        Op::template step<3, 5, 7>();
      }
    }
    upper += tile_words * sizeof(word);
    lower += tile_words * sizeof(word);
  }
  typename Op::lane* const lower_tile = tile + tile_rows * stride;
  const index step = stride * index{sizeof *tile};
  store<0>(tile, step);
  store<1>(lower_tile, step);
  if constexpr (!Half) {
    store<2>(tile + tile_words, step);
    store<3>(lower_tile + tile_words, step);
  }
}

template <class Op> constexpr panel_kernel<typename Op::lane> panels_of_tiles() {
  return {.rows = 2 * tile_rows,
          .cols = 2 * tile_words,
          .all = multiply_tiles<Op, false>,
          .first_half = multiply_tiles<Op, true>,
          .order = left_order::rows_along,
          .multiple = tile_words,
          .begin = begin,
          .end = end};
}

NARROW_KERNEL inline void split(const float* from, word* to, index n) {
  using vector = __m512i;
  const vector upper_half = _mm512_set1_epi32(static_cast<int>(0xffff'0000));
  for (index i = 0; i < n; i += tile_words) {
    const auto some = static_cast<__mmask16>(n - i < tile_words ? (1u << (n - i)) - 1 : 0xffffu);
    const vector x = _mm512_maskz_loadu_epi32(some, from + i), upper = _mm512_and_si512(x, upper_half);
    const __m512 rest = _mm512_castsi512_ps(x) - _mm512_castsi512_ps(upper);
    _mm512_mask_storeu_epi32(to + i, some,
                             _mm512_or_si512(upper, _mm512_srli_epi32(_mm512_castps_si512(rest), 16)));
  }
}

NARROW_KERNEL inline void exchange_halves(const word* from, word* to, index n) {
  for (index i = 0; i < n; i += tile_words)
    _mm512_storeu_epi32(to + i, _mm512_rol_epi32(_mm512_loadu_epi32(from + i), 16));
}

inline constexpr kernel_table kernels{.fp32 = {},
                                      .bf16 = {},
                                      .int16 = {},
                                      .int8 = {},
                                      .deep_bf16 = panels_of_tiles<bf16_pairs>(),
                                      .deep_two_bf16 = panels_of_tiles<two_bf16>(),
                                      .deep_int8 = panels_of_tiles<int8_quads>(),
                                      .pack = {.split = split, .exchange_halves = exchange_halves}};

}  // namespace narrow::kernel::amx

NARROW_TARGET_END
