// The weight update of mixed precision training, Micikevicius et al., Mixed Precision Training (2018),
// section 3: fp32 master copy, scaled loss, gradients unscaled before anything else sees them, step skipped
// where they overflow.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <narrow/train/loss_scaler.hpp>
#include <string>
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
      weights_.push_back({"weights " + std::to_string(weights_.size() + 1),
                          weights,
                          optimizer_->settings().weight_decay,
                          copy ? std::move(initial) : fp32_matrix(),
                          {},
                          {}});
    }
    for (auto* bias : parameters.biases)
      biases_.push_back({"biases " + std::to_string(biases_.size() + 1), bias, 0, {}, {}, {}});
  }

  /// What the loss is to be multiplied by before the next back-propagation.
  [[nodiscard]] float loss_scale() const { return scaler_.scale(); }

  /// Adds the gradients of one of the batches of a step, all but the last, to theirs: in fp32, unscaled.
  void accumulate() {
    for_each([&](auto& p) {
      if (accumulated_ == 0) {
        scaler_.unscale(p.tensor->gradient, p.gradient, p.name);
      } else {
        scaler_.unscale(p.tensor->gradient, copy_, p.name);
        p.gradient += copy_;
      }
    });
    ++accumulated_;
  }

  /// Updates the parameters from their gradients, or from the mean of these and what was accumulated since
  /// the last step, and returns true. Where a gradient of any of the batches is not finite it leaves
  /// parameters and optimiser as they are, returns false and lets the scaler lower its scale.
  bool step() {
    accumulate();
    const auto batches = static_cast<float>(std::exchange(accumulated_, 0));
    const bool finite = !scaler_.overflowed();
    if (finite) {
      double square_sum = 0;
      for_each([&](auto& p) {
        if (batches > 1) p.gradient /= batches;
        if (clip_norm_ > 0) square_sum += p.gradient.template cast<double>().squaredNorm();
      });
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

  /// Whether all parameters are finite, in whatever copy.
  [[nodiscard]] bool finite() {
    bool all = true;
    for_each([&](auto& p) {
      all = all && p.master.allFinite() && (p.tensor->block || all_finite(p.tensor->value));
    });
    return all;
  }

  /// All that decides how training goes on, for a checkpoint. They refer to this object.
  [[nodiscard]] std::vector<saved_part> parts() {
    std::vector<saved_part> all;
    for_each([&](auto& p) {
      all.push_back(
          {p.name, [&p](std::ostream& out) { p.save(out); }, [&p](std::istream& in) { p.load(in); }});
    });
    all.push_back({"optimizer", [this](std::ostream& out) { write_number(out, optimizer_->time()); },
                   [this](std::istream& in) { optimizer_->set_time(read_number<std::int64_t>(in)); }});
    all.push_back({"loss scale", [this](std::ostream& out) { out << scaler_; },
                   [this](std::istream& in) { in >> scaler_; }});
    return all;
  }

  /// Bytes of the parameters as stored for forward and backward, and of the copy that the optimiser works on.
  [[nodiscard]] std::size_t weight_bytes() const {
    std::size_t total = 0;
    for (const auto& p : weights_) total += p.tensor->bytes();
    for (const auto& p : biases_) total += p.tensor->bytes();
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

    void save(std::ostream& out) const {
      if (tensor->block)
        tensor->block->save(out);
      else
        write_matrix(out, tensor->value);
      write_matrix(out, master);
      memory.save(out);
    }
    void load(std::istream& in) {
      if (tensor->block)
        tensor->block->load(in);
      else
        read_matrix(in, tensor->value);
      read_matrix(in, master);
      const fp32_matrix shape = tensor->weights();
      memory.load(in, shape.rows(), shape.cols());
    }
  };

  template <class T> static bool all_finite(const matrix<T>& m) {
    return m.template cast<float>().allFinite();
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
    for (auto& p : biases_) f(p);
  }

  fp32_matrix copy_;     // scratch: weights of which there is no other in fp32, gradients of one batch
  int accumulated_ = 0;  // batches whose gradients are summed up
  std::vector<trained<S>> weights_;
  std::vector<trained<float>> biases_;
  std::unique_ptr<optimizer> optimizer_;
  narrow::loss_scaler scaler_;
  float clip_norm_;
};

}  // namespace narrow_train
