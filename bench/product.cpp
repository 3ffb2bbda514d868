// Products of narrow numbers, on ranges and in Eigen; the baseline is Eigen's product of floats of the same
// shape.
#include <narrow/eigen.hpp>

#include <Eigen/Core>
#include <cmath>
#include <memory>

#include "paired.hpp"

namespace narrow_bench {

namespace {

/// These at all sizes, the other formats at one.
using swept = std::tuple<narrow::fp16, narrow::bf16, narrow::fixed<8, 4>, narrow::fixed<16, 8>>;

template <class T, class Tuple> inline constexpr bool is_among = false;
template <class T, class... Ts>
inline constexpr bool is_among<T, std::tuple<Ts...>> = (std::same_as<T, Ts> || ...);

/// A (rows x depth), B (depth x cols) and their product, narrow and in float with the same values.
template <class T> struct matrices {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  Matrix a, b, c;
  Eigen::MatrixXf wide_a, wide_b, wide_c;

  matrices(Eigen::Index rows, Eigen::Index depth, Eigen::Index cols)
      : a(random(rows, depth, 1)),
        b(random(depth, cols, 2)),
        c(rows, cols),
        wide_a(a.template cast<float>()),
        wide_b(b.template cast<float>()),
        wide_c(wide_a * wide_b) {}

  static Matrix random(Eigen::Index rows, Eigen::Index cols, unsigned seed) {
    const auto values = random_floats(static_cast<std::size_t>(rows * cols), seed);
    return Eigen::Map<const Eigen::MatrixXf>(values.data(), rows, cols).template cast<T>();
  }

  /// Whether each coefficient of c is what the float product may round to.
  bool right() const {
    const float error = 1e-6f * static_cast<float>(a.cols());
    for (Eigen::Index j = 0; j < c.cols(); ++j)
      for (Eigen::Index i = 0; i < c.rows(); ++i)
        if (c(i, j) < T(wide_c(i, j) - error) || c(i, j) > T(wide_c(i, j) + error)) return false;
    return true;
  }

  double flop() const { return 2.0 * static_cast<double>(a.rows() * a.cols() * b.cols()); }
};

template <class M> auto as_view(M& m) {
  return narrow::column_major(std::span(m.data(), static_cast<std::size_t>(m.size())), m.rows(), m.cols());
}

/// `multiply(data)` against the float product, for matrices of the given shape.
template <class T, class Multiply>
void register_product(const std::string& name, Eigen::Index rows, Eigen::Index depth, Eigen::Index cols,
                      Multiply multiply) {
  const int rounds = rows * depth * cols < (Eigen::Index{1} << 26) ? 20 : 3;
  register_pair(name, rounds, [=] {
    const auto data = std::make_shared<matrices<T>>(rows, depth, cols);
    return pair_of_calls{{"FLOP/s", data->flop()},
                         [data, multiply] { multiply(*data); },
                         [data] { data->wide_c.noalias() = data->wide_a * data->wide_b; },
                         [data] { return data->right(); }};
  });
}

template <class T> void register_dot(Eigen::Index n) {
  register_pair("dot/range/" + name_of<T>() + "/" + std::to_string(n), 20, [n] {
    const auto data = std::make_shared<matrices<T>>(1, n, 1);
    const auto result = std::make_shared<std::pair<float, float>>();
    const auto span = [n](const T* x) { return std::span(x, static_cast<std::size_t>(n)); };
    return pair_of_calls{
        {"FLOP/s", data->flop()},
        [=] { result->first = static_cast<float>(narrow::dot(span(data->a.data()), span(data->b.data()))); },
        [=] { result->second = data->wide_a.row(0).dot(data->wide_b.col(0)); },
        [=] { return std::abs(result->first - data->wide_c(0, 0)) <= 1e-6f * static_cast<float>(n); }};
  });
}

}  // namespace

void register_products() {
  for_each_type<formats>([]<class T>() {
    constexpr bool all_sizes = is_among<T, swept>;
    const std::string format = name_of<T>();
    for (const Eigen::Index n : {1 << 12, 1 << 20})
      if (all_sizes || n == 1 << 12) register_dot<T>(n);
    for (const Eigen::Index n : {64, 256, 1024})
      if (all_sizes || n == 256)
        register_product<T>("gemv/range/" + format + "/" + std::to_string(n), n, n, 1, [](matrices<T>& m) {
          const auto size = static_cast<std::size_t>(m.b.size());
          narrow::gemv(as_view(m.a), std::span(m.b.data(), size), std::span(m.c.data(), size));
        });
    for (const Eigen::Index n : {8, 16, 32, 64, 128, 256, 512, 1024}) {
      if (!all_sizes && n != 256) continue;
      const std::string size = format + "/" + std::to_string(n);
      register_product<T>("gemm/range/" + size, n, n, n,
                          [](matrices<T>& m) { narrow::gemm(as_view(m.a), as_view(m.b), as_view(m.c)); });
      register_product<T>("gemm/eigen/" + size, n, n, n, [](matrices<T>& m) { m.c.noalias() = m.a * m.b; });
      register_product<T>("gemm/cast/" + size, n, n, n, [](matrices<T>& m) {
        const Eigen::MatrixXf a = m.a.template cast<float>(), b = m.b.template cast<float>();
        const Eigen::MatrixXf c = a * b;
        m.c = c.template cast<T>();
      });
    }
  });
}

}  // namespace narrow_bench
