// The kernels, for one source file of a program; all of its source files are compiled with
// NARROW_COMPILED_KERNELS defined. Then the kernels are compiled once, and not in each file that uses some of
// them.
#pragma once

#if !defined(NARROW_COMPILED_KERNELS)
#error \
    "narrow/compiled_kernels.hpp: NARROW_COMPILED_KERNELS must be defined, here and in the files that use the kernels"
#endif

#include "simd/dispatch.hpp"
#include "simd/instruction_sets.hpp"

namespace narrow::inline NARROW_ABI::kernel {

const std::span<const instruction_set> compiled_instruction_sets{instruction_sets};

inline constexpr auto kernel_tables = listed_sets.kernels<every_kernel>();
const std::span<const every_kernel> compiled_kernels{kernel_tables};

}  // namespace narrow::kernel
