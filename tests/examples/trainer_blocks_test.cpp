// Quantised operands in the example trainer: products of every recipe against their definition, who shares a
// scale, weights that stay in the format.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "formats/formats.hpp"
#include "layers/convolution.hpp"
#include "layers/dense.hpp"
#include "trainer_fixtures.hpp"
#include "training/mixed_precision.hpp"

using namespace narrow_train;

namespace {

fp32_matrix numbers(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  return spread(rows, columns, 2 / static_cast<float>(rows * columns), seed);
}

/// What is left of x in the format of an operand.
fp32_matrix quantized(operand_format format, sharing scales, const fp32_matrix& x) {
  format.rounding = rounding_choice::nearest;
  const auto operand = make_operand(format, scales, std::make_shared<layer_format>());
  operand->assign(x);
  return operand->values();
}

double distance(const fp32_matrix& a, const fp32_matrix& b) {
  REQUIRE(a.rows() == b.rows());
  REQUIRE(a.cols() == b.cols());
  return double{(a - b).norm()} / double{b.norm()};
}

recipe with_nearest(const recipe& how) {
  recipe_choices choices;
  choices.rounding = rounding_choice::nearest;
  return choices.applied_to(how);
}

/// The recipes of the command line.
std::vector<std::pair<std::string, recipe>> recipes() {
  std::vector<std::pair<std::string, recipe>> all;
  for (const format& f : formats())
    if (f.quantised) all.emplace_back(f.name, *f.quantised);
  return all;
}
bool in_blocks(const recipe& how) {
  return how.weights.kind == operand_kind::bfp || how.weights.kind == operand_kind::int8;
}

/// Sets the weights and biases of a layer, and returns what is left of the weights.
fp32_matrix set_weights(layer<float>& l, std::uint64_t seed) {
  parameter_list<float> parameters;
  l.collect(parameters);
  auto& w = *parameters.weights.front();
  const fp32_matrix shape = w.weights();
  w.store(numbers(shape.rows(), shape.cols(), seed));
  parameters.per_channel.front()->value = numbers(shape.rows(), 1, seed + 1);
  return w.weights();
}

const fp32_matrix& weight_gradient(layer<float>& l) {
  parameter_list<float> parameters;
  l.collect(parameters);
  return parameters.weights.front()->gradient;
}

}  // namespace

TEST_CASE("dense layer in blocks: products of what is left of the operands", "[train][blocks]") {
  for (const auto& [name, how] : recipes()) {
    CAPTURE(name);
    const recipe r = with_nearest(how);
    dense<float> l(40, 9, {accumulation::wide, r});
    const fp32_matrix w = set_weights(l, 1), x = numbers(40, 6, 3), dy = numbers(9, 6, 4);
    const fp32_matrix bias = numbers(9, 1, 2);
    CHECK(w == quantized(r.weights, sharing::tensor, numbers(9, 40, 1)));
    fp32_matrix y = w * quantized(r.activations, r.sample_scales, x);
    y.colwise() += bias.col(0);
    CHECK(distance(l.forward(x), y) < 1e-6);
    const fp32_matrix dx = w.transpose() * quantized(r.gradients, r.sample_scales, dy);
    CHECK(distance(l.backward(x, dy, input_gradient::wanted), dx) < 1e-6);
    const fp32_matrix dw = quantized(r.gradients, sharing::tensor, dy) *
                           quantized(r.activations, sharing::tensor, x).transpose();
    CHECK(distance(weight_gradient(l), dw) < 1e-6);
  }
}

TEST_CASE("convolution in blocks: products of what is left of the images", "[train][blocks]") {
  const window_grid grid{{5, 6, 2}, 3, 1};
  for (const auto& [name, how] : recipes()) {
    CAPTURE(name);
    const recipe r = with_nearest(how);
    convolution<float> in_blocks(grid, 4, {accumulation::wide, r}), plain(grid, 4, {});
    const fp32_matrix w = set_weights(in_blocks, 1), x = numbers(60, 3, 3), dy = numbers(30 * 4, 3, 4);
    set_weights(plain, 1);
    parameter_list<float> parameters;
    plain.collect(parameters);
    parameters.weights.front()->store(w);

    CHECK(distance(in_blocks.forward(x), plain.forward(quantized(r.activations, r.sample_scales, x))) < 1e-6);
    const fp32_matrix dx =
        plain.backward(x, quantized(r.gradients, r.sample_scales, dy), input_gradient::wanted);
    CHECK(distance(in_blocks.backward(x, dy, input_gradient::wanted), dx) < 1e-6);

    const fp32_matrix left = quantized(r.activations, sharing::tensor, x);
    plain.forward(left);
    plain.backward(left, quantized(r.gradients, sharing::tensor, dy), input_gradient::unwanted);
    CHECK(distance(weight_gradient(in_blocks), weight_gradient(plain)) < 1e-6);
  }
}

TEST_CASE("the more bits, the closer to fp32", "[train][blocks]") {
  double last = 4;
  for (const int mantissa : {4, 8, 12, 16}) {
    dense<float> l(40, 9, {accumulation::wide, with_nearest(recipe::hbfp(mantissa))});
    dense<float> exact(40, 9, {});
    set_weights(l, 1);
    set_weights(exact, 1);
    const fp32_matrix x = numbers(40, 6, 3);
    const double error = distance(l.forward(x), exact.forward(x));
    CHECK(error < std::ldexp(1.0, 2 - mantissa));
    CHECK(error < last / 8);
    last = error;
  }
}

TEST_CASE("what min and avg keep of the magnitude that they look at", "[train][blocks]") {
  // Magnitudes from 2^-6 to 2^5; the mean of each column is the same power of two and a fraction.
  fp32_matrix x(4, 3);
  x << 0.015625f, 0.75f, 3, 1, -0.5f, 40, -2, 0.03125f, 5, 0.25f, -1.5f, 0;
  int compared = 0;
  for (int mantissa = 2; mantissa <= 16; ++mantissa)
    for (const auto choice : {exponent_choice::min, exponent_choice::avg})
      for (const auto bits : {exponent_bits::half, exponent_bits::one})
        for (const auto shared : {sharing::tensor, sharing::column}) {
          CAPTURE(mantissa);
          operand_format format = recipe::hbfp(mantissa).activations;
          format.exponent = choice;
          format.kept = bits;
          const fp32_matrix got = quantized(format, shared, x);
          for (Eigen::Index j = 0; j < x.cols(); ++j) {
            const fp32_matrix block = (shared == sharing::tensor ? x : fp32_matrix(x.col(j))).cwiseAbs();
            double statistic = choice == exponent_choice::min ? 1e9 : 0, count = 0;
            for (const float magnitude : block.reshaped()) {
              if (choice == exponent_choice::avg)
                statistic += double{magnitude};
              else if (magnitude > 0)
                statistic = std::min(statistic, double{magnitude});
              ++count;
            }
            if (choice == exponent_choice::avg) statistic /= count;
            const int kept = bits == exponent_bits::one ? 1 : (mantissa + 1) / 2;
            // The leading bit of the statistic is the kept-th of the mantissa.
            const double step = std::exp2(std::floor(std::log2(statistic)) - (kept - 1)),
                         most = std::exp2(mantissa - 1) - 1;
            for (Eigen::Index i = 0; i < x.rows(); ++i) {
              const double expected = std::clamp(std::nearbyint(double{x(i, j)} / step), -most, most) * step;
              CHECK(double{got(i, j)} == expected);
              ++compared;
            }
          }
        }
  CHECK(compared == 15 * 2 * 2 * 2 * 12);
}

TEST_CASE("one scale for each training input forward, one for the batch in the weight gradient",
          "[train][blocks]") {
  const window_grid grid{{4, 4, 1}, 3, 0};
  const auto count = [&](const recipe& how) {
    block_products products(how, grid, nullptr);
    const auto weights = make_operand(how.weights, how.weight_scales, nullptr);
    weights->assign(numbers(2, 9, 1));
    fp32_matrix out;
    const fp32_matrix x = numbers(16, 5, 2), dy = numbers(4 * 2, 5, 3);
    products.forward(*weights, x, out);
    products.weight_gradient(dy, x, out, input_gradient::wanted);
    products.input_gradient(*weights, dy, out);
    return products.operands().scales();
  };
  const auto hbfp = count(recipe::hbfp(8));
  CHECK(hbfp.x == 5);
  CHECK(hbfp.dy == 5);
  CHECK(hbfp.batch_x == 1);
  CHECK(hbfp.batch_dy == 1);
  const auto int8 = count(recipe::int8());
  CHECK(int8.x == 1);
  CHECK(int8.dy == 1);
}

TEST_CASE("tiles of weights", "[train][blocks]") {
  recipe_choices tiles;
  tiles.weight_scales = sharing::tile;
  for (const auto& [name, how] : recipes()) {
    if (!in_blocks(how)) continue;
    CAPTURE(name);
    const recipe r = tiles.applied_to(how);
    const auto weights = make_operand(r.weights, r.weight_scales, nullptr);
    weights->assign(numbers(25, 50, 1));
    CHECK(weights->scale_count() == 2 * 3);
  }
}

TEST_CASE("weights stay in their format, without another copy", "[train][blocks]") {
  const train_and_test data{draw_digits(64, 1), draw_digits(16, 2)};
  class silent final : public observer {
    void batch_done(std::size_t, float, float, std::uint64_t) override {}
    void epoch_done(const curve_point&) override {}
  } watcher;
  training_settings settings;
  settings.epochs = 1;
  for (const format& f : formats()) {
    if (!f.quantised || !in_blocks(*f.quantised)) continue;
    INFO(std::string(f.name));
    const auto result = f.train(settings, data, 1, watcher);
    CHECK((result.master_bytes == 0) == !f.quantised->master_copy);
    settings.loss_scale = "none";
    const auto fp32 = formats().front().train(settings, data, 1, watcher);
    // A byte or two for each weight in place of four; the rest is biases, and a scale for each layer.
    const std::size_t element = f.quantised->weights.mantissa <= 8 ? 1 : 2;
    CHECK(result.weight_bytes < fp32.weight_bytes * element / 4 + 1200);
  }
}

TEST_CASE("what a mixed step leaves in the weights is in their format", "[train][blocks]") {
  for (const auto& [name, how] : recipes()) {
    if (how.master_copy) continue;
    CAPTURE(name);
    dense<float> l(12, 5, {accumulation::wide, how});
    parameter_list<float> parameters;
    l.collect(parameters);
    parameter<float>& w = *parameters.weights.front();
    narrow::seed(3);
    mixed_precision<float> training(parameters, 5, optimizers().front().make({.rate = 0.1f}),
                                    make_scaler("none"), nullptr, {.master = master_copy::absent});
    const fp32_matrix before = w.weights();
    for (int step = 0; step < 3; ++step) {
      w.gradient = numbers(5, 12, 7 + static_cast<std::uint64_t>(step));
      parameters.per_channel.front()->gradient = numbers(5, 1, 9);
      CHECK(training.step(1));
      CHECK(quantized(how.weights, how.weight_scales, w.weights()) == w.weights());
    }
    CHECK(w.weights() != before);
    CHECK(training.master_bytes() == 0);
  }
}
