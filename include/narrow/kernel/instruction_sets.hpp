// The instruction sets of the processor that a program is compiled for. To add one, add its file and its line
// here.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>

#if defined(__x86_64__)
#include "x86/amx.hpp"
#include "x86/avx512_bf16.hpp"
#include "x86/avx512_vnni.hpp"
#include "x86/avx_vnni.hpp"
#elif defined(__aarch64__)
#include "arm/neon.hpp"
#else
#include "other/processor.hpp"
#endif

namespace narrow::kernel {

/// What this processor can do, asked once.
inline const processor& this_processor() {
  static const processor the_one = processor::probe();
  return the_one;
}

/// The list with what each one extends found in it, before it.
template <std::size_t Count>
consteval std::array<instruction_set, Count> linked(std::array<instruction_set, Count> list) {
  for (std::size_t i = 1; i < Count; ++i) {
    std::size_t& base = list[i].base;
    while (list[base].name != list[i].extends)
      if (++base == i) throw std::logic_error("an instruction set extends one that is listed before it");
  }
  return list;
}

// It would indent what follows #if twice.
// clang-format off
/// The best one last. Each has what the one has that it extends, and puts its own kernels in the place of those.
inline constexpr auto instruction_sets = linked(std::to_array<instruction_set>({
    {"portable", "", [] { return true; }, {}},
#if defined(__x86_64__)
    {"avx2", "portable", [] { return this_processor().avx2; }, avx2::kernels},
    {"avx_vnni", "avx2", [] { return this_processor().avx_vnni; }, avx_vnni::kernels},
    {"avx512", "avx2", [] { return this_processor().avx512; }, avx512::kernels},
    {"avx512_vnni", "avx512", [] { return this_processor().avx512_vnni; }, avx512_vnni::kernels},
    {"avx512_bf16", "avx512_vnni", [] { return this_processor().avx512_bf16; }, avx512_bf16::kernels},
    {"amx", "avx512_bf16", [] { return this_processor().amx; }, amx::kernels},
#elif defined(__aarch64__)
    {"neon", "portable", [] { return true; }, neon::kernels},
    {"neon_dot", "neon", [] { return this_processor().neon_dot; }, neon_dot::kernels},
    {"neon_bf16", "neon_dot", [] { return this_processor().neon_bf16; }, neon_bf16::kernels},
#endif
}));
// clang-format on

}  // namespace narrow::kernel
