// Layers with a shortcut around them.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "../data/dataset.hpp"
#include "../parallel.hpp"
#include "layer.hpp"

namespace narrow_train {

/// Every stride-th pixel of every stride-th row, with further channels, which are zero: the shortcut of
/// option A of He et al., Deep Residual Learning (2015), sections 3.3 and 4.2.
template <class S> class subsample final : public layer<S> {
 public:
  /// `channels`: of the output, not fewer than the image has.
  subsample(const image_shape& image, int stride, int channels)
      : image_(image),
        stride_(stride),
        output_{(image.height + stride - 1) / stride, (image.width + stride - 1) / stride, channels} {}

  [[nodiscard]] image_shape output_shape() const { return output_; }

  const matrix<S>& forward(const matrix<S>& x) override {
    y_.setZero(output_.size(), x.cols());
    for (Eigen::Index n = 0; n < x.cols(); ++n)
      for_each_pixel([&](Eigen::Index in, Eigen::Index out) {
        std::copy_n(x.col(n).data() + in, image_.channels, y_.col(n).data() + out);
      });
    return y_;
  }

  const matrix<S>& backward(const matrix<S>& x, const matrix<S>& dy, input_gradient wanted) override {
    if (wanted == input_gradient::unwanted) return dx_;
    dx_.setZero(x.rows(), x.cols());
    for (Eigen::Index n = 0; n < x.cols(); ++n)
      for_each_pixel([&](Eigen::Index in, Eigen::Index out) {
        std::copy_n(dy.col(n).data() + out, image_.channels, dx_.col(n).data() + in);
      });
    return dx_;
  }

  [[nodiscard]] std::size_t activation_bytes() const override { return bytes_of(y_); }

 private:
  /// f(in, out): the first elements of a pixel that is kept and of what it becomes.
  template <class F> void for_each_pixel(F f) const {
    Eigen::Index out = 0;
    for (int row = 0; row < image_.height; row += stride_)
      for (int column = 0; column < image_.width; column += stride_, out += output_.channels)
        f(Eigen::Index{row * image_.width + column} * image_.channels, out);
  }

  image_shape image_;
  int stride_;
  image_shape output_;
  matrix<S> y_;   // (output size x batch)
  matrix<S> dx_;  // (image size x batch)
};

/// y = body(x) + shortcut(x), He et al. (2015), section 3.2. The sum and that of the gradients are computed
/// in fp32 and rounded to S once.
template <class S> class residual final : public layer<S> {
 public:
  /// `shortcut`: to the shape of the body's output; nothing for the identity.
  residual(std::unique_ptr<layer<S>> body, std::unique_ptr<layer<S>> shortcut)
      : body_(std::move(body)), shortcut_(std::move(shortcut)) {}

  const matrix<S>& forward(const matrix<S>& x) override {
    add(body_->forward(x), shortcut_ ? shortcut_->forward(x) : x, y_);
    return y_;
  }

  const matrix<S>& infer(const matrix<S>& x) override {
    add(body_->infer(x), shortcut_ ? shortcut_->infer(x) : x, y_);
    return y_;
  }

  const matrix<S>& backward(const matrix<S>& x, const matrix<S>& dy, input_gradient wanted) override {
    const matrix<S>& through_body = body_->backward(x, dy, wanted);
    const matrix<S>& beside_it = shortcut_ ? shortcut_->backward(x, dy, wanted) : dy;
    if (wanted == input_gradient::wanted) add(through_body, beside_it, dx_);
    return dx_;
  }

  void collect(parameter_list<S>& all) override {
    body_->collect(all);
    if (shortcut_) shortcut_->collect(all);
  }

  [[nodiscard]] std::size_t activation_bytes() const override {
    return body_->activation_bytes() + (shortcut_ ? shortcut_->activation_bytes() : 0) + bytes_of(y_);
  }

 private:
  static void add(const matrix<S>& a, const matrix<S>& b, matrix<S>& sum) {
    sum.resize(a.rows(), a.cols());
    for_each_share<S>(a.cols(), [&](int, Eigen::Index first, Eigen::Index count) {
      sum.middleCols(first, count) = a.middleCols(first, count) + b.middleCols(first, count);
    });
  }

  std::unique_ptr<layer<S>> body_, shortcut_;
  matrix<S> y_;   // (output features x batch)
  matrix<S> dx_;  // (features x batch)
};

}  // namespace narrow_train
