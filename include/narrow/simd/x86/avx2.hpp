// AVX2 with FMA and F16C: vectors of 256 bits.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "../region.hpp"
#include "processor.hpp"

NARROW_TARGET_BEGIN("avx2,fma,f16c")

namespace narrow::inline NARROW_ABI::kernel::avx2 {

inline constexpr int vector_bytes = 32;

/// Whether a lane is not zero.
template <class Lanes> inline bool any_of(const Lanes& lanes) {
  __m256i x;
  std::memcpy(&x, &lanes, sizeof x);
  return _mm256_testz_si256(x, x) == 0;
}

/// Stores the lower bytes of lanes of 32 bits as integers of Size bytes.
template <int Size, class Lanes> inline void store_lower(void* to, const Lanes& lanes) {
  __m256i x;
  std::memcpy(&x, &lanes, sizeof x);
  if constexpr (Size == 1) {
    const __m256i first = _mm256_shuffle_epi8(x, _mm256_set1_epi32(0x0c080400));
    const __m128i low = _mm256_castsi256_si128(first), high = _mm256_extracti128_si256(first, 1);
    _mm_storel_epi64(static_cast<__m128i*>(to), _mm_unpacklo_epi32(low, high));
  } else if constexpr (Size == 2) {
    const __m256i first = _mm256_shuffle_epi8(x, _mm256_set1_epi64x(0x0d0c'0908'0504'0100));
    _mm_storeu_si128(static_cast<__m128i*>(to),
                     _mm256_castsi256_si128(_mm256_permute4x64_epi64(first, 0b1000)));
  } else {
    _mm256_storeu_si256(static_cast<__m256i*>(to), x);
  }
}

/// Integers of Size bytes in lanes of 32 bits, zeros above them.
template <int Size> inline __m256i load_lower(const void* from) {
  if constexpr (Size == 1)
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(from)));
  else if constexpr (Size == 2)
    return _mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(from)));
  else
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

#include "../bytes.inl"
#include "../lanes.inl"

#include "../bodies.inl"

struct floats {
  using vector = __m256;
  using lane = float;
  static constexpr int lanes = 8;
  static vector zero() { return _mm256_setzero_ps(); }
  static vector fill(lane x) { return _mm256_set1_ps(x); }
  static vector load(const word* from) { return _mm256_loadu_ps(reinterpret_cast<const float*>(from)); }
  static void store(lane* to, vector x) { _mm256_storeu_ps(to, x); }
  static vector step(vector acc, word a, vector b) {
    return _mm256_fmadd_ps(_mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(a))), b, acc);
  }
};

struct fp32_line : floats {
  using sum = float;
  static constexpr int elements = lanes, element_size = 4, x_size = 4, ways = 8;
  static sum total(vector acc) { return total_of_lanes<fp32_line>(acc); }
  static vector load(const void* from) { return _mm256_loadu_ps(static_cast<const float*>(from)); }
  static vector load_x(const void* from) { return load(from); }
  static vector load_lanes(const lane* from) { return load(from); }
  static vector add(vector a, vector b) { return a + b; }  // clang's intrinsic has the caller's flags
  static vector multiply_add(vector acc, vector a, vector b) { return _mm256_fmadd_ps(a, b, acc); }
};

struct fp16_line : fp32_line {
  static constexpr int element_size = 2;
  static vector load(const void* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(from)));
  }
};

struct bf16_line : fp32_line {
  static constexpr int element_size = 2;
  static vector load(const void* from) {
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(from)));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
  }
};

struct doubles {
  using vector = __m256d;
  using lane = double;
  static constexpr int lanes = 4;
  static vector fill(lane x) { return _mm256_set1_pd(x); }
  static vector load(const lane* from) { return _mm256_loadu_pd(from); }
  static void store(lane* to, vector x) { _mm256_storeu_pd(to, x); }
  static vector step(vector acc, lane a, vector b) { return _mm256_fmadd_pd(fill(a), b, acc); }
  /// In two steps, as there is no instruction for it: the multiple of 2^32, then the rest. Next to a large
  /// number an integer is in the lower bits of the sum.
  static long_lanes integers(vector x) {
    const vector next_to_multiples = fill(0x1.8p84), next_to_rest = fill(0x1.8p52);
    const vector multiple = x + next_to_multiples, rest = x - (multiple - next_to_multiples);
    return (lanes_as<long_lanes>(multiple) << 32) + lanes_as<long_lanes>(rest + next_to_rest) -
           lanes_as<long_lanes>(next_to_rest);
  }
};

struct integers {
  using vector = __m256i;
  using lane = std::int32_t;
  static constexpr int lanes = 8;
  static vector zero() { return _mm256_setzero_si256(); }
  static vector fill(lane x) { return _mm256_set1_epi32(x); }
  static vector load(const word* from) { return _mm256_loadu_si256(reinterpret_cast<const vector*>(from)); }
  /// Of fewer words than lanes; zeros in the others.
  static vector load_some(const void* from, index n) {
    const vector places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_maskload_epi32(static_cast<const int*>(from),
                                 _mm256_cmpgt_epi32(fill(static_cast<lane>(n)), places));
  }
  static void store(lane* to, vector x) { _mm256_storeu_si256(reinterpret_cast<vector*>(to), x); }
  static vector broadcast(word a) { return _mm256_set1_epi32(static_cast<int>(a)); }
};

struct int16_pairs : integers {
  static vector step(vector acc, word a, vector b) {
    return _mm256_add_epi32(acc, _mm256_madd_epi16(b, broadcast(a)));
  }
};

struct int16_line : int16_pairs {
  using sum = std::int64_t;
  static constexpr int elements = 2 * lanes, element_size = 2, x_size = 2, ways = 8;
  static sum total(vector acc) { return total_of_lanes<int16_line>(acc); }
  static vector load(const void* from) { return _mm256_loadu_si256(static_cast<const vector*>(from)); }
  static vector load_x(const void* from) { return load(from); }
  static vector load_lanes(const lane* from) { return load(from); }
  static vector low_pairs(vector a, vector b) { return _mm256_unpacklo_epi16(a, b); }
  static vector high_pairs(vector a, vector b) { return _mm256_unpackhi_epi16(a, b); }
  static vector low_bytes(vector a, vector b) { return _mm256_unpacklo_epi8(a, b); }
  static vector high_bytes(vector a, vector b) { return _mm256_unpackhi_epi8(a, b); }
  static vector high_half(vector b) { return _mm256_srai_epi16(b, 8); }
  static vector low_half(vector b) { return _mm256_and_si256(b, _mm256_set1_epi16(0xff)); }
  static vector add(vector a, vector b) { return _mm256_add_epi32(a, b); }
  static vector multiply_add(vector acc, vector a, vector b) { return add(acc, _mm256_madd_epi16(a, b)); }
};

using wide_int16_line = in_halves<int16_line>;

struct int8_line : int16_line {
  static constexpr int element_size = 1;
  static vector load(const void* from) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(from)));
  }
};

struct summed_int8 : int16_line {
  static constexpr int elements = lanes, element_size = 1;
  static vector load(const void* from) {
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(from)));
  }
};

struct fp16_codes {
  static void decode(const void* from, float* to) { _mm256_storeu_ps(to, fp16_line::load(from)); }
  void operator()(const float* from, void* to) const {
    _mm_storeu_si128(static_cast<__m128i*>(to),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
  }
};

NARROW_KERNEL inline void stream(void* to, const void* from, std::size_t bytes) {
  auto* next = static_cast<unsigned char*>(to);
  const auto* source = static_cast<const unsigned char*>(from);
  const std::size_t head =
      std::min<std::size_t>(bytes, -reinterpret_cast<std::uintptr_t>(next) % vector_bytes);
  std::memcpy(next, source, head);
  std::size_t i = head;
  for (; i + vector_bytes <= bytes; i += vector_bytes)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(next + i),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + i)));
  std::memcpy(next + i, source + i, bytes - i);
}
NARROW_KERNEL inline void end_stream() { _mm_sfence(); }

#include "../vector_kernels.inl"

struct kernels {
  template <class Table> static constexpr void offer(Table& table) {
    offer_vectors(table);
    NARROW_OFFER(fp32, panels<floats, 6, 2>("FMA"));
    NARROW_OFFER(int16, panels<int16_pairs, 6, 2>("vpmaddwd"));
    NARROW_OFFER(wide, wide_products<doubles, 6, 2>("FMA"));
  }
};

}  // namespace narrow::inline NARROW_ABI::kernel::avx2

NARROW_TARGET_END
