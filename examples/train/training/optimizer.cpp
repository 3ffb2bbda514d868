#include "training/optimizer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <narrow/narrow.hpp>
#include <tuple>

namespace narrow_train {
namespace {

/// The memory of a tensor of this shape, zeros at first.
fp32_matrix& remember(fp32_matrix& memory, const fp32_matrix& like) {
  if (memory.size() == 0) memory.setZero(like.rows(), like.cols());
  return memory;
}

auto numbers(fp32_matrix& m, Eigen::Index first, Eigen::Index count) {
  return Eigen::Map<Eigen::ArrayXf>(m.data() + first, count);
}
auto numbers(const fp32_matrix& m, Eigen::Index first, Eigen::Index count) {
  return Eigen::Map<const Eigen::ArrayXf>(m.data() + first, count);
}

/// update(part of m...) for as many numbers of each at a time as the nearest cache holds, by several threads.
template <class Update, class... Matrices> void for_parts(Update update, Matrices&... m) {
  constexpr Eigen::Index at_a_time = 2048;
  const Eigen::Index size = std::get<0>(std::tie(m...)).size();
  narrow::parallel_for((size + at_a_time - 1) / at_a_time, [&](std::ptrdiff_t part) {
    const Eigen::Index first = part * at_a_time;
    update(numbers(m, first, std::min(at_a_time, size - first))...);
  });
}

/// x, rounded to multiples of 2^-123, which changes no number from 2^-75 on. What an optimizer remembers of a
/// weight without gradients shrinks until it is the smallest float, nine tenths of which round to itself, and
/// a processor takes a hundred times as long for such a number as for another.
template <class X> auto without_subnormals(const X& x) {
  constexpr float smallest = 0x1p-100f;
  return x + smallest - smallest;
}

/// v = momentum v + g,  step = rate v.  Polyak (1964), in the form that keeps the rate out of the velocity.
class sgd final : public optimizer {
 public:
  using optimizer::optimizer;
  void update(moments& state, const fp32_matrix& gradient, float factor,
              fp32_matrix& weights) const override {
    for_parts(
        [&](auto v, const auto& g, auto w) {
          v = without_subnormals(settings().momentum * v + factor * g);
          w -= settings().rate * v;
        },
        remember(state.first, gradient), gradient, weights);
  }
};

/// v = momentum v + g,  step = rate (g + momentum v).  Nesterov (1983) as Sutskever et al. (2013), section 2.
class nesterov final : public optimizer {
 public:
  using optimizer::optimizer;
  void update(moments& state, const fp32_matrix& gradient, float factor,
              fp32_matrix& weights) const override {
    for_parts(
        [&](auto v, const auto& g, auto w) {
          v = without_subnormals(settings().momentum * v + factor * g);
          w -= settings().rate * (factor * g + settings().momentum * v);
        },
        remember(state.first, gradient), gradient, weights);
  }
};

/// Kingma and Ba, Adam (2015), algorithm 1.
class adam final : public optimizer {
 public:
  using optimizer::optimizer;
  void update(moments& state, const fp32_matrix& gradient, float factor,
              fp32_matrix& weights) const override {
    constexpr float beta1 = 0.9f;
    constexpr float beta2 = 0.999f;
    constexpr float epsilon = 1e-8f;
    const auto t = static_cast<double>(time());
    const auto mean_bias = static_cast<float>(1 - std::pow(double{beta1}, t));
    const auto square_bias = static_cast<float>(1 - std::pow(double{beta2}, t));
    for_parts(
        [&](auto m, auto s, const auto& g, auto w) {
          m = without_subnormals(beta1 * m + (1 - beta1) * factor * g);
          s = without_subnormals(beta2 * s + (1 - beta2) * (factor * g).square());
          w -= settings().rate * (m / mean_bias) / ((s / square_bias).sqrt() + epsilon);
        },
        remember(state.first, gradient), remember(state.second, gradient), gradient, weights);
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
