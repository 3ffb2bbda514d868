// What the benchmarks share: the list of formats with their names, and timing beside a baseline.
#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <narrow/narrow.hpp>
#include <string>
#include <tuple>
#include <utility>

namespace narrow_bench {

/// Calls f.template operator()<F>() for every format of a tuple.
template <class Formats, class F> void for_each_format(F f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (f.template operator()<std::tuple_element_t<I, Formats>>(), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<Formats>>{});
}

/// The formats that are benchmarked: every named one, and two of fixed point.
using formats =
    decltype(std::tuple_cat(std::declval<narrow::all_formats>(),
                            std::declval<std::tuple<narrow::fixed<8, 4>, narrow::fixed<16, 8>>>()));

/// The template arguments that tell formats apart: "floating<5,10,ieee>".
template <class F> std::string name_of() {
  if constexpr (narrow::narrow_fixed<F>) {
    return "fixed<" + std::to_string(F::word_length) + "," + std::to_string(F::fraction_length) + ">";
  } else {
    using layout = typename F::layout;
    const char* kind = layout::has_infinity        ? "ieee"
                       : !layout::has_nan          ? "none"
                       : layout::has_negative_zero ? "fn"
                                                   : "fnuz";
    return "floating<" + std::to_string(layout::exponent_bits) + "," + std::to_string(layout::mantissa_bits) +
           "," + kind + ">";
  }
}

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Times `run`, and in turn with it every baseline: counters "x <name>" tell how many times faster `run` is.
/// `work` is the number of `unit` (elements, floating-point operations) in one call.
template <class Run, class... Baselines>
void compare(benchmark::State& state, const char* unit, double work, Run run,
             const std::pair<const char*, Baselines>&... baselines) {
  double total = 0;
  double baseline_totals[sizeof...(baselines) + 1] = {};
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const double seconds = seconds_since(start);
    state.SetIterationTime(seconds);
    total += seconds;
    std::size_t i = 0;
    (
        [&] {
          const auto baseline_start = std::chrono::steady_clock::now();
          baselines.second();
          baseline_totals[i++] += seconds_since(baseline_start);
        }(),
        ...);
  }
  state.counters[unit] = benchmark::Counter(work * static_cast<double>(state.iterations()) / total);
  std::size_t i = 0;
  ((state.counters[std::string("x ") + baselines.first] = baseline_totals[i++] / total), ...);
}

/// A named baseline of `compare`.
template <class F> std::pair<const char*, F> against(const char* name, F f) { return {name, std::move(f)}; }

}  // namespace narrow_bench
