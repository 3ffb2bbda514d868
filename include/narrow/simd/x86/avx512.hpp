// AVX-512 (F, BW, VL, DQ): vectors of 512 bits.
#pragma once

#include "avx2.hpp"

NARROW_TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq")

namespace narrow::inline NARROW_ABI::kernel::avx512 {

struct instructions {
  using integers = __m512i;
  using floats = __m512;
  using doubles = __m512d;
  static constexpr int bytes_of_vector = sizeof(integers);

  static bool any_of(integers x) { return _mm512_test_epi32_mask(x, x) != 0; }
  static int first_lane(integers x) {
    return std::countr_zero(_mm512_movepi32_mask(x) | 1u << sizeof x / sizeof(int));
  }
  static bool any_without(integers x, integers bits, floats numbers) {
    const __mmask16 counts = _mm512_cmp_ps_mask(numbers, _mm512_setzero_ps(), _CMP_NEQ_UQ);
    return _mm512_mask_testn_epi32_mask(counts, x, bits) != 0;
  }
  static bool any_nan(floats x, floats y) { return _mm512_cmp_ps_mask(x, y, _CMP_UNORD_Q) != 0; }
  static bool any_unequal(floats x, floats y) { return _mm512_cmp_ps_mask(x, y, _CMP_NEQ_UQ) != 0; }
  template <int Size> static void store_lower(void* to, integers x) {
    if constexpr (Size == 1)
      _mm_storeu_si128(static_cast<__m128i*>(to), _mm512_cvtepi32_epi8(x));
    else if constexpr (Size == 2)
      _mm256_storeu_si256(static_cast<__m256i*>(to), _mm512_cvtepi32_epi16(x));
    else
      _mm512_storeu_si512(to, x);
  }
  template <int Size> static integers load_lower(const void* from) {
    if constexpr (Size == 1)
      return _mm512_cvtepu8_epi32(load_quarter(from));
    else if constexpr (Size == 2)
      return _mm512_cvtepu16_epi32(load_half(from));
    else
      return _mm512_loadu_si512(from);
  }
  template <int Size> static integers load_signed(const void* from) {
    if constexpr (Size == 1)
      return _mm512_cvtepi8_epi32(load_quarter(from));
    else if constexpr (Size == 2)
      return _mm512_cvtepi16_epi32(load_half(from));
    else
      return _mm512_loadu_si512(from);
  }
  /// Fewer words than lanes; zeros in the others.
  static integers load_some(const void* from, index n) {
    return _mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << n) - 1), from);
  }
  template <class Vector> static void read_part(Vector& to, const void* from, index bytes) {
    static_assert(sizeof to <= bytes_of_vector);
    const std::uint64_t mask = (std::uint64_t{1} << bytes) - 1;
    if constexpr (sizeof to == bytes_of_vector) {
      const __m512i x = _mm512_maskz_loadu_epi8(mask, from);
      std::memcpy(&to, &x, sizeof to);
    } else if constexpr (sizeof to == bytes_of_vector / 2) {
      const __m256i x = _mm256_maskz_loadu_epi8(static_cast<__mmask32>(mask), from);
      std::memcpy(&to, &x, sizeof to);
    } else {
      const __m128i x = _mm_maskz_loadu_epi8(static_cast<__mmask16>(mask), from);
      std::memcpy(&to, &x, sizeof to);
    }
  }
  template <class Vector> static void write_part(void* to, const Vector& from, index bytes) {
    static_assert(sizeof from <= bytes_of_vector);
    const std::uint64_t mask = (std::uint64_t{1} << bytes) - 1;
    if constexpr (sizeof from == bytes_of_vector) {
      _mm512_mask_storeu_epi8(to, mask, _mm512_loadu_si512(&from));
    } else if constexpr (sizeof from == bytes_of_vector / 2) {
      __m256i x;
      std::memcpy(&x, &from, sizeof from);
      _mm256_mask_storeu_epi8(to, static_cast<__mmask32>(mask), x);
    } else {
      __m128i x = _mm_setzero_si128();
      std::memcpy(&x, &from, sizeof from);
      _mm_mask_storeu_epi8(to, static_cast<__mmask16>(mask), x);
    }
  }
  static floats multiply_add(floats acc, floats a, floats b) { return _mm512_fmadd_ps(a, b, acc); }
  static doubles multiply_add(doubles acc, doubles a, doubles b) { return _mm512_fmadd_pd(a, b, acc); }
  static integers multiply_add(integers acc, integers a, integers b) {
    return _mm512_add_epi32(acc, _mm512_madd_epi16(a, b));
  }
  static integers multiply_add(integers acc, word a, integers b) {
    return multiply_add(acc, b, _mm512_set1_epi32(static_cast<int>(a)));
  }
  static floats square_root(floats x) { return _mm512_sqrt_ps(x); }
  static doubles square_root(doubles x) { return _mm512_sqrt_pd(x); }
  template <std::float_round_style Style> static floats to_integers(floats x) {
    return _mm512_roundscale_ps(x, rounding_immediate<Style>);
  }
  /// By an estimate of 14 bits and a step of Newton's method, which takes half as long.
  static floats quick_reciprocal_root(floats x) {
    const floats estimate = _mm512_rsqrt14_ps(x);
    const floats rest = _mm512_fnmadd_ps(_mm512_mul_ps(x, estimate), estimate, _mm512_set1_ps(1));
    return _mm512_fmadd_ps(_mm512_mul_ps(estimate, _mm512_set1_ps(0.5f)), rest, estimate);
  }
  static floats permuted(floats x, integers places) { return _mm512_permutexvar_ps(places, x); }
  static integers int8_to_int16(const void* from) { return _mm512_cvtepi8_epi16(load_half(from)); }
  static floats load_fp16(const void* from) { return _mm512_cvtph_ps(load_half(from)); }
  static void store_fp16(void* to, floats x) {
    _mm256_storeu_si256(static_cast<__m256i*>(to), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
  }
  static floats look_up_codes(const void* from, const std::uint16_t* upper_halves) {
    const integers codes = _mm512_cvtepu8_epi32(load_quarter(from)), places = _mm512_slli_epi32(codes, 16);
    // A table has 64 words; the lower half of each lane looks up the first one, which is zero.
    const auto half = [&](int first) {
      const auto* const words = upper_halves + first;
      return _mm512_permutex2var_epi16(_mm512_loadu_si512(words), places, _mm512_loadu_si512(words + 32));
    };
    const __mmask32 in_second = _mm512_test_epi16_mask(places, _mm512_set1_epi32(64 << 16));
    const integers magnitudes = _mm512_mask_blend_epi16(in_second, half(0), half(64));
    constexpr int or_and = 0xf8;  // a | (b & c)
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(magnitudes, _mm512_slli_epi32(codes, 24),
                                                         _mm512_set1_epi32(1 << 31), or_and));
  }
  static integers to_int64(doubles x) { return _mm512_cvttpd_epi64(x); }

 private:
  static __m256i load_half(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  static __m128i load_quarter(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
};

#include "../lanes.inl"

// g++ 12 makes masks of comparisons, and widens one half after the other.
inline float_vector smaller(float_vector a, float_vector b) { return _mm512_min_ps(a, b); }
inline float_vector larger(float_vector a, float_vector b) { return _mm512_max_ps(a, b); }
inline double_vector smaller(double_vector a, double_vector b) { return _mm512_min_pd(a, b); }
inline double_vector larger(double_vector a, double_vector b) { return _mm512_max_pd(a, b); }
// One permutation each, instead of a shift and a conversion. Its places are words of 16 bits.
template <> inline uint32_vector load_upper(const void* from) {
  constexpr uint32_vector places = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  __m256i codes;
  std::memcpy(&codes, from, sizeof codes);
  constexpr __mmask32 upper = 0xaaaa'aaaa;
  return reinterpret_cast<uint32_vector>(_mm512_maskz_permutexvar_epi16(
      upper, reinterpret_cast<__m512i>(places << 16), _mm512_castsi256_si512(codes)));
}
template <> inline void store_upper(void* to, const uint32_vector& x) {
  constexpr uint16_vector places = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
  const __m256i codes = _mm512_castsi512_si256(
      _mm512_permutexvar_epi16(reinterpret_cast<__m512i>(places), reinterpret_cast<__m512i>(x)));
  std::memcpy(to, &codes, sizeof codes);
}
template <> inline double_vector wider(const half_float_vector& x) { return _mm512_cvtps_pd(x); }
template <> inline int64_vector wider(const half_int32_vector& x) {
  return reinterpret_cast<int64_vector>(_mm512_cvtepi32_epi64(reinterpret_cast<__m256i>(x)));
}

/// Of 64 codes at a time: words of two numbers of the table, of which the one is shifted to where it belongs.
inline void look_up_codes(const std::uint8_t* from, std::uint8_t* to, index n, const std::uint8_t* table) {
  __m512i words[4];
  std::memcpy(words, table, sizeof words);
  const auto found = [&](__m512i code) {
    const __m512i place = _mm512_srli_epi16(code, 1);
    const __m512i low = _mm512_permutex2var_epi16(words[0], place, words[1]),
                  high = _mm512_permutex2var_epi16(words[2], place, words[3]);
    const __mmask32 is_high = _mm512_test_epi16_mask(code, _mm512_set1_epi16(0x80));
    const __m512i is_odd = _mm512_and_si512(code, _mm512_set1_epi16(1));
    return _mm512_srlv_epi16(_mm512_mask_blend_epi16(is_high, low, high), _mm512_slli_epi16(is_odd, 3));
  };
  const __m512i lower_bytes = _mm512_set1_epi16(0xff);
  const auto look = [&](__m512i codes) {
    const __m512i even = found(_mm512_and_si512(codes, lower_bytes)),
                  odd = found(_mm512_srli_epi16(codes, 8));
    return _mm512_or_si512(_mm512_and_si512(even, lower_bytes), _mm512_slli_epi16(odd, 8));
  };
  constexpr index count = sizeof(__m512i);
  index i = 0;
  for (; i + count <= n; i += count) _mm512_storeu_si512(to + i, look(_mm512_loadu_si512(from + i)));
  const __mmask64 rest = (std::uint64_t{1} << (n - i)) - 1;
  _mm512_mask_storeu_epi8(to + i, rest, look(_mm512_maskz_loadu_epi8(rest, from + i)));
}

#include "../vector_kernels.inl"

/// For 32 codes of 8 bits at a time: the values of their lower 7 bits, with the upper one as the sign.
struct byte_table {
  static constexpr index count = 32;
  __m512i tables[4];
  explicit byte_table(const std::uint16_t* values) {
    for (int k = 0; k < 4; ++k) tables[k] = _mm512_loadu_si512(values + k * count);
  }
  static __m256i load(const std::uint8_t* codes) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes));
  }
  __m512i operator()(__m256i codes) const {
    const __m512i code = _mm512_cvtepu8_epi16(codes);
    const __m512i lower = _mm512_permutex2var_epi16(tables[0], code, tables[1]),
                  upper = _mm512_permutex2var_epi16(tables[2], code, tables[3]);
    const __mmask32 is_upper = _mm512_test_epi16_mask(code, _mm512_set1_epi16(0x40));
    const __m512i sign = _mm512_and_si512(_mm512_slli_epi16(code, 8), _mm512_set1_epi16(-0x8000));
    return _mm512_or_si512(_mm512_mask_blend_epi16(is_upper, lower, upper), sign);
  }
};

struct signed_codes_as_bf16 : byte_table {
  using byte_table::byte_table;
  uint16_vector operator()(const unsigned char* from, index n) const {
    const __m256i codes = n < count ? _mm256_maskz_loadu_epi8((1u << n) - 1, from) : load(from);
    return reinterpret_cast<uint16_vector>(byte_table::operator()(codes));
  }
};

NARROW_KERNEL inline void look_up8(const void* from, void* to, index n, const std::uint16_t* values) {
  constexpr index count = byte_table::count;
  const byte_table look(values);
  const auto* next = static_cast<const std::uint8_t*>(from);
  auto* result = static_cast<std::uint8_t*>(to);
  for (; n >= count; n -= count, next += count, result += 2 * count)
    _mm512_storeu_si512(result, look(byte_table::load(next)));
  if (n <= 0) return;
  const __mmask32 rest = (1u << n) - 1;
  _mm512_mask_storeu_epi16(result, rest, look(_mm256_maskz_loadu_epi8(rest, next)));
}

/// Numbers of 8 bits by their bf16 codes, which they all have.
NARROW_KERNEL inline void decode8(const void* from, float* to, index n, const decoding& d) {
  constexpr index count = byte_table::count;
  if (n < 2 * count) return decode_line<std::uint8_t>(from, to, n, d);
  const byte_table look(d.as_bf16);
  const auto* const next = static_cast<const std::uint8_t*>(from);
  index i = 0;
  for (; i + count <= n; i += count) {
    const __m512i found = look(byte_table::load(next + i));
    const __m512i low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(found)),
                  high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(found, 1));
    _mm512_storeu_si512(to + i, _mm512_slli_epi32(low, 16));
    _mm512_storeu_si512(to + i + count / 2, _mm512_slli_epi32(high, 16));
  }
  decode_line<std::uint8_t>(next + i, to + i, n - i, d);
}

struct kernels {
  template <class Table> static constexpr void offer(Table& table) {
    offer_vectors(table);
    NARROW_OFFER(fp32, panels<floats, 14, 2, 8>("FMA"));
    NARROW_OFFER(int16, panels<int16_pairs, 12, 2, 8>("vpmaddwd"));
    NARROW_OFFER(wide, wide_products<doubles, 14, 2>("FMA"));
    NARROW_OFFER(codes8, {encode_tile<std::uint8_t>, encode_line_stochastic<std::uint8_t>,
                          encode_tile_in_mode<std::uint8_t>, decode8});
    NARROW_OFFER(look_up8, look_up8);
    NARROW_OFFER(scale_to_bf16, {scale_to_bf16<integers_as_bf16>, scale_to_bf16<codes_as_bf16>,
                                 scale_to_bf16<signed_codes_as_bf16>});
  }
};

}  // namespace narrow::kernel::avx512

NARROW_TARGET_END
