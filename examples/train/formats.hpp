// The formats by name, with their types forgotten.
#pragma once

#include <span>
#include <string_view>

#include "training.hpp"

namespace narrow_train {

struct format {
  std::string_view name;
  /// train_network<S> for the type S that tensors are stored in.
  training_result (*train_stored)(const training_settings&, const train_and_test&, std::uint64_t seed,
                                  observer&);
  std::optional<block_recipe> blocks;  // of a block format

  /// Trains a fresh network; see train_network.
  training_result train(training_settings settings, const train_and_test& data, std::uint64_t seed,
                        observer& watcher) const;
};

/// Every format in formats.inc, in its order.
std::span<const format> formats();

}  // namespace narrow_train
