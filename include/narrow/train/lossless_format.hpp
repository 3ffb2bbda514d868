// The narrowest fixed-point format in which weights are still distributed as they are.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "../block/fixed_tensor.hpp"
#include "../kernel/quantize.hpp"
#include "array_access.hpp"
#include "parameter.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI {

/// The shortest word that holds a magnitude rounded to nearest with so many fraction bits, without
/// saturating: 2 to 32, more than `fraction_length`; 33 where there is none. Infinity and NaN count as 0.
/// Throws std::invalid_argument if the fraction length is not from 0 to 31.
inline int covering_word_length(float max_abs, int fraction_length) {
  detail::check_parameter("narrow::covering_word_length", "fraction_length", fraction_length,
                          detail::within(0, 31));
  const auto x = detail::unpack(max_abs);
  if (x.what != detail::kind::finite) return std::max(2, fraction_length + 1);
  constexpr int beyond = 33;
  if (x.leading() + fraction_length >= beyond) return beyond;
  const std::uint64_t mantissa = detail::round_to_multiple(x, -fraction_length, rounding::nearest_even{});
  return std::min(std::max({2, fraction_length + 1, detail::bit_width_of(mantissa) + 1}), beyond);
}

/// The format that PushDown finds, and what its test said of it.
struct lossless_format {
  fixed_format format;          ///< the shortest that loses no information, if there is one
  double divergence = 0;        ///< the `weight_divergence` of the format
  bool lossless = true;         ///< false: no format is, and this is the one with the most fraction bits
  std::uint64_t nonfinite = 0;  ///< weights that are NaN or infinite and have no part in it

  friend bool operator==(const lossless_format&, const lossless_format&) = default;
};

namespace detail {

/// The largest number of bins of a histogram of weights. With more, most bins of a layer of a few million
/// weights would be nearly empty.
inline constexpr int max_bins = 65536;

/// A histogram of weights over their range, and those of their copies in fixed point over the same range.
class weight_histograms {
 public:
  weight_histograms(std::span<const float> weights, int bins)
      : weights_(weights), own_(static_cast<std::size_t>(bins)) {
    bool found = false;
    for (const float w : weights) {
      if (!is_finite(w)) continue;
      lowest_ = found ? std::min(lowest_, double(w)) : double(w);
      highest_ = found ? std::max(highest_, double(w)) : double(w);
      found = true;
      ++finite_;
    }
    max_abs_ = std::max(highest_, -lowest_);
    if (lowest_ == highest_) {  // one value: a copy that lost it shows against zero
      lowest_ = std::min(lowest_, 0.0);
      highest_ = std::max(highest_, 0.0);
    }
    bins_per_unit_ = highest_ > lowest_ ? bins / (highest_ - lowest_) : 0.0;
    for (const float w : weights)
      if (is_finite(w)) ++own_[bin_of(double(w))];
  }

  float max_abs() const { return static_cast<float>(max_abs_); }
  /// How many infinities and NaNs there are.
  std::uint64_t nonfinite() const { return weights_.size() - finite_; }

  /// sum P log(P / Q), P the shares of the weights in the bins, Q those of the weights in the format, each
  /// with `smoothing` added and divided by their new sum.
  double divergence(const fixed_format& f, double smoothing) const {
    if (finite_ == 0) return 0;
    std::vector<std::uint64_t> copies(own_.size());
    const double step = std::ldexp(1.0, -f.fl), half_range = std::ldexp(1.0, f.wl - 1);
    const kernel::element_range range{-half_range, half_range - 1};
    constexpr std::size_t block = 1024;
    std::array<std::int32_t, block> mantissas;
    for (std::size_t first = 0; first < weights_.size(); first += block) {
      const auto part = weights_.subspan(first, std::min(block, weights_.size() - first));
      const auto n = std::ssize(part);
      kernel::to_fixed(matrix_view<const float>{part.data(), n, 1, 1, n},
                       matrix_view<std::int32_t>{mantissas.data(), n, 1, 1, n}, f.fl, range,
                       rounding::nearest_even{}, {});
      for (std::size_t i = 0; i < part.size(); ++i)
        if (is_finite(part[i])) ++copies[bin_of(mantissas[i] * step)];
    }
    const auto n = static_cast<double>(finite_);
    const double smoothed = 1 + uncontracted(static_cast<double>(own_.size()) * smoothing);
    double sum = 0;
    for (std::size_t bin = 0; bin < own_.size(); ++bin) {
      if (own_[bin] == 0) continue;
      const double p = static_cast<double>(own_[bin]) / n;
      const double q = (static_cast<double>(copies[bin]) / n + smoothing) / smoothed;
      sum += uncontracted(p * std::log(p / q));
    }
    return sum;
  }

 private:
  /// The bin of x; numbers outside of the range of the weights count in the bins at its ends.
  std::size_t bin_of(double x) const {
    const double place = (x - lowest_) * bins_per_unit_;
    if (!(place > 0)) return 0;
    return place < static_cast<double>(own_.size()) ? static_cast<std::size_t>(place) : own_.size() - 1;
  }

  std::span<const float> weights_;
  double lowest_ = 0, highest_ = 0, max_abs_ = 0, bins_per_unit_ = 0;
  std::uint64_t finite_ = 0;
  std::vector<std::uint64_t> own_;
};

inline lossless_format find_lossless(std::span<const float> weights, int bins, double tolerance,
                                     double smoothing) {
  const weight_histograms histograms(weights, bins);
  const auto candidate = [&](int fl) -> lossless_format {
    const fixed_format format(std::min(covering_word_length(histograms.max_abs(), fl), max_word_length), fl);
    const double divergence = histograms.divergence(format, smoothing);
    return {format, divergence, divergence < tolerance, histograms.nonfinite()};
  };
  int high = max_word_length - 1;
  while (high > 0 && covering_word_length(histograms.max_abs(), high) > max_word_length) --high;
  lossless_format best = candidate(high);
  // Whatever the divergence does between them, `best` has been found lossless, and what is at `low` lossy.
  for (int low = -1; best.lossless && high - low > 1;) {
    const int middle = (low + high) / 2;
    const lossless_format tried = candidate(middle);
    (tried.lossless ? high : low) = middle;
    if (tried.lossless) best = tried;
  }
  return best;
}

}  // namespace detail

/// The Kullback-Leibler divergence sum P log(P / Q) of the distribution P of weights from the distribution Q
/// of their copies in a fixed-point format, rounded to nearest and saturated. Both are histograms of so many
/// bins over the range of the weights; copies outside of it count in the bins at its ends.
///
/// Bins       2 to 65536. Weights that are all equal are binned between zero and their value.
/// Smoothing  added to each share of Q, which is then divided by its new sum; in (0, 1). So the divergence is
///            finite, and about bins * smoothing, not 0, where P and Q are equal.
/// Special    NaNs and infinities do not count; 0 where there is nothing else.
/// Throws     std::invalid_argument naming the parameter that is out of range.
/// Source     Kullback and Leibler (1951); Kummer et al. (2021), the test of PushDown.
template <array_of<float> Weights>
double weight_divergence(const Weights& weights, const fixed_format& format, int bins, double smoothing) {
  format.check();
  detail::check_parameter("narrow::weight_divergence", "bins", bins, detail::within(2, detail::max_bins));
  detail::check_parameter("narrow::weight_divergence", "smoothing", smoothing, detail::inside(0, 1));
  const auto array = detail::read_array(weights);
  return detail::with_float_environment(
      [&] { return detail::weight_histograms(array.elements(), bins).divergence(format, smoothing); });
}

/// PushDown: the fixed-point format with few fraction bits, and the shortest word that holds the largest
/// weight, in which the weights lose no information: their `weight_divergence` is less than `tolerance`.
///
/// The fraction length is bisected. The divergence is not monotone in it, so a shorter one may be lossless
/// too; but the format that is returned has itself been tested.
///
/// Bins, smoothing  as for `weight_divergence`; 2 bins smoothing <= tolerance, or equal distributions would
///                  differ.
/// Cost             at most 6 passes over the weights, of which nothing is drawn at random.
/// Throws           std::invalid_argument naming the parameter that is out of range.
/// Source           Kummer et al., "MARViN" (arXiv:2107.13490, 2021), PushDown.
template <array_of<float> Weights>
lossless_format find_lossless_format(const Weights& weights, int bins, double tolerance, double smoothing) {
  constexpr std::string_view owner = "narrow::find_lossless_format";
  detail::check_parameter(owner, "bins", bins, detail::within(2, detail::max_bins));
  using limits = std::numeric_limits<double>;
  detail::check_parameter(owner, "tolerance", tolerance, detail::inside(0, limits::infinity()));
  detail::check_parameter(owner, "smoothing", smoothing,
                          detail::within(limits::min(), tolerance / (2 * bins)));
  const auto array = detail::read_array(weights);
  return detail::with_float_environment(
      [&] { return detail::find_lossless(array.elements(), bins, tolerance, smoothing); });
}

}  // namespace narrow

NARROW_STRICT_END
