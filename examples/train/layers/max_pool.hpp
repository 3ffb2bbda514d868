// Largest value of every window x window square of a channel; squares do not overlap, a rest at the edge is
// dropped. A NaN is larger than all, so that overflow upstream remains visible.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "data/dataset.hpp"
#include "layers/layer.hpp"
#include "tensor/parallel.hpp"

namespace narrow_train {

template <class S> class max_pool final : public layer<S> {
 public:
  max_pool(const image_shape& image, int window)
      : image_(image),
        window_(window),
        output_{image.height / window, image.width / window, image.channels} {}

  [[nodiscard]] image_shape output_shape() const { return output_; }

  const matrix<S>& forward(const matrix<S>& x) override {
    y_.resize(output_.size(), x.cols());
    winner_.resize(output_.size(), x.cols());
    for_each_group(x.cols(), [&](int, Eigen::Index first, Eigen::Index count) {
      std::vector<float> scratch;
      for (Eigen::Index n = first; n < first + count; ++n) {
        const S* image = x.col(n).data();
        // Compared in fp32, which every format enters exactly.
        find_winners(in_fp32(image, x.rows(), scratch), winner_.col(n).data());
        std::transform(winner_.col(n).begin(), winner_.col(n).end(), y_.col(n).begin(),
                       [image](std::int32_t in) { return image[in]; });
      }
    });
    return y_;
  }

  const matrix<S>& backward(const matrix<S>& x, const matrix<S>& dy, input_gradient wanted) override {
    if (wanted == input_gradient::unwanted) return dx_;
    dx_.setZero(x.rows(), x.cols());
    for_each_group(x.cols(), [&](int, Eigen::Index first, Eigen::Index count) {
      for (Eigen::Index n = first; n < first + count; ++n) {
        S* image = dx_.col(n).data();
        const std::int32_t* winner = winner_.col(n).data();
        for (const S& gradient : dy.col(n)) image[*winner++] = gradient;
      }
    });
    return dx_;
  }

  [[nodiscard]] std::size_t activation_bytes() const override { return bytes_of(y_) + bytes_of(winner_); }

 private:
  [[nodiscard]] Eigen::Index offset(int row, int column) const {
    return Eigen::Index{row * image_.width + column} * image_.channels;
  }

  /// Which element of the image each output is.
  void find_winners(const float* image, std::int32_t* winner) const {
    // Of all windows of a row, those too that are none of the squares: their numbers lie side by side, and a
    // compiler vectorises the loop over them.
    const auto row_size = static_cast<std::size_t>(offset(0, std::max(image_.width - window_ + 1, 0)));
    std::vector<float> largest(row_size);
    std::vector<std::int32_t> place(row_size);
    for (int row = 0; row < output_.height; ++row) {
      const auto corner = static_cast<std::int32_t>(offset(row * window_, 0));
      std::copy_n(image + corner, row_size, largest.begin());
      std::iota(place.begin(), place.end(), corner);
      for (int tap = 1; tap < window_ * window_; ++tap) {
        const auto first = static_cast<std::int32_t>(corner + offset(tap / window_, tap % window_));
        take_larger(image + first, first, row_size, largest.data(), place.data());
      }
      for (int column = 0; column < output_.width; ++column)
        winner = std::copy_n(place.data() + offset(0, column * window_), image_.channels, winner);
    }
  }

  /// Puts in their places those of `size` numbers that are larger; `first` is the place of the first.
  static void take_larger(const float* numbers, std::int32_t first, std::size_t size, float* largest,
                          std::int32_t* place) {
    for (std::size_t i = 0; i < size; ++i) {
      const float value = numbers[i], best = largest[i];
      const bool larger = !(value <= best) & !std::isnan(best);
      largest[i] = larger ? value : best;
      place[i] = larger ? first + static_cast<std::int32_t>(i) : place[i];
    }
  }

  image_shape image_;
  int window_;
  image_shape output_;
  matrix<S> y_;                  // (output size x batch)
  matrix<std::int32_t> winner_;  // (output size x batch), index in the image of each largest value
  matrix<S> dx_;                 // (image size x batch)
};

struct max_pool_spec {
  int window;

  /// Throws std::invalid_argument where images are smaller than a window.
  template <class S> std::unique_ptr<layer<S>> make(layer_site& at) const {
    auto made = std::make_unique<max_pool<S>>(at.shape, window);
    at.shape = made->output_shape();
    at.require(at.shape.size() > 0);
    return made;
  }
};

}  // namespace narrow_train
