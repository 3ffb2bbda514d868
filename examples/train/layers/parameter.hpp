// The trained tensors of a layer, and how its products are computed.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layers/tensor_watch.hpp"
#include "operands/block_products.hpp"

namespace narrow_train {

/// A trained tensor and the gradient of the loss by it, both stored in T. The gradient carries the loss
/// scale. Weights that are quantised are in `block`, as products take them; `value` then is empty.
template <class T> struct parameter {
  matrix<T> value;
  matrix<T> gradient;
  std::unique_ptr<block_operand> block = nullptr;
  std::unique_ptr<block_operand> stored = nullptr;  // the wider copy that updates go to, if there is one
  std::shared_ptr<layer_format> format = nullptr;   // of `block`, where it changes
  double operations = 0;              // multiplications and additions with them for each sample forward
  std::string_view kind = "weights";  // for reports
  std::string name = {};              // for reports: "weights 2" are those of the second layer that has any

  void read(fp32_matrix& weights) const {
    timed(work::conversions, [&] {
      if (block)
        (stored ? stored : block)->read(weights);
      else
        weights = value.template cast<float>();
    });
  }
  /// What products see of it.
  void read_operand(fp32_matrix& weights) const {
    if (block)
      timed(work::conversions, [&] { block->read(weights); });
    else
      read(weights);
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

/// Makes weights quantised as the recipe says.
inline void make_quantised(parameter<float>& weights, const recipe& how) {
  weights.format = std::make_shared<layer_format>();
  weights.block = make_operand(how.weights, how.weight_scales, weights.format);
  if (!how.stored_mantissa) return;
  operand_format wider = how.weights;
  wider.mantissa = *how.stored_mantissa;
  weights.stored = make_operand(wider, how.weight_scales, weights.format);
}

/// How the products of a layer are computed.
struct product_settings {
  accumulation sums = accumulation::wide;
  std::optional<recipe> quantised;                // with fp32 tensors only
  std::shared_ptr<tensor_watch> watch = nullptr;  // null: nobody looks at the tensors
};

/// All tensors of a network that are kept from step to step, in the order of its layers.
template <class S> struct parameter_list {
  std::vector<parameter<S>*> weights;
  /// One fp32 value for each output, without weight decay: biases, gamma and beta of batch normalisation.
  std::vector<parameter<float>*> per_channel;
  /// Saved with a model, but not trained: running averages of batch normalisation.
  std::vector<fp32_matrix*> buffers = {};
  /// What the next steps depend on besides.
  std::vector<saved_state*> states = {};
};

}  // namespace narrow_train
