// How many threads there are, and a loop on them.
#pragma once

#include <concepts>
#include <string>

#include "errors.hpp"
#include "runtime/thread_pool.hpp"

namespace narrow::inline NARROW_ABI {

/// How many threads large products, assignments to tensors in blocks or of a fixed-point format, and passes
/// over gradients run on, the caller's included; by default 1. Results do not depend on it. Where several
/// threads of the program have such work at a time, the first gets these, the others work alone; a child
/// process has none of them until it calls this itself. Throws std::invalid_argument if n is not from 1 to
/// 1024, std::logic_error if a part of `parallel_for` calls it, std::system_error if there are no more
/// threads to be had, and then it is 1. Cost: starts n - 1 threads, which sleep between products.
inline void set_num_threads(int n) {
  constexpr int max_threads = 1024;
  if (kernel::part_of_loop::is_running())
    detail::fail<std::logic_error>("narrow::set_num_threads: n = " + std::to_string(n) +
                                   " must not be set by a part of narrow::parallel_for");
  if (n < 1 || n > max_threads)
    detail::fail<std::invalid_argument>("narrow::set_num_threads: n = " + std::to_string(n) +
                                        " must be from 1 to " + std::to_string(max_threads));
  kernel::thread_pool::resize(n);
}
/// How many threads `set_num_threads` asked for.
inline int num_threads() { return kernel::thread_pool::instance().size(); }

/// part(i) for 0 <= i < count, in any order, on the threads that `set_num_threads` asked for, several at a
/// time; by the caller alone where these are at work already, as they are when a part calls this itself. Each
/// part runs under the caller's rounding mode and flushing of subnormals. Which thread it runs on is not
/// determined: of types that round stochastically, which draw from their thread's stream, results differ from
/// run to run; with rounding::stochastic{seed} they do not.
///
/// For loops between products: other threads that wait for work actively, as OpenMP's do, would take the
/// processor from these.
/// Errors    what a part threw, once those that had begun have ended; after it no other begins.
/// Cost      some microseconds if there are several threads and parts; each part takes the next one that nobody has.
template <std::invocable<std::ptrdiff_t> Part> void parallel_for(std::ptrdiff_t count, const Part& part) {
  const auto callers = detail::float_environment::present();
  kernel::thread_pool::instance().run(count, [&](std::ptrdiff_t i) {
    const kernel::part_of_loop mark;
    if (detail::float_environment::present() == callers) return static_cast<void>(part(i));
    const detail::float_environment environment(callers);
    part(i);
  });
}

}  // namespace narrow
