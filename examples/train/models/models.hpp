// The networks, as lists of layers: what they are, whatever format they are trained in.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "layers/layers.hpp"

namespace narrow_train {

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
