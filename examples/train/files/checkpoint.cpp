#include "files/checkpoint.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <narrow/narrow.hpp>
#include <narrow/version.hpp>

#include "files/whole_file.hpp"
#include "sources_digest.hpp"

namespace narrow_train {
namespace {

constexpr file_kind checkpoint_file{"checkpoint", 2};

// What a file says of the program that wrote it, before the settings of the run.
constexpr std::string_view version_name = "narrow", build_name = "build";

/// Takes it from the front of a file's settings.
program_build take_writer(std::vector<setting>& saved) {
  if (saved.size() < 2 || saved[0].name != version_name || saved[1].name != build_name)
    throw std::runtime_error("does not say which program wrote it");
  program_build writer{saved[0].value, saved[1].value};
  saved.erase(saved.begin(), saved.begin() + 2);
  return writer;
}

void require_same(const std::vector<setting>& saved, const std::vector<setting>& asked) {
  const auto find = [](const std::vector<setting>& in, const std::string& name) -> const setting* {
    const auto found = std::ranges::find(in, name, &setting::name);
    return found == in.end() ? nullptr : &*found;
  };
  for (const setting& a : asked) {
    const setting* s = find(saved, a.name);
    if (s == nullptr) throw std::runtime_error("was written without " + a.name + ", not with " + a.value);
    if (*s != a) throw std::runtime_error("was written with " + a.name + ' ' + s->value + ", not " + a.value);
  }
  for (const setting& s : saved)
    if (find(asked, s.name) == nullptr)
      throw std::runtime_error("was written with " + s.name + ' ' + s.value + ", not without");
}

}  // namespace

program_build this_program() {
  const auto number = [](auto... parts) {
    std::string text;
    for (const int part : {parts...}) {
      if (!text.empty()) text += '.';
      text += std::to_string(part);
    }
    return text;
  };
  return {number(NARROW_VERSION_MAJOR, NARROW_VERSION_MINOR, NARROW_VERSION_PATCH),
          std::string("sources ") + sources_digest + ", compiler " + __VERSION__ + ", Eigen " +
              number(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION) + " with " +
              Eigen::SimdInstructionSetsInUse() + ", kernels " + std::string(narrow::isa_name())};
}

void write_checkpoint(const std::filesystem::path& path, const std::vector<setting>& settings,
                      const std::vector<saved_part>& parts, const program_build& writer) {
  std::vector<setting> all{{std::string(version_name), writer.version},
                           {std::string(build_name), writer.build}};
  all.insert(all.end(), settings.begin(), settings.end());
  write_sections(path, checkpoint_file, all, parts);
}

std::string read_checkpoint(const std::filesystem::path& path, const std::vector<setting>& settings,
                            const std::vector<saved_part>& parts, other_builds others,
                            const program_build& reader) {
  section_file file = read_sections(path, checkpoint_file);
  const program_build writer = naming(path, [&] {
    program_build by = take_writer(file.settings);
    if (by.version != reader.version)
      throw std::runtime_error("was written by narrow " + by.version + ", this is narrow " + reader.version);
    require_same(file.settings, settings);
    if (by.build != reader.build && others == other_builds::refused)
      throw std::runtime_error("was written by another build (" + by.build + "), after which this one (" +
                               reader.build + ") may round otherwise; --other-build accepts that");
    return by;
  });
  load_sections(file, parts);
  return writer.build != reader.build ? writer.build : std::string();
}

checkpoint_folder::checkpoint_folder(const std::filesystem::path& folder)
    : lock_(open((folder / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (lock_ < 0 || flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    if (lock_ >= 0) close(lock_);
    throw data_error(reason == EWOULDBLOCK
                         ? "--checkpoint: another run uses " + folder.string() +
                               " now; this one needs another folder"
                         : "--checkpoint: cannot lock " + folder.string() + ": " + std::strerror(reason));
  }
  remove_partial_files(folder, checkpoint_extension);
}

// The file stays: whoever waits for its lock has it open.
checkpoint_folder::~checkpoint_folder() { close(lock_); }

}  // namespace narrow_train
