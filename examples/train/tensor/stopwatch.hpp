// What the time of a training step goes to.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

namespace narrow_train {

/// Products include the conversions that a product itself makes of its operands and its result.
enum class work { products, conversions };

/// Seconds that the calling thread has spent on each kind of work.
inline std::array<double, 2>& seconds_of_work() {
  static thread_local std::array<double, 2> seconds{};
  return seconds;
}

/// Does it, and counts the time that it takes.
template <class Task> void timed(work kind, Task&& task) {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  std::forward<Task>(task)();
  seconds_of_work()[static_cast<std::size_t>(kind)] +=
      std::chrono::duration<double>(clock::now() - start).count();
}

}  // namespace narrow_train
