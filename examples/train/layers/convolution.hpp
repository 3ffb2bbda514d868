// Two-dimensional convolution, stride 1, zero padding, as one matrix product for the whole batch.
#pragma once

#include <algorithm>

#include "../data/dataset.hpp"
#include "layer.hpp"

namespace narrow_train {

/// Where the windows of a convolution lie. With channels innermost, a row of a window is contiguous in the
/// image, and the product's output (channels x pixels x batch) is the next layer's input without a
/// transposition.
struct window_grid {
  image_shape image;
  int kernel;   // windows are kernel x kernel
  int padding;  // rows and columns of zeros on each side

  [[nodiscard]] int rows() const { return image.height + 2 * padding - kernel + 1; }
  [[nodiscard]] int columns() const { return image.width + 2 * padding - kernel + 1; }
  [[nodiscard]] int count() const { return rows() * columns(); }
  [[nodiscard]] int window_size() const { return kernel * kernel * image.channels; }

  /// Calls f(in_window, in_image, length) for each run of elements that a row of a window shares with the
  /// image, window by window: in_window counts from the first window's first element.
  template <class F> void for_each_run(F&& f) const {
    Eigen::Index window = 0;
    for (int y = 0; y < rows(); ++y)
      for (int x = 0; x < columns(); ++x, window += window_size()) {
        const int left = std::max(0, padding - x);
        const int right = std::min(kernel, image.width + padding - x);
        for (int row = 0; row < kernel; ++row) {
          const int image_row = y + row - padding;
          if (image_row < 0 || image_row >= image.height) continue;
          f(window + (row * kernel + left) * image.channels,
            Eigen::Index{image_row * image.width + x + left - padding} * image.channels,
            Eigen::Index{right - left} * image.channels);
        }
      }
  }
};

/// Lays the windows of every image of x (image size x batch) out as columns: (window size x windows * batch).
template <class T> void image_to_columns(const window_grid& grid, const matrix<T>& x, matrix<T>& columns) {
  columns.resize(grid.window_size(), grid.count() * x.cols());
  if (grid.padding > 0) columns.setZero();
  for (Eigen::Index n = 0; n < x.cols(); ++n) {
    const T* const from = x.col(n).data();
    T* const to = columns.col(n * grid.count()).data();
    grid.for_each_run([&](Eigen::Index in_window, Eigen::Index in_image, Eigen::Index length) {
      std::copy_n(from + in_image, length, to + in_window);
    });
  }
}

/// The transpose of that: adds every element of the windows to the pixel that it was copied from.
inline void columns_to_image(const window_grid& grid, const fp32_matrix& columns, fp32_matrix& x) {
  x.setZero(grid.image.size(), columns.cols() / grid.count());
  for (Eigen::Index n = 0; n < x.cols(); ++n) {
    const float* const from = columns.col(n * grid.count()).data();
    float* const to = x.col(n).data();
    grid.for_each_run([&](Eigen::Index in_window, Eigen::Index in_image, Eigen::Index length) {
      for (Eigen::Index i = 0; i < length; ++i) to[in_image + i] += from[in_window + i];
    });
  }
}

template <class S> class convolution final : public layer<S> {
 public:
  /// Weights and biases start at zero.
  convolution(const window_grid& grid, int channels, accumulation mode) : grid_(grid), mode_(mode) {
    weights_.value = matrix<S>::Zero(channels, grid.window_size());
    bias_.value = fp32_matrix::Zero(channels, 1);
  }

  [[nodiscard]] image_shape output_shape() const {
    return {grid_.rows(), grid_.columns(), static_cast<int>(weights_.value.rows())};
  }

  const matrix<S>& forward(const matrix<S>& x) override {
    image_to_columns(grid_, x, columns_);
    multiply(mode_, sums_, weights_.value, columns_);
    sums_.colwise() += bias_.value.col(0);
    y_ = sums_.reshaped(output_shape().size(), x.cols()).template cast<S>();
    return y_;
  }

  const matrix<S>& backward(const matrix<S>& x, const matrix<S>& dy, input_gradient wanted) override {
    const Eigen::Map<const matrix<S>> g(dy.data(), weights_.value.rows(), grid_.count() * x.cols());
    multiply(mode_, weights_.gradient, g, columns_.transpose());
    bias_.gradient = g.template cast<float>().rowwise().sum();
    if (wanted == input_gradient::wanted) {
      multiply(mode_, column_sums_, weights_.value.transpose(), g);
      columns_to_image(grid_, column_sums_, dx_sums_);
      dx_ = dx_sums_.template cast<S>();
    }
    return dx_;
  }

  void collect(parameter_list<S>& all) override {
    all.weights.push_back(&weights_);
    all.biases.push_back(&bias_);
  }

  [[nodiscard]] std::size_t activation_bytes() const override { return bytes_of(columns_) + bytes_of(y_); }

 private:
  window_grid grid_;
  accumulation mode_;
  parameter<S> weights_;     // (channels x window size)
  parameter<float> bias_;    // (channels x 1)
  matrix<S> columns_;        // (window size x windows * batch)
  fp32_matrix sums_;         // (channels x windows * batch), scratch: W columns + b before it is rounded
  matrix<S> y_;              // (output size x batch), the same values as sums_ in the same order
  fp32_matrix column_sums_;  // (window size x windows * batch), scratch
  fp32_matrix dx_sums_;      // (image size x batch), scratch: overlapping windows are added before rounding
  matrix<S> dx_;             // (image size x batch)
};

}  // namespace narrow_train
