// A processor that only the portable kernels know.
#pragma once

#include "../kernel_table.hpp"

namespace narrow::inline NARROW_ABI::kernel {

struct processor {
  static processor probe() { return {}; }
};

}  // namespace narrow::kernel
