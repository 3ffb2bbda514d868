// What an x86-64 processor can do, and the operating system saves.
#pragma once

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cstdint>

#include "../../round/cpuid.hpp"
#include "../kernel_table.hpp"

namespace narrow::inline NARROW_ABI::kernel {

struct processor {
  bool avx2 = false;  // with FMA and F16C
  bool avx_vnni = false;
  bool avx512 = false;  // F, BW, VL, DQ
  bool avx512_vnni = false;
  bool avx512_vbmi = false;  // with VNNI
  bool avx512_bf16 = false;  // with VNNI and VBMI
  bool amx = false;          // tiles, BF16 and INT8

  static processor probe() {
    using detail::ask_processor, detail::ymm_state, detail::zmm_state, detail::tile_state;
    const auto bit = [](unsigned flags, int n) { return (flags >> n & 1) != 0; };
    const auto basic = ask_processor(1, 0), more = ask_processor(7, 0), extra = ask_processor(7, 1);
    const unsigned saved = detail::saved_registers();

    constexpr int fma = 12, avx = 28, f16c = 29;
    processor p;
    if (!bit(basic.c, avx)) return p;
    constexpr int avx2_bit = 5, avx512f = 16, avx512dq = 17, avx512bw = 30, avx512vl = 31, vnni = 11,
                  vbmi = 1, vex_vnni = 4, bf16 = 5;
    p.avx2 =
        (saved & ymm_state) == ymm_state && bit(more.b, avx2_bit) && bit(basic.c, fma) && bit(basic.c, f16c);
    p.avx_vnni = p.avx2 && bit(extra.a, vex_vnni);
    p.avx512 = p.avx2 && (saved & zmm_state) == zmm_state && bit(more.b, avx512f) && bit(more.b, avx512dq) &&
               bit(more.b, avx512bw) && bit(more.b, avx512vl);
    p.avx512_vnni = p.avx512 && bit(more.c, vnni);
    p.avx512_vbmi = p.avx512_vnni && bit(more.c, vbmi);
    p.avx512_bf16 = p.avx512_vbmi && bit(extra.a, bf16);
    constexpr int amx_bf16 = 22, amx_tile = 24, amx_int8 = 25;
    p.amx = p.avx512_bf16 && (saved & tile_state) == tile_state && bit(more.d, amx_bf16) &&
            bit(more.d, amx_tile) && bit(more.d, amx_int8) && may_have_tiles();
    return p;
  }

 private:
  /// Linux saves tiles for a process that has asked for it (its Documentation/arch/x86/xstate.rst).
  static bool may_have_tiles() {
#if defined(__linux__)
    constexpr long request_permission = 0x1023, tile_data = 18;
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
    return false;
#endif
  }
};

}  // namespace narrow::kernel
