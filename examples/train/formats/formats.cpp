#include "formats/formats.hpp"

#include <concepts>
#include <limits>

#include "formats/stored_format.hpp"
#include "operands/floating_operand.hpp"

namespace narrow_train {

namespace {

template <class F> constexpr magnitudes magnitudes_of() {
  using limits = std::numeric_limits<F>;
  return {static_cast<float>(limits::denorm_min()), static_cast<float>(limits::max())};
}

/// Tensors stored in S, which has a source file in formats/stored/.
template <class S> constexpr format stored(std::string_view name) {
  using compiled = stored_format<S>;
  return {.name = name,
          .train_stored = compiled::train,
          .prepare_stored = compiled::prepare,
          .evaluate = compiled::evaluate,
          .gradients = magnitudes_of<S>(),
          .quantised = std::nullopt,
          .stored_narrow = !std::same_as<S, float>};
}

/// Tensors in fp32, products on operands as the recipe says.
constexpr format quantised(std::string_view name, const recipe& how) {
  format f = stored<float>(name);
  f.quantised = how;
  return f;
}

/// Tensors in fp32, all operands rounded to F.
template <class F> constexpr format rounded(std::string_view name) {
  constexpr auto* make = make_floating<rounded_operand<F>>;
  format f = quantised(name, recipe::floating(make, make));
  f.gradients = magnitudes_of<F>();
  return f;
}

/// The formats that networks can be trained in: the only list of them. One that tensors are stored in has a
/// source file besides, so that formats compile side by side.
constexpr format all_formats[] = {
    stored<float>("fp32"),
    stored<narrow::fp16>("fp16"),
    stored<narrow::bf16>("bf16"),
    stored<fixed16_12>("fixed16_12"),

    quantised("hbfp2", recipe::hbfp(2)),
    quantised("hbfp3", recipe::hbfp(3)),
    quantised("hbfp4", recipe::hbfp(4)),
    quantised("hbfp5", recipe::hbfp(5)),
    quantised("hbfp6", recipe::hbfp(6)),
    quantised("hbfp7", recipe::hbfp(7)),
    quantised("hbfp8", recipe::hbfp(8)),
    quantised("hbfp9", recipe::hbfp(9)),
    quantised("hbfp10", recipe::hbfp(10)),
    quantised("hbfp11", recipe::hbfp(11)),
    quantised("hbfp12", recipe::hbfp(12)),
    quantised("hbfp13", recipe::hbfp(13)),
    quantised("hbfp14", recipe::hbfp(14)),
    quantised("hbfp15", recipe::hbfp(15)),
    quantised("hbfp16", recipe::hbfp(16)),
    quantised("int8", recipe::int8()),
    quantised("marvin", recipe::marvin(recipe::backward_products::fp32)),
    quantised("marvin_extension", recipe::marvin(recipe::backward_products::narrow)),
    quantised("muppet", recipe::muppet()),
    quantised("fp8", recipe::floating(make_floating<scaled_operand<forward_fp8>>,
                                      make_floating<scaled_operand<gradient_fp8>>)),

    rounded<narrow::floating<8, 1>>("float_e8m1"),
    rounded<narrow::floating<8, 2>>("float_e8m2"),
    rounded<narrow::floating<8, 4>>("float_e8m4"),
    rounded<narrow::floating<8, 8>>("float_e8m8"),
    rounded<narrow::floating<8, 16>>("float_e8m16"),
    rounded<narrow::floating<2, 16>>("float_e2m16"),
    rounded<narrow::floating<4, 16>>("float_e4m16"),
    rounded<narrow::floating<6, 16>>("float_e6m16"),
};

}  // namespace

std::span<const format> formats() { return all_formats; }

training_settings format::adapted(training_settings settings) const {
  settings.format = name;
  if (quantised) {
    settings.products.quantised = settings.recipes.applied_to(*quantised);
    if (!quantised->master_copy) settings.master = master_copy::absent;
  }
  return settings;
}

training_result format::train(const training_settings& settings, const train_and_test& data,
                              std::uint64_t seed, observer& watcher) const {
  return train_stored(adapted(settings), data, seed, watcher);
}

std::optional<training_result> format::resumable(const training_settings& settings,
                                                 const train_and_test& data, std::uint64_t seed) const {
  return narrow_train::resumable(adapted(settings), data, seed);
}

std::unique_ptr<stepper> format::prepare(const training_settings& settings, const dataset& batch) const {
  return prepare_stored(adapted(settings), batch);
}

}  // namespace narrow_train
