// Products of a large matrix and a few columns, or of a few rows and a large matrix.
#include <cmath>
#include <string>

#include "every_isa.hpp"
#include "product_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

using place = std::ptrdiff_t;

/// Numbers of few bits, and every so often the largest or the smallest ones.
template <class T> std::vector<T> numbers(place n, generator& random) {
  std::vector<T> result(static_cast<std::size_t>(n));
  for (T& x : result) {
    const auto code = static_cast<int>(below(random, 256)) - 128;
    if constexpr (std::integral<T>)
      x = static_cast<T>(code);
    else if constexpr (narrow_fixed<T>)
      x = T::from_bits(static_cast<typename T::bits_type>(code * (sizeof(T) == 2 ? 256 : 1)));
    else
      x = T(static_cast<float>(code) / 32);
  }
  return result;
}

/// A B, or the transposed product, in every order, against sums in double, in which all terms are exact. How
/// many of these are multiplied where they lie.
template <class T> std::size_t check(tally& count, place m, place n, place k, generator& random) {
  std::size_t skinny = 0;
  const std::vector<T> a = numbers<T>(m * k, random), b = numbers<T>(k * n, random);
  for (unsigned layout = 0; layout < 4; ++layout) {
    const auto left = (layout & 1) != 0 ? column_major(a, m, k) : row_major(a, m, k);
    const auto right = (layout & 2) != 0 ? column_major(b, k, n) : row_major(b, k, n);
    const auto how = kernel::plan_of(left, right).how;
    skinny += how == kernel::algorithm::skinny_rows || how == kernel::algorithm::skinny_columns;
    std::vector<float> c(static_cast<std::size_t>(m * n)), d = c;
    gemm(left, right, row_major(c, m, n));
    gemm(right.transposed(), left.transposed(), row_major(d, n, m));
    for (place i = 0; i < m; ++i)
      for (place j = 0; j < n; ++j) {
        double exact = 0, size = 0;
        for (place p = 0; p < k; ++p) {
          const double term = static_cast<double>(left(i, p)) * static_cast<double>(right(p, j));
          exact += term;
          size += std::abs(term);
        }
        const float got = c[static_cast<std::size_t>(i * n + j)],
                    turned = d[static_cast<std::size_t>(j * m + i)];
        const double bound =
            narrow_fixed<T> ? std::abs(exact) * 0x1p-24 : static_cast<double>(k) * 0x1.01p-24 * size;
        count.expect(std::abs(got - exact) <= bound && got == turned,
                     [&] { return text(m, n, k, "layout", layout, "at", i, j, got, turned, exact); });
      }
  }
  return skinny;
}

/// Least: so many of the products with long sums are multiplied where they lie, by most instruction sets.
template <class T> void check_shapes(std::size_t least) {
  for_each_isa([&](const std::string& isa) {
    CAPTURE(isa);
    generator random(2025);
    tally count;
    std::size_t skinny = 0;
    for (const place n : {2, 4, 9}) {
      skinny += check<T>(count, 129, n, 256 * std::min<place>(n, 4) + 7, random);
      skinny += check<T>(count, n, 520, 256 * std::min<place>(n, 4) + 7, random);
    }
    if (isa != "portable" && isa != "amx") CHECK(skinny >= least);
    for (const place n : {2, 3, 4, 5, 8, 9, 31, 33}) {
      check<T>(count, 65 + n, n, 64 + 7 * n, random);
      check<T>(count, n, 64, 1100 + n, random);
    }
    count.require_at_least(8 * 4 * 64 * 2);
  });
}

}  // namespace

TEST_CASE("a few columns times a large matrix: within the bound, and the same when transposed",
          "[kernel][skinny]") {
  check_shapes<fp16>(14);
  check_shapes<bf16>(12);
  check_shapes<fp8_e4m3fn>(6);
  check_shapes<fixed<8, 4>>(6);
  check_shapes<fixed<16, 8>>(4);
}

TEST_CASE("sums of the most negative integers do not wrap in skinny products", "[kernel][skinny]") {
  for_each_isa([](const std::string& isa) {
    CAPTURE(isa);
    const auto check_extreme = []<class T>(T lowest, place k) {
      const std::vector<T> a(static_cast<std::size_t>(64 * k), lowest),
          b(static_cast<std::size_t>(3 * k), lowest);
      const double exact = static_cast<double>(lowest) * static_cast<double>(lowest) * static_cast<double>(k);
      for (const auto& left : {row_major(a, 64, k), column_major(a, 64, k)}) {
        std::vector<double> c(64 * 3);
        gemm(left, row_major(b, k, 3), row_major(c, 64, 3));
        std::size_t wrong = 0;
        for (const double x : c) wrong += x != exact;
        REQUIRE(wrong == 0);
      }
    };
    check_extreme(std::numeric_limits<fixed<8, 0>>::lowest(), 140001);
    check_extreme(std::numeric_limits<fixed<16, 0>>::lowest(), 5003);
  });
}

TEST_CASE("NaN, infinities and subnormals in skinny products", "[kernel][skinny]") {
  for_each_isa([](const std::string& isa) {
    CAPTURE(isa);
    const place m = 70, k = 101;
    std::vector<bf16> a(static_cast<std::size_t>(m * k), bf16(0)),
        b(static_cast<std::size_t>(k * 3), bf16(1));
    const bf16 least = std::numeric_limits<bf16>::denorm_min();
    a[0] = std::numeric_limits<bf16>::quiet_NaN();
    a[static_cast<std::size_t>(k)] = std::numeric_limits<bf16>::infinity();
    for (place p = 0; p < k; ++p) a[static_cast<std::size_t>(69 * k + p)] = least;
    std::vector<float> c(static_cast<std::size_t>(m * 3));
    gemm(row_major(a, m, k), row_major(b, k, 3), row_major(c, m, 3));
    for (std::size_t j = 0; j < 3; ++j) {
      REQUIRE(std::isnan(c[j]));
      REQUIRE(c[3 + j] == std::numeric_limits<float>::infinity());
      REQUIRE(c[6 + j] == 0);
      REQUIRE(c[69 * 3 + j] == static_cast<float>(least) * 101);
    }
  });
}
