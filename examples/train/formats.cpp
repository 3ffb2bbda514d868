#include "formats.hpp"

#include <array>
#include <concepts>
#include <limits>

#include "floating_operand.hpp"

namespace narrow_train {

// Each storage format is compiled in its own source file, generated from format.cpp.in.
#define RECIPE(name, how)
#define FLOAT_RECIPE(name, ...)
#define TRAINED_FORMAT(name, ...)                                                                   \
  training_result train_##name(const training_settings&, const train_and_test&, std::uint64_t seed, \
                               observer&);                                                          \
  std::unique_ptr<stepper> prepare_##name(const training_settings&, const dataset&);                \
  evaluated_model evaluate_##name(const model_file&, const dataset&);
#include "formats.inc"
#undef TRAINED_FORMAT
#undef RECIPE
#undef FLOAT_RECIPE

namespace {

/// e4m3 forward, e5m2 for gradients.
constexpr recipe fp8_recipe() {
  return recipe::floating(make_floating<scaled_operand<forward_fp8>>,
                          make_floating<scaled_operand<gradient_fp8>>);
}

template <class F> constexpr recipe float_recipe() {
  return recipe::floating(make_floating<rounded_operand<F>>, make_floating<rounded_operand<F>>);
}

template <class F> constexpr magnitudes magnitudes_of() {
  using limits = std::numeric_limits<F>;
  return {static_cast<float>(limits::denorm_min()), static_cast<float>(limits::max())};
}

}  // namespace

std::span<const format> formats() {
  static constexpr std::array all{
#define TRAINED_FORMAT(name, ...)      \
  format{#name,                        \
         train_##name,                 \
         prepare_##name,               \
         evaluate_##name,              \
         magnitudes_of<__VA_ARGS__>(), \
         std::nullopt,                 \
         !std::same_as<__VA_ARGS__, float>},
#define RECIPE(name, how) format{#name, train_fp32, prepare_fp32, evaluate_fp32, magnitudes_of<float>(), how},
#define FLOAT_RECIPE(name, ...)        \
  format{#name,                        \
         train_fp32,                   \
         prepare_fp32,                 \
         evaluate_fp32,                \
         magnitudes_of<__VA_ARGS__>(), \
         float_recipe<__VA_ARGS__>()},
#include "formats.inc"
#undef TRAINED_FORMAT
#undef RECIPE
#undef FLOAT_RECIPE
  };
  return all;
}

training_settings format::adapted(training_settings settings) const {
  settings.format = name;
  if (quantised) {
    settings.products.quantised = settings.recipes.applied_to(*quantised);
    if (!quantised->master_copy) settings.master = master_copy::absent;
  }
  return settings;
}

training_result format::train(const training_settings& settings, const train_and_test& data,
                              std::uint64_t seed, observer& watcher) const {
  return train_stored(adapted(settings), data, seed, watcher);
}

std::optional<training_result> format::resumable(const training_settings& settings,
                                                 const train_and_test& data, std::uint64_t seed) const {
  return narrow_train::resumable(adapted(settings), data, seed);
}

std::unique_ptr<stepper> format::prepare(const training_settings& settings, const dataset& batch) const {
  return prepare_stored(adapted(settings), batch);
}

}  // namespace narrow_train
