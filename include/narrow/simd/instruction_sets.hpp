// The instruction sets of the processor that a program is compiled for. To add one, add its file and its line
// here.
#pragma once

#include <array>
#include <cstddef>

#include "../kernel/elementwise/portable.hpp"
#if defined(__x86_64__)
#include "../errors.hpp"
#include "x86/amx.hpp"
#include "x86/avx512_bf16.hpp"
#include "x86/avx512_vbmi.hpp"
#include "x86/avx512_vnni.hpp"
#include "x86/avx_vnni.hpp"
#elif defined(__aarch64__)
#include "arm/neon.hpp"
#else
#include "other/processor.hpp"
#endif

namespace narrow::inline NARROW_ABI::kernel {

/// What this processor can do, asked once.
inline const processor& this_processor() {
  static const processor the_one = processor::probe();
  return the_one;
}

template <bool processor::*Feature> bool has() { return this_processor().*Feature; }

/// Instruction sets, and the types whose `offer` has their kernels.
template <class... Kernels> struct set_list {
  std::array<instruction_set, sizeof...(Kernels)> sets;

  /// A Table for each of them: what it offers, over what the one has that it extends.
  template <class Table> constexpr auto kernels() const {
    std::array<Table, sizeof...(Kernels)> tables{};
    std::size_t i = 0;
    ((tables[i] = tables[sets[i].base], Kernels::offer(tables[i]), ++i), ...);
    return tables;
  }
};

template <class Kernels> struct listed_set : instruction_set {};

/// The list with what each one extends found in it, before it.
template <class... Kernels> consteval set_list<Kernels...> linked(const listed_set<Kernels>&... listed) {
  set_list<Kernels...> list{{listed...}};
  for (std::size_t i = 1; i < list.sets.size(); ++i) {
    std::size_t& base = list.sets[i].base;
    while (list.sets[base].name != list.sets[i].extends)
      if (++base == i)
        detail::fail<std::logic_error>("an instruction set extends one that is listed before it");
  }
  return list;
}

// It would indent what follows #if twice.
// clang-format off
/// The best one last. Each has what the one has that it extends, and puts its own kernels in the place of those.
inline constexpr auto listed_sets = linked(
    listed_set<portable::kernels>{{"portable", "", [] { return true; }}}
#if defined(__x86_64__)
    , listed_set<avx2::kernels>{{"avx2", "portable", has<&processor::avx2>}}
    , listed_set<avx_vnni::kernels>{{"avx_vnni", "avx2", has<&processor::avx_vnni>}}
    , listed_set<avx512::kernels>{{"avx512", "avx2", has<&processor::avx512>}}
    , listed_set<avx512_vnni::kernels>{{"avx512_vnni", "avx512", has<&processor::avx512_vnni>}}
    , listed_set<avx512_vbmi::kernels>{{"avx512_vbmi", "avx512_vnni", has<&processor::avx512_vbmi>}}
    , listed_set<avx512_bf16::kernels>{{"avx512_bf16", "avx512_vbmi", has<&processor::avx512_bf16>}}
    , listed_set<amx::kernels>{{"amx", "avx512_bf16", has<&processor::amx>}}
#elif defined(__aarch64__)
    , listed_set<neon::kernels>{{"neon", "portable", [] { return true; }}}
    , listed_set<neon_dot::kernels>{{"neon_dot", "neon", has<&processor::neon_dot>}}
    , listed_set<neon_bf16::kernels>{{"neon_bf16", "neon_dot", has<&processor::neon_bf16>}}
    , listed_set<neon_i8mm::kernels>{{"neon_i8mm", "neon_bf16", has<&processor::neon_i8mm>}}
#endif
);
// clang-format on
inline constexpr auto& instruction_sets = listed_sets.sets;

}  // namespace narrow::kernel
