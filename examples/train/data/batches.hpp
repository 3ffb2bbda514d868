// Images as a network takes them: normalised, rounded to the storage format, a batch of them a matrix.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "../random.hpp"
#include "../tensor.hpp"
#include "dataset.hpp"

namespace narrow_train {

/// For each channel and byte the value that stands for it: mean 0 and variance 1 over the training images.
using pixel_values = std::vector<std::array<float, 256>>;

inline pixel_values normalised(const dataset& training) {
  const auto channels = static_cast<std::size_t>(training.shape.channels);
  pixel_values values(channels);
  for (std::size_t channel = 0; channel < channels; ++channel) {
    std::array<std::int64_t, 256> histogram{};
    for (std::size_t i = channel; i < training.pixels.size(); i += channels) ++histogram[training.pixels[i]];
    double count = 0, sum = 0, squares = 0;
    for (int byte = 0; byte < 256; ++byte) {
      const auto n = static_cast<double>(histogram[static_cast<std::size_t>(byte)]);
      count += n;
      sum += n * byte;
      squares += n * byte * byte;
    }
    const double mean = sum / count;
    const double variance = squares / count - mean * mean;
    const double scale = variance > 0 ? 1 / std::sqrt(variance) : 1;  // a channel of one colour stays 0
    for (int byte = 0; byte < 256; ++byte)
      values[channel][static_cast<std::size_t>(byte)] = static_cast<float>((byte - mean) * scale);
  }
  return values;
}

/// Cuts a data set into batches, in the order of the images or shuffled.
template <class S> class batches {
 public:
  /// Keeps a reference to `data`.
  batches(const dataset& data, const pixel_values& values, int batch) : data_(data), batch_(batch) {
    for (const auto& channel : values) {
      auto& rounded = values_.emplace_back();
      std::ranges::transform(channel, rounded.begin(), [](float v) { return static_cast<S>(v); });
    }
    order_.resize(data.count());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  /// The order of one epoch: depends on the two arguments and the number of images only.
  void shuffle(std::uint64_t seed, int epoch) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    random_stream random(seed, purpose::batch_order, static_cast<std::uint64_t>(epoch));
    random.shuffle(std::span(order_));
  }

  [[nodiscard]] std::size_t count() const {
    const auto size = static_cast<std::size_t>(batch_);
    return (order_.size() + size - 1) / size;
  }

  /// Makes batch i the one in `images` and `labels`. The last may be smaller than the others.
  void select(std::size_t i) {
    const auto size = static_cast<std::size_t>(batch_);
    const auto chosen = std::span(order_).subspan(i * size, std::min(size, order_.size() - i * size));
    images.resize(data_.shape.size(), static_cast<Eigen::Index>(chosen.size()));
    labels.clear();
    for (std::size_t n = 0; n < chosen.size(); ++n) {
      S* out = images.col(static_cast<Eigen::Index>(n)).data();
      std::size_t channel = 0;
      for (const std::uint8_t byte : data_.image(chosen[n])) {
        *out++ = values_[channel][byte];
        channel = channel + 1 == values_.size() ? 0 : channel + 1;
      }
      labels.push_back(data_.labels[chosen[n]]);
    }
  }

  matrix<S> images;                  // (image size x batch)
  std::vector<std::uint8_t> labels;  // (batch)

 private:
  const dataset& data_;
  int batch_;
  std::vector<std::array<S, 256>> values_;  // per channel and byte
  std::vector<std::size_t> order_;
};

}  // namespace narrow_train
