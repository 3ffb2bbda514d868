#include "formats.hpp"

#include <array>

namespace narrow_train {

// Each defined in its own source file, generated from format.cpp.in.
#define TRAINED_FORMAT(name, ...)                                                                   \
  training_result train_##name(const training_settings&, const train_and_test&, std::uint64_t seed, \
                               observer&);
#include "formats.inc"
#undef TRAINED_FORMAT

std::span<const format> formats() {
  static constexpr std::array all{
#define TRAINED_FORMAT(name, ...) format{#name, train_##name},
#include "formats.inc"
#undef TRAINED_FORMAT
  };
  return all;
}

}  // namespace narrow_train
