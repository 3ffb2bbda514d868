// Two-dimensional convolution, zero padding, as matrix products of its windows.
#pragma once

#include "layers/weight_products.hpp"

namespace narrow_train {

/// Whether a layer adds a bias to each output; batch normalisation after it would take the bias off again.
enum class bias_term { present, absent };

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
    fp32_matrix& sums = place_for_sums(y_, sums_);
    products_.forward(x, sums);
    if (has_bias()) {
      Eigen::Map<fp32_matrix> by_outputs(sums.data(), products_.outputs(), sums.size() / products_.outputs());
      by_outputs.colwise() += bias_.value.col(0);
    }
    store_sums(sums, y_);
    return y_;
  }

  const matrix<S>& backward(const matrix<S>& x, const matrix<S>& dy, input_gradient wanted) override {
    products_.backward(x, dy, wanted);
    if (has_bias()) sum_of_columns(products_.by_outputs(dy), bias_.gradient);
    if (wanted == input_gradient::wanted) {
      fp32_matrix& sums = place_for_sums(dx_, sums_);
      products_.input_gradient(dy, sums);
      store_sums(sums, dx_);
    }
    return dx_;
  }

  void collect(parameter_list<S>& all) override {
    products_.collect(all);
    if (has_bias()) all.per_channel.push_back(&bias_);
  }

  [[nodiscard]] std::size_t activation_bytes() const override { return bytes_of(y_); }

 private:
  [[nodiscard]] bool has_bias() const { return bias_.value.size() > 0; }

  window_grid grid_;
  weight_products<S> products_;  // weights (channels x window size)
  parameter<float> bias_;        // (channels x 1), or empty
  fp32_matrix sums_;             // scratch: a product before it is rounded, if it is
  matrix<S> y_;                  // (output size x batch)
  matrix<S> dx_;                 // (image size x batch)
};

struct convolution_spec {
  int channels;
  int kernel;
  int padding;
  int stride = 1;
  bias_term bias = bias_term::present;

  /// Throws std::invalid_argument where images are too small.
  template <class S> std::unique_ptr<layer<S>> make(layer_site& at) const {
    auto made =
        std::make_unique<convolution<S>>(at.windows(kernel, padding, stride), channels, at.products, bias);
    at.shape = made->output_shape();
    return made;
  }
};

}  // namespace narrow_train
