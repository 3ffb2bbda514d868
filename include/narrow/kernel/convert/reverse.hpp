// Lines from their last number to the first one, and lines that change places, of numbers as they are.
#pragma once

#include <type_traits>
#include <utility>

#include "turn.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// Numbers of a type, as many as there are in two words, from the last one to the first.
template <class T> two_words reversed(two_words numbers) {
  using quarters [[gnu::vector_size(sizeof(two_words))]] = std::uint32_t;
  using eighths [[gnu::vector_size(sizeof(two_words))]] = std::uint16_t;
  if constexpr (sizeof(T) == sizeof(std::uint64_t)) {
    return __builtin_shufflevector(numbers, numbers, 1, 0);
  } else {
    const auto all = reinterpret_cast<quarters>(numbers);
    const quarters turned = __builtin_shufflevector(all, all, 3, 2, 1, 0);
    if constexpr (sizeof(T) == sizeof(std::uint32_t)) return reinterpret_cast<two_words>(turned);
    const auto pairs = reinterpret_cast<eighths>(turned);
    const eighths parted = __builtin_shufflevector(pairs, pairs, 1, 0, 3, 2, 5, 4, 7, 6);
    if constexpr (sizeof(T) == sizeof(std::uint16_t)) return reinterpret_cast<two_words>(parted);
    return reinterpret_cast<two_words>(parted << 8 | parted >> 8);
  }
}

enum class reversing { copies, swaps };
/// to[i] = last[-i] for n numbers, where it swaps also the other way round. The places do not overlap.
template <reversing Kind, class T, class From> void reverse_line(T* to, From* last, std::size_t n) {
  constexpr std::size_t together = sizeof(two_words) / sizeof(T);
  std::size_t i = 0;
  for (; i + together <= n; i += together) {
    std::conditional_t<Kind == reversing::swaps, void, const void>* const from = last - (i + together - 1);
    void* const place = to + i;
    two_words numbers;
    std::memcpy(&numbers, from, sizeof numbers);
    if constexpr (Kind == reversing::swaps) {
      two_words old;
      std::memcpy(&old, place, sizeof old);
      old = reversed<T>(old);
      std::memcpy(from, &old, sizeof old);
    }
    numbers = reversed<T>(numbers);
    std::memcpy(place, &numbers, sizeof numbers);
  }
  for (; i < n; ++i)
    if constexpr (Kind == reversing::swaps)
      std::swap(to[i], *(last - i));
    else
      to[i] = *(last - i);
}

/// Exchanges n bytes of places that do not overlap, or are the same.
inline void swap_bytes(void* a, void* b, std::size_t n) {
  auto *first = static_cast<unsigned char*>(a), *second = static_cast<unsigned char*>(b);
  const auto swap = [&]<class Part>(Part x) {
    Part y;
    for (; n >= sizeof x; n -= sizeof x, first += sizeof x, second += sizeof x) {
      std::memcpy(&x, first, sizeof x);
      std::memcpy(&y, second, sizeof y);
      std::memcpy(first, &y, sizeof y);
      std::memcpy(second, &x, sizeof x);
    }
  };
  swap(two_words{});
  swap(std::uint64_t{});
  swap(std::uint8_t{});
}

}  // namespace narrow::kernel
