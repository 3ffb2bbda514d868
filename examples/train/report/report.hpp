// What the user sees: progress while the runs go on, the curves as a file, a table at the end.
#pragma once

#include <chrono>
#include <filesystem>
#include <iosfwd>
#include <mutex>
#include <string>
#include <vector>

#include "options/options.hpp"

namespace narrow_train {

/// One of the runs that the command line asks for: a format and a seed.
struct run {
  const format* kind;
  std::uint64_t seed;
  training_result result;
  bool complete = false;
};

/// A file that --eval names, and what came of it.
struct evaluated_file {
  model_file model;
  evaluated_model outcome;
};

/// Progress of all runs together, on stderr: a line that renews itself on a terminal, else one line for each
/// epoch. Runs may report from several threads at once.
class progress {
 public:
  /// `total_images` that all runs together will train on; `tested`: which images accuracies are of.
  explicit progress(std::size_t total_images, std::string_view tested = "test");

  /// The observer of one run, which must not outlive this object.
  class run_observer final : public observer {
   public:
    run_observer(progress& all, const run& described, int epochs, std::size_t images_per_epoch);
    void batch_done(std::size_t images, float loss, float scale, std::uint64_t skipped) override;
    void epoch_done(const curve_point& point) override;
    void epochs_left_out(int count) override;

   private:
    progress& all_;
    std::string name_;
    int epochs_;
    std::size_t images_per_epoch_;
    std::size_t images_done_ = 0;
  };

 private:
  using clock = std::chrono::steady_clock;

  void erase_line();

  std::mutex mutex_;
  bool terminal_;
  std::string tested_;
  std::size_t total_;
  std::size_t done_ = 0;
  clock::time_point start_ = clock::now();
  clock::time_point last_line_ = start_;
};

/// Writes the curves of the complete runs. The file appears whole or not at all; throws data_error naming it.
void write_csv(const std::filesystem::path& path, const std::vector<run>& runs);

/// Writes the formats that layers of the complete runs switched to, one line for each change. The file
/// appears whole or not at all; throws data_error naming it.
void write_switches(const std::filesystem::path& path, const std::vector<run>& runs);

/// Writes what was found in the tensors of the complete runs: one line for each statistic, the numbers of a
/// histogram separated by spaces. The file appears whole or not at all; throws data_error naming it.
void write_statistics(const std::filesystem::path& path, const std::vector<run>& runs);

/// One line for each format, the mean over its seeds, marked where runs diverged; then which, where gradients
/// overflowed, how many losses were not finite, and `untrained` of each run. `tested`: which images
/// accuracies are of.
void print_table(std::ostream& out, const std::vector<run>& runs, std::string_view tested = "test");

/// One line that says how many steps of a run changed nothing, and why, where that is more than half of them;
/// else nothing. A dynamic loss scale skips a few steps until it fits, which is nothing to say.
std::string untrained(const run& r);
/// Whether no step of a run changed anything by a gradient, or it diverged.
bool trained_nothing(const run& r);

/// The models that the runs wrote, one a line, and how large they are; `settings`: of the runs.
void print_models(std::ostream& out, const std::vector<run>& runs, const training_settings& settings);

/// One line for each file: test accuracy and sizes.
void print_evaluations(std::ostream& out, const std::vector<evaluated_file>& files);

}  // namespace narrow_train
