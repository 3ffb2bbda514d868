// AVX-512 (F, BW, VL, DQ): vectors of 512 bits.
#pragma once

#include "avx2.hpp"

NARROW_TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq")

namespace narrow::inline NARROW_ABI::kernel::avx512 {

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

/// The first bytes, fewer than all, of a vector or an array as large as one, and zeros after them; nothing
/// beyond is read.
template <class Vector> inline void read_part(Vector& to, const void* from, index bytes) {
  static_assert(sizeof to <= vector_bytes);
  const std::uint64_t mask = (std::uint64_t{1} << bytes) - 1;
  if constexpr (sizeof to == vector_bytes) {
    const __m512i x = _mm512_maskz_loadu_epi8(mask, from);
    std::memcpy(&to, &x, sizeof to);
  } else if constexpr (sizeof to == vector_bytes / 2) {
    const __m256i x = _mm256_maskz_loadu_epi8(static_cast<__mmask32>(mask), from);
    std::memcpy(&to, &x, sizeof to);
  } else {
    const __m128i x = _mm_maskz_loadu_epi8(static_cast<__mmask16>(mask), from);
    std::memcpy(&to, &x, sizeof to);
  }
}
template <class Vector> inline void write_part(void* to, const Vector& from, index bytes) {
  static_assert(sizeof from <= vector_bytes);
  const std::uint64_t mask = (std::uint64_t{1} << bytes) - 1;
  if constexpr (sizeof from == vector_bytes) {
    _mm512_mask_storeu_epi8(to, mask, _mm512_loadu_si512(&from));
  } else if constexpr (sizeof from == vector_bytes / 2) {
    __m256i x;
    std::memcpy(&x, &from, sizeof from);
    _mm256_mask_storeu_epi8(to, static_cast<__mmask32>(mask), x);
  } else {
    __m128i x = _mm_setzero_si128();
    std::memcpy(&x, &from, sizeof from);
    _mm_mask_storeu_epi8(to, static_cast<__mmask16>(mask), x);
  }
}

#include "../lanes.inl"

// g++ 12 makes masks of comparisons, and widens one half after the other.
template <class Lane> using vector_of [[gnu::vector_size(vector_bytes)]] = Lane;
template <class Lane> using half_vector_of [[gnu::vector_size(vector_bytes / 2)]] = Lane;
inline vector_of<float> smaller(vector_of<float> a, vector_of<float> b) { return _mm512_min_ps(a, b); }
inline vector_of<float> larger(vector_of<float> a, vector_of<float> b) { return _mm512_max_ps(a, b); }
template <> inline vector_of<double> wider(const half_vector_of<float>& x) { return _mm512_cvtps_pd(x); }
template <> inline vector_of<std::int64_t> wider(const half_vector_of<std::int32_t>& x) {
  return lanes_as<vector_of<std::int64_t>>(_mm512_cvtepi32_epi64(lanes_as<half_vector_of<long long>>(x)));
}

#include "../bodies.inl"

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
  /// Of fewer words than lanes; zeros in the others.
  static vector load_some(const void* from, index n) {
    return _mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << n) - 1), from);
  }
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
  static vector low_bytes(vector a, vector b) { return _mm512_unpacklo_epi8(a, b); }
  static vector high_bytes(vector a, vector b) { return _mm512_unpackhi_epi8(a, b); }
  static vector high_half(vector b) { return _mm512_srai_epi16(b, 8); }
  static vector low_half(vector b) { return _mm512_and_si512(b, _mm512_set1_epi16(0xff)); }
  static vector add(vector a, vector b) { return _mm512_add_epi32(a, b); }
  static vector multiply_add(vector acc, vector a, vector b) { return add(acc, _mm512_madd_epi16(a, b)); }
};

using wide_int16_line = in_halves<int16_line>;

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

NARROW_KERNEL inline void look_up8(const void* from, void* to, index n, const std::uint16_t* values) {
  constexpr index count = byte_table::count;
  const byte_table look(values);
  const auto* next = static_cast<const std::uint8_t*>(from);
  auto* result = static_cast<std::uint8_t*>(to);
  for (; n >= count; n -= count, next += count, result += 2 * count)
    _mm512_storeu_si512(result, look(byte_table::load(next)));
  if (n <= 0) return;
  const auto rest = static_cast<__mmask32>((1u << n) - 1);
  _mm512_mask_storeu_epi16(result, rest, look(_mm256_maskz_loadu_epi8(rest, next)));
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
    const __m512i found = look(byte_table::load(next + i));
    const __m512i low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(found)),
                  high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(found, 1));
    _mm512_storeu_si512(to + i, _mm512_slli_epi32(low, 16));
    _mm512_storeu_si512(to + i + count / 2, _mm512_slli_epi32(high, 16));
  }
  decode_line<std::uint8_t>(next + i, to + i, n - i, d);
}

struct fp16_codes {
  static void decode(const void* from, float* to) { _mm512_storeu_ps(to, fp16_line::load(from)); }
  void operator()(const float* from, void* to) const {
    _mm256_storeu_si256(static_cast<__m256i*>(to),
                        _mm512_cvtps_ph(_mm512_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
  }
};

#include "../vector_kernels.inl"

struct kernels {
  template <class Table> static constexpr void offer(Table& table) {
    offer_vectors(table);
    NARROW_OFFER(fp32, panels<floats, 14, 2, 8>("FMA"));
    NARROW_OFFER(int16, panels<int16_pairs, 12, 2, 8>("vpmaddwd"));
    NARROW_OFFER(wide, wide_products<doubles, 14, 2>("FMA"));
    NARROW_OFFER(codes8, {encode_tile<std::uint8_t>, encode_line_stochastic<std::uint8_t>, decode8});
    NARROW_OFFER(look_up8, look_up8);
  }
};

}  // namespace narrow::inline NARROW_ABI::kernel::avx512

NARROW_TARGET_END
