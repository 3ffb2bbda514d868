// Products of tensors of every width.
#include "product_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

constexpr product_shape shapes[] = {{1, 1, 1}, {3, 4, 5}, {5, 2, 17}, {1, 9, 8}, {9, 1, 8}, {6, 10, 33}};
constexpr std::uint64_t coefficients = 1 + 12 + 10 + 9 + 9 + 60;

}  // namespace

TEST_CASE("every width, with a narrow or a wide one", "[block]") {
  tally count;
  generator random(2024);
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (..., [&] {
      unsigned layout = 0;
      for (int i = 0; i < 4; ++i)
        for (const auto& shape : shapes)
          check_products_of<false, bfp<I + 2>, bfp<16 - I>>(count, shape, layout++, 3, 0, random);
    }());
  }
  (std::make_integer_sequence<int, 15>{});
  count.require(15 * 4 * coefficients);
}
