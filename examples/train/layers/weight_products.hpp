// The weights of a layer and the three products with them, for the layers that compute Y = W X.
#pragma once

#include "layers/channel_sums.hpp"
#include "layers/layer.hpp"
#include "operands/window_grid.hpp"

namespace narrow_train {

/// X is the batch (features x batch), or in a convolution the windows of its images, one a column.
template <class S> class weight_products {
 public:
  /// Weights (outputs x inputs) start at zero. `grid`: the windows of a convolution, or nothing.
  weight_products(Eigen::Index outputs, Eigen::Index inputs, const product_settings& settings,
                  const std::optional<window_grid>& grid = {})
      : outputs_(outputs), mode_(settings.sums), grid_(grid), watch_(settings.watch) {
    if (settings.quantised) {
      if (!std::is_same_v<S, float>) throw std::invalid_argument("quantised operands have fp32 tensors");
      if constexpr (std::is_same_v<S, float>) make_quantised(weights_, *settings.quantised);
      quantised_.emplace(*settings.quantised, grid, weights_.format);
    }
    weights_.operations = 2.0 * static_cast<double>(outputs * inputs) * (grid ? grid->count() : 1);
    weights_.store(fp32_matrix::Zero(outputs, inputs));
  }

  [[nodiscard]] Eigen::Index outputs() const { return outputs_; }
  void collect(parameter_list<S>& all) {
    all.weights.push_back(&weights_);
    if (quantised_) all.states.push_back(&quantised_->operands());
  }

  /// sums = W X, as (outputs of a sample x batch).
  void forward(const matrix<S>& x, fp32_matrix& sums) {
    if constexpr (std::is_same_v<S, float>)
      if (quantised_) return quantised_->forward(*weights_.block, x, sums);
    if (grid_)
      multiply_windows(*grid_, weights_.value, x, sums);
    else
      multiply(mode_, sums, weights_.value, x);
  }

  /// Sets the weights' gradient, dY X^T; x as in the last `forward`, dy the output's gradient. `wanted`:
  /// whether `input_gradient` follows.
  void backward(const matrix<S>& x, const matrix<S>& dy, narrow_train::input_gradient wanted) {
    set_gradient(x, dy, wanted);
    if (watch_)
      watch_->gradients(weights_.name, x, dy, outputs_, weights_.gradient,
                        quantised_ ? quantised_->operands().clips() : std::span<const float>());
  }

  /// dx = W^T dY, as x; of a convolution in fp32.
  template <class Out> void input_gradient(const matrix<S>& dy, Out& dx) {
    if constexpr (std::is_same_v<S, float>)
      if (quantised_) return quantised_->input_gradient(*weights_.block, dy, dx);
    if constexpr (std::is_same_v<Out, fp32_matrix>)
      if (grid_) {
        turn_weights(*grid_, weights_.value, turned_);
        return multiply_windows(grid_->transposed(static_cast<int>(outputs_)), turned_, dy, dx);
      }
    multiply(mode_, dx, weights_.value.transpose(), dy);
  }

  /// A gradient as (outputs x columns of X).
  [[nodiscard]] auto by_outputs(const matrix<S>& dy) const {
    return Eigen::Map<const matrix<S>>(dy.data(), outputs_, dy.size() / outputs_);
  }

 private:
  void set_gradient(const matrix<S>& x, const matrix<S>& dy, narrow_train::input_gradient wanted) {
    if constexpr (std::is_same_v<S, float>)
      if (quantised_) return quantised_->weight_gradient(dy, x, weights_.gradient, wanted);
    if (!grid_) return multiply(mode_, weights_.gradient, dy, x.transpose());
    const auto gradients = by_outputs(dy);
    timed(work::products, [&] {
      if (one_sum()) {
        window_layout<S> layout(*grid_);
        multiply_narrow(weights_.gradient, gradients, layout(x.data(), x.cols()).transpose());
        return;
      }
      sums_of_groups sums(outputs_, grid_->window_size());
      for_each_layout(*grid_, x.data(), x.cols(),
                      [&](int group, Eigen::Index first, Eigen::Index count, const auto& columns) {
                        const auto some =
                            gradients.middleCols(first * grid_->count(), count * grid_->count());
                        sums.of(group).noalias() += some * columns.transpose();
                      });
      weights_.gradient = sums.total().template cast<S>();
    });
  }

  /// Whether every addition is rounded to S, those of different images too.
  [[nodiscard]] bool one_sum() const { return mode_ == accumulation::narrow && !std::is_same_v<S, float>; }

  /// out = weights * windows of x, as (outputs of a sample x batch).
  void multiply_windows(const window_grid& grid, const matrix<S>& weights, const matrix<S>& x,
                        fp32_matrix& out) {
    out.resize(weights.rows() * grid.count(), x.cols());
    const auto outputs = [&](Eigen::Index first, Eigen::Index count) {
      return Eigen::Map<fp32_matrix>(out.col(first).data(), weights.rows(), grid.count() * count);
    };
    timed(work::products, [&] {
      if (one_sum()) {
        window_layout<S> layout(grid);
        auto all = outputs(0, x.cols());
        multiply_narrow(all, weights, layout(x.data(), x.cols()));
        return;
      }
      for_each_layout(grid, x.data(), x.cols(),
                      [&](int, Eigen::Index first, Eigen::Index count, const auto& columns) {
                        outputs(first, count).noalias() = weights * columns;
                      });
    });
  }

  Eigen::Index outputs_;
  accumulation mode_;
  std::optional<window_grid> grid_;
  std::shared_ptr<tensor_watch> watch_;
  parameter<S> weights_;
  matrix<S> turned_;  // scratch: weights for the input gradient of a convolution
  std::optional<block_products> quantised_;
};

}  // namespace narrow_train
