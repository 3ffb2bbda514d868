// The door to coefficient-wise expressions as programs of lanes.
#pragma once

#include "../simd/jobs.hpp"
#include "elementwise/program.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// Stores what a program gives (see stored_program). False, and nothing is done, if the instruction set in
/// use has no vectors.
template <class Program, class T, class Shape>
bool store_program(const Program& program, T* to, index to_step, const Shape& shape) {
  return do_job<stored_program<Program, T, Shape>>(
      [&](auto* kernel) { kernel(program, to, to_step, shape); });
}

/// The sum of what a program gives, rounded to float in each addition, in an order that differs between
/// instruction sets. False, if the one in use has no vectors.
template <class Program, class Shape>
bool sum_program(const Program& program, const Shape& shape, float& sum) {
  return do_job<summed_program<Program, Shape>>([&](auto* kernel) { sum = kernel(program, shape); });
}

}  // namespace narrow::kernel
