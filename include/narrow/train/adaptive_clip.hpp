// Clipping values for gradients in int8, from how the gradients of each channel are distributed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "../block/tensor.hpp"
#include "../errors.hpp"
#include "array_access.hpp"
#include "counts.hpp"
#include "parameter.hpp"
#include "row_moments.hpp"
#include "state_io.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI {

/// What shares a clipping value: the whole gradient of a layer, or each of its channels.
enum class clip_granularity { per_layer, per_channel };

/// How the discriminator sees a channel: Gaussian, or an inverted T, with nearly all values next to zero and
/// a few far out.
enum class gradient_distribution { inverted_t, gaussian };

/// The defaults are the paper's. It calls them k, A and lambda.
struct adaptive_clip_options {
  double k = 1;         ///< positive; 0 < k a < 2, or the clipping value would run away
  double a = 0.8;       ///< positive: the weight of the present maximum
  double lambda = 0.3;  ///< in [0, 1]: a share above it, further than sigma from the mean, is Gaussian
  clip_granularity granularity = clip_granularity::per_channel;  ///< what shares a clipping value

  friend bool operator==(const adaptive_clip_options&, const adaptive_clip_options&) = default;
};

/// Clipping values of one layer's gradient for int8, chosen step by step by the gradient's distribution.
///
/// A step: `observe` the gradient G = dLoss/dY as channels x everything else. Then quantise it twice, with
/// stochastic rounding: over `clips()` into `basic_int8<per_row>` (`basic_int8<>` where the granularity is
/// per_layer) for the weight gradient G X^T, and over `max_abs()` into `basic_int8<>` for the input gradient
/// W^T G. `block_tensor::assign`, and `quantize` of Eigen matrices, take clipping values; `assign_together`
/// does both in one pass.
///
/// Clip      Gaussian: max|g|. Inverted T: s(t) = (1 - k a) s(t-1) + a max|g|, which settles at max|g| / k;
///           it may lie above the present maximum. s starts as the first max|g| that is not zero, and
///           Gaussian steps leave it alone. Where k a > 1 and gradients that shrink would make it zero or
///           negative it starts again.
/// Gaussian  more than the share lambda of the channel lies further than sigma from the mean, both over all
///           finite elements; sigma^2 is the mean squared difference. Channels of equal numbers are an inverted T.
/// Special   NaN and infinity have no part in anything but `nonfinite()`. A channel of nothing but zeros, or
///           without a finite element, leaves s as it is. Clips are positive floats: the smallest one while s
///           has not started, the largest at most.
/// Rounding  numbers of other types count as the floats that a block tensor makes of them. Sums, s and the
///           shares are double, the clip is s rounded to float: the same bits in every storage order and
///           under every floating-point control register of the caller, on every instruction set.
/// Cost      two passes over the gradient, some 200 bytes for each row; by vectors, fastest by columns.
/// Source    Zhao et al., "Distribution Adaptive INT8 Quantization for Training CNNs" (AAAI 2021),
///           magnitude-aware clipping. Their ablations: "both" is per_channel, "mcs" per_layer; "gvq" and
///           "global" need no state, they are `basic_int8<per_row>` and `basic_int8<>` as they are.
class adaptive_clip : detail::streamable<adaptive_clip> {
 public:
  adaptive_clip() = default;

  /// Throws std::invalid_argument naming the option that is out of range.
  explicit adaptive_clip(const adaptive_clip_options& options) : options_(options) {
    detail::saved_state::check(*this);
  }

  /// What it was made with.
  const adaptive_clip_options& options() const { return options_; }

  /// Ends a step: chooses the clipping values for this gradient, channels x rest, and counts. The first one
  /// that is not empty determines the number of channels; empty ones leave the clipping values as they are.
  ///
  /// Throws  std::invalid_argument naming both if the number of channels changes.
  template <class T>
  requires narrow_scalar<std::remove_const_t<T>> || std::floating_point<std::remove_const_t<T>>
  void observe(matrix_view<T> gradient) {
    detail::with_float_environment([&] { observe_matrix(matrix_view<const T>(gradient)); });
  }

  /// Observes an Eigen expression, or a range, which is one channel: see `row_major` for ranges of more.
  template <readable_array G>
  requires narrow_scalar<array_value_t<G>> || std::floating_point<array_value_t<G>>
  void observe(const G& gradient) {
    const auto array = detail::read_array(gradient);
    observe(detail::as_matrix(array.elements(), array.layout()));
  }

  /// One clipping value, or one for each channel. Empty before the first gradient.
  std::span<const float> clips() const { return clips_; }

  /// The largest finite magnitude of the last gradient: what the input gradient is quantised over.
  float max_abs() const { return max_abs_; }

  /// How the discriminator classified the last gradient, for each clipping value.
  std::span<const gradient_distribution> distributions() const { return distributions_; }

  /// How many elements of the last gradient are finite and beyond their clipping value: for each clipping
  /// value.
  std::span<const std::uint64_t> clipped_by_channel() const { return clipped_; }
  /// How many elements of the last gradient are finite and beyond their clipping value.
  std::uint64_t clipped() const {
    std::uint64_t total = 0;
    for (const auto n : clipped_) total = detail::saturating_sum(total, n);
    return total;
  }

  /// How many elements of the last gradient were NaN or infinite.
  std::uint64_t nonfinite() const { return nonfinite_; }

  /// How many steps it has counted.
  std::uint64_t steps() const { return steps_; }

  friend bool operator==(const adaptive_clip&, const adaptive_clip&) = default;

 private:
  friend detail::saved_state;

  bool per_layer() const { return options_.granularity == clip_granularity::per_layer; }

  template <class T> void observe_matrix(matrix_view<const T> g) {
    using moments = detail::row_moments;
    const bool empty = g.rows == 0 || g.cols == 0;
    if (!empty && !per_layer() && !states_.empty())
      detail::check_shapes(std::ssize(states_) == g.rows, "narrow::adaptive_clip::observe", "gradient",
                           detail::extents(g.rows, g.cols), "the number of channels", states_.size());
    if (empty) g = {};
    const moments found(g, per_layer() ? moments::of::matrix : moments::of::rows);
    const std::size_t channels = found.count();
    resize(std::max(channels, states_.size()));
    ++steps_;
    nonfinite_ = 0;
    max_abs_ = 0;
    std::vector<double> next;  // states, if the channel is an inverted T
    std::vector<float> limits;
    for (std::size_t c = 0; c < channels; ++c) {
      nonfinite_ += found.nonfinite(c);
      max_abs_ = std::max(max_abs_, found.largest(c));
      next.push_back(advanced(states_[c], found.largest(c)));
      limits.push_back(rounded(next[c]));
    }
    std::fill(clipped_.begin(), clipped_.end(), 0);
    const auto tails = found.tails(g, limits);
    for (std::size_t c = 0; c < channels; ++c) {
      const double share = found.finite(c) == 0
                               ? 0.0
                               : static_cast<double>(tails[c].far) / static_cast<double>(found.finite(c));
      const bool gaussian = share > options_.lambda;
      distributions_[c] = gaussian ? gradient_distribution::gaussian : gradient_distribution::inverted_t;
      clips_[c] = gaussian ? found.largest(c) : limits[c];
      clipped_[c] = gaussian ? 0 : tails[c].beyond;
      if (!gaussian || states_[c] == 0) states_[c] = next[c];
    }
  }

  /// s(t) from s(t-1) and max|g|; a state of 0 has not started.
  double advanced(double state, float largest) const {
    if (largest == 0) return state;
    const double kept = detail::uncontracted((1 - options_.k * options_.a) * state);
    const double next = kept + detail::uncontracted(options_.a * double(largest));
    return state > 0 && next > 0 ? std::min(next, double(std::numeric_limits<float>::max()))
                                 : double(largest);
  }

  static float rounded(double state) {
    using limits = std::numeric_limits<float>;
    return static_cast<float>(std::clamp(state, double(limits::denorm_min()), double(limits::max())));
  }

  void resize(std::size_t channels) {
    states_.resize(channels);
    clips_.resize(channels, rounded(0));
    distributions_.resize(channels);
    clipped_.resize(channels);
  }

  static std::string state_type() { return "narrow::adaptive_clip"; }

  template <class Field, class Self> static void fields(Field& field, Self& self) {
    using detail::each, detail::inside, detail::within;
    using limits = std::numeric_limits<float>;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    auto& o = self.options_;
    field("k", o.k, inside(0, infinity));
    field("a", o.a, inside(0, infinity));
    field("lambda", o.lambda, within(0, 1));
    field("granularity", o.granularity, within(clip_granularity::per_layer, clip_granularity::per_channel));
    field("steps", self.steps_, within(0, detail::max_count));
    field("nonfinite", self.nonfinite_);
    field("max_abs", self.max_abs_, within(0, limits::max()));
    field("states", self.states_, each(within(0, std::numeric_limits<double>::max())));
    field("clips", self.clips_, each(within(limits::denorm_min(), limits::max())));
    field("distributions", self.distributions_,
          each(within(gradient_distribution::inverted_t, gradient_distribution::gaussian)));
    field("clipped", self.clipped_);
  }

  void check_relations() const {
    detail::check_parameter(state_type(), "k a", options_.k * options_.a, detail::inside(0, 2));
    const auto channels = states_.size();
    if (clips_.size() != channels || distributions_.size() != channels || clipped_.size() != channels ||
        (per_layer() && channels > 1) || (steps_ == 0 && channels > 0))
      detail::fail<std::invalid_argument>("its sizes contradict one another");
  }

  adaptive_clip_options options_;
  std::uint64_t steps_ = 0;
  std::uint64_t nonfinite_ = 0;
  float max_abs_ = 0;
  // Each of these vectors has one element for each channel.
  std::vector<double> states_;  // s(t), 0 until it starts
  std::vector<float> clips_;
  std::vector<gradient_distribution> distributions_;
  std::vector<std::uint64_t> clipped_;
};

}  // namespace narrow

NARROW_STRICT_END
