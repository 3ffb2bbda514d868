// The learning rate over a run.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "files/saved_state.hpp"

namespace narrow_train {

struct schedule_settings;

/// How long a run is, and its rate at the start.
struct run_length {
  float rate;
  int epochs;
  std::uint64_t steps_per_epoch;
};

/// The learning rate of every step. It depends on the steps done alone, save where a schedule looks at the
/// loss.
class schedule : public saved_state {
 public:
  /// The rate of the next step, after `done` steps.
  [[nodiscard]] virtual float rate(std::uint64_t done) const = 0;

  /// After each epoch, with the mean of its training losses.
  virtual void epoch_done(float /*loss*/) {}

  void save(std::ostream&) const override {}
  void load(std::istream&) override {}
};

/// Which of the settings a schedule makes use of.
struct schedule_uses {
  bool decay = false, milestones = false, factor = false, patience = false;
  bool epochs = false;  // their number: with more of them the rates differ from the start
};

/// A schedule that can be named on the command line.
struct schedule_kind {
  std::string_view name;
  std::string_view description;  // for --help
  schedule_uses uses;
  std::unique_ptr<schedule> (*make)(const schedule_settings&, const run_length&);
};

/// Every schedule; the first is the default.
///
/// decay    The rate is multiplied by `decay` after each epoch.
/// step     It is multiplied by `factor` at each milestone, to the step: with the defaults at half and at
///          three quarters, as He et al., Deep Residual Learning (2015), section 4.2.
/// cosine   rate (1 + cos(pi t / T)) / 2 at step t of T: Loshchilov and Hutter, SGDR (2017), section 3, with
///          one cycle and no lower bound; by step, not by epoch.
/// plateau  It is multiplied by `factor` after more than `patience` epochs in a row whose training loss was
///          not below 0.9999 of the lowest; the rules of PyTorch's ReduceLROnPlateau.
std::span<const schedule_kind> schedules();

struct schedule_settings {
  const schedule_kind* kind = &schedules().front();
  float decay = 0.6f;
  std::vector<double> milestones{0.5, 0.75};  // shares of the run, ascending
  float factor = 0.1f;
  int patience = 2;
  double warmup = 0;  // epochs
};

/// The schedule that is asked for. In the first `warmup` epochs step t of W has the share (t + 1) / W of its
/// rate: Goyal et al., Accurate, Large Minibatch SGD (2017), section 2.2.
std::unique_ptr<schedule> make_schedule(const schedule_settings& settings, const run_length& run);

}  // namespace narrow_train
