// Regions of code for a processor that the rest of the program is not compiled for. Standard headers come
// before a region is opened, and nothing in it is a template over what lies outside.
#pragma once

#include "../runtime/environment.hpp"

#define NARROW_TEXT_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define NARROW_PRAGMA(...) NARROW_TEXT_PRAGMA(__VA_ARGS__)  // macros in it are replaced

// The floating point of a strict region, and instructions of `features`, a string as in clang's attribute
// `target`.
#if defined(__clang__)
#define NARROW_TARGET_BEGIN(features) \
  NARROW_STRICT_BEGIN                 \
  NARROW_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define NARROW_TARGET_END _Pragma("clang attribute pop") NARROW_STRICT_END
#define NARROW_UNROLL _Pragma("unroll")
#else
#if !defined(__aarch64__)
#define NARROW_FEATURES(features) features
#elif defined(__ARM_FEATURE_DOTPROD) || defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC) || \
    defined(__ARM_FEATURE_COMPLEX) || defined(__ARM_FEATURE_SVE)
#define NARROW_FEATURES(features) "+" features
#else
// Below Armv8.2 the assembler refuses them. With cryptography, which the rest of the program may have: the
// functions of arm_neon.h are inlined only where nothing is lacking that they were compiled for.
#define NARROW_FEATURES(features) "arch=armv8.2-a+crypto+" features
#endif
// g++ 12 takes operands of its own AVX-512 header for uninitialised.
#define NARROW_TARGET_BEGIN(features)                                                  \
  NARROW_STRICT_BEGIN                                                                  \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wuninitialized\"") \
      _Pragma("GCC diagnostic ignored \"-Wmaybe-uninitialized\"")                      \
          NARROW_PRAGMA(GCC target(NARROW_FEATURES(features)))
#define NARROW_TARGET_END _Pragma("GCC diagnostic pop") NARROW_STRICT_END
#define NARROW_UNROLL _Pragma("GCC unroll 32")
#endif

#if defined(__aarch64__)
#define NARROW_VECTOR_OPERAND(x) "+w"(x)
#elif defined(__SSE__)
#define NARROW_VECTOR_OPERAND(x) "+v"(x)
#else
#define NARROW_VECTOR_OPERAND(x) "+m"(x)
#endif
