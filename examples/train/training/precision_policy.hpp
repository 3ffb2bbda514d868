// Formats that layers change while they train.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <narrow/train/cost_model.hpp>
#include <narrow/train/precision_switch.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "operands/recipe.hpp"
#include "tensor/tensor.hpp"

namespace narrow_train {

/// What a policy sees of a layer in a step.
struct switched_layer {
  std::string name;
  const fp32_matrix& master;    // the fp32 weights
  const fp32_matrix& gradient;  // of the loss and its regularisation by them, unscaled
  layer_format& format;         // that the weights and what meets them are rounded to
  double operations;            // of the forward pass
};

/// A layer's format from a step on.
struct format_change {
  std::uint64_t step;
  std::string layer;
  layer_format format;
  double lookback, diversity;  // of MARViN; else 0
  int resolution;
  double loss;  // of that step
};

class precision_policy {
 public:
  virtual ~precision_policy() = default;

  /// What the gradient of a layer is to be multiplied by in an update; nothing where there is to be none.
  using factor = std::optional<float>;
  /// To be called before the update of a step with this loss. May change formats, for the weights that
  /// follow. Returns the factor of each layer.
  virtual std::vector<factor> before_update(std::span<switched_layer> layers, double loss) = 0;
  /// The factor for the gradient of a tensor that is not quantised.
  [[nodiscard]] virtual float unswitched_factor(const fp32_matrix& gradient) const = 0;
  /// To be called after the last step of an epoch.
  virtual void epoch_done() = 0;

  virtual void save(std::ostream& out) const = 0;
  virtual void load(std::istream& in) = 0;

  /// The changes since the beginning, the first formats included.
  [[nodiscard]] const std::vector<format_change>& changes() const { return changes_; }
  /// What the steps so far would cost on hardware whose time grows with word lengths.
  [[nodiscard]] const narrow::cost_model& costs() const { return costs_; }
  /// What the steps so far would cost in fp32.
  [[nodiscard]] const narrow::cost_model& costs_in_fp32() const { return costs_in_fp32_; }
  /// How many forward passes of layers so far ran in words of at most 8 bits, of at most 16, of more, and in
  /// fp32.
  struct word_counts {
    std::uint64_t bytes = 0, halves = 0, wide = 0, fp32 = 0;
  };
  [[nodiscard]] const word_counts& words() const { return words_; }

 protected:
  void count(std::span<const switched_layer> layers, std::span<const double> lookbacks);
  void save_past(std::ostream& out) const;
  void load_past(std::istream& in);

  std::vector<format_change> changes_;
  narrow::cost_model costs_, costs_in_fp32_;
  word_counts words_;
};

/// Null for recipes that do not switch. Throws std::invalid_argument where an option is out of range.
std::unique_ptr<precision_policy> make_policy(recipe::precision kind,
                                              const narrow::precision_switch_options& options, int batch);

}  // namespace narrow_train
