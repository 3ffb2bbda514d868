// The loop over epochs and batches, in one storage format.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "data/batches.hpp"
#include "training/inference.hpp"
#include "training/trainee.hpp"
#include "training/training.hpp"

namespace narrow_train {

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

/// One run: its network, its images and where it has got to.
template <class S> class training_run {
 public:
  /// Settings, data and observer must outlive this object.
  training_run(const training_settings& settings, const train_and_test& data, std::uint64_t seed,
               observer& watcher)
      : settings_(settings),
        data_(data),
        seed_(seed),
        watcher_(watcher),
        trained_(settings, data.train, seed),
        pixels_(scaling_of(data.train)),
        train_(data.train, values_of(pixels_), settings.batch, settings.augment),
        batches_per_step_(static_cast<std::size_t>(settings.accumulate_steps)),
        rates_(make_schedule(settings.schedule,
                             {settings.step.rate, settings.epochs,
                              (train_.count() + batches_per_step_ - 1) / batches_per_step_})) {}

  /// Trains all epochs, or those that follow its checkpoint. To be called once.
  training_result train() {
    if (settings_.ranks.members != nullptr) sums_ = trained_.join(settings_.ranks, settings_.batch);
    const auto path = checkpoint_path(settings_, seed_);
    const auto parts = this->parts();
    const auto described =
        settings_.checkpoints.empty() ? std::vector<setting>() : description(settings_, data_, seed_);
    if (continues(settings_, seed_)) read_checkpoint(path, described, parts, settings_.others);
    if (!result_.curve.empty()) at_ = result_.curve.back();
    watcher_.epochs_left_out(at_.epoch);
    while (at_.epoch < settings_.epochs && result_.diverged.empty()) {
      finish_epoch(train_epoch());
      result_.curve.push_back(at_);
      if (!settings_.checkpoints.empty()) {
        if (sums_) sums_->collect();
        if (leads()) write_checkpoint(path, described, parts);
      }
      watcher_.epoch_done(at_);
    }
    watcher_.epochs_left_out(settings_.epochs - at_.epoch);
    if (!settings_.exports.empty() && result_.diverged.empty() && leads()) write_its_model();
    complete_result();
    return std::move(result_);
  }

 private:
  using clock = std::chrono::steady_clock;
  using then = typename trainee<S>::then;

  /// All that decides how the run goes on.
  std::vector<saved_part> parts() {
    auto all = trained_.parts();
    all.push_back(part_of("schedule", *rates_));
    if (sums_)
      all.push_back({"carried gradients", [this](std::ostream& out) { sums_->save(out); },
                     [this](std::istream& in) { sums_->load(in); }});
    all.push_back(part_of(result_, settings_));
    return all;
  }

  mean_loss train_epoch() {
    const auto start = clock::now();
    mixed_precision<S>& training = trained_.training();
    ++at_.epoch;
    // The stream of an epoch is its own, so that it makes no difference whether this process ran the ones
    // before.
    narrow::seed(random_stream(seed_, purpose::rounding, static_cast<std::uint64_t>(at_.epoch)).bits());
    train_.shuffle(seed_, at_.epoch);
    mean_loss losses;
    for (std::size_t i = 0; i < train_.count(); ++i) {
      const bool complete = (i + 1) % batches_per_step_ == 0 || i + 1 == train_.count();
      if (complete) {
        at_.rate = rates_->rate(at_.step);
        training.rule().set_rate(at_.rate);
      }
      const float loss = step(i, complete ? then::update : then::accumulate);
      at_.step += complete;
      losses.add(loss, train_.size(i));
      if (i == 0) result_.activation_bytes = trained_.net().activation_bytes();
      watcher_.batch_done(train_.size(i), loss, training.loss_scale(), training.scaler().skipped());
    }
    if (training.policy()) training.policy()->epoch_done();
    at_.seconds += std::chrono::duration<double>(clock::now() - start).count();
    return losses;
  }

  float step(std::size_t i, then next) {
    if (sums_)
      return trained_.step(train_, i, settings_.batch, settings_.ranks, *sums_, [&](int micro_batch) {
        // Each one has a stream of its own, whoever computes it.
        random_stream of_step(seed_, purpose::rounding, at_.step << 1 | 1);
        narrow::seed(of_step.bits() + static_cast<std::uint64_t>(micro_batch));
      });
    train_.select(i);
    return trained_.step(train_, {at_.epoch, at_.step}, next);
  }

  /// Whether this process tells of the run, and writes its files.
  [[nodiscard]] bool leads() const {
    return settings_.ranks.members == nullptr || settings_.ranks.members->leads();
  }

  /// The accuracy on the test images, which one rank looks at for all.
  double tested() {
    double accuracy = 0;
    if (leads()) {
      evaluation found = evaluate(trained_.net(), data_.test, pixels_, settings_.batch, seed_);
      accuracy = found.accuracy;
      result_.logits = std::move(found.logits);
    }
    return settings_.ranks.members != nullptr ? settings_.ranks.members->of_leader(accuracy) : accuracy;
  }

  /// Tests the network, and says of the epoch what is to be in the curve.
  void finish_epoch(const mean_loss& losses) {
    const mixed_precision<S>& training = trained_.training();
    at_.loss = losses.value();
    at_.accuracy = tested();
    at_.scale = training.loss_scale();
    at_.skipped = training.scaler().skipped();
    at_.lost = training.lost();
    at_.nonfinite += losses.nonfinite();
    rates_->epoch_done(at_.loss);
    if (!trained_.finite())
      result_.diverged = "weights are not finite";
    else if (std::isnan(at_.loss))
      result_.diverged = "the loss of no batch was finite";
  }

  void write_its_model() {
    const model_description about{settings_, seed_, data_.train.shape, data_.train.classes, pixels_};
    const auto size = write_model(model_path(settings_, seed_), about, model_parts(trained_.parameters()));
    result_.exported = size_of_model(trained_.parameters(), size);
  }

  void complete_result() {
    mixed_precision<S>& training = trained_.training();
    if (const auto* policy = training.policy()) {
      result_.formats = policy->changes();
      result_.words = policy->words();
      result_.costs = policy->costs();
      result_.costs_in_fp32 = policy->costs_in_fp32();
    }
    result_.statistics = trained_.watch().statistics();
    result_.weight_bytes = training.weight_bytes();
    result_.master_bytes = training.master_bytes();
    result_.overflows = training.scaler().overflows_by_layer();
  }

  const training_settings& settings_;
  const train_and_test& data_;
  std::uint64_t seed_;
  observer& watcher_;
  trainee<S> trained_;
  pixel_scaling pixels_;
  batches<S> train_;
  std::size_t batches_per_step_;
  std::unique_ptr<schedule> rates_;
  std::unique_ptr<gradient_sums> sums_;  // where the run has several ranks
  training_result result_;
  curve_point at_{};
};

/// Trains a fresh network in the format S, or continues where its checkpoint is. The seed gives the initial
/// weights and the order of the images, the same for every S; equal arguments give equal results, in one run
/// or in several. A run whose weights are no longer finite, or whose loss was not in a whole epoch, ends
/// there: the result says why.
template <class S>
training_result train_network(const training_settings& settings, const train_and_test& data,
                              std::uint64_t seed, observer& watcher) {
  narrow::seed(seed);  // the initial weights may be rounded stochastically
  return training_run<S>(settings, data, seed, watcher).train();
}

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
