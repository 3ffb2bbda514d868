// The windows of a convolution, and images laid out in them.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "data/dataset.hpp"
#include "tensor/parallel.hpp"
#include "tensor/tensor.hpp"

namespace narrow_train {

/// Where the windows of a convolution lie. With channels innermost, a row of a window is contiguous in the
/// image, and the product's output (channels x pixels x batch) is the next layer's input without a
/// transposition.
struct window_grid {
  image_shape image;
  int kernel;          // windows are kernel x kernel
  int padding;         // rows and columns of zeros on each side; less than kernel
  int stride = 1;      // rows and columns from one window to the next
  int spacing = 1;     // from one pixel to the next, with zeros between
  image_shape rest{};  // rows and columns of zeros at the bottom and on the right, beside the padding

  [[nodiscard]] int padded_height() const { return padded(image.height, rest.height); }
  [[nodiscard]] int padded_width() const { return padded(image.width, rest.width); }
  [[nodiscard]] int rows() const { return windows(padded_height()); }
  [[nodiscard]] int columns() const { return windows(padded_width()); }
  [[nodiscard]] int count() const { return rows() * columns(); }
  [[nodiscard]] int window_size() const { return kernel * kernel * image.channels; }

  /// Whether each window is one pixel, in the order of the pixels.
  [[nodiscard]] bool pixel_by_pixel() const {
    return kernel == 1 && padding == 0 && stride == 1 && spacing == 1 && rest == image_shape{};
  }

  /// The windows of the outputs, `channels` for each window of this grid, that each pixel of the image takes
  /// part in, turned by half a turn: what the input gradient is a convolution over.
  [[nodiscard]] window_grid transposed(int channels) const {
    return {{rows(), columns(), channels},
            kernel,
            kernel - 1 - padding,
            1,
            stride,
            {(padded_height() - kernel) % stride, (padded_width() - kernel) % stride, 0}};
  }

 private:
  [[nodiscard]] int padded(int pixels, int more) const {
    return (pixels - 1) * spacing + 1 + 2 * padding + more;
  }
  [[nodiscard]] int windows(int pixels) const { return pixels < kernel ? 0 : (pixels - kernel) / stride + 1; }
};

/// The windows of a few images at a time as columns (window size x windows). It reuses memory of the calling
/// thread's: one object at a time for each T.
template <class T> class window_layout {
 public:
  explicit window_layout(const window_grid& grid) : grid_(grid) {
    if (grid_.pixel_by_pixel()) return;
    const auto padded = static_cast<std::size_t>(grid_.padded_height()) *
                        static_cast<std::size_t>(grid_.padded_width() * grid_.image.channels);
    memory().padded.assign(padded + slack, T{});
  }

  /// As many images as leave their windows in a cache of the second level.
  [[nodiscard]] Eigen::Index images_at_once() const {
    constexpr std::size_t bytes = 512 << 10;
    const auto image = sizeof(T) * static_cast<std::size_t>(grid_.window_size() * grid_.count());
    return static_cast<Eigen::Index>(std::max<std::size_t>(bytes / image, 1));
  }

  /// The windows of `count` images that follow one another; they hold until the next call.
  Eigen::Map<const matrix<T>> operator()(const T* images, Eigen::Index count) {
    const Eigen::Index windows = grid_.count() * count;
    if (grid_.pixel_by_pixel()) return {images, grid_.window_size(), windows};
    auto& columns = memory().columns;
    const auto size = static_cast<std::size_t>(grid_.window_size() * windows);
    if (columns.size() < size + slack) columns.resize(size + slack);
    T* to = columns.data();
    for (Eigen::Index n = 0; n < count; ++n) {
      pad(images + n * grid_.image.size());
      to = cut(to);
    }
    return {columns.data(), grid_.window_size(), windows};
  }

 private:
  static constexpr std::size_t largest_piece = 32, slack = largest_piece / sizeof(T);

  struct buffers {
    std::vector<T> padded, columns;
  };
  static buffers& memory() {
    static thread_local buffers own;
    return own;
  }

  /// An image among its zeros.
  void pad(const T* image) {
    const auto [height, width, channels] = grid_.image;
    const Eigen::Index row = Eigen::Index{grid_.padded_width()} * channels;
    T* to = memory().padded.data() + grid_.padding * (row + channels);
    const int run = grid_.spacing == 1 ? width * channels : channels;  // of pixels side by side in both
    for (int y = 0; y < height; ++y, to += grid_.spacing * row)
      for (int i = 0; i < width * channels; i += run, image += run)
        std::copy_n(image, run, to + i * grid_.spacing);
  }

  /// The windows of the padded image, one after another, to `to`; returns where they end. Their rows are
  /// copied in pieces, the last of which reaches beyond the row; what it leaves there is overwritten by the
  /// next row.
  T* cut(T* to) {
    const auto row = sizeof(T) * static_cast<std::size_t>(grid_.kernel * grid_.image.channels);
    if (row <= 8) return cut_rows(to, [](T* at, const T* from, Eigen::Index) { copy_piece<8>(at, from); });
    if (row <= 16) return cut_rows(to, [](T* at, const T* from, Eigen::Index) { copy_piece<16>(at, from); });
    return cut_rows(to, [](T* at, const T* from, Eigen::Index numbers) {
      constexpr auto piece = static_cast<Eigen::Index>(largest_piece / sizeof(T));
      for (Eigen::Index i = 0; i < numbers; i += piece) copy_piece<largest_piece>(at + i, from + i);
    });
  }
  template <std::size_t Bytes> static void copy_piece(T* to, const T* from) {
    std::memcpy(static_cast<void*>(to), from, Bytes);
  }
  /// copy(to, from, numbers) for each row of each window. What it writes may be any byte of this object, as
  /// far as the compiler knows, so that the loop keeps to itself what it needs of the grid.
  template <class Copy> T* cut_rows(T* to, Copy copy) {
    const auto grid = grid_;
    const T* const padded = memory().padded.data();
    const Eigen::Index channels = grid.image.channels, run = grid.kernel * channels,
                       row = grid.padded_width() * channels, step = grid.stride * channels;
    const int rows = grid.rows(), columns = grid.columns(), kernel = grid.kernel;
    for (int y = 0; y < rows; ++y) {
      const T* window = padded + y * grid.stride * row;
      for (int x = 0; x < columns; ++x, window += step) {
        const T* from = window;
        for (int k = 0; k < kernel; ++k, from += row, to += run) copy(to, from, run);
      }
    }
    return to;
  }

  window_grid grid_;
};

/// f(group, first, count, columns) for a few images at a time, `count` of them from the first on, with their
/// windows as columns; by several threads at a time, but those of one group in their order.
template <class T, class F>
void for_each_layout(const window_grid& grid, const T* images, Eigen::Index batch, F f) {
  for_each_group(batch, [&](int group, Eigen::Index begin, Eigen::Index images_of_group) {
    window_layout<T> layout(grid);
    const Eigen::Index most = layout.images_at_once();
    for (Eigen::Index i = 0; i < images_of_group; i += most) {
      const Eigen::Index first = begin + i, count = std::min(most, images_of_group - i);
      f(group, first, count, layout(images + first * grid.image.size(), count));
    }
  });
}

/// Weights (outputs x window size) for the input gradient: (channels of the image x windows of outputs), each
/// window turned by half a turn.
template <class Weights, class T>
void turn_weights(const window_grid& grid, const Weights& weights, matrix<T>& turned) {
  const Eigen::Index channels = grid.image.channels, outputs = weights.rows(),
                     places = grid.kernel * grid.kernel;
  turned.resize(channels, places * outputs);
  for (Eigen::Index place = 0; place < places; ++place)
    turned.middleCols((places - 1 - place) * outputs, outputs) =
        weights.middleCols(place * channels, channels).transpose();
}

}  // namespace narrow_train
