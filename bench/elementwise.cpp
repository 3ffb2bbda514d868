// Coefficient by coefficient: sums, functions, what a layer does to its outputs.
#include "side.hpp"

namespace narrow_bench {

namespace {

template <class T, class Format> struct arrays {
  matrix<T> a, b, y;
  vector<T> bias;

  arrays(Index rows, Index cols)
      : a(filled<matrix<T>, Format>(rows, cols, 1)),
        b(filled<matrix<T>, Format>(rows, cols, 2)),
        y(filled<matrix<T>, Format>(rows, cols, 3, 1, 2)),  // so that steps of sgd do not cancel it
        bias(filled<vector<T>, Format>(rows, 1, 4)) {}
  Eigen::ArrayXd result() const {
    const Eigen::MatrixXd wide = y.template cast<double>();
    return wide.reshaped().array();
  }
};

void offer_all(operations& to, Index n, const std::string& size) {
  const auto with = [&](const char* name, std::size_t arrays_moved, double roundings) {
    return about{std::string("elementwise/") + name,
                 size,
                 {"elements/s", static_cast<double>(n)},
                 arrays_moved * static_cast<std::size_t>(n),
                 roundings};
  };
  constexpr Index one = 1;
  offer<array_formats, arrays>(
      to, with("sum", 3, 1), [](auto& x) { x.y = x.a + x.b; }, n, one);
  offer<array_formats, arrays>(
      to, with("axpy", 3, 2), [](auto& x) { x.y = 0.1f * x.a + x.b; }, n, one);
  offer<array_formats, arrays>(
      to, with("relu", 2, 1), [](auto& x) { x.y = (3 * x.a.array() + 1).max(0).matrix(); }, n, one);
  offer<array_formats, arrays>(
      to, with("select", 3, 0), [](auto& x) { x.y = (x.a.array() < x.b.array()).select(x.a, x.b); }, n, one);
  offer<array_formats, arrays>(
      to, with("exp", 2, 1), [](auto& x) { x.y = x.a.array().exp().matrix(); }, n, one);
  offer<array_formats, arrays>(
      to, with("tanh", 2, 1), [](auto& x) { x.y = x.a.array().tanh().matrix(); }, n, one);
  offer<scalar_formats, arrays>(
      to, with("sgd", 5, 4),
      [](auto& x) {
        x.b = 0.9f * x.b + x.a;
        x.y -= 0.01f * x.b;
      },
      n, one);
  // A column of the numbers that a large sum needs.
  offer<program_formats, arrays>(
      to, with("softmax", 2, 4),
      [](auto& x) {
        x.y = (x.a.array() - x.a.maxCoeff()).exp().matrix();
        x.y /= x.y.sum();
      },
      n, one);
  constexpr Index rows = 64;
  offer<array_formats, arrays>(
      to, with("bias", 2, 1), [](auto& x) { x.y = x.a.colwise() + x.bias; }, rows, n / rows);
}

}  // namespace

namespace NARROW_BENCH_SIDE {

NARROW_BENCH_OFFERED operations elementwise() {
  operations result;
  offer_all(result, 1 << 12, "L1");
  offer_all(result, 1 << 16, "L2");
  return result;
}

}  // namespace NARROW_BENCH_SIDE

}  // namespace narrow_bench
