// Sums of 300000 products of the largest mantissas never wrap, in any width.
#include "product_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

/// The float that an integer sum becomes, times the scales' product.
float_value scaled(const mpz_class& sum, float a, float b) {
  return nearest_float(
      mpq_class(nearest_24_bits(sum, 0) * nearest_24_bits(rational(a) * rational(b), -100'000)));
}

/// Rows x cols numbers +-(largest mantissa), except where `other` says what stands there.
template <class F> std::vector<float> extremes(place count, int sign) {
  return std::vector<float>(static_cast<std::size_t>(count), static_cast<float>(sign * limit_of<F>));
}

/// A (m, k) of one extreme and B (k, n) of another: n - 1 columns alike; in the last, the second half takes
/// away all of the first but the last term.
template <class F, class G> void check_extremes(tally& count, const product_shape& shape) {
  const place m = shape.m, n = shape.n, k = shape.k;
  for (const int sign_a : {1, -1})
    for (const int sign_b : {1, -1}) {
      const auto numbers_a = extremes<F>(m * k, sign_a);
      auto numbers_b = extremes<G>(n * k, sign_b);
      for (place p = k / 2; p < k / 2 * 2; ++p) numbers_b[static_cast<std::size_t>((n - 1) * k + p)] *= -1;
      if (k > 1) numbers_b[static_cast<std::size_t>((n - 1) * k + k - 1)] = static_cast<float>(sign_b);
      const auto a = quantize<F>(numbers_a, m, k);
      const auto b = quantize<G>(column_major(numbers_b, k, n));
      std::vector<float> c(static_cast<std::size_t>(m * n));
      gemm(a, b, row_major(c, m, n));
      // What is stored are the extremes: the tests of quantising see to that, but here it must hold.
      count.expect(
          mantissa(a, m - 1, k - 1) == sign_a * limit_of<F> && mantissa(b, 0, 0) == sign_b * limit_of<G>,
          [&] { return text(name_of<F>(), "is not extreme"); });
      mpz_class last = 0;
      for (place p = 0; p < k; ++p) last += mantissa(b, p, n - 1);
      const mpz_class each = mpz_class(limit_of<F>) * sign_a;
      for (place i = 0; i < m; ++i)
        for (place j = 0; j < n; ++j) {
          const mpz_class sum = j < n - 1 ? mpz_class(each * sign_b * limit_of<G> * static_cast<long>(k))
                                          : mpz_class(each * last);
          count.expect(scaled(sum, a.scales()[0], b.scales()[0]) == c[static_cast<std::size_t>(i * n + j)],
                       [&] {
                         return text(name_of<F>(), name_of<G>(), "signs", static_cast<double>(sign_a),
                                     static_cast<double>(sign_b), "depth", k, "at", i, j,
                                     c[static_cast<std::size_t>(i * n + j)]);
                       });
        }
    }
}

template <class F, class G> void check_depths(tally& count) {
  // Around the ends of the lanes' exact sums, and far beyond; every way to lay a product out.
  for (const place k : {1, 2, 15, 16, 17, 1023, 1024, 1025, 1026, 2049})
    check_extremes<F, G>(count, {5, 9, k});
  for (const auto& shape : {product_shape{1, 2, 300'000}, {2, 1, 300'000}, {4, 2, 262'145}, {5, 3, 131'071}})
    check_extremes<F, G>(count, shape);
}
constexpr std::uint64_t cases_of_depths = 4 * (10 * (1 + 45) + (1 + 2) + (1 + 2) + (1 + 8) + (1 + 15));

}  // namespace

TEST_CASE("300000 extreme terms of every width are exact", "[block][exactness]") {
  tally count;
  [&]<int... I>(std::integer_sequence<int, I...>) { (check_depths<bfp<I + 2>, bfp<I + 2>>(count), ...); }
  (std::make_integer_sequence<int, 15>{});
  count.require(15 * cases_of_depths);
}

TEST_CASE("300000 extreme terms of int8 and of mixed widths are exact", "[block][exactness]") {
  tally count;
  check_depths<int8, int8>(count);
  check_depths<bfp<8>, bfp<16>>(count);
  check_depths<bfp<9>, int8>(count);
  count.require(3 * cases_of_depths);
}
