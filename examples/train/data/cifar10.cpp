// CIFAR-10's binary version: records of one label byte and three planes of 32 x 32 bytes, red, green, blue.
#include <array>
#include <fstream>

#include "data/dataset.hpp"

namespace narrow_train {
namespace {

constexpr image_shape shape{32, 32, 3};
constexpr int classes = 10;
constexpr int plane_size = shape.height * shape.width;

void append(dataset& data, const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw data_error("cannot open " + path.string());

  std::array<char, 1 + 3 * plane_size> record;
  while (file.read(record.data(), record.size())) {
    const auto byte = [&](int i) { return static_cast<std::uint8_t>(record[static_cast<std::size_t>(i)]); };
    if (byte(0) >= classes)
      throw data_error(path.string() + " has a label " + std::to_string(byte(0)) + ", allowed are 0 to " +
                       std::to_string(classes - 1));
    data.labels.push_back(byte(0));
    for (int pixel = 0; pixel < plane_size; ++pixel)
      for (int channel = 0; channel < shape.channels; ++channel)
        data.pixels.push_back(byte(1 + channel * plane_size + pixel));
  }
  if (!file.eof()) throw data_error(path.string() + " is not readable");
  if (file.gcount() != 0) throw data_error(path.string() + " ends inside a record");
}

dataset load_files(const std::filesystem::path& folder, std::span<const std::string> names) {
  dataset data{.shape = shape, .classes = classes, .pixels = {}, .labels = {}};
  for (const auto& name : names) {
    const auto before = data.count();
    append(data, folder / name);
    if (data.count() == before) throw data_error((folder / name).string() + " is empty");
  }
  return data;
}

}  // namespace

train_and_test load_cifar10(const std::filesystem::path& folder) {
  const std::array<std::string, 5> train{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                         "data_batch_4.bin", "data_batch_5.bin"};
  const std::array<std::string, 1> test{"test_batch.bin"};
  return {load_files(folder, train), load_files(folder, test)};
}

}  // namespace narrow_train
