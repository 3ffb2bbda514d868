// narrow_bench: --benchmark_filter=REGEX chooses, --benchmark_list_tests lists, --large adds what takes
// minutes.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

#include <narrow/narrow.hpp>

#include "register.hpp"

int main(int argc, char** argv) {
  using namespace narrow_bench;
  benchmark::Initialize(&argc, argv);
  char** const rest = std::remove(argv + 1, argv + argc, std::string("--large"));
  const extent which = rest == argv + argc ? extent::usual : extent::large;
  argc = static_cast<int>(rest - argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;

  benchmark::AddCustomContext("compiler", NARROW_BENCH_COMPILER);
  benchmark::AddCustomContext("flags", NARROW_BENCH_FLAGS);
  benchmark::AddCustomContext("isa", std::string(narrow::isa_name()));
  register_peers(which);
  register_floating_products(which);
  register_integer_products(which);
  register_prepacked_products();
  register_mx_products();
  register_comparisons();
  register_conversions();
  register_quantising();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
