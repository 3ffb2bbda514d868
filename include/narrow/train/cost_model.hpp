// What training in short words would cost on hardware whose time grows with their length: a model, not a
// measurement.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>

#include "../runtime/environment.hpp"
#include "counts.hpp"
#include "parameter.hpp"
#include "state_io.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI {

/// What is the same for every step of a `cost_model`.
struct cost_model_options {
  double batch_size = 1;          ///< of a step, in [1, 1e30]
  double accumulation_steps = 1;  ///< gradients that are added before an update, in [1, 1e30]
  double max_lookback = 100;      ///< steps, in [1, 1e30]: of the switching that costs extra
  double max_resolution = 150;    ///< bins, in [2, 1e30]

  friend bool operator==(const cost_model_options&, const cost_model_options&) = default;
};

/// What the model has to know of a layer in one step.
struct layer_cost {
  double operations = 0;  ///< multiplications and additions of its forward pass, in [0, 1e30]
  int word_length = 32;   ///< bits of its weights, in [1, 32]
  double weights = 0;     ///< how many, in [0, 1e30]
  double lookback = 0;    ///< steps between switches of its format, in [1, 1e30]; 0: it does not switch
};

/// The cost model of MARViN: the operations of a step are charged with the word length of the forward pass
/// and 32 bits for the backward pass, in fp32.
///
/// Costs   sum over steps and layers of operations (word_length + 32) + overhead; the overhead of a layer that
///         switches is 32 (PushDown + PushUp) / lookback, with 2 log2(32 - 8) max_resolution 3 weights and
///         (max_lookback + 1) weights + 1 operations. At 8 bits, without overhead, a step costs 40 / 64 of
///         one in fp32: the model gains at most 1.6.
/// Memory  the paper adds the word lengths of the layers; here each counts as often as the layer has weights.
/// Source  Kummer et al., "MARViN" (arXiv:2107.13490, 2021), the experiments' performance model.
class cost_model : detail::streamable<cost_model> {
 public:
  cost_model() = default;

  /// Throws std::invalid_argument naming the option that is out of range.
  explicit cost_model(const cost_model_options& options) : options_(options) {
    detail::saved_state::check(*this);
  }

  const cost_model_options& options() const { return options_; }

  /// Adds a step. Throws std::invalid_argument naming what is out of range; nothing is then added.
  void step(std::span<const layer_cost> layers) {
    detail::with_float_environment([&] { add(layers); });
  }

  /// How many steps were added.
  std::uint64_t steps() const { return steps_; }

  /// The costs of all steps, in operations times bits; `overhead()` is a part of them.
  double costs() const {
    return detail::with_float_environment([&] { return operations_ + overhead_; });
  }
  /// What switching formats costs in all steps, in operations times bits.
  double overhead() const { return overhead_; }

  /// Bits of the weights in the last step: of the model, at the end.
  double size() const { return size_; }

  /// Bits of the weights and their fp32 master copies, the mean of all steps; 0 before the first.
  double memory() const {
    return detail::with_float_environment(
        [&] { return steps_ == 0 ? 0.0 : memory_ / static_cast<double>(steps_); });
  }

  /// How many times as fast as `other` this run is: bs_o accs_o costs_o / (bs accs costs). Both have steps.
  double speed_up_over(const cost_model& other) const {
    return detail::with_float_environment([&] { return other.weighted_costs() / weighted_costs(); });
  }

  friend bool operator==(const cost_model&, const cost_model&) = default;

 private:
  friend detail::saved_state;

  static constexpr double max_value = 1e30;  // of an argument, so that no sum of products overflows

  void add(std::span<const layer_cost> layers) {
    constexpr double backward_bits = 32;
    double operations = 0, overhead = 0, size = 0, memory = 0;
    for (const auto& layer : layers) {
      check(layer);
      operations += detail::uncontracted(layer.operations * (layer.word_length + backward_bits));
      size += detail::uncontracted(layer.weights * layer.word_length);
      memory += detail::uncontracted(layer.weights * (layer.word_length + backward_bits));
      if (layer.lookback == 0) continue;
      const double push_down = 2 * std::log2(32.0 - 8) * options_.max_resolution * 3 * layer.weights;
      const double push_up = detail::uncontracted((options_.max_lookback + 1) * layer.weights) + 1;
      overhead += detail::uncontracted(backward_bits * (push_down + push_up)) / layer.lookback;
    }
    operations_ += operations;
    overhead_ += overhead;
    size_ = size;
    memory_ += memory;
    ++steps_;
  }

  static void check(const layer_cost& layer) {
    const auto check = [](std::string_view name, auto value, double low, double high) {
      detail::check_parameter(state_type(), name, value, detail::within(low, high));
    };
    check("operations", layer.operations, 0, max_value);
    check("word_length", layer.word_length, 1, 32);
    check("weights", layer.weights, 0, max_value);
    if (layer.lookback != 0) check("lookback", layer.lookback, 1, max_value);
  }

  double weighted_costs() const {
    return options_.batch_size * options_.accumulation_steps * (operations_ + overhead_);
  }

  static std::string state_type() { return "narrow::cost_model"; }

  template <class Field, class Self> static void fields(Field& field, Self& self) {
    using detail::within;
    auto& o = self.options_;
    field("batch_size", o.batch_size, within(1, max_value));
    field("accumulation_steps", o.accumulation_steps, within(1, max_value));
    field("max_lookback", o.max_lookback, within(1, max_value));
    field("max_resolution", o.max_resolution, within(2, max_value));
    field("steps", self.steps_, within(0, detail::max_count));
    const auto sum = within(0, self.steps_ == 0 ? 0.0 : std::numeric_limits<double>::max());
    field("operations", self.operations_, sum);
    field("overhead", self.overhead_, sum);
    field("size", self.size_, sum);
    field("memory", self.memory_, sum);
  }

  cost_model_options options_;
  std::uint64_t steps_ = 0;
  double operations_ = 0, overhead_ = 0;  // sums over all steps, in operations times bits
  double size_ = 0;                       // bits, in the last step
  double memory_ = 0;                     // bits, a sum over all steps
};

}  // namespace narrow

NARROW_STRICT_END
