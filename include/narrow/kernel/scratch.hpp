// Memory that a kernel works in.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include "table.hpp"

namespace narrow::kernel {

/// n elements of T, uninitialised and aligned to cache lines: in the object itself where they are few, so that small
/// products ask for no memory.
template <class T>
requires std::is_trivially_default_constructible_v<T> && std::is_trivially_destructible_v<T>
class scratch {
 public:
  explicit scratch(index n) : data_(n <= near_count ? near_ : allocate(n)) {}
  ~scratch() {
    if (data_ != near_) ::operator delete (data_, std::align_val_t{alignment});
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  T* data() const { return data_; }

 private:
  static constexpr std::size_t alignment = 64;
  static constexpr index near_count = 16384 / sizeof(T);
  static T* allocate(index n) {
    return static_cast<T*>(
        ::operator new (static_cast<std::size_t>(n) * sizeof(T), std::align_val_t{alignment}));
  }

  T* data_;
  alignas(alignment) T near_[near_count];
};

}  // namespace narrow::kernel
