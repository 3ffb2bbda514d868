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
