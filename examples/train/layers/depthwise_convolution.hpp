// Convolution of each channel with a kernel of its own.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "layers/layer.hpp"
#include "operands/window_grid.hpp"

namespace narrow_train {

/// The depth-wise half of a depth-wise separable convolution: Howard et al., MobileNets (2017), section 3.1.
/// There is no bias: batch normalisation follows. Products are summed in fp32, gradients of the weights in
/// double over the images, and rounded to S once.
///
/// In block formats x, w and dy are quantised as the recipe says for other layers, so the channels share
/// scales, though each has a range of its own: Zhao et al. (2021) name these layers the worst case of int8.
/// What is left of the operands is multiplied in fp32: there is no matrix product that integers would make
/// faster.
template <class S> class depthwise_convolution final : public layer<S> {
 public:
  /// Weights (channels x kernel^2) start at zero.
  depthwise_convolution(const window_grid& grid, const product_settings& settings)
      : grid_(grid), mode_(settings.sums), watch_(settings.watch) {
    if (settings.quantised) {
      if (!std::is_same_v<S, float>) throw std::invalid_argument("quantised operands have fp32 tensors");
      if constexpr (std::is_same_v<S, float>) make_quantised(weights_, *settings.quantised);
      operands_.emplace(*settings.quantised, weights_.format);
    }
    weights_.operations = 2.0 * grid.kernel * grid.kernel * grid.count() * grid.image.channels;
    weights_.store(fp32_matrix::Zero(channels(), grid.kernel * grid.kernel));
  }

  [[nodiscard]] image_shape output_shape() const {
    return {grid_.rows(), grid_.columns(), grid_.image.channels};
  }

  const matrix<S>& forward(const matrix<S>& x) override {
    weights_.read_operand(w_);
    const fp32_matrix& values = in_fp32(x, x_values_, [&](fp32_matrix& left) { read_x(x, left); });
    fp32_matrix& sums = place_for_sums(y_, sums_);
    sums.setZero(output_shape().size(), x.cols());
    timed(work::products, [&] {
      for (Eigen::Index n = 0; n < x.cols(); ++n)
        for_each_tap([&](Eigen::Index tap, Eigen::Index in, Eigen::Index out) {
          add(pixel(sums, out, n), w_.col(tap).array() * pixel(values, in, n));
        });
    });
    store_sums(sums, y_);
    return y_;
  }

  const matrix<S>& backward(const matrix<S>& x, const matrix<S>& dy, input_gradient wanted) override {
    if constexpr (std::is_same_v<S, float>) {
      if (operands_) {
        const auto left = operands_->assign_batch(x, dy, channels(), wanted);
        timed(work::conversions, [&] {
          read(left.x, x.rows(), x_values_);
          read(left.dy, dy.rows(), dy_values_);
        });
        set_weight_gradient(x_values_, dy_values_);
      } else {
        set_weight_gradient(x, dy);
      }
    } else {
      const auto none = [](fp32_matrix&) {};
      set_weight_gradient(in_fp32(x, x_values_, none), in_fp32(dy, dy_values_, none));
    }
    if (watch_)
      watch_->gradients(weights_.name, x, dy, channels(), weights_.gradient,
                        operands_ ? operands_->clips() : std::span<const float>());
    if (wanted == input_gradient::wanted) {
      const fp32_matrix& gradient = in_fp32(dy, dy_values_, [&](fp32_matrix& left) { read_dy(dy, left); });
      fp32_matrix& sums = place_for_sums(dx_, sums_);
      sums.setZero(x.rows(), x.cols());
      timed(work::products, [&] {
        for (Eigen::Index n = 0; n < x.cols(); ++n)
          for_each_tap([&](Eigen::Index tap, Eigen::Index in, Eigen::Index out) {
            add(pixel(sums, in, n), w_.col(tap).array() * pixel(gradient, out, n));
          });
      });
      store_sums(sums, dx_);
    }
    return dx_;
  }

  void collect(parameter_list<S>& all) override {
    all.weights.push_back(&weights_);
    if (operands_) all.states.push_back(&*operands_);
  }

  [[nodiscard]] std::size_t activation_bytes() const override { return bytes_of(y_); }

 private:
  [[nodiscard]] Eigen::Index channels() const { return grid_.image.channels; }

  /// The channels of a pixel, from its first element on.
  template <class Values> auto pixel(Values& values, Eigen::Index first, Eigen::Index n) const {
    using row = std::conditional_t<std::is_const_v<Values>, const Eigen::ArrayXf, Eigen::ArrayXf>;
    return Eigen::Map<row>(values.col(n).data() + first, channels());
  }

  /// f(tap, in, out) for each output pixel and each tap of its window that lies in the image: in and out are
  /// the first elements of the two pixels.
  template <class F> void for_each_tap(F f) const {
    const auto [height, width, depth] = grid_.image;
    const int rows = grid_.rows(), columns = grid_.columns(), kernel = grid_.kernel;
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) {
        const int top = y * grid_.stride - grid_.padding, left = x * grid_.stride - grid_.padding;
        for (int i = std::max(0, -top); i < std::min(kernel, height - top); ++i)
          for (int j = std::max(0, -left); j < std::min(kernel, width - left); ++j)
            f(i * kernel + j, Eigen::Index{(top + i) * width + left + j} * depth,
              Eigen::Index{y * columns + x} * depth);
      }
  }

  /// sum += term, in the sums' precision.
  template <class Term> void add(Eigen::Map<Eigen::ArrayXf> sum, const Term& term) const {
    sum += term;
    if constexpr (!std::is_same_v<S, float>)
      if (mode_ == accumulation::narrow) sum = sum.template cast<S>().template cast<float>();
  }

  void read_x(const matrix<S>& x, fp32_matrix& left) {
    if constexpr (std::is_same_v<S, float>) operands_->assign_x(x).read(left);
  }
  void read_dy(const matrix<S>& dy, fp32_matrix& left) {
    if constexpr (std::is_same_v<S, float>) operands_->assign_dy(dy).read(left);
  }

  /// m in fp32; where operands are quantised, what `read` finds left of it.
  template <class Read>
  const fp32_matrix& in_fp32(const matrix<S>& m, fp32_matrix& scratch, Read read) const {
    if constexpr (std::is_same_v<S, float>) {
      if (!operands_) return m;
      read(scratch);
    } else {
      timed(work::conversions, [&] { scratch = m.template cast<float>(); });
    }
    return scratch;
  }

  void set_weight_gradient(const fp32_matrix& x, const fp32_matrix& dy) {
    fp32_matrix sum = fp32_matrix::Zero(channels(), w_.cols());
    Eigen::MatrixXd total = Eigen::MatrixXd::Zero(channels(), w_.cols());
    timed(work::products, [&] {
      for (Eigen::Index n = 0; n < x.cols(); ++n) {
        for_each_tap([&](Eigen::Index tap, Eigen::Index in, Eigen::Index out) {
          add(pixel(sum, 0, tap), pixel(x, in, n) * pixel(dy, out, n));
        });
        if (mode_ == accumulation::narrow) continue;  // one sum for the batch
        total += sum.cast<double>();
        sum.setZero();
      }
    });
    if (mode_ == accumulation::wide) sum = total.cast<float>();
    weights_.gradient = sum.template cast<S>();
  }

  window_grid grid_;
  accumulation mode_;
  std::shared_ptr<tensor_watch> watch_;
  parameter<S> weights_;
  std::optional<layer_operands> operands_;
  fp32_matrix w_;                            // (channels x kernel^2), of the last `forward`
  fp32_matrix x_values_, dy_values_, sums_;  // scratch
  matrix<S> y_;                              // (output size x batch)
  matrix<S> dx_;                             // (image size x batch)
};

struct depthwise_convolution_spec {
  int kernel;
  int padding;
  int stride = 1;

  /// Throws std::invalid_argument where images are too small.
  template <class S> std::unique_ptr<layer<S>> make(layer_site& at) const {
    auto made = std::make_unique<depthwise_convolution<S>>(at.windows(kernel, padding, stride), at.products);
    at.shape = made->output_shape();
    return made;
  }
};

}  // namespace narrow_train
