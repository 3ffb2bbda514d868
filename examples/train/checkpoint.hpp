// The whole state of a run as a file; see section_file.hpp.
#pragma once

#include "section_file.hpp"

namespace narrow_train {

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
