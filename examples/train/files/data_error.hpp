#pragma once

#include <stdexcept>

namespace narrow_train {

/// A file that is missing, cut short or not what its place says. The message names the file.
struct data_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace narrow_train
