// Functions of arrays that Eigen has not, as networks use them.
#pragma once

#include "expressions/wide_functors.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {
template <class Array>
concept array_of_narrow_or_float =
    narrow_scalar<typename Array::Scalar> || std::same_as<typename Array::Scalar, float>;
}  // namespace detail

/// Coefficient by coefficient what they are of a number (math.hpp), as an expression of the same shape:
/// `y = gelu(x.array())`. An array of a format of at most 16 bits that one of them is assigned to has the
/// exact values rounded once, in every mode but the stochastic one, on every instruction set; within a larger
/// expression they are rounded to float. Of `float` they are that float, too. 0.4 to 0.8 ns a number of a
/// format of 16 bits rounded to nearest even, on a Xeon with AVX-512.
#define NARROW_FUNCTION(name)                                                                        \
  template <class Array>                                                                             \
  requires detail::array_of_narrow_or_float<Array>                                                   \
  auto name(const Eigen::ArrayBase<Array>& x) {                                                      \
    return x.unaryExpr(detail::function_functor<detail::functions::name, typename Array::Scalar>()); \
  }
NARROW_FUNCTION(softplus)
NARROW_FUNCTION(silu)
NARROW_FUNCTION(gelu)
NARROW_FUNCTION(gelu_tanh)
#undef NARROW_FUNCTION

}  // namespace narrow
