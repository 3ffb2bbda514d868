#include "formats.hpp"

#include <array>

namespace narrow_train {

// Each storage format is compiled in its own source file, generated from format.cpp.in.
#define BLOCK_FORMAT(name, recipe)
#define TRAINED_FORMAT(name, ...)                                                                   \
  training_result train_##name(const training_settings&, const train_and_test&, std::uint64_t seed, \
                               observer&);                                                          \
  std::unique_ptr<stepper> prepare_##name(const training_settings&, const dataset&);
#include "formats.inc"
#undef TRAINED_FORMAT
#undef BLOCK_FORMAT

std::span<const format> formats() {
  static constexpr std::array all{
#define TRAINED_FORMAT(name, ...) format{#name, train_##name, prepare_##name, std::nullopt},
#define BLOCK_FORMAT(name, recipe) format{#name, train_fp32, prepare_fp32, recipe},
#include "formats.inc"
#undef TRAINED_FORMAT
#undef BLOCK_FORMAT
  };
  return all;
}

training_settings format::adapted(training_settings settings) const {
  settings.format = name;
  if (blocks) {
    settings.products.blocks = settings.block_formats.applied_to(*blocks);
    if (!blocks->master_copy) settings.master = master_copy::absent;
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
