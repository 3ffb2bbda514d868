// Fixed-point sums of any length never wrap: 300,000 terms of the largest magnitudes in every word length.
#include "product_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

constexpr std::size_t terms = 300'000;

template <int WL> void check_extremes(tally& count) {
  using T = fixed<WL, WL / 2>;
  using limits = std::numeric_limits<T>;
  using detail::int128;
  const auto describe = [&] { return "WL " + std::to_string(WL); };
  for (const T x : {limits::lowest(), limits::max()})
    for (const T y : {limits::lowest(), limits::max()}) {
      const std::vector<T> a(terms, x), b(terms, y);
      const int128 right = int128{x.bits()} * y.bits() * int128{terms};
      count.expect(dot(a, b).mantissa() == right, describe);
      count.expect(sum(a).mantissa() == int128{x.bits()} * int128{terms}, describe);
      // The same sum in two coefficients, and beside each the sum of half of it with the other half taken
      // away.
      std::vector<T> half(b);
      for (std::size_t i = terms / 2; i < terms; ++i)
        half[i] = y == limits::max() ? limits::lowest() : limits::max();
      const int128 cancelled = int128{x.bits()} * (int128{y.bits()} + half.back().bits()) * int128{terms / 2};
      std::vector<T> both(b);
      both.insert(both.end(), half.begin(), half.end());
      std::vector<double> c(2);
      gemv(row_major(both, 2, terms), a, c);
      const double unit = std::ldexp(1.0, -2 * T::fraction_length);
      count.expect(c[0] == static_cast<double>(right) * unit, describe);
      count.expect(c[1] == static_cast<double>(cancelled) * unit, describe);
    }
}

}  // namespace

TEST_CASE("fixed: 300000 extreme terms of every word length are exact", "[kernel][fixed][exactness]") {
  tally count;
  [&]<int... I>(std::integer_sequence<int, I...>) { (check_extremes<I + 2>(count), ...); }
  (std::make_integer_sequence<int, 31>{});
  count.require(31 * 4 * 4);
}
