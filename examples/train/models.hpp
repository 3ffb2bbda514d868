// The networks, as lists of layers: what they are, whatever format they are trained in.
#pragma once

#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "layers/layer.hpp"

namespace narrow_train {

struct dense_spec {
  int outputs;
};
struct convolution_spec {
  int channels;
  int kernel;
  int padding;
  int stride = 1;
  bias_term bias = bias_term::present;
};
struct depthwise_convolution_spec {
  int kernel;
  int padding;
  int stride = 1;
};
struct batch_norm_spec {};
struct max_pool_spec {
  int window;
};
struct global_average_pool_spec {};
struct relu_spec {};

struct residual_spec;
using layer_spec = std::variant<dense_spec, convolution_spec, depthwise_convolution_spec, batch_norm_spec,
                                max_pool_spec, global_average_pool_spec, relu_spec, residual_spec>;

/// The shortcut of a residual block whose output has another shape than its input, option A or B of He et
/// al., Deep Residual Learning (2015), section 4.1: pixels left out, new channels zero; or a convolution of 1
/// x 1 and batch normalisation. The stride is the one that leaves as many rows as the body does.
enum class shortcut { subsample, projection };

struct residual_spec {
  std::vector<layer_spec> body;
  shortcut where_shapes_differ = shortcut::subsample;
};

struct model {
  std::string_view name;
  std::string_view description;  // for --help
  /// All layers but the last, which is always a dense one with one output for each class.
  std::vector<layer_spec> layers;
};

/// Every model; the first is the default.
std::span<const model> models();

/// A residual network for small images, He et al. (2015), section 4.2: a convolution, and for each of
/// `stages` so many channels and `blocks` residual blocks of two convolutions; stages but the first begin
/// with stride 2. All convolutions are 3 x 3 and followed by batch normalisation.
std::vector<layer_spec> residual_layers(std::span<const int> stages, int blocks,
                                        shortcut where_shapes_differ);

}  // namespace narrow_train
