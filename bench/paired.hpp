// A benchmark that times two things in turn, so that both meet the same machine: what is measured, and the
// float code that it is compared with.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <narrow/narrow.hpp>

namespace narrow_bench {

struct work {
  std::string unit;  // of the rate, such as FLOP/s
  double per_call;
};

inline double seconds_of(const std::function<void()>& call, int repeats) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) {
    call();
    benchmark::ClobberMemory();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// How many calls make a block of a millisecond.
inline int block_of(const std::function<void()>& call) {
  constexpr double block = 1e-3;
  int repeats = 1;
  for (double seconds; repeats < (1 << 20) && (seconds = seconds_of(call, repeats)) < block;)
    repeats = static_cast<int>(repeats * std::clamp(1.2 * block / seconds, 2.0, 100.0));
  return repeats;
}

struct pair_of_calls {
  work amount;  // of a call of either
  std::function<void()> measured;
  std::function<void()> baseline;
  std::function<bool()> right;  // after a call of `measured`: is its result what it should be?
};

/// Registers `name`: blocks of calls of what `prepare` returns, measured and baseline in turn, `rounds`
/// times. Reports the mean time of a measured call and, from the fastest block, its rate, and as x_float how
/// many times as fast as the fastest block of the baseline it was.
template <class Prepare> void register_pair(const std::string& name, int rounds, Prepare prepare) {
  const auto run = [prepare](benchmark::State& state) {
    const pair_of_calls calls = prepare();
    calls.measured();
    if (!calls.right()) return state.SkipWithError("wrong result");
    const int measured_block = block_of(calls.measured), baseline_block = block_of(calls.baseline);
    double measured = 1e300, baseline = 1e300;
    for (auto _ : state) {
      const double seconds = seconds_of(calls.measured, measured_block) / measured_block;
      state.SetIterationTime(seconds);
      measured = std::min(measured, seconds);
      baseline = std::min(baseline, seconds_of(calls.baseline, baseline_block) / baseline_block);
    }
    state.counters[calls.amount.unit] = calls.amount.per_call / measured;
    state.counters["x_float"] = baseline / measured;
  };
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->UseManualTime()
      ->Iterations(rounds)
      ->Unit(benchmark::kMicrosecond);
}

/// Calls f.operator()<T>() for each T of a tuple.
template <class Tuple, class F> void for_each_type(F f) {
  [&]<class... T>(std::type_identity<std::tuple<T...>>) {
    (f.template operator()<T>(), ...);
  }(std::type_identity<Tuple>{});
}

/// As its type is written, such as floating<4,3,fn> or fixed<8,4>.
template <narrow::narrow_scalar T> std::string name_of() {
  const auto list = [](int a, int b) { return std::to_string(a) + "," + std::to_string(b); };
  if constexpr (narrow::narrow_fixed<T>) {
    return "fixed<" + list(T::word_length, T::fraction_length) + ">";
  } else {
    using layout = typename T::layout;
    const std::string specials = layout::has_infinity        ? ""
                                 : !layout::has_nan          ? ",none"
                                 : layout::has_negative_zero ? ",fn"
                                                             : ",fnuz";
    return "floating<" + list(layout::exponent_bits, layout::mantissa_bits) + specials + ">";
  }
}

/// Every format of the catalogue, and two of fixed point.
using formats =
    decltype(std::tuple_cat(narrow::all_formats{}, std::tuple<narrow::fixed<8, 4>, narrow::fixed<16, 8>>{}));

/// n numbers between -1 and 1.
inline std::vector<float> random_floats(std::size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<float> result(n);
  for (float& x : result) x = distribution(generator);
  return result;
}

}  // namespace narrow_bench
