// Sixteen floats, for so few numbers in a program whose own flags have AVX-512: inlined where they are asked
// for, as four of them are (see few_lanes.hpp), by the same rules.
#pragma once

#include "few_lanes.hpp"

#if defined(__x86_64__) && defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define NARROW_SIXTEEN_LANES 1
#else
#define NARROW_SIXTEEN_LANES 0
#endif

namespace narrow::inline NARROW_ABI::kernel::few {

#if NARROW_SIXTEEN_LANES

using sixteen [[gnu::vector_size(64)]] = float;
using sixteen_words [[gnu::vector_size(64)]] = std::uint32_t;
using eight [[gnu::vector_size(32)]] = float;

/// The first lanes; what is left out is zero.
struct first_of_sixteen {
  __mmask16 mask;
  /// A load with a mask waits for what was stored before, where another is handed on what it reads.
  bool are_all() const { return mask == 0xffff; }
};
[[gnu::always_inline]] inline first_of_sixteen first_sixteen(index count) {
  return {static_cast<__mmask16>((1u << count) - 1)};
}

[[gnu::always_inline]] inline sixteen pinned_sixteen(sixteen x) {
  asm volatile("" : "+v"(x));
  return x;
}

template <class T> [[gnu::always_inline]] inline sixteen floats_of(__m256i given) {
  if constexpr (coded_as_fp16<T>) {
    sixteen result;
    asm volatile("vcvtph2ps %1, %0" : "=v"(result) : "v"(given));
    return result;
  } else {
    using sixteen_codes [[gnu::vector_size(32)]] = std::uint16_t;
    const auto bits = __builtin_convertvector(reinterpret_cast<sixteen_codes>(given), sixteen_words) << 16;
    return pinned_sixteen(reinterpret_cast<sixteen>(bits));
  }
}
template <class T> [[gnu::always_inline]] inline sixteen read(const T* from, first_of_sixteen some) {
  if constexpr (std::same_as<T, float>)
    return pinned_sixteen(reinterpret_cast<sixteen>(some.are_all() ? _mm512_loadu_ps(from)
                                                                   : _mm512_maskz_loadu_ps(some.mask, from)));
  else
    return floats_of<T>(some.are_all() ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))
                                       : _mm256_maskz_loadu_epi16(some.mask, from));
}
template <class T> [[gnu::always_inline]] inline sixteen repeat(const T* from, first_of_sixteen) {
  if constexpr (std::same_as<T, float>)
    return pinned_sixteen(reinterpret_cast<sixteen>(_mm512_set1_ps(*from)));
  else
    return floats_of<T>(_mm256_set1_epi16(static_cast<std::int16_t>(from->bits())));
}

/// a / b, without the exceptions of lanes that are left out.
[[gnu::always_inline]] inline sixteen divided(sixteen a, sixteen b, first_of_sixteen some) {
  sixteen result;
  asm("vdivps %2, %1, %0%{%3%}%{z%}" : "=v"(result) : "v"(a), "v"(b), "Yk"(some.mask));
  return result;
}
/// a, and zero in lanes that are left out. A sum, so that no number is -0.
[[gnu::always_inline]] inline sixteen first_of(sixteen a, first_of_sixteen some) {
  sixteen result;
  asm("vaddps %1, %2, %0%{%3%}%{z%}" : "=v"(result) : "v"(a), "v"(sixteen{}), "Yk"(some.mask));
  return result;
}
[[gnu::always_inline]] inline sixteen negative(sixteen a) {
  return reinterpret_cast<sixteen>(reinterpret_cast<sixteen_words>(a) ^
                                   std::uint32_t{detail::binary32::sign_mask});
}
[[gnu::always_inline]] inline sixteen absolute(sixteen a) {
  return reinterpret_cast<sixteen>(reinterpret_cast<sixteen_words>(a) &
                                   std::uint32_t{detail::binary32::magnitude_mask});
}

/// The sum of all lanes: each with the one half a vector further, until one is left.
[[gnu::always_inline]] inline float total(sixteen x) {
  const eight low = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7);
  const eight all = sum(low, __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15));
  const floats half = __builtin_shufflevector(all, all, 0, 1, 2, 3);
  return total(sum(half, __builtin_shufflevector(all, all, 4, 5, 6, 7)));
}

#endif

}  // namespace narrow::kernel::few
