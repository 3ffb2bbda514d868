// Regions of code for a processor that the rest of the program is not compiled for. Standard headers come
// before a region is opened, and nothing in it is a template over what lies outside.
#pragma once

#include "environment.hpp"

#define NARROW_PRAGMA(text) _Pragma(#text)

// The floating point of a strict region, and instructions of `features`, a string as in the attribute
// `target`.
#if defined(__clang__)
#define NARROW_TARGET_BEGIN(features) \
  NARROW_STRICT_BEGIN                 \
  NARROW_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define NARROW_TARGET_END _Pragma("clang attribute pop") NARROW_STRICT_END
#define NARROW_UNROLL _Pragma("unroll")
#else
// g++ 12 takes operands of its own AVX-512 header for uninitialised.
#define NARROW_TARGET_BEGIN(features)                                                  \
  NARROW_STRICT_BEGIN                                                                  \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wuninitialized\"") \
      _Pragma("GCC diagnostic ignored \"-Wmaybe-uninitialized\"") NARROW_PRAGMA(GCC target(features))
#define NARROW_TARGET_END _Pragma("GCC diagnostic pop") NARROW_STRICT_END
#define NARROW_UNROLL _Pragma("GCC unroll 32")
#endif

#if defined(__aarch64__)
#define NARROW_VECTOR_OPERAND(x) "+w"(x)
#else
#define NARROW_VECTOR_OPERAND(x) "+v"(x)
#endif
