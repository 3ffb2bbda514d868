// The door to coefficient-wise expressions as programs of lanes.
#pragma once

#include "../simd/dispatch.hpp"
#include "../simd/instruction_sets.hpp"
#include "elementwise/program.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// The kernel of a job, null where the instruction set in use has no vectors. It is compiled where it is
/// asked for: no source file of kernels knows the programs of others.
template <class Job> typename Job::function* job_kernel(std::size_t instruction_set) {
  static constexpr auto tables = listed_sets.kernels<one_job<Job>>();
  return tables[instruction_set].run;
}

/// Stores what a program gives (see store_of). False, and nothing is done, if the instruction set in use has
/// no vectors.
template <class Program, class T>
bool store_program(const Program& program, T* to, index to_step, const line_shape& shape) {
  return enter_lightly([&](std::size_t set) {
    const auto kernel = job_kernel<store_of<Program, T>>(set);
    if (kernel != nullptr) kernel(program, to, to_step, shape);
    return kernel != nullptr;
  });
}

/// The sum of what a program gives, rounded to float in each addition, in an order that differs between
/// instruction sets. False, if the one in use has no vectors.
template <class Program> bool sum_program(const Program& program, const line_shape& shape, float& sum) {
  return enter_lightly([&](std::size_t set) {
    const auto kernel = job_kernel<sum_of<Program>>(set);
    if (kernel != nullptr) sum = kernel(program, shape);
    return kernel != nullptr;
  });
}

}  // namespace narrow::kernel

NARROW_STRICT_END
