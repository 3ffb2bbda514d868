// What every layer of a network can do.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "../block_products.hpp"

namespace narrow_train {

/// A trained tensor and the gradient of the loss by it, both stored in T. The gradient carries the loss
/// scale. Weights that are quantised are in `block`, as products take them; `value` then is empty.
template <class T> struct parameter {
  matrix<T> value;
  matrix<T> gradient;
  std::unique_ptr<block_operand> block = nullptr;
  std::unique_ptr<block_operand> stored = nullptr;  // the wider copy that updates go to, if there is one
  std::shared_ptr<layer_format> format = nullptr;   // of `block`, where it changes
  double operations = 0;  // multiplications and additions with them for each sample forward

  void read(fp32_matrix& weights) const {
    timed(work::conversions, [&] {
      if (block)
        (stored ? stored : block)->read(weights);
      else
        weights = value.template cast<float>();
    });
  }
  [[nodiscard]] fp32_matrix weights() const {
    fp32_matrix result;
    read(result);
    return result;
  }
  void store(const fp32_matrix& weights) {
    timed(work::conversions, [&] {
      if (stored) stored->assign(weights);
      if (block) {
        block->assign(weights);
        block->advance();
      } else {
        value = weights.template cast<T>();
      }
    });
  }
  [[nodiscard]] std::size_t bytes() const {
    return block ? block->bytes() + (stored ? stored->bytes() : 0) : bytes_of(value);
  }
};

/// How the products of a layer are computed.
struct product_settings {
  accumulation sums = accumulation::wide;
  std::optional<recipe> quantised;  // with fp32 tensors only
};

/// All trained tensors of a network, in the order of its layers. Weights are stored in S, biases in fp32.
/// And what else a checkpoint keeps of the layers.
template <class S> struct parameter_list {
  std::vector<parameter<S>*> weights;
  std::vector<parameter<float>*> biases;
  std::vector<fp32_matrix*> buffers = {};  // not trained: running statistics
  std::vector<saved_state*> states = {};
};

/// The first layer of a network spares itself the gradient by its input, which nobody reads.
enum class input_gradient { wanted, unwanted };

/// One layer. Tensors are (features x batch), one sample a column, and stored in S.
template <class S> class layer {
 public:
  layer() = default;
  layer(const layer&) = delete;
  layer& operator=(const layer&) = delete;
  virtual ~layer() = default;

  /// Output for the batch x. The reference holds until the next call; so does all that `backward` will need.
  virtual const matrix<S>& forward(const matrix<S>& x) = 0;

  /// From dy = dLoss/dOutput: sets the gradients of the parameters and returns dLoss/dx (empty where
  /// unwanted). x is the batch of the last `forward`.
  virtual const matrix<S>& backward(const matrix<S>& x, const matrix<S>& dy, input_gradient wanted) = 0;

  /// Appends the layer's parameters, if any.
  virtual void collect(parameter_list<S>&) {}

  /// Bytes that stay allocated from `forward` to `backward`.
  [[nodiscard]] virtual std::size_t activation_bytes() const = 0;
};

}  // namespace narrow_train
