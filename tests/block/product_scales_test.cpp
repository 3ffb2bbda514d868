// Products of tensors of different formats, transposed, and with scales at the ends of the range.
#include "product_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

constexpr product_shape shapes[] = {{1, 1, 1}, {3, 4, 5}, {5, 2, 17}, {1, 9, 8}, {9, 1, 8}, {6, 10, 33}};
constexpr std::uint64_t coefficients = 1 + 12 + 10 + 9 + 9 + 60;

}  // namespace

TEST_CASE("int8 with itself and with bfp", "[block]") {
  tally count;
  generator random(2024);
  for (unsigned layout = 0; layout < 16; ++layout)
    for (const auto& shape : shapes) {
      check_products_of<true, int8, int8>(count, shape, layout, 0, 3, random);
      check_products_of<true, int8, bfp<12>>(count, shape, layout, 0, 3, random);
      check_products_of<true, bfp<4>, int8>(count, shape, layout, 0, 3, random);
    }
  count.require(16 * 3 * coefficients);
}

TEST_CASE("pieces of many terms", "[block]") {
  using bytes = bfp<8, tile<64, 64>>;
  constexpr product_shape shape{34, 33, 136};  // whole pieces and a short one, whole panels and a rest
  tally count;
  generator random(2024);
  for (unsigned layout : {0u, 5u, 10u, 15u}) {
    check_products_of<true, bytes, bytes>(count, shape, layout, 0, 3, random);
    check_products_of<true, basic_int8<tile<64, 64>>, bfp<6, tile<64, 64>>>(count, shape, layout, 3, 0,
                                                                            random);
  }
  count.require(4 * 2 * 34 * 33);
}

TEST_CASE("huge and tiny scales: no NaN, nothing lost that float holds", "[block]") {
  tally count;
  generator random(2024);
  unsigned layout = 0;
  for (const int a : {-145, -126, -60, 0, 60, 126})
    for (const int b : {-140, -120, -66, 0, 70, 126})
      for (const auto& shape : shapes) {
        ++layout;
        check_products_of<true, bfp<8>, bfp<8>>(count, shape, layout, a, b, random);
        check_products_of<true, bfp<16>, bfp<16>>(count, shape, layout, a, b, random);
        check_products_of<true, int8, int8>(count, shape, layout, a, b, random);
        if (std::abs(a + b) < 110)  // sums of infinite pieces could be NaN
          check_products_of<true, bfp<8, tile<2, 3>>, bfp<12, tile<4, 2>>>(count, shape, layout, a, b,
                                                                           random);
      }
  count.require_at_least(36 * 3 * coefficients);
  // A sum of zero times scales whose product is beyond float's range.
  const std::vector<float> huge = {0x1p127f, 0x1p127f}, opposite = {0x1p127f, -0x1p127f};
  std::vector<float> c(1);
  gemm(quantize<bfp<2>>(huge, 1, 2), quantize<bfp<2>>(opposite, 2, 1), row_major(c, 1, 1));
  REQUIRE(c[0] == 0);
  REQUIRE(!std::signbit(c[0]));
}

TEST_CASE("floats and fp8 under one scale: the sums times the product of the scales", "[block]") {
  tally count;
  generator random(2024);
  const auto check = [&]<class T>(std::type_identity<T>, extent size, place depth, float scale_a,
                                  float scale_b, bool turned) {
    const auto numbers = [&](place n) {
      std::vector<T> result;
      for (place i = 0; i < n; ++i)
        result.push_back(T(std::ldexp(static_cast<float>(random() % 257) - 128, -6)));
      return result;
    };
    const auto a = numbers(size.rows * depth), b = numbers(depth * size.cols);
    const auto in_a_block = [](matrix_view<const T> m, const float& scale) {
      return block_view<T, float>{m, {&scale, 1, 1, 1, 1}, m.rows, m.cols};
    };
    const auto x = row_major(a, size.rows, depth), y = row_major(b, depth, size.cols);
    std::vector<float> to(static_cast<std::size_t>(size.rows * size.cols), 77.0f);
    const auto c = turned ? column_major(to, size.rows, size.cols) : row_major(to, size.rows, size.cols);
    gemm(in_a_block(x, scale_a), in_a_block(y, scale_b), c);
    for (place i = 0; i < size.rows; ++i)
      for (place j = 0; j < size.cols; ++j) {
        double sum = 0;  // exact: few bits
        for (place k = 0; k < depth; ++k) sum += double{x(i, k)} * double{y(k, j)};
        const float right = static_cast<float>(sum) * (scale_a * scale_b);
        count.expect(c(i, j) == right, [&] {
          return text(name_of<T>(), size.rows, size.cols, depth, scale_a, scale_b, c(i, j), "not", right);
        });
      }
  };
  constexpr extent sizes[] = {{64, 64}, {33, 70}, {96, 31}, {1, 40}, {5, 1}, {3, 2}};
  for (const extent size : sizes)
    for (const place depth : {1, 40, 131})
      for (const float scale_a : {1.0f, 0.375f})
        for (const float scale_b : {1.0f, 0x1p-100f})
          for (const bool turned : {false, true}) {
            check(std::type_identity<float>{}, size, depth, scale_a, scale_b, turned);
            check(std::type_identity<fp8_e4m3fn>{}, size, depth, scale_a, scale_b, turned);
          }
  count.require((64 * 64 + 33 * 70 + 96 * 31 + 40 + 5 + 6) * 3 * 4 * 2 * 2);
}
