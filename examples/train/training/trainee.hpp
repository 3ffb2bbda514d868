// One network in one storage format, and one step of its training.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "data/batches.hpp"
#include "layers/softmax.hpp"
#include "models/network.hpp"
#include "training/settings.hpp"

namespace narrow_train {

/// Fixed-point gradients saturate, which no scaler can see: they take a constant scale, 1 if none is given.
template <class S> std::string scale_choice_for(const std::string& loss_scale) {
  const bool constant = narrow::narrow_fixed<S> && (loss_scale == "dynamic" || loss_scale == automatic_scale);
  return constant ? "none" : loss_scale;
}

/// What switches formats, for recipes that do.
inline std::unique_ptr<precision_policy> policy_for(const training_settings& settings) {
  const auto& how = settings.products.quantised;
  return how ? make_policy(how->switching, settings.switching, settings.batch) : nullptr;
}

/// A fresh network and what its training keeps. The seed gives the initial weights, the same for every S.
template <class S> class trainee {
 public:
  trainee(const training_settings& settings, const dataset& images, std::uint64_t seed)
      : watch_(std::make_shared<tensor_watch>()),
        net_(*settings.network, images.shape, images.classes, watched(settings.products, watch_)),
        parameters_(net_.parameters()),
        training_(parameters_, seed, settings.optimizer->make(settings.step),
                  make_scaler(scale_choice_for<S>(settings.loss_scale)), policy_for(settings),
                  {settings.clip_norm, settings.l1, settings.master, settings.start_weights, watch_}),
        loss_weight_(settings.loss_weight),
        flush_below_(settings.flush_below),
        adapt_scale_(scale_choice_for<S>(settings.loss_scale) == automatic_scale),
        looks_(settings.look) {}

  /// Where training is: in which epoch, counted from 1, and after how many steps.
  struct position {
    int epoch = 0;
    std::uint64_t step = 0;
  };

  /// Forward, backward and then an update, or only the sum of the gradients; returns the loss.
  enum class then { update, accumulate };
  float step(const batches<S>& batch, const position& at = {}, then next = then::update) {
    look(at, next);
    const auto& logits = net_.forward(batch.images);
    softmax_cross_entropy(logits, batch.labels, loss_weight_ * training_.loss_scale(), outcome_);
    net_.backward(outcome_.gradient);
    if (next == then::accumulate) {
      training_.accumulate();
      return outcome_.loss;
    }
    training_.step(outcome_.loss);
    if (adapt_scale_ && watch_->looks_at() != tensor_watch::look::none) adapt_scale();
    return outcome_.loss;
  }

  /// All that decides how training goes on. They refer to this object.
  [[nodiscard]] std::vector<saved_part> parts() {
    auto all = training_.parts();
    int count = 0;
    for (fp32_matrix* buffer : parameters_.buffers)
      all.push_back({"buffer " + std::to_string(++count),
                     [buffer](std::ostream& out) { write_matrix(out, *buffer); },
                     [buffer](std::istream& in) { read_matrix(in, *buffer); }});
    count = 0;
    for (saved_state* state : parameters_.states)
      all.push_back(part_of("state " + std::to_string(++count), *state));
    all.push_back(part_of("statistics", *watch_));
    return all;
  }

  /// Whether all that the network computes with is finite.
  [[nodiscard]] bool finite() {
    return training_.finite() && std::ranges::all_of(parameters_.buffers, [](const fp32_matrix* buffer) {
             return buffer->allFinite();
           });
  }

  [[nodiscard]] network<S>& net() { return net_; }
  [[nodiscard]] const parameter_list<S>& parameters() const { return parameters_; }
  [[nodiscard]] mixed_precision<S>& training() { return training_; }
  [[nodiscard]] const tensor_watch& watch() const { return *watch_; }

 private:
  static product_settings watched(product_settings products, const std::shared_ptr<tensor_watch>& watch) {
    products.watch = watch;
    return products;
  }

  /// Looks at the tensors if it is time, at those of the last batch of a step.
  void look(const position& at, then next) {
    using enum tensor_watch::look;
    const bool due = next == then::update && at.step % static_cast<std::uint64_t>(looks_.every) == 0;
    watch_->begin(!due                ? none
                  : looks_.statistics ? everything
                  : adapt_scale_      ? gradients
                                      : none,
                  at.epoch, at.step, training_.loss_scale(), flush_below_);
  }

  /// Sets the loss scale by the magnitudes of the gradients of the last step, if that was not skipped. Those
  /// of the steps until the next look may be larger, by as much as the headroom.
  void adapt_scale() {
    constexpr float headroom = 4;
    const narrow::exponent_histogram& scaled = watch_->scaled_gradients();
    if (scaled.nonfinite() > 0 || scaled.max_abs() == 0) return;
    const double scale = double{watch_->loss_scale()} * narrow::suggest_scale(scaled) / headroom;
    const narrow::loss_scaler_options& bounds = training_.scaler().options();
    training_.set_loss_scale(
        static_cast<float>(std::clamp<double>(scale, bounds.min_scale, bounds.max_scale)));
  }

  std::shared_ptr<tensor_watch> watch_;
  network<S> net_;
  parameter_list<S> parameters_;
  mixed_precision<S> training_;
  float loss_weight_, flush_below_;
  bool adapt_scale_;
  look_settings looks_;
  classification<S> outcome_;
};

}  // namespace narrow_train
