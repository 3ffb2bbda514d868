#include "data/dataset.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>

namespace narrow_train {

void dataset::truncate(std::size_t n) {
  n = std::min(n, count());
  labels.resize(n);
  pixels.resize(n * static_cast<std::size_t>(shape.size()));
}

dataset dataset::hold_out(std::size_t n) {
  if (n >= count())
    throw std::invalid_argument("cannot hold out " + std::to_string(n) + " of " + std::to_string(count()) +
                                " images: none would be left");
  const std::size_t kept = count() - n;
  const auto first_label = labels.begin() + static_cast<std::ptrdiff_t>(kept);
  const auto first_pixel =
      pixels.begin() + static_cast<std::ptrdiff_t>(kept * static_cast<std::size_t>(shape.size()));
  dataset held{shape, classes, {first_pixel, pixels.end()}, {first_label, labels.end()}};
  truncate(kept);
  return held;
}

std::string digest(const dataset& images) {
  uLong crc = crc32_z(0, nullptr, 0);
  crc = crc32_z(crc, images.labels.data(), images.labels.size());
  crc = crc32_z(crc, images.pixels.data(), images.pixels.size());
  char text[9];
  std::snprintf(text, sizeof text, "%08lx", static_cast<unsigned long>(crc));
  return text;
}

std::span<const source> sources() {
  static constexpr std::array all{
      source{"digits", "drawn by the program, no files needed", false, augmentation::none,
             [](const std::filesystem::path&) { return draw_digits(); }},
      source{"mnist", "idx files, plain or .gz, in --data DIR", true, augmentation::none, load_mnist},
      source{"cifar10", "binary version, in --data DIR", true, augmentation::crop_and_flip, load_cifar10},
  };
  return all;
}

}  // namespace narrow_train
