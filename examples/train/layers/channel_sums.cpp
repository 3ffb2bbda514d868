#include "layers/channel_sums.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace narrow_train {
namespace {

using Eigen::Index;

// The inner loops run over a strip: few channels of many pixels one after another, or some of many channels
// of one pixel. A strip's parameters and sums are arrays on the stack, which no pointer aliases, so that
// compilers vectorise the loops.
constexpr Index wide = 64;  // elements that are worth a loop
using strip_values = std::array<float, 2 * wide>;

struct strip {
  Index first, length;  // in the first pixel; length <= 2 * wide
  Index stride;         // from one strip to the next

  /// The values of the channels that the elements of the strip belong to.
  [[nodiscard]] strip_values spread(const Eigen::ArrayXf& values) const {
    strip_values result{};
    Index channel = first;
    for (Index j = 0; j < length; ++j) {
      result[static_cast<std::size_t>(j)] = values[channel];
      if (++channel == values.size()) channel = 0;
    }
    return result;
  }
  void gather(const strip_values& sums, Eigen::ArrayXd& values) const {
    Index channel = first;
    for (Index j = 0; j < length; ++j) {
      values[channel] += double{sums[static_cast<std::size_t>(j)]};
      if (++channel == values.size()) channel = 0;
    }
  }
};

template <class F> void for_each_strip(Index channels, F f) {
  if (channels < wide) {
    const Index length = channels * ((wide + channels - 1) / channels);
    f(strip{0, length, length});
  } else {
    for (Index first = 0; first < channels; first += 2 * wide)
      f(strip{first, std::min(2 * wide, channels - first), channels});
  }
}

/// f(j, i...) for the elements i of the pixels that belong to element j of the strip: of four strips at a
/// time, and then of one.
template <class F> void for_each_element(const strip& s, Index size, F f) {
  Index i = s.first;
  for (; i + 3 * s.stride + s.length <= size; i += 4 * s.stride)
    for (Index j = 0; j < s.length; ++j)
      f(j, i + j, i + s.stride + j, i + 2 * s.stride + j, i + 3 * s.stride + j);
  for (; i < size; i += s.stride)
    for (Index j = 0; j < std::min(s.length, size - i); ++j) f(j, i + j);
}

float total(float a) { return a; }
float total(float a, float b, float c, float d) { return (a + b) + (c + d); }

/// Adds the two values that term(i, j) gives for each element i of the pixels, element j of the strip.
template <class Term> void add_terms(const strip& s, Index size, Term term, channel_sums& sums) {
  strip_values first{}, second{};
  for_each_element(s, size, [&](Index j, auto... i) {
    first[static_cast<std::size_t>(j)] += total(term(i, j).first...);
    second[static_cast<std::size_t>(j)] += total(term(i, j).second...);
  });
  s.gather(first, sums.first);
  s.gather(second, sums.second);
}

template <class Value> void set_values(const strip& s, Index size, Value value, float* out) {
  Index i = s.first;
  for (; i + s.length <= size; i += s.stride)
    for (Index j = 0; j < s.length; ++j) out[i + j] = value(i + j, j);
  for (Index j = 0; i + j < size; ++j) out[i + j] = value(i + j, j);
}

float at(const strip_values& values, Index j) { return values[static_cast<std::size_t>(j)]; }

}  // namespace

void add_values(const float* x, Index size, Eigen::ArrayXd& sums) {
  for_each_strip(sums.size(), [&](const strip& s) {
    strip_values values{};
    for_each_element(s, size,
                     [&](Index j, auto... i) { values[static_cast<std::size_t>(j)] += total(x[i]...); });
    s.gather(values, sums);
  });
}

void add_moments(const float* x, Index size, const Eigen::ArrayXf& shift, channel_sums& sums) {
  for_each_strip(shift.size(), [&](const strip& s) {
    const strip_values k = s.spread(shift);
    const auto term = [&](Index i, Index j) {
      const float d = x[i] - at(k, j);
      return std::pair(d, d * d);
    };
    add_terms(s, size, term, sums);
  });
}

void add_gradients(const float* x, const float* dy, Index size, const Eigen::ArrayXf& mean,
                   channel_sums& sums) {
  for_each_strip(mean.size(), [&](const strip& s) {
    const strip_values m = s.spread(mean);
    const auto term = [&](Index i, Index j) { return std::pair(dy[i], dy[i] * (x[i] - at(m, j))); };
    add_terms(s, size, term, sums);
  });
}

void normalise(const float* x, Index size, const Eigen::ArrayXf& mean, const Eigen::ArrayXf& factor,
               const Eigen::ArrayXf& offset, float* y) {
  for_each_strip(mean.size(), [&](const strip& s) {
    const strip_values m = s.spread(mean), f = s.spread(factor), o = s.spread(offset);
    const auto value = [&](Index i, Index j) { return (x[i] - at(m, j)) * at(f, j) + at(o, j); };
    set_values(s, size, value, y);
  });
}

void normalise_gradient(const float* x, const float* dy, Index size, const Eigen::ArrayXf& mean,
                        const Eigen::ArrayXf& factor, const Eigen::ArrayXf& slope,
                        const Eigen::ArrayXf& offset, float* dx) {
  for_each_strip(mean.size(), [&](const strip& s) {
    const strip_values m = s.spread(mean), f = s.spread(factor), k = s.spread(slope), o = s.spread(offset);
    const auto value = [&](Index i, Index j) {
      return dy[i] * at(f, j) + ((x[i] - at(m, j)) * at(k, j) + at(o, j));
    };
    set_values(s, size, value, dx);
  });
}

}  // namespace narrow_train
