// narrow_bench: --benchmark_filter=REGEX chooses, --benchmark_list_tests lists.
#include <benchmark/benchmark.h>

namespace narrow_bench {
void register_conversions();
void register_products();
}  // namespace narrow_bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::AddCustomContext("compiler", __VERSION__);
  narrow_bench::register_conversions();
  narrow_bench::register_products();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
