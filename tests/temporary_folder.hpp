// A folder that is gone when the test is.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace test {

class temporary_folder {
 public:
  explicit temporary_folder(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    static int count = 0;
    path_ = parent / ("narrow-test-" + std::to_string(getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Returns where the file is.
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace test
