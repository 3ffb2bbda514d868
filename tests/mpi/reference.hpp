// What the forms of all_reduce are to give, computed by one process that has the gradients of all, with
// integers and rationals in long double instead of kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <narrow/mpi.hpp>

namespace test {

using floats = std::vector<float>;

/// The gradient of one micro-batch: magnitudes over many binades, and zeros.
inline floats gradient(int term, int array, int step, std::size_t n) {
  std::mt19937 random(static_cast<unsigned>(term * 10007 + array * 101 + step));
  std::normal_distribution<float> normal;
  floats g(n);
  for (std::size_t i = 0; i < n; ++i)
    g[i] = i % 17 == 3 ? 0
                       : normal(random) * std::exp(4 * normal(random)) * (i / 1024 % 3 == 1 ? 1e-30f : 1e-3f);
  return g;
}

/// What exact<M> makes of all gradients of a step, and what it carries to the next one.
class exact_reference {
 public:
  exact_reference(int bits, std::size_t terms, narrow::mpi::error_feedback feedback)
      : limit_(std::ldexp(1.0L, bits - 1) - 1),
        carries_(feedback == narrow::mpi::error_feedback::carried),
        kept_(terms) {}

  floats step(const std::vector<floats>& gradients) {
    const std::size_t n = gradients.front().size();
    floats sum(n);
    sum_kept_.resize(n);
    for (floats& kept : kept_) kept.resize(n);
    for (std::size_t first = 0; first < n; first += 1024)
      reduce(gradients, first, std::min(n, first + 1024), sum);
    return sum;
  }
  const std::vector<floats>& kept() const { return kept_; }
  const floats& sum_kept() const { return sum_kept_; }

 private:
  /// The smallest power of two, of at least 2^-149, in units of which the magnitude rounds to at most the
  /// limit.
  long double unit_for(long double magnitude) const {
    if (magnitude == 0) return std::ldexp(1.0L, -149);
    int e = std::max(-149, std::ilogb(magnitude) - std::ilogb(limit_) - 2);
    while (std::nearbyint(std::ldexp(magnitude, -e)) > limit_) ++e;
    return std::ldexp(1.0L, e);
  }

  void reduce(const std::vector<floats>& gradients, std::size_t first, std::size_t end, floats& sum) {
    std::vector<floats> values(gradients.size(), floats(end - first));
    long double largest = 0;
    bool finite = true;
    for (std::size_t t = 0; t < gradients.size(); ++t)
      for (std::size_t i = first; i < end; ++i) {
        const float x = carries_ ? kept_[t][i] + gradients[t][i] : gradients[t][i];
        values[t][i - first] = x;
        finite = finite && std::isfinite(x);
        largest = std::max(largest, std::abs(static_cast<long double>(x)));
      }
    const long double unit = finite ? unit_for(largest) : 1;
    std::vector<long double> sums(end - first);
    long double largest_sum = 0;
    for (std::size_t i = first; i < end; ++i) {
      std::int64_t total = 0;
      for (std::size_t t = 0; t < gradients.size(); ++t) {
        const float x = values[t][i - first];
        const long double q = finite ? std::nearbyint(x / unit) : 0;
        total += static_cast<std::int64_t>(q);
        kept_[t][i] = finite && carries_ ? static_cast<float>(x - q * unit) : 0;
      }
      sums[i - first] = static_cast<long double>(total) * unit;
      // What was cut off the last sum joins it in float, or where the integers need more bits in double.
      if (carries_) sums[i - first] = added(sums[i - first], sum_kept_[i], gradients.size());
      largest_sum = std::max(largest_sum, std::abs(sums[i - first]));
    }
    finite = finite && largest_sum <= std::numeric_limits<float>::max();
    const long double sum_unit = finite ? unit_for(largest_sum) : 1;
    for (std::size_t i = first; i < end; ++i) {
      const long double q = std::nearbyint(sums[i - first] / sum_unit);
      sum[i] = finite ? static_cast<float>(q * sum_unit) : std::numeric_limits<float>::quiet_NaN();
      sum_kept_[i] =
          finite && carries_ ? static_cast<float>(sums[i - first]) - static_cast<float>(q * sum_unit) : 0;
    }
  }

  long double added(long double sum, float kept, std::size_t terms) const {
    if (static_cast<long double>(terms) * limit_ <= 0x1p24L) return static_cast<float>(sum) + kept;
    return static_cast<double>(sum) + double{kept};
  }

  long double limit_;
  bool carries_;
  std::vector<floats> kept_;
  floats sum_kept_;
};

/// The first of `count` micro-batches that are this rank's, when rank r has every one between first(r) and
/// first(r + 1).
inline int first_term(int rank, int count) { return count * rank / narrow::mpi::ranks(); }

}  // namespace test
