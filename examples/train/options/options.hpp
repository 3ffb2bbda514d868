// The command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "data/dataset.hpp"
#include "formats/formats.hpp"
#include "training/settings.hpp"

namespace narrow_train {

struct options {
  training_settings training;
  std::vector<const format*> formats;  // in the order given
  std::vector<std::uint64_t> seeds{1};
  const source* data = &sources().front();
  std::filesystem::path folder;  // of the data, empty for drawn digits
  std::size_t validation = 0;    // training images that are held out, and tested in place of the test images
  std::size_t limit = 0;         // of training images; 0: none
  std::filesystem::path csv;     // empty: none
  std::filesystem::path switches;             // empty: none
  std::filesystem::path statistics;           // empty: none
  std::vector<std::filesystem::path> models;  // to evaluate; empty: the runs are trained
  int jobs = 1;                               // runs at a time
  int threads = 1;                            // of each

  /// Which images accuracies are of.
  [[nodiscard]] std::string_view tested() const { return validation > 0 ? "validation" : "test"; }
};

/// Reads the command line. Where that ends the program (help, or a mistake, told on stderr in one line with
/// the option and its value), `exit_code` gets its code and nothing is returned.
std::optional<options> parse(int argc, const char* const* argv, int& exit_code);

}  // namespace narrow_train
