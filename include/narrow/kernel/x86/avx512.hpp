// AVX-512 (F, BW, VL, DQ), and what VNNI and BF16 add to it: vectors of 512 bits.
#pragma once

#include "avx2.hpp"

NARROW_TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq")

namespace narrow::kernel::avx512 {

inline constexpr int vector_bytes = 64;

/// Whether a lane is not zero.
template <class Lanes> inline bool any_of(const Lanes& lanes) {
  __m512i x;
  std::memcpy(&x, &lanes, sizeof x);
  return _mm512_test_epi32_mask(x, x) != 0;
}

/// Stores the lower bytes of lanes of 32 bits as integers of Size bytes.
template <int Size, class Lanes> inline void store_lower(void* to, const Lanes& lanes) {
  __m512i x;
  std::memcpy(&x, &lanes, sizeof x);
  if constexpr (Size == 1)
    _mm_storeu_si128(static_cast<__m128i*>(to), _mm512_cvtepi32_epi8(x));
  else if constexpr (Size == 2)
    _mm256_storeu_si256(static_cast<__m256i*>(to), _mm512_cvtepi32_epi16(x));
  else
    _mm512_storeu_si512(to, x);
}

/// Integers of Size bytes in lanes of 32 bits, zeros above them.
template <int Size> inline __m512i load_lower(const void* from) {
  if constexpr (Size == 1)
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(from)));
  else if constexpr (Size == 2)
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(from)));
  else
    return _mm512_loadu_si512(from);
}

#include "../../round/random_draws.inl"
#include "../lanes.inl"

#include "../codes.inl"
#include "../dot.inl"
#include "../gemv.inl"
#include "../moments.inl"
#include "../pack.inl"
#include "../panels.inl"
#include "../quantize.inl"
#include "../sum.inl"
#include "../tile.inl"
#include "../wide.inl"

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
  static constexpr int elements = lanes, element_size = 4, x_size = 4, ways = 8;
  static sum total(vector acc) { return total_of_lanes<fp32_line>(acc); }
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
  static vector fill(lane x) { return _mm512_set1_epi32(x); }
  static vector load(const word* from) { return _mm512_loadu_si512(from); }
  static void store(lane* to, vector x) { _mm512_storeu_si512(to, x); }
  static vector broadcast(word a) { return _mm512_set1_epi32(static_cast<int>(a)); }
};

struct doubles {
  using vector = __m512d;
  using lane = double;
  static constexpr int lanes = 8;
  static vector fill(lane x) { return _mm512_set1_pd(x); }
  static vector load(const lane* from) { return _mm512_loadu_pd(from); }
  static void store(lane* to, vector x) { _mm512_storeu_pd(to, x); }
  static vector step(vector acc, lane a, vector b) { return _mm512_fmadd_pd(fill(a), b, acc); }
  static long_lanes integers(vector x) { return lanes_as<long_lanes>(_mm512_cvttpd_epi64(x)); }
};

struct int16_pairs : integers {
  static vector step(vector acc, word a, vector b) {
    return _mm512_add_epi32(acc, _mm512_madd_epi16(b, broadcast(a)));
  }
};

struct int16_line : int16_pairs {
  using sum = std::int64_t;
  static constexpr int elements = 2 * lanes, element_size = 2, x_size = 2, ways = 8;
  static sum total(vector acc) { return total_of_lanes<int16_line>(acc); }
  static vector load(const void* from) { return _mm512_loadu_si512(from); }
  static vector load_x(const void* from) { return load(from); }
  static vector load_lanes(const lane* from) { return load(from); }
  static vector low_pairs(vector a, vector b) { return _mm512_unpacklo_epi16(a, b); }
  static vector high_pairs(vector a, vector b) { return _mm512_unpackhi_epi16(a, b); }
  static vector add(vector a, vector b) { return _mm512_add_epi32(a, b); }
  static vector multiply_add(vector acc, vector a, vector b) { return add(acc, _mm512_madd_epi16(a, b)); }
};

/// Products of any two, b in two halves.
struct wide_int16_line : int16_line {
  struct vector {
    int16_line::vector high, low;
  };
  static constexpr int ways = 4;
  static vector zero() { return {int16_line::zero(), int16_line::zero()}; }
  static vector add(vector a, vector b) {
    return {int16_line::add(a.high, b.high), int16_line::add(a.low, b.low)};
  }
  static vector multiply_add(vector acc, int16_line::vector a, int16_line::vector b) {
    return {int16_line::multiply_add(acc.high, a, _mm512_srai_epi16(b, 8)),
            int16_line::multiply_add(acc.low, a, _mm512_and_si512(b, _mm512_set1_epi16(0xff)))};
  }
  static sum total(vector acc) { return 256 * int16_line::total(acc.high) + int16_line::total(acc.low); }
};

struct int8_line : int16_line {
  static constexpr int element_size = 1;
  static vector load(const void* from) {
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256(static_cast<const __m256i*>(from)));
  }
};

struct summed_int8 : int16_line {
  static constexpr int elements = lanes, element_size = 1;
  static vector load(const void* from) {
    return _mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(from)));
  }
};

/// For 32 codes of 8 bits at a time: the values of their lower 7 bits, with the upper one as the sign.
struct byte_table {
  static constexpr index count = 32;
  __m512i tables[4];
  explicit byte_table(const std::uint16_t* values) {
    for (int k = 0; k < 4; ++k) tables[k] = _mm512_loadu_si512(values + k * count);
  }
  __m512i operator()(const void* codes) const {
    const __m512i code = _mm512_cvtepu8_epi16(_mm256_loadu_si256(static_cast<const __m256i*>(codes)));
    const __m512i lower = _mm512_permutex2var_epi16(tables[0], code, tables[1]),
                  upper = _mm512_permutex2var_epi16(tables[2], code, tables[3]);
    const __mmask32 is_upper = _mm512_test_epi16_mask(code, _mm512_set1_epi16(0x40));
    const __m512i sign = _mm512_and_si512(_mm512_slli_epi16(code, 8), _mm512_set1_epi16(-0x8000));
    return _mm512_or_si512(_mm512_mask_blend_epi16(is_upper, lower, upper), sign);
  }
};

NARROW_KERNEL inline void look_up8(const void* from, void* to, index n, const std::uint16_t* values) {
  constexpr index count = byte_table::count;
  const byte_table look(values);
  const auto* next = static_cast<const std::uint8_t*>(from);
  auto* result = static_cast<std::uint8_t*>(to);
  for (; n >= count; n -= count, next += count, result += 2 * count) _mm512_storeu_si512(result, look(next));
  if (n <= 0) return;
  std::uint8_t rest[count] = {}, results[2 * count];
  std::memcpy(rest, next, static_cast<std::size_t>(n));
  _mm512_storeu_si512(results, look(rest));
  std::memcpy(result, results, 2 * static_cast<std::size_t>(n));
}

/// Numbers of 8 bits by their bf16 codes, which they all have.
NARROW_KERNEL inline void decode8(const void* from, float* to, index n, const decoding& d) {
  constexpr index count = 32, codes = 128;
  if (n < 4 * codes) return decode_line<std::uint8_t>(from, to, n, d);
  std::uint8_t every[codes];
  float decoded[codes];
  std::uint16_t values[codes];
  for (int code = 0; code < codes; ++code) every[code] = static_cast<std::uint8_t>(code);
  decode_line<std::uint8_t>(every, decoded, codes, d);
  for (int code = 0; code < codes; ++code)
    values[code] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(decoded[code]) >> 16);
  const byte_table look(values);
  const auto* const next = static_cast<const std::uint8_t*>(from);
  index i = 0;
  for (; i + count <= n; i += count) {
    const __m512i found = look(next + i);
    const __m512i low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(found)),
                  high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(found, 1));
    _mm512_storeu_si512(to + i, _mm512_slli_epi32(low, 16));
    _mm512_storeu_si512(to + i + count / 2, _mm512_slli_epi32(high, 16));
  }
  decode_line<std::uint8_t>(next + i, to + i, n - i, d);
}

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

#include "../vectors.inl"

inline constexpr kernel_table kernels = [] {
  kernel_table all = vector_kernels();
  all.fp32 = panels<floats, 14, 2>();
  all.int16 = panels<int16_pairs, 12, 2>();
  all.wide = wide_products<doubles, 14, 2>();
  all.decode8 = decode8;
  all.look_up8 = look_up8;
  return all;
}();

}  // namespace narrow::kernel::avx512

NARROW_TARGET_END

NARROW_TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")

namespace narrow::kernel::avx512_vnni {

#include "../dot.inl"
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
  static vector low_bytes(vector a, vector b) { return _mm512_unpacklo_epi8(a, b); }
  static vector high_bytes(vector a, vector b) { return _mm512_unpackhi_epi8(a, b); }
  static vector step(vector acc, word a, vector b) { return int8_quads::step(acc, a, b); }
  static vector multiply_add(vector acc, vector a, vector x) { return _mm512_dpbusd_epi32(acc, a, x); }
};

/// a counts 128 more than it is; the sum of b says how much that is too much.
struct int8_pairs_of_lines : int8_line {
  struct vector {
    __m512i products, sums;
  };
  static constexpr int ways = 4;
  static __m512i load(const void* from) { return load_x(from); }
  static vector zero() { return {int8_line::zero(), int8_line::zero()}; }
  static vector add(vector a, vector b) {
    return {int8_line::add(a.products, b.products), int8_line::add(a.sums, b.sums)};
  }
  static vector multiply_add(vector acc, __m512i a, __m512i b) {
    return {_mm512_dpbusd_epi32(acc.products, _mm512_xor_si512(a, _mm512_set1_epi8(-128)), b),
            _mm512_dpbusd_epi32(acc.sums, _mm512_set1_epi8(1), b)};
  }
  static sum total(vector acc) { return int8_line::total(acc.products) - 128 * int8_line::total(acc.sums); }
};

/// Products of any two, b in two halves.
struct wide_int16_line : avx512::wide_int16_line {
  static vector multiply_add(vector acc, __m512i a, __m512i b) {
    return {_mm512_dpwssd_epi32(acc.high, a, _mm512_srai_epi16(b, 8)),
            _mm512_dpwssd_epi32(acc.low, a, _mm512_and_si512(b, _mm512_set1_epi16(0xff)))};
  }
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
                                      .int8_row_sums = int8_row_sums,
                                      .dot_int8 = dot_line<int8_pairs_of_lines>,
                                      .dot_int16 = dot_line<int16_line>,
                                      .dot_wide_int16 = dot_line<wide_int16_line>,
                                      .lines_int8 = line_products<quad_columns<int8_line>, int8_line, 128>(),
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

/// As a line of bf16, and the least of twice the smaller magnitudes, less 1: of a zero, which makes a zero
/// whatever the other is, the largest number.
struct checked_bf16_line : bf16_line {
  struct vector {
    __m512 acc;
    __m512i least;
  };
  struct sum {
    float value;
    bool exact;
  };
  static constexpr int ways = 8;
  static __m512i load(const void* from) { return _mm512_loadu_si512(from); }
  static vector zero() { return {bf16_line::zero(), _mm512_set1_epi16(-1)}; }
  static vector add(vector a, vector b) {
    return {bf16_line::add(a.acc, b.acc), _mm512_min_epu16(a.least, b.least)};
  }
  static vector multiply_add(vector acc, __m512i a, __m512i b) {
    const __m512i smaller = _mm512_min_epu16(_mm512_add_epi16(a, a), _mm512_add_epi16(b, b));
    return {_mm512_dpbf16_ps(acc.acc, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b)),
            _mm512_min_epu16(acc.least, _mm512_add_epi16(smaller, _mm512_set1_epi16(-1)))};
  }
  static sum total(vector acc) {
    constexpr short largest_subnormal = 2 * 0x7f - 1;
    return {total_of_lanes<bf16_line>(acc.acc),
            _mm512_cmple_epu16_mask(acc.least, _mm512_set1_epi16(largest_subnormal)) == 0};
  }
};

NARROW_KERNEL inline bool dot_any_bf16(const void* a, const void* b, index n, float* sum) {
  const checked_bf16_line::sum result = dot_line<checked_bf16_line>(a, b, n);
  *sum = result.value;
  return result.exact;
}

inline constexpr kernel_table kernels{.fp32 = {},
                                      .bf16 = panels<bf16_pairs, 14, 2>(),
                                      .int16 = {},
                                      .int8 = {},
                                      .dot_bf16 = dot_line<bf16_line>,
                                      .dot_any_bf16 = dot_any_bf16};

}  // namespace narrow::kernel::avx512_bf16

NARROW_TARGET_END
