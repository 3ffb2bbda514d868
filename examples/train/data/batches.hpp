// Images as a network takes them: normalised, rounded to the storage format, a batch of them a matrix.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "data/dataset.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

namespace narrow_train {

/// What makes values of the bytes of a channel: (byte - mean) * scale.
struct channel_scaling {
  double mean = 0, scale = 1;
};
using pixel_scaling = std::vector<channel_scaling>;  // by channel

/// The one that gives the training images mean 0 and variance 1.
inline pixel_scaling scaling_of(const dataset& training) {
  const auto channels = static_cast<std::size_t>(training.shape.channels);
  pixel_scaling all;
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
    all.push_back({mean, variance > 0 ? 1 / std::sqrt(variance) : 1});  // a channel of one colour stays 0
  }
  return all;
}

/// For each channel and byte the value that stands for it.
using pixel_values = std::vector<std::array<float, 256>>;

inline pixel_values values_of(const pixel_scaling& scaling) {
  pixel_values values(scaling.size());
  for (std::size_t channel = 0; channel < scaling.size(); ++channel)
    for (int byte = 0; byte < 256; ++byte)
      values[channel][static_cast<std::size_t>(byte)] =
          static_cast<float>((byte - scaling[channel].mean) * scaling[channel].scale);
  return values;
}

inline pixel_values normalised(const dataset& training) { return values_of(scaling_of(training)); }

/// Which part of an image, mirrored or not, stands for it in one epoch.
struct view_of_image {
  int down = 0, right = 0;  // what is cut off above and to the left; where negative, added
  enum class side { as_it_is, mirrored } facing = side::as_it_is;
};

/// Cuts of an image that was padded by 4 on every side, half of them mirrored. A function of the arguments
/// alone.
inline view_of_image random_view(std::uint64_t seed, int epoch, std::size_t image) {
  constexpr int padding = 4;
  random_stream random(seed, purpose::augmentation,
                       static_cast<std::uint64_t>(epoch) << 40 | static_cast<std::uint64_t>(image));
  const auto offset = [&] { return static_cast<int>(random.below(2 * padding + 1)) - padding; };
  view_of_image view;
  view.down = offset();
  view.right = offset();
  view.facing = random.below(2) == 0 ? view_of_image::side::as_it_is : view_of_image::side::mirrored;
  return view;
}

/// Cuts a data set into batches, in the order of the images or shuffled.
template <class S> class batches {
 public:
  /// Keeps a reference to `data`. What `varied` does begins with the first shuffle.
  batches(const dataset& data, const pixel_values& values, int batch,
          augmentation varied = augmentation::none)
      : data_(data), batch_(batch), varied_(varied) {
    for (const auto& channel : values) {
      auto& rounded = values_.emplace_back();
      std::ranges::transform(channel, rounded.begin(), [](float v) { return static_cast<S>(v); });
    }
    order_.resize(data.count());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  /// The order of one epoch: depends on the two arguments and the number of images only. So does how each
  /// image is varied, on its index besides.
  void shuffle(std::uint64_t seed, int epoch) {
    seed_ = seed;
    epoch_ = epoch;
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    random_stream random(seed, purpose::batch_order, static_cast<std::uint64_t>(epoch));
    random.shuffle(std::span(order_));
  }

  [[nodiscard]] std::size_t count() const {
    const auto size = static_cast<std::size_t>(batch_);
    return (order_.size() + size - 1) / size;
  }

  /// How many images batch i has. The last may be smaller than the others.
  [[nodiscard]] std::size_t size(std::size_t i) const {
    const auto most = static_cast<std::size_t>(batch_);
    return std::min(most, order_.size() - i * most);
  }

  /// Makes batch i the one in `images` and `labels`.
  void select(std::size_t i) { select(i, 0, size(i)); }

  /// The same of so many of its images.
  void select(std::size_t i, std::size_t first, std::size_t count) {
    const auto chosen = std::span(order_).subspan(i * static_cast<std::size_t>(batch_) + first, count);
    images.resize(data_.shape.size(), static_cast<Eigen::Index>(chosen.size()));
    labels.clear();
    for (std::size_t n = 0; n < chosen.size(); ++n) {
      S* out = images.col(static_cast<Eigen::Index>(n)).data();
      if (varied_ == augmentation::none || epoch_ == 0)
        copy(data_.image(chosen[n]), out);
      else
        copy(data_.image(chosen[n]), random_view(seed_, epoch_, chosen[n]), out);
      labels.push_back(data_.labels[chosen[n]]);
    }
  }

  matrix<S> images;                  // (image size x batch)
  std::vector<std::uint8_t> labels;  // (batch)

 private:
  /// Some pixels of an image from the first channel on; returns the end of what was written.
  S* copy(std::span<const std::uint8_t> pixels, S* out) const {
    std::size_t channel = 0;
    for (const std::uint8_t byte : pixels) {
      *out++ = values_[channel][byte];
      channel = channel + 1 == values_.size() ? 0 : channel + 1;
    }
    return out;
  }

  /// Zeros stand where the view reaches beyond the image: its mean, after normalisation.
  void copy(std::span<const std::uint8_t> image, const view_of_image& view, S* out) const {
    const auto [height, width, channels] = data_.shape;
    const bool mirrored = view.facing == view_of_image::side::mirrored;
    for (int row = view.down; row < height + view.down; ++row)
      for (int place = 0; place < width; ++place) {
        const int column = view.right + (mirrored ? width - 1 - place : place);
        if (row < 0 || row >= height || column < 0 || column >= width) {
          out = std::fill_n(out, channels, S(0));
          continue;
        }
        const int start = (row * width + column) * channels;
        out = copy(image.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(channels)), out);
      }
  }

  const dataset& data_;
  int batch_;
  augmentation varied_;
  std::uint64_t seed_ = 0;
  int epoch_ = 0;                           // 0: not shuffled yet
  std::vector<std::array<S, 256>> values_;  // per channel and byte
  std::vector<std::size_t> order_;
};

}  // namespace narrow_train
