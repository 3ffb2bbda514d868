// One network in one storage format, and one step of its training.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "data/batches.hpp"
#include "files/data_error.hpp"
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

  /// Makes the sums for steps on several ranks. Throws data_error where more depends on the images of a step
  /// than gradients, which ranks would not agree on.
  std::unique_ptr<gradient_sums> join(const rank_settings& ranks, int batch) {
    if (!parameters_.buffers.empty() || !parameters_.states.empty() || training_.policy())
      throw data_error(
          "--reduce: this model in this format keeps statistics of its batches, and each rank would have "
          "others");
    const team& members = *ranks.members;
    const int terms = share_of(ranks.count(batch), members.rank(), members.ranks()).count;
    training_.make_terms(terms);
    return members.sums(ranks.form, ranks.what_is_cut_off(), terms);
  }

  /// One step on batch i, of whose micro-batches each rank takes a share; returns the mean loss over all of
  /// them. `begin_micro_batch(number)` is called before each of this rank's.
  template <class Begin>
  float step(batches<S>& from, std::size_t i, int batch, const rank_settings& ranks, gradient_sums& sums,
             const Begin& begin_micro_batch) {
    const team& members = *ranks.members;
    const micro_batches own = share_of(ranks.count(batch), members.rank(), members.ranks());
    const auto all = static_cast<float>(from.size(i));
    const auto add_layer = [&](const parameter_list<S>& of_layer) {
      for (auto* tensor : of_layer.weights) training_.add_terms(*tensor, sums);
      for (auto* tensor : of_layer.per_channel) training_.add_terms(*tensor, sums);
    };
    std::vector<float> losses;  // each weighted as its gradient is
    for (int m = 0; m < own.count; ++m) {
      const auto begin =
          static_cast<std::size_t>(own.first + m) * static_cast<std::size_t>(ranks.images(batch));
      const auto images = begin < from.size(i)
                              ? std::min(from.size(i) - begin, static_cast<std::size_t>(ranks.images(batch)))
                              : 0;
      if (images == 0) {
        training_.clear_terms(m);
        if (m + 1 == own.count) net_.for_each_layer_back(add_layer);
        continue;
      }
      begin_micro_batch(own.first + m);
      from.select(i, begin, images);
      const auto& logits = net_.forward(from.images);
      softmax_cross_entropy(logits, from.labels, loss_weight_ * training_.loss_scale(), outcome_);
      const float weight = static_cast<float>(images) / all;
      losses.push_back(outcome_.loss * weight);
      net_.backward(outcome_.gradient, [&](const parameter_list<S>& of_layer) {
        for (auto* tensor : of_layer.weights) training_.take_term(*tensor, m, weight);
        for (auto* tensor : of_layer.per_channel) training_.take_term(*tensor, m, weight);
        if (m + 1 == own.count) add_layer(of_layer);  // while the layers before it go on
      });
    }
    sums.wait();
    double loss = 0;
    for (const float part : members.all_of(losses)) loss += double{part};
    training_.step_with_sums(static_cast<float>(loss), members);
    return static_cast<float>(loss);
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
