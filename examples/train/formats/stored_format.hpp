// The trainer compiled for one type that tensors are stored in. Each has a source file in formats/stored/.
#pragma once

#include <cstdint>
#include <memory>

#include "training/training.hpp"

namespace narrow_train {

/// Fixed point of 16 bits, 12 of them after the point.
using fixed16_12 = narrow::fixed<16, 12, narrow::rounding::stochastic>;

template <class S> struct stored_format {
  /// Trains a fresh network, or continues where its checkpoint is; see train_network.
  static training_result train(const training_settings& settings, const train_and_test& data,
                               std::uint64_t seed, observer& watcher);
  /// A fresh network, and `batch`, to which it keeps a reference, as the batch that it trains on.
  static std::unique_ptr<stepper> prepare(const training_settings& settings, const dataset& batch);
  /// What a model makes of images that it is for; see evaluate_model.
  static evaluated_model evaluate(const model_file& file, const dataset& images);
};

}  // namespace narrow_train
