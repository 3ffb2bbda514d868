// Counts the bytes from operator new. For one source file of a program.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace test {

/// Bytes that are held now, and the most that were at a time; no more than so many may be.
inline std::size_t held = 0, peak = 0, allowed = static_cast<std::size_t>(-1);

}  // namespace test

// Each allocation begins with its size. Inlined, that looks to compilers like a mistake. With all forms that
// sanitizers replace one by one.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  constexpr std::size_t head = alignof(std::max_align_t);
  if (size > test::allowed - test::held) return nullptr;
  auto* const memory = static_cast<char*>(std::malloc(size + head));
  if (memory == nullptr) return nullptr;
  std::memcpy(memory, &size, sizeof size);
  test::held += size;
  test::peak = std::max(test::peak, test::held);
  return memory + head;
}
void* operator new(std::size_t size) {
  if (void* const memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept {
  if (p == nullptr) return;
  auto* const memory = static_cast<char*>(p) - alignof(std::max_align_t);
  std::size_t size = 0;
  std::memcpy(&size, memory, sizeof size);
  test::held -= size;
  std::free(memory);
}
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace test {

/// Bytes that `make` leaves allocated while its result lives, and the most that it needed.
struct usage {
  std::size_t kept = 0, most = 0;

  template <class Make> explicit usage(Make make) {
    const std::size_t before = held;
    peak = held;
    [[maybe_unused]] const auto result = make();
    kept = held - before;
    most = peak - before;
  }
};

}  // namespace test
