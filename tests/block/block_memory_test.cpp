// What tensors hold in memory, by an allocation counter.
#include <cstdlib>
#include <new>

#include "block_oracle.hpp"

namespace {

std::size_t held = 0, peak = 0;

}  // namespace

// Each allocation begins with its size. Inlined, that looks to compilers like a mistake.
[[gnu::noinline]] void* operator new(std::size_t size) {
  constexpr std::size_t head = alignof(std::max_align_t);
  auto* const memory = static_cast<char*>(std::malloc(size + head));
  if (memory == nullptr) throw std::bad_alloc();
  std::memcpy(memory, &size, sizeof size);
  held += size;
  peak = std::max(peak, held);
  return memory + head;
}
[[gnu::noinline]] void operator delete(void* p) noexcept {
  if (p == nullptr) return;
  auto* const memory = static_cast<char*>(p) - alignof(std::max_align_t);
  std::size_t size = 0;
  std::memcpy(&size, memory, sizeof size);
  held -= size;
  std::free(memory);
}
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

using namespace test;
using namespace narrow;

namespace {

struct usage {
  std::size_t after, at_most;  // bytes
};

/// What `make()` holds while its result lives, and the most it held on the way.
template <class Make> usage memory_of(Make make) {
  const std::size_t before = held;
  peak = held;
  const auto result = make();
  return {held - before, peak - before};
}

/// n elements and the scales, no more; on the way the statistics of the blocks and a few panels besides.
template <class F> void check_memory(std::size_t scales) {
  constexpr place rows = 300, cols = 500;
  constexpr std::size_t n = rows * cols;
  constexpr std::size_t element = sizeof(typename F::element_type), scale = sizeof(typename F::scale_type);
  const std::vector<float> values(n, 1.5f);
  const std::size_t statistics = scales * sizeof(typename F::statistic);
  INFO(name_of<F>());
  const auto check = [&](const usage& bytes, std::size_t times) {
    CHECK(bytes.after == n * element + scales * scale);
    CHECK(bytes.at_most <= times * (n * element + scales * scale) + statistics + 1024);
  };
  check(memory_of([&] { return quantize<F>(values, rows, cols); }), 1);
  check(memory_of([&] { return block_tensor<F>(rows, cols, storage_order::column_major); }), 1);
  check(memory_of([&] {
          block_tensor<F> t;
          t.assign(rows, cols, [](place i, place j) { return static_cast<float>(i - j); });
          return t;
        }),
        1);
  check(memory_of([&] {  // computed from itself: the old and the new one
          auto t = quantize<F>(values, rows, cols);
          t.assign(rows, cols, [&](place i, place j) { return 2 * t(i, j); });
          return t;
        }),
        2);
  check(memory_of([&] {
          auto t = quantize<F>(values, rows, cols);
          const float x = 1;
          for (place i = 0; i < 100; ++i) t.write(i, i, matrix_view<const float>{&x, 1, 1, 1, 1});
          return t;
        }),
        1);
}

}  // namespace

TEST_CASE("a tensor of n elements holds n elements and the scales", "[block][memory]") {
  check_memory<bfp<8>>(1);
  check_memory<bfp<12, per_row>>(300);
  check_memory<bfp<4, per_column>>(500);
  check_memory<bfp<8, tile<16, 24>>>(19 * 21);
  check_memory<int8>(1);
}
