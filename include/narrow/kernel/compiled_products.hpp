// The products of product/compiled.hpp, for one source file of a program: see narrow/compiled_kernels.hpp.
#pragma once

#include "product/compiled.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {
NARROW_COMPILED_PRODUCTS(template)
}

NARROW_STRICT_END
