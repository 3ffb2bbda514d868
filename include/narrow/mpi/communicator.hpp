// What the other headers of this folder share: MPI's calls, objects that live until it is finalised, and how
// ranks find out that they disagree.
#pragma once

// MPI's own C++ interface, which MPI 3 took away, would come with the header where it is still built.
#if !defined(OMPI_SKIP_MPICXX)
#define OMPI_SKIP_MPICXX
#endif
#if !defined(MPICH_SKIP_MPICXX)
#define MPICH_SKIP_MPICXX
#endif
#include <mpi.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../errors.hpp"

namespace narrow::inline NARROW_ABI::mpi {

/// The number of the calling process among those of a communicator.
inline int rank(MPI_Comm comm = MPI_COMM_WORLD) {
  int number = 0;
  MPI_Comm_rank(comm, &number);
  return number;
}

/// How many processes a communicator has.
inline int ranks(MPI_Comm comm = MPI_COMM_WORLD) {
  int count = 0;
  MPI_Comm_size(comm, &count);
  return count;
}

namespace detail {

using narrow::detail::fail;

/// Throws std::runtime_error where a call of MPI failed. That only happens where the program has set
/// MPI_ERRORS_RETURN: by default MPI ends all ranks itself.
inline void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail<std::runtime_error>("narrow::mpi: " + std::string(call) +
                           " failed: " + std::string(text, static_cast<std::size_t>(length)));
}

/// A number of bytes or elements as MPI counts them. Larger ones are cut up before they get here.
inline int count_of(std::size_t n) {
  if (n > INT_MAX)
    fail<std::length_error>("narrow::mpi: " + std::to_string(n) + " elements are more than MPI can count");
  return static_cast<int>(n);
}

/// The Kept of a communicator, made when it is first asked for and destroyed when the communicator is freed;
/// that of MPI_COMM_SELF when MPI is finalised, which may be long before the program's own objects end.
template <class Kept> Kept& kept_with(MPI_Comm comm) {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    check(MPI_Comm_create_keyval(
              MPI_COMM_NULL_COPY_FN,
              [](MPI_Comm, int, void* kept, void*) {
                delete static_cast<Kept*>(kept);
                return MPI_SUCCESS;
              },
              &made, nullptr),
          "MPI_Comm_create_keyval");
    return made;
  }();
  Kept* kept = nullptr;
  int there = 0;
  check(MPI_Comm_get_attr(comm, key, static_cast<void*>(&kept), &there), "MPI_Comm_get_attr");
  if (there == 0) {
    kept = new Kept;
    check(MPI_Comm_set_attr(comm, key, kept), "MPI_Comm_set_attr");
  }
  return *kept;
}

/// Objects of MPI that go with what keeps them.
template <class Object> struct freed_objects {
  struct entry {
    Object object;
    int (*free)(Object*);
  };
  std::vector<entry> all;

  freed_objects() = default;
  freed_objects(const freed_objects&) = delete;
  freed_objects& operator=(const freed_objects&) = delete;
  ~freed_objects() {
    for (entry& one : all) one.free(&one.object);
  }
};

/// Frees an object of MPI when MPI is finalised.
template <class Object> void free_at_end(Object object, int (*free)(Object*)) {
  kept_with<freed_objects<Object>>(MPI_COMM_SELF).all.push_back({object, free});
}

/// Descriptions of what each rank is about to do: the first and the last one in the order of the alphabet,
/// and whose they are. They are the same where all agree.
struct descriptions {
  static constexpr std::size_t size = 192;
  using text = std::array<char, size>;

  text first{}, last{};
  int first_rank = 0, last_rank = 0;

  descriptions(std::string_view own, int rank) : first_rank(rank), last_rank(rank) {
    std::copy_n(own.data(), std::min(own.size(), size - 1), first.begin());
    last = first;
  }

  void add(const descriptions& other) {
    if (std::strcmp(other.first.data(), first.data()) < 0) {
      first = other.first;
      first_rank = other.first_rank;
    }
    if (std::strcmp(other.last.data(), last.data()) > 0) {
      last = other.last;
      last_rank = other.last_rank;
    }
  }
  bool agree() const { return first == last; }
};
static_assert(std::is_trivially_copyable_v<descriptions>);

/// The operation and the type by which MPI reduces descriptions, made when they are first needed.
struct reduction_of_descriptions {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;

  reduction_of_descriptions() {
    check(MPI_Type_contiguous(sizeof(descriptions), MPI_BYTE, &type), "MPI_Type_contiguous");
    check(MPI_Type_commit(&type), "MPI_Type_commit");
    free_at_end(type, MPI_Type_free);
    check(MPI_Op_create(
              [](void* in, void* inout, int* count, MPI_Datatype*) {
                for (int i = 0; i < *count; ++i) {
                  descriptions one("", 0), all("", 0);  // MPI's buffers need not be aligned
                  char* const to = static_cast<char*>(inout) + sizeof(one) * static_cast<std::size_t>(i);
                  std::memcpy(&one, static_cast<char*>(in) + sizeof(one) * static_cast<std::size_t>(i),
                              sizeof(one));
                  std::memcpy(&all, to, sizeof(all));
                  all.add(one);
                  std::memcpy(to, &all, sizeof(all));
                }
              },
              1, &op),
          "MPI_Op_create");
    free_at_end(op, MPI_Op_free);
  }
};

/// Compares what each rank is about to do, in words. Throws std::invalid_argument on every rank, naming two
/// that disagree and what they say, before anything else is sent. Collective.
inline void require_same(std::string_view function, std::string_view description, MPI_Comm comm) {
  static const reduction_of_descriptions by;
  const descriptions own(std::string(function) + " of " + std::string(description), rank(comm));
  descriptions all = own;
  check(MPI_Allreduce(&own, &all, 1, by.type, by.op, comm), "MPI_Allreduce");
  if (!all.agree())
    fail<std::invalid_argument>("narrow::mpi: the ranks disagree: on rank " + std::to_string(all.first_rank) +
                                " it is " + all.first.data() + ", on rank " + std::to_string(all.last_rank) +
                                " " + all.last.data());
}

/// A number that tells a sequence from others with near certainty: FNV-1a over its elements (Fowler, Noll and
/// Vo, the constants for 64 bits).
template <class Range> std::uint64_t digest_of(const Range& elements) {
  std::uint64_t digest = 0xcbf29ce484222325;
  for (const auto& x : elements) digest = (digest ^ static_cast<std::uint64_t>(x)) * 0x100000001b3;
  return digest;
}

/// Throws std::invalid_argument on every rank where any of them has a reason to refuse: the reason of the
/// first one. Collective.
inline void require_all(const std::optional<std::string>& refused, MPI_Comm comm) {
  const int nobody = ranks(comm), own = refused ? rank(comm) : nobody;
  int first = nobody;
  check(MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (first == nobody) return;
  descriptions::text reason{};
  if (first == own)
    std::copy_n(refused->data(), std::min(refused->size(), reason.size() - 1), reason.begin());
  check(MPI_Bcast(reason.data(), static_cast<int>(reason.size()), MPI_CHAR, first, comm), "MPI_Bcast");
  fail<std::invalid_argument>("on rank " + std::to_string(first) + ", " + reason.data());
}

}  // namespace detail

}  // namespace narrow::mpi
