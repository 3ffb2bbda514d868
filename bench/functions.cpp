// Functions, coefficient by coefficient; elementwise.cpp has exp and tanh, of more formats.
#include "side.hpp"

namespace narrow_bench {

namespace {

/// Arguments between 0.1 and 0.9, where all of the functions are defined.
template <class T, class Format> struct values {
  matrix<T> x, y;

  explicit values(Index n) : x(filled<matrix<T>, Format>(n, 1, 1, 0.4f, 0.5f)), y(x) {}
  Eigen::ArrayXd result() const { return y.template cast<double>().col(0).array(); }
};

#define NARROW_BENCH_FUNCTION(name)                                                         \
  offer<program_formats, values>(                                                           \
      to, about{"function/" #name, size, {"elements/s", static_cast<double>(n)}, moved, 1}, \
      [](auto& of) { of.y = of.x.array().name().matrix(); }, n)

void offer_all(operations& to, Index n, const std::string& size) {
  const auto moved = 2 * static_cast<std::size_t>(n);
  NARROW_BENCH_FUNCTION(expm1);
  NARROW_BENCH_FUNCTION(log);
  NARROW_BENCH_FUNCTION(log1p);
  NARROW_BENCH_FUNCTION(sin);
  NARROW_BENCH_FUNCTION(cos);
  NARROW_BENCH_FUNCTION(tan);
  NARROW_BENCH_FUNCTION(asin);
  NARROW_BENCH_FUNCTION(atan);
  NARROW_BENCH_FUNCTION(sinh);
  NARROW_BENCH_FUNCTION(cosh);
  NARROW_BENCH_FUNCTION(logistic);
  NARROW_BENCH_FUNCTION(rsqrt);
  NARROW_BENCH_FUNCTION(sqrt);
}
#undef NARROW_BENCH_FUNCTION

}  // namespace

namespace NARROW_BENCH_SIDE {

NARROW_BENCH_OFFERED operations functions() {
  operations result;
  offer_all(result, 1 << 12, "L1");
  return result;
}

}  // namespace NARROW_BENCH_SIDE

}  // namespace narrow_bench
