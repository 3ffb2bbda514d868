// Granularities of a user, each added as one struct with the shape of a tile: quantising, products,
// dequantising and writes, against exact rationals and against tiles of the library of the same shape.
#include "product_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

struct pairs_of_rows {
  static constexpr place tile_rows(place) { return 2; }
  static constexpr place tile_cols(place cols) { return cols; }
};

struct five_columns {
  static constexpr place tile_rows(place rows) { return rows; }
  static constexpr place tile_cols(place) { return 5; }
};

/// Members of the time when a granularity stated its blocks twice, which contradict each other, are not
/// asked.
struct quarters : per_tensor {
  static constexpr place tile_rows(place rows) { return (rows + 1) / 2; }
  static constexpr place tile_cols(place cols) { return (cols + 1) / 2; }
  static constexpr place block_row(place row) { return row; }
  static constexpr place block_col(place) { return 3; }
};

constexpr int enough = 1 << 20;  // for any matrix here

}  // namespace

template <> struct test::sharing<pairs_of_rows> {
  static bool same(place i, place, place k, place) { return i / 2 == k / 2; }
};
template <> struct test::sharing<five_columns> {
  static bool same(place, place j, place, place l) { return j / 5 == l / 5; }
};

namespace {

/// Values by element, by `dequantize` in both orders, and after writes of parts, as a tile of the library has
/// them.
template <class F, class Tiled> void check_against_tile(tally& count) {
  generator random(7);
  for (const auto order : {storage_order::row_major, storage_order::column_major})
    for (const extent size : {extent{1, 1}, {7, 13}, {40, 3}, {66, 70}}) {
      block_tensor<F> got(size.rows, size.cols, order);
      block_tensor<Tiled> right(size.rows, size.cols, order);
      for (int exponent = 0; exponent < 12; exponent += 3) {
        const place row = size.rows / 3, col = size.cols / 4;
        const extent part{size.rows - row, size.cols - col};
        const auto numbers = numbers_around(exponent, part.rows * part.cols, random);
        got.write(row, col, row_major(numbers, part.rows, part.cols));
        right.write(row, col, row_major(numbers, part.rows, part.cols));
        std::vector<float> by_columns(static_cast<std::size_t>(size.rows * size.cols));
        const auto turned = column_major(by_columns, size.rows, size.cols);
        got.dequantize(turned);
        const std::vector<float> values = dequantized(got), expected = dequantized(right);
        for (place i = 0; i < size.rows; ++i)
          for (place j = 0; j < size.cols; ++j) {
            const float x = expected[static_cast<std::size_t>(i * size.cols + j)];
            count.expect(x == got(i, j) && x == turned(i, j) &&
                             x == values[static_cast<std::size_t>(i * size.cols + j)],
                         [&] { return text(name_of<F>(), size.rows, size.cols, "at", i, j); });
          }
      }
    }
}

}  // namespace

TEST_CASE("a new granularity: scales and mantissas are right", "[block]") {
  tally count;
  check_format<bfp<8, pairs_of_rows>>(count);
  check_format<basic_int8<five_columns>>(count);
  check_format<bfp<12, five_columns, rounding::stochastic>>(count);
  count.require(3 * cases_of_format);
}

TEST_CASE("a new granularity: products are right", "[block]") {
  tally count;
  generator random(11);
  for (unsigned layout = 0; layout < 16; ++layout) {
    check_products_of<true, bfp<8, pairs_of_rows>, bfp<8, five_columns>>(count, {5, 7, 12}, layout, 2, 0,
                                                                         random);
    check_products_of<true, basic_int8<five_columns>, basic_int8<pairs_of_rows>>(count, {5, 7, 12}, layout, 2,
                                                                                 0, random);
  }
  count.require(2 * 16 * 5 * 7);
}

TEST_CASE("a new granularity: writes and values are those of a tile", "[block]") {
  tally count;
  check_against_tile<bfp<8, pairs_of_rows>, bfp<8, tile<2, enough>>>(count);
  check_against_tile<basic_int8<five_columns>, basic_int8<tile<enough, 5>>>(count);
  count.require(2 * 2 * 4 * (1 + 7 * 13 + 40 * 3 + 66 * 70));
}

TEST_CASE("a granularity cannot contradict itself", "[block]") {
  const std::vector<float> values{1, 2, 4, 8, 16, 32, 64, 128, 256};
  const auto t = quantize<bfp<4, quarters>>(values, 3, 3);
  const std::vector<float> expected = dequantized(t);
  CHECK(t.scales().size() == 4);
  for (place i = 0; i < 3; ++i)
    for (place j = 0; j < 3; ++j) CHECK(t(i, j) == expected[static_cast<std::size_t>(3 * i + j)]);
}
