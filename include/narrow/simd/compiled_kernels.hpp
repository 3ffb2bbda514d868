// The kernels of every instruction set, for one source file of a program: see narrow/compiled_kernels.hpp.
#pragma once

#include "dispatch.hpp"
#include "instruction_sets.hpp"

#if !defined(NARROW_COMPILED_KERNELS)
#error \
    "narrow/compiled_kernels.hpp: NARROW_COMPILED_KERNELS must be defined, here and in the files that use the kernels"
#endif

namespace narrow::inline NARROW_ABI::kernel {

const std::span<const instruction_set> compiled_instruction_sets{instruction_sets};

inline constexpr auto kernel_tables = listed_sets.kernels<every_kernel>();
const std::span<const every_kernel> compiled_kernels{kernel_tables};

}  // namespace narrow::kernel
