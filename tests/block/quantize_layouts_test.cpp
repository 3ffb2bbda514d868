// Quantising and dequantising matrices whose lines meet several blocks: the same bits on every instruction
// set, from every kind of source and in either order, as element by element (the portable instruction set,
// row by row).
#include "block_oracle.hpp"
#include "every_isa.hpp"

using namespace test;
using namespace narrow;

namespace {

using formats = std::tuple<mx<fp8_e4m3fn>, mx<fp8_e5m2, tile<1, 32>, rounding::stochastic>, mx<fp4_e2m1>,
                           mx<fp6_e2m3, tile<32, 1>>, mx<int8>, mx<int8, tile<1, 32>, rounding::stochastic>,
                           bfp<8, tile<24, 24>>, bfp<12, tile<3, 100>, rounding::stochastic>,
                           bfp<8, per_column, rounding::toward_zero>, basic_int8<tile<5, 7>>,
                           basic_int8<per_row, rounding::stochastic>, basic_int8<tile<1, 1>>,
                           basic_int8<tile<200, 130>, rounding::stochastic>, bfp<8>>;
constexpr extent sizes[] = {{1, 600}, {600, 1}, {27, 290}, {290, 27}, {3, 33}};
constexpr int kinds[] = {0, 5, 7};

template <class F> struct bits_of_tensor {
  std::vector<unsigned> elements;
  std::vector<float> scales;
  std::size_t nonfinite;

  explicit bits_of_tensor(const block_tensor<F>& t) : nonfinite(t.nonfinite()) {
    for (const auto scale : t.scales()) scales.push_back(static_cast<float>(scale));
    const auto v = t.view().elements;
    for (place i = 0; i < v.rows; ++i)
      for (place j = 0; j < v.cols; ++j) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &v(i, j), sizeof v(i, j));
        elements.push_back(bits);
      }
  }
  bool operator==(const bits_of_tensor& other) const {
    return elements == other.elements && nonfinite == other.nonfinite &&
           std::ranges::equal(scales, other.scales, [](float a, float b) {
             return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
           });
  }
};

/// What is done with a tensor of zeros: all of it is assigned, or a part that begins amid blocks is written.
template <class F, class Values>
bits_of_tensor<F> quantized(storage_order order, extent size, bool whole, const Values& values,
                            const typename F::round_policy& round) {
  block_tensor<F> t(size.rows, size.cols, order);
  const place row = size.rows / 3, col = size.cols / 5, rows = size.rows - row, cols = size.cols - col;
  if (whole)
    t.assign(size.rows, size.cols, values, round);
  else if constexpr (requires { values.block(row, col, rows, cols); })
    t.write(row, col, values.block(row, col, rows, cols), round);
  else
    t.write(
        {row, col, rows, cols}, [&](place i, place j) { return values(row + i, col + j); }, round);
  return bits_of_tensor<F>(t);
}

template <class Round> Round policy() {
  if constexpr (std::same_as<Round, rounding::stochastic>)
    return Round(17, 3);
  else
    return {};
}

template <class F> void check_quantising(tally& count, extent size, int kind) {
  generator random(static_cast<unsigned>(kind));
  const auto round = policy<typename F::round_policy>();
  const auto values = values_of_kind(kind, static_cast<std::size_t>(size.rows * size.cols), random);
  const auto by_rows = row_major(values, size.rows, size.cols);
  const auto columns = in_columns(values, size);
  const auto by_columns = column_major(columns, size.rows, size.cols);
  for (const bool whole : {true, false}) {
    std::optional<bits_of_tensor<F>> right;
    for_each_isa([&](const std::string& isa) {
      for (const auto order : {storage_order::row_major, storage_order::column_major}) {
        const auto expect = [&](const bits_of_tensor<F>& got, const char* source) {
          if (!right) right = got;
          count.expect(got == *right, [&] {
            return text(name_of<F>(), isa, size.rows, "x", size.cols, "kind", kind, source,
                        whole ? "whole" : "part",
                        order == storage_order::row_major ? "by rows" : "by columns");
          });
        };
        expect(quantized<F>(order, size, whole, by_rows, round), "from rows");
        expect(quantized<F>(order, size, whole, by_columns, round), "from columns");
        const auto computed = [&](place i, place j) { return double{by_rows(i, j)}; };
        expect(quantized<F>(order, size, whole, computed, round), "computed");
      }
    });
  }
}

template <class F> void check_dequantising(tally& count, extent size, int kind) {
  generator random(static_cast<unsigned>(kind));
  const auto values = values_of_kind(kind, static_cast<std::size_t>(size.rows * size.cols), random);
  for (const auto order : {storage_order::row_major, storage_order::column_major}) {
    block_tensor<F> t(0, 0, order);
    t.assign(row_major(values, size.rows, size.cols), policy<typename F::round_policy>());
    for_each_isa([&](const std::string& isa) {
      for (const bool turned : {false, true}) {
        std::vector<float> to(values.size(), 77.0f);
        const auto view =
            turned ? column_major(to, size.rows, size.cols) : row_major(to, size.rows, size.cols);
        t.dequantize(view);
        std::size_t wrong = 0;
        for (place i = 0; i < size.rows; ++i)
          for (place j = 0; j < size.cols; ++j) {
            const float one = t(i, j);
            wrong += is_nan(one)
                         ? !is_nan(view(i, j))
                         : std::bit_cast<std::uint32_t>(one) != std::bit_cast<std::uint32_t>(view(i, j));
          }
        count.expect(wrong == 0, [&] {
          return text(name_of<F>(), isa, size.rows, "x", size.cols, "kind", kind, turned ? "turned" : "",
                      wrong, "wrong");
        });
      }
    });
  }
}

template <class Check> void for_all(Check check) {
  for_each_type<formats>([&]<class F>() {
    for (const extent size : sizes)
      for (const int kind : kinds) check(std::type_identity<F>{}, size, kind);
  });
}
constexpr std::size_t cases = std::tuple_size_v<formats> * std::size(sizes) * std::size(kinds);

}  // namespace

TEST_CASE("blocks in lines: quantising gives the same bits on every way", "[block]") {
  tally count;
  for_all(
      [&]<class F>(std::type_identity<F>, extent size, int kind) { check_quantising<F>(count, size, kind); });
  count.require(cases * isa_count() * 2 * 2 * 3);
}

TEST_CASE("blocks in lines: dequantising gives each element's value", "[block]") {
  tally count;
  for_all([&]<class F>(std::type_identity<F>, extent size, int kind) {
    check_dequantising<F>(count, size, kind);
  });
  count.require(cases * isa_count() * 2 * 2);
}
