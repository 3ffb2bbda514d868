// A stack of layers, trained and evaluated batch by batch.
#pragma once

#include <memory>
#include <string>

#include "layers/layers.hpp"
#include "models/models.hpp"

namespace narrow_train {

template <class S> class network {
 public:
  /// All weights start at zero. Throws std::invalid_argument where the images are too small for the model.
  network(const model& description, const image_shape& input, int classes, const product_settings& products) {
    layer_site at{std::string(description.name), input, products, input};
    layers_ = make_layers<S>(description.layers, at);
    layers_->add(dense_spec{classes}.template make<S>(at));
  }

  /// Logits (classes x batch) of the images x (image size x batch).
  const matrix<S>& forward(const matrix<S>& x, phase use = phase::training) {
    x_ = &x;
    return use == phase::training ? layers_->forward(x) : layers_->infer(x);
  }

  /// Sets the gradient of every parameter from dLoss/dLogits. The last `forward` was in training, and its x
  /// must still be there.
  void backward(const matrix<S>& dlogits) { layers_->backward(*x_, dlogits, input_gradient::unwanted); }

  /// The same, with done(parameters of a layer) as soon as their gradients are there.
  template <class Done> void backward(const matrix<S>& dlogits, const Done& done) {
    layers_->backward(*x_, dlogits, input_gradient::unwanted, [&](layer<S>& l) {
      parameter_list<S> its;
      l.collect(its);
      done(its);
    });
  }

  /// use(parameters of a layer) in the same order.
  template <class Use> void for_each_layer_back(const Use& use) {
    layers_->for_each_back([&](layer<S>& l) {
      parameter_list<S> its;
      l.collect(its);
      use(its);
    });
  }

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

extern template class network<float>;  // in network.cpp, since more than one source file uses it

}  // namespace narrow_train
