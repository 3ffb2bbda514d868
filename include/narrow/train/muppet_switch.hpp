// Word lengths of a whole network that grow while it trains, until it trains in fp32.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../block/tensor.hpp"
#include "../errors.hpp"
#include "../kernel/product.hpp"
#include "../kernel/quantize.hpp"
#include "../runtime/thread_pool.hpp"
#include "counts.hpp"
#include "gradient_window.hpp"
#include "state_io.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI {

namespace detail {

struct muppet_layer {
  array_layout layout;
  std::uint64_t last_epoch = 0;
  gradient_window window;

  friend bool operator==(const muppet_layer&, const muppet_layer&) = default;

  template <class Field, class Self> static void fields(Field& field, Self& self) {
    layout_fields(field, self.layout);
    field("last_epoch", self.last_epoch);
    field("window", self.window);
  }
};

}  // namespace detail

/// The defaults are the paper's.
struct muppet_switch_options {
  int window = 3;          ///< epochs whose gradients a diversity is taken over; in [1, 1000]
  double amplitude = 1.5;  ///< of the threshold 1 + amplitude exp(-decay epoch); at least 0
  double decay = 0.1;      ///< per epoch; at least 0
  int patience = 2;        ///< violations before a switch; in [1, 1000]

  friend bool operator==(const muppet_switch_options&, const muppet_switch_options&) = default;
};

/// MuPPET: one word length for all layers, 8, 12, 14 and 16 bits, then fp32; it never shrinks.
///
/// An epoch: `observe` each layer's gradient of the last mini-batch, then `update`. Weights and activations
/// are quantised by `muppet_quantize`, each tensor with its own scale; the fp32 master copy takes the
/// updates.
///
/// Diversity  after every `window` epochs, of those epochs: the mean over the layers of
///            sum ||g||^2 / ||sum g||^2.
/// Violation  where the largest diversity since the last switch, over the present one, is above
///            1 + amplitude exp(-decay epoch). Epochs are counted from 1, never anew.
/// Switch     at the `patience`-th violation since the last switch, one after another or not.
/// Special    a gradient that is zero, or not finite everywhere, is skipped and counted; a layer without any,
///            or whose gradients cancel, has no part in a mean.
/// Rounding   in double, whatever the caller's floating-point control register.
/// Cost       one double for each weight.
/// Source     Rajagopal et al., "Multi-Precision Policy Enforced Training" (arXiv:2006.09049, 2020); that
///            windows follow one another without overlap, as in its program.
class muppet_switch : detail::streamable<muppet_switch> {
 public:
  /// The word lengths, in the order in which training goes through them; 32 stands for fp32.
  static constexpr std::array<int, 5> word_lengths = {8, 12, 14, 16, 32};

  muppet_switch() = default;

  /// Throws std::invalid_argument naming the option that is out of range.
  explicit muppet_switch(const muppet_switch_options& options) : options_(options) {
    detail::saved_state::check(*this);
  }

  const muppet_switch_options& options() const { return options_; }

  /// Throws std::invalid_argument naming both shapes if the gradient has another shape or storage order than
  /// before; std::logic_error if the layer was observed in this epoch already.
  template <array_of<float> Gradient> void observe(std::string_view layer, const Gradient& gradient) {
    const auto g = detail::read_array(gradient);
    detail::muppet_layer* state =
        detail::known_layer(layers_, layer, g.layout(), "narrow::muppet_switch::observe");
    if (state != nullptr && state->last_epoch == epochs_ + 1)
      detail::fail<std::logic_error>("narrow::muppet_switch::observe: \"" + std::string(layer) +
                                     "\" was observed in this epoch already");
    if (state == nullptr) {
      const detail::muppet_layer added{g.layout(), 0, detail::gradient_window(g.layout().size())};
      state = &layers_.emplace(layer, added).first->second;
    }
    state->last_epoch = epochs_ + 1;
    ++observed_;
    if (full_precision()) return;
    detail::with_float_environment([&] { take(state->window, g.elements()); });
  }

  /// Ends the epoch, and returns the word length for the next one. Throws std::logic_error if no gradient was
  /// observed in it.
  int update() {
    if (observed_ == 0)
      detail::fail<std::logic_error>(
          "narrow::muppet_switch::update: no gradient was observed since the last update");
    observed_ = 0;
    ++epochs_;
    if (!full_precision() && epochs_ % static_cast<std::uint64_t>(options_.window) == 0)
      detail::with_float_environment([&] { end_window(); });
    return word_length();
  }

  /// The present word length; 32 stands for fp32.
  int word_length() const { return word_lengths[static_cast<std::size_t>(stage_)]; }
  /// Whether training has come to fp32, and no more is observed.
  bool full_precision() const { return stage_ + 1 == static_cast<int>(word_lengths.size()); }

  /// How many epochs it has counted.
  std::uint64_t epochs() const { return epochs_; }

  /// How many gradients were skipped.
  std::uint64_t skipped() const { return skipped_; }

  /// How many violations there were since the last switch.
  int violations() const { return violations_; }

  /// The diversity of the last window; 0 where there is none.
  double diversity() const { return diversity_; }

  /// The largest diversity since the last switch; 0 where there is none.
  double largest_diversity() const { return largest_diversity_; }

  /// What largest_diversity() / diversity() must be above at the end of an epoch to be a violation.
  double threshold(std::uint64_t epoch) const {
    return detail::with_float_environment([&] {
      return 1 + detail::uncontracted(options_.amplitude *
                                      std::exp(-options_.decay * static_cast<double>(epoch)));
    });
  }

  friend bool operator==(const muppet_switch&, const muppet_switch&) = default;

 private:
  friend detail::saved_state;

  void take(detail::gradient_window& window, std::span<const float> gradient) {
    const double squares = detail::squared_norm(gradient);
    if (squares > 0 && detail::is_finite(squares))
      window.add(gradient, 1, squares);
    else
      ++skipped_;
  }

  void end_window() {
    double sum = 0;
    int layers = 0;
    for (auto& layer : layers_) {
      detail::gradient_window& window = layer.second.window;
      const double diversity = window.count() > 0 ? window.squared_diversity() : 0.0;
      window.clear();
      if (!(diversity > 0) || !detail::is_finite(diversity)) continue;
      sum += diversity;
      ++layers;
    }
    diversity_ = layers > 0 ? sum / layers : 0.0;
    if (layers == 0) return;
    largest_diversity_ = std::max(largest_diversity_, diversity_);
    if (largest_diversity_ / diversity_ > threshold(epochs_) && ++violations_ == options_.patience) {
      ++stage_;
      violations_ = 0;
      largest_diversity_ = 0;
    }
  }

  static std::string state_type() { return "narrow::muppet_switch"; }

  template <class Field, class Self> static void fields(Field& field, Self& self) {
    using detail::max_count, detail::within;
    constexpr double largest = std::numeric_limits<double>::max();
    auto& o = self.options_;
    field("window", o.window, within(1, 1000));
    field("amplitude", o.amplitude, within(0, largest));
    field("decay", o.decay, within(0, largest));
    field("patience", o.patience, within(1, 1000));
    field("stage", self.stage_, within(0, word_lengths.size() - 1));
    field("violations", self.violations_, within(0, o.patience - 1.0));
    field("epochs", self.epochs_, within(0, max_count));
    field("observed", self.observed_, within(0, max_count));
    field("skipped", self.skipped_, within(0, max_count));
    field("diversity", self.diversity_, within(0, largest));
    field("largest_diversity", self.largest_diversity_, within(0, largest));
    field("layers", self.layers_);
  }

  void check_relations() const {
    for (const auto& [name, layer] : layers_) {
      detail::check_parameter(state_type(), "last_epoch", layer.last_epoch, detail::within(1, epochs_ + 1));
      layer.window.check_layout(layer.layout);
    }
  }

  muppet_switch_options options_;
  int stage_ = 0;  // in word_lengths
  int violations_ = 0;
  std::uint64_t epochs_ = 0;
  std::uint64_t observed_ = 0;  // gradients, since the last update
  std::uint64_t skipped_ = 0;
  double diversity_ = 0, largest_diversity_ = 0;
  std::map<std::string, detail::muppet_layer, std::less<>> layers_;
};

namespace detail {

/// What `scale_within` returns for 0, which fits whatever the scale.
inline constexpr int any_scale = std::numeric_limits<int>::max();

/// The largest finite magnitude of x; several threads look for it.
inline absmax largest_of(std::span<const float> x) {
  constexpr kernel::index piece = 1 << 12;  // numbers: enough work for a thread to begin on
  absmax result;
  std::mutex merging;
  kernel::parallel_for_lines(std::ssize(x), piece, 1, [&](kernel::index first, kernel::index count) {
    absmax found;
    kernel::gather_magnitudes(matrix_view<const float>{x.data() + first, count, 1, 1, count}, found);
    const std::lock_guard lock(merging);
    result.add(found.bits);
  });
  return result;
}

/// The largest s for which the magnitude times 2^s is at most `bound`; `any_scale` for 0.
constexpr int scale_within(const absmax& magnitude, double bound) {
  if (magnitude.zero()) return any_scale;
  const auto limit = unpack(bound);
  auto number = unpack(std::bit_cast<float>(magnitude.bits));
  const int s = limit.leading() - number.leading();
  number.exponent += s;
  return compare(number, limit) > 0 ? s - 1 : s;
}

}  // namespace detail

/// MuPPET's scale of an array in words of 2 to 16 bits: the largest s for which max x 2^s is at most
/// UB + 1/2, and min x 2^s at least LB - 1/2, where UB = 2^(word_length - 1) - 1 and LB = -UB - 1 are the
/// largest and the smallest integer.
///
/// Special  a bound counts only for numbers of its sign. NaNs and infinities do not count; 0 where nothing else
///          than zeros does. At most 149: every float is a multiple of 2^-149. At least -127: 2^128 is no float.
/// Throws   std::invalid_argument unless word_length is in [2, 16].
/// Source   Rajagopal et al. (2020), the quantisation strategy.
template <array_of<float> X> int muppet_scale(const X& x, int word_length) {
  detail::check_parameter("narrow::muppet_scale", "word_length", word_length, detail::within(2, 16));
  const auto array = detail::read_array(x);
  const double half_range = static_cast<double>(1 << (word_length - 1));
  const auto largest = detail::largest_of(array.elements());
  int s = detail::scale_within(largest, half_range - 0.5);
  if (s != detail::scale_within(largest, half_range + 0.5)) {  // rare: it depends on signs
    detail::absmax positive, negative;
    for (const float value : array.elements()) {
      const auto bits = std::bit_cast<std::uint32_t>(value), magnitude = detail::magnitude_bits(value);
      (bits == magnitude ? positive : negative).add(magnitude);
    }
    s = std::min(detail::scale_within(positive, half_range - 0.5),
                 detail::scale_within(negative, half_range + 0.5));
  }
  return s == detail::any_scale
             ? 0
             : std::clamp(s, -detail::binary32::max_exponent, -detail::binary32::min_quantum);
}

/// to = q / 2^s where q is x 2^s rounded by `round`, and saturated to a word: what training in MuPPET's words
/// sees of an array. s is `muppet_scale(x, word_length)`, which is returned.
///
/// Shapes    `to` takes the shape of x; where it cannot be resized it must have it. It may be x itself.
/// Rounding  `rounding::stochastic{seed, offset}`, the paper's, draws under the row-major index. The program of
///           its authors did not saturate: a number that was rounded up left the word.
/// Special   NaN gives 0, infinity saturates.
/// Throws    as `muppet_scale`; std::invalid_argument naming both shapes if they do not match.
template <array_of<float> X, writable_array_of<float> Out, rounding_policy Round>
int muppet_quantize(const X& x, Out&& to, int word_length, const Round& round) {
  const int s = muppet_scale(x, word_length);
  const auto from = detail::read_array(x);
  auto out = detail::write_array(to, from.layout(), {"narrow::muppet_quantize", "x", "to"});
  std::vector<std::int16_t> words(from.elements().size());
  const auto values = detail::as_matrix(from.elements(), from.layout());
  const auto q = detail::as_matrix(std::span(words), from.layout());
  const double half_range = static_cast<double>(1 << (word_length - 1));
  const float scale = detail::power_of_two(-s);
  kernel::quantize(values, q, scale, kernel::scale_kind::power_of_two, {-half_range, half_range - 1}, round,
                   kernel::row_by_row(q));
  kernel::dequantize<std::int16_t>(q, scale, detail::as_matrix(out.elements(), from.layout()));
  out.commit();
  return s;
}

}  // namespace narrow

NARROW_STRICT_END
