// Batch normalisation.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "layers/channel_sums.hpp"
#include "layers/layer.hpp"
#include "tensor/parallel.hpp"

namespace narrow_train {

/// y = gamma (x - mean) / sqrt(variance + epsilon) + beta for each channel, a feature's channel being its
/// index modulo `channels`. Ioffe and Szegedy, Batch Normalization (2015), algorithms 1 and 2: in training
/// mean and variance are those of the batch (its pixels, where samples are images), in inference running
/// averages of them, of the unbiased variance. Statistics and arithmetic are fp32, x and y are stored in S:
/// Micikevicius et al., Mixed Precision Training (2018), section 3.3.
template <class S> class batch_norm final : public layer<S> {
 public:
  static constexpr double epsilon = 1e-5;
  static constexpr float momentum = 0.9f;  // share of the old value in a running average

  explicit batch_norm(Eigen::Index channels)
      : running_mean_(fp32_matrix::Zero(channels, 1)), running_variance_(fp32_matrix::Ones(channels, 1)) {
    gamma_.value = fp32_matrix::Ones(channels, 1);
    beta_.value = fp32_matrix::Zero(channels, 1);
    gamma_.kind = "gamma";
    beta_.kind = "beta";
  }

  const matrix<S>& forward(const matrix<S>& x) override {
    Eigen::ArrayXf shift = Eigen::ArrayXf::Zero(channels());
    // The moments are those of differences to a value among them: little is lost when the square of the mean
    // is taken off.
    if (x.size() > 0) shift = x.reshaped().head(channels()).template cast<float>();
    const channel_sums sums =
        sum_of_pieces(x.size(), [&](Eigen::Index first, Eigen::Index size, channel_sums& some) {
          add_moments(read(x, first, size, x_), size, shift, some);
        });
    const double pixels = pixels_of(x);
    const Eigen::ArrayXd mean = sums.first / pixels;
    const Eigen::ArrayXd variance = (sums.second / pixels - mean.square()).max(0.0);
    mean_ = (mean + shift.cast<double>()).cast<float>();
    inverse_deviation_ = (variance + epsilon).rsqrt().cast<float>();
    remember((variance * (pixels / std::max(pixels - 1, 1.0))).cast<float>());
    return normalised(x, mean_, inverse_deviation_);
  }

  const matrix<S>& infer(const matrix<S>& x) override {
    return normalised(x, running_mean_.array(),
                      (running_variance_.array().cast<double>() + epsilon).rsqrt().cast<float>());
  }

  const matrix<S>& backward(const matrix<S>& x, const matrix<S>& dy, input_gradient wanted) override {
    const channel_sums sums =
        sum_of_pieces(x.size(), [&](Eigen::Index first, Eigen::Index size, channel_sums& some) {
          add_gradients(read(x, first, size, x_), read(dy, first, size, dy_), size, mean_, some);
        });
    const Eigen::ArrayXd inverse = inverse_deviation_.cast<double>();
    beta_.gradient = sums.first.cast<float>();
    gamma_.gradient = (sums.second * inverse).cast<float>();
    if (wanted == input_gradient::unwanted) return dx_;

    // dx = gamma / deviation (dy - mean of dy - x^ mean of dy x^), x^ being x with mean 0 and variance 1.
    const double pixels = pixels_of(x);
    const Eigen::ArrayXd factor = gamma_.value.array().cast<double>() * inverse;
    const Eigen::ArrayXf slope = (-factor * inverse.square() * sums.second / pixels).cast<float>();
    const Eigen::ArrayXf offset = (-factor * sums.first / pixels).cast<float>();
    const Eigen::ArrayXf rounded_factor = factor.cast<float>();
    dx_.resize(x.rows(), x.cols());
    for_each_piece(x.size(), [&](int, Eigen::Index first, Eigen::Index size) {
      write(dx_, first, size, [&](float* out) {
        normalise_gradient(read(x, first, size, x_), read(dy, first, size, dy_), size, mean_, rounded_factor,
                           slope, offset, out);
      });
    });
    return dx_;
  }

  void collect(parameter_list<S>& all) override {
    all.per_channel.push_back(&gamma_);
    all.per_channel.push_back(&beta_);
    all.buffers.push_back(&running_mean_);
    all.buffers.push_back(&running_variance_);
  }

  [[nodiscard]] std::size_t activation_bytes() const override {
    return bytes_of(y_) + static_cast<std::size_t>(mean_.size() + inverse_deviation_.size()) * sizeof(float);
  }

 private:
  [[nodiscard]] Eigen::Index channels() const { return gamma_.value.rows(); }
  [[nodiscard]] double pixels_of(const matrix<S>& x) const {
    return static_cast<double>(x.size()) / static_cast<double>(channels());
  }

  /// f(group, first, size) for all pieces.
  template <class F> void for_each_piece(Eigen::Index size, F f) const {
    const Eigen::Index piece = piece_size(channels());
    for_each_share<S>((size + piece - 1) / piece, [&](int group, Eigen::Index begin, Eigen::Index count) {
      for (Eigen::Index first = begin * piece; first < std::min((begin + count) * piece, size);
           first += piece)
        f(group, first, std::min(piece, size - first));
    });
  }

  /// The sums that f(first, size, sums) adds for each of them.
  template <class F> channel_sums sum_of_pieces(Eigen::Index size, F f) const {
    std::vector<channel_sums> groups(groups_of_images, channel_sums(channels()));
    for_each_piece(size, [&](int group, Eigen::Index first, Eigen::Index length) {
      f(first, length, groups[static_cast<std::size_t>(group)]);
    });
    for (std::size_t group = 1; group < groups.size(); ++group) {
      groups[0].first += groups[group].first;
      groups[0].second += groups[group].second;
    }
    return groups[0];
  }

  /// Elements of m as floats.
  static const float* read(const matrix<S>& m, Eigen::Index first, Eigen::Index size,
                           std::vector<float>& scratch) {
    return in_fp32(m.data() + first, size, scratch);
  }

  /// Elements of m, as f(out) writes them; rounded to S once.
  template <class F> void write(matrix<S>& m, Eigen::Index first, Eigen::Index size, F f) {
    if constexpr (std::is_same_v<S, float>) {
      f(m.data() + first);
    } else {
      out_.resize(static_cast<std::size_t>(size));
      f(out_.data());
      timed(work::conversions, [&] { narrow::convert(out_, std::span(m.data() + first, out_.size())); });
    }
  }

  const matrix<S>& normalised(const matrix<S>& x, const Eigen::ArrayXf& mean,
                              const Eigen::ArrayXf& inverse_deviation) {
    const Eigen::ArrayXf factor = gamma_.value.array() * inverse_deviation, offset = beta_.value.array();
    y_.resize(x.rows(), x.cols());
    for_each_piece(x.size(), [&](int, Eigen::Index first, Eigen::Index size) {
      write(y_, first, size,
            [&](float* out) { normalise(read(x, first, size, x_), size, mean, factor, offset, out); });
    });
    return y_;
  }

  /// Takes the batch into the running averages, without channels that overflowed: the step that they belong
  /// to is left out, too.
  void remember(const Eigen::ArrayXf& unbiased_variance) {
    for (Eigen::Index c = 0; c < channels(); ++c) {
      if (!std::isfinite(mean_[c]) || !std::isfinite(unbiased_variance[c])) continue;
      running_mean_(c) = momentum * running_mean_(c) + (1 - momentum) * mean_[c];
      running_variance_(c) = momentum * running_variance_(c) + (1 - momentum) * unbiased_variance[c];
    }
  }

  parameter<float> gamma_, beta_;                // (channels x 1)
  fp32_matrix running_mean_, running_variance_;  // (channels x 1)
  Eigen::ArrayXf mean_, inverse_deviation_;      // (channels), of the last batch in training
  matrix<S> y_;                                  // (features x batch)
  matrix<S> dx_;                                 // (features x batch)
  std::vector<float> x_, dy_, out_;              // scratch: a piece, where S is not float
};

struct batch_norm_spec {
  template <class S> std::unique_ptr<layer<S>> make(layer_site& at) const {
    return std::make_unique<batch_norm<S>>(at.shape.channels);
  }
};

}  // namespace narrow_train
