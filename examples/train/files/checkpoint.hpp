// The whole state of a run as a file; see section_file.hpp.
#pragma once

#include "files/section_file.hpp"

namespace narrow_train {

/// The program that writes a checkpoint: what decides how a run goes on and is no setting of it.
struct program_build {
  std::string version;  // of the library: what the numbers of a file mean
  std::string build;    // sources, compiler, Eigen, instruction sets: how sums are rounded
};
/// The program that runs.
program_build this_program();

/// Whether a run goes on that another build began: the numbers are those that it left, but what follows may
/// be rounded otherwise than if it had gone on itself.
enum class other_builds { refused, accepted };

/// Writes a checkpoint; the one that was there stays until the new one is complete. Throws data_error naming
/// the file.
void write_checkpoint(const std::filesystem::path& path, const std::vector<setting>& settings,
                      const std::vector<saved_part>& parts, const program_build& writer = this_program());

/// Gives the parts, which may be some of those written, what the file holds of them. Returns the build that
/// wrote it where that is another one, which was accepted; else nothing. Throws data_error, with the file and
/// the reason, where it is missing, cut short, damaged, no checkpoint, of another version of the file or of
/// the library, of other settings (the first difference is named), or of a build that is refused; all parts
/// then are as they were.
std::string read_checkpoint(const std::filesystem::path& path, const std::vector<setting>& settings,
                            const std::vector<saved_part>& parts, other_builds others = other_builds::refused,
                            const program_build& reader = this_program());

/// A folder for the checkpoints of this process alone, as long as the object lives or until the process ends,
/// however it does: of other processes, or objects, none has it meanwhile. What writers that were killed have
/// left in it is removed.
class checkpoint_folder {
 public:
  /// Throws data_error naming the folder where another has it, or it cannot be locked.
  explicit checkpoint_folder(const std::filesystem::path& folder);
  ~checkpoint_folder();
  checkpoint_folder(const checkpoint_folder&) = delete;
  checkpoint_folder& operator=(const checkpoint_folder&) = delete;

 private:
  int lock_;  // the descriptor of a file in the folder
};

/// What the names of checkpoints end with.
inline constexpr std::string_view checkpoint_extension = ".checkpoint";

}  // namespace narrow_train
