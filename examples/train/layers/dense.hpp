// Fully connected layer: Y = W X + b.
#pragma once

#include "layers/weight_products.hpp"

namespace narrow_train {

template <class S> class dense final : public layer<S> {
 public:
  /// Weights and biases start at zero.
  dense(int inputs, int outputs, const product_settings& settings) : products_(outputs, inputs, settings) {
    bias_.value = fp32_matrix::Zero(outputs, 1);
    bias_.kind = "biases";
  }

  const matrix<S>& forward(const matrix<S>& x) override {
    if constexpr (std::is_same_v<S, float>) {
      products_.forward(x, y_);
      y_.colwise() += bias_.value.col(0);
    } else {
      products_.forward(x, sums_);
      sums_.colwise() += bias_.value.col(0);
      timed(work::conversions, [&] { y_ = sums_.template cast<S>(); });
    }
    return y_;
  }

  const matrix<S>& backward(const matrix<S>& x, const matrix<S>& dy, input_gradient wanted) override {
    products_.backward(x, dy, wanted);
    sum_of_columns(dy, bias_.gradient);
    if (wanted == input_gradient::wanted) products_.input_gradient(dy, dx_);
    return dx_;
  }

  void collect(parameter_list<S>& all) override {
    products_.collect(all);
    all.per_channel.push_back(&bias_);
  }

  [[nodiscard]] std::size_t activation_bytes() const override { return bytes_of(y_); }

 private:
  weight_products<S> products_;
  parameter<float> bias_;  // (outputs x 1)
  fp32_matrix sums_;       // (outputs x batch), scratch: W X + b before it is rounded, if it is
  matrix<S> y_;            // (outputs x batch)
  matrix<S> dx_;           // (inputs x batch)
};

struct dense_spec {
  int outputs;

  template <class S> std::unique_ptr<layer<S>> make(layer_site& at) const {
    auto made = std::make_unique<dense<S>>(at.shape.size(), outputs, at.products);
    at.shape = {1, 1, outputs};
    return made;
  }
};

}  // namespace narrow_train
