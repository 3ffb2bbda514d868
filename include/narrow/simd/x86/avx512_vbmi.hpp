// What VBMI, permutations of bytes, adds to AVX-512 with VNNI: numbers of 8 bits are looked up, 64 at a time.
#pragma once

#include "avx512_vnni.hpp"

NARROW_TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512vbmi")

namespace narrow::inline NARROW_ABI::kernel::avx512_vbmi {

/// For 64 codes of 8 bits: the bf16 values of their lower 7 bits, with the upper one as the sign.
class byte_tables {
 public:
  static constexpr index count = sizeof(__m512i);

  explicit byte_tables(const std::uint16_t* values) {
    const __m512i even = numbers([](int i) { return 2 * i; }), odd = numbers([](int i) { return 2 * i + 1; });
    for (int half = 0; half < 2; ++half) {
      const __m512i first = _mm512_loadu_si512(values + half * count),
                    second = _mm512_loadu_si512(values + half * count + count / 2);
      lower_[half] = _mm512_permutex2var_epi8(first, even, second);
      upper_[half] = _mm512_permutex2var_epi8(first, odd, second);
    }
  }

  /// The first and the second half of them as bf16.
  void look_up(__m512i codes, __m512i (&words)[2]) const {
    interleave(_mm512_permutexvar_epi8(for_words_, codes), words);
  }
  /// Quarters of them as floats.
  void look_up(__m512i codes, __m512i (&floats)[4]) const {
    __m512i words[2];
    interleave(_mm512_permutexvar_epi32(for_floats_, codes), words);
    const __m512i zero = _mm512_setzero_si512();
    NARROW_UNROLL for (int half = 0; half < 2; ++half) {
      floats[2 * half] = _mm512_unpacklo_epi16(zero, words[half]);
      floats[2 * half + 1] = _mm512_unpackhi_epi16(zero, words[half]);
    }
  }

 private:
  /// Bytes that place(i) gives for i from 0 on.
  template <class Place> static __m512i numbers(Place place) {
    std::uint8_t bytes[count];
    for (int i = 0; i < int{count}; ++i) bytes[i] = static_cast<std::uint8_t>(place(i));
    return _mm512_loadu_si512(bytes);
  }
  /// What stands in the first 8 bytes of each 16, and in the second ones.
  void interleave(__m512i codes, __m512i (&words)[2]) const {
    const __m512i lower = _mm512_permutex2var_epi8(lower_[0], codes, lower_[1]),
                  upper = _mm512_permutex2var_epi8(upper_[0], codes, upper_[1]);
    constexpr int or_and = 0xf8;  // a | (b & c)
    const __m512i with_sign = _mm512_ternarylogic_epi32(upper, codes, _mm512_set1_epi8(-0x80), or_and);
    words[0] = _mm512_unpacklo_epi8(lower, with_sign);
    words[1] = _mm512_unpackhi_epi8(lower, with_sign);
  }

  __m512i lower_[2], upper_[2];  // bytes of the values
  __m512i for_words_ = numbers([](int i) { return i / 8 % 2 * 32 + i / 16 * 8 + i % 8; });
  __m512i for_floats_ = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
};

NARROW_KERNEL inline void look_up8(const void* from, void* to, index n, const std::uint16_t* values) {
  constexpr index count = byte_tables::count, half = count / 2;
  const byte_tables tables(values);
  const auto* next = static_cast<const std::uint8_t*>(from);
  auto* result = static_cast<std::uint16_t*>(to);
  __m512i words[2];
  for (; n >= count; n -= count, next += count, result += count) {
    tables.look_up(_mm512_loadu_si512(next), words);
    _mm512_storeu_si512(result, words[0]);
    _mm512_storeu_si512(result + half, words[1]);
  }
  if (n <= 0) return;
  tables.look_up(_mm512_maskz_loadu_epi8((std::uint64_t{1} << n) - 1, next), words);
  const auto first = static_cast<__mmask32>((std::uint64_t{1} << std::min(n, half)) - 1);
  _mm512_mask_storeu_epi16(result, first, words[0]);
  if (n > half) _mm512_mask_storeu_epi16(result + half, (1u << (n - half)) - 1, words[1]);
}

NARROW_KERNEL inline void decode8(const void* from, float* to, index n, const decoding& d) {
  constexpr index count = byte_tables::count, lanes = sizeof(__m512) / sizeof(float);
  if (n < 2 * lanes) return avx512::decode_line<std::uint8_t>(from, to, n, d);
  const byte_tables tables(d.as_bf16);
  const auto* next = static_cast<const std::uint8_t*>(from);
  __m512i floats[4];
  for (; n >= count; n -= count, next += count, to += count) {
    tables.look_up(_mm512_loadu_si512(next), floats);
    NARROW_UNROLL for (int k = 0; k < 4; ++k) _mm512_storeu_si512(to + k * lanes, floats[k]);
  }
  if (n <= 0) return;
  tables.look_up(_mm512_maskz_loadu_epi8((std::uint64_t{1} << n) - 1, next), floats);
  NARROW_UNROLL for (int k = 0; k < 4; ++k) {
    if (const index some = std::min(n - k * lanes, lanes); some > 0)
      _mm512_mask_storeu_epi32(to + k * lanes, static_cast<__mmask16>((1u << some) - 1), floats[k]);
  }
}

/// Lines of numbers that only become floats.
template <class T, class Shape>
NARROW_KERNEL void decode_lines(const lane_numbers<T>& x, float* to, index to_step, const Shape& shape) {
  for (index l = 0; l < shape.lines; ++l)
    decode8(x.from + l * x.line_step, to + l * to_step, shape.length, decoding_of<T>());
}
template <class T, class Shape>
requires(sizeof(T) == 1 && has_plain_sign<T>) constexpr auto kernel_of(
    std::type_identity<stored_program<lane_numbers<T>, float, Shape>>) {
  return decode_lines<T, Shape>;
}

struct kernels {
  template <class Table> static constexpr void offer(Table& table) {
    NARROW_OFFER(codes8, {avx512::encode_tile<std::uint8_t>, avx512::encode_line_stochastic<std::uint8_t>,
                          avx512::encode_tile_in_mode<std::uint8_t>, decode8});
    NARROW_OFFER(look_up8, look_up8);
    NARROW_OFFER_JOB(table);
  }
};

}  // namespace narrow::kernel::avx512_vbmi

NARROW_TARGET_END
