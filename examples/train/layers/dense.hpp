// Fully connected layer: Y = W X + b.
#pragma once

#include "layer.hpp"

namespace narrow_train {

template <class S> class dense final : public layer<S> {
 public:
  /// Weights and biases start at zero.
  dense(int inputs, int outputs, accumulation mode) : mode_(mode) {
    weights_.value = matrix<S>::Zero(outputs, inputs);
    bias_.value = fp32_matrix::Zero(outputs, 1);
  }

  const matrix<S>& forward(const matrix<S>& x) override {
    multiply(mode_, sums_, weights_.value, x);
    sums_.colwise() += bias_.value.col(0);
    y_ = sums_.template cast<S>();
    return y_;
  }

  const matrix<S>& backward(const matrix<S>& x, const matrix<S>& dy, input_gradient wanted) override {
    multiply(mode_, weights_.gradient, dy, x.transpose());
    bias_.gradient = dy.template cast<float>().rowwise().sum();
    if (wanted == input_gradient::wanted) multiply(mode_, dx_, weights_.value.transpose(), dy);
    return dx_;
  }

  void collect(parameter_list<S>& all) override {
    all.weights.push_back(&weights_);
    all.biases.push_back(&bias_);
  }

  [[nodiscard]] std::size_t activation_bytes() const override { return bytes_of(y_); }

 private:
  accumulation mode_;
  parameter<S> weights_;   // (outputs x inputs)
  parameter<float> bias_;  // (outputs x 1)
  fp32_matrix sums_;       // (outputs x batch), scratch: W X + b before it is rounded
  matrix<S> y_;            // (outputs x batch)
  matrix<S> dx_;           // (inputs x batch)
};

}  // namespace narrow_train
