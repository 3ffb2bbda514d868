// Functions, coefficient by coefficient; elementwise.cpp has exp and tanh, of more formats.
#include "side.hpp"

#include <unsupported/Eigen/SpecialFunctions>

namespace narrow_bench {

namespace {

/// Arguments between 0.1 and 0.9, where all of the functions are defined.
template <class T, class Format> struct values {
  matrix<T> x, y;
  Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic> array;

  explicit values(Index n) : x(filled<matrix<T>, Format>(n, 1, 1, 0.4f, 0.5f)), y(x), array(x.array()) {}
  Eigen::ArrayXd result() const { return y.template cast<double>().col(0).array(); }
};

// What the functions of networks are made of where there is nothing but Eigen.

template <class X>
concept built_in_array = std::floating_point<typename X::Scalar>;
template <built_in_array X> auto softplus(const X& x) {
  using T = typename X::Scalar;
  return x.max(T(0)) + (-x.abs()).exp().log1p();
}
template <built_in_array X> auto silu(const X& x) { return x * x.logistic(); }
template <built_in_array X> auto gelu(const X& x) {
  using T = typename X::Scalar;
  return T(0.5) * x * (T(1) + (x * T(0.70710678118654752)).erf());
}
template <built_in_array X> auto gelu_tanh(const X& x) {
  using T = typename X::Scalar;
  return T(0.5) * x * (T(1) + (T(0.79788456080286536) * (x + T(0.044715) * x * x * x)).tanh());
}
template <built_in_array X> X softmax(const Eigen::VectorwiseOp<X, Eigen::Vertical>& columns) {
  X y = columns._expression();
  for (Index j = 0; j < y.cols(); ++j) {
    y.col(j) = (y.col(j) - y.col(j).maxCoeff()).exp();
    y.col(j) /= y.col(j).sum();
  }
  return y;
}
template <built_in_array X> X log_softmax(const Eigen::VectorwiseOp<X, Eigen::Vertical>& columns) {
  X y = columns._expression();
  for (Index j = 0; j < y.cols(); ++j) {
    y.col(j) -= y.col(j).maxCoeff();
    y.col(j) -= std::log(y.col(j).exp().sum());
  }
  return y;
}

#define NARROW_BENCH_RESULT(name, result)                                                  \
  offer<program_formats, values>(                                                          \
      to, about{"function/" name, size, {"elements/s", static_cast<double>(n)}, moved, 1}, \
      [](auto& of) { of.y = (result).matrix(); }, n)
#define NARROW_BENCH_FUNCTION(name) NARROW_BENCH_RESULT(#name, of.x.array().name())
#define NARROW_BENCH_OF_ARRAY(name) NARROW_BENCH_RESULT(#name, name(of.x.array()))
#define NARROW_BENCH_OF_COLUMNS(name) NARROW_BENCH_RESULT(#name, name(of.array.colwise()))

void offer_all(operations& to, Index n, const std::string& size) {
  const auto moved = 2 * static_cast<std::size_t>(n);
  NARROW_BENCH_FUNCTION(expm1);
  NARROW_BENCH_FUNCTION(log);
  NARROW_BENCH_FUNCTION(log2);
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
  NARROW_BENCH_FUNCTION(erf);
  NARROW_BENCH_FUNCTION(erfc);
  NARROW_BENCH_OF_ARRAY(softplus);
  NARROW_BENCH_OF_ARRAY(silu);
  NARROW_BENCH_OF_ARRAY(gelu);
  NARROW_BENCH_OF_ARRAY(gelu_tanh);
  NARROW_BENCH_OF_COLUMNS(softmax);
  NARROW_BENCH_OF_COLUMNS(log_softmax);
}
#undef NARROW_BENCH_OF_COLUMNS
#undef NARROW_BENCH_OF_ARRAY
#undef NARROW_BENCH_FUNCTION
#undef NARROW_BENCH_RESULT

}  // namespace

namespace NARROW_BENCH_SIDE {

NARROW_BENCH_OFFERED operations functions() {
  operations result;
  offer_all(result, 1 << 12, "L1");
  return result;
}

}  // namespace NARROW_BENCH_SIDE

}  // namespace narrow_bench
