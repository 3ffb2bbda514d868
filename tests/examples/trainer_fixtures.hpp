// What the tests of the example trainer share.
#pragma once

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "catch.hpp"
#include "random.hpp"
#include "tensor.hpp"

namespace narrow_train {

/// (rows x columns), all values different and at least `gap` apart, in random order, around zero but never at
/// it: no ReLU and no maximum changes sides under a step smaller than half the gap.
inline fp32_matrix spread(Eigen::Index rows, Eigen::Index columns, float gap, std::uint64_t seed) {
  fp32_matrix m(rows, columns);
  for (Eigen::Index i = 0; i < m.size(); ++i)
    m.data()[i] = (static_cast<float>(i - m.size() / 2) + 0.5f) * gap;
  random_stream(seed, purpose::weights).shuffle(std::span(m.data(), static_cast<std::size_t>(m.size())));
  return m;
}

/// A folder that goes with the test.
class folder {
 public:
  folder() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("narrow-trainer-test-" + std::to_string(getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }
  void write_packed(const std::string& name, const std::string& bytes) const {
    gzFile file = gzopen((path_ / name).c_str(), "wb");
    REQUIRE(file != nullptr);
    REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) ==
            static_cast<int>(bytes.size()));
    REQUIRE(gzclose(file) == Z_OK);
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path path_;
};

}  // namespace narrow_train
