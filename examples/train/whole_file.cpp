#include "whole_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "data/dataset.hpp"

namespace narrow_train {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int reason = errno) {
  throw data_error("cannot write " + path.string() + ": " + std::strerror(reason));
}

/// Where a path leads, and what it is written by way of: the same for what is no file.
struct place {
  std::filesystem::path target, partial;

  explicit place(const std::filesystem::path& path) : target(path) {
    std::error_code none;
    if (std::filesystem::is_symlink(path, none)) target = std::filesystem::weakly_canonical(path);
    if (std::filesystem::is_directory(target, none)) fail(path, EISDIR);
    partial = target;
    if (replaced()) partial += ".partial";
  }
  bool replaced() const {
    std::error_code none;
    return !std::filesystem::exists(target, none) || std::filesystem::is_regular_file(target, none);
  }
};

}  // namespace

std::uint64_t write_file(const std::filesystem::path& path, std::string_view bytes) {
  const place to(path);
  const bool replaced = to.replaced();
  std::FILE* const file = std::fopen(to.partial.c_str(), "wb");
  if (file == nullptr) fail(to.partial);
  // On the disk before it takes the place of the last one: a power failure must leave one of them.
  bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fflush(file) == 0 &&
                 (!replaced || fsync(fileno(file)) == 0);
  int reason = errno;
  if (std::fclose(file) != 0 && written) {
    reason = errno;
    written = false;
  }
  if (written && (!replaced || std::rename(to.partial.c_str(), to.target.c_str()) == 0)) return bytes.size();
  if (written) reason = errno;
  if (replaced) std::remove(to.partial.c_str());
  fail(written ? to.target : to.partial, reason);
}

void require_writable(const std::filesystem::path& path) {
  const place to(path);
  if (!to.replaced()) {
    if (access(to.target.c_str(), W_OK) != 0) fail(to.target);
    return;
  }
  const int file = open(to.partial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) fail(to.partial);
  close(file);
  std::remove(to.partial.c_str());
}

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code none;
  const auto whole = [&](const auto& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, none), none);
  };
  return whole(a) == whole(b);
}

}  // namespace narrow_train
