// Conversions between float and every format, in the first-level cache and beyond the last, beside a copy of
// the floats.
#include <cstring>
#include <vector>

#include "compare.hpp"

namespace narrow_bench {
namespace {

std::vector<float> sample(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i % 1021) * 0.00390625f - 2;
  return values;
}

template <class F, class Round> void narrowing(benchmark::State& state, const Round& round) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const std::vector<float> from = sample(n);
  std::vector<F> to(n);
  std::vector<float> copy(n);
  compare(
      state, "elements/s", static_cast<double>(n),
      [&] {
        narrow::convert(from, to, round);
        benchmark::DoNotOptimize(to.data());
        benchmark::ClobberMemory();
      },
      against("memcpy", [&] {
        std::memcpy(copy.data(), from.data(), n * sizeof(float));
        benchmark::DoNotOptimize(copy.data());
        benchmark::ClobberMemory();
      }));
}

template <class F> void widening(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  std::vector<F> from(n);
  narrow::convert(sample(n), from);
  std::vector<float> to(n), copy(n);
  compare(
      state, "elements/s", static_cast<double>(n),
      [&] {
        narrow::convert(from, to);
        benchmark::DoNotOptimize(to.data());
        benchmark::ClobberMemory();
      },
      against("memcpy", [&] {
        std::memcpy(copy.data(), to.data(), n * sizeof(float));
        benchmark::DoNotOptimize(copy.data());
        benchmark::ClobberMemory();
      }));
}

[[maybe_unused]] const bool registered = [] {
  const auto add = [](const std::string& name, auto run) {
    benchmark::RegisterBenchmark(name.c_str(), run)->UseManualTime()->Arg(1 << 12)->Arg(1 << 22);
  };
  for_each_format<formats>([&]<class F>() {
    const std::string name = name_of<F>();
    add("convert/float to " + name + "/nearest",
        [](benchmark::State& state) { narrowing<F>(state, narrow::rounding::nearest_even{}); });
    add("convert/float to " + name + "/stochastic",
        [](benchmark::State& state) { narrowing<F>(state, narrow::rounding::stochastic(1)); });
    add("convert/" + name + " to float", widening<F>);
  });
  return true;
}();

}  // namespace
}  // namespace narrow_bench
