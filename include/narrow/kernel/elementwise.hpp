// The door to coefficient-wise expressions as programs of lanes.
#pragma once

#include "../simd/jobs.hpp"
#include "elementwise/program.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// Stores what a program gives (see stored_program). False, and nothing is done, if the instruction set in
/// use has no vectors.
template <class Program, class T>
bool store_program(const Program& program, T* to, index to_step, const line_shape& shape) {
  return do_job<stored_program<Program, T>>([&](auto* kernel) { kernel(program, to, to_step, shape); });
}

/// The sum of what a program gives, rounded to float in each addition, in an order that differs between
/// instruction sets. False, if the one in use has no vectors.
template <class Program> bool sum_program(const Program& program, const line_shape& shape, float& sum) {
  return do_job<summed_program<Program>>([&](auto* kernel) { sum = kernel(program, shape); });
}

}  // namespace narrow::kernel
