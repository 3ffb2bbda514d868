// What every layer of a network can do, and where it stands when it is made.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

#include "data/dataset.hpp"
#include "layers/parameter.hpp"

namespace narrow_train {

/// What a network is used for: in inference batch normalisation takes the statistics of training.
enum class phase { training, inference };

/// One layer. Tensors are (features x batch), one sample a column, and stored in S.
template <class S> class layer {
 public:
  layer() = default;
  layer(const layer&) = delete;
  layer& operator=(const layer&) = delete;
  virtual ~layer() = default;

  /// Output for the batch x. The reference holds until the next call; so does all that `backward` will need.
  virtual const matrix<S>& forward(const matrix<S>& x) = 0;

  /// Output in inference, where that is another; no `backward` may follow.
  virtual const matrix<S>& infer(const matrix<S>& x) { return forward(x); }

  /// From dy = dLoss/dOutput: sets the gradients of the parameters and returns dLoss/dx (empty where
  /// unwanted). x is the batch of the last `forward`.
  virtual const matrix<S>& backward(const matrix<S>& x, const matrix<S>& dy, input_gradient wanted) = 0;

  /// Appends the layer's tensors, if any.
  virtual void collect(parameter_list<S>&) {}

  /// Bytes that stay allocated from `forward` to `backward`.
  [[nodiscard]] virtual std::size_t activation_bytes() const = 0;
};

/// Where a layer is made, which a network makes one after another.
struct layer_site {
  std::string model;          // its name, for messages
  image_shape network_input;  // the images of the whole network
  product_settings products;
  image_shape shape;  // of the layer's input; who makes a layer sets it to the shape of the layer's output

  /// The windows of a layer's input. Throws std::invalid_argument where it is too small for one.
  [[nodiscard]] window_grid windows(int kernel, int padding, int stride) const {
    const window_grid grid{shape, kernel, padding, stride};
    require(grid.rows() > 0 && grid.columns() > 0);
    return grid;
  }
  void require(bool fits) const {
    if (!fits)
      throw std::invalid_argument("model " + model + ": images of " + std::to_string(network_input.height) +
                                  " x " + std::to_string(network_input.width) + " are too small");
  }
};

/// One of the layers in layers.hpp, with what it is made from.
struct layer_spec;

}  // namespace narrow_train
