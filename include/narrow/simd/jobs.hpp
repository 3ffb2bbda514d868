// Jobs: kernels that are templates over what a program asks for, as an expression or a small product. They
// are compiled where they are asked for, for every instruction set, so that no table lists them.
#pragma once

#include "dispatch.hpp"
#include "instruction_sets.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// The kernel of a job in the instruction set in use, null where none has one for it. Job: a type with the
/// type `function` of its kernels, for which an instruction set has a kernel_of(std::type_identity<Job>).
template <class Job> typename Job::function* job_kernel() {
  static constexpr auto tables = listed_sets.kernels<one_job<Job>>();
  return tables[dispatch::chosen()].run;
}

/// Runs a kernel in the usual floating-point environment: short computations tell it sooner than the control
/// register does. The kernel raises no other exceptions than its numbers do; these stay.
template <class Kernel, class... Arguments> auto run_kernel(Kernel* kernel, const Arguments&... arguments) {
  if (detail::rounds_as_usual()) [[likely]]
    return kernel(arguments...);
  return detail::with_float_environment([&] { return kernel(arguments...); });
}

/// Runs a job that every instruction set has a kernel for. Not inlined, so that what asks for it stays small
/// enough to be inlined itself.
template <class Function> struct job_call;
template <class Result, class... Arguments> struct job_call<Result(Arguments...)> {
  template <class Job> [[gnu::noinline]] static Result run(Arguments... arguments) {
    typename Job::function* const kernel = job_kernel<Job>();
    if (detail::rounds_as_usual()) [[likely]]
      return kernel(arguments...);
    return elsewhere(kernel, arguments...);
  }

 private:
  /// Of copies, so that no argument has to be in memory for it.
  [[gnu::noinline, gnu::cold]] static Result elsewhere(Result (*kernel)(Arguments...),
                                                       Arguments... arguments) {
    return detail::with_float_environment([&] { return kernel(arguments...); });
  }
};
template <class Job>
concept runs_everywhere = requires {
  portable::kernel_of(std::type_identity<Job>{});
};

/// use(kernel), a function that runs the job. False, and nothing is done, where no instruction set has a
/// kernel for it that is in use or is extended by that; of a type that is always true where every one has, so
/// that what would be done otherwise need not be compiled.
template <class Job, class Use> auto do_job(const Use& use) {
  if constexpr (runs_everywhere<Job>) {
    use(job_call<typename Job::function>::template run<Job>);
    return std::true_type{};
  } else {
    const auto kernel = job_kernel<Job>();
    if (kernel == nullptr) return false;
    use([kernel](const auto&... arguments) { return run_kernel(kernel, arguments...); });
    return true;
  }
}

}  // namespace narrow::kernel
