// What BF16 adds to AVX-512.
#pragma once

#include "avx512_vbmi.hpp"

NARROW_TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512bf16")

namespace narrow::inline NARROW_ABI::kernel::avx512_bf16 {

using avx512::read_part;
#include "../../kernel/product/dot.inl"
#include "../../kernel/product/panels.inl"

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

NARROW_KERNEL inline bool dot_checked_bf16(const void* a, const void* b, index n, float* sum) {
  const checked_bf16_line::sum result = dot_line<checked_bf16_line>(a, b, n);
  *sum = result.value;
  return result.exact;
}

inline bool any_subnormal(__m512 x, __m512 y) {
  constexpr int subnormal = 0x20;  // of the classes of VFPCLASSPS
  return (_mm512_fpclass_ps_mask(x, subnormal) | _mm512_fpclass_ps_mask(y, subnormal)) != 0;
}

/// The codes of a tile in a format of 16 bits. As bf16 by an instruction that knows what becomes of a NaN but
/// takes subnormal numbers for zeros: if there is one, by other ones.
NARROW_KERNEL inline bool encode_tile16(const float* from, const tile_shape& shape, void* to,
                                        const encoding& e) {
  if (!e.is_upper_half) return avx512::encode_tile<std::uint16_t>(from, shape, to, e);
  constexpr index lanes = avx512::lanes32;
  const __m512i magnitude = _mm512_set1_epi16(static_cast<short>(floating<8, 7>::layout::magnitude_mask));
  const tile_shape s = shape.joined();
  auto* const codes = static_cast<std::uint16_t*>(to);
  for (index i = 0; i < s.rows; ++i)
    for (index j = 0; j < s.cols; j += 2 * lanes) {
      const index rest = s.cols - j;
      const float* const numbers = from + i * s.stride + j;
      std::uint16_t* const place = codes + i * s.to_stride + j;
      const bool whole = rest >= 2 * lanes;
      const __mmask32 some = whole ? ~__mmask32{0} : (__mmask32{1} << rest) - 1;
      const __m512 x = whole ? _mm512_loadu_ps(numbers)
                             : _mm512_maskz_loadu_ps(static_cast<__mmask16>(some), numbers),
                   y = whole ? _mm512_loadu_ps(numbers + lanes)
                             : _mm512_maskz_loadu_ps(static_cast<__mmask16>(some >> lanes), numbers + lanes);
      const auto both = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(y, x));
      const bool has_zero = _mm512_mask_testn_epi16_mask(some, both, magnitude) != 0;
      if (has_zero && any_subnormal(x, y)) [[unlikely]]
        return avx512::encode_tile<std::uint16_t>(from, shape, to, e);
      if (whole)
        _mm512_storeu_si512(place, both);
      else
        _mm512_mask_storeu_epi16(place, some, both);
    }
  return true;
}

/// As bf16 by instructions that take subnormal numbers for zeros: if there is one, by other ones.
template <class T> struct stored_as { static constexpr bool is_there = false; };
template <class T>
requires(coded_as_bf16<T>&& std::same_as<typename T::overflow_policy, overflow::ieee>) struct stored_as<T> {
  static constexpr bool is_there = true, in_twos = true;

  [[gnu::always_inline]] static void one(T* to, const avx512::float_vector& x) {
    if (any_subnormal(x, x)) [[unlikely]]
      return avx512::store_numbers<T>(to, x);
    const __m256bh codes = _mm512_cvtneps_pbh(x);
    std::memcpy(static_cast<void*>(to), &codes, sizeof codes);
  }
  [[gnu::always_inline]] static void two(T* to, const avx512::float_vector& x,
                                         const avx512::float_vector& y) {
    if (any_subnormal(x, y)) [[unlikely]]
      return avx512::store_numbers<T>(to, x, y);
    const __m512bh codes = _mm512_cvtne2ps_pbh(y, x);
    std::memcpy(static_cast<void*>(to), &codes, sizeof codes);
  }
};
template <class, class T> using stored_of_line = stored_as<T>;
using avx512::all_lanes, avx512::at, avx512::chooses_codes, avx512::has_quick_tables, avx512::lanes32,
    avx512::look_up_lines, avx512::one_of_twos, avx512::rest_of, avx512::store_chosen, avx512::store_numbers,
    avx512::store_line_of_twos, avx512::takes_twos;
#include "../../kernel/elementwise/store.inl"

struct kernels {
  template <class Table> static constexpr void offer(Table& table) {
    NARROW_OFFER(bf16, panels<bf16_pairs, 14, 2, 8>("vdpbf16ps"));
    NARROW_OFFER(codes16, {encode_tile16, avx512::encode_line_stochastic<std::uint16_t>,
                           avx512::encode_tile_in_mode<std::uint16_t>, avx512::decode_line<std::uint16_t>});
    NARROW_OFFER(dot_bf16, {dot_line<bf16_line>, dot_checked_bf16});
    NARROW_OFFER_JOB(table);
  }
};

}  // namespace narrow::kernel::avx512_bf16

NARROW_TARGET_END
