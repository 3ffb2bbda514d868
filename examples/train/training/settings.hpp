// What a training run is told. Plain data: options.cpp fills it from the command line.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.hpp"
#include "files/checkpoint.hpp"
#include "models/models.hpp"
#include "ranks/team.hpp"
#include "training/mixed_precision.hpp"
#include "training/optimizer.hpp"
#include "training/schedule.hpp"

namespace narrow_train {

/// Where a run begins: anew, or where its checkpoint is, if there is one.
enum class run_start { beginning, checkpoint };

/// What the value of --loss-scale is that lets the gradients' magnitudes choose.
inline constexpr std::string_view automatic_scale = "auto";

/// When the tensors are looked at, and whether for more than --loss-scale auto.
struct look_settings {
  int every = 100;  // steps
  bool statistics = false;
};

/// How the ranks of a run divide a batch and sum its gradients. Without a team the batch is one.
struct rank_settings {
  const team* members = nullptr;
  int micro_batch = 0;  // images; 0: those of a rank's share
  reduction form = reduction::wide;
  std::optional<gradient_rest> rest;  // by default carried in exact8, else dropped

  [[nodiscard]] gradient_rest what_is_cut_off() const {
    return rest.value_or(form == reduction::exact8 ? gradient_rest::carried : gradient_rest::dropped);
  }
  /// How many images a micro-batch has, the last one of a batch perhaps fewer, and how many there are in a
  /// batch.
  [[nodiscard]] int images(int batch) const {
    return micro_batch > 0 ? micro_batch : (batch + members->ranks() - 1) / members->ranks();
  }
  [[nodiscard]] int count(int batch) const { return (batch + images(batch) - 1) / images(batch); }
};

struct training_settings {
  std::string_view format;  // its name; set by format::adapted
  const model* network = &models().front();
  int epochs = 4;
  int batch = 32;
  rank_settings ranks;
  int accumulate_steps = 1;  // batches whose mean gradient makes one update
  augmentation augment = augmentation::none;
  const optimizer_kind* optimizer = &optimizers().front();
  optimizer_settings step;
  schedule_settings schedule;
  initial_weights start_weights = initial_weights::he;
  float l1 = 0;         // L1 regularisation of the weights: added to each gradient, by the weight's sign
  float clip_norm = 0;  // 0: no clipping
  std::string loss_scale = "dynamic";  // as make_scaler takes it
  float loss_weight = 1;               // the loss that is minimised is the cross-entropy times this
  float flush_below = 0;  // activation gradients of smaller magnitude, without the loss scale, become zero
  look_settings look;
  product_settings products;
  recipe_choices recipes;                      // for the formats that are recipes
  narrow::precision_switch_options switching;  // of MARViN
  master_copy master = master_copy::kept;
  std::filesystem::path checkpoints;  // folder; empty: none are written
  std::filesystem::path exports;      // folder of models; empty: none are written
  run_start start = run_start::beginning;
  other_builds others = other_builds::refused;  // whose checkpoints a run may start from
};

/// The shortest text that is this number and no other.
template <class T>
requires std::is_arithmetic_v<T> std::string text(T number) {
  char digits[64];
  return {digits, std::to_chars(digits, std::end(digits), number).ptr};
}

/// The name of an option's value.
template <class Meaning, std::size_t Count>
std::string name_of(const option_values<Meaning, Count>& values, Meaning value) {
  return std::string(std::ranges::find(values, value, &std::pair<std::string_view, Meaning>::second)->first);
}

inline constexpr option_values<accumulation, 2> accumulations{
    {{"wide", accumulation::wide}, {"narrow", accumulation::narrow}}};
inline constexpr option_values<augmentation, 2> augmentations{
    {{"none", augmentation::none}, {"crop-flip", augmentation::crop_and_flip}}};
inline constexpr option_values<initial_weights, 2> starts_of_weights{
    {{"he", initial_weights::he}, {"truncated", initial_weights::truncated}}};
inline constexpr option_values<narrow::push_up_form, 2> push_up_forms{
    {{"adapt", narrow::push_up_form::adapt}, {"printed", narrow::push_up_form::printed}}};

/// "none", "dynamic", "auto", as dynamic, but from 1 on, or a number, the constant scale, in the range of
/// narrow::static_scale. Throws std::invalid_argument for anything else.
narrow::loss_scaler make_scaler(const std::string& loss_scale);
/// Whether it is a number.
bool is_constant_scale(const std::string& loss_scale);

/// The range of constant scales under which the gradient of the loss by a logit is neither zero nor beyond a
/// format of these magnitudes. It is the largest gradient that is known beforehand: below the weight of the
/// loss over the batch. Where gradients grow or shrink on their way back the range is narrower.
std::pair<double, double> range_of_scales(float smallest, float largest, float loss_weight, int batch);

/// MODEL-FORMAT-SEED, what its files are called.
std::string name_of_run(const training_settings& settings, std::uint64_t seed);

/// All that the weights of a run depend on, for its checkpoint. The number of epochs is left out where more
/// of them continue fewer.
std::vector<setting> description(const training_settings& settings, const train_and_test& data,
                                 std::uint64_t seed);

/// What the choices say of inference.
std::vector<setting> inference_choices(const recipe_choices& chosen);
/// Whether a setting is one of those; then takes it into the choices. Throws std::runtime_error where its
/// value is none.
bool take_inference_choice(recipe_choices& chosen, const setting& told);

}  // namespace narrow_train
