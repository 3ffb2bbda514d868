// Every layer. A new one is a file in this folder, with the class and what makes it, and its two lines here.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "layers/batch_norm.hpp"
#include "layers/convolution.hpp"
#include "layers/dense.hpp"
#include "layers/depthwise_convolution.hpp"
#include "layers/global_average_pool.hpp"
#include "layers/max_pool.hpp"
#include "layers/relu.hpp"
#include "layers/residual.hpp"

namespace narrow_train {

using any_layer = std::variant<batch_norm_spec, convolution_spec, dense_spec, depthwise_convolution_spec,
                               global_average_pool_spec, max_pool_spec, relu_spec, residual_spec>;

struct layer_spec : any_layer {
  using any_layer::any_layer;
};

template <class S>
std::unique_ptr<stack<S>> make_layers(const std::vector<layer_spec>& specs, layer_site& at) {
  auto layers = std::make_unique<stack<S>>(at.products.watch);
  for (const any_layer& spec : specs)
    layers->add(std::visit([&at](const auto& chosen) { return chosen.template make<S>(at); }, spec));
  return layers;
}

}  // namespace narrow_train
