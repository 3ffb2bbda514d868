// Communicators of the library's own beside a user's: what is sent on them meets nothing of the program's.
#pragma once

#include <span>
#include <vector>

#include "communicator.hpp"

namespace narrow::inline NARROW_ABI::mpi::detail {

/// `count` duplicates of a communicator, made when they are first needed and freed with it. Collective; all
/// ranks ask for the same number, the same thread at a time.
inline std::span<const MPI_Comm> channels_of(MPI_Comm comm, int count) {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    check(MPI_Comm_create_keyval(
              MPI_COMM_NULL_COPY_FN,
              [](MPI_Comm, int, void* attribute, void*) {
                auto* channels = static_cast<std::vector<MPI_Comm>*>(attribute);
                for (MPI_Comm& channel : *channels) MPI_Comm_free(&channel);
                delete channels;
                return MPI_SUCCESS;
              },
              &made, nullptr),
          "MPI_Comm_create_keyval");
    return made;
  }();
  std::vector<MPI_Comm>* channels = nullptr;
  int there = 0;
  check(MPI_Comm_get_attr(comm, key, static_cast<void*>(&channels), &there), "MPI_Comm_get_attr");
  if (there == 0) {
    channels = new std::vector<MPI_Comm>;
    check(MPI_Comm_set_attr(comm, key, channels), "MPI_Comm_set_attr");
  }
  const auto needed = static_cast<std::size_t>(count);
  while (channels->size() < needed) {
    MPI_Comm made = MPI_COMM_NULL;
    check(MPI_Comm_dup(comm, &made), "MPI_Comm_dup");
    channels->push_back(made);
  }
  return std::span<const MPI_Comm>(*channels).first(needed);
}

}  // namespace narrow::mpi::detail
