// Tensors that are assigned together against the same assigned one after another.
#include <algorithm>
#include <random>
#include <vector>

#include <narrow/narrow.hpp>

#include "catch.hpp"
#include "tally.hpp"

using namespace test;
using namespace narrow;

namespace {

std::vector<float> gradient(std::ptrdiff_t n, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> result(static_cast<std::size_t>(n));
  for (float& x : result) x = normal(random) * (random() % 50 == 0 ? 20.0f : 1.0f);
  return result;
}

template <class Format> bool same(const block_tensor<Format>& a, const block_tensor<Format>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && a.nonfinite() == b.nonfinite() &&
         std::ranges::equal(a.mantissas(), b.mantissas()) && std::ranges::equal(a.scales(), b.scales());
}

}  // namespace

TEST_CASE("tensors assigned together are what they are one after another", "[block]") {
  using by_channel = basic_int8<per_row, rounding::stochastic>;
  using whole = basic_int8<per_tensor, rounding::stochastic>;
  using tiles = bfp<8, tile<16, 16>>;
  tally count;
  std::mt19937 random(5);
  for (const auto order : {storage_order::column_major, storage_order::row_major})
    for (const std::ptrdiff_t channels : {1, 3, 16, 40})
      for (const std::ptrdiff_t samples : {1, 7, 1000}) {
        constexpr std::ptrdiff_t windows = 9;
        auto values = gradient(channels * windows * samples, random);
        if (samples == 7) values[random() % values.size()] = std::numeric_limits<float>::infinity();
        const matrix_view<const float> g{values.data(), channels, windows * samples, 1, channels},
            as_samples{values.data(), channels * windows, samples, 1, channels * windows};
        adaptive_clip clip;
        clip.observe(g);
        for (const bool clipped : {false, true}) {
          const float largest = clip.max_abs();
          const std::span<const float> clips = clipped ? clip.clips() : std::span<const float>(),
                                       one = clipped ? std::span(&largest, 1) : std::span<const float>();
          block_tensor<by_channel> a(0, 0, order), a_alone(0, 0, order);
          block_tensor<whole> b(0, 0, order), b_alone(0, 0, order);
          block_tensor<tiles> c(channels, windows * samples, order), c_alone(0, 0, order);
          const rounding::stochastic first(random()), second(random());
          a_alone.assign(g, first, clips);
          b_alone.assign(as_samples, second, one);
          c_alone.assign(g);
          tensor_assignment to_a(a, g, clips, first);
          tensor_assignment to_b(b, as_samples, one, second);
          tensor_assignment to_c(c, g);
          for (int again = 0; again < 2; ++again) {  // into memory that is new, and that is there
            assign_together({&to_a, &to_b, &to_c});
            count.expect(same(a, a_alone) && same(b, b_alone) && same(c, c_alone), [&] {
              return text(channels, "x", windows * samples, clipped ? "clipped" : "", "again", again);
            });
          }
        }
      }
  count.require(2 * 4 * 3 * 2 * 2);
}

TEST_CASE("matrices of fewer lines than parts", "[block]") {
  std::mt19937 random(6);
  constexpr std::ptrdiff_t n = 300'000;
  const auto values = gradient(n, random);
  const matrix_view<const float> column{values.data(), n, 1, 1, n}, row = column.transposed();
  const float clip = 2;
  for (const auto order : {storage_order::column_major, storage_order::row_major}) {
    block_tensor<int8> a(0, 0, order), b(0, 0, order), a_alone(0, 0, order), b_alone(0, 0, order);
    tensor_assignment to_a(a, column, std::span(&clip, 1)), to_b(b, row);
    assign_together({&to_a, &to_b});
    a_alone.assign(column, rounding::nearest_even{}, std::span(&clip, 1));
    b_alone.assign(row);
    CHECK(same(a, a_alone));
    CHECK(same(b, b_alone));
  }
}

TEST_CASE("an assignment that is refused leaves all tensors of the call as they were", "[block]") {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const matrix_view<const float> m{values.data(), 2, 3, 1, 2};
  block_tensor<int8> a(2, 3), b(2, 3);
  a.assign(m);
  b.assign(m);
  const auto before = a;
  const std::vector<float> twice{12, 10, 8, 6, 4, 2}, clips{1, 2, 3, 4};
  const matrix_view<const float> other{twice.data(), 2, 3, 1, 2};
  tensor_assignment to_a(a, other), to_b(b, other, clips);
  CHECK_THROWS_WITH(assign_together({&to_a, &to_b}), Catch::Contains("4 clipping values for 1 blocks"));
  CHECK(same(a, before));
  CHECK(same(b, before));
  tensor_assignment again(a, other);
  CHECK_THROWS_WITH(assign_together({&to_a, &again}),
                    "narrow::assign_together: assignments 0 and 1 must not be to the same tensor");
  CHECK(same(a, before));
  tensor_assignment may_be(b, other);
  assign_together({&to_a, &may_be});
  CHECK(same(a, b));
  CHECK_FALSE(same(a, before));
}
