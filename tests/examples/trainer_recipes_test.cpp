// What recipes do beyond rounding: scales with a memory, words that keep theirs, clipped gradients by
// channel, formats that switch, wider copies of weights.
#include <algorithm>
#include <cmath>
#include <memory>
#include <narrow/train/muppet_switch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "formats/formats.hpp"
#include "layers/convolution.hpp"
#include "layers/dense.hpp"
#include "operands/floating_operand.hpp"
#include "trainer_fixtures.hpp"
#include "training/mixed_precision.hpp"
#include "training/precision_policy.hpp"

using namespace narrow_train;

namespace {

fp32_matrix constant(float value) { return fp32_matrix::Constant(2, 3, value); }

/// The one scale of an operand.
double scale_of(const block_operand& operand) {
  return std::visit([](const auto& view) { return view.scale(0, 0); }, operand.view());
}

double distance(const fp32_matrix& a, const fp32_matrix& b) {
  return double{(a - b).norm()} / double{b.norm()};
}

}  // namespace

TEST_CASE("fp8: the scale follows from the steps before", "[train][recipes]") {
  scaled_operand<forward_fp8> operand(rounding_choice::nearest);
  operand.assign(constant(3), {});  // the first step: its own; 448 / 2^7 = 3.5 is the next power of two
  CHECK(scale_of(operand) == 0x1p-7);
  CHECK(operand.values() == constant(3));
  operand.advance();
  operand.assign(constant(100), {});  // under the scale for 3: saturates
  CHECK(scale_of(operand) == 0x1p-7);
  CHECK(operand.values() == constant(3.5f));
  operand.advance();
  operand.assign(constant(1), {});  // the 100 is remembered: 112 = 448 / 2^2
  CHECK(scale_of(operand) == 0x1p-2);
  CHECK(operand.values() == constant(1));
  operand.assign(constant(1), {});  // inference: no step
  CHECK(scale_of(operand) == 0x1p-2);
  for (std::size_t i = 0; i < scaled_operand<forward_fp8>::history; ++i) {
    operand.assign(constant(1), {});
    operand.advance();
  }
  operand.assign(constant(1), {});  // and now forgotten: 448 / 2^8 = 1.75
  CHECK(scale_of(operand) == 0x1p-8);
  operand.advance();
  operand.assign(constant(INFINITY), {});
  operand.advance();
  operand.assign(constant(1), {});  // infinities teach nothing
  CHECK(scale_of(operand) == 0x1p-8);

  scaled_operand<forward_fp8> other(rounding_choice::nearest);
  std::stringstream saved;
  operand.assign(constant(2), {});
  operand.advance();
  operand.save(saved);
  other.assign(constant(7), {});
  other.load(saved);
  CHECK(other.values() == operand.values());
  for (auto* o : {&operand, &other}) o->assign(constant(1.25f), {});
  CHECK(scale_of(other) == scale_of(operand));
}

TEST_CASE("words keep their scale until they change their length", "[train][recipes]") {
  const auto layer = std::make_shared<layer_format>();
  operand_format format{.kind = operand_kind::held_words, .rounding = rounding_choice::nearest};
  const auto operand = make_operand(format, sharing::tensor, layer);
  operand->assign(constant(1));  // 127.5 / 1 -> 2^6
  CHECK(scale_of(*operand) == 0x1p-6);
  operand->assign(constant(100));
  CHECK(scale_of(*operand) == 0x1p-6);
  CHECK(operand->values() == constant(127 * 0x1p-6f));
  std::stringstream saved;
  operand->save(saved);
  layer->word_length = 12;
  operand->assign(constant(100));  // 2047.5 / 100 -> 2^4
  CHECK(scale_of(*operand) == 0x1p-4);
  CHECK(std::visit([](const auto& view) { return view.largest; }, operand->view()) == 2048);
  layer->word_length = layer_format::full_precision;
  operand->assign(constant(0.1f));
  CHECK(operand->values() == constant(0.1f));
  layer->word_length = 8;
  operand->load(saved);
  CHECK(operand->values() == constant(127 * 0x1p-6f));

  format.kind = operand_kind::words;
  const auto fresh = make_operand(format, sharing::tensor, layer);
  fresh->assign(constant(1));
  fresh->assign(constant(100));
  CHECK(scale_of(*fresh) == 1);  // 127.5 / 100
}

TEST_CASE("layers in fixed point follow their format, at any word length", "[train][recipes]") {
  const window_grid grid{{5, 4, 3}, 3, 1, 2};
  for (const auto& format : {std::pair{8, 4}, {14, 10}, {16, 9}, {20, 15}, {27, 20}, {32, 24}}) {
    const int wl = format.first, fl = format.second;  // which lambdas can capture
    CAPTURE(wl, fl);
    recipe_choices nearest;
    nearest.rounding = rounding_choice::nearest;
    for (const auto backward : {recipe::backward_products::fp32, recipe::backward_products::narrow}) {
      convolution<float> l(grid, 4, {accumulation::wide, nearest.applied_to(recipe::marvin(backward))}),
          plain(grid, 4, {});
      parameter_list<float> a, b;
      l.collect(a);
      plain.collect(b);
      *a.weights.front()->format = {wl, fl};
      const auto rounded = [&](const fp32_matrix& m) {  // in double, which holds all of these words
        const double step = std::ldexp(1.0, -fl), most = std::ldexp(1.0, wl - 1);
        return fp32_matrix(
            (m.cast<double>() / step)
                .unaryExpr([&](double x) { return std::clamp(std::nearbyint(x), -most, most - 1); })
                .cast<float>() *
            static_cast<float>(step));
      };
      const fp32_matrix w = spread(4, 27, 0.07f, 1), x = spread(60, 2, 0.3f, 2), dy = spread(24, 2, 0.11f, 3);
      a.weights.front()->store(w);
      b.weights.front()->store(rounded(w));
      CHECK(distance(l.forward(x), plain.forward(rounded(x))) < 1e-6);
      const fp32_matrix dx = plain.backward(rounded(x), dy, input_gradient::wanted);
      // Gradients are as they are, or of wl bits under a scale of their own.
      const double within =
          backward == recipe::backward_products::fp32 ? 1e-6 : 1e-6 + std::ldexp(1.0, 1 - wl);
      CHECK(distance(l.backward(x, dy, input_gradient::wanted), dx) < within);
      CHECK(distance(a.weights.front()->gradient, b.weights.front()->gradient) < within);
    }
  }
}

TEST_CASE("gradients of int8 are clipped by channel, for the weight gradient", "[train][recipes]") {
  // Channels of very different size: one scale for all of them leaves nothing of the small ones.
  fp32_matrix dy = spread(6, 40, 1, 1), x = spread(9, 40, 0.01f, 2);
  for (Eigen::Index c = 0; c < dy.rows(); ++c) dy.row(c) *= std::pow(10.0f, static_cast<float>(-c));
  const fp32_matrix exact = dy * x.transpose();
  const auto error_of_last_row = [&](gradient_clip clip) {
    dense<float> l(9, 6, {accumulation::wide, recipe::int8(clip)});
    parameter_list<float> p;
    l.collect(p);
    p.weights.front()->store(spread(6, 9, 0.1f, 3));
    narrow::seed(1);
    l.forward(x);
    const fp32_matrix dx = l.backward(x, dy, input_gradient::wanted);
    CHECK(distance(dx, p.weights.front()->weights().transpose() * dy) < 0.05);
    CHECK(distance(p.weights.front()->gradient, exact) < 0.05);
    return distance(p.weights.front()->gradient.row(5), exact.row(5));
  };
  CHECK(error_of_last_row(gradient_clip::global) > 0.2);
  CHECK(error_of_last_row(gradient_clip::mcs) > 0.2);
  CHECK(error_of_last_row(gradient_clip::gvq) < 0.05);
  CHECK(error_of_last_row(gradient_clip::both) < 0.05);
}

TEST_CASE("sums of integers saturate at 32 bits where they are told to", "[train][recipes]") {
  recipe how = recipe::hbfp(16);
  how.output = recipe::product_output::saturating;
  dense<float> saturating(64, 1, {accumulation::wide, how}),
      plain(64, 1, {accumulation::wide, recipe::hbfp(16)});
  const fp32_matrix ones = fp32_matrix::Ones(1, 64);
  const fp32_matrix x = fp32_matrix::Ones(64, 1);
  const auto output = [&](dense<float>& l) {
    parameter_list<float> p;
    l.collect(p);
    p.weights.front()->store(ones);
    return l.forward(x)(0, 0);
  };
  CHECK(output(plain) == 64);
  // 1 is 2^14 steps of 2^-14: a product is 2^28 of 2^-28.
  CHECK(output(saturating) == Approx(std::ldexp(2147483647.0, -28)));
}

TEST_CASE("sums of integers saturate under each scale by itself", "[train][recipes]") {
  recipe how = recipe::hbfp(16);
  how.output = recipe::product_output::saturating;
  recipe_choices tiles;
  tiles.weight_scales = sharing::tile;
  how = tiles.applied_to(how);
  dense<float> l(48, 1, {accumulation::wide, how});
  parameter_list<float> p;
  l.collect(p);
  fp32_matrix weights = fp32_matrix::Ones(1, 48);
  weights.leftCols(24) *= 0x1p-20f;
  p.weights.front()->store(weights);
  // 24 products of 2^28 in units of 2^-28 and of 2^-48.
  CHECK(l.forward(fp32_matrix::Ones(48, 1))(0, 0) ==
        Approx(std::ldexp(2147483647.0, -28) + std::ldexp(2147483647.0, -48)));
  weights *= 0x1p-10f;  // the last 4 products alone would do, and nothing saturates
  fp32_matrix x = fp32_matrix::Zero(48, 1);
  x.bottomRows(4).setOnes();
  p.weights.front()->store(weights);
  CHECK(l.forward(x)(0, 0) == Approx(4 * 0x1p-10));
}

TEST_CASE("a wider copy of the weights takes the updates", "[train][recipes]") {
  recipe how = recipe::hbfp(4);
  how.stored_mantissa = 16;
  recipe_choices nearest;
  nearest.rounding = rounding_choice::nearest;
  for (const recipe& r : {nearest.applied_to(how), nearest.applied_to(recipe::hbfp(4))}) {
    dense<float> l(3, 2, {accumulation::wide, r});
    parameter_list<float> p;
    l.collect(p);
    mixed_precision<float> training(p, 5, optimizers().front().make({.rate = 0.01f, .momentum = 0}),
                                    make_scaler("none"), nullptr, {.master = master_copy::absent});
    const fp32_matrix before = p.weights.front()->weights();
    for (int step = 0; step < 20; ++step) {
      p.weights.front()->gradient.setConstant(2, 3, 1);
      p.per_channel.front()->gradient.setConstant(2, 1, 0);
      training.step(1);
    }
    const double moved = double{(before - p.weights.front()->weights()).mean()};
    if (r.stored_mantissa)
      CHECK(moved == Approx(0.2).epsilon(0.02));
    else
      CHECK(moved < 0.05);  // each update is less than half a step
  }
}

TEST_CASE("MARViN: formats switch, gradients are normalised, empty ones skipped", "[train][recipes]") {
  narrow::precision_switch_options options;
  options.min_lookback = 2;
  options.max_lookback = 4;
  const auto policy = make_policy(recipe::precision::marvin, options, 8);
  narrow::precision_switch reference(options);
  fp32_matrix master = spread(4, 5, 0.01f, 1), other = master;
  layer_format format, other_format;
  for (int step = 0; step < 12; ++step) {
    const fp32_matrix gradient = spread(4, 5, 1, static_cast<std::uint64_t>(step)),
                      nothing = fp32_matrix::Zero(4, 5);
    const auto expected = reference.observe("a", master, gradient, 1.0 / (step + 1));
    reference.observe("b", other, nothing, 1.0 / (step + 1));
    std::vector<switched_layer> layers{{"a", master, gradient, format, 100},
                                       {"b", other, nothing, other_format, 50}};
    const auto factors = policy->before_update(layers, 1.0 / (step + 1));
    REQUIRE(factors.size() == 2);
    REQUIRE(factors[0].has_value());
    CHECK(*factors[0] * gradient.norm() == Approx(1));
    CHECK_FALSE(factors[1].has_value());
    CHECK(format.word_length == expected.wl);
    CHECK(format.fraction_length == expected.fl);
    if (step == 5) {
      std::stringstream saved;
      policy->save(saved);
      const auto copy = make_policy(recipe::precision::marvin, {}, 8);
      copy->load(saved);
      std::ostringstream again;
      copy->save(again);
      CHECK(again.str() == saved.str());
      CHECK(copy->changes().size() == policy->changes().size());
    }
  }
  CHECK(format.word_length != layer_format().word_length);
  CHECK(policy->changes().size() >= 3);
  const auto& words = policy->words();
  CHECK(words.bytes + words.halves + words.wide + words.fp32 == 24);
  CHECK(words.bytes >= 12);  // the layer that nothing was learned of
  CHECK(policy->costs().steps() == 12);
  const fp32_matrix bias = spread(4, 1, 1, 1);
  CHECK(policy->unswitched_factor(bias) * bias.norm() == Approx(1));
  CHECK(policy->unswitched_factor(fp32_matrix::Zero(4, 1)) == 1);
}

TEST_CASE("MuPPET: no word grows before the ninth epoch, whatever the gradients", "[train][recipes]") {
  random_stream random(1, purpose::weights);
  int earliest = 100, grown = 0;
  for (int sequence = 0; sequence < 500; ++sequence) {
    narrow::muppet_switch lengths;
    for (int epoch = 1; epoch <= 12; ++epoch) {
      // Gradients that cancel in the first epochs, and agree after a number of them.
      fp32_matrix gradient = fp32_matrix::Ones(2, 2);
      if (epoch % 2 == 0 && static_cast<int>(random.below(12)) >= epoch) gradient *= -0.9f;
      gradient(0, 0) += static_cast<float>(random.normal()) * 0.1f;
      lengths.observe("layer", gradient);
      if (lengths.update() == 8) continue;
      earliest = std::min(earliest, epoch);
      ++grown;
      break;
    }
  }
  CHECK(earliest == 9);
  CHECK(grown > 50);
}

TEST_CASE("MuPPET: one word length for all, from the last gradients of each epoch", "[train][recipes]") {
  const auto policy = make_policy(recipe::precision::muppet, {}, 8);
  narrow::muppet_switch reference;
  const fp32_matrix master = spread(4, 5, 0.01f, 1);
  layer_format a, b;
  for (int epoch = 0; epoch < 40; ++epoch) {
    for (int step = 0; step < 2; ++step) {
      // Diverse at first, then all the same: every window is a violation.
      const fp32_matrix g = spread(4, 5, 1, static_cast<std::uint64_t>(epoch < 3 ? 10 * epoch + step : 1)),
                        h = 2 * g;
      std::vector<switched_layer> layers{{"a", master, g, a, 1}, {"b", master, h, b, 1}};
      CHECK(policy->before_update(layers, 1) == std::vector<precision_policy::factor>{1.0f, 1.0f});
      CHECK(a.word_length == reference.word_length());
      CHECK(b.word_length == reference.word_length());
      if (step == 1) {
        reference.observe("a", g);
        reference.observe("b", h);
      }
    }
    policy->epoch_done();
    reference.update();
  }
  CHECK(policy->changes().front().step == 1);
  CHECK(a.word_length > 8);
}
