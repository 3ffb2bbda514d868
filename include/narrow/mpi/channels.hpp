// Communicators of the library's own beside a user's: what is sent on them meets nothing of the program's.
#pragma once

#include <span>
#include <vector>

#include "communicator.hpp"

namespace narrow::inline NARROW_ABI::mpi::detail {

struct channel_list {
  std::vector<MPI_Comm> all;

  channel_list() = default;
  channel_list(const channel_list&) = delete;
  channel_list& operator=(const channel_list&) = delete;
  ~channel_list() {
    for (MPI_Comm& channel : all) MPI_Comm_free(&channel);
  }
};

/// `count` duplicates of a communicator, made when they are first needed and freed with it. Collective; all
/// ranks ask for the same number, the same thread at a time.
inline std::span<const MPI_Comm> channels_of(MPI_Comm comm, int count) {
  std::vector<MPI_Comm>& channels = kept_with<channel_list>(comm).all;
  const auto needed = static_cast<std::size_t>(count);
  while (channels.size() < needed) {
    MPI_Comm made = MPI_COMM_NULL;
    check(MPI_Comm_dup(comm, &made), "MPI_Comm_dup");
    channels.push_back(made);
  }
  return std::span<const MPI_Comm>(channels).first(needed);
}

}  // namespace narrow::mpi::detail
