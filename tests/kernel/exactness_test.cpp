// Fixed-point sums of any length never wrap: 300,000 terms of the largest magnitudes in every word length.
#include "product_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

constexpr std::size_t terms = 300'000;

template <class T> std::vector<T> filled(std::size_t n, T x) { return std::vector<T>(n, x); }

template <int WL> void check_sums(tally& count) {
  using T = fixed<WL, WL / 2>;
  using limits = std::numeric_limits<T>;
  using detail::int128;
  const auto describe = [] { return "WL " + std::to_string(WL); };
  for (const T x : {limits::lowest(), limits::max()})
    for (const T y : {limits::lowest(), limits::max()}) {
      const auto a = filled(terms, x), b = filled(terms, y);
      count.expect(dot(a, b).mantissa() == int128{x.bits()} * y.bits() * int128{terms}, describe);
      count.expect(sum(a).mantissa() == int128{x.bits()} * int128{terms}, describe);
    }
}

/// Two coefficients: all terms alike, and a second half that takes away most of the first.
template <int WL> void check_product(tally& count) {
  using T = fixed<WL, WL / 2>;
  using limits = std::numeric_limits<T>;
  using detail::int128;
  for (const T x : {limits::lowest(), limits::max()})
    for (const T y : {limits::lowest(), limits::max()}) {
      const T opposite = y == limits::max() ? limits::lowest() : limits::max();
      const auto a = filled(terms, x);
      auto b = filled(2 * terms, y);
      std::fill(b.end() - terms / 2, b.end(), opposite);
      std::vector<double> c(2);
      gemv(row_major(b, 2, terms), a, c);
      const int128 half = terms / 2;
      const double unit = std::ldexp(1.0, -2 * T::fraction_length);
      const auto describe = [] { return "WL " + std::to_string(WL); };
      count.expect(c[0] == static_cast<double>(int128{x.bits()} * y.bits() * 2 * half) * unit, describe);
      count.expect(
          c[1] == static_cast<double>(int128{x.bits()} * (int128{y.bits()} + opposite.bits()) * half) * unit,
          describe);
    }
}

}  // namespace

TEST_CASE("fixed: 300000 extreme terms of every word length are exact", "[kernel][fixed][exactness]") {
  tally count;
  [&]<int... I>(std::integer_sequence<int, I...>) { (check_sums<I + 2>(count), ...); }
  (std::make_integer_sequence<int, 31>{});
  count.require(31 * 4 * 2);
}

TEST_CASE("fixed: 300000 extreme terms are exact in a product", "[kernel][fixed][exactness]") {
  tally count;
  [&]<int... WL>(
      std::integer_sequence<int, WL...>) {  // about the ends of the storage types and of the sums' words
    (check_product<WL>(count), ...);
  }
  (std::integer_sequence<int, 2, 8, 12, 13, 16, 17, 31, 32>{});
  count.require(8 * 4 * 2);
}

TEST_CASE("fixed: alpha and beta keep large sums exact", "[kernel][fixed][exactness]") {
  // A sum of 16384 and a little, of 77 bits, that beta C takes away all but the little: to a hair off a
  // midpoint.
  using T = fixed<32, 31>;
  tally count;
  generator random(2024);
  const auto little = [&] { return static_cast<std::int32_t>(below(random, 200)) - 100; };
  for (int i = 0; i < 2000; ++i) {
    std::vector<T> a(16384, T(-1)), b(16384, T(-1));
    a.insert(a.end(), {T::from_bits(little()), T::from_bits(little() % 4)});
    b.insert(b.end(), {T(-1), T::from_bits(1)});
    mpq_class sum = 16384;
    for (std::size_t j = 16384; j < a.size(); ++j) sum += exact_value(a[j]) * exact_value(b[j]);
    const double alpha = (i % 2 != 0 ? 1 : -1) * (i % 4 < 2 ? 0.5 : 0.3), beta = alpha * -16384;
    std::vector<T> c = {
        T::from_bits(std::numeric_limits<std::int32_t>::max() - static_cast<std::int32_t>(below(random, 3)))};
    const mpq_class right = alpha * sum + beta * exact_value(c[0]);
    gemm(row_major(a, 1, std::ssize(a)), column_major(b, std::ssize(b), 1), row_major(c, 1, 1), alpha, beta);
    count.expect(oracle::matches(oracle::rounded(T::fraction_length, right), c[0]),
                 [&] { return text(a[16384].bits(), a[16385].bits(), "gives", c[0].bits()); });
  }
  count.require(2000);
}
