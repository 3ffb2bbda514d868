// Matrix products, matrix times vector and dot products of every format as Eigen expressions, beside the same
// in float and the same through a copy in float.
#include <narrow/eigen.hpp>

#include "compare.hpp"

namespace narrow_bench {
namespace {

template <class S> using matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;

/// C = A B for A (rows x depth), B (depth x cols).
template <class F>
void product(benchmark::State& state, Eigen::Index rows, Eigen::Index depth, Eigen::Index cols) {
  const Eigen::MatrixXf float_a = Eigen::MatrixXf::Random(rows, depth),
                        float_b = Eigen::MatrixXf::Random(depth, cols);
  const matrix<F> a = float_a.cast<F>(), b = float_b.cast<F>();
  matrix<F> c(rows, cols);
  Eigen::MatrixXf float_c(rows, cols);
  const double operations =
      2.0 * static_cast<double>(rows) * static_cast<double>(depth) * static_cast<double>(cols);
  compare(
      state, "FLOP/s", operations,
      [&] {
        c.noalias() = a * b;
        benchmark::DoNotOptimize(c.data());
        benchmark::ClobberMemory();
      },
      against("float",
              [&] {
                float_c.noalias() = float_a * float_b;
                benchmark::DoNotOptimize(float_c.data());
                benchmark::ClobberMemory();
              }),
      against("cast<float>", [&] {
        float_c.noalias() = a.template cast<float>() * b.template cast<float>();
        c = float_c.cast<F>();
        benchmark::DoNotOptimize(c.data());
        benchmark::ClobberMemory();
      }));
}

[[maybe_unused]] const bool registered = [] {
  for_each_format<formats>([]<class F>() {
    const std::string name = name_of<F>();
    const auto add = [&](const std::string& what, auto run, std::initializer_list<int> sizes) {
      auto* bench = benchmark::RegisterBenchmark((what + "/" + name).c_str(), run)->UseManualTime();
      for (const int n : sizes) bench->Arg(n);
    };
    add("gemm", [](benchmark::State& s) { product<F>(s, s.range(0), s.range(0), s.range(0)); },
        {8, 64, 256, 1024});
    add("gemv", [](benchmark::State& s) { product<F>(s, s.range(0), s.range(0), 1); }, {64, 1024, 4096});
    add("dot", [](benchmark::State& s) { product<F>(s, 1, s.range(0), 1); }, {256, 4096, 1 << 20});
  });
  return true;
}();

}  // namespace
}  // namespace narrow_bench
