#include "training/settings.hpp"

#include <cmath>
#include <sstream>
#include <stdexcept>

namespace narrow_train {
namespace {

std::string text_of(const dataset& images) {
  const auto [height, width, channels] = images.shape;
  return text(images.count()) + " of " + text(height) + " x " + text(width) + " x " + text(channels) +
         ", crc32 " + digest(images);
}

std::string text_of(const std::vector<double>& numbers) {
  std::string all;
  for (const double x : numbers) {
    if (!all.empty()) all += ',';
    all += text(x);
  }
  return all;
}

/// f(name of the option, values, place for the choice) for the choices that inference depends on.
template <class Choices, class F> void for_each_inference_choice(Choices& chosen, F f) {
  static constexpr option_values<recipe::product_output, 1> saturate{
      {{"yes", recipe::product_output::saturating}}};
  f("--rounding", rounding_choices, chosen.rounding);
  f("--exponent", exponent_choices, chosen.exponent);
  f("--exponent-bits", exponent_bit_choices, chosen.kept);
  f("--tile", weight_sharings, chosen.weight_scales);
  f("--saturate-output", saturate, chosen.output);
}

}  // namespace

narrow::loss_scaler make_scaler(const std::string& loss_scale) {
  if (loss_scale == "dynamic") return {};
  if (loss_scale == automatic_scale)
    return narrow::loss_scaler({.init_scale = 1});  // the largest gradient is seen
  if (loss_scale == "none") return narrow::static_scale(1);
  std::istringstream text(loss_scale);
  float scale = 0;
  using limits = std::numeric_limits<float>;  // the reciprocal of a scale is finite too
  if (!(text >> scale) || !text.eof() || !(scale >= limits::min()) || scale > limits::max()) {
    std::ostringstream message;
    message << loss_scale << " is not none, dynamic, auto or a number from " << limits::min() << " to "
            << limits::max();
    throw std::invalid_argument(message.str());
  }
  return narrow::static_scale(scale);
}

bool is_constant_scale(const std::string& loss_scale) {
  return loss_scale != "none" && loss_scale != "dynamic" && loss_scale != automatic_scale;
}

std::pair<double, double> range_of_scales(float smallest, float largest, float loss_weight, int batch) {
  const double gradient = double{loss_weight} / batch;
  return {double{smallest} / gradient, double{largest} / gradient};
}

std::string name_of_run(const training_settings& settings, std::uint64_t seed) {
  return std::string(settings.network->name) + '-' + std::string(settings.format) + '-' + text(seed);
}

std::vector<setting> description(const training_settings& t, const train_and_test& data, std::uint64_t seed) {
  std::vector<setting> all{
      {"--formats", std::string(t.format)},
      {"--seed", text(seed)},
      {"--model", std::string(t.network->name)},
      {"training-images", text_of(data.train)},
      {"test-images", text_of(data.test)},
      {"--augment", name_of(augmentations, t.augment)},
      {"--batch", text(t.batch)},
      {"--accumulate-steps", text(t.accumulate_steps)},
      {"--optimizer", std::string(t.optimizer->name)},
      {"--lr", text(t.step.rate)},
      {"--momentum", text(t.step.momentum)},
      {"--weight-decay", text(t.step.weight_decay)},
      {"--l1", text(t.l1)},
      {"--init", name_of(starts_of_weights, t.start_weights)},
      {"--clip-norm", text(t.clip_norm)},
      {"--loss-scale", t.loss_scale},
      {"--loss-weight", text(t.loss_weight)},
      {"--accumulate", name_of(accumulations, t.products.sums)},
      {"--no-master", t.master == master_copy::kept ? "no" : "yes"},
      {"--schedule", std::string(t.schedule.kind->name)},
      {"--warmup", text(t.schedule.warmup)},
  };
  if (t.ranks.members != nullptr) {
    all.push_back({"--micro-batch", text(t.ranks.images(t.batch))});
    all.push_back({"--reduce", name_of(reductions, t.ranks.form)});
    all.push_back({"--rest", name_of(gradient_rests, t.ranks.what_is_cut_off())});
  }
  if (t.loss_scale == automatic_scale) all.push_back({"--statistics-every", text(t.look.every)});
  if (t.flush_below > 0) all.push_back({"--flush-below", text(t.flush_below)});
  const schedule_uses& uses = t.schedule.kind->uses;
  if (uses.decay) all.push_back({"--lr-decay", text(t.schedule.decay)});
  if (uses.milestones) all.push_back({"--milestones", text_of(t.schedule.milestones)});
  if (uses.factor) all.push_back({"--lr-factor", text(t.schedule.factor)});
  if (uses.patience) all.push_back({"--patience", text(t.schedule.patience)});
  if (uses.epochs) all.push_back({"--epochs", text(t.epochs)});
  if (const recipe_choices& chosen = t.recipes; t.products.quantised) {
    for (setting& choice : inference_choices(chosen)) all.push_back(std::move(choice));
    if (chosen.clip) all.push_back({"--clip", name_of(gradient_clips, *chosen.clip)});
    if (chosen.stored_mantissa) all.push_back({"--weight-bits", text(*chosen.stored_mantissa)});
  }
  const narrow::precision_switch_options& switching = t.switching;
  if (t.products.quantised && t.products.quantised->switching == recipe::precision::marvin) {
    all.push_back({"--buffer-bits", text(switching.buffer_bits)});
    all.push_back({"--lookback-weight", text(switching.gamma)});
    all.push_back({"--push-up", name_of(push_up_forms, switching.push_up)});
  }
  return all;
}

std::vector<setting> inference_choices(const recipe_choices& chosen) {
  std::vector<setting> all;
  for_each_inference_choice(chosen, [&](const char* name, const auto& values, const auto& choice) {
    if (choice) all.push_back({name, name_of(values, *choice)});
  });
  return all;
}

bool take_inference_choice(recipe_choices& chosen, const setting& told) {
  bool known = false;
  for_each_inference_choice(chosen, [&](const char* name, const auto& values, auto& choice) {
    if (told.name != name) return;
    known = true;
    const auto found = std::ranges::find(values, told.value, [](const auto& v) { return v.first; });
    if (found == values.end()) throw std::runtime_error("has an unknown " + told.name + ": " + told.value);
    choice = found->second;
  });
  return known;
}

}  // namespace narrow_train
