// Loss scaling: gradients too small for a narrow format are multiplied into its range, and divided in fp32.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "../convert.hpp"
#include "../errors.hpp"
#include "../kernel/quantize.hpp"
#include "../kernel/reduce.hpp"
#include "../runtime/environment.hpp"
#include "../runtime/thread_pool.hpp"
#include "array_access.hpp"
#include "counts.hpp"
#include "parameter.hpp"
#include "state_io.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::detail {

/// to[i] = from[i] / scale, as a product with the reciprocal rounded to float; `to` may be `from`, and where
/// that changes nothing is not written to. Whether all of `from` is finite in float.
template <class T> bool unscale(const T* from, float* to, std::size_t n, float scale) {
  constexpr std::size_t block = 2048;  // 8 KiB: all passes over it find it in the nearest cache
  const auto inverse = static_cast<float>(1.0 / double(scale));
  std::atomic<bool> finite = true;
  kernel::parallel_for_lines(
      static_cast<std::ptrdiff_t>(n), block, 1, [&](std::ptrdiff_t first, std::ptrdiff_t all) {
        for (const std::ptrdiff_t end = first + all; first < end; first += block) {
          const std::ptrdiff_t count = std::min<std::ptrdiff_t>(block, end - first);
          float* const part = to + first;
          if (static_cast<const void*>(from) != to)
            detail::convert(from + first, part, static_cast<std::size_t>(count), rounding::nearest_even{});
          if (kernel::count_nonfinite(matrix_view<const float>{part, count, 1, 1, count}) > 0) finite = false;
          if (inverse != 1) kernel::scale_in_place(part, count, inverse);
        }
      });
  return finite;
}

}  // namespace narrow::detail

NARROW_STRICT_END

namespace narrow::inline NARROW_ABI {

/// The defaults are those of PyTorch's GradScaler. Its scale knows no floor; here it ends at the smallest
/// scale whose reciprocal is finite too.
struct loss_scaler_options {
  float init_scale = 65536;     ///< in [min_scale, max_scale]
  double growth_factor = 2;     ///< at least 1
  double backoff_factor = 0.5;  ///< positive, at most 1
  int growth_interval = 2000;   ///< clean steps in a row before the scale grows; at least 1
  float min_scale = std::numeric_limits<float>::min();  ///< the floor: at least 2^-126
  float max_scale = std::numeric_limits<float>::max();  ///< growth beyond it is refused
  int hysteresis = 1;  ///< overflows, the one that lowers the scale included; at least 1

  friend bool operator==(const loss_scaler_options&, const loss_scaler_options&) = default;
};

/// Dynamic loss scaling.
///
/// A step: multiply the loss gradient by `scale()`, back-propagate in the narrow format, `unscale` the
/// gradients of every layer into float, and unless one `overflowed()` update the weights. `update()` ends the
/// step either way.
///
/// Overflow  A step with an infinite or NaN gradient is skipped, and the scale multiplied by
///           `backoff_factor`, but not below `min_scale`. The first `hysteresis - 1` overflows only skip
///           their step; `growth_interval` clean steps in a row give all of them back.
/// Growth    After `growth_interval` clean steps in a row the scale is multiplied by `growth_factor`, unless
///           that passes `max_scale` or is no float; a new interval starts in either case.
/// Floor     An overflow at `min_scale` skips its step and leaves the scale: nothing is thrown. A run that is
///           `at_floor()` and skips one step after another has gradients that no scale can mend.
/// Rounding  Factors are applied in double and rounded to float, as GradScaler does: the same options and the
///           same overflows give the same bits.
/// Source    Micikevicius et al., Mixed Precision Training (2018), section 3.2; the rules of PyTorch's
///           torch.amp.GradScaler; hysteresis as in Megatron-LM and DeepSpeed.
class loss_scaler : detail::streamable<loss_scaler> {
 public:
  /// A step that overflowed, counted from 1 (0: there was none), and the layers that made it overflow.
  struct overflow_record {
    std::uint64_t step = 0;                     ///< counted from 1; 0: there was none
    std::set<std::string, std::less<>> layers;  ///< the names given to `unscale`

    friend bool operator==(const overflow_record&, const overflow_record&) = default;
  };

  loss_scaler() = default;

  /// Throws std::invalid_argument naming the option that is out of range.
  explicit loss_scaler(const loss_scaler_options& options)
      : options_(options), scale_(options.init_scale), hysteresis_left_(options.hysteresis) {
    detail::saved_state::check(*this);
  }

  /// What the gradient of the loss is to be multiplied by.
  float scale() const { return scale_; }
  const loss_scaler_options& options() const { return options_; }

  /// Sets the scale, as found from an `exponent_histogram`, say; a new growth interval starts. What was
  /// counted stays. Throws std::invalid_argument unless it is in [min_scale, max_scale], std::logic_error
  /// within a step: between `unscale` and `update`.
  void set_scale(float scale) {
    if (unscaled_ != 0)
      detail::fail<std::logic_error>(
          "narrow::loss_scaler::set_scale: gradients of this step were unscaled by another");
    detail::check_parameter("narrow::loss_scaler::set_scale", "scale", scale,
                            detail::within(options_.min_scale, options_.max_scale));
    scale_ = scale;
    growth_tracker_ = 0;
  }

  /// out[i] = float(grads[i]) * float(1 / scale()), and whether all of `grads` was finite (in float).
  ///
  /// To be called once or more in each step, under the name of a layer where the overflow report is to tell
  /// layers apart. All of `out` is written, finite or not.
  ///
  /// Shapes  `out` takes the shape of `grads`; where it cannot be resized it must have it. Elements of Eigen
  ///         objects correspond by row and column. Where `grads` is float `out` may be `grads` itself; they
  ///         overlap in no other way.
  /// Throws  std::invalid_argument naming both shapes if they do not match; the scaler is then as it was.
  template <readable_array Grads, writable_array_of<float> Out>
  requires narrow_scalar<array_value_t<Grads>> || std::floating_point<array_value_t<Grads>>
  bool unscale(const Grads& grads, Out&& out, std::string_view layer = {}) {
    const auto from = detail::read_array(grads);
    auto to = detail::write_array(out, from.layout(), {"narrow::loss_scaler::unscale", "grads", "out"});
    const bool finite = detail::with_float_environment([&] {
      return detail::unscale(from.elements().data(), to.elements().data(), from.elements().size(), scale_);
    });
    to.commit();
    ++unscaled_;
    if (!finite) overflowing_layers_.emplace(layer);
    return finite;
  }

  /// Whether gradients unscaled since the last `update()` were not finite: the weights must not be updated.
  bool overflowed() const { return !overflowing_layers_.empty(); }

  /// The names given to `unscale` for gradients that were not finite, since the last `update()`.
  const std::set<std::string, std::less<>>& overflowing_layers() const { return overflowing_layers_; }

  /// Counts gradients that were not finite elsewhere, on another machine, say, as this step's.
  void report_overflow(std::string_view layer = {}) {
    ++unscaled_;
    overflowing_layers_.emplace(layer);
  }

  /// Ends the step: counts it, and sets the scale of the next.
  /// Throws std::logic_error if no gradients were unscaled in it.
  void update() {
    if (unscaled_ == 0)
      detail::fail<std::logic_error>(
          "narrow::loss_scaler::update: no gradients were unscaled since the last update");
    ++steps_;
    if (overflowed())
      back_off();
    else if (++growth_tracker_ == options_.growth_interval)
      grow();
    unscaled_ = 0;
  }

  std::uint64_t steps() const { return steps_; }

  /// How many of the steps overflowed.
  std::uint64_t skipped() const { return skipped_; }

  /// Whether the scale is as low as it may be.
  bool at_floor() const { return scale_ <= options_.min_scale; }

  /// In how many steps each layer overflowed; layers that never did are absent. Gradients unscaled without a
  /// name count under the empty one.
  const std::map<std::string, std::uint64_t, std::less<>>& overflows_by_layer() const {
    return overflows_by_layer_;
  }

  /// The latest step that overflowed. It was the last step of all if its number is `steps()`.
  const overflow_record& last_overflow() const { return last_overflow_; }

  friend bool operator==(const loss_scaler&, const loss_scaler&) = default;

 private:
  friend detail::saved_state;

  float times(double factor) const { return static_cast<float>(double(scale_) * factor); }

  void back_off() {
    ++skipped_;
    growth_tracker_ = 0;
    if (hysteresis_left_ > 1)
      --hysteresis_left_;
    else
      scale_ = std::max(times(options_.backoff_factor), options_.min_scale);
    for (const auto& layer : overflowing_layers_) ++overflows_by_layer_[layer];
    last_overflow_ = {steps_, std::exchange(overflowing_layers_, {})};
  }

  void grow() {
    growth_tracker_ = 0;
    hysteresis_left_ = options_.hysteresis;
    const float grown = times(options_.growth_factor);
    if (detail::is_finite(grown) && grown <= options_.max_scale) scale_ = grown;
  }

  static std::string state_type() { return "narrow::loss_scaler"; }

  template <class Field, class Self> static void fields(Field& field, Self& self) {
    using detail::each, detail::max_count, detail::size, detail::within;
    constexpr float lowest = std::numeric_limits<float>::min(), highest = std::numeric_limits<float>::max();
    constexpr int max_int = std::numeric_limits<int>::max();
    auto& o = self.options_;
    field("init_scale", o.init_scale, within(o.min_scale, o.max_scale));
    field("growth_factor", o.growth_factor, within(1, highest));
    field("backoff_factor", o.backoff_factor, within(lowest, 1));
    field("growth_interval", o.growth_interval, within(1, max_int));
    field("min_scale", o.min_scale, within(lowest, o.max_scale));
    field("max_scale", o.max_scale, within(lowest, highest));
    field("hysteresis", o.hysteresis, within(1, max_int));
    field("scale", self.scale_, within(o.min_scale, o.max_scale));
    field("growth_tracker", self.growth_tracker_, within(0, o.growth_interval - 1.0));
    field("hysteresis_left", self.hysteresis_left_, within(1, o.hysteresis));
    field("steps", self.steps_, within(0, max_count));
    field("skipped", self.skipped_, within(0, self.steps_));
    field("unscaled", self.unscaled_, within(0, max_count));
    field("overflowing_layers", self.overflowing_layers_, size(within(0, self.unscaled_)));
    field("overflows_by_layer", self.overflows_by_layer_, each(within(0, self.skipped_)));
    field("last_overflow_step", self.last_overflow_.step, within(0, self.steps_));
    field("last_overflow_layers", self.last_overflow_.layers);
  }

  loss_scaler_options options_;
  float scale_ = options_.init_scale;
  int growth_tracker_ = 0;  // clean steps in a row
  int hysteresis_left_ = options_.hysteresis;
  std::uint64_t steps_ = 0, skipped_ = 0;
  std::uint64_t unscaled_ = 0;  // arrays, since the last update
  std::set<std::string, std::less<>> overflowing_layers_;
  std::map<std::string, std::uint64_t, std::less<>> overflows_by_layer_;
  overflow_record last_overflow_;
};

/// A scaler that always multiplies by `scale`, in [2^-126, max float]. Overflows are reported and their steps
/// are to be skipped as with a dynamic one. Micikevicius et al. (2018), section 3.2, trained with constants
/// from 8 to 32768.
inline loss_scaler static_scale(float scale) {
  detail::check_parameter(
      "narrow::static_scale", "scale", scale,
      detail::within(std::numeric_limits<float>::min(), std::numeric_limits<float>::max()));
  return loss_scaler({.init_scale = scale, .growth_factor = 1, .backoff_factor = 1});
}

}  // namespace narrow
