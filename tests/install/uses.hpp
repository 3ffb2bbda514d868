// What a source file needs of the targets of narrow that it links, told by USES_<target>: little of each, to
// compile fast.
#pragma once

#if defined(USES_narrow) || defined(USES_eigen)
#include <narrow/format/catalog.hpp>
#endif
#if defined(USES_eigen) && !__has_include(<Eigen/Core>)
#error "narrow::eigen does not bring Eigen"
#endif
#if defined(USES_kernels)
#include <narrow/isa.hpp>
#if !defined(NARROW_COMPILED_KERNELS)
#error "narrow::kernels does not say that the kernels are compiled"
#endif
#endif

inline int used() {
#if defined(USES_narrow) || defined(USES_eigen)
  return static_cast<int>(narrow::fp16(1) + narrow::fp16(1)) - 2;
#elif defined(USES_kernels)  // which are asked for
  return narrow::isa_name().empty() ? 1 : 0;
#else
  return 0;
#endif
}
