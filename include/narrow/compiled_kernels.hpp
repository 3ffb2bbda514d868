// The kernels, and the products of common formats, for one source file of a program; all of its source files
// are compiled with NARROW_COMPILED_KERNELS defined. Then these are compiled once, and not in each file that
// uses some of them.
#pragma once

#include "simd/compiled_kernels.hpp"
// After what says that NARROW_COMPILED_KERNELS is missing.
#include "kernel/compiled_products.hpp"
