// The door to coefficient-wise expressions as programs of lanes.
#pragma once

#include "../simd/jobs.hpp"
#include "elementwise/program.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// Stores what a program gives (see stored_program).
template <class Program, class T, class Shape>
void store_program(const Program& program, T* to, index to_step, const Shape& shape) {
  run_job<stored_program<Program, T, Shape>>(program, to, to_step, shape);
}

/// The sum of what a program gives, rounded to float in each addition, in an order that differs between
/// instruction sets.
template <class Program, class Shape> float sum_program(const Program& program, const Shape& shape) {
  return run_job<summed_program<Program, Shape>>(program, shape);
}

}  // namespace narrow::kernel
