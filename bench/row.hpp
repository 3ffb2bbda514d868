// A row of the benchmarks: what is measured, and beside it what it is compared with, timed in turns so that
// all of them meet the same machine.
#pragma once

#include <benchmark/benchmark.h>

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "limits.hpp"

namespace narrow_bench {

struct rival {
  std::string counter;  // how many times as fast as this one the measured call is: x_float, x_cast, ...
  call run;
  call instead = {};  // of the measured call, where that is another one
};

struct row {
  work amount;  // of a call of what is measured and of its rivals
  call measured;
  std::vector<rival> rivals;
  std::optional<limit> ceiling;
  std::function<std::optional<double>()> error;  // after a measured call; nothing where the result is wrong
};

/// Processor time, which does not run while another program has the processor.
inline double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline double seconds_of(const call& f, int repeats) {
  const double start = processor_seconds();
  for (int i = 0; i < repeats; ++i) {
    f();
    benchmark::ClobberMemory();
  }
  return processor_seconds() - start;
}

/// Calls in blocks of a millisecond, of which the median counts.
class stopwatch {
 public:
  explicit stopwatch(call f) : f_(std::move(f)) {
    constexpr double block = 1e-3;
    for (double seconds; repeats_ < (1 << 20) && (seconds = seconds_of(f_, repeats_)) < block;)
      repeats_ = static_cast<int>(repeats_ * std::clamp(1.2 * block / seconds, 2.0, 100.0));
  }
  void measure() { blocks_.push_back(seconds_of(f_, repeats_) / repeats_); }
  double seconds() const {
    std::vector<double> sorted = blocks_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::ranges::nth_element(sorted, middle);
    return *middle;
  }

 private:
  call f_;
  int repeats_ = 1;
  std::vector<double> blocks_;
};

inline void run_row(benchmark::State& state, const row& r) {
  r.measured();
  const std::optional<double> error = r.error();
  if (!error) return state.SkipWithError("wrong result");

  std::vector<stopwatch> watches;
  const auto watched = [&](const call& f) {
    watches.emplace_back(f);
    return watches.size() - 1;
  };
  const std::size_t measured = watched(r.measured);
  const std::size_t ceiling = r.ceiling ? watched(r.ceiling->run) : measured;
  struct pair {
    std::size_t narrow, rival;
  };
  std::vector<pair> pairs;
  for (const rival& other : r.rivals)
    pairs.push_back({other.instead ? watched(other.instead) : measured, watched(other.run)});
  for (auto _ : state) {
    // Long enough for some quiet moments, but a slow row is not to take minutes.
    constexpr int most_rounds = 20, least_rounds = 5;
    constexpr double usual = 0.4, longest = 2;
    const auto start = std::chrono::steady_clock::now();
    const auto since = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    int rounds = 0;
    do
      for (stopwatch& watch : watches) watch.measure();
    while (++rounds < most_rounds && since() < (rounds < least_rounds ? longest : usual));
    state.SetIterationTime(watches[measured].seconds());
  }

  const double rate = r.amount.per_call / watches[measured].seconds();
  state.counters[r.amount.unit] = rate;
  if (r.ceiling) {
    state.counters["percent_of_limit"] = 100 * rate / (r.ceiling->per_call / watches[ceiling].seconds());
    state.SetLabel("limit: " + r.ceiling->name);
  }
  for (std::size_t i = 0; i < r.rivals.size(); ++i)
    state.counters[r.rivals[i].counter] =
        watches[pairs[i].rival].seconds() / watches[pairs[i].narrow].seconds();
  state.counters["error"] = *error;
}

/// Registers the row that `prepare` returns, which is asked when the row's turn comes.
template <class Prepare> void register_row(const std::string& name, Prepare prepare) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [prepare](benchmark::State& state) { run_row(state, prepare()); })
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace narrow_bench
