// How the example trainer updates weights: optimisers against their formulas, mixed precision against its
// rules.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "catch.hpp"
#include "trainer_fixtures.hpp"
#include "training/settings.hpp"

using namespace narrow_train;

namespace {

/// Three steps on one tensor of two entries; `next` computes the step for one entry in double, by hand.
template <class Next> void check_optimizer(std::string_view name, const Next& make_next) {
  const optimizer_kind* kind = nullptr;
  for (const auto& k : optimizers())
    if (k.name == name) kind = &k;
  REQUIRE(kind != nullptr);
  const auto rule = kind->make({.rate = 0.25f, .momentum = 0.75f, .weight_decay = 0});
  moments memory, other_memory;
  const Eigen::Index rows = 3000;
  std::array next{make_next(), make_next()};
  const std::array<std::array<float, 2>, 3> gradients{{{1.0f, -0.5f}, {0.25f, 3.0f}, {-2.0f, 1e-3f}}};
  for (const auto& g : gradients) {
    rule->begin_step();
    const fp32_matrix gradient{{g[0], g[1]}};
    fp32_matrix weights = fp32_matrix::Zero(1, 2), other = fp32_matrix::Zero(rows, 3);
    rule->update(memory, gradient, 1, weights);
    // A second tensor in the same step: time counts steps. Its gradient is that of the first one, by the
    // factor.
    rule->update(other_memory, fp32_matrix::Constant(rows, 3, 4 * g[0]), 0.25f, other);
    for (std::size_t i = 0; i < 2; ++i)
      CHECK(double{weights(0, Eigen::Index(i))} == Approx(-next[i](g[i])).epsilon(1e-5));
    CHECK(other.isApproxToConstant(weights(0, 0), 1e-5f));
  }
  CHECK(rule->time() == 3);
}

}  // namespace

TEST_CASE("SGD with momentum by hand", "[train][optimizer]") {
  check_optimizer("sgd", [] {
    return [v = 0.0](double g) mutable {
      v = 0.75 * v + g;
      return 0.25 * v;
    };
  });
}

TEST_CASE("Nesterov's momentum by hand", "[train][optimizer]") {
  check_optimizer("nesterov", [] {
    return [v = 0.0](double g) mutable {
      v = 0.75 * v + g;
      return 0.25 * (g + 0.75 * v);
    };
  });
}

TEST_CASE("Adam by hand", "[train][optimizer]") {
  check_optimizer("adam", [] {
    return [m = 0.0, v = 0.0, t = 0](double g) mutable {
      ++t;
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      return 0.25 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    };
  });
}

namespace {

/// One weight tensor (2 x 3) and one bias (2 x 1) with everything that training keeps beside them.
template <class S> struct single_layer {
  parameter<S> weights{matrix<S>::Zero(2, 3), matrix<S>::Zero(2, 3)};
  parameter<float> bias{fp32_matrix::Zero(2, 1), fp32_matrix::Zero(2, 1)};
  mixed_precision<S> training;

  explicit single_layer(const std::string& loss_scale, optimizer_settings step = {.rate = 0.125f},
                        float clip_norm = 0, master_copy master = master_copy::kept)
      : training({{&weights}, {&bias}}, 5, optimizers().front().make(step), make_scaler(loss_scale), nullptr,
                 {.clip_norm = clip_norm, .master = master}) {}

  /// A step with these (unscaled) gradients in every entry.
  bool step(float weight_gradient, float bias_gradient) {
    const float scale = training.loss_scale();
    weights.gradient.setConstant(static_cast<S>(scale * weight_gradient));
    bias.gradient.setConstant(scale * bias_gradient);
    return training.step(1);
  }
};

template <class S> bool same_bits(const matrix<S>& a, const matrix<S>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), bytes_of(a)) == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("an overflowing step changes neither weights nor momentum nor time", "[train][mixed]",
                   float, narrow::fp16, narrow::bf16) {
  const std::string scale = GENERATE("dynamic", "none", "1024");
  single_layer<TestType> with(scale), without(scale);
  const auto initial = with.weights.value;
  CHECK(with.step(0.5f, 0.25f));
  CHECK(without.step(0.5f, 0.25f));
  CHECK_FALSE(same_bits(with.weights.value, initial));

  const auto before = with.weights.value;
  const auto bias_before = with.bias.value;
  const float scale_before = with.training.loss_scale();
  with.weights.gradient.setOnes();
  with.weights.gradient(1, 2) = std::numeric_limits<TestType>::infinity();
  with.bias.gradient.setOnes();
  CHECK_FALSE(with.training.step(1));
  CHECK(same_bits(with.weights.value, before));
  CHECK(same_bits(with.bias.value, bias_before));
  CHECK(with.training.rule().time() == 1);
  CHECK(with.training.loss_scale() == (scale == "dynamic" ? scale_before / 2 : scale_before));

  CHECK(with.step(-0.25f, 2.0f));  // the velocity in it shows whether the overflow touched it
  CHECK(without.step(-0.25f, 2.0f));
  CHECK(same_bits(with.weights.value, without.weights.value));
  CHECK(same_bits(with.bias.value, without.bias.value));
}

TEMPLATE_TEST_CASE("a step takes the mean of the gradients that were accumulated", "[train][mixed]", float,
                   narrow::fp16, narrow::bf16) {
  single_layer<TestType> several("dynamic"), one("none");
  const auto accumulate = [&](float weight_gradient, float bias_gradient) {
    const float scale = several.training.loss_scale();
    several.weights.gradient.setConstant(static_cast<TestType>(scale * weight_gradient));
    several.bias.gradient.setConstant(scale * bias_gradient);
    several.training.accumulate();
  };
  for (int step = 0; step < 3; ++step) {
    const auto before = several.weights.value;
    accumulate(0.5f, 1);
    accumulate(-0.125f, 3);
    accumulate(0.25f, -1);
    CHECK(same_bits(several.weights.value, before));
    CHECK(several.step(0.375f, 5));
    CHECK(one.step(0.25f, 2));  // (1/2 - 1/8 + 1/4 + 3/8) / 4, (1 + 3 - 1 + 5) / 4
    CHECK(same_bits(several.weights.value, one.weights.value));
    CHECK(same_bits(several.bias.value, one.bias.value));
    CHECK(several.training.rule().time() == step + 1);
    CHECK(several.training.scaler().steps() == static_cast<std::uint64_t>(step + 1));
  }

  // One batch that overflows, whichever, and the whole step is skipped, once; the next starts anew.
  const float infinite = std::numeric_limits<float>::infinity();
  for (const int bad : {0, 1, 2}) {
    const auto before = several.weights.value;
    const float scale = several.training.loss_scale();
    accumulate(bad == 0 ? infinite : 1, 1);
    accumulate(bad == 1 ? infinite : 1, 1);
    CHECK_FALSE(several.step(bad == 2 ? infinite : 1, 1));
    CHECK(same_bits(several.weights.value, before));
    CHECK(several.training.loss_scale() == scale / 2);
    CHECK(several.training.scaler().skipped() == static_cast<std::uint64_t>(bad + 1));
    CHECK(several.step(0.25f, 2));
    CHECK(one.step(0.25f, 2));
    CHECK(same_bits(several.weights.value, one.weights.value));
  }
}

TEST_CASE("parameters that are not finite are seen", "[train][mixed]") {
  single_layer<narrow::fp16> l("none");
  CHECK(l.training.finite());
  l.weights.value(1, 1) = std::numeric_limits<narrow::fp16>::infinity();
  CHECK_FALSE(l.training.finite());
  l.weights.value(1, 1) = 0.0f;
  CHECK(l.training.finite());
  l.bias.value(1, 0) = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(l.training.finite());
}

TEST_CASE("clipping and decay do not see the loss scale", "[train][mixed]") {
  const optimizer_settings step{.rate = 0.125f, .momentum = 0.5f, .weight_decay = 0.25f};
  single_layer<float> plain("none", step, 0.75f), scaled("4096", step, 0.75f);
  for (int i = 0; i < 3; ++i) {
    CHECK(plain.step(0.5f, -0.25f));
    CHECK(scaled.step(0.5f, -0.25f));
  }
  CHECK(same_bits(plain.weights.value, scaled.weights.value));
  CHECK(same_bits(plain.bias.value, scaled.bias.value));
}

TEST_CASE("clipping bounds the norm of all gradients together", "[train][mixed]") {
  single_layer<float> l("none", {.rate = 1, .momentum = 0}, 0.5f);
  const fp32_matrix before = l.weights.value;
  CHECK(l.step(1.0f, 2.0f));  // norm sqrt(6 * 1 + 2 * 4)
  const double moved =
      std::sqrt(double{(l.weights.value - before).squaredNorm()} + double{l.bias.value.squaredNorm()});
  CHECK(moved == Approx(0.5).epsilon(1e-5));
  CHECK(double{l.bias.value(0, 0)} == Approx(-0.5 * 2 / std::sqrt(14.0)).epsilon(1e-5));
}

TEST_CASE("decay pulls at weights, not at biases", "[train][mixed]") {
  single_layer<float> l("none", {.rate = 0.5f, .momentum = 0, .weight_decay = 0.25f});
  l.bias.value.setOnes();
  const fp32_matrix before = l.weights.value;
  CHECK(l.step(0, 0));
  CHECK((l.weights.value - 0.875f * before).cwiseAbs().maxCoeff() < 1e-6f);
  CHECK((l.bias.value.array() == 1).all());
}

TEMPLATE_TEST_CASE("updates too small for the format add up in the master copy", "[train][mixed]",
                   narrow::fp16, narrow::bf16) {
  // 200 steps of 1e-4; where |w| >= 1/2, half a unit is at least 2^-12 = 2.4e-4
  const optimizer_settings step{.rate = 1e-4f, .momentum = 0};
  single_layer<TestType> kept("none", step), absent("none", step, 0, master_copy::absent);
  const auto initial = kept.weights.value;
  CHECK(same_bits(initial, absent.weights.value));
  for (int i = 0; i < 200; ++i) {
    CHECK(kept.step(1, 0));
    CHECK(absent.step(1, 0));
  }
  int large = 0;
  const float unit = std::numeric_limits<TestType>::epsilon();
  for (Eigen::Index i = 0; i < initial.size(); ++i) {
    const float before = initial.data()[i];
    CHECK(std::abs(float{kept.weights.value.data()[i]} - (before - 0.02f)) <=
          unit * std::abs(before) + 1e-5f);
    if (std::abs(before) < 0.5f) continue;
    ++large;
    CHECK(absent.weights.value.data()[i].bits() == initial.data()[i].bits());
  }
  CHECK(large >= 2);
  CHECK(kept.training.master_bytes() == 6 * sizeof(float));
  CHECK(absent.training.master_bytes() == 0);
  CHECK(kept.training.weight_bytes() == 6 * sizeof(TestType) + 2 * sizeof(float));
}

TEST_CASE("a gradient below fp16 reaches the weights only with a loss scale", "[train][mixed]") {
  single_layer<narrow::fp16> plain("none", {.rate = 1e7f}), scaled("65536", {.rate = 1e7f});
  const auto before = plain.weights.value;
  CHECK(plain.step(0x1p-26f, 0));
  CHECK(scaled.step(0x1p-26f, 0));
  CHECK(same_bits(plain.weights.value, before));
  CHECK_FALSE(same_bits(scaled.weights.value, before));
}

TEMPLATE_TEST_CASE("narrow accumulation rounds every addition, wide accumulation none", "[train][mixed]",
                   narrow::fp16, narrow::bf16) {
  const matrix<TestType> row = matrix<TestType>::Ones(1, 4096), column = matrix<TestType>::Ones(4096, 1);
  matrix<TestType> sum;
  fp32_matrix unrounded;
  multiply(accumulation::wide, sum, row, column);
  CHECK(float{sum(0, 0)} == 4096);
  multiply(accumulation::narrow, sum, row, column);
  const float stuck = 2 / float{std::numeric_limits<TestType>::epsilon()};  // 1 is half a unit from here on
  CHECK(float{sum(0, 0)} == stuck);
  multiply(accumulation::narrow, unrounded, row, column.leftCols(1));
  CHECK(unrounded(0, 0) == stuck);

  // Small integers: every sum is exact, so that both must agree, whatever the shapes.
  const matrix<TestType> a = (spread(5, 7, 1, 1).array() / 8).round().matrix().template cast<TestType>();
  const matrix<TestType> b = (spread(3, 7, 1, 2).array() / 8).round().matrix().template cast<TestType>();
  matrix<TestType> wide, narrow;
  multiply(accumulation::wide, wide, a, b.transpose());
  multiply(accumulation::narrow, narrow, a, b.transpose());
  CHECK(same_bits(wide, narrow));

  // Against one addition after the other, for results that are high and that are wide.
  for (const auto& [rows, columns] : {std::pair{40, 3}, std::pair{3, 40}}) {
    const matrix<TestType> c = spread(rows, 17, 0.013f, 3).template cast<TestType>();
    const matrix<TestType> d = spread(columns, 17, 0.017f, 4).template cast<TestType>();
    matrix<TestType> one_by_one = matrix<TestType>::Zero(rows, columns);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        for (int k = 0; k < 17; ++k) one_by_one(i, j) += c(i, k) * float{d(j, k)};
    multiply(accumulation::narrow, narrow, c, d.transpose());
    CHECK(same_bits(narrow, one_by_one));
    multiply(accumulation::wide, wide, c, d.transpose());
    CHECK_FALSE(same_bits(narrow, wide));
  }
}

TEMPLATE_TEST_CASE("networks of one seed start from the same weights in every format", "[train][mixed]",
                   narrow::fp16, narrow::bf16) {
  const single_layer<float> wide("none");
  const single_layer<TestType> narrow("none");
  CHECK(same_bits(narrow.weights.value, matrix<TestType>(wide.weights.value.template cast<TestType>())));
}

TEST_CASE("initial weights: from the seed alone, with the variance asked for", "[train][mixed]") {
  random_stream random(1, purpose::weights), again(1, purpose::weights), other(2, purpose::weights);
  const fp32_matrix w = he_normal(200, 50, random);
  CHECK(same_bits(w, he_normal(200, 50, again)));
  CHECK_FALSE(same_bits(w, he_normal(200, 50, other)));
  CHECK(double{w.mean()} == Approx(0).margin(4 * 0.2 / 100));
  CHECK(double{w.squaredNorm()} / 10000 == Approx(2.0 / 50).epsilon(0.05));  // 4 standard errors: 0.05
  CHECK(w.cwiseAbs().maxCoeff() <= 2 * 0.2f / 0.8796f);
}
