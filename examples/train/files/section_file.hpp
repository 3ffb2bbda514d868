// Files of named sections that exist whole or not at all, and in which no damage goes unnoticed.
//
// A line that says what the file is, then sections: size of the name (u32), name, size of the contents (u64),
// contents, crc32 of all that (u32); numbers little-endian. The first section is called "settings": lines of
// a name and a value. The last is called "end" and empty.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "files/data_error.hpp"
#include "files/saved_state.hpp"

namespace narrow_train {

/// What a run was told, by the names of the options: the same run has the same ones.
struct setting {
  std::string name, value;

  bool operator==(const setting&) const = default;
};

struct section {
  std::string name, contents;
};

/// What is in a file of sections. Its first line is "narrow NAME VERSION".
struct file_kind {
  std::string_view name;
  int version;  // of what the sections hold: programs read their own alone

  [[nodiscard]] std::string title() const { return "narrow " + std::string(name) + ' '; }
  [[nodiscard]] std::string first_line() const { return title() + std::to_string(version) + '\n'; }
};

struct section_file {
  std::filesystem::path path;
  std::uint64_t size = 0;  // bytes
  std::vector<setting> settings;
  std::vector<section> sections;  // but settings and end
};

/// Writes a file, which is on the disk then; the one that was there stays until the new one is complete.
/// Returns its bytes. Throws data_error naming the file.
std::uint64_t write_sections(const std::filesystem::path& path, const file_kind& kind,
                             const std::vector<setting>& settings, const std::vector<saved_part>& parts);

/// Throws data_error, with the file and the reason, where it is missing, cut short, damaged, or of another
/// kind or version, of which both are named.
section_file read_sections(const std::filesystem::path& path, const file_kind& kind);

/// Gives the parts, which may be some of those written, what the file holds of them. Throws data_error, with
/// the file and the reason, where it holds no such part or an unusable one; all parts then are as they were.
void load_sections(const section_file& file, const std::vector<saved_part>& parts);

/// What a part saves.
std::string contents_of(const saved_part& part);

/// Calls f, and names the file in the std::runtime_error that it throws.
template <class F> auto naming(const std::filesystem::path& path, F&& f) {
  try {
    return f();
  } catch (const std::runtime_error& e) {
    throw data_error(path.string() + ' ' + e.what());
  }
}

}  // namespace narrow_train
