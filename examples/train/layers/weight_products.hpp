// The weights of a layer and the three products with them, for the layers that compute Y = W X.
#pragma once

#include "layer.hpp"
#include "window_grid.hpp"

namespace narrow_train {

/// Sums over each row of m, in fp32, one column after another as they lie in memory.
template <class Matrix> void sum_of_columns(const Matrix& m, fp32_matrix& sums) {
  sums.setZero(m.rows(), 1);
  for (Eigen::Index j = 0; j < m.cols(); ++j) sums += m.col(j).template cast<float>();
}

/// X is the batch (features x batch), or in a convolution the windows of its images, one a column.
template <class S> class weight_products {
 public:
  /// Weights (outputs x inputs) start at zero. `grid`: the windows of a convolution, or nothing.
  weight_products(Eigen::Index outputs, Eigen::Index inputs, const product_settings& settings,
                  const std::optional<window_grid>& grid = {})
      : outputs_(outputs), mode_(settings.sums), grid_(grid) {
    if (settings.blocks) {
      if (!std::is_same_v<S, float>) throw std::invalid_argument("block formats have fp32 tensors");
      weights_.block =
          make_operand(*settings.blocks, settings.blocks->weights, settings.blocks->weight_scales);
      blocks_.emplace(*settings.blocks, grid);
    }
    weights_.store(fp32_matrix::Zero(outputs, inputs));
  }

  [[nodiscard]] Eigen::Index outputs() const { return outputs_; }
  [[nodiscard]] parameter<S>& weights() { return weights_; }
  [[nodiscard]] std::size_t activation_bytes() const { return bytes_of(columns_); }

  /// sums = W X.
  void forward(const matrix<S>& x, fp32_matrix& sums) {
    if constexpr (std::is_same_v<S, float>)
      if (blocks_) return blocks_->forward(*weights_.block, x, sums);
    if (grid_) image_to_columns(*grid_, x, columns_);
    multiply(mode_, sums, weights_.value, laid_out(x));
  }

  /// Sets the weights' gradient, dY X^T; x as in the last `forward`, dy the output's gradient.
  void backward(const matrix<S>& x, const matrix<S>& dy) {
    if constexpr (std::is_same_v<S, float>)
      if (blocks_) return blocks_->weight_gradient(dy, x, weights_.gradient);
    multiply(mode_, weights_.gradient, by_outputs(dy), laid_out(x).transpose());
  }

  /// dx = W^T dY, a column for each column of X.
  template <class Out> void input_gradient(const matrix<S>& dy, Out& dx) {
    if constexpr (std::is_same_v<S, float>)
      if (blocks_) return blocks_->input_gradient(*weights_.block, dy, dx);
    multiply(mode_, dx, weights_.value.transpose(), by_outputs(dy));
  }

  /// A gradient as (outputs x columns of X).
  [[nodiscard]] auto by_outputs(const matrix<S>& dy) const {
    return Eigen::Map<const matrix<S>>(dy.data(), outputs_, dy.size() / outputs_);
  }

 private:
  [[nodiscard]] const matrix<S>& laid_out(const matrix<S>& x) const { return grid_ ? columns_ : x; }

  Eigen::Index outputs_;
  accumulation mode_;
  std::optional<window_grid> grid_;
  parameter<S> weights_;
  matrix<S> columns_;  // (window size x windows * batch)
  std::optional<block_products> blocks_;
};

}  // namespace narrow_train
