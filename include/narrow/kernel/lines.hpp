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

/// Numbers of 8 bits whose sign, if it is the upper one, is that of the number.
template <class T> inline constexpr bool has_plain_sign = false;
template <narrow_float T>
requires(sizeof(T) == 1) inline constexpr bool has_plain_sign<T> = T::layout::has_negative_zero;

/// to[i] = from[i * stride] as a kernel for Elements takes it; 8-bit numbers by the kernel that looks them
/// up.
template <class T, class Element>
void decode_line(const kernel_table& t, const T* from, index stride, Element* to, index n) {
  if constexpr (std::same_as<Element, std::uint16_t> && has_plain_sign<T>)
    if (t.look_up8 && stride == 1) return t.look_up8(from, to, n, decoded_bf16<T>.data());
  decode(t, from, stride, to, n);
}

}  // namespace narrow::kernel

NARROW_STRICT_END
