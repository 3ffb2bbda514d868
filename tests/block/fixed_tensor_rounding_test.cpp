// Products of fixed_tensor are exact until they are rounded once, whatever the bits that are dropped.
#include <narrow/narrow.hpp>
#include <random>
#include <vector>

#include "tally.hpp"

using namespace narrow;
using detail::int128;
using test::tally;

namespace {

using place = std::ptrdiff_t;

/// Numbers of a format, all lowest, all highest, some of either, or any.
std::vector<double> numbers(const fixed_format& f, place n, unsigned seed) {
  const double end = std::ldexp(1.0, f.wl - 1), step = std::ldexp(1.0, -f.fl);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> anywhere(-end, end);
  std::vector<double> result(static_cast<std::size_t>(n));
  for (double& x : result) {
    const bool low = seed % 4 == 0 || (seed % 4 == 2 && random() % 2 == 0);
    x = step * (seed % 4 == 3 ? std::floor(anywhere(random)) : low ? -end : end - 1);
  }
  return result;
}

/// C = A B by tensors, against the same rounding of each exact sum by itself.
template <class Round>
void check_tensor(tally& count, const fixed_format& a, const fixed_format& b, const fixed_format& c,
                  const Round& round, storage_order order) {
  constexpr place rows = 17, depth = 40, cols = 19;
  fixed_tensor left(0, 0, a), right(0, 0, b), product(0, 0, c, order);
  for (unsigned seed = 0; seed < 16; ++seed) {
    left.assign(row_major(numbers(a, rows * depth, seed), rows, depth));
    right.assign(row_major(numbers(b, depth * cols, seed / 4), depth, cols));
    product.multiply(left.view(), right.view(), 1, 0, round);
    for (place i = 0; i < rows; ++i)
      for (place j = 0; j < cols; ++j) {
        int128 sum = 0;
        for (place k = 0; k < depth; ++k) sum += int128{left.mantissa(i, k)} * right.mantissa(k, j);
        auto value = unpack(fixed_sum<int128, 0>(sum));
        value.exponent = -(a.fl + b.fl);
        const std::int32_t expected = detail::mantissa_of(
            value, c.wl, c.fl, at_element(round, static_cast<std::uint64_t>(i * cols + j)),
            overflow::saturate{});
        count.expect(product.mantissa(i, j) == expected, [&] {
          return std::to_string(a.wl) + "," + std::to_string(a.fl) + " to " + std::to_string(c.wl) + "," +
                 std::to_string(c.fl) + ": " + std::to_string(product.mantissa(i, j)) + ", not " +
                 std::to_string(expected);
        });
      }
  }
}

}  // namespace

TEST_CASE("Exact sums are rounded once, however many bits are dropped", "[block][fixed]") {
  tally count;
  const auto run = [&](const auto& round) {
    for (const storage_order order : {storage_order::row_major, storage_order::column_major}) {
      for (const int fl : {0, 9, 15, 16, 23})
        for (const fixed_format& c : {fixed_format{8, 4}, fixed_format{16, 8}, fixed_format{24, 0},
                                      fixed_format{24, 23}, fixed_format{32, 12}})
          check_tensor(count, {24, fl}, {24, fl}, c, round, order);
      for (const int fl : {0, 16, 31})
        for (const fixed_format& c : {fixed_format{8, 0}, fixed_format{16, 15}, fixed_format{32, 0},
                                      fixed_format{32, 30}, fixed_format{32, 31}})
          check_tensor(count, {32, fl}, {32, fl}, c, round, order);
      check_tensor(count, {32, 20}, {8, 4}, {32, 10}, round, order);
      check_tensor(count, {8, 4}, {8, 4}, {32, 10}, round, order);
    }
  };
  run(rounding::nearest_even{});
  run(rounding::stochastic(11));
  run(rounding::toward_zero{});
  count.require(3 * 2 * (25 + 15 + 2) * 16 * 17 * 19);
}

TEST_CASE("What is far below a tie decides it", "[block][fixed]") {
  // Rows: m 2^dropped + 2^(dropped - 1) + t, by terms 2^31 2^(31 - fl), 2^31 2^(30 - fl) and 1 t. Columns:
  // so, and with the other sign.
  constexpr place rows = 6, cols = 16;
  tally count;
  for (int fl = 0; fl <= 30; ++fl) {
    std::vector<double> a(rows * 3), b(3 * cols);
    for (place i = 0; i < rows; ++i) {
      a[static_cast<std::size_t>(3 * i)] = i % 2 == 0 ? 0 : -1;
      a[static_cast<std::size_t>(3 * i + 1)] = -1;
      a[static_cast<std::size_t>(3 * i + 2)] = std::ldexp(static_cast<double>(i / 2 - 1), -31);
    }
    for (place j = 0; j < cols; ++j) {
      const double sign = j % 2 == 0 ? 1 : -1;
      b[static_cast<std::size_t>(j)] = -sign * std::ldexp(1.0, -fl - (sign < 0 && fl == 0 ? 1 : 0));
      b[static_cast<std::size_t>(cols + j)] = -sign * std::ldexp(0.5, -fl);
      b[static_cast<std::size_t>(2 * cols + j)] = sign * std::ldexp(1.0, -31);
    }
    fixed_tensor left(0, 0, {32, 31}), right(0, 0, {32, 31}), product(0, 0, {32, fl});
    left.assign(row_major(a, rows, 3));
    right.assign(row_major(b, 3, cols));
    product.multiply(left.view(), right.view());
    for (place i = 0; i < rows; ++i)
      for (place j = 0; j < cols; ++j) {
        if (fl == 0 && j % 2 != 0 && i % 2 != 0) continue;  // 1 has no mantissa
        const place m = i % 2, t = i / 2 - 1;
        const place magnitude = m + (t > 0 || (t == 0 && m % 2 != 0) ? 1 : 0);
        count.expect(product.mantissa(i, j) == (j % 2 == 0 ? magnitude : -magnitude), [&] {
          return "FL " + std::to_string(fl) + ", row " + std::to_string(i) + ", column " + std::to_string(j) +
                 ": " + std::to_string(product.mantissa(i, j));
        });
      }
  }
  count.require(31 * rows * cols - rows / 2 * cols / 2);
}

TEST_CASE("Stochastic rounding sees 32 bits of a magnitude", "[block][fixed]") {
  // -(f 2^30 + 1) in units of 2^-62, with the f for which the draw does not carry yet, and the next one.
  constexpr place rows = 256;
  const rounding::stochastic round(5);
  tally count;
  std::vector<double> a(rows * 3);
  const std::vector<double> b{-1, -0.5, std::ldexp(1.0, -31)};
  const auto fraction = [&](place i) {
    const auto at = static_cast<std::uint64_t>(i);
    const std::uint32_t draw = detail::random_bits(detail::random_key(round.seed(), round.offset() + at),
                                                   static_cast<std::uint32_t>(round.offset() + at));
    return ~draw + (i % 2 == 0 || draw == 0 ? 0u : 1u);
  };
  for (place i = 0; i < rows; ++i) {
    const std::uint32_t f = fraction(i);
    a[static_cast<std::size_t>(3 * i)] = std::ldexp(static_cast<double>(f >> 1), -31);
    a[static_cast<std::size_t>(3 * i + 1)] = std::ldexp(static_cast<double>(f & 1), -31);
    a[static_cast<std::size_t>(3 * i + 2)] = -std::ldexp(1.0, -31);
  }
  fixed_tensor left(0, 0, {32, 31}), right(0, 0, {32, 31}), product(0, 0, {32, 0});
  left.assign(row_major(a, rows, 3));
  right.assign(row_major(b, 3, 1));
  product.multiply(left.view(), right.view(), 1, 0, round);
  for (place i = 0; i < rows; ++i)
    count.expect(product.mantissa(i, 0) == (i % 2 == 0 ? 0 : -1), [&] { return std::to_string(i); });
  count.require(rows);
}
