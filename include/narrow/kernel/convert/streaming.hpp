// Results that are larger than the caches, which would only be emptied by them.
#pragma once

#include <algorithm>

#include "../../simd/dispatch.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// Room for the pieces of an array of Ts that is computed from one end to the other: in the array itself, or
/// where it is too large for the caches, in a buffer from which they go to memory past them.
template <class T, std::size_t MaxCount> class pieces_of_array {
 public:
  /// n numbers, computed from `source_bytes` bytes.
  pieces_of_array(kernel_set t, T* to, std::size_t n, std::size_t source_bytes) : to_(to) {
    constexpr std::size_t cached = std::size_t{1} << 26;
    if (n * sizeof(T) + source_bytes >= cached) stream_ = t.get<&kernel_table::stream>();
  }
  ~pieces_of_array() {
    if (stream_) stream_.end();
  }
  pieces_of_array(const pieces_of_array&) = delete;
  pieces_of_array& operator=(const pieces_of_array&) = delete;

  /// How many numbers there is room for at a time: all that are left, or MaxCount.
  std::size_t room_for(std::size_t left) const { return stream_ ? std::min(MaxCount, left) : left; }
  /// The room for numbers from number i on.
  T* room(std::size_t i) { return stream_ ? buffer_ : to_ + i; }
  /// After they were written there.
  void written(std::size_t i, std::size_t count) {
    if (stream_) stream_.copy(to_ + i, buffer_, count * sizeof(T));
  }

 private:
  T* to_;
  T buffer_[MaxCount];
  streaming_kernels stream_;
};

}  // namespace narrow::inline NARROW_ABI::kernel

NARROW_STRICT_END
