// Inner products, matrix-vector products and sums, which reading their operands bounds.
#include "gemm.hpp"
#include "register.hpp"

namespace narrow_bench {

namespace {

/// Bytes that a coefficient takes in memory.
template <class T> constexpr std::size_t bytes_of() {
  if constexpr (narrow::block_format<T>)
    return sizeof(typename T::element_type);
  else
    return sizeof(T);
}

std::string size_name(Eigen::Index n) {
  constexpr Eigen::Index mega = 1 << 20;
  return n % mega == 0 ? std::to_string(n / mega) + "M" : std::to_string(n);
}

/// Two vectors, narrow and in float, and results.
template <class T> struct vectors {
  Eigen::Matrix<T, Eigen::Dynamic, 1> a, b;
  Eigen::VectorXf wide_a, wide_b;
  float result = 0, wide_result = 0;

  explicit vectors(Eigen::Index n) {
    const auto size = static_cast<std::size_t>(n);
    set(a, random_floats(size, 1));
    set(b, random_floats(size, 2));
    wide_a = a.template cast<float>();
    wide_b = b.template cast<float>();
  }
  static void set(auto& to, const std::vector<float>& values) {
    const Eigen::Map<const Eigen::VectorXf> x(values.data(), static_cast<Eigen::Index>(values.size()));
    if constexpr (narrow::block_format<T>)
      to = x;
    else
      to = x.template cast<T>();
  }

  /// Relative to the sum of the magnitudes.
  std::optional<double> error(const auto& exact_terms) const {
    const double error =
        std::abs(static_cast<double>(result) - exact_terms.sum()) / exact_terms.cwiseAbs().sum();
    constexpr int finishing = 4;  // roundings of scales and of the result
    if (!(error <= static_cast<double>(a.size() + finishing) * 0x1p-24)) return std::nullopt;
    return error;
  }
};

/// In the first-level cache the multipliers are the limit.
template <class T> limit vector_limit(Eigen::Index n, std::size_t operands, const work& amount) {
  constexpr Eigen::Index cached = 1 << 12;
  if (n <= cached && operands > 1) return compute_limit(arithmetic_of<T>());
  return read_limit(operands * static_cast<std::size_t>(n) * bytes_of<T>(), amount);
}

template <class T> void register_dot(Eigen::Index n) {
  register_row("dot/" + name_of<T>() + "/" + size_name(n), [n] {
    const auto v = std::make_shared<vectors<T>>(n);
    const work amount{"FLOP/s", 2.0 * static_cast<double>(n)};
    return row{
        amount,
        [v] {
          if constexpr (narrow::block_format<T>) {
            Eigen::Matrix<float, 1, 1> product;
            product.noalias() = v->a.transpose() * v->b;
            v->result = product(0, 0);
          } else {
            v->result = static_cast<float>(narrow::dot(v->a, v->b));
          }
        },
        {{"x_float", [v] { v->wide_result = v->wide_a.dot(v->wide_b); }},
         {"x_cast",
          [v] {
            const Eigen::VectorXf l = v->a.template cast<float>(), r = v->b.template cast<float>();
            v->wide_result = l.dot(r);
          }}},
        vector_limit<T>(n, 2, amount),
        [v] {
          return v->error(v->wide_a.template cast<double>().cwiseProduct(v->wide_b.template cast<double>()));
        }};
  });
}

template <class T> void register_sum(Eigen::Index n) {
  register_row("sum/" + name_of<T>() + "/" + size_name(n), [n] {
    const auto v = std::make_shared<vectors<T>>(n);
    const work amount{"elements/s", static_cast<double>(n)};
    return row{amount,
               [v] { v->result = static_cast<float>(narrow::sum(v->a)); },
               {{"x_float", [v] { v->wide_result = v->wide_a.sum(); }},
                {"x_cast",
                 [v] {
                   const Eigen::VectorXf a = v->a.template cast<float>();
                   v->wide_result = a.sum();
                 }}},
               vector_limit<T>(n, 1, amount),
               [v] { return v->error(v->wide_a.template cast<double>()); }};
  });
}

/// y = A x for a square matrix that lies in memory by columns or by rows.
template <class T, Eigen::StorageOptions Order> void register_gemv(Eigen::Index n) {
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>;
  using wide_matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Order>;
  struct operands {
    matrix a;
    wide_matrix wide_a;
    vectors<T> v;
    Eigen::VectorXf y, wide_y;  // a result in float, which layers add their bias to
    explicit operands(Eigen::Index size) : v(size), y(size), wide_y(size) {
      matrices<T>::set(a, random_matrix(size, size, 3));
      wide_a = a.template cast<float>();
    }
  };
  const std::string order = Order == Eigen::RowMajor ? "gemv/by rows/" : "gemv/by columns/";
  register_row(order + name_of<T>() + "/" + size_name(n), [n] {
    const auto m = std::make_shared<operands>(n);
    const work amount{"FLOP/s", 2.0 * static_cast<double>(n * n)};
    return row{amount,
               [m] { m->y.noalias() = m->a * m->v.a; },
               {{"x_float", [m] { m->wide_y.noalias() = m->wide_a * m->v.wide_a; }},
                {"x_cast",
                 [m] {
                   const wide_matrix a = m->a.template cast<float>();
                   const Eigen::VectorXf x = m->v.a.template cast<float>();
                   m->wide_y.noalias() = a * x;
                 }}},
               read_limit(static_cast<std::size_t>(n * n) * bytes_of<T>(), amount),
               [m]() -> std::optional<double> {
                 const Eigen::MatrixXd a = m->wide_a.template cast<double>();
                 const Eigen::VectorXd x = m->v.wide_a.template cast<double>();
                 const Eigen::ArrayXd error = (m->y.template cast<double>() - a * x).array().abs(),
                                      size = (a.cwiseAbs() * x.cwiseAbs()).array();
                 const double largest = (error / size).maxCoeff();
                 if (!(largest <= static_cast<double>(a.cols()) * 0x1p-24)) return std::nullopt;
                 return largest;
               }};
  });
}

}  // namespace

void register_vectors() {
  using narrow::bf16, narrow::fp16, narrow::int8;
  constexpr Eigen::Index kilo = 1 << 10, mega = 1 << 20;
  for_each_type<std::tuple<fp16, bf16, narrow::fp8_e4m3fn, narrow::fixed<8, 4>, narrow::fixed<16, 8>>>(
      []<class T>() {
        for (const Eigen::Index n : {4 * kilo, mega, 64 * mega}) register_dot<T>(n);
        for (const Eigen::Index n : {4 * kilo, 64 * mega}) register_sum<T>(n);
      });
  for_each_type<std::tuple<int8, narrow::bfp<8>, narrow::bfp<16>>>([]<class T>() {
    for (const Eigen::Index n : {4 * kilo, mega, 64 * mega}) register_dot<T>(n);
  });
  for_each_type<std::tuple<fp16, bf16, narrow::fp8_e4m3fn, int8, narrow::bfp<8>, narrow::bfp<16>>>(
      []<class T>() {
        register_gemv<T, Eigen::ColMajor>(4 * kilo);
        register_gemv<T, Eigen::RowMajor>(4 * kilo);
      });
}

}  // namespace narrow_bench
