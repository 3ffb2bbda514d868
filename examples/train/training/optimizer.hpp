// How a gradient becomes a step. All of it in fp32, whatever the weights are stored in.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "files/saved_state.hpp"
#include "tensor/tensor.hpp"

namespace narrow_train {

struct optimizer_settings {
  float rate = 0;         // > 0
  float momentum = 0.9f;  // SGD and Nesterov: decay of the velocity
  float weight_decay =
      0;  // added to the gradient of each weight (no bias, gamma, beta), times the weight: L2
};

/// What an optimiser remembers of one parameter tensor. Empty until its first step.
struct moments {
  fp32_matrix first;   // SGD: velocity; Adam: mean of the gradient
  fp32_matrix second;  // Adam: mean of its square

  void save(std::ostream& out) const;
  /// Takes over what `save` wrote of the moments of a tensor (rows x columns). Throws std::runtime_error for
  /// anything else.
  void load(std::istream& in, Eigen::Index rows, Eigen::Index columns);
};

class optimizer {
 public:
  explicit optimizer(const optimizer_settings& settings) : settings_(settings) {}
  virtual ~optimizer() = default;

  /// Once a step, before its tensors: time counts steps, not tensors.
  void begin_step() { ++time_; }

  /// A step of a tensor (any shape) whose gradient is `factor` times this one.
  virtual void update(moments& state, const fp32_matrix& gradient, float factor,
                      fp32_matrix& weights) const = 0;

  /// Learning rate of the next steps.
  void set_rate(float rate) { settings_.rate = rate; }

  [[nodiscard]] const optimizer_settings& settings() const { return settings_; }
  /// Steps so far.
  [[nodiscard]] std::int64_t time() const { return time_; }
  void set_time(std::int64_t steps) { time_ = steps; }

 private:
  optimizer_settings settings_;
  std::int64_t time_ = 0;
};

/// An optimiser that can be named on the command line.
struct optimizer_kind {
  std::string_view name;
  std::string_view description;  // for --help
  float usual_rate;              // a good start for the models and data here, batch 32
  std::unique_ptr<optimizer> (*make)(const optimizer_settings&);
};

/// Every optimiser; the first is the default.
std::span<const optimizer_kind> optimizers();

}  // namespace narrow_train
