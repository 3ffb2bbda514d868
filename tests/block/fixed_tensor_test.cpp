// Fixed point chosen at run time is fixed<WL, FL>, bit for bit.
#include <narrow/narrow.hpp>
#include <random>
#include <vector>

#include "tally.hpp"

using namespace narrow;
using test::tally;

namespace {

/// Numbers around and beyond the range of a format, ties and exact ones among them.
std::vector<double> samples(int wl, int fl, std::size_t count) {
  std::mt19937_64 random(static_cast<std::uint64_t>(wl * 64 + fl));
  const double step = std::ldexp(1.0, -fl), limit = std::ldexp(1.0, wl - 1 - fl);
  std::uniform_real_distribution<double> uniform(-1.1 * limit, 1.1 * limit);
  std::vector<double> result{0.0,
                             -0.0,
                             limit,
                             -limit,
                             limit - step,
                             limit - step / 2,
                             -limit - step / 2,
                             step / 2,
                             -step / 2,
                             3 * step / 2,
                             1e300,
                             -1e300,
                             5e-324,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};
  while (result.size() < count) {
    const double x = uniform(random);
    result.push_back(x);
    result.push_back(std::round(x / step) * step);          // exact, if it fits
    result.push_back((std::round(x / step) + 0.5) * step);  // a tie
  }
  result.resize(count);
  return result;
}

template <int WL, int FL, class Round> void check_conversion(tally& count, const std::vector<double>& x) {
  using T = fixed<WL, FL>;
  fixed_tensor tensor(0, 0, fixed_format{WL, FL});
  const auto n = static_cast<std::ptrdiff_t>(x.size());
  const auto policy = [] {
    if constexpr (std::same_as<Round, rounding::stochastic>)
      return rounding::stochastic(7);
    else
      return Round{};
  }();
  tensor.assign(row_major(x, 1, n), policy);
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const double value = x[static_cast<std::size_t>(i)];
    const auto expected = narrow_cast<T>(value, at_element(policy, static_cast<std::uint64_t>(i)));
    count.expect(
        tensor.mantissa(0, i) == expected.bits() && tensor(0, i) == static_cast<double>(expected), [&] {
          return "WL " + std::to_string(WL) + " FL " + std::to_string(FL) + " of " + std::to_string(value);
        });
  }
}

template <class Round> void check_every_word_length(tally& count) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (
        [&] {
          constexpr int wl = I + 2;
          check_conversion<wl, 0, Round>(count, samples(wl, 0, 200));
          check_conversion<wl, wl / 2, Round>(count, samples(wl, wl / 2, 200));
          check_conversion<wl, wl - 1, Round>(count, samples(wl, wl - 1, 200));
        }(),
        ...);
  }
  (std::make_integer_sequence<int, 31>{});
}

template <class A, class B, class C> void check_product(tally& count) {
  const auto format = [](auto x) {
    return fixed_format{decltype(x)::word_length, decltype(x)::fraction_length};
  };
  constexpr std::ptrdiff_t m = 5, k = 70, n = 3;
  std::vector<double> a = samples(A::word_length, A::fraction_length, m * k),
                      b = samples(B::word_length, B::fraction_length, k * n), c(m * n, 0.75);
  const std::vector<A> narrow_a(a.begin(), a.end());
  const std::vector<B> narrow_b(b.begin(), b.end());
  fixed_tensor ta(0, 0, format(A{})), tb(0, 0, format(B{}), storage_order::column_major);
  ta.assign(row_major(a, m, k));
  tb.assign(row_major(b, k, n));
  for (const double alpha : {1.0, -0.25, 8.0})
    for (const double beta : {0.0, 1.0, -2.0}) {
      std::vector<C> expected(c.begin(), c.end());
      fixed_tensor got(0, 0, format(C{}));
      got.assign(row_major(c, m, n));
      gemm(row_major(narrow_a, m, k), row_major(narrow_b, k, n), row_major(expected, m, n), alpha, beta);
      got.multiply(ta.view(), tb.view(), alpha, beta);
      fixed_tensor turned(0, 0, format(C{}));
      turned.assign(column_major(c, n, m));
      turned.multiply(tb.view().transposed(), ta.view().transposed(), alpha, beta);
      for (std::ptrdiff_t i = 0; i < m; ++i)
        for (std::ptrdiff_t j = 0; j < n; ++j) {
          const auto bits = expected[static_cast<std::size_t>(i * n + j)].bits();
          count.expect(got.mantissa(i, j) == bits && turned.mantissa(j, i) == bits, [&] {
            return std::to_string(A::word_length) + " x " + std::to_string(B::word_length);
          });
        }
    }
}

}  // namespace

TEMPLATE_TEST_CASE("Values are those of fixed<WL, FL>, for every word length", "[block][fixed]",
                   rounding::nearest_even, rounding::toward_zero, rounding::stochastic) {
  tally count;
  check_every_word_length<TestType>(count);
  count.require(31 * 3 * 200);
}

TEST_CASE("Products are those of fixed<WL, FL>", "[block][fixed]") {
  tally count;
  check_product<fixed<8, 4>, fixed<8, 4>, fixed<8, 4>>(count);
  check_product<fixed<2, 0>, fixed<2, 0>, fixed<16, 3>>(count);
  check_product<fixed<12, 8>, fixed<12, 8>, fixed<20, 10>>(count);
  check_product<fixed<16, 15>, fixed<16, 15>, fixed<16, 8>>(count);
  check_product<fixed<17, 5>, fixed<17, 5>, fixed<32, 8>>(count);
  check_product<fixed<32, 31>, fixed<32, 31>, fixed<32, 20>>(count);
  check_product<fixed<32, 0>, fixed<32, 0>, fixed<32, 0>>(count);
  count.require(7 * 9 * 15);
}

TEST_CASE("Formats of different widths multiply exactly", "[block][fixed]") {
  const std::vector<double> a{1.25, -3.5}, b{2.125, 0.0625};
  fixed_tensor narrow_one(0, 0, {8, 2}), wide_one(0, 0, {32, 10}), result(0, 0, {32, 20});
  narrow_one.assign(row_major(a, 1, 2));
  wide_one.assign(row_major(b, 2, 1));
  result.multiply(narrow_one.view(), wide_one.view());
  REQUIRE(result(0, 0) == 1.25 * 2.125 - 3.5 * 0.0625);
  result.multiply(wide_one.view(), narrow_one.view());
  REQUIRE(result.rows() == 2);
  REQUIRE(result(1, 1) == -3.5 * 0.0625);
}

TEST_CASE("The longest sums of the most negative mantissas are exact", "[block][fixed]") {
  constexpr std::ptrdiff_t terms = 300'000;
  for (const int wl : {2, 8, 9, 12, 16, 17, 32}) {
    const double lowest = -std::ldexp(1.0, wl - 1);
    const std::vector<double> x(terms, lowest);
    fixed_tensor a(0, 0, {wl, 0});
    a.assign(row_major(x, 1, terms));
    std::vector<double> c(1);
    gemm(a.view(), a.view().transposed(), row_major(c, 1, 1));
    REQUIRE(c[0] == lowest * lowest * terms);  // 2^62 times 300000: 19 significant bits
    const std::vector<double> y(terms, -lowest - 1);
    fixed_tensor b(0, 0, {wl, 0});
    b.assign(row_major(y, terms, 1));
    gemm(a.view(), b.view(), row_major(c, 1, 1));
    REQUIRE(c[0] == static_cast<double>(static_cast<long double>(lowest) * (-lowest - 1) * terms));
  }
}

TEST_CASE("Storage is as wide as the word length needs", "[block][fixed]") {
  const auto bytes = [](int wl) {
    return std::visit([](const auto& stored) { return sizeof stored[0]; },
                      fixed_tensor(1, 1, fixed_format{wl, 1}).mantissas());
  };
  REQUIRE((bytes(2) == 1 && bytes(8) == 1 && bytes(9) == 2 && bytes(16) == 2 && bytes(17) == 4 &&
           bytes(32) == 4));
}

TEST_CASE("A new format converts the values, a bad one changes nothing", "[block][fixed]") {
  const std::vector<double> x{1.3, -2.7, 100.0, 0.01};
  fixed_tensor tensor(0, 0, {16, 8});
  tensor.assign(row_major(x, 2, 2));
  tensor.format({8, 4});
  REQUIRE(tensor.format() == fixed_format{8, 4});
  REQUIRE(tensor(0, 0) == 1.3125);  // 333 / 256 is nearest to 21 / 16
  REQUIRE(tensor(1, 0) == 7.9375);  // saturated
  fixed_format bad;
  bad.fl = 8;
  REQUIRE_THROWS_AS(tensor.format(bad), std::invalid_argument);
  REQUIRE(tensor.format() == fixed_format{8, 4});
  REQUIRE(tensor(0, 0) == 1.3125);
}

TEST_CASE("What a tensor was moved out of is empty", "[block][fixed]") {
  const std::vector<double> x{1.3, -2.7, 100.0, 0.01};
  fixed_tensor tensor(0, 0, {16, 8});
  tensor.assign(row_major(x, 2, 2));
  const fixed_tensor moved = std::move(tensor);
  REQUIRE(moved(0, 0) == 1.30078125);
  REQUIRE(tensor.size() == 0);
  tensor.format({8, 4});
  tensor.assign(row_major(x, 1, 4));
  REQUIRE(tensor(0, 0) == 1.3125);
}

TEST_CASE("Formats out of range and shapes that do not match are refused by name", "[block][fixed]") {
  using Catch::Matchers::Contains;
  REQUIRE_THROWS_WITH(fixed_format(33, 4), Contains("word length 33") && Contains("2 to 32"));
  REQUIRE_THROWS_WITH(fixed_format(1, 0), Contains("word length 1"));
  REQUIRE_THROWS_WITH(fixed_format(8, 8), Contains("fraction length 8") && Contains("0 to 7"));
  REQUIRE_THROWS_WITH(fixed_format(8, -1), Contains("fraction length -1"));
  REQUIRE_THROWS_WITH(fixed_tensor(-1, 2), Contains("-1 x 2"));
  fixed_tensor a(2, 3), b(2, 3), c(1, 1);
  REQUIRE_THROWS_WITH(c.multiply(a.view(), b.view()), Contains("2 x 3"));
  REQUIRE_THROWS_WITH(c.multiply(a.view(), b.view().transposed(), 1, 1),
                      Contains("2 x 2") && Contains("1 x 1"));
  const std::vector<double> x(4);
  REQUIRE_THROWS_WITH(a.write(1, 1, row_major(x, 2, 2)),
                      Contains("2 x 2") && Contains("(1, 1)") && Contains("2 x 3"));
  std::vector<float> out(4);
  REQUIRE_THROWS_WITH(gemm(a.view(), b.view(), row_major(out, 2, 2)), Contains("2 x 3"));
}

TEST_CASE("NaN and infinity are counted", "[block][fixed]") {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x{1.0f, std::numeric_limits<float>::quiet_NaN(), inf, -inf};
  fixed_tensor tensor(0, 0, {8, 4});
  tensor.assign(row_major(x, 1, 4));
  REQUIRE(tensor.nonfinite() == 3);
  REQUIRE(tensor(0, 1) == 0);
  REQUIRE(tensor(0, 2) == 7.9375);
  REQUIRE(tensor(0, 3) == -8);
  tensor.assign(row_major(std::vector<float>{1.0f}, 1, 1));
  REQUIRE(tensor.nonfinite() == 0);
}
