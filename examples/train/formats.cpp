#include "formats.hpp"

#include <array>

namespace narrow_train {

// Each storage format is compiled in its own source file, generated from format.cpp.in.
#define BLOCK_FORMAT(name, recipe)
#define TRAINED_FORMAT(name, ...)                                                                   \
  training_result train_##name(const training_settings&, const train_and_test&, std::uint64_t seed, \
                               observer&);
#include "formats.inc"
#undef TRAINED_FORMAT
#undef BLOCK_FORMAT

std::span<const format> formats() {
  static constexpr std::array all{
#define TRAINED_FORMAT(name, ...) format{#name, train_##name, std::nullopt},
#define BLOCK_FORMAT(name, recipe) format{#name, train_fp32, recipe},
#include "formats.inc"
#undef TRAINED_FORMAT
#undef BLOCK_FORMAT
  };
  return all;
}

training_result format::train(training_settings settings, const train_and_test& data, std::uint64_t seed,
                              observer& watcher) const {
  if (blocks) {
    settings.products.blocks = settings.block_formats.applied_to(*blocks);
    if (!blocks->master_copy) settings.master = master_copy::absent;
  }
  return train_stored(settings, data, seed, watcher);
}

}  // namespace narrow_train
