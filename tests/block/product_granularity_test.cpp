// Products of tensors of every granularity.
#include "product_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

/// Every granularity with every other, in all orders and transposes. The kernel sees granularities as sizes.
template <template <class Block> class Format> void check_granularities() {
  using element = typename Format<per_tensor>::element_type;
  struct operand {
    block_view<element, float> view;
    factor facts;
  };
  tally count;
  generator random(2024);
  for (const auto& [m, n, k] : {product_shape{3, 2, 17}, {2, 4, 2}, {1, 5, 8}}) {
    std::vector<std::shared_ptr<void>> tensors;
    const auto operands = [&](place rows, place cols) {
      std::vector<operand> result;
      for_each_type<granularities>([&]<class Block>() {
        using F = Format<Block>;
        for (unsigned layout = 0; layout < 4; ++layout) {
          const bool turned = layout % 2 != 0;
          const extent size = turned ? extent{cols, rows} : extent{rows, cols};
          const auto t = std::make_shared<block_tensor<F>>(
              tensor_in_order<F>(numbers_around(2, rows * cols, random), size, layout >= 2));
          tensors.push_back(t);
          result.push_back({turned ? t->view().transposed() : t->view(), factor_of(*t, turned)});
        }
      });
      return result;
    };
    const auto left = operands(m, k), right = operands(k, n);
    for (const operand& a : left)
      for (const operand& b : right) {
        std::vector<float> c(static_cast<std::size_t>(m * n), std::numeric_limits<float>::quiet_NaN());
        kernel::gemm(a.view, b.view, row_major(c, m, n), 1, 0, rounding::nearest_even{});
        check_product(count, a.facts, b.facts, row_major(c, m, n));
      }
  }
  count.require(28 * 28 * (6 + 8 + 5));
}

template <class Block> using bytes = bfp<8, Block>;
template <class Block> using words = bfp<13, Block>;
template <class Block> using real = basic_int8<Block>;

}  // namespace

TEST_CASE("bytes: every pair of granularities", "[block]") { check_granularities<bytes>(); }
TEST_CASE("words: every pair of granularities", "[block]") { check_granularities<words>(); }
TEST_CASE("int8: every pair of granularities", "[block]") { check_granularities<real>(); }
