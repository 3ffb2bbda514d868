// Matrices in a block format that the command line chooses, and products between them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "saved_state.hpp"
#include "tensor.hpp"

namespace narrow_train {

enum class rounding_choice { nearest, stochastic };
enum class exponent_choice { max, min, avg };  // narrow::exponent

/// What shares a scale: everything, every column (a sample of a batch), or a square tile.
enum class sharing { tensor, column, tile };
inline constexpr int tile_size = 24;  // as in the later work of the authors of hybrid block floating point

/// The formats that the operands of a layer's products are quantised to. Everything else is fp32.
///
/// Hybrid block floating point (Drumond et al., 2018): all operands in BFP with mantissas of `mantissa` bits;
/// forward and for the input gradient one exponent for each training input, for the weight gradient one for
/// the batch. Weights are in BFP throughout: there is no other copy of them.
/// Distribution adaptive INT8 (Zhao et al., 2021), its `global` variant: one scale for each tensor, gradients
/// rounded stochastically, an fp32 master copy of the weights.
struct block_recipe {
  enum class scale_kind { power_of_two, real };

  scale_kind scale = scale_kind::power_of_two;
  int mantissa = 8;  // bits, sign included: 4, 8, 12 or 16; 8 where the scale is real
  rounding_choice weights = rounding_choice::stochastic;
  rounding_choice activations = rounding_choice::stochastic;
  rounding_choice gradients = rounding_choice::stochastic;
  exponent_choice exponent = exponent_choice::max;  // of power-of-two scales
  sharing weight_scales = sharing::tensor;
  sharing sample_scales = sharing::column;  // forward, and of the gradient that goes on backward
  bool master_copy = false;

  static constexpr block_recipe hbfp(int mantissa) {
    block_recipe recipe;
    recipe.mantissa = mantissa;
    return recipe;
  }
  static constexpr block_recipe int8() {
    block_recipe recipe;
    recipe.scale = scale_kind::real;
    recipe.weights = recipe.activations = rounding_choice::nearest;
    recipe.sample_scales = sharing::tensor;
    recipe.master_copy = true;
    return recipe;
  }
};

/// What the command line says of the formats that it selects; what it leaves open is as the recipe has it.
struct block_choices {
  std::optional<rounding_choice> rounding;  // of all operands
  std::optional<exponent_choice> exponent;  // not for real scales
  std::optional<sharing> weight_scales;

  [[nodiscard]] constexpr block_recipe applied_to(block_recipe recipe) const {
    if (rounding) recipe.weights = recipe.activations = recipe.gradients = *rounding;
    if (exponent) recipe.exponent = *exponent;
    if (weight_scales) recipe.weight_scales = *weight_scales;
    return recipe;
  }
};

/// Integers that share scales in blocks, as wide as the format needs.
using block_matrix =
    std::variant<narrow::block_view<std::int8_t, float>, narrow::block_view<std::int16_t, float>>;

/// A matrix in a block format, stored by columns. Its state is mantissas and scales; `load` keeps the shape,
/// and the matrix as it was where it throws.
class block_operand : public saved_state {
 public:
  virtual void assign(const fp32_matrix& values) = 0;
  virtual void read(fp32_matrix& values) const = 0;
  [[nodiscard]] fp32_matrix values() const {
    fp32_matrix result;
    read(result);
    return result;
  }
  [[nodiscard]] virtual block_matrix view() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  [[nodiscard]] virtual std::size_t scale_count() const = 0;
};

/// An empty matrix in the format that the recipe names, rounded and with scales shared as told. Stochastic
/// rounding draws from the calling thread's stream (narrow::seed).
std::unique_ptr<block_operand> make_operand(const block_recipe& recipe, rounding_choice rounding,
                                            sharing scales);

/// out = a b: exact sums of integers, scaled; see narrow::gemm.
void multiply(const block_matrix& a, const block_matrix& b, fp32_matrix& out);

block_matrix transposed(const block_matrix& m);

}  // namespace narrow_train
