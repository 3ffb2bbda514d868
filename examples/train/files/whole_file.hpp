// Files that exist whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace narrow_train {

/// Writes a file, which is on the disk then; the one that was there stays until the new one is complete. Of
/// several writers at a time, in this program and others, the last one's file stays, whole. A link leads to
/// its file; what is no file, such as a device or a pipe, is written to as it is. Returns the bytes. Throws
/// data_error naming the file and the reason.
std::uint64_t write_file(const std::filesystem::path& path, std::string_view bytes);

/// Throws data_error, as `write_file` would now. What is there stays.
void require_writable(const std::filesystem::path& path);

/// Removes the files that programs have left which ended while they wrote a file of this extension (".csv")
/// in the folder. None may be writing one.
void remove_partial_files(const std::filesystem::path& folder, std::string_view extension);

/// Whether these are one file, or will be.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace narrow_train
