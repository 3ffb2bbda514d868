// What the tests of the example trainer share.
#pragma once

#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "catch.hpp"
#include "temporary_folder.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

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
class folder : public test::temporary_folder {
 public:
  void write_packed(const std::string& name, const std::string& bytes) const {
    gzFile file = gzopen((path() / name).c_str(), "wb");
    REQUIRE(file != nullptr);
    REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) ==
            static_cast<int>(bytes.size()));
    REQUIRE(gzclose(file) == Z_OK);
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(path() / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// How many files there are in it that are written or were left so.
  [[nodiscard]] int partial_files() const {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path()))
      count += entry.path().extension() == ".partial";
    return count;
  }
};

/// While it lives, no file grows beyond so many bytes: as on a full disk.
class limited_files {
 public:
  explicit limited_files(rlim_t bytes) {
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit limit{bytes, before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~limited_files() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  limited_files(const limited_files&) = delete;
  limited_files& operator=(const limited_files&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

}  // namespace narrow_train
