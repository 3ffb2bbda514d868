// Trains one network in one storage format: the loop over epochs and batches.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint.hpp"
#include "data/batches.hpp"
#include "inference.hpp"
#include "layers/softmax.hpp"
#include "network.hpp"
#include "schedule.hpp"
#include "settings.hpp"

namespace narrow_train {

/// The state of a run after an epoch.
struct curve_point {
  int epoch;              // counted from 1
  std::uint64_t step;     // steps so far, skipped ones included
  float loss;             // mean cross-entropy over the epoch's training images, unscaled and unweighted, but
                          // for batches where it was not finite; NaN if it never was
  double accuracy;        // on the test images, in [0, 1]
  float rate;             // learning rate of the last step
  float scale;            // loss scale of the next step
  std::uint64_t skipped;  // steps without update so far
  std::uint64_t nonfinite;  // batches so far whose loss was infinite or NaN
  double seconds;           // of training so far, without the tests
  std::uint64_t lost = 0;   // steps so far in which the gradients of all weights were zero
};

/// Of the steps so far, those that changed the weights by a gradient.
inline std::uint64_t updates(const curve_point& p) { return p.step - p.skipped - p.lost; }

using overflow_counts = std::map<std::string, std::uint64_t, std::less<>>;

struct training_result {
  std::vector<curve_point> curve;
  std::size_t weight_bytes = 0;      // parameters as the layers hold them
  std::size_t master_bytes = 0;      // fp32 copy of the weights
  std::size_t activation_bytes = 0;  // kept from forward to backward, for a full batch
  overflow_counts overflows;         // steps in which a tensor's gradient overflowed, where there were any
  // Of recipes that switch formats; see precision_policy.
  std::vector<format_change> formats = {};
  precision_policy::word_counts words = {};
  narrow::cost_model costs = {}, costs_in_fp32 = {};
  std::vector<statistic> statistics = {};  // of the steps that were looked at
  std::string diverged = {};               // why training ended before its last epoch; empty: it did not
  // (classes x test images), after the last epoch; empty if that was not trained now.
  fp32_matrix logits = {};
  std::optional<model_size> exported = {};
  std::string other_build = {};  // that wrote the checkpoint which the run starts from; empty: this one
};

/// Where the checkpoint of a run lies.
std::filesystem::path checkpoint_path(const training_settings& settings, std::uint64_t seed);

/// The curve and the end of a result, as a part of a checkpoint. `load` throws for more epochs than the
/// settings ask for.
saved_part part_of(training_result& result, const training_settings& settings);

/// Whether a run starts from its checkpoint: the settings ask for it, and there is one.
bool continues(const training_settings& settings, std::uint64_t seed);

/// What that checkpoint says of the run's past. Throws data_error where it cannot be used.
std::optional<training_result> resumable(const training_settings& settings, const train_and_test& data,
                                         std::uint64_t seed);

/// Is told how far a run has come.
class observer {
 public:
  virtual ~observer() = default;
  virtual void batch_done(std::size_t images, float loss, float scale, std::uint64_t skipped) = 0;
  virtual void epoch_done(const curve_point& point) = 0;
  /// This many epochs will not be trained: a checkpoint has them, or the run diverged before.
  virtual void epochs_left_out(int /*count*/) {}
};

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

/// The mean over the batches of an epoch whose loss is finite.
class mean_loss {
 public:
  void add(float loss, std::size_t images) {
    ++batches_;
    if (!std::isfinite(loss)) return;
    ++finite_;
    sum_ += double{loss} * static_cast<double>(images);
    images_ += static_cast<double>(images);
  }
  /// NaN if there are none.
  [[nodiscard]] float value() const {
    return images_ > 0 ? static_cast<float>(sum_ / images_) : std::numeric_limits<float>::quiet_NaN();
  }
  [[nodiscard]] std::uint64_t nonfinite() const { return batches_ - finite_; }

 private:
  std::uint64_t batches_ = 0, finite_ = 0;
  double sum_ = 0, images_ = 0;
};

/// Trains a fresh network in the format S, or continues where its checkpoint is. The seed gives the initial
/// weights and the order of the images, the same for every S; equal arguments give equal results, in one run
/// or in several. A run whose weights are no longer finite, or whose loss was not in a whole epoch, ends
/// there: the result says why.
template <class S>
training_result train_network(const training_settings& settings, const train_and_test& data,
                              std::uint64_t seed, observer& watcher) {
  using clock = std::chrono::steady_clock;
  using then = typename trainee<S>::then;

  narrow::seed(seed);  // of stochastic rounding, here of the initial weights
  trainee<S> trained(settings, data.train, seed);
  network<S>& net = trained.net();
  mixed_precision<S>& training = trained.training();
  const pixel_scaling pixels = scaling_of(data.train);
  batches<S> train(data.train, values_of(pixels), settings.batch, settings.augment);

  const auto together = static_cast<std::size_t>(settings.accumulate_steps);
  const auto rates = make_schedule(
      settings.schedule, {settings.step.rate, settings.epochs, (train.count() + together - 1) / together});
  training_result result;
  auto parts = trained.parts();
  parts.push_back(part_of("schedule", *rates));
  parts.push_back(part_of(result, settings));
  std::vector<setting> told;
  if (!settings.checkpoints.empty()) told = description(settings, data, seed);
  const auto path = checkpoint_path(settings, seed);
  if (continues(settings, seed)) read_checkpoint(path, told, parts, settings.others);

  curve_point at{};
  if (!result.curve.empty()) at = result.curve.back();
  watcher.epochs_left_out(at.epoch);
  while (at.epoch < settings.epochs && result.diverged.empty()) {
    const auto start = clock::now();
    ++at.epoch;
    // Of this epoch alone, so that it makes no difference whether the ones before ran in this process.
    narrow::seed(random_stream(seed, purpose::rounding, static_cast<std::uint64_t>(at.epoch)).bits());
    train.shuffle(seed, at.epoch);
    mean_loss losses;
    for (std::size_t i = 0; i < train.count(); ++i) {
      const bool complete = (i + 1) % together == 0 || i + 1 == train.count();
      train.select(i);
      if (complete) {
        at.rate = rates->rate(at.step);
        training.rule().set_rate(at.rate);
      }
      const float loss = trained.step(train, {at.epoch, at.step}, complete ? then::update : then::accumulate);
      at.step += complete;
      losses.add(loss, train.labels.size());
      if (i == 0) result.activation_bytes = net.activation_bytes();
      watcher.batch_done(train.labels.size(), loss, training.loss_scale(), training.scaler().skipped());
    }
    if (training.policy()) training.policy()->epoch_done();
    at.seconds += std::chrono::duration<double>(clock::now() - start).count();
    at.loss = losses.value();
    evaluation tested = evaluate(net, data.test, pixels, settings.batch, seed);
    at.accuracy = tested.accuracy;
    result.logits = std::move(tested.logits);
    at.scale = training.loss_scale();
    at.skipped = training.scaler().skipped();
    at.lost = training.lost();
    at.nonfinite += losses.nonfinite();
    rates->epoch_done(at.loss);
    if (!trained.finite())
      result.diverged = "weights are not finite";
    else if (std::isnan(at.loss))
      result.diverged = "the loss of no batch was finite";
    result.curve.push_back(at);
    if (!settings.checkpoints.empty()) write_checkpoint(path, told, parts);
    watcher.epoch_done(at);
  }
  watcher.epochs_left_out(settings.epochs - at.epoch);
  if (!settings.exports.empty() && result.diverged.empty()) {
    const model_description about{settings, seed, data.train.shape, data.train.classes, pixels};
    const auto size = write_model(model_path(settings, seed), about, model_parts(trained.parameters()));
    result.exported = size_of_model(trained.parameters(), size);
  }
  if (const auto* policy = training.policy()) {
    result.formats = policy->changes();
    result.words = policy->words();
    result.costs = policy->costs();
    result.costs_in_fp32 = policy->costs_in_fp32();
  }
  result.statistics = trained.watch().statistics();
  result.weight_bytes = training.weight_bytes();
  result.master_bytes = training.master_bytes();
  result.overflows = training.scaler().overflows_by_layer();
  return result;
}

/// A network that is trained on one batch again and again, its format forgotten.
class stepper {
 public:
  virtual ~stepper() = default;
  virtual void step() = 0;
  /// What the cost model gives for the products of the steps so far; nothing where formats do not switch. Not
  /// of what switching costs, which it charges for each image: of dense layers, whose weights take part once
  /// in an image, many times the products.
  [[nodiscard]] virtual std::optional<double> modelled_speed_up() = 0;
};

template <class S> class stepper_of final : public stepper {
 public:
  stepper_of(const training_settings& settings, const dataset& images)
      : trained_(settings, images, 1), batch_(images, normalised(images), static_cast<int>(images.count())) {
    batch_.select(0);
  }
  void step() override { trained_.step(batch_); }
  std::optional<double> modelled_speed_up() override {
    const precision_policy* const policy = trained_.training().policy();
    if (policy == nullptr) return std::nullopt;
    const auto products = [](const narrow::cost_model& of) { return of.costs() - of.overhead(); };
    return products(policy->costs_in_fp32()) / products(policy->costs());
  }

 private:
  trainee<S> trained_;
  batches<S> batch_;
};

}  // namespace narrow_train
