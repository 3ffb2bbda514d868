// Single numbers of binary16 and to it by the processor's instructions (F16C), whatever the program is
// compiled for: where it has no flag for them, it asks the processor when it runs.
#pragma once

#include <cstdint>

#if defined(__F16C__)
#include <immintrin.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#include <emmintrin.h>

#include <initializer_list>
#endif

#include "../config.hpp"

namespace narrow::inline NARROW_ABI::detail {

#if defined(__F16C__)

constexpr bool converts_binary16() { return true; }
[[gnu::always_inline]] inline float from_binary16(std::uint16_t code) { return _cvtsh_ss(code); }
[[gnu::always_inline]] inline std::uint16_t to_binary16(float x) {
  return static_cast<std::uint16_t>(
      _mm_cvtsi128_si32(_mm_cvtps_ph(_mm_set_ss(x), _MM_FROUND_TO_NEAREST_INT)));
}

#elif defined(__x86_64__)

/// Whether the processor has F16C, and the operating system saves what that computes with. False until this
/// object is initialised, before main: till then numbers are converted in other ways, to the same bits.
inline const bool has_binary16_instructions = [] {
  constexpr int osxsave = 27, avx = 28, f16c = 29, ymm_state = 6;
  unsigned a = 0, b = 0, c = 0, d = 0, saved = 0, high = 0;
  bool is_there = __get_cpuid(1, &a, &b, &c, &d) != 0;
  for (const int bit : {osxsave, avx, f16c}) is_there = is_there && (c >> bit & 1) != 0;
  if (is_there) asm volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  return (saved & ymm_state) == ymm_state;
}();

/// Whether the two functions below may be called. They are volatile, so that no compiler calls them before.
[[gnu::always_inline]] inline bool converts_binary16() { return has_binary16_instructions; }
[[gnu::always_inline]] inline float from_binary16(std::uint16_t code) {
  __m128 x;
  asm volatile("vcvtph2ps %1, %0" : "=x"(x) : "x"(_mm_cvtsi32_si128(code)));
  return _mm_cvtss_f32(x);
}
[[gnu::always_inline]] inline std::uint16_t to_binary16(float x) {
  __m128i code;
  asm volatile("vcvtps2ph $0, %1, %0" : "=x"(code) : "x"(x));
  return static_cast<std::uint16_t>(_mm_cvtsi128_si32(code));
}

#endif

}  // namespace narrow::detail
