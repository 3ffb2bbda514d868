// Products with a vector, sums and stochastic conversions: every instruction set that this processor has
// against exact sums, and against scalar conversions.
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include <narrow/narrow.hpp>

#include "catch.hpp"
#include "every_isa.hpp"
#include "policies.hpp"
#include "tally.hpp"

using namespace test;
using namespace narrow;

namespace {

using place = std::ptrdiff_t;

/// Of fixed point the code; numbers of a few magnitudes else.
template <class T> T some_number(std::mt19937& random) {
  if constexpr (narrow_fixed<T>) {
    const auto kind = random() % 4;
    return kind < 2    ? std::numeric_limits<T>::lowest()
           : kind == 2 ? std::numeric_limits<T>::max()
                       : T::from_bits(static_cast<typename T::bits_type>(random()));
  } else {
    return T(std::ldexp(static_cast<float>(static_cast<std::int32_t>(random())),
                        -31 - static_cast<int>(random() % 4)));
  }
}

template <class T> double value(T x) { return static_cast<double>(x); }

/// A matrix in memory of its own, one element after its beginning: by rows, by columns, by rows with gaps, by
/// columns with gaps, every other element of a row, every other one of a column.
template <class T> struct matrix {
  static constexpr unsigned layouts = 6;
  std::unique_ptr<T[]> memory;
  matrix_view<const T> view;

  matrix(place rows, place cols, unsigned layout, std::mt19937& random) {
    const place step = layout >= 4 ? 2 : 1, gap = layout == 2 || layout == 3 ? 3 : 0;
    const bool by_rows = layout % 2 == 0;
    const place lines = by_rows ? rows : cols, leading = (by_rows ? cols : rows) * step + gap;
    const auto size = static_cast<std::size_t>(lines * leading + 1);
    memory = std::make_unique<T[]>(size);
    for (std::size_t i = 0; i < size; ++i) memory[i] = some_number<T>(random);
    view = by_rows ? matrix_view<const T>{memory.get() + 1, rows, cols, leading, step}
                   : matrix_view<const T>{memory.get() + 1, rows, cols, step, leading};
  }
};

/// y = A x against exact sums, as a column times a matrix and as a row times its transpose.
template <class A, class X> void check_product(tally& count, place rows, place cols) {
  std::mt19937 random(static_cast<unsigned>(rows * 1000 + cols));
  for (unsigned layout = 0; layout < matrix<A>::layouts; ++layout) {
    const matrix<A> a(rows, cols, layout, random);
    const matrix<X> x(cols, 1, layout % 2 == 0 ? 1 : 5, random);
    std::vector<double> sums, magnitudes;
    for (place i = 0; i < rows; ++i) {
      double sum = 0, magnitude = 0;  // exact enough: of at most 48 bits, and in multiples of one unit
      for (place p = 0; p < cols; ++p) {
        const double term = value(a.view(i, p)) * value(x.view(p, 0));
        sum += term;
        magnitude += std::abs(term);
      }
      sums.push_back(sum);
      magnitudes.push_back(magnitude);
    }
    constexpr bool exact = narrow_fixed<A> && std::same_as<A, X>;
    using result = std::conditional_t<exact, double, float>;
    for_each_isa([&](const std::string& isa) {
      std::vector<result> down(static_cast<std::size_t>(rows), -77), across = down;
      gemm(a.view, x.view, matrix_view<result>{down.data(), rows, 1, 1, 1});
      gemm(x.view.transposed(), a.view.transposed(), matrix_view<result>{across.data(), 1, rows, rows, 1});
      for (std::size_t i = 0; i < down.size(); ++i)
        for (const double got : {double{down[i]}, double{across[i]}}) {
          const double bound = exact ? 0 : static_cast<double>(cols) * 0x1.01p-24 * magnitudes[i];
          count.expect(std::abs(got - sums[i]) <= bound, [&] {
            return text(isa, name_of<A>(), rows, cols, "layout", layout, "row", i, "sum", sums[i], "got",
                        got);
          });
        }
    });
  }
}

template <class A, class X> void check_products(tally& count) {
  for (place n = 0; n <= 67; ++n) {
    check_product<A, X>(count, n == 0 ? 2 : n, (n * 7) % 35 + 1);
    check_product<A, X>(count, (n * 5) % 19 + 2, n + 1);
  }
  check_product<A, X>(count, 259, 3);
  check_product<A, X>(count, 3, 259);
}

}  // namespace

TEST_CASE("a matrix times a vector, floating formats", "[kernel][vector]") {
  tally count;
  check_products<fp16, fp16>(count);
  check_products<bf16, bf16>(count);
  check_products<fp8_e4m3fn, fp8_e4m3fn>(count);
  check_products<fp8_e5m2fnuz, bf16>(count);
  check_products<float, fp16>(count);
  check_products<fixed<8, 4>, bf16>(count);
  count.require_at_least(6 * 10'000);
}

TEST_CASE("a matrix times a vector, fixed point, at the ends of the range", "[kernel][vector]") {
  tally count;
  check_products<fixed<8, 4>, fixed<8, 4>>(count);
  check_products<fixed<12, 6>, fixed<12, 6>>(count);
  check_products<fixed<16, 8>, fixed<16, 8>>(count);
  check_products<fixed<20, 8>, fixed<20, 8>>(count);
  count.require_at_least(4 * 10'000);
}

TEST_CASE("a matrix times a vector of more than a piece", "[kernel][vector]") {
  tally count;
  for (const auto& [rows, cols] : {std::pair<place, place>{4100, 9}, {9, 4100}, {1030, 1030}}) {
    check_product<fp16, fp16>(count, rows, cols);
    check_product<bf16, bf16>(count, rows, cols);
    check_product<fp8_e5m2, fp8_e5m2>(count, rows, cols);
    check_product<fixed<8, 4>, fixed<8, 4>>(count, rows, cols);
    check_product<fixed<16, 8>, fixed<16, 8>>(count, rows, cols);
  }
  count.require_at_least(5 * 1000);
}

TEST_CASE("integers at the ends of the range do not wrap, however many", "[kernel][vector]") {
  const auto check = []<class T>(T x, T y, place rows, place cols) {
    const std::vector<T> a(static_cast<std::size_t>(rows * cols), x), b(static_cast<std::size_t>(cols), y);
    const auto magnitude = -std::int64_t{std::numeric_limits<T>::min()};
    for_each_isa([&](const std::string& isa) {
      CAPTURE(isa, rows, cols, int{x}, int{y});
      place wrong = 0;
      for (const bool by_rows : {false, true}) {
        const matrix_view<const T> m{a.data(), rows, cols, by_rows ? cols : 1, by_rows ? 1 : rows};
        kernel::integer_product<T, T>(
            m, {b.data(), cols, 1, 1, 1}, {magnitude, magnitude}, [&](auto, place, place, auto sums) {
              for (place i = 0; i < sums.rows; ++i)
                wrong += static_cast<std::int64_t>(sums(i, 0)) != cols * (std::int64_t{x} * y);
            });
      }
      REQUIRE(wrong == 0);
    });
  };
  constexpr std::int8_t low8 = -128, high8 = 127;
  for (const place cols : {65'793, 65'797, 131'072, 132'100})  // the most that fit, and more
    for (const std::int8_t x : {low8, high8}) {
      check(x, low8, 3, cols);
      check(x, high8, 3, cols);
    }
  constexpr std::int16_t low16 = -32768, high16 = 32767;
  for (const place cols : {1, 2, 3, 254, 255, 256, 257, 511, 512, 513, 2047, 2049, 4097, 40'000})
    for (const std::int16_t x : {low16, high16}) {
      check(x, low16, 5, cols);
      check(x, high16, 5, cols);
    }
  for (const place cols : {500, 1023, 1025, 4096, 20'000})
    check(std::int16_t{2047}, std::int16_t{-2048}, 9, cols);
}

TEST_CASE("dot products at the ends of the range do not wrap, however long", "[kernel][vector]") {
  const auto check = []<class T>(std::type_identity<T>) {
    constexpr T low = std::numeric_limits<T>::lowest(), high = std::numeric_limits<T>::max();
    for (const place n : {1, 2047, 2048, 2049, 4095, 4096, 4097, 300'001})
      for (const T x : {low, high})
        for (const T y : {low, high}) {
          const std::vector<T> a(static_cast<std::size_t>(n), x), b(static_cast<std::size_t>(n), y);
          for_each_isa([&](const std::string& isa) {
            CAPTURE(isa, n, x.bits(), y.bits());
            REQUIRE(static_cast<std::int64_t>(dot(a, b).mantissa()) ==
                    n * (std::int64_t{x.bits()} * y.bits()));
          });
        }
  };
  check(std::type_identity<fixed<8, 4>>{});
  check(std::type_identity<fixed<12, 6>>{});
  check(std::type_identity<fixed<16, 8>>{});
}

TEST_CASE("infinities and NaN in every place of a matrix and of a vector", "[kernel][vector]") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  tally count;
  const auto check = [&]<class T>(std::type_identity<T>) {
    constexpr place rows = 37, cols = 19;
    for_each_isa([&](const std::string& isa) {
      for (place at = 0; at < rows * cols; ++at)
        for (const bool by_rows : {false, true}) {
          std::vector<T> a(rows * cols, T(1));
          const std::vector<T> x(cols, T(2));
          const float special = at % 2 == 0 ? infinity : std::numeric_limits<float>::quiet_NaN();
          a[static_cast<std::size_t>(at)] = T(special);
          const place row = by_rows ? at / cols : at % rows;
          std::vector<float> y(rows);
          gemv(by_rows ? row_major(a, rows, cols) : column_major(a, rows, cols), x, y);
          for (place i = 0; i < rows; ++i) {
            const float got = y[static_cast<std::size_t>(i)];
            const bool right = i != row ? got == 2 * cols : at % 2 == 0 ? got == infinity : std::isnan(got);
            count.expect(right, [&] { return text(isa, name_of<T>(), "at", at, "row", i, "got", got); });
          }
        }
    });
  };
  check(std::type_identity<fp16>{});
  check(std::type_identity<bf16>{});
  check(std::type_identity<fp8_e5m2>{});
  count.require(3 * isa_count() * 37 * 19 * 2 * 37);
}

TEST_CASE("a subnormal of bf16 in every place of a dot product", "[kernel][vector]") {
  for_each_isa([](const std::string& isa) {
    CAPTURE(isa);
    for (const unsigned bits : {1u, 0x7fu, 0x8001u, 0x807fu})
      for (std::size_t n : {1u, 33u, 300u})
        for (std::size_t at = 0; at < n; ++at) {
          std::vector<bf16> a(n, bf16(0)), b(n, bf16(0x1p100f));
          a[at] = bf16::from_bits(static_cast<std::uint16_t>(bits));
          const double product = value(a[at]) * 0x1p100;
          REQUIRE(double{dot(a, b)} == product);
          REQUIRE(double{dot(b, a)} == product);
        }
  });
}

TEST_CASE("sums on every instruction set, whatever the stride", "[kernel][vector]") {
  tally count;
  const auto check = [&]<class T>(std::type_identity<T>) {
    std::mt19937 random(5);
    std::vector<place> lengths{127, 128, 129, 1023, 1025, 4095, 4096, 4097, 9000};
    for (place n = 0; n < 4 * 64 + 4; n += n < 70 ? 1 : 13) lengths.push_back(n);
    for (const place n : lengths) {
      const matrix<T> a(1, n, 0, random);
      std::vector<T> spread(static_cast<std::size_t>(3 * n) + 1);
      double sum = 0, magnitude = 0;
      for (place i = 0; i < n; ++i) {
        spread[static_cast<std::size_t>(3 * i)] = a.view(0, i);
        sum += value(a.view(0, i));
        magnitude += std::abs(value(a.view(0, i)));
      }
      for_each_isa([&](const std::string& isa) {
        const auto got = kernel::sum(a.view.data, 1, n), strided = kernel::sum(spread.data(), 3, n);
        const double bound = narrow_fixed<T> ? 0 : static_cast<double>(n) * 0x1.01p-24 * magnitude;
        count.expect(std::abs(static_cast<double>(got) - sum) <= bound,
                     [&] { return text(isa, name_of<T>(), "length", n, sum, static_cast<double>(got)); });
        count.expect(got == strided, [&] { return text(isa, name_of<T>(), "strided", n); });
      });
    }
  };
  check(std::type_identity<fp16>{});
  check(std::type_identity<bf16>{});
  check(std::type_identity<fp8_e4m3fn>{});
  check(std::type_identity<fp8_e4m3fnuz>{});
  check(std::type_identity<fp4_e2m1>{});
  check(std::type_identity<fixed<8, 4>>{});
  check(std::type_identity<fixed<16, 8>>{});
  check(std::type_identity<fixed<20, 8>>{});
  count.require_at_least(8 * 100);
}

TEST_CASE("the sums of the largest fixed-point numbers, and of the smallest", "[kernel][vector]") {
  const auto check = []<class T>(std::type_identity<T>) {
    for (const T x : {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()}) {
      const std::vector<T> a(100'003, x);
      for_each_isa([&](const std::string& isa) {
        CAPTURE(isa);
        REQUIRE(static_cast<std::int64_t>(sum(a).mantissa()) == 100'003 * std::int64_t{x.bits()});
      });
    }
  };
  check(std::type_identity<fixed<8, 0>>{});
  check(std::type_identity<fixed<16, 0>>{});
  check(std::type_identity<fixed<32, 0>>{});
}

TEST_CASE("stochastic conversions are those of scalars on every instruction set", "[kernel][vector]") {
  tally count;
  const auto check = [&]<class T, class Overflow>(std::type_identity<T>, Overflow) {
    using to = with_policies<T, rounding::stochastic, Overflow>;
    std::mt19937 random(9);
    for (const std::uint64_t offset :
         {std::uint64_t{0}, (std::uint64_t{1} << 32) - 20, std::uint64_t{1} << 40})
      for (std::size_t length = 0; length < 560; length += length < 70 ? 1 : 61)
        for (int kind = 0; kind < 5; ++kind) {
          std::vector<float> from(length + 1);
          for (float& x : from) {
            const auto bits = static_cast<std::uint32_t>(random());
            const float mantissa = static_cast<float>(static_cast<std::int32_t>(bits)) * 0x1p-31f;
            x = kind == 0   ? std::bit_cast<float>(bits)  // NaN and infinity among them
                : kind == 1 ? std::ldexp(mantissa, static_cast<int>(random() % 40) - 30)
                : kind == 2 ? std::ldexp(mantissa, static_cast<int>(random() % 20) - 140)
                : kind == 3
                    ? (bits % 4 == 0 ? 0.0f : std::bit_cast<float>((bits & 0x83ff'ffff) + 0x3c80'0000))
                    : std::ldexp(mantissa, static_cast<int>(random() % 10) + 6);
          }
          const std::span<const float> misaligned(from.data() + 1, length);
          const rounding::stochastic round(17, offset);
          for_each_isa([&](const std::string& isa) {
            std::vector<to> got(length);
            convert(misaligned, got, round);
            for (std::size_t i = 0; i < length; ++i) {
              const auto expected = narrow_cast<to>(misaligned[i], round.at(i));
              count.expect(got[i].bits() == expected.bits(), [&] {
                return text(isa, name_of<T>(), "element", i, misaligned[i], "gave", value(got[i]), "not",
                            value(expected));
              });
            }
          });
        }
  };
  check(std::type_identity<fp16>{}, overflow::ieee{});
  check(std::type_identity<bf16>{}, overflow::ieee{});
  check(std::type_identity<fp8_e4m3fn>{}, overflow::saturate{});
  check(std::type_identity<fp8_e5m2>{}, overflow::ieee{});
  check(std::type_identity<fp8_e5m2fnuz>{}, overflow::ieee{});
  check(std::type_identity<fp4_e2m1>{}, overflow::saturate{});
  check(std::type_identity<floating<8, 10>>{}, overflow::ieee{});
  check(std::type_identity<floating<4, 16>>{}, overflow::saturate{});
  check(std::type_identity<floating<8, 22>>{}, overflow::ieee{});
  check(std::type_identity<fixed<8, 4>>{}, overflow::saturate{});
  check(std::type_identity<fixed<16, 8>>{}, overflow::saturate{});
  check(std::type_identity<fixed<12, 11>>{}, overflow::saturate{});
  check(std::type_identity<fixed<20, 8>>{}, overflow::saturate{});
  check(std::type_identity<fixed<32, 16>>{}, overflow::saturate{});
  check(std::type_identity<fixed<32, 0>>{}, overflow::saturate{});
  check(std::type_identity<fixed<8, 0>>{}, overflow::wrap{});
  count.require_at_least(16 * isa_count() * 3 * 5 * (69 * 70 / 2));
}

TEST_CASE("moments of rows are the same bits on every instruction set and in every storage order",
          "[kernel]") {
  using moments = detail::row_moments;
  tally count;
  std::mt19937 random(21);
  for (const place rows : {1, 2, 7, 8, 9, 16, 33, 64})
    for (const place cols : {1, 3, 4, 5, 64, 131, 300})
      for (const auto of : {moments::of::rows, moments::of::matrix}) {
        // By columns and by rows, one element after the beginning of their memory.
        std::vector<float> columns(static_cast<std::size_t>(rows * cols) + 1), lines(columns.size());
        const matrix_view<float> by_columns{columns.data() + 1, rows, cols, 1, rows},
            by_rows{lines.data() + 1, rows, cols, cols, 1};
        for (place i = 0; i < rows; ++i)
          for (place j = 0; j < cols; ++j) {
            const auto bits = static_cast<std::uint32_t>(random());
            const float near = 1000 + static_cast<float>(static_cast<std::int32_t>(bits)) * 0x1p-24f;
            by_columns(i, j) = by_rows(i, j) = bits % 16 == 0 ? std::bit_cast<float>(bits) : near;
          }
        std::vector<double> expected;
        for_each_isa([&](const std::string& isa) {
          for (const matrix_view<const float> m :
               {matrix_view<const float>(by_columns), matrix_view<const float>(by_rows)}) {
            const moments found(m, of);
            std::vector<float> limits;
            for (std::size_t k = 0; k < found.count(); ++k) limits.push_back(1100);
            std::vector<double> got;
            const auto tails = found.tails(m, limits);
            for (std::size_t k = 0; k < found.count(); ++k)
              for (const double x :
                   {static_cast<double>(found.finite(k)), static_cast<double>(found.nonfinite(k)),
                    double{found.largest(k)}, found.mean(k), found.deviation(k),
                    static_cast<double>(tails[k].far), static_cast<double>(tails[k].beyond)})
                got.push_back(x);
            if (expected.empty()) expected = got;
            count.expect(got == expected, [&] { return text(isa, rows, "x", cols); });
          }
        });
      }
  count.require_at_least(2 * 8 * 7 * 2);
}
