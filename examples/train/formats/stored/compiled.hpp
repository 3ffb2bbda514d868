// What stored_format does. Only the source files beside this one include it, and each instantiates one
// format: formats compile side by side, and a new one costs its own compilation only.
#pragma once

#include "formats/stored_format.hpp"
#include "training/train_network.hpp"

namespace narrow_train {

template <class S>
training_result stored_format<S>::train(const training_settings& settings, const train_and_test& data,
                                        std::uint64_t seed, observer& watcher) {
  return train_network<S>(settings, data, seed, watcher);
}

template <class S>
std::unique_ptr<stepper> stored_format<S>::prepare(const training_settings& settings, const dataset& batch) {
  return std::make_unique<stepper_of<S>>(settings, batch);
}

template <class S> evaluated_model stored_format<S>::evaluate(const model_file& file, const dataset& images) {
  return evaluate_model<S>(file, images);
}

}  // namespace narrow_train
