// How far a sample is from a distribution: which of the two that int8 clipping tells apart a gradient is
// like.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "../block/tensor.hpp"
#include "array_access.hpp"
#include "parameter.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI {

namespace detail {

/// The finite elements in double, in ascending order.
template <readable_array X> std::vector<double> sorted_sample(const X& x) {
  const auto array = detail::read_array(x);
  std::vector<double> sample;
  sample.reserve(array.elements().size());
  for (const auto element : array.elements())
    if (const double value = to_value<double>(element); is_finite(value)) sample.push_back(value);
  std::sort(sample.begin(), sample.end());
  return sample;
}

}  // namespace detail

/// P(X < x) and P(X <= x) of a distribution, as functions of a double.
template <class D>
concept distribution_function = requires(const D& d, double x) {
  { d.below(x) } -> std::same_as<double>;
  { d.up_to(x) } -> std::same_as<double>;
};

/// The normal distribution. Without a deviation it is one point.
struct gaussian_distribution {
  double mean = 0;       ///< finite
  double deviation = 1;  ///< 0 or positive

  /// P(X < x).
  double below(double x) const { return deviation > 0 ? up_to(x) : x > mean ? 1.0 : 0.0; }
  /// P(X <= x).
  NARROW_KERNEL double up_to(double x) const {
    if (!(deviation > 0)) return x >= mean ? 1.0 : 0.0;
    return std::erfc((mean - x) / (deviation * std::numbers::sqrt2)) / 2;
  }
};

/// The inverted T: symmetric, with one density for |x| < eps, where the share `inside` lies, and another
/// from there to `max`. Where max is 0 it is one point.
struct inverted_t_distribution {
  double eps = 0.5;   ///< in (0, max], or 0 where max is
  double inside = 1;  ///< in [0, 1]: the share of |x| < eps
  double max = 1;     ///< the largest |x|; 0 or positive

  double below(double x) const { return max > 0 ? up_to(x) : x > 0 ? 1.0 : 0.0; }
  /// P(X <= x).
  NARROW_KERNEL double up_to(double x) const {
    const double distance = x < 0 ? -x : x;
    double share = 1;
    if (distance < eps)
      share = inside * (distance / eps);
    else if (distance < max)
      share = inside + (1 - inside) * ((distance - eps) / (max - eps));
    return x < 0 ? (1 - share) / 2 : (1 + share) / 2;
  }
};

/// The normal distribution of a sample's mean and standard deviation (the root of the mean square). Infinite
/// elements and NaNs do not count; without any other it is the point 0.
template <readable_array X> gaussian_distribution fit_gaussian(const X& x) {
  return detail::with_float_environment([&]() -> gaussian_distribution {
    const std::vector<double> sample = detail::sorted_sample(x);
    if (sample.empty()) return {0, 0};
    const auto n = static_cast<double>(sample.size());
    const double pivot = sample[sample.size() / 2];
    double sum = 0, squares = 0;
    for (const double value : sample) sum += value - pivot;
    const double off = sum / n;
    for (const double value : sample) {
      const double difference = value - pivot - off;
      squares += detail::uncontracted(difference * difference);
    }
    return {pivot + off, std::sqrt(squares / n)};
  });
}

/// The inverted T of a sample's largest magnitude and its share with |x| < eps. The standard deviation is an
/// eps to begin with; an eps beyond the largest magnitude counts as that. Infinite elements and NaNs do not
/// count. Throws std::invalid_argument unless eps is positive and finite.
template <readable_array X> inverted_t_distribution fit_inverted_t(const X& x, double eps) {
  detail::check_parameter("narrow::fit_inverted_t", "eps", eps,
                          detail::inside(0, std::numeric_limits<double>::infinity()));
  return detail::with_float_environment([&]() -> inverted_t_distribution {
    const std::vector<double> sample = detail::sorted_sample(x);
    if (sample.empty()) return {0, 1, 0};
    const double max = std::max(sample.back(), -sample.front());
    if (eps >= max) return {max, 1, max};
    const auto inside = std::lower_bound(sample.begin(), sample.end(), eps) -
                        std::upper_bound(sample.begin(), sample.end(), -eps);
    return {eps, static_cast<double>(inside) / static_cast<double>(sample.size()), max};
  });
}

/// The Kolmogorov-Smirnov distance: the largest difference between the share of the sample up to a number and
/// that of the distribution, over all numbers.
///
/// Special  infinite elements and NaNs do not count; 0 where there are no others.
/// Cost     sorts a copy of the sample in double.
/// Source   Zhao et al. (AAAI 2021), Figure 3b, with the fits above.
template <readable_array X, distribution_function D>
double kolmogorov_smirnov(const X& x, const D& distribution) {
  return detail::with_float_environment([&] {
    const std::vector<double> sample = detail::sorted_sample(x);
    const auto n = static_cast<double>(sample.size());
    double distance = 0;
    for (std::size_t first = 0, last; first < sample.size(); first = last) {
      for (last = first + 1; last < sample.size() && sample[last] == sample[first];) ++last;
      distance =
          std::max({distance, std::fabs(static_cast<double>(first) / n - distribution.below(sample[first])),
                    std::fabs(static_cast<double>(last) / n - distribution.up_to(sample[first]))});
    }
    return distance;
  });
}

}  // namespace narrow

NARROW_STRICT_END
