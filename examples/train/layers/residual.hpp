// Layers with a shortcut around them.
#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.hpp"
#include "layers/batch_norm.hpp"
#include "layers/convolution.hpp"
#include "layers/stack.hpp"
#include "tensor/parallel.hpp"

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

/// The shortcut of a residual block whose output has another shape than its input, option A or B of He et
/// al., Deep Residual Learning (2015), section 4.1: pixels left out, new channels zero; or a convolution of 1
/// x 1 and batch normalisation. The stride is the one that leaves as many rows as the body does.
enum class shortcut { subsample, projection };

struct residual_spec {
  std::vector<layer_spec> body;
  shortcut where_shapes_differ = shortcut::subsample;

  /// Throws std::invalid_argument where no shortcut fits around the body.
  template <class S> std::unique_ptr<layer<S>> make(layer_site& at) const {
    layer_site inside = at;
    auto layers = make_layers<S>(body, inside);
    auto beside = inside.shape == at.shape ? nullptr : make_shortcut<S>(at, inside.shape);
    at.shape = inside.shape;
    return std::make_unique<residual<S>>(std::move(layers), std::move(beside));
  }

 private:
  template <class S> std::unique_ptr<layer<S>> make_shortcut(layer_site at, const image_shape& output) const {
    const image_shape input = at.shape;
    const int stride = (input.height + output.height - 1) / output.height;
    auto layers = std::make_unique<stack<S>>(at.products.watch);
    if (where_shapes_differ == shortcut::projection) {
      layers->add(convolution_spec{output.channels, 1, 0, stride, bias_term::absent}.template make<S>(at));
      layers->add(batch_norm_spec{}.template make<S>(at));
    } else if (output.channels >= input.channels) {
      auto made = std::make_unique<subsample<S>>(input, stride, output.channels);
      at.shape = made->output_shape();
      layers->add(std::move(made));
    }
    if (at.shape != output)
      throw std::invalid_argument("model " + at.model + ": no shortcut leads from " + text(input) + " to " +
                                  text(output));
    return layers;
  }

  static std::string text(const image_shape& shape) {
    return std::to_string(shape.height) + " x " + std::to_string(shape.width) + " x " +
           std::to_string(shape.channels);
  }
};

}  // namespace narrow_train
