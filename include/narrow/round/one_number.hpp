// Single numbers of binary16 and to it by the processor's instructions (F16C), whatever the program is
// compiled for: where it has no flag for them, it asks the processor when it runs.
#pragma once

#include <cstdint>
#include <limits>

#if defined(__x86_64__)
#include <cpuid.h>

#include <initializer_list>
#endif

#include "../config.hpp"

namespace narrow::inline NARROW_ABI::detail {

#if defined(__x86_64__)

// An instruction on one operand that gives another, and one whose result replaces its operand. Beside those
// of AVX those of SSE would have to wait.
#if defined(__AVX__)
#define NARROW_FROM(from, instruction, value, to) "v" instruction " " value ", " from ", " to "\n\t"
#define NARROW_NEXT(instruction, value, to) NARROW_FROM(to, instruction, value, to)
#else
#define NARROW_NEXT(instruction, value, to) instruction " " value ", " to "\n\t"
#define NARROW_FROM(from, instruction, value, to) \
  "movaps " from ", " to "\n\t" NARROW_NEXT(instruction, value, to)
#endif

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

// A code is handed on as a word, of which compilers know that it has no more bits: so it stays in the vector
// register from which it is decoded next. The other lanes there are zero, which raise no exception.
[[gnu::always_inline]] inline float from_binary16(std::uint16_t code) {
  float x;
  asm volatile("vcvtph2ps %1, %0" : "=x"(x) : "x"(std::uint32_t{code}));
  return x;
}
[[gnu::always_inline]] inline std::uint32_t to_binary16(float x) {
  std::uint32_t code;
  asm volatile inline(
      "vxorps %0, %0, %0\n\t"
      "vmovss %1, %0, %0\n\t"  // in two cycles less than by vinsertps
      "vcvtps2ph $0, %0, %0"
      : "=&x"(code)
      : "x"(x));
  if (code > std::numeric_limits<std::uint16_t>::max()) __builtin_unreachable();
  return code;
}

// Of bfloat16, in vector registers, too.
[[gnu::always_inline]] inline float from_bfloat16(std::uint16_t code) {
  float x;
  asm inline(NARROW_FROM("%1", "pslld", "$16", "%0") : "=x"(x) : "x"(std::uint32_t{code}));
  return x;
}
[[gnu::always_inline]] inline std::uint32_t to_bfloat16(float x) {
  // A half of a unit in the last place less one, and one more where that place is odd.
  alignas(16) static constexpr std::uint32_t less_than_half[4] = {(1u << 15) - 1};
  std::uint32_t code, below_half;
  asm inline(NARROW_FROM("%2", "pslld", "$15", "%0")  //
             NARROW_FROM("%2", "paddd", "%3", "%1")   //
             NARROW_NEXT("psrld", "$31", "%0")        //
             NARROW_NEXT("paddd", "%1", "%0")         //
             NARROW_NEXT("psrld", "$16", "%0")        //
             : "=&x"(code), "=&x"(below_half)
             : "x"(x), "m"(less_than_half));
  if (code > std::numeric_limits<std::uint16_t>::max()) __builtin_unreachable();
  return code;
}
/// The root of a float, rounded in whichever mode.
[[gnu::always_inline]] inline float root_in_register(float x) {
  asm(NARROW_NEXT("sqrtss", "%0", "%0") : "+x"(x));
  return x;
}

#undef NARROW_FROM
#undef NARROW_NEXT

#endif

}  // namespace narrow::detail
