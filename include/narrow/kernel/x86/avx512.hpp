// AVX-512 (F, BW, VL, DQ), and what VNNI and BF16 add to it: vectors of 512 bits.
#pragma once

#include "avx2.hpp"

NARROW_TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq")

namespace narrow::kernel::avx512 {

inline constexpr int vector_bytes = 64;

#include "../codes.inl"
#include "../dot.inl"
#include "../pack.inl"
#include "../panels.inl"
#include "../quantize.inl"
#include "../tile.inl"

struct floats {
  using vector = __m512;
  using lane = float;
  static constexpr int lanes = 16;
  static vector zero() { return _mm512_setzero_ps(); }
  static vector fill(lane x) { return _mm512_set1_ps(x); }
  static vector load(const word* from) { return _mm512_loadu_ps(from); }
  static void store(lane* to, vector x) { _mm512_storeu_ps(to, x); }
  static vector broadcast(word a) { return _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(a))); }
  static vector step(vector acc, word a, vector b) { return _mm512_fmadd_ps(broadcast(a), b, acc); }
};

struct fp32_line : floats {
  using sum = float;
  static constexpr int elements = lanes, element_size = 4;
  static vector load(const void* from) { return _mm512_loadu_ps(from); }
  static vector add(vector a, vector b) { return a + b; }  // clang's intrinsic has the caller's flags
  static vector multiply_add(vector acc, vector a, vector b) { return _mm512_fmadd_ps(a, b, acc); }
};

struct integers {
  using vector = __m512i;
  using lane = std::int32_t;
  static constexpr int lanes = 16;
  static vector zero() { return _mm512_setzero_si512(); }
  static vector fill(lane x) { return _mm512_set1_epi32(x); }
  static vector load(const word* from) { return _mm512_loadu_si512(from); }
  static void store(lane* to, vector x) { _mm512_storeu_si512(to, x); }
  static vector broadcast(word a) { return _mm512_set1_epi32(static_cast<int>(a)); }
};

struct int16_pairs : integers {
  static vector step(vector acc, word a, vector b) {
    return _mm512_add_epi32(acc, _mm512_madd_epi16(b, broadcast(a)));
  }
};

struct int16_line : integers {
  using sum = std::int64_t;
  static constexpr int elements = 2 * lanes, element_size = 2;
  static vector load(const void* from) { return _mm512_loadu_si512(from); }
  static vector add(vector a, vector b) { return _mm512_add_epi32(a, b); }
  static vector multiply_add(vector acc, vector a, vector b) { return add(acc, _mm512_madd_epi16(a, b)); }
};

struct int8_line : int16_line {
  static constexpr int element_size = 1;
  static vector load(const void* from) {
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256(static_cast<const __m256i*>(from)));
  }
};

NARROW_KERNEL inline void fp16_to_float(const void* from, float* to, index n) {
  const auto* halves = static_cast<const std::uint8_t*>(from);
  for (; n >= 16; n -= 16, halves += 32, to += 16)
    _mm512_storeu_ps(to, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(halves))));
  avx2::fp16_to_float(halves, to, n);
}

NARROW_KERNEL inline void float_to_fp16(const float* from, void* to, index n) {
  auto* halves = static_cast<std::uint8_t*>(to);
  for (; n >= 16; n -= 16, from += 16, halves += 32)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(halves),
                        _mm512_cvtps_ph(_mm512_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
  avx2::float_to_fp16(from, halves, n);
}

inline constexpr kernel_table kernels{.fp32 = panels<floats, 14, 2>(),
                                      .bf16 = {},
                                      .int16 = panels<int16_pairs, 12, 2>(),
                                      .int8 = {},
                                      .pack = packers(),
                                      .tiles = tiles<float_to_fp16>(),
                                      .quantize_int8 = quantizers<std::int8_t>(),
                                      .quantize_int16 = quantizers<std::int16_t>(),
                                      .survey = survey_line,
                                      .scale = scale_line,
                                      .encode8 = encode_line<std::uint8_t>,
                                      .encode16 = encode_line<std::uint16_t>,
                                      .decode8 = decode_line<std::uint8_t>,
                                      .decode16 = decode_line<std::uint16_t>,
                                      .has_subnormal_bf16 = has_subnormal_bf16,
                                      .dot_fp32 = dot_line<fp32_line>,
                                      .dot_bf16 = {},
                                      .dot_int8 = dot_line<int8_line>,
                                      .dot_int16 = dot_line<int16_line>,
                                      .fp16_to_float = fp16_to_float,
                                      .float_to_fp16 = float_to_fp16};

}  // namespace narrow::kernel::avx512

NARROW_TARGET_END

NARROW_TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")

namespace narrow::kernel::avx512_vnni {

#include "../panels.inl"

struct int16_pairs : avx512::integers {
  static vector step(vector acc, word a, vector b) { return _mm512_dpwssd_epi32(acc, b, broadcast(a)); }
};

struct int8_quads : avx512::integers {
  static vector step(vector acc, word a, vector b) { return _mm512_dpbusd_epi32(acc, b, broadcast(a)); }
};

inline constexpr int int8_rows = 14;

NARROW_KERNEL inline void int8_row_sums(const left_panel& a, index groups, std::int32_t* sums) {
  constexpr int lanes = int8_quads::lanes;
  const __m512i ones = _mm512_set1_epi8(1);
  if (a.group_step == sizeof(word)) {  // rows lie along memory
    for (int i = 0; i < int8_rows; ++i) {
      const unsigned char* const row = a.data + i * a.row_step;
      __m512i acc = _mm512_setzero_si512();
      index p = 0;
      for (; p + lanes <= groups; p += lanes)
        acc = _mm512_dpbusd_epi32(acc, ones, _mm512_loadu_si512(row + p * index{sizeof(word)}));
      if (p < groups) {
        const auto rest = static_cast<__mmask16>((1u << (groups - p)) - 1);
        acc = _mm512_dpbusd_epi32(acc, ones, _mm512_maskz_loadu_epi32(rest, row + p * index{sizeof(word)}));
      }
      sums[i] = _mm512_reduce_add_epi32(acc);
    }
  } else {  // rows side by side
    const auto rows = static_cast<__mmask16>((1u << int8_rows) - 1);
    __m512i acc = _mm512_setzero_si512();
    for (index p = 0; p < groups; ++p)
      acc = _mm512_dpbusd_epi32(acc, ones, _mm512_maskz_loadu_epi32(rows, a.data + p * a.group_step));
    _mm512_mask_storeu_epi32(sums, rows, acc);
  }
}

inline constexpr kernel_table kernels{.fp32 = {},
                                      .bf16 = {},
                                      .int16 = panels<int16_pairs, 14, 2>(),
                                      .int8 = panels<int8_quads, int8_rows, 2>(),
                                      .int8_row_sums = int8_row_sums};

}  // namespace narrow::kernel::avx512_vnni

NARROW_TARGET_END

NARROW_TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512bf16")

namespace narrow::kernel::avx512_bf16 {

#include "../dot.inl"
#include "../panels.inl"

struct bf16_pairs : avx512::floats {
  static vector step(vector acc, word a, vector b) {
    return _mm512_dpbf16_ps(acc, reinterpret_cast<__m512bh>(b), reinterpret_cast<__m512bh>(broadcast(a)));
  }
};

struct bf16_line : avx512::fp32_line {
  static constexpr int elements = 2 * lanes, element_size = 2;
  static vector multiply_add(vector acc, vector a, vector b) {
    return _mm512_dpbf16_ps(acc, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
  }
};

NARROW_KERNEL inline void decode8_bf16(const void* from, std::uint16_t* to, index n, const std::uint16_t* values) {
  __m512i table[4];
  for (int i = 0; i < 4; ++i) table[i] = _mm512_loadu_si512(values + 32 * i);
  const auto decoded = [&](__m256i codes) {
    const __m512i code = _mm512_cvtepu8_epi16(codes);
    const __m512i low = _mm512_permutex2var_epi16(table[0], code, table[1]),
                  high = _mm512_permutex2var_epi16(table[2], code, table[3]);
    const __mmask32 is_high = _mm512_test_epi16_mask(code, _mm512_set1_epi16(0x40));
    const __m512i sign = _mm512_slli_epi16(_mm512_srli_epi16(code, 7), 15);
    return _mm512_or_si512(_mm512_mask_blend_epi16(is_high, low, high), sign);
  };
  const auto* next = static_cast<const unsigned char*>(from);
  for (; n >= 32; n -= 32, next += 32, to += 32)
    _mm512_storeu_si512(to, decoded(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(next))));
  if (n > 0) {
    const auto rest = static_cast<__mmask32>((1ull << n) - 1);
    _mm512_mask_storeu_epi16(to, rest, decoded(_mm256_maskz_loadu_epi8(rest, next)));
  }
}

inline constexpr kernel_table kernels{.fp32 = {},
                                      .bf16 = panels<bf16_pairs, 14, 2>(),
                                      .int16 = {},
                                      .int8 = {},
                                      .decode8_bf16 = decode8_bf16,
                                      .dot_bf16 = dot_line<bf16_line>};

}  // namespace narrow::kernel::avx512_bf16

NARROW_TARGET_END
