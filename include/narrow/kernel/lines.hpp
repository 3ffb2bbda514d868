// Lines of numbers from one format to another by the kernels of the instruction set in use.
#pragma once

#include "isa.hpp"
#include "packing.hpp"

NARROW_STRICT_BEGIN

namespace narrow::kernel {

/// to[i] = from[i], rounded to nearest even. False if there is no kernel for it, or something is NaN; then
/// what `to` holds means nothing.
template <class T, class Overflow> bool encode(const float* from, T* to, index n) {
  if constexpr (narrow_float<T> && sizeof(T) <= 2) {
    const kernel_table& t = dispatch::instance().kernels();
    if constexpr (coded_as_fp16<T> && std::same_as<Overflow, overflow::ieee>)
      if (t.float_to_fp16) return t.float_to_fp16(from, to, n), true;
    if (const auto kernel = sizeof(T) == 1 ? t.encode8 : t.encode16) {
      static constexpr encoding e = encoding_of<T, Overflow>();
      return kernel(from, to, n, e);
    }
  }
  return false;
}

}  // namespace narrow::kernel

NARROW_STRICT_END
