// What tensors hold in memory, by an allocation counter.
#include "allocation_counter.hpp"
#include "block_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

/// n elements and the scales, no more; on the way the statistics of the blocks and a few panels besides.
template <class F> void check_memory(std::size_t scales) {
  constexpr place rows = 300, cols = 500;
  constexpr std::size_t n = rows * cols;
  constexpr std::size_t element = sizeof(typename F::element_type), scale = sizeof(typename F::scale_type);
  const std::vector<float> values(n, 1.5f);
  const std::size_t statistics = scales * sizeof(typename F::statistic);
  INFO(name_of<F>());
  const auto check = [&](const usage& bytes, std::size_t times) {
    CHECK(bytes.kept == n * element + scales * scale);
    CHECK(bytes.most <= times * (n * element + scales * scale) + statistics + 1024);
  };
  check(usage([&] { return quantize<F>(values, rows, cols); }), 1);
  check(usage([&] { return block_tensor<F>(rows, cols, storage_order::column_major); }), 1);
  check(usage([&] {
          block_tensor<F> t;
          t.assign(rows, cols, [](place i, place j) { return static_cast<float>(i - j); });
          return t;
        }),
        1);
  check(usage([&] {  // computed from itself: the old and the new one
          auto t = quantize<F>(values, rows, cols);
          t.assign(rows, cols, [&](place i, place j) { return 2 * t(i, j); });
          return t;
        }),
        2);
  check(usage([&] {
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

TEST_CASE("a tensor for which memory is short stays as it was", "[block][memory]") {
  const auto start = quantize<bfp<8, per_row>>(std::vector<float>{1, 2, 3, 4}, 2, 2);
  const block_tensor<bfp<8, per_row>> large(1000, 1000);
  auto t = start;
  const auto equal = [](const auto& a, const auto& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() && std::ranges::equal(a.mantissas(), b.mantissas()) &&
           std::ranges::equal(a.scales(), b.scales());
  };
  const auto refused = [&](auto change) {
    for (const std::size_t more : {std::size_t{0}, std::size_t{1} << 16}) {  // the scales fit into the latter
      bool thrown = false;
      allowed = held + more;
      try {
        change();
      } catch (const std::bad_alloc&) {
        thrown = true;
      }
      allowed = static_cast<std::size_t>(-1);
      CHECK(thrown);
      CHECK(equal(t, start));
    }
  };
  refused([&] { t.resize(1000, 1000); });
  refused([&] { t = large; });
  refused([&] { t.assign(1000, 1000, [](place, place) { return 1.0f; }); });
  t = large;
  CHECK(equal(t, large));
}

TEST_CASE("the mean of small blocks takes little memory", "[block][memory]") {
  using format = bfp<8, tile<4, 4>, rounding::nearest_even, exponent::avg<>>;
  const std::vector<float> values(1024 * 1024, 1.5f);
  const usage bytes([&] { return quantize<format>(values, 1024, 1024); });
  CHECK(bytes.most < bytes.kept + (std::size_t{1} << 25));
}
