// A row of the benchmarks: what is measured, and beside it what it is compared with, timed in turn so that
// all of them meet the same machine.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "limits.hpp"

namespace narrow_bench {

using call = std::function<void()>;

struct rival {
  std::string counter;  // how many times as fast as this one the measured call is: x_float, x_cast, ...
  call run;
};

struct row {
  work amount;  // of a call of what is measured and of its rivals
  call measured;
  std::vector<rival> rivals;
  limit ceiling;
  std::function<std::optional<double>()> error;  // after a measured call; nothing where the result is wrong
};

inline double seconds_of(const call& f, int repeats) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) {
    f();
    benchmark::ClobberMemory();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Calls in blocks of a millisecond, of which the fastest counts: whatever else the machine does only adds.
class stopwatch {
 public:
  explicit stopwatch(call f) : f_(std::move(f)) {
    constexpr double block = 1e-3;
    for (double seconds; repeats_ < (1 << 20) && (seconds = seconds_of(f_, repeats_)) < block;)
      repeats_ = static_cast<int>(repeats_ * std::clamp(1.2 * block / seconds, 2.0, 100.0));
  }
  void measure() { fastest_ = std::min(fastest_, seconds_of(f_, repeats_) / repeats_); }
  double seconds() const { return fastest_; }

 private:
  call f_;
  int repeats_ = 1;
  double fastest_ = std::numeric_limits<double>::infinity();
};

inline void run_row(benchmark::State& state, const row& r) {
  r.measured();
  const std::optional<double> error = r.error();
  if (!error) return state.SkipWithError("wrong result");

  std::vector<stopwatch> watches;
  watches.emplace_back(r.measured);
  watches.emplace_back(r.ceiling.run);
  for (const rival& other : r.rivals) watches.emplace_back(other.run);
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
    state.SetIterationTime(watches[0].seconds());
  }

  const double rate = r.amount.per_call / watches[0].seconds();
  state.counters[r.amount.unit] = rate;
  state.counters["percent_of_limit"] = 100 * rate / (r.ceiling.per_call / watches[1].seconds());
  for (std::size_t i = 0; i < r.rivals.size(); ++i)
    state.counters[r.rivals[i].counter] = watches[i + 2].seconds() / watches[0].seconds();
  state.counters["error"] = *error;
  state.SetLabel("limit: " + r.ceiling.name);
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
