// Which instruction set the kernels use: the best that the processor has, or less on request.
#pragma once

#include <string_view>

#include "simd/dispatch.hpp"

namespace narrow::inline NARROW_ABI {

/// The instruction set that kernels use: `portable`; on x86-64 `avx2` (with FMA and F16C), `avx_vnni` (AVX2
/// with AVX-VNNI), `avx512` (F, BW, VL, DQ), `avx512_vnni`, `avx512_vbmi` (with VNNI), `avx512_bf16` (with
/// both), `amx` (which has all of it, and tiles with BF16 and INT8; Linux is asked for them once); on AArch64
/// `neon`, `neon_dot` (with dot products of int8), `neon_bf16` (with both), `neon_i8mm` (with products of
/// matrices of int8, too), tested under emulation and not timed. By default the best that the processor has;
/// the environment variable NARROW_ISA holds it lower; where that names none of them, the first computation
/// throws std::invalid_argument listing them.
///
/// Integer results and conversions are the same bits with each of them; sums of floating-point products
/// differ within their bound.
inline std::string_view isa_name() { return kernel::dispatch::name_of(kernel::dispatch::chosen()); }

/// Makes kernels use the instruction set `name` from now on, in all threads. Throws std::invalid_argument
/// listing the names if it is none, or none that this processor has; then nothing changes.
inline void use_isa(std::string_view name) { kernel::dispatch::instance().choose(name, "narrow::use_isa"); }

}  // namespace narrow
