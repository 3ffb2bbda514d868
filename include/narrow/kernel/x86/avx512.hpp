// AVX-512 (F, BW, VL, DQ), and what VNNI and BF16 add to it: vectors of 512 bits.
#pragma once

#include "avx2.hpp"

NARROW_TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq")

namespace narrow::kernel::avx512 {

inline constexpr int vector_bytes = 64;

#include "../codes.inl"
#include "../dot.inl"
#include "../gemv.inl"
#include "../panels.inl"
#include "../quantize.inl"

struct floats {
  using vector = __m512;
  using lane = float;
  static constexpr int lanes = 16;
  static vector zero() { return _mm512_setzero_ps(); }
  static vector load(const word* from) { return _mm512_loadu_ps(from); }
  static void store(lane* to, vector x) { _mm512_storeu_ps(to, x); }
  static vector broadcast(word a) { return _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(a))); }
  static vector step(vector acc, word a, vector b) { return _mm512_fmadd_ps(broadcast(a), b, acc); }
};

struct fp32_line : floats {
  using sum = float;
  static constexpr int elements = lanes, element_size = 4, x_size = 4;
  static vector load(const void* from) { return _mm512_loadu_ps(from); }
  static vector load_x(const void* from) { return load(from); }
  static vector load_lanes(const lane* from) { return load(from); }
  static vector add(vector a, vector b) { return a + b; }  // clang's intrinsic has the caller's flags
  static vector multiply_add(vector acc, vector a, vector b) { return _mm512_fmadd_ps(a, b, acc); }
};

struct fp16_line : fp32_line {
  static constexpr int element_size = 2;
  static vector load(const void* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(from)));
  }
};

struct bf16_line : fp32_line {
  static constexpr int element_size = 2;
  static vector load(const void* from) {
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(from)));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
  }
};

struct integers {
  using vector = __m512i;
  using lane = std::int32_t;
  static constexpr int lanes = 16;
  static vector zero() { return _mm512_setzero_si512(); }
  static vector load(const word* from) { return _mm512_loadu_si512(from); }
  static void store(lane* to, vector x) { _mm512_storeu_si512(to, x); }
  static vector broadcast(word a) { return _mm512_set1_epi32(static_cast<int>(a)); }
};

struct int16_pairs : integers {
  static vector step(vector acc, word a, vector b) {
    return _mm512_add_epi32(acc, _mm512_madd_epi16(b, broadcast(a)));
  }
};

struct int16_line : int16_pairs {
  using sum = std::int64_t;
  static constexpr int elements = 2 * lanes, element_size = 2, x_size = 2;
  static vector load(const void* from) { return _mm512_loadu_si512(from); }
  static vector load_x(const void* from) { return load(from); }
  static vector load_lanes(const lane* from) { return load(from); }
  static vector low_pairs(vector a, vector b) { return _mm512_unpacklo_epi16(a, b); }
  static vector high_pairs(vector a, vector b) { return _mm512_unpackhi_epi16(a, b); }
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
                                      .lines_fp32 = line_products<single_columns<fp32_line>, fp32_line>(),
                                      .lines_fp16 = line_products<single_columns<fp16_line>, fp16_line>(),
                                      .lines_bf16 = line_products<single_columns<bf16_line>, bf16_line>(),
                                      .lines_int8 = line_products<pair_columns<int8_line>, int8_line>(),
                                      .lines_int16 = line_products<pair_columns<int16_line>, int16_line>(),
                                      .fp16_to_float = fp16_to_float,
                                      .float_to_fp16 = float_to_fp16};

}  // namespace narrow::kernel::avx512

NARROW_TARGET_END

NARROW_TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")

namespace narrow::kernel::avx512_vnni {

#include "../gemv.inl"
#include "../panels.inl"

struct int16_pairs : avx512::integers {
  static vector step(vector acc, word a, vector b) { return _mm512_dpwssd_epi32(acc, b, broadcast(a)); }
};

struct int8_quads : avx512::integers {
  static vector step(vector acc, word a, vector b) { return _mm512_dpbusd_epi32(acc, b, broadcast(a)); }
};

struct int16_line : avx512::int16_line {
  static vector step(vector acc, word a, vector b) { return int16_pairs::step(acc, a, b); }
  static vector multiply_add(vector acc, vector a, vector b) { return _mm512_dpwssd_epi32(acc, a, b); }
};

struct int8_line : avx512::int16_line {
  static constexpr int elements = 4 * lanes, element_size = 1, x_size = 1;
  static vector load(const void* from) {
    return _mm512_xor_si512(_mm512_loadu_si512(from), _mm512_set1_epi8(-128));
  }
  static vector multiply_add(vector acc, vector a, vector x) { return _mm512_dpbusd_epi32(acc, a, x); }
};

struct int8_columns : int8_line {
  static constexpr int group = 4, vectors = 4, ways = 2;
  static void step(vector* acc, const unsigned char* const* columns, index at, word x) {
    const vector a = load(columns[0] + at), b = load(columns[1] + at), c = load(columns[2] + at),
                 d = load(columns[3] + at);
    const vector low_ab = _mm512_unpacklo_epi8(a, b), high_ab = _mm512_unpackhi_epi8(a, b),
                 low_cd = _mm512_unpacklo_epi8(c, d), high_cd = _mm512_unpackhi_epi8(c, d);
    acc[0] = int8_quads::step(acc[0], x, low_pairs(low_ab, low_cd));
    acc[1] = int8_quads::step(acc[1], x, high_pairs(low_ab, low_cd));
    acc[2] = int8_quads::step(acc[2], x, low_pairs(high_ab, high_cd));
    acc[3] = int8_quads::step(acc[3], x, high_pairs(high_ab, high_cd));
  }
};

inline constexpr int int8_rows = 14;

NARROW_KERNEL inline void int8_row_sums(const word* a, index groups, std::int32_t* sums) {
  __m512i acc = _mm512_setzero_si512();
  for (index p = 0; p < groups; ++p, a += int8_rows)
    acc = _mm512_dpbusd_epi32(acc, _mm512_set1_epi8(1), _mm512_loadu_si512(a));
  _mm512_storeu_si512(sums, acc);
}

inline constexpr kernel_table kernels{.fp32 = {},
                                      .bf16 = {},
                                      .int16 = panels<int16_pairs, 14, 2>(),
                                      .int8 = panels<int8_quads, int8_rows, 2>(),
                                      .int8_row_sums = int8_row_sums,
                                      .lines_int8 = line_products<int8_columns, int8_line>(),
                                      .lines_int16 = line_products<pair_columns<int16_line>, int16_line>()};

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

inline constexpr kernel_table kernels{.fp32 = {},
                                      .bf16 = panels<bf16_pairs, 14, 2>(),
                                      .int16 = {},
                                      .int8 = {},
                                      .dot_bf16 = dot_line<bf16_line>};

}  // namespace narrow::kernel::avx512_bf16

NARROW_TARGET_END
