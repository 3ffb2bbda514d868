// Two-dimensional convolution, zero padding, as one matrix product for the whole batch.
#pragma once

#include "weight_products.hpp"

namespace narrow_train {

/// The transpose of that: adds every element of the windows to the pixel that it was copied from.
inline void columns_to_image(const window_grid& grid, const fp32_matrix& columns, fp32_matrix& x) {
  x.setZero(grid.image.size(), columns.cols() / grid.count());
  for (Eigen::Index n = 0; n < x.cols(); ++n) {
    const float* const from = columns.col(n * grid.count()).data();
    float* const to = x.col(n).data();
    grid.for_each_run([&](Eigen::Index in_window, Eigen::Index in_image, Eigen::Index length) {
      for (Eigen::Index i = 0; i < length; ++i) to[in_image + i] += from[in_window + i];
    });
  }
}

template <class S> class convolution final : public layer<S> {
 public:
  /// Weights and biases start at zero.
  convolution(const window_grid& grid, int channels, const product_settings& settings,
              bias_term bias = bias_term::present)
      : grid_(grid), products_(channels, grid.window_size(), settings, grid) {
    if (bias == bias_term::present) bias_.value = fp32_matrix::Zero(channels, 1);
    bias_.kind = "biases";
  }

  [[nodiscard]] image_shape output_shape() const {
    return {grid_.rows(), grid_.columns(), static_cast<int>(products_.outputs())};
  }

  const matrix<S>& forward(const matrix<S>& x) override {
    products_.forward(x, sums_);
    if (has_bias()) sums_.colwise() += bias_.value.col(0);
    y_ = sums_.reshaped(output_shape().size(), x.cols()).template cast<S>();
    return y_;
  }

  const matrix<S>& backward(const matrix<S>& x, const matrix<S>& dy, input_gradient wanted) override {
    products_.backward(x, dy);
    if (has_bias()) sum_of_columns(products_.by_outputs(dy), bias_.gradient);
    if (wanted == input_gradient::wanted) {
      products_.input_gradient(dy, column_sums_);
      columns_to_image(grid_, column_sums_, dx_sums_);
      dx_ = dx_sums_.template cast<S>();
    }
    return dx_;
  }

  void collect(parameter_list<S>& all) override {
    all.weights.push_back(&products_.weights());
    if (has_bias()) all.per_channel.push_back(&bias_);
  }

  [[nodiscard]] std::size_t activation_bytes() const override {
    return products_.activation_bytes() + bytes_of(y_);
  }

 private:
  [[nodiscard]] bool has_bias() const { return bias_.value.size() > 0; }

  window_grid grid_;
  weight_products<S> products_;  // weights (channels x window size)
  parameter<float> bias_;        // (channels x 1), or empty
  fp32_matrix sums_;             // (channels x windows * batch), scratch: W columns + b before it is rounded
  matrix<S> y_;                  // (output size x batch), the same values as sums_ in the same order
  fp32_matrix column_sums_;      // (window size x windows * batch), scratch
  fp32_matrix dx_sums_;  // (image size x batch), scratch: overlapping windows are added before rounding
  matrix<S> dx_;         // (image size x batch)
};

}  // namespace narrow_train
