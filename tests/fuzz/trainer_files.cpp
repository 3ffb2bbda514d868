// Fuzz target: the files that the example trainer reads: models, checkpoints, and images in the formats of
// MNIST and CIFAR-10. What is wrong is refused with a data_error, whatever it is.
#include <filesystem>
#include <fstream>

#include "data/dataset.hpp"
#include "files/checkpoint.hpp"
#include "input.hpp"
#include "temporary_folder.hpp"
#include "training/model_file.hpp"

using namespace narrow_train;

namespace {

/// The crc32 that ends each section is made right, so that what is behind it is reached: sections as
/// section_file.hpp describes them.
std::uint32_t crc32_of(const std::string& bytes, std::size_t begin, std::size_t end) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (std::size_t i = begin; i < end; ++i) {
    crc ^= static_cast<std::uint8_t>(bytes[i]);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb8'8320 : 0);
  }
  return ~crc;
}
std::uint64_t number_at(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < size; ++i)
    result |= std::uint64_t{static_cast<std::uint8_t>(bytes[at + i])} << (8 * i);
  return result;
}
void repair(std::string& bytes) {
  std::size_t at = bytes.find('\n') + 1;
  while (at != 0 && at + 4 <= bytes.size()) {
    const std::size_t begin = at;
    at += 4 + number_at(bytes, at, 4);
    if (at + 8 > bytes.size()) return;
    const std::uint64_t size = number_at(bytes, at, 8);
    if (size > bytes.size() - at - 8) return;
    at += 8 + size;
    if (at + 4 > bytes.size()) return;
    const std::uint32_t crc = crc32_of(bytes, begin, at);
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(crc >> (8 * i) & 0xff);
    at += 4;
  }
}

void read_images(const test::temporary_folder& in, const std::string& bytes, bool is_mnist) {
  if (is_mnist) {
    // Both files of a pair come from the input: a length, then the images, then the labels.
    const std::size_t cut = bytes.empty() ? 0 : static_cast<std::uint8_t>(bytes[0]) % bytes.size();
    for (const char* prefix : {"train", "t10k"}) {
      in.write(std::string(prefix) + "-images-idx3-ubyte",
               bytes.substr(std::min<std::size_t>(1 + cut, bytes.size())));
      in.write(std::string(prefix) + "-labels-idx1-ubyte",
               bytes.substr(0, cut).substr(std::min<std::size_t>(1, cut)));
    }
    static_cast<void>(load_mnist(in.path()));
  } else {
    for (const char* name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                             "data_batch_5.bin", "test_batch.bin"})
      in.write(name, bytes);
    static_cast<void>(load_cifar10(in.path()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // In memory, where the system has a folder there.
  static const test::temporary_folder here(std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp");
  fuzz::input in(data, size);
  const std::size_t which = in.below(8);
  std::string bytes = in.text();
  if (which < 4) repair(bytes);
  try {
    if (which == 0 || which == 1 || which == 4) {
      static_cast<void>(read_model(here.write("any.model", bytes)));
    } else if (which < 6) {
      std::string contents;
      const std::vector<saved_part> parts{
          {"part", [](std::ostream&) {}, [&](std::istream& from) { from >> contents; }}};
      static_cast<void>(read_checkpoint(here.write("any.checkpoint", bytes), {{"--seed", "1"}}, parts,
                                        other_builds::accepted));
    } else {
      read_images(here, bytes, which == 6);
    }
  } catch (const data_error&) {
  }
  return 0;
}
