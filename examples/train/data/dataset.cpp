#include "dataset.hpp"

#include <algorithm>
#include <array>

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
