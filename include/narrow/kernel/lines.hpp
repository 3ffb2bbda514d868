// Lines of numbers from one format to another by the kernels of the instruction set in use.
#pragma once

#include <limits>

#include "isa.hpp"
#include "packing.hpp"

NARROW_STRICT_BEGIN

namespace narrow::kernel {

/// What `encode_line` needs to know of a format.
template <narrow_float T, class Overflow> constexpr encoding encoding_of() {
  using layout = typename T::layout;
  using single = detail::binary32;
  const auto code_of = [](float x) -> std::uint32_t {
    return narrow_cast<T>(x, rounding::nearest_even{}, Overflow{}).bits();
  };
  constexpr int dropped = single::mantissa_bits - layout::mantissa_bits;
  // Adding it to a number below the normal ones leaves a multiple of the smallest one in the last bit.
  constexpr int magic_exponent = layout::min_quantum + single::mantissa_bits;
  return {.dropped_bits = dropped,
          .half = std::uint32_t{1} << (dropped - 1),
          .rebias = static_cast<std::uint32_t>(single::bias - layout::bias) << layout::mantissa_bits,
          .min_normal = static_cast<std::uint32_t>(layout::min_exponent + single::bias)
                        << single::mantissa_bits,
          .magic = detail::power_of_two(magic_exponent),
          .max_code = layout::max_finite,
          .overflow_code = code_of(std::numeric_limits<float>::max()),
          .sign_shift = layout::exponent_bits + layout::mantissa_bits,
          .zero_sign = code_of(-0.0f)};
}

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
