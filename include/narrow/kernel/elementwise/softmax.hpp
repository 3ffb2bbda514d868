// Softmax of lines of numbers, and its logarithm: of each number x of a line e^x divided by the sum of these
// powers. The largest number is subtracted from all first, so that no power overflows (softmax.inl).
#pragma once

#include <cmath>

#include "program.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

struct lane_softmax {};
struct lane_log_softmax {};

/// Element i of line l is from[l * from_step + i], and so in `to`, which may be the same place. `some` has
/// room for softmax_scratch(length) floats.
template <class Kind, class From, class To> struct softmax_along_lines {
  using function = void(const From* from, index from_step, To* to, index to_step, float* some,
                        const line_shape&);
};
/// The same where element i of line l is from[l + i * from_step].
template <class Kind, class From, class To> struct softmax_across_lines {
  using function = void(const From* from, index from_step, To* to, index to_step, float* some,
                        const line_shape&);
};
/// As many lines are computed at a time as the widest vector has lanes.
inline index softmax_scratch(index length) {
  constexpr index most_lanes = 16;
  return length * most_lanes;
}

namespace portable {

/// One line, number by number.
template <class Kind, class From, class To>
void softmax_line(const From* from, index from_step, To* to, index to_step, float* some, index length) {
  float largest = -std::numeric_limits<float>::infinity();
  for (index i = 0; i < length; ++i) {
    some[i] = static_cast<float>(from[i * from_step]);
    largest = some[i] > largest ? some[i] : largest;
  }
  double sum = 0;
  for (index i = 0; i < length; ++i) {
    some[i] -= largest;
    sum += std::exp(double(some[i]));
  }
  const double logarithm = std::log1p(sum - 1);
  for (index i = 0; i < length; ++i) {
    if constexpr (std::same_as<Kind, lane_softmax>)
      to[i * to_step] = static_cast<To>(static_cast<float>(std::exp(double{some[i]}) / sum));
    else
      to[i * to_step] = static_cast<To>(static_cast<float>(static_cast<double>(some[i]) - logarithm));
  }
}
template <class Kind, class From, class To>
NARROW_KERNEL void softmax_along(const From* from, index from_step, To* to, index to_step, float* some,
                                 const line_shape& shape) {
  for (index l = 0; l < shape.lines; ++l)
    softmax_line<Kind>(from + l * from_step, 1, to + l * to_step, 1, some, shape.length);
}
template <class Kind, class From, class To>
NARROW_KERNEL void softmax_across(const From* from, index from_step, To* to, index to_step, float* some,
                                  const line_shape& shape) {
  for (index l = 0; l < shape.lines; ++l)
    softmax_line<Kind>(from + l, from_step, to + l, to_step, some, shape.length);
}
template <class Kind, class From, class To>
constexpr auto kernel_of(std::type_identity<softmax_along_lines<Kind, From, To>>) {
  return softmax_along<Kind, From, To>;
}
template <class Kind, class From, class To>
constexpr auto kernel_of(std::type_identity<softmax_across_lines<Kind, From, To>>) {
  return softmax_across<Kind, From, To>;
}

}  // namespace portable

}  // namespace narrow::kernel

NARROW_STRICT_END
