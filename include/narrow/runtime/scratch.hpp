// Memory that a kernel works in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

#include "../config.hpp"

namespace narrow::inline NARROW_ABI::kernel {

struct memory_block {
  void* data = nullptr;
  std::size_t bytes = 0;
};
inline constexpr std::align_val_t cache_line{64};

/// What products of a thread leave to later ones: the system clears memory that it gives anew, page by page,
/// which may take as long as a product.
class memory_of_thread {
 public:
  static constexpr std::size_t max_kept_bytes = std::size_t{1} << 23;

  /// At least so many bytes.
  static memory_block take(std::size_t bytes) {
    if (memory_of_thread* const own = of_this_thread()) {
      memory_block* best = nullptr;
      for (memory_block& m : own->kept_)
        if (m.bytes >= bytes && (best == nullptr || m.bytes < best->bytes)) best = &m;
      if (best != nullptr) return std::exchange(*best, {});
    }
    return {::operator new(bytes, cache_line), bytes};
  }
  static void give(memory_block m) {
    if (memory_of_thread* const own = of_this_thread()) {
      const auto is_less = [](const memory_block& a, const memory_block& b) { return a.bytes < b.bytes; };
      memory_block& least = *std::min_element(std::begin(own->kept_), std::end(own->kept_), is_less);
      std::size_t all = m.bytes - least.bytes;
      for (const memory_block& other : own->kept_) all += other.bytes;
      if (m.bytes > least.bytes && all <= max_kept_bytes) std::swap(least, m);
    }
    ::operator delete(m.data, cache_line);
  }

 private:
  memory_of_thread() = default;
  ~memory_of_thread() {
    for (const memory_block& m : kept_) ::operator delete(m.data, cache_line);
    gone() = true;
  }
  memory_of_thread(const memory_of_thread&) = delete;
  memory_of_thread& operator=(const memory_of_thread&) = delete;

  static bool& gone() {
    static constinit thread_local bool is_gone = false;
    return is_gone;
  }
  /// Null in destructors that come after its own, and where a sanitizer is to see the ends of all memory.
  static memory_of_thread* of_this_thread() {
    if (NARROW_ADDRESS_SANITIZER || gone()) return nullptr;
    static thread_local memory_of_thread own;
    return &own;
  }

  memory_block kept_[4];
};

/// n elements of T, uninitialised and aligned to cache lines: in the object itself where they are few, so
/// that small products ask for no memory.
template <class T>
requires std::is_trivially_default_constructible_v<T> && std::is_trivially_destructible_v<T>
class scratch {
 public:
  explicit scratch(index n) {
    if (n > index{near_count}) far_ = memory_of_thread::take(static_cast<std::size_t>(n) * sizeof(T));
    data_ = far_.data != nullptr ? static_cast<T*>(far_.data) : near_;
  }
  ~scratch() {
    if (far_.data != nullptr) memory_of_thread::give(far_);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  T* data() const { return data_; }

 private:
  static constexpr std::size_t near_count = 16384 / sizeof(T);

  memory_block far_;
  T* data_;
  alignas(64) T near_[near_count];
};

}  // namespace narrow::kernel
