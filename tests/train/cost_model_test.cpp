#include "narrow/train/cost_model.hpp"

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "catch.hpp"
#include "float_control.hpp"
#include "train/saved_state.hpp"

namespace {

using narrow::cost_model;
using narrow::cost_model_options;
using narrow::layer_cost;
using narrow_test::refused;
using narrow_test::saved;
using narrow_test::with_field;

std::string message_of(const cost_model_options& options) {
  try {
    cost_model model(options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}
std::string message_of(const layer_cost& layer) {
  cost_model model;
  try {
    model.step(std::span(&layer, 1));
  } catch (const std::invalid_argument& error) {
    CHECK(model == cost_model());
    return error.what();
  }
  return "accepted";
}

std::vector<layer_cost> random_step(std::mt19937& random) {
  std::vector<layer_cost> layers;
  const auto number = [&](unsigned below) { return static_cast<double>(random() % below); };
  for (int i = 0; i < 5; ++i)
    layers.push_back({.operations = 1000 * number(1000),
                      .word_length = static_cast<int>(1 + random() % 32),
                      .weights = number(5000),
                      .lookback = random() % 3 == 0 ? 0.0 : 1 + 0.25 * number(400)});
  return layers;
}

}  // namespace

TEST_CASE("8 bits forward and 32 backward cost 40 of 64") {
  cost_model narrow_run, fp32_run;
  for (int i = 0; i < 3; ++i) {
    narrow_run.step(std::vector<layer_cost>{{.operations = 100, .word_length = 8}});
    fp32_run.step(std::vector<layer_cost>{{.operations = 100}});
  }
  CHECK(narrow_run.costs() == 3 * 100 * 40);
  CHECK(fp32_run.costs() == 3 * 100 * 64);
  CHECK(narrow_run.speed_up_over(fp32_run) == 1.6);
  CHECK(fp32_run.speed_up_over(narrow_run) == 0.625);
  CHECK(narrow_run.overhead() == 0);
}

TEST_CASE("the overhead of a layer that switches, by hand") {
  cost_model model;
  model.step(std::vector<layer_cost>{{.operations = 1000, .word_length = 12, .weights = 10, .lookback = 50}});
  // PushDown: 2 log2(24) 150 3 10 operations; PushUp: 101 10 + 1.
  const double push_down = 9000 * std::log2(24.0), push_up = 1011;
  CHECK(model.overhead() == Approx(32 * (push_down + push_up) / 50).epsilon(1e-14));
  CHECK(model.costs() == Approx(44000 + model.overhead()).epsilon(1e-14));
  cost_model small({.max_lookback = 3, .max_resolution = 20});
  small.step(std::vector<layer_cost>{{.weights = 10, .lookback = 1}});
  CHECK(small.overhead() == Approx(32 * (1200 * std::log2(24.0) + 41)).epsilon(1e-14));
}

TEST_CASE("batches and accumulation weigh the costs of a run") {
  const std::vector<layer_cost> step = {{.operations = 10}};
  cost_model a({.batch_size = 128, .accumulation_steps = 4}), b({.batch_size = 256, .accumulation_steps = 3});
  a.step(step);
  b.step(step);
  b.step(step);
  CHECK(a.speed_up_over(b) == 256.0 * 3 * 2 / (128 * 4));
}

TEST_CASE("sizes count each weight") {
  cost_model model;
  CHECK(model.memory() == 0);
  model.step(std::vector<layer_cost>{{.word_length = 8, .weights = 100}, {.word_length = 16, .weights = 50}});
  CHECK(model.size() == 1600);
  CHECK(model.memory() == 100 * 40 + 50 * 48);
  model.step(
      std::vector<layer_cost>{{.word_length = 10, .weights = 100}, {.word_length = 14, .weights = 50}});
  CHECK(model.size() == 1700);
  CHECK(model.memory() == (6400 + 100 * 42 + 50 * 46) / 2.0);
  CHECK(model.steps() == 2);
  model.step({});
  CHECK(model.size() == 0);
  CHECK(model.steps() == 3);
}

TEST_CASE("a long run agrees with sums in long double") {
  std::mt19937 random(1);
  const cost_model_options options{.max_lookback = 70, .max_resolution = 90};
  cost_model model(options);
  long double operations = 0, overhead = 0, memory = 0, size = 0;
  for (int step = 0; step < 500; ++step) {
    const auto layers = random_step(random);
    model.step(layers);
    size = 0;
    for (const auto& layer : layers) {
      const auto ops = static_cast<long double>(layer.operations),
                 n = static_cast<long double>(layer.weights);
      const auto lookback = static_cast<long double>(layer.lookback);
      operations += ops * (layer.word_length + 32);
      memory += n * (layer.word_length + 32);
      size += n * layer.word_length;
      if (layer.lookback > 0) overhead += 32 * (2 * std::log2(24.0L) * 90 * 3 * n + 71 * n + 1) / lookback;
    }
  }
  CHECK(model.overhead() == Approx(static_cast<double>(overhead)).epsilon(1e-12));
  CHECK(model.costs() == Approx(static_cast<double>(operations + overhead)).epsilon(1e-12));
  CHECK(model.memory() == Approx(static_cast<double>(memory / 500)).epsilon(1e-12));
  CHECK(model.size() == static_cast<double>(size));
}

TEST_CASE(
    "the caller's floating-point control register changes no bit of the costs, nor does an interruption") {
  const auto run = [](test::control_word mode) {
    std::mt19937 random(2);
    cost_model model;
    double results = 0;
    for (int step = 0; step < 50; ++step) {
      const auto layers = random_step(random);
      cost_model next;
      std::stringstream stream(saved(model));
      stream >> next;
      const test::float_control control(mode);
      model.step(layers);
      next.step(layers);
      if (!(next == model)) FAIL("step " << step);
      results = model.costs() - model.memory() + model.speed_up_over(model);
    }
    return std::pair(saved(model), std::pair(model.costs(), results > 0));
  };
  const auto expected = run(test::plain_control);
  for (const test::control_word mode : {test::round_down, test::round_up, test::round_to_zero})
    CHECK((run(test::plain_control | mode) == expected));
}

TEST_CASE("the saved state of a cost model") {
  std::mt19937 random(3);
  cost_model model({.batch_size = 32}), before;
  for (int i = 0; i < 3; ++i) model.step(random_step(random));
  narrow_test::check_saved_state(model, before);
  const std::string text = saved(model);
  for (const char* field : {"batch_size", "accumulation_steps", "max_lookback", "max_resolution",
                            "operations", "overhead", "size", "memory"}) {
    CHECK(refused(with_field(text, field, "bff0000000000000"), before));
    CHECK(refused(with_field(text, field, "7ff8000000000000"), before));
  }
  CHECK(refused(with_field(text, "steps", "0"), before));
}

TEST_CASE("what is out of range is named") {
  CHECK(message_of(cost_model_options{}) == "accepted");
  const std::string who = "narrow::cost_model: ";
  CHECK(message_of(cost_model_options{.batch_size = 0.5}) ==
        who + "batch_size is 0.5, must be in [1, 1e+30]");
  CHECK(message_of(cost_model_options{.accumulation_steps = 0}) ==
        who + "accumulation_steps is 0, must be in [1, 1e+30]");
  CHECK(message_of(cost_model_options{.max_lookback = 0}) ==
        who + "max_lookback is 0, must be in [1, 1e+30]");
  CHECK(message_of(cost_model_options{.max_resolution = 1}) ==
        who + "max_resolution is 1, must be in [2, 1e+30]");
  CHECK(message_of(layer_cost{}) == "accepted");
  CHECK(message_of(layer_cost{.operations = -1}) == who + "operations is -1, must be in [0, 1e+30]");
  CHECK(message_of(layer_cost{.word_length = 0}) == who + "word_length is 0, must be in [1, 32]");
  CHECK(message_of(layer_cost{.word_length = 33}) == who + "word_length is 33, must be in [1, 32]");
  CHECK(message_of(layer_cost{.weights = std::nan("")}) == who + "weights is nan, must be in [0, 1e+30]");
  CHECK(message_of(layer_cost{.lookback = 0.5}) == who + "lookback is 0.5, must be in [1, 1e+30]");
}
