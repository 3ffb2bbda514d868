// Single numbers of binary16 and to it by the processor's instructions (F16C), whatever the program is
// compiled for: where it has no flag for them, it asks the processor when it runs.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>

#include <initializer_list>
#endif

#include "../config.hpp"

namespace narrow::inline NARROW_ABI::detail {

#if defined(__x86_64__)

#if defined(__F16C__)
constexpr bool converts_binary16() { return true; }
#else
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
#endif

// The other lanes of these vectors are zero, so that they raise no exception.
[[gnu::always_inline]] inline float from_binary16(std::uint16_t code) {
  float x;
  asm volatile("vcvtph2ps %1, %0" : "=x"(x) : "x"(std::uint32_t{code}));
  return x;
}
[[gnu::always_inline]] inline std::uint16_t to_binary16(float x) {
  std::uint32_t code;
  asm volatile inline("vinsertps $0xe, %1, %1, %0\n\tvcvtps2ph $0, %0, %0" : "=x"(code) : "x"(x));
  // What is decoded next stays in its register, since no compiler cuts it off at 16 bits.
  if (code > 0xffff) __builtin_unreachable();
  return static_cast<std::uint16_t>(code);
}

#endif

}  // namespace narrow::detail
