// What a training run gives, and to whom it reports. How it trains is in trainee.hpp and train_network.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "training/model_file.hpp"
#include "training/precision_policy.hpp"
#include "training/settings.hpp"

namespace narrow_train {

/// The state of a run after an epoch.
struct curve_point {
  int epoch;              // counted from 1
  std::uint64_t step;     // steps so far, skipped ones included
  float loss;             // mean cross-entropy over the epoch's training images, unscaled and unweighted, but
                          // for batches where it was not finite; NaN if it never was
  double accuracy;        // on the test images, in [0, 1]
  float rate;             // learning rate of the last step
  float scale;            // loss scale of the next step
  std::uint64_t skipped;  // steps without update so far
  std::uint64_t nonfinite;  // batches so far whose loss was infinite or NaN
  double seconds;           // of training so far, without the tests
  std::uint64_t lost = 0;   // steps so far in which the gradients of all weights were zero
};

/// How many steps so far changed the weights by a gradient.
inline std::uint64_t updates(const curve_point& p) { return p.step - p.skipped - p.lost; }

using overflow_counts = std::map<std::string, std::uint64_t, std::less<>>;

struct training_result {
  std::vector<curve_point> curve;
  std::size_t weight_bytes = 0;      // parameters as the layers hold them
  std::size_t master_bytes = 0;      // fp32 copy of the weights
  std::size_t activation_bytes = 0;  // kept from forward to backward, for a full batch
  overflow_counts overflows;         // steps in which a tensor's gradient overflowed, where there were any
  // What became of the formats, in recipes that switch them; see precision_policy.
  std::vector<format_change> formats = {};
  precision_policy::word_counts words = {};
  narrow::cost_model costs = {}, costs_in_fp32 = {};
  std::vector<statistic> statistics = {};  // of the steps that were looked at
  std::string diverged = {};               // why training ended before its last epoch; empty: it did not
  // (classes x test images), after the last epoch; empty if that was not trained now.
  fp32_matrix logits = {};
  std::optional<model_size> exported = {};
  std::string other_build = {};  // that wrote the checkpoint which the run starts from; empty: this one
};

/// Where the checkpoint of a run lies.
std::filesystem::path checkpoint_path(const training_settings& settings, std::uint64_t seed);

/// The curve and the end of a result, as a part of a checkpoint. `load` throws for more epochs than the
/// settings ask for.
saved_part part_of(training_result& result, const training_settings& settings);

/// Whether a run starts from its checkpoint: the settings ask for it, and there is one.
bool continues(const training_settings& settings, std::uint64_t seed);

/// What that checkpoint says of the run's past. Throws data_error where it cannot be used.
std::optional<training_result> resumable(const training_settings& settings, const train_and_test& data,
                                         std::uint64_t seed);

/// Is told how far a run has come.
class observer {
 public:
  virtual ~observer() = default;
  virtual void batch_done(std::size_t images, float loss, float scale, std::uint64_t skipped) = 0;
  virtual void epoch_done(const curve_point& point) = 0;
  /// Says that `count` epochs will not be trained: a checkpoint has them, or the run diverged before.
  virtual void epochs_left_out([[maybe_unused]] int count) {}
};

/// A network that is trained on one batch again and again, its format forgotten.
class stepper {
 public:
  virtual ~stepper() = default;
  virtual void step() = 0;
  /// What the cost model gives for the products of the steps so far; nothing where formats do not switch. Not
  /// of what switching costs, which it charges for each image: of dense layers, whose weights take part once
  /// in an image, many times the products.
  [[nodiscard]] virtual std::optional<double> modelled_speed_up() = 0;
};

}  // namespace narrow_train
