// Products of Eigen's own formats and of oneDNN, and of floats.
#include "peers.hpp"

#include "gemm.hpp"
#include "register.hpp"

namespace narrow_bench {

namespace {

const auto multiply_in_eigen = [](auto& m) { m.c.noalias() = m.a * m.b; };

std::function<void()> onednn_product(matrices<narrow::bf16>& m) {
  return onednn_product(onednn_type::bf16, m.a.rows(), m.a.cols(), m.b.cols(), m.a.data(), m.b.data(),
                        m.c.data());
}

/// Eigen's conversions of its own formats.
template <class T>
void register_conversions_of(const std::string& name, Eigen::Index n, const std::string& size) {
  struct arrays {
    Eigen::VectorXf wide, copy;
    Eigen::Matrix<T, Eigen::Dynamic, 1> narrow;
    explicit arrays(Eigen::Index count)
        : wide(random_matrix(count, 1, 1)), copy(wide), narrow(wide.cast<T>()) {}
  };
  const auto conversion = [n](auto convert) {
    return [n, convert] {
      const auto data = std::make_shared<arrays>(n);
      const work amount{"elements/s", static_cast<double>(n)};
      return row{amount,
                 [data, convert] { convert(*data); },
                 {{"x_float", [data] { data->copy = data->wide; }}},
                 copy_limit(static_cast<std::size_t>(n) * (sizeof(float) + sizeof(T)), amount),
                 [data]() -> std::optional<double> {
                   return (data->narrow.template cast<float>() - data->copy).cwiseAbs().maxCoeff();
                 }};
    };
  };
  register_row("convert/float to " + name + "/" + size,
               conversion([](arrays& x) { x.narrow = x.wide.template cast<T>(); }));
  register_row("convert/to float from " + name + "/" + size,
               conversion([](arrays& x) { x.wide = x.narrow.template cast<float>(); }));
}

/// An exact product of integers, in int32.
struct integer_product {
  matrices<narrow::int8> m;
  Eigen::MatrixXi sums;

  integer_product(Eigen::Index rows, Eigen::Index depth, Eigen::Index cols)
      : m(rows, depth, cols), sums(rows, cols) {}
  std::function<void()> in_onednn() {
    return onednn_product(onednn_type::int8, m.a.rows(), m.a.cols(), m.b.cols(), m.a.mantissas().data(),
                          m.b.mantissas().data(), sums.data());
  }
  std::optional<double> error() {
    m.c = sums.cast<float>() * (m.a.scales()[0] * m.b.scales()[0]);
    return product_error(m, demand::rounded_once);
  }
};

}  // namespace

void register_peers(extent which) {
  constexpr Eigen::Index kilo = 1 << 10, mega = 1 << 20;
  for (const auto& [n, size] :
       {std::pair{4 * kilo, "L1"}, std::pair{64 * kilo, "L2"}, std::pair{64 * mega, "64M"}}) {
    register_conversions_of<Eigen::half>("Eigen::half", n, size);
    register_conversions_of<Eigen::bfloat16>("Eigen::bfloat16", n, size);
  }
  for (const shape& s : squares(which)) {
    register_product<float>("Eigen float", s, arithmetic::fp32, demand::any, multiply_in_eigen);
    register_product<Eigen::bfloat16>("Eigen::bfloat16", s, arithmetic::bf16, demand::any, multiply_in_eigen);
    register_product<Eigen::half>("Eigen::half", s, arithmetic::fp32, demand::any, multiply_in_eigen);

    if (matrices<narrow::bf16> probe(1, 1, 1); onednn_product(probe))
      register_row(s.group + "/oneDNN bf16/" + s.name, [s] {
        const auto m = std::make_shared<matrices<narrow::bf16>>(s.rows, s.depth, s.cols);
        return row{{"FLOP/s", m->flop()},
                   onednn_product(*m),
                   product_rivals(m),
                   compute_limit(arithmetic::bf16),
                   [m] { return product_error(*m, demand::rounded_once); }};
      });
    if (integer_product probe(1, 1, 1); probe.in_onednn())
      register_row(s.group + "/oneDNN int8/" + s.name, [s] {
        const auto p = std::make_shared<integer_product>(s.rows, s.depth, s.cols);
        return row{{"FLOP/s", p->m.flop()},
                   p->in_onednn(),
                   product_rivals(std::shared_ptr<matrices<narrow::int8>>(p, &p->m)),
                   compute_limit(arithmetic::int8),
                   [p] { return p->error(); }};
      });
  }
}

}  // namespace narrow_bench
