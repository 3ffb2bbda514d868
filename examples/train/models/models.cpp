#include "models/models.hpp"

#include <array>

namespace narrow_train {
namespace {

using layers = std::vector<layer_spec>;

void append(layers& to, const layers& more) { to.insert(to.end(), more.begin(), more.end()); }

layers convolution_and_norm(int channels, int kernel, int stride = 1) {
  return {convolution_spec{channels, kernel, kernel / 2, stride, bias_term::absent}, batch_norm_spec{}};
}

/// AlexNet's sequence of layers, five convolutions and three dense ones (Krizhevsky et al. 2012), with the
/// channels of its single-column version (Krizhevsky, One Weird Trick, 2014). For images of 32 x 32 instead
/// of 224 x 224 kernels are 3 x 3, the first stride is 2, pooling windows do not overlap, and dense layers
/// have 512 outputs instead of 4096. Like the original it has no batch normalisation, so that formats meet
/// activations and gradients of any scale; local response normalisation, which Simonyan and Zisserman (2014)
/// found to be without effect, and dropout are left out.
layers alexnet() {
  return {convolution_spec{64, 3, 1, 2},
          relu_spec{},
          max_pool_spec{2},  //
          convolution_spec{192, 3, 1},
          relu_spec{},
          max_pool_spec{2},  //
          convolution_spec{384, 3, 1},
          relu_spec{},  //
          convolution_spec{256, 3, 1},
          relu_spec{},  //
          convolution_spec{256, 3, 1},
          relu_spec{},
          max_pool_spec{2},  //
          dense_spec{512},
          relu_spec{},  //
          dense_spec{512},
          relu_spec{}};
}

/// Depth-wise separable blocks as in Howard et al., MobileNets (2017), section 3.2, table 1: its widths up to
/// 256 and half of its strides, for images of 32 x 32.
layers mobilenet() {
  struct block {
    int channels, stride;
  };
  layers all = convolution_and_norm(32, 3);
  all.emplace_back(relu_spec{});
  for (const auto [channels, stride] :
       {block{64, 1}, block{128, 2}, block{128, 1}, block{256, 2}, block{256, 1}}) {
    append(all, {depthwise_convolution_spec{3, 1, stride}, batch_norm_spec{}, relu_spec{}});
    append(all, convolution_and_norm(channels, 1));
    all.emplace_back(relu_spec{});
  }
  all.emplace_back(global_average_pool_spec{});
  return all;
}

}  // namespace

std::vector<layer_spec> residual_layers(std::span<const int> stages, int blocks,
                                        shortcut where_shapes_differ) {
  layers all = convolution_and_norm(stages.front(), 3);
  all.emplace_back(relu_spec{});
  for (std::size_t stage = 0; stage < stages.size(); ++stage)
    for (int i = 0; i < blocks; ++i) {
      layers body = convolution_and_norm(stages[stage], 3, stage > 0 && i == 0 ? 2 : 1);
      body.emplace_back(relu_spec{});
      append(body, convolution_and_norm(stages[stage], 3));
      all.emplace_back(residual_spec{body, where_shapes_differ});
      all.emplace_back(relu_spec{});
    }
  all.emplace_back(global_average_pool_spec{});
  return all;
}

std::span<const model> models() {
  static const std::vector<model> all{
      {"lenet",
       "two convolutions and three dense layers, after LeNet-5 (LeCun et al. 1998)",
       {convolution_spec{.channels = 6, .kernel = 5, .padding = 2}, relu_spec{}, max_pool_spec{.window = 2},
        convolution_spec{.channels = 16, .kernel = 5, .padding = 0}, relu_spec{}, max_pool_spec{.window = 2},
        dense_spec{.outputs = 120}, relu_spec{}, dense_spec{.outputs = 84}, relu_spec{}}},
      {"resnet20", "20 layers in residual blocks, with batch normalisation (He et al. 2015)",
       residual_layers(std::array{16, 32, 64}, 3, shortcut::subsample)},
      {"alexnet", "five convolutions and three dense layers, after AlexNet (Krizhevsky et al. 2012)",
       alexnet()},
      {"mobilenet", "depth-wise separable convolutions, with batch normalisation (Howard et al. 2017)",
       mobilenet()},
      {"mlp",
       "three dense layers",
       {dense_spec{.outputs = 256}, relu_spec{}, dense_spec{.outputs = 128}, relu_spec{}}},
      {"linear", "softmax regression", {}},
  };
  return all;
}

}  // namespace narrow_train
