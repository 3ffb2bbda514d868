// AMX: what tiles of 16 rows of 64 bytes add to AVX-512. In assembly: the intrinsics of g++ 12 do not tell
// the compiler what memory they read, nor take a tile's number from a template.
#pragma once

#include <limits>

#include "avx512.hpp"

NARROW_TARGET_BEGIN("avx512f,avx512bw,avx512dq,amx-tile,amx-int8,amx-bf16")

namespace narrow::inline NARROW_ABI::kernel::amx {

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

// The sums of 32 rows times 32 columns in four tiles, or of the first 16 columns in two.

template <bool Half> inline void clear_tiles() {
  zero<0>();
  zero<1>();
  if constexpr (!Half) {
    zero<2>();
    zero<3>();
  }
}
template <bool Half, class Lane> inline void store_tiles(Lane* tile, index stride) {
  Lane* const lower_tile = tile + tile_rows * stride;
  const index step = stride * index{sizeof *tile};
  store<0>(tile, step);
  store<1>(lower_tile, step);
  if constexpr (!Half) {
    store<2>(tile + tile_words, step);
    store<3>(lower_tile + tile_words, step);
  }
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
/// Bytes of a, of which some are signed, times those of b.
enum class bytes { high_high, high_low, low_high, low_low };
template <bytes Which> struct byte_quads {
  using lane = std::int32_t;
  static constexpr int right_words = 1;
  template <int Sums, int A, int B> static void step() {
    if constexpr (Which == bytes::high_high)
      asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sums), "i"(A), "i"(B));
    else if constexpr (Which == bytes::high_low)
      asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sums), "i"(A), "i"(B));
    else if constexpr (Which == bytes::low_high)
      asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sums), "i"(A), "i"(B));
    else
      asm volatile("tdpbuud %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sums), "i"(A), "i"(B));
  }
};
using int8_quads = byte_quads<bytes::high_high>;

inline constexpr index panel_cols = 2 * tile_words;

/// Adds the products of `packs` packs, of which every `next` begin with a tile of either factor.
template <class Op, bool Half>
inline void add_products(const unsigned char* rows, index row_step, const word* b, index packs, index next) {
  constexpr index b_step = panel_cols * index{sizeof(word)};
  for (index p = 0; p < packs; p += next, b += next * panel_cols, rows += next * index{sizeof(word)}) {
    load<4>(rows, row_step);
    load<5>(rows + tile_rows * row_step, row_step);
    NARROW_UNROLL for (int k = 0; k < Op::right_words; ++k) {
      const word* const right = b + k * packs * panel_cols;
      load<6>(right, b_step);
      Op::template step<0, 4, 6>();
      Op::template step<1, 5, 6>();
      if constexpr (!Half) {
        load<7>(right + tile_words, b_step);
        Op::template step<2, 4, 7>();
        Op::template step<3, 5, 7>();
      }
    }
  }
}

template <class Op, bool Half>
NARROW_KERNEL void multiply_tiles(const left_panel& a, const word* b, index packs, const typename Op::lane*,
                                  typename Op::lane* tile, index stride) {
  clear_tiles<Half>();
  add_products<Op, Half>(a.data, a.row_step, b, packs, tile_words);
  store_tiles<Half>(tile, stride);
}

/// int16 in bytes, 32 rows times 32 columns or 16.
template <bool Half> struct tile_of_int16 {
  static constexpr index size = 2 * tile_rows * panel_cols;

  template <bytes Which> static void add(const left_panel& a, const word* b, index packs) {
    constexpr bool low_a = Which == bytes::low_high || Which == bytes::low_low,
                   low_b = Which == bytes::high_low || Which == bytes::low_low;
    add_products<byte_quads<Which>, Half>(a.data + (low_a ? tile_words * sizeof(word) : 0), a.row_step,
                                          b + (low_b ? tile_rows * panel_cols : 0), packs, 2 * tile_words);
  }

  template <bytes... Which>
  static void sum(const left_panel& a, const word* b, index packs, std::int32_t* tile) {
    clear_tiles<Half>();
    (add<Which>(a, b, packs), ...);
    store_tiles<Half>(tile, panel_cols);
  }

  /// join(high, mixed, low, to) for each vector of sums of products of upper bytes, of upper and lower ones,
  /// and of lower ones.
  template <class Lane, class Join>
  static void multiply(const left_panel& a, const word* b, index packs, Lane* tile, index stride, Join join) {
    alignas(64) std::int32_t high[size], mixed[size], low[size];
    sum<bytes::high_high>(a, b, packs, high);
    sum<bytes::high_low, bytes::low_high>(a, b, packs, mixed);
    sum<bytes::low_low>(a, b, packs, low);
    for (index i = 0; i < size; i += panel_cols)
      for (index l = 0; l < (Half ? tile_words : panel_cols); l += tile_words) {
        const auto at = [&](const std::int32_t* sums) { return _mm512_load_epi32(sums + i + l); };
        join(at(high), at(mixed), at(low), tile + i / panel_cols * stride + l);
      }
  }

  NARROW_KERNEL static void in32(const left_panel& a, const word* b, index packs, const std::int32_t*,
                                 std::int32_t* tile, index stride) {
    multiply(a, b, packs, tile, stride, [](__m512i high, __m512i mixed, __m512i low, std::int32_t* to) {
      const __m512i upper = _mm512_add_epi32(_mm512_slli_epi32(high, 8), mixed);
      _mm512_storeu_epi32(to, _mm512_add_epi32(_mm512_slli_epi32(upper, 8), low));
    });
  }
  NARROW_KERNEL static void in64(const left_panel& a, const word* b, index packs, std::int64_t* tile,
                                 index stride) {
    multiply(a, b, packs, tile, stride, [](__m512i high, __m512i mixed, __m512i low, std::int64_t* to) {
      const auto half = [&](__m256i h, __m256i m, __m256i l, std::int64_t* half_to) {
        const __m512i upper =
            _mm512_add_epi64(_mm512_slli_epi64(_mm512_cvtepi32_epi64(h), 8), _mm512_cvtepi32_epi64(m));
        _mm512_storeu_epi64(half_to, _mm512_add_epi64(_mm512_slli_epi64(upper, 8), _mm512_cvtepi32_epi64(l)));
      };
      half(_mm512_castsi512_si256(high), _mm512_castsi512_si256(mixed), _mm512_castsi512_si256(low), to);
      half(_mm512_extracti32x8_epi32(high, 1), _mm512_extracti32x8_epi32(mixed, 1),
           _mm512_extracti32x8_epi32(low, 1), to + tile_words / 2);
    });
  }
};

/// The lower bytes of the 16-bit lanes of both.
inline __m512i lower_bytes(__m512i a, __m512i b) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(a)), _mm512_cvtepi16_epi8(b), 1);
}

NARROW_KERNEL inline void split_row(word* row, index packs) {
  for (; packs > 0; packs -= 2 * tile_words, row += 2 * tile_words) {
    const __m512i first = _mm512_loadu_epi32(row), second = _mm512_loadu_epi32(row + tile_words);
    _mm512_storeu_epi32(row, lower_bytes(_mm512_srli_epi16(first, 8), _mm512_srli_epi16(second, 8)));
    _mm512_storeu_epi32(row + tile_words, lower_bytes(first, second));
  }
}

/// Two words, bytes low, high, low, high, become one of their high bytes and one of their low ones.
NARROW_KERNEL inline void split_panel(word* panel, index packs) {
  // Of each word the low bytes, then the high ones.
  const __m512i order =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15));
  for (; packs > 0; packs -= 2 * tile_rows, panel += 2 * tile_rows * panel_cols)
    for (index l = 0; l < panel_cols; l += tile_words) {
      __m512i high[tile_rows], low[tile_rows];
      for (index p = 0; p < tile_rows; ++p) {
        const word* const pair = panel + 2 * p * panel_cols + l;
        const __m512i first = _mm512_shuffle_epi8(_mm512_loadu_epi32(pair), order),
                      second = _mm512_shuffle_epi8(_mm512_loadu_epi32(pair + panel_cols), order);
        low[p] = _mm512_or_si512(_mm512_and_si512(first, _mm512_set1_epi32(0xffff)),
                                 _mm512_slli_epi32(second, 16));
        high[p] = _mm512_or_si512(_mm512_srli_epi32(first, 16),
                                  _mm512_andnot_si512(_mm512_set1_epi32(0xffff), second));
      }
      for (index p = 0; p < tile_rows; ++p) {
        _mm512_storeu_epi32(panel + p * panel_cols + l, high[p]);
        _mm512_storeu_epi32(panel + (tile_rows + p) * panel_cols + l, low[p]);
      }
    }
}

template <class Op> constexpr panel_kernel<typename Op::lane> panels_of_tiles(const char* instruction) {
  return {.rows = 2 * tile_rows,
          .cols = 2 * tile_words,
          .all = multiply_tiles<Op, false>,
          .first_half = multiply_tiles<Op, true>,
          .order = left_order::rows_along,
          .multiple = tile_words,
          .begin = begin,
          .end = end,
          .instruction = instruction};
}

constexpr panel_kernel<std::int32_t> panels_of_int16() {
  auto result = panels_of_tiles<int8_quads>("tdpb[su][su]d");
  result.all = tile_of_int16<false>::in32;
  result.first_half = tile_of_int16<true>::in32;
  result.wide = tile_of_int16<false>::in64;
  constexpr index largest = 2 * 255 * 128;  // sum of products of the bytes of two elements
  result.max_wide_packs =
      std::numeric_limits<std::int32_t>::max() / (2 * largest) / (2 * tile_words) * 2 * tile_words;
  result.multiple = 2 * tile_words;
  result.split_row = split_row;
  result.split_panel = split_panel;
  return result;
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

struct kernels {
  template <class Table> static constexpr void offer(Table& table) {
    NARROW_OFFER(large_k_bf16, panels_of_tiles<bf16_pairs>("tdpbf16ps"));
    NARROW_OFFER(large_k_int16, panels_of_int16());
    NARROW_OFFER(large_k_int8, panels_of_tiles<int8_quads>("tdpbssd"));
    NARROW_OFFER(two_bf16, {panels_of_tiles<two_bf16>("tdpbf16ps"), split, exchange_halves});
  }
};

}  // namespace narrow::kernel::amx

NARROW_TARGET_END
