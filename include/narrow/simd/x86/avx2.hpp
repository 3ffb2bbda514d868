// AVX2 with FMA and F16C: vectors of 256 bits.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "../lanes.hpp"
#include "processor.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// How instructions name a way to round to integers, without a floating-point exception.
template <std::float_round_style Style>
inline constexpr int rounding_immediate = _MM_FROUND_NO_EXC |
                                          (Style == std::round_toward_zero       ? _MM_FROUND_TO_ZERO
                                           : Style == std::round_toward_infinity ? _MM_FROUND_TO_POS_INF
                                           : Style == std::round_toward_neg_infinity
                                               ? _MM_FROUND_TO_NEG_INF
                                               : _MM_FROUND_TO_NEAREST_INT);

}  // namespace narrow::kernel

NARROW_TARGET_BEGIN("avx2,fma,f16c")

namespace narrow::inline NARROW_ABI::kernel::avx2 {

#include "../parts.inl"

struct instructions : parts_in_memory {
  using integers = __m256i;
  using floats = __m256;
  using doubles = __m256d;

  static bool any_of(integers x) { return _mm256_testz_si256(x, x) == 0; }
  static int first_lane(integers x) {
    const auto lanes = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(x)));
    return std::countr_zero(lanes | 1u << sizeof x / sizeof(int));
  }
  static bool any_without(integers x, integers bits, floats numbers) {
    const integers without = _mm256_cmpeq_epi32(_mm256_and_si256(x, bits), _mm256_setzero_si256());
    const floats counts = _mm256_cmp_ps(numbers, _mm256_setzero_ps(), _CMP_NEQ_UQ);
    return _mm256_testz_si256(without, _mm256_castps_si256(counts)) == 0;
  }
  static bool any_nan(floats x, floats y) {
    return _mm256_movemask_ps(_mm256_cmp_ps(x, y, _CMP_UNORD_Q)) != 0;
  }
  static bool any_unequal(floats x, floats y) {
    return _mm256_movemask_ps(_mm256_cmp_ps(x, y, _CMP_NEQ_UQ)) != 0;
  }
  template <int Size> static void store_lower(void* to, integers x) {
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
  template <int Size> static integers load_lower(const void* from) {
    if constexpr (Size == 1)
      return _mm256_cvtepu8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(from)));
    else if constexpr (Size == 2)
      return _mm256_cvtepu16_epi32(load_half(from));
    else
      return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }
  template <int Size> static integers load_signed(const void* from) {
    if constexpr (Size == 1)
      return _mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(from)));
    else if constexpr (Size == 2)
      return _mm256_cvtepi16_epi32(load_half(from));
    else
      return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }
  /// Fewer words than lanes; zeros in the others.
  static integers load_some(const void* from, index n) {
    const integers places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_maskload_epi32(static_cast<const int*>(from),
                                 _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), places));
  }
  template <class Vector> static void read_part(Vector& to, const void* from, index bytes) {
    if constexpr (sizeof to < sizeof(integers)) {
      parts_in_memory::read_part(to, from, bytes);
    } else {
      integers x = load_some(from, bytes / index{sizeof(word)});
      if (const index rest = bytes % index{sizeof(word)}) {  // fewer bytes than a word has
        const std::uint64_t last = read_word(static_cast<const unsigned char*>(from) + bytes - rest, rest);
        const integers places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                       place = _mm256_set1_epi32(static_cast<int>(bytes / index{sizeof(word)}));
        x = _mm256_or_si256(x, _mm256_and_si256(_mm256_cmpeq_epi32(places, place),
                                                _mm256_set1_epi32(static_cast<int>(last))));
      }
      std::memcpy(&to, &x, sizeof to);
    }
  }
  /// Without a masked store, of which some processors make a loop.
  template <class Vector> static void write_part(void* to, const Vector& from, index bytes) {
    if constexpr (sizeof from < sizeof(integers)) {
      parts_in_memory::write_part(to, from, bytes);
    } else {
      integers x;
      std::memcpy(&x, &from, sizeof x);
      const __m128i low = _mm256_castsi256_si128(x), high = _mm256_extracti128_si256(x, 1);
      if (bytes < index{sizeof low}) return parts_in_memory::write_part(to, low, bytes);
      std::memcpy(to, &low, sizeof low);
      parts_in_memory::write_part(static_cast<unsigned char*>(to) + sizeof low, high,
                                  bytes - index{sizeof low});
    }
  }
  static floats multiply_add(floats acc, floats a, floats b) { return _mm256_fmadd_ps(a, b, acc); }
  static doubles multiply_add(doubles acc, doubles a, doubles b) { return _mm256_fmadd_pd(a, b, acc); }
  static integers multiply_add(integers acc, integers a, integers b) {
    return _mm256_add_epi32(acc, _mm256_madd_epi16(a, b));
  }
  static integers multiply_add(integers acc, word a, integers b) {
    return multiply_add(acc, b, _mm256_set1_epi32(static_cast<int>(a)));
  }
  static floats square_root(floats x) { return _mm256_sqrt_ps(x); }
  static doubles square_root(doubles x) { return _mm256_sqrt_pd(x); }
  template <std::float_round_style Style> static floats to_integers(floats x) {
    return _mm256_round_ps(x, rounding_immediate<Style>);
  }
  static floats quick_reciprocal_root(floats x) { return _mm256_set1_ps(1) / square_root(x); }
  static floats permuted(floats x, integers places) { return _mm256_permutevar8x32_ps(x, places); }
  static integers int8_to_int16(const void* from) { return _mm256_cvtepi8_epi16(load_half(from)); }
  static floats load_fp16(const void* from) { return _mm256_cvtph_ps(load_half(from)); }
  static void store_fp16(void* to, floats x) {
    _mm_storeu_si128(static_cast<__m128i*>(to), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
  }
  /// There is no instruction for it. In two steps: the multiple of 2^32, then the rest. The sum of an integer
  /// and a large number has the integer in its lower bits.
  static integers to_int64(doubles x) {
    const doubles next_to_multiples = _mm256_set1_pd(0x1.8p84), next_to_rest = _mm256_set1_pd(0x1.8p52);
    const doubles multiple = x + next_to_multiples, rest = x - (multiple - next_to_multiples);
    const integers upper = _mm256_slli_epi64(_mm256_castpd_si256(multiple), 32),
                   lower = _mm256_castpd_si256(rest + next_to_rest);
    return _mm256_sub_epi64(_mm256_add_epi64(upper, lower), _mm256_castpd_si256(next_to_rest));
  }

 private:
  static __m128i load_half(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
};

#include "../lanes.inl"

// g++ 12 makes masks of comparisons.
inline float_vector smaller(float_vector a, float_vector b) { return _mm256_min_ps(a, b); }
inline float_vector larger(float_vector a, float_vector b) { return _mm256_max_ps(a, b); }
inline double_vector smaller(double_vector a, double_vector b) { return _mm256_min_pd(a, b); }
inline double_vector larger(double_vector a, double_vector b) { return _mm256_max_pd(a, b); }

// g++ 12 converts one half after the other.
template <> inline half_uint16_vector load_upper_bytes(const void* from) {
  const __m128i bytes = _mm_loadl_epi64(static_cast<const __m128i*>(from));
  return reinterpret_cast<half_uint16_vector>(_mm_unpacklo_epi8(_mm_setzero_si128(), bytes));
}

/// Codes of 8 bits, a vector at a time, looked up in the 16 rows of a table. The lower half of a code is the
/// place in each row; each bit of its upper half halves the rows.
class looked_up_rows {
 public:
  looked_up_rows(__m256i codes, const std::uint8_t* table)
      : table_(table), places_(_mm256_and_si256(codes, _mm256_set1_epi8(0x0f))), codes_(codes) {}
  __m256i result() const { return of_rows<16>(0); }

 private:
  /// Of so many rows from the first one on. A bit is a byte's sign for a blend.
  template <int Rows> __m256i of_rows(int first) const {
    if constexpr (Rows == 1) {
      const __m128i row = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table_ + 16 * first));
      return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(row), places_);
    } else {
      constexpr int bit = 3 + std::bit_width(unsigned{Rows / 2});
      return _mm256_blendv_epi8(of_rows<Rows / 2>(first), of_rows<Rows / 2>(first + Rows / 2),
                                _mm256_slli_epi16(codes_, 7 - bit));
    }
  }

  const std::uint8_t* table_;
  __m256i places_, codes_;
};
inline void look_up_codes(const std::uint8_t* from, std::uint8_t* to, index n, const std::uint8_t* table) {
  constexpr index count = sizeof(__m256i);
  const auto look = [table](__m256i codes) { return looked_up_rows(codes, table).result(); };
  index i = 0;
  for (; i + count <= n; i += count) {
    const __m256i found = look(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), found);
  }
  if (i == n) return;
  uint32_vector rest = {};
  read_part(rest, from + i, n - i);
  write_part(to + i, lanes_as<uint32_vector>(look(reinterpret_cast<__m256i>(rest))), n - i);
}

#include "../vector_kernels.inl"

struct kernels {
  template <class Table> static constexpr void offer(Table& table) {
    offer_vectors(table);
    NARROW_OFFER(fp32, panels<floats, 6, 2>("FMA"));
    NARROW_OFFER(int16, panels<int16_pairs, 6, 2>("vpmaddwd"));
    NARROW_OFFER(wide, wide_products<doubles, 6, 2>("FMA"));
  }
};

}  // namespace narrow::kernel::avx2

NARROW_TARGET_END
