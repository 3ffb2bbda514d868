#include "files/whole_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "files/data_error.hpp"

namespace narrow_train {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int reason = errno) {
  throw data_error("cannot write " + path.string() + ": " + std::strerror(reason));
}

constexpr std::string_view end_of_partial = ".partial";

/// Where a path leads.
struct place {
  std::filesystem::path target;

  explicit place(const std::filesystem::path& path) : target(path) {
    std::error_code none;
    if (std::filesystem::is_symlink(path, none)) target = std::filesystem::weakly_canonical(path);
    if (std::filesystem::is_directory(target, none)) fail(path, EISDIR);
  }
  bool replaced() const {
    std::error_code none;
    return !std::filesystem::exists(target, none) || std::filesystem::is_regular_file(target, none);
  }
};

/// A new file beside the target that no other writer has, in this program or another: one that is there, even
/// of a program that has ended, is left alone. Removed with this object unless it was put in the target's
/// place.
class partial_file {
 public:
  explicit partial_file(const std::filesystem::path& target) : target_(target) {
    static std::atomic<unsigned> count = 0;
    do {
      path_ = target;
      path_ += '.' + std::to_string(getpid()) + '-' + std::to_string(count++);
      path_ += end_of_partial;
      descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor_ < 0 && errno == EEXIST);
    if (descriptor_ < 0) fail(path_);
  }
  ~partial_file() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!placed_) std::remove(path_.c_str());
  }
  partial_file(const partial_file&) = delete;
  partial_file& operator=(const partial_file&) = delete;

  /// On the disk before it takes the place of the last one: a power failure must leave one of them.
  void put_in_place(std::string_view bytes) {
    write_all(descriptor_, bytes, path_);
    if (fsync(descriptor_) != 0) fail(path_);
    if (close(std::exchange(descriptor_, -1)) != 0) fail(path_);
    if (std::rename(path_.c_str(), target_.c_str()) != 0) fail(target_);
    placed_ = true;
  }

  static void write_all(int descriptor, std::string_view bytes, const std::filesystem::path& path) {
    while (!bytes.empty()) {
      const ssize_t written = write(descriptor, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(path);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

 private:
  std::filesystem::path target_, path_;
  int descriptor_ = -1;
  bool placed_ = false;
};

}  // namespace

std::uint64_t write_file(const std::filesystem::path& path, std::string_view bytes) {
  const place to(path);
  if (to.replaced()) {
    partial_file(to.target).put_in_place(bytes);
    return bytes.size();
  }
  const int file = open(to.target.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) fail(to.target);
  try {
    partial_file::write_all(file, bytes, to.target);
  } catch (...) {
    close(file);
    throw;
  }
  if (close(file) != 0) fail(to.target);
  return bytes.size();
}

void require_writable(const std::filesystem::path& path) {
  const place to(path);
  if (to.replaced())
    static_cast<void>(partial_file(to.target));
  else if (access(to.target.c_str(), W_OK) != 0)
    fail(to.target);
}

void remove_partial_files(const std::filesystem::path& folder, std::string_view extension) {
  const std::string within = std::string(extension) + '.';
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(end_of_partial) && name.find(within) != std::string::npos &&
        entry.is_regular_file(ignored))
      std::filesystem::remove(entry.path(), ignored);
  }
}

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code none;
  const auto whole = [&](const auto& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, none), none);
  };
  return whole(a) == whole(b);
}

}  // namespace narrow_train
