// What an x86-64 processor says of itself, and which of its registers the operating system saves.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>

#include "../config.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// What it answers, and zeros where it does not know the question.
struct cpuid_answer {
  unsigned a = 0, b = 0, c = 0, d = 0;
};
inline cpuid_answer ask_processor(unsigned leaf, unsigned subleaf) {
  cpuid_answer r;
  return __get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d) != 0 ? r : cpuid_answer{};
}

/// Sets of registers: of AVX, of AVX-512, which has those, too, and of AMX (Intel 64 and IA-32 Architectures
/// Software Developer's Manual, volume 1, section 13.1).
inline constexpr unsigned ymm_state = 1u << 1 | 1u << 2, zmm_state = ymm_state | 1u << 5 | 1u << 6 | 1u << 7,
                          tile_state = 1u << 17 | 1u << 18;

/// Those that are saved: none where the operating system does not say.
inline unsigned saved_registers() {
  constexpr int osxsave = 27;
  if ((ask_processor(1, 0).c >> osxsave & 1) == 0) return 0;
  unsigned saved = 0, high = 0;
  asm volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  return saved;
}

}  // namespace narrow::detail
#endif
