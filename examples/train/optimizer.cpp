#include "optimizer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace narrow_train {
namespace {

/// The memory of a tensor of this shape, zeros at first.
fp32_matrix& remember(fp32_matrix& memory, const fp32_matrix& like) {
  if (memory.size() == 0) memory.setZero(like.rows(), like.cols());
  return memory;
}

/// update(part of m...) for a few of their columns at a time, which then are in the cache.
template <class Update, class... Matrices> void for_columns(Update update, Matrices&... m) {
  constexpr Eigen::Index at_a_time = 16;
  const Eigen::Index columns = std::get<0>(std::tie(m...)).cols();
  for (Eigen::Index first = 0; first < columns; first += at_a_time)
    update(m.middleCols(first, std::min(at_a_time, columns - first))...);
}

/// v = momentum v + g,  step = rate v.  Polyak (1964), in the form that keeps the rate out of the velocity.
class sgd final : public optimizer {
 public:
  using optimizer::optimizer;
  void gradient_to_step(moments& state, fp32_matrix& gradient) const override {
    fp32_matrix& velocity = remember(state.first, gradient);
    for_columns(
        [this](auto v, auto g) {
          v = settings().momentum * v + g;
          g = settings().rate * v;
        },
        velocity, gradient);
  }
};

/// v = momentum v + g,  step = rate (g + momentum v).  Nesterov (1983) as Sutskever et al. (2013), section 2.
class nesterov final : public optimizer {
 public:
  using optimizer::optimizer;
  void gradient_to_step(moments& state, fp32_matrix& gradient) const override {
    fp32_matrix& velocity = remember(state.first, gradient);
    for_columns(
        [this](auto v, auto g) {
          v = settings().momentum * v + g;
          g = settings().rate * (g + settings().momentum * v);
        },
        velocity, gradient);
  }
};

/// Kingma and Ba, Adam (2015), algorithm 1.
class adam final : public optimizer {
 public:
  using optimizer::optimizer;
  void gradient_to_step(moments& state, fp32_matrix& gradient) const override {
    constexpr float beta1 = 0.9f;
    constexpr float beta2 = 0.999f;
    constexpr float epsilon = 1e-8f;
    fp32_matrix& mean = remember(state.first, gradient);
    fp32_matrix& square = remember(state.second, gradient);
    const auto t = static_cast<double>(time());
    const auto mean_bias = static_cast<float>(1 - std::pow(double{beta1}, t));
    const auto square_bias = static_cast<float>(1 - std::pow(double{beta2}, t));
    for_columns(
        [&](auto m, auto s, auto g) {
          m = beta1 * m + (1 - beta1) * g;
          s = beta2 * s + (1 - beta2) * g.cwiseAbs2();
          g = settings().rate *
              (m / mean_bias).cwiseQuotient(((s / square_bias).cwiseSqrt().array() + epsilon).matrix());
        },
        mean, square, gradient);
  }
};

template <class Optimizer> std::unique_ptr<optimizer> make(const optimizer_settings& settings) {
  return std::make_unique<Optimizer>(settings);
}

}  // namespace

void moments::save(std::ostream& out) const {
  for (const fp32_matrix* m : {&first, &second}) {
    write_number(out, static_cast<std::uint8_t>(m->size() > 0));
    if (m->size() > 0) write_matrix(out, *m);
  }
}

void moments::load(std::istream& in, Eigen::Index rows, Eigen::Index columns) {
  for (fp32_matrix* m : {&first, &second}) {
    if (read_number<std::uint8_t>(in) != 0)
      read_matrix(in, *m, rows, columns);
    else
      m->resize(0, 0);
  }
}

std::span<const optimizer_kind> optimizers() {
  static constexpr std::array all{
      optimizer_kind{"sgd", "gradient descent with momentum", 0.015f, make<sgd>},
      optimizer_kind{"nesterov", "gradient descent with Nesterov's momentum", 0.015f, make<nesterov>},
      optimizer_kind{"adam", "Adam", 0.002f, make<adam>},
  };
  return all;
}

}  // namespace narrow_train
