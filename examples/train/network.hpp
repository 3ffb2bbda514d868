// A stack of layers, trained and evaluated batch by batch.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "layers/batch_norm.hpp"
#include "layers/convolution.hpp"
#include "layers/dense.hpp"
#include "layers/depthwise_convolution.hpp"
#include "layers/global_average_pool.hpp"
#include "layers/max_pool.hpp"
#include "layers/relu.hpp"
#include "layers/residual.hpp"
#include "layers/stack.hpp"
#include "models.hpp"

namespace narrow_train {

/// Makes the layers of a model, and knows the shape that the last one puts out.
template <class S> class layer_builder {
 public:
  layer_builder(std::string_view model, const image_shape& input, const product_settings& products)
      : model_(model),
        input_(input),
        products_(products),
        shape_(input),
        layers_(std::make_unique<stack<S>>(products.watch)) {}

  /// Throws std::invalid_argument where images are too small, or a shortcut does not fit around its body.
  void append(const layer_spec& spec) {
    std::visit([this](const auto& s) { this->make(s); }, spec);
  }

  /// The layers so far.
  [[nodiscard]] std::unique_ptr<stack<S>> take() { return std::move(layers_); }

 private:
  void make(const dense_spec& spec) {
    layers_->add(std::make_unique<dense<S>>(shape_.size(), spec.outputs, products_));
    shape_ = {1, 1, spec.outputs};
  }
  void make(const convolution_spec& spec) {
    const window_grid grid = windows(spec.kernel, spec.padding, spec.stride);
    add(std::make_unique<convolution<S>>(grid, spec.channels, products_, spec.bias));
  }
  void make(const depthwise_convolution_spec& spec) {
    const window_grid grid = windows(spec.kernel, spec.padding, spec.stride);
    add(std::make_unique<depthwise_convolution<S>>(grid, products_));
  }
  void make(const batch_norm_spec&) { layers_->add(std::make_unique<batch_norm<S>>(shape_.channels)); }
  void make(const max_pool_spec& spec) {
    add(std::make_unique<max_pool<S>>(shape_, spec.window));
    require(shape_.size() > 0);
  }
  void make(const global_average_pool_spec&) { add(std::make_unique<global_average_pool<S>>(shape_)); }
  void make(const relu_spec&) { layers_->add(std::make_unique<relu<S>>()); }
  void make(const residual_spec& spec) {
    layer_builder inside(model_, input_, products_);
    inside.shape_ = shape_;
    for (const layer_spec& s : spec.body) inside.append(s);
    const image_shape output = inside.shape_;
    layers_->add(std::make_unique<residual<S>>(inside.take(), shortcut_to(output, spec.where_shapes_differ)));
    shape_ = output;
  }

  std::unique_ptr<layer<S>> shortcut_to(const image_shape& output, shortcut kind) const {
    if (output == shape_) return nullptr;
    const int stride = (shape_.height + output.height - 1) / output.height;
    layer_builder beside(model_, input_, products_);
    beside.shape_ = shape_;
    if (kind == shortcut::projection) {
      beside.append(convolution_spec{output.channels, 1, 0, stride, bias_term::absent});
      beside.append(batch_norm_spec{});
    } else if (output.channels >= shape_.channels) {
      beside.add(std::make_unique<subsample<S>>(shape_, stride, output.channels));
    }
    if (beside.shape_ != output)
      throw std::invalid_argument("model " + model_ + ": no shortcut leads from " + text(shape_) + " to " +
                                  text(output));
    return beside.take();
  }

  template <class Layer> void add(std::unique_ptr<Layer> made) {
    shape_ = made->output_shape();
    layers_->add(std::move(made));
  }

  [[nodiscard]] window_grid windows(int kernel, int padding, int stride) const {
    const window_grid grid{shape_, kernel, padding, stride};
    require(grid.rows() > 0 && grid.columns() > 0);
    return grid;
  }
  void require(bool fits) const {
    if (!fits)
      throw std::invalid_argument("model " + model_ + ": images of " + std::to_string(input_.height) + " x " +
                                  std::to_string(input_.width) + " are too small");
  }
  static std::string text(const image_shape& shape) {
    return std::to_string(shape.height) + " x " + std::to_string(shape.width) + " x " +
           std::to_string(shape.channels);
  }

  std::string model_;
  image_shape input_;  // of the network
  product_settings products_;
  image_shape shape_;
  std::unique_ptr<stack<S>> layers_;
};

template <class S> class network {
 public:
  /// All weights start at zero. Throws std::invalid_argument where the images are too small for the model.
  network(const model& description, const image_shape& input, int classes, const product_settings& products) {
    layer_builder<S> builder(description.name, input, products);
    for (const layer_spec& spec : description.layers) builder.append(spec);
    builder.append(dense_spec{classes});
    layers_ = builder.take();
  }

  /// Logits (classes x batch) of the images x (image size x batch).
  const matrix<S>& forward(const matrix<S>& x, phase use = phase::training) {
    x_ = &x;
    return use == phase::training ? layers_->forward(x) : layers_->infer(x);
  }

  /// Sets the gradient of every parameter from dLoss/dLogits. The last `forward` was in training, and its x
  /// must still be there.
  void backward(const matrix<S>& dlogits) { layers_->backward(*x_, dlogits, input_gradient::unwanted); }

  [[nodiscard]] parameter_list<S> parameters() {
    parameter_list<S> all;
    layers_->collect(all);
    return all;
  }

  /// What was kept between the last `forward` and its `backward`, the batch itself included.
  [[nodiscard]] std::size_t activation_bytes() const {
    return (x_ ? bytes_of(*x_) : 0) + layers_->activation_bytes();
  }

 private:
  std::unique_ptr<stack<S>> layers_;
  const matrix<S>* x_ = nullptr;  // of the last `forward`
};

}  // namespace narrow_train
