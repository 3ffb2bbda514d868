#include "settings.hpp"

#include <charconv>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace narrow_train {
namespace {

/// The shortest text that is this number and no other.
template <class T> std::string text(T number) {
  char digits[64];
  return {digits, std::to_chars(digits, std::end(digits), number).ptr};
}

std::string text(const dataset& images) {
  const auto [height, width, channels] = images.shape;
  return text(images.count()) + " of " + text(height) + " x " + text(width) + " x " + text(channels) +
         ", crc32 " + digest(images);
}

std::string text(const std::vector<double>& numbers) {
  std::string all;
  for (const double x : numbers) {
    if (!all.empty()) all += ',';
    all += text(x);
  }
  return all;
}

std::string text(rounding_choice r) { return r == rounding_choice::nearest ? "nearest" : "stochastic"; }
std::string text(exponent_choice e) {
  return e == exponent_choice::max ? "max" : e == exponent_choice::min ? "min" : "avg";
}

}  // namespace

narrow::loss_scaler make_scaler(const std::string& loss_scale) {
  if (loss_scale == "dynamic") return {};
  if (loss_scale == automatic_scale)
    return narrow::loss_scaler({.init_scale = 1});  // the largest gradient is seen
  if (loss_scale == "none") return narrow::static_scale(1);
  std::istringstream text(loss_scale);
  float scale = 0;
  if (!(text >> scale) || !text.eof() || !(scale > 0) || scale > std::numeric_limits<float>::max())
    throw std::invalid_argument(loss_scale + " is not none, dynamic, auto or a positive number");
  return narrow::static_scale(scale);
}

std::vector<setting> description(const training_settings& t, const train_and_test& data, std::uint64_t seed) {
  std::vector<setting> all{
      {"--formats", std::string(t.format)},
      {"--seed", text(seed)},
      {"--model", std::string(t.network->name)},
      {"training-images", text(data.train)},
      {"test-images", text(data.test)},
      {"--augment", t.augment == augmentation::none ? "none" : "crop-flip"},
      {"--batch", text(t.batch)},
      {"--accumulate-steps", text(t.accumulate_steps)},
      {"--optimizer", std::string(t.optimizer->name)},
      {"--lr", text(t.step.rate)},
      {"--momentum", text(t.step.momentum)},
      {"--weight-decay", text(t.step.weight_decay)},
      {"--l1", text(t.l1)},
      {"--init", t.start_weights == initial_weights::he ? "he" : "truncated"},
      {"--clip-norm", text(t.clip_norm)},
      {"--loss-scale", t.loss_scale},
      {"--loss-weight", text(t.loss_weight)},
      {"--accumulate", t.products.sums == accumulation::wide ? "wide" : "narrow"},
      {"--no-master", t.master == master_copy::kept ? "no" : "yes"},
      {"--schedule", std::string(t.schedule.kind->name)},
      {"--warmup", text(t.schedule.warmup)},
  };
  if (t.loss_scale == automatic_scale) all.push_back({"--statistics-every", text(t.look.every)});
  if (t.flush_below > 0) all.push_back({"--flush-below", text(t.flush_below)});
  const schedule_uses& uses = t.schedule.kind->uses;
  if (uses.decay) all.push_back({"--lr-decay", text(t.schedule.decay)});
  if (uses.milestones) all.push_back({"--milestones", text(t.schedule.milestones)});
  if (uses.factor) all.push_back({"--lr-factor", text(t.schedule.factor)});
  if (uses.patience) all.push_back({"--patience", text(t.schedule.patience)});
  if (uses.epochs) all.push_back({"--epochs", text(t.epochs)});
  if (const recipe_choices& chosen = t.recipes; t.products.quantised) {
    if (chosen.rounding) all.push_back({"--rounding", text(*chosen.rounding)});
    if (chosen.exponent) all.push_back({"--exponent", text(*chosen.exponent)});
    if (chosen.weight_scales)
      all.push_back({"--tile", *chosen.weight_scales == sharing::tensor ? "tensor" : text(tile_size)});
    for (const auto& [name, clip] : gradient_clips)
      if (chosen.clip == clip) all.push_back({"--clip", std::string(name)});
    if (chosen.stored_mantissa) all.push_back({"--weight-bits", text(*chosen.stored_mantissa)});
    if (chosen.output) all.push_back({"--saturate-output", "yes"});
  }
  const narrow::precision_switch_options& switching = t.switching;
  if (t.products.quantised && t.products.quantised->switching == recipe::precision::marvin) {
    all.push_back({"--buffer-bits", text(switching.buffer_bits)});
    all.push_back({"--lookback-weight", text(switching.gamma)});
    all.push_back({"--push-up", switching.push_up == narrow::push_up_form::adapt ? "adapt" : "printed"});
  }
  return all;
}

}  // namespace narrow_train
