// Mean of each channel over all pixels.
#pragma once

#include "data/dataset.hpp"
#include "layers/channel_sums.hpp"
#include "layers/layer.hpp"

namespace narrow_train {

/// Summed in fp32 and rounded to S once.
template <class S> class global_average_pool final : public layer<S> {
 public:
  explicit global_average_pool(const image_shape& image) : image_(image) {}

  [[nodiscard]] image_shape output_shape() const { return {1, 1, image_.channels}; }

  const matrix<S>& forward(const matrix<S>& x) override {
    means_.resize(image_.channels, x.cols());
    for (Eigen::Index n = 0; n < x.cols(); ++n) {
      sum_of_columns(Eigen::Map<const matrix<S>>(x.col(n).data(), image_.channels, pixels()), sums_);
      means_.col(n) = sums_ / static_cast<float>(pixels());
    }
    y_ = means_.template cast<S>();
    return y_;
  }

  const matrix<S>& backward(const matrix<S>& x, const matrix<S>& dy, input_gradient wanted) override {
    if (wanted == input_gradient::unwanted) return dx_;
    means_ = dy.template cast<float>() / static_cast<float>(pixels());
    const matrix<S> share = means_.template cast<S>();
    dx_.resize(x.rows(), x.cols());
    for (Eigen::Index n = 0; n < x.cols(); ++n)
      for (Eigen::Index pixel = 0; pixel < pixels(); ++pixel)
        dx_.col(n).segment(pixel * image_.channels, image_.channels) = share.col(n);
    return dx_;
  }

  [[nodiscard]] std::size_t activation_bytes() const override { return bytes_of(y_); }

 private:
  [[nodiscard]] Eigen::Index pixels() const { return Eigen::Index{image_.height} * image_.width; }

  image_shape image_;
  fp32_matrix sums_;   // (channels x 1), scratch
  fp32_matrix means_;  // (channels x batch), scratch: before they are rounded
  matrix<S> y_;        // (channels x batch)
  matrix<S> dx_;       // (image size x batch)
};

struct global_average_pool_spec {
  template <class S> std::unique_ptr<layer<S>> make(layer_site& at) const {
    auto made = std::make_unique<global_average_pool<S>>(at.shape);
    at.shape = made->output_shape();
    return made;
  }
};

}  // namespace narrow_train
