// Lines of numbers of 8 and 16 bits that kernels decode where they lie: in the registers that they multiply
// in.
#pragma once

#include "../../simd/jobs.hpp"
#include "../convert/encoding.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// The format whose codes T has, whatever its policies.
template <class T> struct codes_of { using type = void; };
template <narrow_float T> struct codes_of<T> {
  using type = floating<T::layout::exponent_bits, T::layout::mantissa_bits, T::layout::special_values>;
};
template <class T> using codes_of_t = typename codes_of<T>::type;

/// Formats of which there may be such kernels.
template <class T>
inline constexpr bool lies_in_code_lines = coded_as_bf16<T> || (narrow_float<T> && sizeof(T) == 1);

/// The kernels of the instruction set in use.
template <class T>
requires lies_in_code_lines<T>
const code_line_kernels& code_lines() {
  static constexpr code_line_kernels none{};
  const auto kernels = job_kernel<code_lines_of<codes_of_t<T>>>();
  return kernels == nullptr ? none : kernels();
}

}  // namespace narrow::kernel

NARROW_STRICT_END
