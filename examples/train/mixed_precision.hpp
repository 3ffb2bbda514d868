// The weight update of mixed precision training, Micikevicius et al., Mixed Precision Training (2018),
// section 3: fp32 master copy, scaled loss, gradients unscaled before anything else sees them, step skipped
// where they overflow.
#pragma once

#include <cmath>
#include <map>
#include <memory>
#include <narrow/train/loss_scaler.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "layers/layer.hpp"
#include "optimizer.hpp"
#include "random.hpp"

namespace narrow_train {

/// Whether updates go to an fp32 copy of the weights, rounded to S after each step, or (the ablation)
/// straight to the weights in S, where an update below half a unit of its weight is lost.
enum class master_copy { kept, absent };

/// Weights (outputs x inputs) for a layer that is followed by ReLU: normal with variance 2 / inputs, cut at
/// two standard deviations. He et al., Delving Deep into Rectifiers (2015), section 2.2.
inline fp32_matrix he_normal(Eigen::Index outputs, Eigen::Index inputs, random_stream& random) {
  constexpr double kept = 0.87962566103423978;  // standard deviation of a unit normal cut at +-2
  const double deviation = std::sqrt(2.0 / static_cast<double>(inputs)) / kept;
  fp32_matrix weights(outputs, inputs);
  for (float& w : weights.reshaped()) {
    double z = random.normal();
    while (std::abs(z) > 2) z = random.normal();
    w = static_cast<float>(deviation * z);
  }
  return weights;
}

/// The parameters of a network and all that their training keeps beside them.
template <class S> class mixed_precision {
 public:
  /// Draws the weights in fp32, from the seed alone, so that every format starts from the same ones.
  /// `clip_norm` bounds the Euclidean norm of all gradients together; 0 leaves them alone.
  mixed_precision(const parameter_list<S>& parameters, std::uint64_t seed, std::unique_ptr<optimizer> rule,
                  narrow::loss_scaler scaler, float clip_norm, master_copy master)
      : optimizer_(std::move(rule)), scaler_(std::move(scaler)), clip_norm_(clip_norm) {
    random_stream random(seed, purpose::weights);
    for (auto* weights : parameters.weights) {
      const fp32_matrix zeros = weights->weights();
      fp32_matrix initial = he_normal(zeros.rows(), zeros.cols(), random);
      weights->store(initial);
      const bool copy = master == master_copy::kept && (weights->block || !std::is_same_v<S, float>);
      weights_.push_back({name_of(*weights),
                          weights,
                          optimizer_->settings().weight_decay,
                          copy ? std::move(initial) : fp32_matrix(),
                          {},
                          {}});
    }
    for (auto* tensor : parameters.per_channel)
      per_channel_.push_back({name_of(*tensor), tensor, 0, {}, {}, {}});
  }

  /// What the loss is to be multiplied by before the next back-propagation.
  [[nodiscard]] float loss_scale() const { return scaler_.scale(); }

  /// Updates the parameters from their gradients and returns true. Where a gradient is not finite it leaves
  /// parameters and optimiser as they are, returns false and lets the scaler lower its scale.
  bool step() {
    bool finite = true;
    double square_sum = 0;
    for_each([&](auto& p) {
      finite &= scaler_.unscale(p.tensor->gradient, p.gradient, p.name);
      if (clip_norm_ > 0) square_sum += p.gradient.template cast<double>().squaredNorm();
    });
    if (finite) {
      const double norm = std::sqrt(square_sum);
      const bool clip = clip_norm_ > 0 && norm > double{clip_norm_};
      optimizer_->begin_step();
      for_each([&](auto& p) {
        if (clip) p.gradient *= static_cast<float>(double{clip_norm_} / norm);
        update(p);
      });
    }
    scaler_.update();
    return finite;
  }

  [[nodiscard]] optimizer& rule() { return *optimizer_; }
  [[nodiscard]] const narrow::loss_scaler& scaler() const { return scaler_; }

  /// Bytes of the parameters as stored for forward and backward, and of the copy that the optimiser works on.
  [[nodiscard]] std::size_t weight_bytes() const {
    std::size_t total = 0;
    for (const auto& p : weights_) total += p.tensor->bytes();
    for (const auto& p : per_channel_) total += p.tensor->bytes();
    return total;
  }
  [[nodiscard]] std::size_t master_bytes() const {
    std::size_t total = 0;
    for (const auto& p : weights_) total += bytes_of(p.master);
    return total;
  }

 private:
  /// A parameter and what training keeps beside it.
  template <class T> struct trained {
    std::string name;  // for the overflow report: "weights 2" are those of the second layer that has any
    parameter<T>* tensor;
    float decay;
    fp32_matrix master;    // empty where updates go to tensor->value
    fp32_matrix gradient;  // unscaled
    moments memory;
  };

  template <class T> std::string name_of(const parameter<T>& tensor) {
    return std::string(tensor.kind) + ' ' + std::to_string(++count_[tensor.kind]);
  }

  /// A step of the optimiser from `weights`, what a parameter is in fp32.
  template <class T> void move(trained<T>& p, fp32_matrix& weights) {
    if (p.decay > 0) p.gradient += p.decay * weights;
    optimizer_->gradient_to_step(p.memory, p.gradient);
    weights -= p.gradient;
  }

  template <class T> void update(trained<T>& p) {
    if constexpr (std::is_same_v<T, float>)
      if (!p.tensor->block) return move(p, p.tensor->value);
    if (p.master.size() > 0) {
      move(p, p.master);
      p.tensor->store(p.master);
    } else {
      p.tensor->read(copy_);
      move(p, copy_);
      p.tensor->store(copy_);
    }
  }

  template <class F> void for_each(F&& f) {
    for (auto& p : weights_) f(p);
    for (auto& p : per_channel_) f(p);
  }

  fp32_matrix copy_;  // scratch: weights of which there is no other in fp32
  std::vector<trained<S>> weights_;
  std::vector<trained<float>> per_channel_;
  std::map<std::string_view, int> count_;  // of parameters, by kind
  std::unique_ptr<optimizer> optimizer_;
  narrow::loss_scaler scaler_;
  float clip_norm_;
};

}  // namespace narrow_train
