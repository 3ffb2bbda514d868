// Single numbers of binary16 by the processor's instructions, F16C and AVX512-FP16, whatever the program is
// compiled for: where it has no flag for them, it asks the processor when it runs.
#pragma once

#include <cstdint>
#include <limits>

#include "../config.hpp"
#include "cpuid.hpp"

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

#if defined(__F16C__) && defined(__AVX512FP16__)
constexpr bool converts_binary16() { return true; }
constexpr bool computes_binary16() { return true; }
/// Whether numbers are compared by these instructions, too.
inline constexpr bool orders_binary16 = true;
#define NARROW_COMPUTED
#else
enum class binary16_instructions : unsigned char { none, conversions, arithmetic };
/// Which instructions for binary16 the processor has, F16C and AVX512-FP16, where the operating system saves
/// what they compute with. None until this object is initialised, before main: till then numbers are
/// converted in other ways, to the same bits.
inline const binary16_instructions has_binary16_instructions = [] {
  constexpr unsigned avx = 1u << 28, f16c = 1u << 29, avx512_fp16 = 1u << 23;
  const unsigned saved = saved_registers(), converts = ask_processor(1, 0).c & (avx | f16c);
  if ((saved & ymm_state) != ymm_state || converts != (avx | f16c)) return binary16_instructions::none;
  const bool computes = (ask_processor(7, 0).d & avx512_fp16) != 0;
  return computes && (saved & zmm_state) == zmm_state ? binary16_instructions::arithmetic
                                                      : binary16_instructions::conversions;
}();

// Whether the functions below may be called that convert, and those that compute. They are volatile, so that
// no compiler calls them before.
#if defined(__F16C__)
constexpr bool converts_binary16() { return true; }
#else
[[gnu::always_inline]] inline bool converts_binary16() {
  return has_binary16_instructions != binary16_instructions::none;
}
#endif
[[gnu::always_inline]] inline bool computes_binary16() {
  return has_binary16_instructions == binary16_instructions::arithmetic;
}
inline constexpr bool orders_binary16 = false;  // to ask takes as long as integers take
#define NARROW_COMPUTED volatile
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

// Operations on binary16 itself, by AVX512-FP16. They round to nearest even, raise no exceptions and flush
// nothing, whatever the floating-point environment is. Which NaN they give is not what is asked for here.
#define NARROW_BINARY16(name, instruction)                                             \
  [[gnu::always_inline]] inline std::uint32_t name(std::uint16_t a, std::uint16_t b) { \
    std::uint32_t code;                                                                \
    asm NARROW_COMPUTED(instruction " %{rn-sae%}, %2, %1, %0"                          \
                        : "=v"(code)                                                   \
                        : "v"(std::uint32_t{a}), "v"(std::uint32_t{b}));               \
    if (code > std::numeric_limits<std::uint16_t>::max()) __builtin_unreachable();     \
    return code;                                                                       \
  }
NARROW_BINARY16(binary16_sum, "vaddsh")
NARROW_BINARY16(binary16_difference, "vsubsh")
NARROW_BINARY16(binary16_product, "vmulsh")
NARROW_BINARY16(binary16_quotient, "vdivsh")
#undef NARROW_BINARY16
[[gnu::always_inline]] inline std::uint32_t binary16_root(std::uint16_t a) {
  std::uint32_t code;
  asm NARROW_COMPUTED("vsqrtsh %{rn-sae%}, %1, %1, %0" : "=v"(code) : "v"(std::uint32_t{a}));
  if (code > std::numeric_limits<std::uint16_t>::max()) __builtin_unreachable();
  return code;
}
/// a b + c
[[gnu::always_inline]] inline std::uint32_t binary16_fma(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  std::uint32_t code = c;
  asm NARROW_COMPUTED("vfmadd231sh %{rn-sae%}, %2, %1, %0"
                      : "+v"(code)
                      : "v"(std::uint32_t{a}), "v"(std::uint32_t{b}));
  if (code > std::numeric_limits<std::uint16_t>::max()) __builtin_unreachable();
  return code;
}
[[gnu::always_inline]] inline bool is_binary16_nan(std::uint32_t code) {
  bool unordered;
  asm NARROW_COMPUTED("vucomish %{sae%}, %1, %1" : "=@ccp"(unordered) : "v"(code));
  return unordered;
}
// Orders, which do not hold of NaN.
#define NARROW_BINARY16_ORDER(name, holds)                                    \
  [[gnu::always_inline]] inline bool name(std::uint16_t a, std::uint16_t b) { \
    bool result;                                                              \
    asm NARROW_COMPUTED("vcomish %{sae%}, %2, %1"                             \
                        : holds(result)                                       \
                        : "v"(std::uint32_t{a}), "v"(std::uint32_t{b}));      \
    return result;                                                            \
  }
NARROW_BINARY16_ORDER(is_binary16_above, "=@cca")       // a > b
NARROW_BINARY16_ORDER(is_binary16_not_below, "=@ccae")  // a >= b
#undef NARROW_BINARY16_ORDER
#undef NARROW_COMPUTED

#else
constexpr bool computes_binary16() { return false; }
inline constexpr bool orders_binary16 = false;
// What is named elsewhere, and nothing calls.
std::uint32_t binary16_sum(std::uint16_t, std::uint16_t);
std::uint32_t binary16_difference(std::uint16_t, std::uint16_t);
std::uint32_t binary16_product(std::uint16_t, std::uint16_t);
std::uint32_t binary16_quotient(std::uint16_t, std::uint16_t);
std::uint32_t binary16_root(std::uint16_t);
std::uint32_t binary16_fma(std::uint16_t, std::uint16_t, std::uint16_t);
bool is_binary16_nan(std::uint32_t);
bool is_binary16_above(std::uint16_t, std::uint16_t);
bool is_binary16_not_below(std::uint16_t, std::uint16_t);
#endif

}  // namespace narrow::detail
