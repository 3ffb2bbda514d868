// The formats that the operands of a layer's products are quantised to. Everything else is fp32.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace narrow_train {

class block_operand;

/// The values of an option, by their names on the command line.
template <class Meaning, std::size_t Count>
using option_values = std::array<std::pair<std::string_view, Meaning>, Count>;

enum class rounding_choice { nearest, stochastic };
inline constexpr option_values<rounding_choice, 2> rounding_choices{
    {{"nearest", rounding_choice::nearest}, {"stochastic", rounding_choice::stochastic}}};

enum class exponent_choice { max, min, avg };  // narrow::exponent
inline constexpr option_values<exponent_choice, 3> exponent_choices{
    {{"max", exponent_choice::max}, {"min", exponent_choice::min}, {"avg", exponent_choice::avg}}};

/// How many bits of the mantissa `min` and `avg` keep of the magnitude that they look at, sign not included:
/// half of the mantissa's, rounded up, or one. Drumond et al. (2018) leave it open.
enum class exponent_bits { half, one };
inline constexpr option_values<exponent_bits, 2> exponent_bit_choices{
    {{"half", exponent_bits::half}, {"1", exponent_bits::one}}};

/// What shares a scale: everything, every column (a sample of a batch), every row (a channel), or a square
/// tile.
enum class sharing { tensor, column, row, tile };
inline constexpr int tile_size = 24;  // as in the later work of the authors of hybrid block floating point
inline constexpr option_values<sharing, 2> weight_sharings{
    {{"tensor", sharing::tensor}, {"24", sharing::tile}}};

/// The word length and the fraction length that a layer has at present, where these change while it trains.
struct layer_format {
  static constexpr int full_precision = 32;
  int word_length = 8, fraction_length = 4;
};

/// The numbers that an operand consists of.
enum class operand_kind {
  fp32,        // as they are
  bfp,         // integers of `mantissa` bits under powers of two
  int8,        // integers under real scales
  fixed,       // fixed<WL, FL> of the layer's format, saturating
  words,       // integers of the layer's WL bits under a power of two from the data
  held_words,  // as `words`, the power of two kept until WL changes; fp32 where WL is 32
  floating,    // what `make_floating` makes
};

struct operand_format {
  operand_kind kind = operand_kind::bfp;
  rounding_choice rounding = rounding_choice::stochastic;
  int mantissa = 8;                                 // bfp: 2 to 16, sign included
  exponent_choice exponent = exponent_choice::max;  // bfp
  exponent_bits kept = exponent_bits::half;         // bfp under min or avg
  std::unique_ptr<block_operand> (*make_floating)(rounding_choice) = nullptr;
};

/// How the gradients that int8 quantises are clipped: Zhao et al., Distribution Adaptive INT8 (2021), and its
/// ablations. For the input gradient always at the largest magnitude.
enum class gradient_clip {
  global,  // for the weight gradient too
  gvq,     // there at the largest magnitude of each channel
  mcs,     // there by narrow::adaptive_clip of the layer
  both     // there by narrow::adaptive_clip of each channel
};

inline constexpr option_values<gradient_clip, 4> gradient_clips{{{"global", gradient_clip::global},
                                                                 {"gvq", gradient_clip::gvq},
                                                                 {"mcs", gradient_clip::mcs},
                                                                 {"both", gradient_clip::both}}};

/// Hybrid block floating point (Drumond et al., 2018): all operands in BFP; forward and for the input
/// gradient one exponent for each training input, for the weight gradient one for the batch. Weights are in
/// BFP throughout: there is no other copy of them, unless `stored_mantissa` asks for a wider one that the
/// updates go to. Distribution adaptive INT8 (Zhao et al., 2021): one scale for each tensor, for the weight
/// gradient also one for each channel; gradients rounded stochastically, an fp32 master copy of the weights.
/// MARViN (Kummer et al., 2021): weights and activations in the layer's fixed<WL, FL>, stochastic, fp32
/// master copy; backward in fp32 with what was quantised, or, the extension, gradients in WL bits and integer
/// products too. MuPPET (Rajagopal et al., 2020): all operands in WL bits under a power of two that is chosen
/// when WL changes; the paper has that of weights and activations, gradients keep theirs here alone. Narrow
/// floats: all operands rounded to float<E, M>, sums in fp32; fp8 with a scale for each tensor.
struct recipe {
  enum class precision { constant, marvin, muppet };
  enum class backward_products { narrow, fp32 };
  enum class product_output { unbounded, saturating };

  operand_format weights, activations, gradients;
  sharing weight_scales = sharing::tensor;
  sharing sample_scales = sharing::tensor;  // forward, and of the gradient that goes on backward
  gradient_clip clip = gradient_clip::global;
  precision switching = precision::constant;
  backward_products backward = backward_products::narrow;
  product_output output =
      product_output::unbounded;       // saturating: at 32 bits, as the accumulators of hardware
  std::optional<int> stored_mantissa;  // bfp
  bool master_copy = true;

  static constexpr recipe of(const operand_format& format) {
    recipe r;
    r.weights = r.activations = r.gradients = format;
    return r;
  }
  static constexpr recipe hbfp(int mantissa) {
    recipe r = of({.kind = operand_kind::bfp, .mantissa = mantissa});
    r.sample_scales = sharing::column;
    r.master_copy = false;
    return r;
  }
  static constexpr recipe int8(gradient_clip clip = gradient_clip::global) {
    recipe r = of({.kind = operand_kind::int8, .rounding = rounding_choice::nearest});
    r.gradients.rounding = rounding_choice::stochastic;
    r.clip = clip;
    return r;
  }
  static constexpr recipe marvin(backward_products backward) {
    recipe r = of({.kind = operand_kind::fixed});
    r.gradients.kind = backward == backward_products::fp32 ? operand_kind::fp32 : operand_kind::words;
    r.switching = precision::marvin;
    r.backward = backward;
    return r;
  }
  static constexpr recipe muppet() {
    recipe r = of({.kind = operand_kind::held_words});
    r.switching = precision::muppet;
    return r;
  }
  using floating_maker = std::unique_ptr<block_operand>(rounding_choice);
  static constexpr recipe floating(floating_maker* forward, floating_maker* gradients) {
    recipe r = of({.kind = operand_kind::floating, .rounding = rounding_choice::nearest});
    r.weights.make_floating = r.activations.make_floating = forward;
    r.gradients.make_floating = gradients;
    return r;
  }
};

/// What the command line says of the recipes that it selects; what it leaves open is as the recipe has it.
struct recipe_choices {
  std::optional<rounding_choice> rounding;  // of all operands
  std::optional<exponent_choice> exponent;  // of bfp
  std::optional<exponent_bits> kept;        // of bfp under min or avg
  std::optional<sharing> weight_scales;     // of bfp and int8
  std::optional<gradient_clip> clip;        // of int8
  std::optional<int> stored_mantissa;       // of bfp
  std::optional<recipe::product_output> output;

  [[nodiscard]] constexpr recipe applied_to(recipe r) const {
    for (operand_format* f : {&r.weights, &r.activations, &r.gradients}) {
      if (rounding) f->rounding = *rounding;
      if (exponent) f->exponent = *exponent;
      if (kept) f->kept = *kept;
    }
    if (weight_scales) r.weight_scales = *weight_scales;
    if (clip && r.weights.kind == operand_kind::int8) r.clip = *clip;
    if (stored_mantissa && r.weights.kind == operand_kind::bfp) r.stored_mantissa = stored_mantissa;
    if (output) r.output = *output;
    return r;
  }
};

}  // namespace narrow_train
