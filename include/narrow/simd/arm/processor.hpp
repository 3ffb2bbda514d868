// What an AArch64 processor can do beyond NEON, which each of them has. Only Linux is asked.
#pragma once

#if defined(__linux__)
#include <sys/auxv.h>
#endif

#include "../kernel_table.hpp"

namespace narrow::inline NARROW_ABI::kernel {

struct processor {
  bool neon_dot = false;
  bool neon_bf16 = false;
  bool neon_i8mm = false;

  static processor probe() {
    processor p;
#if defined(__linux__)
    // Bits of AT_HWCAP and AT_HWCAP2 as Linux has them in asm/hwcap.h, which older ones have not.
    constexpr unsigned long asimddp = 1ul << 20, bf16 = 1ul << 14, i8mm = 1ul << 13;
    p.neon_dot = (getauxval(AT_HWCAP) & asimddp) != 0;
    p.neon_bf16 = p.neon_dot && (getauxval(AT_HWCAP2) & bf16) != 0;
    p.neon_i8mm = p.neon_bf16 && (getauxval(AT_HWCAP2) & i8mm) != 0;
#endif
    return p;
  }
};

}  // namespace narrow::kernel
