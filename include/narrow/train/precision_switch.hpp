// Fixed-point formats that each layer chooses anew while it trains.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../errors.hpp"
#include "counts.hpp"
#include "gradient_window.hpp"
#include "lossless_format.hpp"
#include "state_io.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI {

/// Which of two proposals for the bits to add PushUp takes.
enum class precision_strategy { min, mean, max };

/// Two forms of PushUp, for the gradient diversity ds: as the paper prints it, with 1 / (ln ds - 1) and
/// 32 ln^2 ds - 1; and as the authors' program AdaPT has it, with x = ln ds - 1 in 1 / x^2 and 32 x^2.
enum class push_up_form { printed, adapt };

namespace detail {
/// The largest number of buffer bits: a sign and one fraction bit are left.
inline constexpr int max_buffer_bits = max_word_length - 2;

/// `push_up` of arguments that are in their ranges.
inline fixed_format pushed_up(const fixed_format& lossless, double diversity, precision_strategy strategy,
                              push_up_form form, int buffer_bits) {
  constexpr double max_bits = max_word_length;
  const double log = diversity > 0 && is_finite(diversity) ? std::log(diversity) : 1.0;
  const double x = log - 1;
  double first = 1, second = 1;
  if (form == push_up_form::printed) {
    if (x > 0) first = std::max(std::ceil(1 / x), 1.0);
    second = std::max(std::min(uncontracted(max_bits * log * log) - 1, max_bits) - lossless.fl, 1.0);
  } else if (x > 0) {
    first = std::max(std::ceil(1 / (x * x)), 1.0);
    second = std::max(std::min(std::ceil(max_bits * x * x), max_bits) - lossless.fl, 0.0);
  }
  const double bits = strategy == precision_strategy::min    ? std::min(first, second)
                      : strategy == precision_strategy::mean ? (first + second) / 2
                                                             : std::max(first, second);
  int fl = std::min(lossless.fl + static_cast<int>(std::min(std::ceil(bits), max_bits)), max_word_length);
  int wl = std::min(std::max(lossless.wl, fl) + 1, max_word_length);
  fl = std::min(fl, max_word_length - buffer_bits);
  wl = std::max(std::min(fl + buffer_bits, max_word_length), wl);
  return {wl, std::min(fl, wl - 1)};
}
}  // namespace detail

/// PushUp: a format with bits to spare for the gradients' diversity ds, from the one that loses no
/// information, <WL, FL>.
///
/// printed  s1 = max(ceil(1 / (ln ds - 1)), 1), s2 = max(min(32 ln^2 ds - 1, 32) - FL, 1)
/// adapt    s1 = max(ceil(1 / x^2), 1), s2 = max(min(ceil(32 x^2), 32) - FL, 0) where x = ln ds - 1 > 0,
///          else both are 1
/// Bits     s is the smaller of the two, their mean or the larger one, rounded up; then FL' = min(FL + s, 32),
///          WL' = min(max(WL, FL') + 1, 32); and, so that `buffer_bits` are left before the point, FL' is at
///          most 32 - buffer_bits and WL' at least min(FL' + buffer_bits, 32). Last, FL' < WL'. Integer bits
///          that WL had and WL' has not are lost: large weights then saturate.
/// Special  ln ds counts as 1 unless 0 < ds < inf, and s1 as 1 where it would divide by zero or less.
/// Throws   std::invalid_argument unless buffer_bits is in [0, 30] and the format is one.
/// Source   Kummer et al., "MARViN" (arXiv:2107.13490, 2021), PushUp.
inline fixed_format push_up(const fixed_format& lossless, double diversity, precision_strategy strategy,
                            push_up_form form, int buffer_bits) {
  lossless.check();
  detail::check_parameter("narrow::push_up", "buffer_bits", buffer_bits,
                          detail::within(0, detail::max_buffer_bits));
  return detail::with_float_environment(
      [&] { return detail::pushed_up(lossless, diversity, strategy, form, buffer_bits); });
}

/// The bounds and gamma are the paper's; tolerance and smoothing it leaves open.
struct precision_switch_options {
  int min_lookback = 25;     ///< steps, in [1, max_lookback]
  int max_lookback = 100;    ///< steps, at most 1000000
  int min_resolution = 50;   ///< bins of the histograms, in [2, max_resolution]
  int max_resolution = 150;  ///< bins, at most 65536
  double gamma = 0.9;        ///< in [0, 1]: the weight of the newest lookback. AdaPT has 0.33
  int buffer_bits = 4;       ///< in [0, 30]; 8 for ResNets
  double tolerance = 0.01;   ///< positive: a divergence below it loses no information
  double smoothing = 1e-6;   ///< positive, at most tolerance / (2 max_resolution)
  push_up_form push_up = push_up_form::adapt;  ///< how formats get longer
  fixed_format initial_format{8, 4};           ///< of a layer before its first switch

  friend bool operator==(const precision_switch_options&, const precision_switch_options&) = default;
};

/// What a `precision_switch` knows of a layer.
struct layer_precision {
  fixed_format format;          ///< for the next step
  double lookback = 0;          ///< steps between switches
  int resolution = 0;           ///< bins
  double diversity = 0;         ///< of the window at the last observation; 0: there were not yet two
  double gradient_norm = 0;     ///< of the last gradient; 0: it was skipped
  std::uint64_t observed = 0;   ///< steps
  std::uint64_t skipped = 0;    ///< of these, for their gradient
  std::uint64_t switches = 0;   ///< of its format
  lossless_format pushed_down;  ///< at the last switch
  double switch_diversity = 0;  ///< at the last switch

  friend bool operator==(const layer_precision&, const layer_precision&) = default;
};

namespace detail {

struct precision_layer {
  layer_precision report;
  array_layout layout;  // that of the gradient
  std::uint64_t last_step = 0;
  gradient_window window;

  friend bool operator==(const precision_layer&, const precision_layer&) = default;

  template <class Field, class Self> static void fields(Field& field, Self& self) {
    auto& report = self.report;
    field("wl", report.format.wl);
    field("fl", report.format.fl);
    field("lookback", report.lookback);
    field("resolution", report.resolution);
    field("diversity", report.diversity);
    field("gradient_norm", report.gradient_norm, within(0, std::numeric_limits<double>::max()));
    field("observed", report.observed);
    field("skipped", report.skipped, within(0, report.observed));
    field("switches", report.switches, within(0, report.observed));
    field("lossless_wl", report.pushed_down.format.wl);
    field("lossless_fl", report.pushed_down.format.fl);
    field("divergence", report.pushed_down.divergence);
    field("lossless", report.pushed_down.lossless);
    field("nonfinite_weights", report.pushed_down.nonfinite);
    field("switch_diversity", report.switch_diversity);
    layout_fields(field, self.layout);
    field("last_step", self.last_step);
    field("window", self.window);
  }
};

}  // namespace detail

/// MARViN: the fixed-point format of each layer, from the diversity of its gradients and what its weights
/// lose by rounding.
///
/// A step: forward and backward with each layer's weights in its format; then `observe` every layer once, in
/// any order. Update the fp32 master weights with gradient / norm (`layer(name).gradient_norm`; skip a layer
/// whose norm is 0), and round them stochastically to the format that `observe` returned.
///
/// Steps       are counted, not layers: a layer that is observed a second time begins a new step.
/// Strategy    at the beginning of a step: where the mean loss of the last n steps, this one excluded, is at
///             most the present loss, one notch up, min to mean to max; else min. n is the mean lookback of
///             the layers, rounded up; until there are n losses nothing changes.
/// Window      the sum of the layer's gradients, each divided by its norm. From the second on, with ds the
///             number of gradients over the norm of the sum: n = ceil(max_lookback / ds), within its bounds;
///             lookback = gamma n + (1 - gamma) lookback; the resolution grows by 1 where n is the upper
///             bound, and shrinks by 1 where it is the lower.
/// Switch      when the window has as many gradients as the lookback: `find_lossless_format` of the weights,
///             then `push_up` from there; and the window starts again.
/// Special     a gradient that is zero, or not finite everywhere, is skipped and counted; so is a loss that is
///             not finite. Weights that are not finite have no part in the histograms.
/// Rounding    in double, whatever the caller's floating-point control register. Sums go over an array in its
///             own order, and nothing is drawn at random: the same arrays give the same bits.
/// Cost        one double for each weight; two passes over the gradient in each step, about twenty over the
///             weights at a switch.
/// Source      Kummer et al., "MARViN" (arXiv:2107.13490, 2021). Where it contradicts itself: the lookback is
///             real, and n is compared with the bounds; the divergence weighs with the fp32 weights; s of PushUp
///             is not discarded by the buffer bits.
class precision_switch : detail::streamable<precision_switch> {
 public:
  precision_switch() = default;

  /// Throws std::invalid_argument naming the option that is out of range.
  explicit precision_switch(const precision_switch_options& options) : options_(options) {
    detail::saved_state::check(*this);
  }

  const precision_switch_options& options() const { return options_; }

  /// Takes part in the step with one layer, and returns the format for its weights.
  ///
  /// Weights   the fp32 master copy.
  /// Gradient  of the loss by these weights, not normalised and not scaled by a loss scale.
  /// Loss      of this step; of the layers of one step the first one counts.
  /// Throws    std::invalid_argument naming both shapes if those of the weights and the gradient differ, or if
  ///           the gradient has another shape or storage order than before.
  template <array_of<float> Weights, array_of<float> Gradient>
  fixed_format observe(std::string_view layer, const Weights& weights, const Gradient& gradient,
                       double loss) {
    const auto w = detail::read_array(weights);
    const auto g = detail::read_array(gradient);
    constexpr std::string_view function = "narrow::precision_switch::observe";
    detail::check_shapes(w.layout().same_shape(g.layout()), function, "weights", w.layout().shape(),
                         "gradient", g.layout().shape());
    detail::precision_layer* const known = detail::known_layer(layers_, layer, g.layout(), function);
    detail::precision_layer& state = known != nullptr ? *known : added(layer, g.layout());
    detail::with_float_environment([&] {
      if (state.last_step == steps_) begin_step(loss);
      state.last_step = steps_;
      take(state, w.elements(), g.elements());
    });
    return state.report.format;
  }

  std::uint64_t steps() const { return steps_; }
  /// Which proposal PushUp takes at present, as the loss has it.
  precision_strategy strategy() const { return strategy_; }

  /// Steps whose loss was not finite.
  std::uint64_t skipped_losses() const { return skipped_losses_; }

  /// How many gradients of layers were skipped.
  std::uint64_t skipped() const {
    std::uint64_t total = 0;
    for (const auto& layer : layers_) total = detail::saturating_sum(total, layer.second.report.skipped);
    return total;
  }

  /// Throws std::out_of_range if the layer was never observed.
  const layer_precision& layer(std::string_view name) const {
    const auto found = layers_.find(name);
    if (found == layers_.end())
      detail::fail<std::out_of_range>("narrow::precision_switch::layer: \"" + std::string(name) +
                                      "\" was never observed");
    return found->second.report;
  }

  /// The names of the layers that were observed, in alphabetical order.
  std::vector<std::string> layers() const {
    std::vector<std::string> names;
    for (const auto& layer : layers_) names.push_back(layer.first);
    return names;
  }

  friend bool operator==(const precision_switch&, const precision_switch&) = default;

 private:
  friend detail::saved_state;

  detail::precision_layer& added(std::string_view name, const array_layout& layout) {
    detail::precision_layer state;
    state.layout = layout;
    state.window = detail::gradient_window(layout.size());
    state.report.format = options_.initial_format;
    state.report.lookback = options_.min_lookback;
    state.report.resolution = options_.min_resolution;
    return layers_.emplace(name, std::move(state)).first->second;
  }

  void begin_step(double loss) {
    double lookbacks = 0;
    for (const auto& layer : layers_) lookbacks += layer.second.report.lookback;
    const auto wanted = static_cast<std::size_t>(std::ceil(lookbacks / static_cast<double>(layers_.size())));
    ++steps_;
    if (!detail::is_finite(loss)) {
      ++skipped_losses_;
      return;
    }
    if (losses_.size() >= wanted) {
      double sum = 0;
      for (auto old = losses_.end() - static_cast<std::ptrdiff_t>(wanted); old != losses_.end(); ++old)
        sum += *old;
      const bool stalled = sum / static_cast<double>(wanted) <= loss;
      strategy_ = !stalled                               ? precision_strategy::min
                  : strategy_ == precision_strategy::min ? precision_strategy::mean
                                                         : precision_strategy::max;
    }
    losses_.push_back(loss);
    if (losses_.size() > static_cast<std::size_t>(options_.max_lookback)) losses_.erase(losses_.begin());
  }

  void take(detail::precision_layer& layer, std::span<const float> weights, std::span<const float> gradient) {
    layer_precision& report = layer.report;
    ++report.observed;
    const double squares = detail::squared_norm(gradient);
    const bool usable = squares > 0 && detail::is_finite(squares);
    report.gradient_norm = usable ? std::sqrt(squares) : 0.0;
    if (!usable) {
      ++report.skipped;
      return;
    }
    layer.window.add(gradient, report.gradient_norm, 1);
    if (layer.window.count() >= 2) {
      report.diversity = layer.window.diversity();
      adapt(report);
    }
    if (static_cast<double>(layer.window.count()) < report.lookback) return;
    report.switch_diversity = layer.window.diversity();
    report.pushed_down =
        detail::find_lossless(weights, report.resolution, options_.tolerance, options_.smoothing);
    report.format = detail::pushed_up(report.pushed_down.format, report.switch_diversity, strategy_,
                                      options_.push_up, options_.buffer_bits);
    ++report.switches;
    layer.window.clear();
  }

  /// The lookback and the resolution for a new diversity.
  void adapt(layer_precision& report) const {
    const double lower = options_.min_lookback, upper = options_.max_lookback;
    const double n = std::clamp(std::ceil(upper / report.diversity), lower, upper);
    const double moved = detail::uncontracted(options_.gamma * n) +
                         detail::uncontracted((1 - options_.gamma) * report.lookback);
    report.lookback = std::clamp(moved, lower, upper);  // rounding may pass a bound that it has reached
    if (n == upper)
      report.resolution = std::min(report.resolution + 1, options_.max_resolution);
    else if (n == lower)
      report.resolution = std::max(report.resolution - 1, options_.min_resolution);
  }

  static std::string state_type() { return "narrow::precision_switch"; }

  template <class Field, class Self> static void fields(Field& field, Self& self) {
    using detail::each, detail::inside, detail::size, detail::within;
    using limits = std::numeric_limits<double>;
    auto& o = self.options_;
    field("min_lookback", o.min_lookback, within(1, o.max_lookback));
    field("max_lookback", o.max_lookback, within(1, 1000000));
    field("min_resolution", o.min_resolution, within(2, o.max_resolution));
    field("max_resolution", o.max_resolution, within(2, detail::max_bins));
    field("gamma", o.gamma, within(0, 1));
    field("buffer_bits", o.buffer_bits, within(0, detail::max_buffer_bits));
    field("tolerance", o.tolerance, inside(0, limits::infinity()));
    field("smoothing", o.smoothing, within(limits::min(), o.tolerance / (2.0 * o.max_resolution)));
    field("push_up", o.push_up, within(push_up_form::printed, push_up_form::adapt));
    field("initial_wl", o.initial_format.wl, within(2, detail::max_word_length));
    field("initial_fl", o.initial_format.fl, within(0, o.initial_format.wl - 1.0));
    field("steps", self.steps_, within(0, detail::max_count));
    field("skipped_losses", self.skipped_losses_, within(0, self.steps_));
    field("strategy", self.strategy_, within(precision_strategy::min, precision_strategy::max));
    field("losses", self.losses_, size(within(0, o.max_lookback)),
          each(within(limits::lowest(), limits::max())));
    field("layers", self.layers_);
  }

  void check_relations() const {
    for (const auto& [name, layer] : layers_) {
      const auto check = [](std::string_view field, auto value, auto low, auto high) {
        detail::check_parameter(state_type(), field, value, detail::within(low, high));
      };
      const auto& report = layer.report;
      report.format.check();
      report.pushed_down.format.check();
      check("lookback", report.lookback, options_.min_lookback, options_.max_lookback);
      check("resolution", report.resolution, options_.min_resolution, options_.max_resolution);
      check("last_step", layer.last_step, 1, steps_);
      check("observed", report.observed, 1, layer.last_step);  // once in a step
      layer.window.check_layout(layer.layout);
    }
  }

  precision_switch_options options_;
  std::uint64_t steps_ = 0;
  std::uint64_t skipped_losses_ = 0;
  precision_strategy strategy_ = precision_strategy::min;
  std::vector<double> losses_;  // those of at most max_lookback steps, the latest one last
  std::map<std::string, detail::precision_layer, std::less<>> layers_;
};

}  // namespace narrow

NARROW_STRICT_END
