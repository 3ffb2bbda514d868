// The operands of a layer in the formats of a recipe, and the three products with them.
#pragma once

#include <narrow/train/adaptive_clip.hpp>
#include <optional>

#include "operands/block_operand.hpp"
#include "operands/window_grid.hpp"

namespace narrow_train {

/// The operands beside the weights. Its state is what the next steps depend on.
class layer_operands : public saved_state {
 public:
  /// `layer`: its format at the moment, for recipes that switch.
  layer_operands(const recipe& how, const std::shared_ptr<const layer_format>& layer);

  /// Forward: the layer's input (features x batch).
  const block_operand& assign_x(const fp32_matrix& x);
  /// For the weight gradient, which ends a step: the input of the last `assign_x`, and the gradient of the
  /// layer's output (features x batch), of which `channels` lie side by side. If the input gradient is
  /// wanted, both operands that formats make of dy come of one pass over it, where they can.
  struct of_batch {
    block_matrix x;
    block_matrix dy;  // (channels x all others)
  };
  of_batch assign_batch(const fp32_matrix& x, const fp32_matrix& dy, Eigen::Index channels,
                        input_gradient wanted);
  /// For the input gradient: dy as in the last `assign_batch`.
  const block_operand& assign_dy(const fp32_matrix& dy);

  /// What the last `assign_batch` clipped dy by, for the layer or for each channel, if `clip` is adaptive.
  [[nodiscard]] std::span<const float> clips() const {
    return clip_ ? clip_->clips() : std::span<const float>();
  }

  void save(std::ostream& out) const override;
  void load(std::istream& in) override;
  void save_for_inference(std::ostream& out) const override { x_->save_held_scale(out); }
  void load_for_inference(std::istream& in) override { x_->load_held_scale(in); }

  /// Scales of the operands of the last products: for tests.
  struct scale_counts {
    std::size_t x, dy, batch_x, batch_dy;
  };
  [[nodiscard]] scale_counts scales() const;

 private:
  void assign_batch_dy(const fp32_matrix& dy, Eigen::Index channels, input_gradient wanted);

  recipe::backward_products backward_;
  std::unique_ptr<block_operand> x_, dy_;
  std::unique_ptr<block_operand> batch_x_, batch_dy_;  // null: as those
  bool has_dy_ = false;                                // whether dy_ was assigned with batch_dy_
  std::optional<narrow::adaptive_clip> clip_;
  fp32_matrix values_;  // scratch
};

/// For a layer with weights W (outputs x inputs) that computes Y = W X: a sample is one column of X, or, in a
/// convolution, the columns of its windows. Samples are quantised before their windows are laid out, which
/// then are integers.
///
/// The input gradient of a convolution is one over the windows of dY. Where weights are quantised in tiles it
/// has tiles of its own: the weights as they are stored, in its order, are rounded to them once more.
class block_products {
 public:
  /// `grid`: the windows of a convolution, or nothing. `layer`: its format at the moment, for recipes that
  /// switch.
  block_products(const recipe& how, const std::optional<window_grid>& grid,
                 const std::shared_ptr<const layer_format>& layer);

  /// sums = W columns(x), as (outputs of a sample x batch); x (features x batch).
  void forward(const block_operand& weights, const fp32_matrix& x, fp32_matrix& sums);
  /// gradient = dy columns(x)^T; dy (outputs of a sample x batch), x as in the last `forward`. Ends a step.
  /// `wanted`: whether `input_gradient` follows.
  void weight_gradient(const fp32_matrix& dy, const fp32_matrix& x, fp32_matrix& gradient,
                       input_gradient wanted);
  /// dx = W^T dy, as x; dy as in the last `weight_gradient`.
  void input_gradient(const block_operand& weights, const fp32_matrix& dy, fp32_matrix& dx);

  [[nodiscard]] layer_operands& operands() { return operands_; }

 private:
  block_matrix backward_weights(const block_operand& weights);

  recipe::product_output output_;
  std::optional<window_grid> grid_;
  layer_operands operands_;
  std::unique_ptr<block_operand> backward_weights_;  // null: those of the forward pass
  fp32_matrix values_, turned_;                      // scratch
};

}  // namespace narrow_train
