// A stack of layers, trained and evaluated batch by batch.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "layers/convolution.hpp"
#include "layers/dense.hpp"
#include "layers/max_pool.hpp"
#include "layers/relu.hpp"
#include "models.hpp"

namespace narrow_train {

template <class S> class network {
 public:
  /// All weights start at zero. Throws std::invalid_argument where the images are too small for the model.
  network(const model& description, const image_shape& input, int classes, const product_settings& products) {
    image_shape shape = input;
    const auto add = [&](auto made) { layers_.push_back(std::move(made)); };
    const auto require = [&](bool fits) {
      if (!fits)
        throw std::invalid_argument("model " + std::string(description.name) + ": images of " +
                                    std::to_string(input.height) + " x " + std::to_string(input.width) +
                                    " are too small");
    };
    const overloaded append{
        [&](const dense_spec& spec) {
          add(std::make_unique<dense<S>>(shape.size(), spec.outputs, products));
          shape = {1, 1, spec.outputs};
        },
        [&](const convolution_spec& spec) {
          const window_grid grid{shape, spec.kernel, spec.padding, spec.stride};
          require(grid.count() > 0);
          auto made = std::make_unique<convolution<S>>(grid, spec.channels, products);
          shape = made->output_shape();
          add(std::move(made));
        },
        [&](const max_pool_spec& spec) {
          auto made = std::make_unique<max_pool<S>>(shape, spec.window);
          shape = made->output_shape();
          require(shape.size() > 0);
          add(std::move(made));
        },
        [&](const relu_spec&) { add(std::make_unique<relu<S>>()); },
    };
    for (const layer_spec& spec : description.layers) std::visit(append, spec);
    append(dense_spec{classes});
  }

  /// Logits (classes x batch) of the images x (image size x batch).
  const matrix<S>& forward(const matrix<S>& x) {
    inputs_.clear();
    const matrix<S>* signal = &x;
    for (const auto& l : layers_) {
      inputs_.push_back(signal);
      signal = &l->forward(*signal);
    }
    return *signal;
  }

  /// Sets the gradient of every parameter from dLoss/dLogits; x of the last `forward` must still be there.
  void backward(const matrix<S>& dlogits) {
    const matrix<S>* signal = &dlogits;
    for (std::size_t i = layers_.size(); i-- > 0;)
      signal = &layers_[i]->backward(*inputs_[i], *signal,
                                     i == 0 ? input_gradient::unwanted : input_gradient::wanted);
  }

  [[nodiscard]] parameter_list<S> parameters() {
    parameter_list<S> all;
    for (const auto& l : layers_) l->collect(all);
    return all;
  }

  /// What was kept between the last `forward` and its `backward`, the batch itself included.
  [[nodiscard]] std::size_t activation_bytes() const {
    std::size_t total = inputs_.empty() ? 0 : bytes_of(*inputs_.front());
    for (const auto& l : layers_) total += l->activation_bytes();
    return total;
  }

 private:
  template <class... Functions> struct overloaded : Functions... { using Functions::operator()...; };
  template <class... Functions> overloaded(Functions...) -> overloaded<Functions...>;

  std::vector<std::unique_ptr<layer<S>>> layers_;
  std::vector<const matrix<S>*> inputs_;  // of each layer, from the last `forward`
};

}  // namespace narrow_train
