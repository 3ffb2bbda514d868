// The windows of a convolution, and images laid out in them.
#pragma once

#include <algorithm>

#include "../data/dataset.hpp"
#include "../tensor.hpp"

namespace narrow_train {

/// Where the windows of a convolution lie. With channels innermost, a row of a window is contiguous in the
/// image, and the product's output (channels x pixels x batch) is the next layer's input without a
/// transposition.
struct window_grid {
  image_shape image;
  int kernel;   // windows are kernel x kernel
  int padding;  // rows and columns of zeros on each side
  int stride = 1;

  [[nodiscard]] int rows() const { return windows(image.height + 2 * padding); }
  [[nodiscard]] int columns() const { return windows(image.width + 2 * padding); }
  [[nodiscard]] int count() const { return rows() * columns(); }
  [[nodiscard]] int window_size() const { return kernel * kernel * image.channels; }

  /// Calls f(in_window, in_image, length) for each run of elements that a row of a window shares with the
  /// image, window by window: in_window counts from the first window's first element.
  template <class F> void for_each_run(F&& f) const {
    Eigen::Index window = 0;
    for (int y = 0; y < rows() * stride; y += stride)
      for (int x = 0; x < columns() * stride; x += stride, window += window_size()) {
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

 private:
  [[nodiscard]] int windows(int padded) const { return padded < kernel ? 0 : (padded - kernel) / stride + 1; }
};

/// Lays the windows of every image of x (image size x batch) out as columns: (window size x windows * batch).
template <class Images, class T>
void image_to_columns(const window_grid& grid, const Images& x, matrix<T>& columns) {
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

}  // namespace narrow_train
