// A look at the tensors of a network while it trains, and at what small gradients are good for.
#pragma once

#include <cstdint>
#include <narrow/train/exponent_histogram.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/saved_state.hpp"
#include "tensor/tensor.hpp"

namespace narrow_train {

/// A number, or the counts of a histogram, of one tensor in one step.
struct statistic {
  int epoch = 0;           // counted from 1
  std::uint64_t step = 0;  // steps before this one
  std::string layer;       // the name of its weights
  std::string tensor;  // weights, activations (the layer's input), weight_gradients, activation_gradients (by
                       // the layer's output)
  std::string name;
  int first_bin = 0;  // of exponents: floor(log2 |x|) of those counted first
  std::vector<double> values;
};

/// Shared by the layers of a network, which show it what they have in hand on the way backward.
///
/// The statistics of every tensor:
///   exponents, zeros, nonfinite  counts of each floor(log2 |x|), of zeros, of infinities and NaNs
///   largest                      the largest finite magnitude
/// and those of activation gradients besides:
///   values                       counts in 64 bins of equal width from -largest to largest; in the same bins those
///                                of the first 8 channels and samples, values_channel_K and values_sample_K
///   ks_gaussian, ks_inverted_t   Kolmogorov-Smirnov distances of up to 2^16 elements to the distributions between
///                                which narrow::adaptive_clip decides
///   error_global, error_gvq      root mean square of what rounding to int8 changes over that of the gradient, under
///                                one scale and one for each channel; error_mcs, error_both under the scales of a
///                                training that clips so. To nearest, so that no random number is drawn.
/// Gradients are those of the loss itself, without its scale.
class tensor_watch final : public saved_state {
 public:
  enum class look { none, gradients, everything };  // gradients: their magnitudes

  /// Begins a step. `flush_below`: activation gradients of smaller magnitudes, without the loss scale, are
  /// zero.
  void begin(look wanted, int epoch, std::uint64_t step, float loss_scale, float flush_below);

  [[nodiscard]] look looks_at() const { return wanted_; }
  /// The loss scale of this step.
  [[nodiscard]] float loss_scale() const { return loss_scale_; }

  /// Shows what a layer with weights has: its input x; its output's gradient dy, of which `channels` lie side
  /// by side; its weights' gradient dw. `clips`: what training clips dy by, for the layer or for each
  /// channel, if it does.
  template <class S>
  void gradients(const std::string& layer, const matrix<S>& x, const matrix<S>& dy, Eigen::Index channels,
                 const matrix<S>& dw, std::span<const float> clips = {}) {
    if (wanted_ != look::none) {
      scaled_.add(dy);
      scaled_.add(dw);
    }
    if (wanted_ != look::everything) return;
    add(layer, "activations", x.template cast<float>());
    add_gradient(layer, dy.template cast<float>(), channels, clips);
  }

  /// Shows weights and their gradient, the gradient without the loss scale.
  void weights(const std::string& layer, const fp32_matrix& weights, const fp32_matrix& gradient);

  /// The gradients that layers have shown in this step, with the loss scale.
  [[nodiscard]] const narrow::exponent_histogram& scaled_gradients() const { return scaled_; }

  /// dy without what is to be zero; in `left` if that is anything.
  template <class S> const matrix<S>& flushed(const matrix<S>& dy, matrix<S>& left) const {
    if (threshold_ == 0) return dy;
    left = dy.unaryExpr([below = threshold_](S g) {
      const auto x = static_cast<float>(g);
      return x < below && x > -below ? S(0.0f) : g;
    });
    return left;
  }

  [[nodiscard]] const std::vector<statistic>& statistics() const { return statistics_; }

  /// All statistics so far.
  void save(std::ostream& out) const override;
  void load(std::istream& in) override;

 private:
  void add(const std::string& layer, const std::string& tensor, std::string name, std::vector<double> values,
           int first_bin = 0);
  void add(const std::string& layer, const std::string& tensor, const fp32_matrix& m);
  void add_gradient(const std::string& layer, const fp32_matrix& scaled, Eigen::Index channels,
                    std::span<const float> clips);

  look wanted_ = look::none;
  int epoch_ = 0;
  std::uint64_t step_ = 0;
  float loss_scale_ = 1, threshold_ = 0;
  narrow::exponent_histogram scaled_;
  std::vector<statistic> statistics_;
};

}  // namespace narrow_train
