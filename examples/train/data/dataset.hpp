// Labelled images in memory, and the places that they come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/data_error.hpp"

namespace narrow_train {

/// Size of one image or of one layer's output. Storage order is row, column, channel: channels lie side by
/// side.
struct image_shape {
  int height = 0;
  int width = 0;
  int channels = 0;

  [[nodiscard]] int size() const { return height * width * channels; }
  bool operator==(const image_shape&) const = default;
};

struct dataset {
  image_shape shape;
  int classes = 0;
  std::vector<std::uint8_t> pixels;  // (count x shape.size()), image after image
  std::vector<std::uint8_t> labels;  // (count), each below `classes`

  [[nodiscard]] std::size_t count() const { return labels.size(); }

  /// The pixels of image i, shape.size() of them.
  [[nodiscard]] std::span<const std::uint8_t> image(std::size_t i) const {
    const auto size = static_cast<std::size_t>(shape.size());
    return std::span(pixels).subspan(i * size, size);
  }

  /// Keeps the first n images; all of them if there are fewer.
  void truncate(std::size_t n);

  /// Takes the last n images, of more than n, out of this data set, and returns them.
  dataset hold_out(std::size_t n);
};

/// The crc32 of labels and pixels, for `setting`s: eight hexadecimal digits.
std::string digest(const dataset& images);

/// What a training run needs of the world.
struct train_and_test {
  dataset train;
  dataset test;
};

/// How training images are varied from epoch to epoch.
enum class augmentation {
  none,
  crop_and_flip,  // padded by 4, cut to size at random, mirrored at random: He et al. (2015), section 4.2
};

/// A data set that can be named on the command line.
struct source {
  std::string_view name;
  std::string_view contents;  // for --help
  bool needs_folder;
  augmentation usual_augmentation;
  /// Reads the images from `folder`, or draws them. Throws data_error.
  train_and_test (*load)(const std::filesystem::path& folder);
};

/// Every data set; the first is the default.
std::span<const source> sources();

/// MNIST's format: `folder`/{train,t10k}-{images-idx3,labels-idx1}-ubyte, plain or with .gz, pixels as in the
/// files.
train_and_test load_mnist(const std::filesystem::path& folder);

/// CIFAR-10's binary format: `folder`/data_batch_{1..5}.bin and test_batch.bin, colour planes interleaved.
train_and_test load_cifar10(const std::filesystem::path& folder);

/// Digits 0 to 9 drawn by the program, 28 x 28 grey: 12000 to train on and 4000 to test. Always the same
/// ones.
train_and_test draw_digits();

/// `count` drawn digits from an explicit seed. Each image depends on the seed and its own index alone.
dataset draw_digits(std::size_t count, std::uint64_t seed);

}  // namespace narrow_train
