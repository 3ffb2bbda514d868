// Trains one network in one storage format: the loop over epochs and batches.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "data/batches.hpp"
#include "layers/softmax.hpp"
#include "network.hpp"
#include "settings.hpp"

namespace narrow_train {

/// The state of a run after an epoch.
struct curve_point {
  int epoch;              // counted from 1
  std::uint64_t step;     // batches seen, skipped ones included
  float loss;             // mean cross-entropy over the epoch's training batches, unscaled and unweighted
  double accuracy;        // on the test images, in [0, 1]
  float scale;            // loss scale of the next step
  std::uint64_t skipped;  // steps without update so far
  double seconds;         // of training so far, without the tests
};

using overflow_counts = std::map<std::string, std::uint64_t, std::less<>>;

struct training_result {
  std::vector<curve_point> curve;
  std::size_t weight_bytes = 0;      // parameters as the layers hold them
  std::size_t master_bytes = 0;      // fp32 copy of the weights
  std::size_t activation_bytes = 0;  // kept from forward to backward, for a full batch
  overflow_counts overflows;         // steps in which a tensor's gradient overflowed, where there were any
};

/// Is told how far a run has come.
class observer {
 public:
  virtual ~observer() = default;
  virtual void batch_done(std::size_t images, float loss, float scale, std::uint64_t skipped) = 0;
  virtual void epoch_done(const curve_point& point) = 0;
};

/// Share of the images that the network takes for what they are.
template <class S> double accuracy(network<S>& net, batches<S>& images) {
  classification<S> result;
  std::size_t correct = 0, count = 0;
  for (std::size_t i = 0; i < images.count(); ++i) {
    images.select(i);
    softmax_cross_entropy(net.forward(images.images, phase::inference), images.labels, 1, result);
    correct += result.correct;
    count += images.labels.size();
  }
  return static_cast<double>(correct) / static_cast<double>(count);
}

/// Fixed-point gradients saturate, which no scaler can see: they take a constant scale, 1 if none is given.
template <class S> narrow::loss_scaler scaler_for(const std::string& loss_scale) {
  return make_scaler(narrow::narrow_fixed<S> && loss_scale == "dynamic" ? "none" : loss_scale);
}

/// A fresh network and what its training keeps. The seed gives the initial weights, the same for every S.
template <class S> class trainee {
 public:
  trainee(const training_settings& settings, const dataset& images, std::uint64_t seed)
      : net_(*settings.network, images.shape, images.classes, settings.products),
        training_(net_.parameters(), seed, settings.optimizer->make(settings.step),
                  scaler_for<S>(settings.loss_scale), settings.clip_norm, settings.master),
        loss_weight_(settings.loss_weight) {}

  /// Forward, backward and update; returns the loss.
  float step(const batches<S>& batch) {
    const auto& logits = net_.forward(batch.images);
    softmax_cross_entropy(logits, batch.labels, loss_weight_ * training_.loss_scale(), outcome_);
    net_.backward(outcome_.gradient);
    training_.step();
    return outcome_.loss;
  }

  [[nodiscard]] network<S>& net() { return net_; }
  [[nodiscard]] mixed_precision<S>& training() { return training_; }

 private:
  network<S> net_;
  mixed_precision<S> training_;
  float loss_weight_;
  classification<S> outcome_;
};

/// Trains a fresh network in the format S. The seed gives the initial weights and the order of the images,
/// the same for every S; equal arguments give equal results.
template <class S>
training_result train_network(const training_settings& settings, const train_and_test& data,
                              std::uint64_t seed, observer& watcher) {
  using clock = std::chrono::steady_clock;

  narrow::seed(seed);  // of stochastic rounding
  trainee<S> trained(settings, data.train, seed);
  network<S>& net = trained.net();
  mixed_precision<S>& training = trained.training();
  const pixel_values values = normalised(data.train);
  batches<S> train(data.train, values, settings.batch);
  batches<S> test(data.test, values, settings.batch);

  training_result result;
  std::uint64_t step = 0;
  double seconds = 0;
  float rate = settings.step.rate;
  for (int epoch = 1; epoch <= settings.epochs; ++epoch, rate *= settings.rate_decay) {
    const auto start = clock::now();
    training.rule().set_rate(rate);
    train.shuffle(seed, epoch);
    double loss = 0;
    for (std::size_t i = 0; i < train.count(); ++i) {
      train.select(i);
      const float batch_loss = trained.step(train);
      ++step;

      loss += double{batch_loss} * static_cast<double>(train.labels.size());
      if (i == 0) result.activation_bytes = net.activation_bytes();
      watcher.batch_done(train.labels.size(), batch_loss, training.loss_scale(), training.scaler().skipped());
    }
    seconds += std::chrono::duration<double>(clock::now() - start).count();
    result.curve.push_back({epoch, step, static_cast<float>(loss / static_cast<double>(data.train.count())),
                            accuracy(net, test), training.loss_scale(), training.scaler().skipped(),
                            seconds});
    watcher.epoch_done(result.curve.back());
  }
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
};

template <class S> class stepper_of final : public stepper {
 public:
  stepper_of(const training_settings& settings, const dataset& images)
      : trained_(settings, images, 1), batch_(images, normalised(images), static_cast<int>(images.count())) {
    batch_.select(0);
  }
  void step() override { trained_.step(batch_); }

 private:
  trainee<S> trained_;
  batches<S> batch_;
};

}  // namespace narrow_train
