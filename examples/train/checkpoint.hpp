// The whole state of a run as a file, which exists whole or not at all.
//
// A line that says what the file is, then sections: size of the name (u32), name, size of the contents (u64),
// contents, crc32 of all that (u32); numbers little-endian. The last section is called "end" and empty.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.hpp"
#include "saved_state.hpp"

namespace narrow_train {

/// What a run was told, by the names of the options: the same run has the same ones.
struct setting {
  std::string name, value;

  bool operator==(const setting&) const = default;
};

/// Writes a checkpoint; the one that was there stays until the new one is complete. Throws data_error naming
/// the file.
void write_checkpoint(const std::filesystem::path& path, const std::vector<setting>& settings,
                      const std::vector<saved_part>& parts);

/// Gives the parts, which may be some of those written, what the file holds of them. Throws data_error, with
/// the file and the reason, where it is missing, cut short, damaged, no checkpoint, or of other settings (the
/// first difference is named); all parts then are as they were.
void read_checkpoint(const std::filesystem::path& path, const std::vector<setting>& settings,
                     const std::vector<saved_part>& parts);

/// The crc32 of labels and pixels, for `setting`s: eight hexadecimal digits.
std::string digest(const dataset& images);

}  // namespace narrow_train
