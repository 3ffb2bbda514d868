// The idx format of the MNIST files: big-endian 32-bit header (magic, one count per dimension), then bytes.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>

#include "data/dataset.hpp"

namespace narrow_train {
namespace {

// Magic numbers: two zero bytes, type 8 (unsigned byte), number of dimensions.
constexpr std::uint32_t images_magic = 0x0803;
constexpr std::uint32_t labels_magic = 0x0801;

/// Reads a plain or gzip-compressed file from front to back.
class byte_reader {
 public:
  explicit byte_reader(std::filesystem::path path)
      : path_(std::move(path)), file_(gzopen(path_.c_str(), "rb"), gzclose) {
    if (!file_) throw data_error("cannot open " + path_.string());
  }

  void read(std::span<std::uint8_t> out) {
    constexpr std::size_t most_per_call = 1u << 30;  // gzread counts in int
    while (!out.empty()) {
      const auto wanted = static_cast<unsigned>(std::min(out.size(), most_per_call));
      const int got = gzread(file_.get(), out.data(), wanted);
      int code = Z_OK;
      if (got < 0) throw data_error(path_.string() + " is not readable: " + gzerror(file_.get(), &code));
      if (got == 0) throw data_error(path_.string() + " ends too early");
      out = out.subspan(static_cast<std::size_t>(got));
    }
  }

  std::uint32_t read_uint32() {
    std::array<std::uint8_t, 4> b{};
    read(b);
    return std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 | b[3];
  }

  void expect_magic(std::uint32_t expected) {
    if (const auto magic = read_uint32(); magic != expected)
      throw data_error(path_.string() + " starts with " + std::to_string(magic) + " instead of " +
                       std::to_string(expected) + ": not such an idx file");
  }

  /// A dimension of the header, bounded so that a damaged one cannot ask for all memory.
  int read_dimension(int most) {
    const auto value = read_uint32();
    if (value < 1 || value > static_cast<std::uint32_t>(most))
      throw data_error(path_.string() + " has a dimension of " + std::to_string(value) +
                       ", allowed are 1 to " + std::to_string(most));
    return static_cast<int>(value);
  }

  void expect_end() {
    std::uint8_t extra = 0;
    if (gzread(file_.get(), &extra, 1) > 0)
      throw data_error(path_.string() + " is longer than its header says");
    // A packed file may also be cut or damaged behind the data, in its checksum.
    int code = Z_OK;
    const char* message = gzerror(file_.get(), &code);
    if (code != Z_OK && code != Z_STREAM_END)
      throw data_error(path_.string() + " is not readable: " + message);
  }

  [[nodiscard]] std::string name() const { return path_.string(); }

 private:
  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

/// `folder`/`name`, or the same with .gz where only that exists.
std::filesystem::path plain_or_packed(const std::filesystem::path& folder, const std::string& name) {
  const auto plain = folder / name;
  const auto packed = folder / (name + ".gz");
  return !std::filesystem::exists(plain) && std::filesystem::exists(packed) ? packed : plain;
}

dataset load_pair(const std::filesystem::path& folder, const std::string& prefix) {
  constexpr int most_images = 10'000'000;
  constexpr int longest_side = 1024;
  constexpr int classes = 10;

  byte_reader images(plain_or_packed(folder, prefix + "-images-idx3-ubyte"));
  images.expect_magic(images_magic);
  const auto count = static_cast<std::size_t>(images.read_dimension(most_images));
  dataset data;
  data.classes = classes;
  data.shape.height = images.read_dimension(longest_side);
  data.shape.width = images.read_dimension(longest_side);
  data.shape.channels = 1;

  byte_reader labels(plain_or_packed(folder, prefix + "-labels-idx1-ubyte"));
  labels.expect_magic(labels_magic);
  if (const int n = labels.read_dimension(most_images); static_cast<std::size_t>(n) != count)
    throw data_error(labels.name() + " has " + std::to_string(n) + " labels for the " +
                     std::to_string(count) + " images of " + images.name());
  data.labels.resize(count);
  labels.read(data.labels);
  labels.expect_end();
  if (const auto worst = std::ranges::max(data.labels); worst >= classes)
    throw data_error(labels.name() + " has a label " + std::to_string(worst) + ", allowed are 0 to " +
                     std::to_string(classes - 1));

  // Image by image, so that a false count ends at the end of the file and not of the memory.
  const auto image_size = static_cast<std::size_t>(data.shape.size());
  for (std::size_t i = 0; i < count; ++i) {
    data.pixels.resize((i + 1) * image_size);
    images.read(std::span(data.pixels).last(image_size));
  }
  images.expect_end();
  return data;
}

}  // namespace

train_and_test load_mnist(const std::filesystem::path& folder) {
  train_and_test data{load_pair(folder, "train"), load_pair(folder, "t10k")};
  if (data.train.shape != data.test.shape)
    throw data_error("the training and test images in " + folder.string() + " differ in size");
  return data;
}

}  // namespace narrow_train
