// The kernels that the instruction set in use has for integers of each width.
#pragma once

#include "../../round/rounding.hpp"
#include "../../simd/dispatch.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// A member of the kernels for integers of Element's width.
template <std::signed_integral Element, auto Member> auto integer_kernel(kernel_set t) {
  if constexpr (sizeof(Element) == 1)
    return t.get<&kernel_table::quantize_int8, Member>();
  else if constexpr (sizeof(Element) == 2)
    return t.get<&kernel_table::quantize_int16, Member>();
  else
    return t.get<&kernel_table::quantize_int32, Member>();
}

/// The one that rounds by Round; null if there is none.
template <class Element, class Round> auto integer_encoder(kernel_set t) {
  using kernels = quantize_kernels<Element>;
  if constexpr (std::same_as<Round, rounding::nearest_even>)
    return integer_kernel<Element, &kernels::nearest_even>(t);
  else if constexpr (std::same_as<Round, rounding::toward_zero>)
    return integer_kernel<Element, &kernels::toward_zero>(t);
  else if constexpr (std::same_as<Round, rounding::stochastic>)
    return integer_kernel<Element, &kernels::stochastic>(t);
  else
    return static_cast<typename kernels::encoding_of_blocks*>(nullptr);
}

}  // namespace narrow::kernel
