// Inner products, matrix-vector products and sums, which reading their operands bounds.
#include "side.hpp"

namespace narrow_bench {

namespace {

std::string size_name(Index n) {
  constexpr Index mega = 1 << 20;
  return n % mega == 0 ? std::to_string(n / mega) + "M" : std::to_string(n);
}

template <class T> Eigen::VectorXf in_float(const vector<T>& x) { return x.template cast<float>(); }
template <class T> Eigen::VectorXd in_double(const vector<T>& x) {
  return in_float(x).template cast<double>();
}

/// Relative to the sum of the magnitudes of the terms; nothing where a sum in float would not explain it.
std::optional<double> sum_error(float result, const Eigen::ArrayXd& exact_terms) {
  const double error =
      std::abs(static_cast<double>(result) - exact_terms.sum()) / exact_terms.cwiseAbs().sum();
  constexpr int finishing = 4;  // roundings of scales and of the result
  if (!(error <= static_cast<double>(exact_terms.size() + finishing) * 0x1p-24)) return std::nullopt;
  return error;
}

template <class T, class Format> struct inner_product {
  vector<T> a, b;
  float result = 0;

  explicit inner_product(Index n)
      : a(filled<vector<T>, Format>(n, 1, 1)), b(filled<vector<T>, Format>(n, 1, 2)) {}
  void run() {
    if constexpr (is_block<T>) {
      Eigen::Matrix<float, 1, 1> product;
      product.noalias() = a.transpose() * b;
      result = product(0, 0);
    } else {
      result = static_cast<float>(dot(a, b));
    }
  }
  void by_casts() { result = in_float(a).dot(in_float(b)); }
  std::optional<double> error() const {
    return sum_error(result, in_double(a).array() * in_double(b).array());
  }
  /// In the first-level cache the multipliers are the limit.
  static bottleneck limited_by(Index n) {
    constexpr Index cached = 1 << 12;
    if (n <= cached) return arithmetic_of<T>();
    return reading{2 * static_cast<std::size_t>(n) * bytes_of<T>()};
  }
};

template <class T, class Format> struct total {
  vector<T> a;
  float result = 0;

  explicit total(Index n) : a(filled<vector<T>, Format>(n, 1, 1)) {}
  void run() { result = static_cast<float>(sum(a)); }
  void by_casts() { result = in_float(a).sum(); }
  std::optional<double> error() const { return sum_error(result, in_double(a).array()); }
  static bottleneck limited_by(Index n) { return reading{static_cast<std::size_t>(n) * bytes_of<T>()}; }
};

/// y = A x for a square matrix that lies in memory by columns or by rows.
template <Eigen::StorageOptions Order> struct stored {
  template <class T> using square = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>;

  template <class T, class Format> struct vector_product {
    square<T> a;
    vector<T> x;
    Eigen::VectorXf y;  // a result in float, which layers add their bias to

    explicit vector_product(Index n)
        : a(filled<square<T>, Format>(n, n, 3)), x(filled<vector<T>, Format>(n, 1, 1)), y(n) {}
    void run() { y.noalias() = a * x; }
    void by_casts() {
      const square<float> wide = a.template cast<float>();
      y.noalias() = wide * in_float(x);
    }
    std::optional<double> error() const {
      const square<float> wide = a.template cast<float>();
      const Eigen::MatrixXd exact_a = wide.template cast<double>();
      const Eigen::VectorXd exact_x = in_double(x);
      const Eigen::ArrayXd error = (y.template cast<double>() - exact_a * exact_x).array().abs(),
                           size = (exact_a.cwiseAbs() * exact_x.cwiseAbs()).array();
      const double largest = (error / size).maxCoeff();
      constexpr int finishing = 4;
      if (!(largest <= static_cast<double>(a.cols() + finishing) * 0x1p-24)) return std::nullopt;
      return largest;
    }
    static bottleneck limited_by(Index n) { return reading{static_cast<std::size_t>(n * n) * bytes_of<T>()}; }
  };
};

constexpr auto run = [](auto& x) { x.run(); };

about named(const std::string& name, Index n, const std::string& unit, double per_call) {
  return {name, size_name(n), {unit, per_call}};
}

}  // namespace

namespace NARROW_BENCH_SIDE {

NARROW_BENCH_OFFERED operations vectors() {
  constexpr Index kilo = 1 << 10, mega = 1 << 20;
  operations result;
  for (const Index n : {Index{16}, Index{64}, Index{256}, 4 * kilo, mega, 64 * mega})
    offer<inner_product_formats, inner_product>(result, named("dot", n, "FLOP/s", 2 * static_cast<double>(n)),
                                                run, n);
  for (const Index n : {Index{16}, Index{64}, Index{256}, 4 * kilo, 64 * mega})
    offer<summed_formats, total>(result, named("sum", n, "elements/s", static_cast<double>(n)), run, n);
  for (const Index n : {Index{16}, Index{64}, Index{256}, kilo, 4 * kilo}) {
    const double flop = 2 * static_cast<double>(n * n);
    offer<vector_product_formats, stored<Eigen::ColMajor>::vector_product>(
        result, named("gemv/by columns", n, "FLOP/s", flop), run, n);
    offer<vector_product_formats, stored<Eigen::RowMajor>::vector_product>(
        result, named("gemv/by rows", n, "FLOP/s", flop), run, n);
  }
  return result;
}

}  // namespace NARROW_BENCH_SIDE

}  // namespace narrow_bench
