// What depends on the compiler, and the list of macros.
//
// These are defined after an inclusion; all others that a header defines it undefines.
//
//   version.hpp              NARROW_VERSION_MAJOR NARROW_VERSION_MINOR NARROW_VERSION_PATCH
//   config.hpp               NARROW_ABI NARROW_JOINED NARROW_JOINED_ NARROW_ADDRESS_SANITIZER NARROW_FLOAT_OPERAND
//                            NARROW_FLOAT16 NARROW_BFLOAT16 NARROW_STORED_FLOAT16
//   format/functions.hpp     NARROW_ELEMENTARY_FUNCTIONS
//   simd/few_lanes.hpp       NARROW_INLINED
//   kernel/product/compiled.hpp
//                            NARROW_COMPILED_PRODUCTS NARROW_PRODUCTS_OF NARROW_PRODUCT NARROW_SMALL_PRODUCT
//                            NARROW_BLOCK_PRODUCT
//   runtime/environment.hpp  NARROW_STRICT_BEGIN NARROW_STRICT_END NARROW_QUIETLY NARROW_KERNEL
//                            NARROW_COMPARES_NANS
//   simd/region.hpp          NARROW_TARGET_BEGIN NARROW_TARGET_END NARROW_FEATURES NARROW_PRAGMA
//                            NARROW_TEXT_PRAGMA NARROW_UNROLL NARROW_VECTOR_OPERAND
//   simd/kernel_table.hpp    NARROW_OFFER NARROW_OFFER_JOB
//
// A program may define NARROW_COMPILED_KERNELS, see compiled_kernels.hpp.
#pragma once

#if __cplusplus < 202002L
#error "narrow needs C++20: compile with -std=c++20 or later"
#endif
#if defined(__i386__) && !defined(__SSE2_MATH__)
#error "narrow: the x87 unit rounds floats to more bits than they have: compile with -msse2 -mfpmath=sse"
#endif

#include <cstddef>

#include "version.hpp"

#if defined(__SANITIZE_ADDRESS__)  // g++
#define NARROW_ADDRESS_SANITIZER true
#elif defined(__has_feature)  // clang
#define NARROW_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#else
#define NARROW_ADDRESS_SANITIZER false
#endif

// An operand of an asm statement in a register of the floating-point unit, or in memory, read and written.
#if defined(__SSE__)
#define NARROW_FLOAT_OPERAND(x) "+x"(x)
#elif defined(__aarch64__) || defined(__ARM_FP)
#define NARROW_FLOAT_OPERAND(x) "+w"(x)
#elif defined(__riscv_flen) || defined(__s390x__) || defined(__PPC64__)
#define NARROW_FLOAT_OPERAND(x) "+f"(x)
#else
#define NARROW_FLOAT_OPERAND(x) "+m"(x)
#endif

// The compiler's own types of 16 bits, where it has them; std::float16_t and std::bfloat16_t are these. clang
// defines the constants of _Float16 for processors on which it has no such type, too, and g++ has it in C++
// for x86 before it has it for others.
#if defined(__FLT16_MANT_DIG__) &&                                                             \
    (defined(__clang__) ? (__clang_major__ >= 15 && defined(__SSE2__)) || defined(__aarch64__) \
                        : __GNUC__ >= 13 || defined(__SSE2__))
#define NARROW_FLOAT16 _Float16
#endif
#if defined(__BFLT16_MANT_DIG__) || (defined(__clang__) && defined(__SSE2__) && __clang_major__ >= 17)
#define NARROW_BFLOAT16 __bf16
#endif
#if defined(__aarch64__)  // float16_t of <arm_neon.h>
#define NARROW_STORED_FLOAT16 __fp16
#endif

// The name of the namespace that everything stands in: of the version, and of where the kernels are compiled.
// Object files for which one of them differs have no symbol in common, so that no linker joins them silently.
#define NARROW_JOINED_(a, b, c) a##b##_##c
#define NARROW_JOINED(a, b, c) NARROW_JOINED_(a, b, c)
#if defined(NARROW_COMPILED_KERNELS)
#define NARROW_ABI NARROW_JOINED(linked_v, NARROW_VERSION_MAJOR, NARROW_VERSION_MINOR)
#else
#define NARROW_ABI NARROW_JOINED(v, NARROW_VERSION_MAJOR, NARROW_VERSION_MINOR)
#endif

namespace narrow::inline NARROW_ABI::kernel {
/// A number of elements, rows or columns, or a difference of two.
using index = std::ptrdiff_t;
}  // namespace narrow::kernel
