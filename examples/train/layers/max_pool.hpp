// Largest value of every window x window square of a channel; squares do not overlap, a rest at the edge is
// dropped. A NaN is larger than all, so that overflow upstream remains visible.
#pragma once

#include <cmath>
#include <cstdint>

#include "data/dataset.hpp"
#include "layers/layer.hpp"

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
    for (Eigen::Index n = 0; n < x.cols(); ++n)
      for (Eigen::Index out = 0; out < y_.rows(); ++out) {
        const Eigen::Index corner = corner_of(out);
        Eigen::Index best = corner;
        float largest = x(corner, n);  // compared in fp32, which every format enters exactly
        for (int row = 0; row < window_; ++row)
          for (int column = 0; column < window_; ++column) {
            const auto in = corner + offset(row, column);
            if (const float value = x(in, n); !(value <= largest) && !std::isnan(largest)) {
              largest = value;
              best = in;
            }
          }
        y_(out, n) = x(best, n);
        winner_(out, n) = static_cast<std::int32_t>(best);
      }
    return y_;
  }

  const matrix<S>& backward(const matrix<S>& x, const matrix<S>& dy, input_gradient wanted) override {
    if (wanted == input_gradient::unwanted) return dx_;
    dx_.setZero(x.rows(), x.cols());
    for (Eigen::Index n = 0; n < x.cols(); ++n)
      for (Eigen::Index out = 0; out < dy.rows(); ++out) dx_(winner_(out, n), n) = dy(out, n);
    return dx_;
  }

  [[nodiscard]] std::size_t activation_bytes() const override { return bytes_of(y_) + bytes_of(winner_); }

 private:
  [[nodiscard]] Eigen::Index offset(int row, int column) const {
    return Eigen::Index{row * image_.width + column} * image_.channels;
  }

  /// Index in the image of the first pixel of the square that becomes output element `out`.
  [[nodiscard]] Eigen::Index corner_of(Eigen::Index out) const {
    const auto index = static_cast<int>(out);
    const int channel = index % output_.channels;
    const int column = index / output_.channels % output_.width;
    const int row = index / output_.channels / output_.width;
    return offset(row * window_, column * window_) + channel;
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
