// The networks, as lists of layers: what they are, whatever format they are trained in.
#pragma once

#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace narrow_train {

struct dense_spec {
  int outputs;
};
struct convolution_spec {
  int channels;
  int kernel;
  int padding;
  int stride = 1;
};
struct max_pool_spec {
  int window;
};
struct relu_spec {};

using layer_spec = std::variant<dense_spec, convolution_spec, max_pool_spec, relu_spec>;

struct model {
  std::string_view name;
  std::string_view description;  // for --help
  /// All layers but the last, which is always a dense one with one output for each class.
  std::vector<layer_spec> layers;
};

/// Every model; the first is the default.
inline std::span<const model> models() {
  static const std::vector<model> all{
      {"lenet",
       "two convolutions and three dense layers, after LeNet-5 (LeCun et al. 1998)",
       {convolution_spec{.channels = 6, .kernel = 5, .padding = 2}, relu_spec{}, max_pool_spec{.window = 2},
        convolution_spec{.channels = 16, .kernel = 5, .padding = 0}, relu_spec{}, max_pool_spec{.window = 2},
        dense_spec{.outputs = 120}, relu_spec{}, dense_spec{.outputs = 84}, relu_spec{}}},
      {"mlp",
       "three dense layers",
       {dense_spec{.outputs = 256}, relu_spec{}, dense_spec{.outputs = 128}, relu_spec{}}},
      {"linear", "softmax regression", {}},
  };
  return all;
}

}  // namespace narrow_train
