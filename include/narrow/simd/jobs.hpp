// Jobs: kernels that are templates over what a program asks for, as an expression or a small product. They
// are compiled where they are asked for, for every instruction set with vectors, so that no table lists them.
#pragma once

#include "dispatch.hpp"
#include "instruction_sets.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// The kernel of a job in the instruction set in use, null where that has no vectors. Job: a type with the
/// type `function` of its kernels, for which an instruction set has a kernel_of(std::type_identity<Job>).
template <class Job> typename Job::function* job_kernel() {
  static constexpr auto tables = listed_sets.kernels<one_job<Job>>();
  return tables[dispatch::chosen()].run;
}

/// use(kernel), in the usual floating-point environment, which short computations tell sooner than the
/// control register does. `use` only calls the kernel, which raises no other exceptions than its numbers do;
/// these stay. False, and nothing is done, where there is none.
template <class Job, class Use> bool do_job(const Use& use) {
  const auto kernel = job_kernel<Job>();
  if (kernel == nullptr) return false;
  if (detail::rounds_as_usual()) [[likely]]
    use(kernel);
  else
    detail::with_float_environment([&] { use(kernel); });
  return true;
}

}  // namespace narrow::kernel
