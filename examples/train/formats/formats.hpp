// The formats by name, with their types forgotten.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "training/training.hpp"

namespace narrow_train {

/// The positive magnitudes that a format has.
struct magnitudes {
  float smallest, largest;
};

struct format {
  std::string_view name;
  /// What stored_format<S> has, for the type S that tensors are stored in.
  training_result (*train_stored)(const training_settings&, const train_and_test&, std::uint64_t seed,
                                  observer&);
  std::unique_ptr<stepper> (*prepare_stored)(const training_settings&, const dataset&);
  evaluated_model (*evaluate)(const model_file&, const dataset&);
  magnitudes gradients;             // of the type in which a layer's gradients, times the loss scale, are
  std::optional<recipe> quantised;  // of a format of operands
  bool stored_narrow = false;       // tensors are of another type than float

  /// Trains a fresh network; see train_network.
  training_result train(const training_settings& settings, const train_and_test& data, std::uint64_t seed,
                        observer& watcher) const;
  /// What `train` would begin with; see narrow_train::resumable.
  std::optional<training_result> resumable(const training_settings& settings, const train_and_test& data,
                                           std::uint64_t seed) const;
  /// A fresh network, and `batch`, to which it keeps a reference, as the batch that it trains on.
  std::unique_ptr<stepper> prepare(const training_settings& settings, const dataset& batch) const;

  /// The settings, with what this format asks for.
  training_settings adapted(training_settings settings) const;
};

/// Every format.
std::span<const format> formats();

}  // namespace narrow_train
