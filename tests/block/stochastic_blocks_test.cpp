// Stochastic rounding in blocks: what the draws depend on, and that they are fair.
#include "block_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

template <class F> bool same(const block_tensor<F>& a, const block_tensor<F>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols() || !std::ranges::equal(a.scales(), b.scales()))
    return false;
  for (place i = 0; i < a.rows(); ++i)
    for (place j = 0; j < a.cols(); ++j)
      if (mantissa(a, i, j) != mantissa(b, i, j)) return false;
  return true;
}

using stochastic_formats =
    std::tuple<bfp<4, per_tensor, rounding::stochastic>, bfp<8, per_row, rounding::stochastic>,
               bfp<8, per_column, rounding::stochastic>, bfp<12, tile<2, 3>, rounding::stochastic>,
               basic_int8<per_tensor, rounding::stochastic>, basic_int8<tile<3, 4>, rounding::stochastic>>;

}  // namespace

TEST_CASE("the same bits for both orders, for a view and for a copy", "[block]") {
  tally count;
  generator random(2024);
  const extent size{13, 9};
  for_each_type<stochastic_formats>([&]<class F>() {
    for (int i = 0; i < 20; ++i) {
      const auto values = values_of_kind(0, 13 * 9, random);
      const rounding::stochastic round(random());
      const auto right = quantize<F>(values, 13, 9, round);
      const auto expect = [&](const block_tensor<F>& t) {
        count.expect(same(t, right), [&] { return text(name_of<F>(), i); });
      };
      const auto columns = in_columns(values, size);
      expect(quantize<F>(column_major(columns, 13, 9), round));
      expect(quantize<F>(row_major(columns, 9, 13).transposed(), round));
      std::vector<float> padded(13 * 20, 5.0f);
      const auto part = row_major(padded, 13, 9, 20);
      for (place r = 0; r < 13; ++r)
        for (place c = 0; c < 9; ++c) part(r, c) = values[static_cast<std::size_t>(r * 9 + c)];
      expect(quantize<F>(part, round));
      std::vector<double> wide(values.begin(), values.end());  // computed panel by panel
      expect(quantize<F>(wide, 13, 9, round));
      block_tensor<F> by_columns(0, 0, storage_order::column_major);
      by_columns.assign(row_major(values, 13, 9), round);
      expect(by_columns);
      block_tensor<F> t;  // and the format's own draws: one ticket for one tensor
      seed(static_cast<std::uint64_t>(i));
      const rounding::stochastic first;
      seed(static_cast<std::uint64_t>(i));
      t.assign(row_major(values, 13, 9));
      count.expect(same(t, quantize<F>(values, 13, 9, first)) && thread_stream().ticket == 1,
                   [&] { return text(name_of<F>(), "ticket", thread_stream().ticket); });
    }
  });
  count.require(std::tuple_size_v<stochastic_formats> * 20 * 6);
}

TEST_CASE("writing every part draws what whole assignment draws", "[block]") {
  generator random(2024);
  const auto values = values_of_kind(0, 13 * 9, random);
  const rounding::stochastic round(5);
  for_each_type<stochastic_formats>([&]<class F>() {
    const auto right = quantize<F>(values, 13, 9, round);
    block_tensor<F> t = quantize<F>(values, 13, 9, rounding::stochastic(6));  // the scales are right already
    std::size_t different = 0;
    for (place i = 0; i < t.size(); ++i)
      different +=
          t.mantissas()[static_cast<std::size_t>(i)] != right.mantissas()[static_cast<std::size_t>(i)];
    REQUIRE(different > 0);
    const auto view = row_major(values, 13, 9);
    for (place i = 0; i < 13; i += 5)
      for (place j = 0; j < 9; j += 4) {
        const place height = std::min<place>(5, 13 - i), width = std::min<place>(4, 9 - j);
        t.write(i, j, view.block(i, j, height, width), round);
      }
    REQUIRE(same(t, right));
  });
}

TEST_CASE("the mean of many draws is the number", "[block]") {
  tally count;
  constexpr place n = 100'000;
  const auto check = [&]<class F>(float fraction, float step) {
    // The first element keeps the scale where it is; the others round between 3 and 4 steps.
    std::vector<float> values(n, (3 + fraction) * step);
    values[0] = static_cast<float>(limit_of<F>) * step;
    const auto t = quantize<F>(values, 1, n, rounding::stochastic(99));
    double sum = 0;
    for (place i = 1; i < n; ++i) {
      const long q = mantissa(t, 0, i);
      count.expect(q == 3 || q == 4, [&] { return text(name_of<F>(), fraction, static_cast<double>(q)); });
      sum += static_cast<double>(q - 3);
    }
    const double mean = sum / (n - 1), deviation = std::sqrt(fraction * (1 - fraction) / n);
    INFO(name_of<F>() << " fraction " << fraction << " mean " << mean);
    REQUIRE(std::abs(mean - fraction) < 5 * deviation);
  };
  for (const float fraction : {0.015625f, 0.25f, 0.5f, 0.75f, 0.984375f}) {
    check.operator()<bfp<4>>(fraction, 0.5f);
    check.operator()<bfp<12>>(fraction, 0x1p-100f);
    check.operator()<int8>(fraction, 3.0f);
  }
  count.require(15 * (n - 1));
}

TEST_CASE("what no float holds of a number counts, too", "[block]") {
  // Of 2^21 numbers 1/16 of a float's last place above 64: 2^-21 more than 64, so that about one is rounded
  // up; to odd they would be 2^-17 more.
  constexpr place lines = 64, n = 1 << 21;
  using format = bfp<8, per_tensor, rounding::stochastic>;
  const auto ups = [&]<class T>(T excess, T unit) {
    std::vector<T> values(n, 64 * unit + excess);
    values[0] = 127 * unit;
    long count = 0;
    for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
      const auto t = quantize<format>(values, lines, n / lines, rounding::stochastic(seed));
      count += std::count(t.mantissas().begin(), t.mantissas().end(), 65);
      block_tensor<format> parts(lines, n / lines);
      parts.assign(row_major(values, lines, n / lines), rounding::stochastic(seed));
      parts.write(1, 0, row_major(std::span<const T>(values).subspan(n / lines), lines - 1, n / lines),
                  rounding::stochastic(seed));
      REQUIRE(same(t, parts));
    }
    return count;
  };
  // Poisson: 16 expected, between 4 and 36 but once in 10000 times.
  const long of_doubles = ups(0x1p-19, 1.0), of_integers = ups(std::int64_t{1} << 11, std::int64_t{1} << 30);
  INFO(of_doubles << ' ' << of_integers);
  CHECK((of_doubles > 4 && of_doubles < 36));
  CHECK((of_integers > 4 && of_integers < 36));
}

TEST_CASE("neighbouring elements and seeds draw independently", "[block]") {
  constexpr place n = 100'000;
  std::vector<float> values(n, 0.5f);
  values[0] = 7;
  const auto a = quantize<bfp<4>>(values, 1, n, rounding::stochastic(1));
  const auto b = quantize<bfp<4>>(values, 1, n, rounding::stochastic(2));
  place neighbours = 0, seeds = 0;
  for (place i = 1; i + 1 < n; ++i) {
    neighbours += mantissa(a, 0, i) == mantissa(a, 0, i + 1);
    seeds += mantissa(a, 0, i) == mantissa(b, 0, i);
  }
  const double deviation = 0.5 * std::sqrt(static_cast<double>(n));
  REQUIRE(std::abs(static_cast<double>(neighbours) - n / 2) < 5 * deviation);
  REQUIRE(std::abs(static_cast<double>(seeds) - n / 2) < 5 * deviation);
}
