// The storage formats by name, with their types forgotten.
#pragma once

#include <span>
#include <string_view>

#include "training.hpp"

namespace narrow_train {

struct format {
  std::string_view name;
  /// train_network<S> for the format's S.
  training_result (*train)(const training_settings&, const train_and_test&, std::uint64_t seed, observer&);
};

/// Every format in formats.inc, in its order.
std::span<const format> formats();

}  // namespace narrow_train
