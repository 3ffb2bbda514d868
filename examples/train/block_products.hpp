// The three products of a layer, forward and backward, on operands in a block format.
#pragma once

#include <optional>

#include "block_operand.hpp"
#include "layers/window_grid.hpp"

namespace narrow_train {

/// For a layer with weights W (outputs x inputs) that computes Y = W X: a sample is one column of X, or, in a
/// convolution, the columns of its windows. Samples are quantised before their windows are laid out, which
/// then are integers.
class block_products {
 public:
  /// `grid`: the windows of a convolution, or nothing.
  block_products(const block_recipe& recipe, const std::optional<window_grid>& grid);

  /// sums = W columns(x), x (features x batch).
  void forward(const block_operand& weights, const fp32_matrix& x, fp32_matrix& sums);
  /// gradient = dy columns(x)^T; dy (outputs, for every column of a sample, x batch), x as in `forward`.
  void weight_gradient(const fp32_matrix& dy, const fp32_matrix& x, fp32_matrix& gradient);
  /// dcolumns = W^T dy.
  void input_gradient(const block_operand& weights, const fp32_matrix& dy, fp32_matrix& dcolumns);

  /// Scales of the operands of the last products: for tests.
  struct scale_counts {
    std::size_t x, dy, batch_x, batch_dy;
  };
  [[nodiscard]] scale_counts scales() const;

 private:
  /// A matrix (features x batch) as columns, `rows` elements each.
  block_matrix laid_out(const block_operand& samples, Eigen::Index rows);
  block_matrix windows_of(const block_operand& samples);

  std::optional<window_grid> grid_;
  std::unique_ptr<block_operand> x_, dy_, batch_x_, batch_dy_;
  matrix<std::int8_t> bytes_;  // windows laid out
  matrix<std::int16_t> words_;
};

}  // namespace narrow_train
