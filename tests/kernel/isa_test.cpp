// The kernels of every instruction set that this processor has, against exact sums and against the portable
// ones.
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
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
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

/// Shapes around the edges of panels, groups and blocks of every kernel.
struct shape {
  place m, n, k;
};
std::vector<shape> shapes() {
  std::vector<shape> result{{130, 70, 300}, {3, 1000, 70}, {1000, 3, 70}, {40, 2100, 129}, {20, 20, 5000}};
  const place depths[] = {63, 64, 65, 66, 67, 255, 1, 2, 3};
  std::size_t depth = 0;
  for (const place m : {2, 5, 6, 7, 12, 13, 14, 15, 29})
    for (const place n : {2, 15, 16, 17, 31, 32, 33, 65})
      result.push_back({m, n, depths[depth++ % std::size(depths)]});
  // Large enough for every kernel, and small enough that factors are read where they lie, in every layout.
  for (const place even_depth : {32, 64}) result.insert(result.end(), 4 * 4 * 2, {66, 65, even_depth});
  return result;
}

/// A matrix in memory of its own, so that a sanitizer sees every read beyond it. Layouts: by rows, by
/// columns, by columns with gaps, every other element of a row.
template <class T> struct matrix {
  matrix_view<T> view;
  std::unique_ptr<T[]> memory;

  matrix(place rows, place cols, unsigned layout) {
    const place gap = layout == 2 ? 3 : 0, step = layout == 3 ? 2 : 1;
    const bool by_rows = layout == 0 || layout == 3;
    const place length = by_rows ? cols : rows, lines = by_rows ? rows : cols, leading = length * step + gap;
    memory = std::make_unique<T[]>(static_cast<std::size_t>(std::max<place>(lines * leading, 1)));
    view = by_rows ? matrix_view<T>{memory.get(), rows, cols, leading, step}
                   : matrix_view<T>{memory.get(), rows, cols, step, leading};
  }
  template <class Next>
  matrix(place rows, place cols, unsigned layout, Next next) : matrix(rows, cols, layout) {
    for (place i = 0; i < rows; ++i)
      for (place j = 0; j < cols; ++j) view(i, j) = next();
  }
};
template <class T> matrix_view<const T> in(const matrix<T>& m) { return m.view; }

template <class T> T random_code(std::mt19937& random) {
  return T::from_bits(static_cast<typename T::bits_type>(random()));
}

/// A finite number of T, of a few magnitudes.
template <class T> T some_number(std::mt19937& random) {
  return T(std::ldexp(static_cast<float>(static_cast<std::int32_t>(random())),
                      -31 - static_cast<int>(random() % 4)));
}

template <class A, class B> void check_floats(tally& count) {
  std::mt19937 random(1);
  unsigned layout = 0;
  for (const shape& size : shapes()) {
    const place m = size.m, n = size.n, k = size.k;
    const matrix<A> a(m, k, layout % 4, [&] { return some_number<A>(random); });
    const matrix<B> b(k, n, layout / 4 % 4, [&] { return some_number<B>(random); });
    struct sum {
      double value = 0, magnitude = 0;
    };
    std::vector<sum> sums;
    for (place i = 0; i < m; ++i)
      for (place j = 0; j < n; ++j) {
        sum& s = sums.emplace_back();
        for (place p = 0; p < k; ++p) {  // products have at most 48 bits
          const double term =
              double{static_cast<float>(a.view(i, p))} * double{static_cast<float>(b.view(p, j))};
          s.value += term;
          s.magnitude += std::abs(term);
        }
      }
    for_each_isa([&](const std::string& isa) {
      matrix<float> c(m, n, layout / 16 % 2, [] { return nan_value; });
      gemm(in(a), in(b), c.view);
      for (place i = 0; i < m; ++i)
        for (place j = 0; j < n; ++j) {
          const sum& s = sums[static_cast<std::size_t>(i * n + j)];
          const float got = c.view(i, j);
          count.expect(std::abs(double{got} - s.value) <= static_cast<double>(k) * 0x1.01p-24 * s.magnitude,
                       [&] { return text(isa, name_of<A>(), "sum", s.value, "got", got); });
        }
    });
    ++layout;
  }
}

/// Every coefficient as the portable kernels give it: fixed point is exact.
template <class T, class C> void check_fixed(tally& count) {
  std::vector<std::vector<C>> expected;
  for_each_isa([&](const std::string& isa) {
    std::mt19937 random(2);
    unsigned layout = 0;
    std::size_t number = 0;
    for (const auto& [m, n, k] : shapes()) {
      // Both ends of the range often, the low end most of all.
      const auto next = [&] {
        const auto kind = random() % 4;
        if (kind == 0) return random_code<T>(random);
        return kind == 1 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
      };
      const matrix<T> a(m, k, layout % 4, next), b(k, n, layout / 4 % 4, next);
      std::vector<C> c(static_cast<std::size_t>(m * n));
      const auto view = layout / 16 % 2 == 0 ? row_major(c, m, n) : column_major(c, m, n);
      ++layout;
      for (const double alpha : {0.5, 1.0}) {
        seed(number);  // of a stochastic policy
        gemm(in(a), in(b), view, alpha);
        if (isa == "portable") expected.push_back(c);
        for (std::size_t e = 0; e < c.size(); ++e)
          count.expect(c[e] == expected[number][e], [&] {
            return text(isa, name_of<T>(), static_cast<double>(c[e]), "at", e, "alpha", alpha);
          });
        ++number;
      }
    }
  });
}

}  // namespace

TEST_CASE("instruction sets have names, and an order", "[kernel][isa]") {
  REQUIRE(kernel::dispatch::name_of(0) == "portable");
  std::string names;
  for_each_isa([&](const std::string& name) { names += ' ' + name; });
  std::cout << "instruction sets of this processor:" << names << '\n';
  REQUIRE(names.starts_with(" portable"));
  if (const char* wanted = std::getenv("NARROW_ISA"); wanted != nullptr && *wanted != '\0')
    REQUIRE(isa_name() == wanted);
}

TEST_CASE("an instruction set that is none is refused", "[kernel][isa]") {
  const std::string before(isa_name());
  for (const char* name : {"avx3", "", "AVX2"})
    REQUIRE_THROWS_WITH(use_isa(name), Catch::Contains("narrow::use_isa") &&
                                           Catch::Contains("one of portable") &&
                                           Catch::Contains('"' + std::string(name) + '"'));
  REQUIRE(isa_name() == before);
}

TEST_CASE("products of floating formats on every instruction set", "[kernel][isa]") {
  tally count;
  check_floats<fp16, fp16>(count);
  check_floats<bf16, bf16>(count);
  check_floats<fp8_e4m3fn, fp8_e4m3fn>(count);
  check_floats<fp8_e5m2, fp8_e4m3fn>(count);
  check_floats<fp4_e2m1, bf16>(count);
  check_floats<float, fp16>(count);
  count.require_at_least(6 * 100'000);
}

TEST_CASE("every number of 8 and of 16 bits takes part in products as what it is", "[kernel][isa]") {
  tally count;
  const auto check = [&]<class T>(std::type_identity<T>) {
    constexpr place n = sizeof(T) == 1 ? 16 : 256;
    std::vector<T> all(n * n, T(0)), identity(n * n, T(0));
    for (std::size_t code = 0; code < all.size(); ++code) {
      const T x = T::from_bits(static_cast<typename T::bits_type>(code));
      if (isfinite(x)) all[code] = x;
    }
    for (std::size_t i = 0; i < n; ++i) identity[i * n + i] = T(1);
    std::vector<float> c(n * n, nan_value);
    gemm(row_major(all, n, n), row_major(identity, n, n), row_major(c, n, n));
    for (std::size_t code = 0; code < all.size(); ++code)
      count.expect(c[code] == static_cast<float>(all[code]),
                   [&] { return text(name_of<T>(), "code", code, "gave", c[code]); });
  };
  for_each_isa([&](const std::string& isa) {
    CAPTURE(isa);
    check(std::type_identity<fp8_e4m3fn>{});
    check(std::type_identity<fp8_e5m2>{});
    check(std::type_identity<fp8_e3m4>{});
    check(std::type_identity<fp16>{});
    check(std::type_identity<bf16>{});
    check(std::type_identity<floating<6, 9>>{});
  });
  count.require(isa_count() * 3 * (256 + 65536));
}

TEST_CASE("products of fixed point on every instruction set, at the ends of the range", "[kernel][isa]") {
  tally count;
  check_fixed<fixed<8, 4>, fixed<8, 4>>(count);
  check_fixed<fixed<8, 4>, fixed<32, 8>>(count);
  check_fixed<fixed<12, 6>, fixed<32, 12>>(count);
  check_fixed<fixed<16, 8>, fixed<32, 0>>(count);
  check_fixed<fixed<20, 8>, fixed<32, 0>>(count);
  count.require_at_least(5 * 100'000);
}

TEST_CASE("the same, rounded stochastically", "[kernel][isa][long]") {
  tally count;
  check_fixed<fixed<8, 4>, fixed<8, 4, rounding::stochastic>>(count);
  check_fixed<fixed<8, 4>, fixed<16, 2, rounding::stochastic>>(count);
  check_fixed<fixed<12, 6>, fixed<8, 0, rounding::stochastic>>(count);
  check_fixed<fixed<16, 8>, fixed<16, 8, rounding::stochastic>>(count);
  count.require_at_least(4 * 100'000);
}

TEST_CASE("what there is takes part in products of floating formats", "[kernel][isa]") {
  tally count;
  const auto check = [&]<class T>(std::type_identity<T>) {
    for_each_isa([&](const std::string& isa) {
      std::mt19937 random(9);
      unsigned layout = 0;
      for (const auto& [m, n, k] : shapes()) {
        const auto next = [&] { return some_number<T>(random); };
        const matrix<T> a(m, k, 0, next), b(k, n, 1, next);
        matrix<T> c(m, n, layout++ % 4, [&] { return random() % 8 == 0 ? random_code<T>(random) : next(); });
        const matrix<float> sums(m, n, 0);
        gemm(in(a), in(b), sums.view);
        const float alpha = -0.3f, beta = layout % 3 == 0 ? 0.0f : 1.7f;
        std::vector<T> expected;
        for (place i = 0; i < m; ++i)
          for (place j = 0; j < n; ++j) {
            const volatile float scaled = alpha * sums.view(i, j);
            const volatile float old = beta == 0 ? 0 : beta * static_cast<float>(c.view(i, j));
            expected.push_back(narrow_cast<T>(beta == 0 ? scaled : old + scaled));
          }
        gemm(in(a), in(b), c.view, double{alpha}, double{beta});
        for (place i = 0; i < m; ++i)
          for (place j = 0; j < n; ++j) {
            const T want = expected[static_cast<std::size_t>(i * n + j)], got = c.view(i, j);
            count.expect(got.bits() == want.bits() || (got != got && want != want),
                         [&] { return text(isa, name_of<T>(), got, "is not", want, "beta", beta); });
          }
      }
    });
  };
  check(std::type_identity<fp16>{});
  check(std::type_identity<bf16>{});
  check(std::type_identity<fp8_e4m3fn>{});
  count.require_at_least(3 * 100'000);
}

TEST_CASE("infinities and NaN in every place of a panel", "[kernel][isa]") {
  tally count;
  const auto check = [&]<class T>(std::type_identity<T>) {
    for_each_isa([&](const std::string& isa) {
      // Every place of a panel, and some of a product that is large enough for all kernels.
      for (const auto& [m, n, k, step] : {std::array<place, 4>{15, 33, 10, 1}, {64, 65, 70, 97}})
        for (place at = 0; at < m * k; at += step) {
          matrix<T> a(m, k, 0, [] { return T(1); });
          const matrix<T> b(k, n, 1, [] { return T(1); });
          const float special = at % 2 == 0 ? infinity : nan_value;
          a.view(at / k, at % k) = T(special);
          std::vector<float> c(static_cast<std::size_t>(m * n)), turned(c.size());
          gemm(in(a), in(b), row_major(c, m, n));
          gemm(b.view.transposed(), a.view.transposed(), row_major(turned, n, m));
          for (place e = 0; e < m * n; ++e)
            for (const float got :
                 {c[static_cast<std::size_t>(e)], turned[static_cast<std::size_t>(e % n * m + e / n)]}) {
              const bool right = e / n != at / k ? got == static_cast<float>(k)
                                 : at % 2 == 0   ? got == infinity
                                                 : std::isnan(got);
              count.expect(right, [&] { return text(isa, name_of<T>(), "at", at, "got", got); });
            }
        }
    });
  };
  check(std::type_identity<fp16>{});
  check(std::type_identity<bf16>{});
  check(std::type_identity<fp8_e5m2>{});
  count.require(3 * isa_count() * 2 * (15 * 10 * 15 * 33 + (64 * 70 + 96) / 97 * 64 * 65));
}

TEST_CASE("subnormals take part in products, beside large numbers, too", "[kernel][isa]") {
  constexpr place k = 1100;
  const auto check_shape = []<class T>(place m, place n, T small, T large, double product) {
    std::vector<T> a(static_cast<std::size_t>(m * k), small), b(static_cast<std::size_t>(k * n), T(0));
    for (place p = 0; p < k; p += 100)  // not all terms, so that float sums are exact
      for (place j = 0; j < n; ++j) b[static_cast<std::size_t>(p * n + j)] = large;
    std::vector<float> c(static_cast<std::size_t>(m * n), nan_value);
    gemm(row_major(a, m, k), row_major(b, k, n), row_major(c, m, n));
    for (const float x : c) REQUIRE(double{x} == 11 * product);
    std::vector<T> line(k, T(0));
    for (std::size_t p = 0; p < line.size(); p += 100) line[p] = large;
    REQUIRE(double{dot(std::span(a).first(k), line)} == 11 * product);
    REQUIRE(double{dot(line, std::span(a).first(k))} == 11 * product);
  };
  const auto check = [&](auto small, auto large, double product) {
    check_shape(16, 32, small, large, product);
    check_shape(64, 64, small, large, product);  // large enough for all kernels
  };
  for_each_isa([&](const std::string& isa) {
    CAPTURE(isa);
    check(fp16::from_bits(1), fp16(1024), 0x1p-14);
    check(bf16::from_bits(1), bf16(0x1p120f), 0x1p-13);
    check(bf16::from_bits(0x80'7f), bf16(0x1p100f), -0x1p100 * 127 * 0x1p-133);
    check(fp8_e5m2::from_bits(3), fp8_e5m2(4), 3 * 0x1p-14);
  });
}

TEST_CASE("a subnormal of bf16 in every place of a factor", "[kernel][isa]") {
  tally count;
  for_each_isa([&](const std::string& isa) {
    for (const auto& [m, n, k, step] : {std::array<place, 4>{15, 33, 10, 1}, {64, 65, 70, 31}}) {
      matrix<bf16> a(m, k, 0, [] { return bf16(0); });
      const matrix<bf16> b(k, n, 1, [] { return bf16(0x1p100f); });
      std::vector<float> c(static_cast<std::size_t>(m * n)), turned(c.size());
      for (place at = 0; at < m * k; at += step) {
        bf16& number = a.view(at / k, at % k);
        number = bf16::from_bits(static_cast<std::uint16_t>(at % 0x7f + 1));
        const double product = static_cast<double>(number) * 0x1p100;
        gemm(in(a), in(b), row_major(c, m, n));
        gemm(b.view.transposed(), a.view.transposed(), row_major(turned, n, m));
        for (place j = 0; j < n; ++j)
          for (const float got : {c[static_cast<std::size_t>(at / k * n + j)],
                                  turned[static_cast<std::size_t>(j * m + at / k)]})
            count.expect(double{got} == product, [&] { return text(isa, "at", at, "got", got); });
        number = bf16(0);
      }
    }
  });
  count.require(2 * isa_count() * (15 * 10 * 33 + (64 * 70 + 30) / 31 * 65));
}

TEST_CASE("deep products of integers", "[kernel][isa]") {
  for_each_isa([](const std::string& isa) {
    CAPTURE(isa);
    const auto check = []<class T>(T x, T y) {
      constexpr place k = 300'001;
      const std::vector<T> a(k, x), b(2 * k, y);
      const auto product = [&](place n) {
        kernel::integer_product<T, T>(
            {a.data(), 1, k, k, 1}, {b.data(), k, n, 1, k},
            {-std::int64_t{std::numeric_limits<T>::min()}, -std::int64_t{std::numeric_limits<T>::min()}},
            [&](auto, place, place, auto sums) {
              for (place j = 0; j < sums.cols; ++j)
                REQUIRE(static_cast<std::int64_t>(sums(0, j)) == k * (std::int64_t{x} * y));
            });
      };
      product(1);
      product(2);
    };
    check(std::int8_t{-128}, std::int8_t{-128});
    check(std::int8_t{127}, std::int8_t{125});
    check(std::int16_t{-32768}, std::int16_t{-32768});
    check(std::int16_t{-32768}, std::int16_t{32767});
    check(std::int16_t{1001}, std::int16_t{2047});
  });
}

namespace {

/// A policy of a user's own that tells elements apart.
struct every_other_up {
  std::uint64_t element = 0;
  every_other_up at(std::uint64_t index) const { return {index}; }
  bool away(rounding::tail t) const { return t.inexact() && element % 2 == 0; }
  static bool overflows_to_infinity(sign) { return false; }
};

}  // namespace

TEST_CASE("a rounding policy of a user's own reaches every element", "[kernel][isa]") {
  for_each_isa([](const std::string& isa) {
    CAPTURE(isa);
    const std::vector<float> values(40, 100.5f);
    const auto t = quantize<bfp<8>>(values, 5, 8, every_other_up{});
    for (place e = 0; e < 40; ++e)
      REQUIRE(t.mantissas()[static_cast<std::size_t>(e)] == (e % 2 == 0 ? 101 : 100));
  });
}

TEST_CASE("quantised lines are the same bits on every instruction set", "[kernel][isa]") {
  tally count;
  const auto check = [&]<class F>(std::type_identity<F>) {
    std::vector<std::vector<typename F::element_type>> expected;
    for_each_isa([&](const std::string& isa) {
      std::mt19937 random(3);
      seed(4);
      std::size_t number = 0;
      for (place length = 0; length <= 67; ++length)
        for (int kind = 0; kind < 4; ++kind) {
          std::vector<float> values(static_cast<std::size_t>(length) + 1);  // misaligned by one
          for (float& x : values) {
            const auto bits = static_cast<std::uint32_t>(random());
            x = kind == 0   ? std::bit_cast<float>(bits)  // NaN and infinity among them
                : kind == 1 ? static_cast<float>(static_cast<std::int32_t>(bits % 4001) - 2000) / 8
                : kind == 2 ? std::bit_cast<float>(bits & 0x807f'ffff)
                            : std::ldexp(static_cast<float>(static_cast<std::int32_t>(bits)), -31);
          }
          const auto t = quantize<F>(std::span(values).subspan(1), 1, length);
          const std::vector<typename F::element_type> got(t.mantissas().begin(), t.mantissas().end());
          if (isa == "portable") expected.push_back(got);
          count.expect(got == expected[number++],
                       [&] { return text(isa, name_of<F>(), "length", length, kind); });
        }
    });
  };
  check(std::type_identity<bfp<8>>{});
  check(std::type_identity<bfp<4, per_tensor, rounding::stochastic>>{});
  check(std::type_identity<bfp<16, per_tensor, rounding::stochastic>>{});
  check(std::type_identity<bfp<12, per_tensor, rounding::toward_zero, exponent::min<>>>{});
  check(std::type_identity<bfp<10, per_tensor, rounding::stochastic, exponent::min<>>>{});
  check(std::type_identity<int8>{});
  check(std::type_identity<basic_int8<per_tensor, rounding::stochastic>>{});
  count.require(7 * isa_count() * 68 * 4);
}

TEST_CASE("scales of rows and columns are the same bits on every instruction set", "[kernel][isa]") {
  tally count;
  const auto check = [&]<class F>(std::type_identity<F>) {
    std::vector<block_tensor<F>> expected;
    std::vector<std::vector<float>> read;
    for_each_isa([&](const std::string& isa) {
      std::mt19937 random(5);
      seed(6);
      std::size_t number = 0;
      for (const auto& size : {std::pair<place, place>{1, 70}, {70, 1}, {37, 5}, {5, 37}, {66, 33}})
        for (const auto order : {storage_order::row_major, storage_order::column_major})
          for (int kind = 0; kind < 3; ++kind) {
            const place rows = size.first, cols = size.second;
            std::vector<float> values(static_cast<std::size_t>(rows * cols)), back(values.size());
            for (float& x : values) {
              const auto bits = static_cast<std::uint32_t>(random());
              x = kind == 0   ? std::bit_cast<float>(bits)                // NaN and infinity among them
                  : kind == 1 ? std::bit_cast<float>(bits & 0x81ff'ffff)  // the smallest
                              : std::ldexp(static_cast<float>(static_cast<std::int32_t>(bits)),
                                           -31 - static_cast<int>(bits % 8));
            }
            block_tensor<F> t(0, 0, order);
            t.assign(order == storage_order::row_major ? row_major(values, rows, cols)
                                                       : column_major(values, rows, cols));
            dequantize(t, back);
            if (isa == "portable") {
              expected.push_back(t);
              read.push_back(back);
            }
            const auto same = [](const auto& x, const auto& y) {
              return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof x[0]) == 0;
            };
            const auto same_number = [](float x, float y) { return x == y || (x != x && y != y); };
            const auto& before = expected[number];
            count.expect(same(t.mantissas(), before.mantissas()) && same(t.scales(), before.scales()) &&
                             t.nonfinite() == before.nonfinite() &&
                             std::ranges::equal(back, read[number], same_number),
                         [&] { return text(isa, name_of<F>(), rows, "x", cols, "kind", kind); });
            ++number;
          }
    });
  };
  check(std::type_identity<bfp<8, per_row>>{});
  check(std::type_identity<bfp<12, per_column>>{});
  check(std::type_identity<bfp<8, per_column, rounding::stochastic>>{});
  check(std::type_identity<bfp<16, per_row, rounding::toward_zero>>{});
  check(std::type_identity<basic_int8<per_row>>{});
  check(std::type_identity<basic_int8<per_column, rounding::stochastic>>{});
  check(std::type_identity<bfp<8, tile<1, 3>, rounding::stochastic>>{});
  check(std::type_identity<bfp<8, tile<20, 1>>>{});
  check(std::type_identity<mx<int8>>{});
  check(std::type_identity<mx<fp8_e4m3fn>>{});
  count.require(10 * isa_count() * 5 * 2 * 3);
}

TEST_CASE("dot products on every instruction set, whatever the stride", "[kernel][isa]") {
  tally count;
  const auto floats = [&]<class T>(std::type_identity<T>) {
    for_each_isa([&](const std::string& isa) {
      std::mt19937 random(6);
      for (const place n :
           {1, 2, 7, 8, 15, 16, 17, 31, 33, 127, 128, 129, 255, 300, 1023, 1024, 1025, 5000}) {
        const matrix<T> a(1, n, 0, [&] { return some_number<T>(random); });
        const matrix<T> b(n, 1, 1, [&] { return some_number<T>(random); });
        matrix<T> spread(n, 1, 0), turned(1, n, 3);
        double sum = 0, magnitude = 0;
        for (place p = 0; p < n; ++p) {
          spread.view(p, 0) = b.view(p, 0);
          turned.view(0, p) = a.view(0, p);
          const double term =
              double{static_cast<float>(a.view(0, p))} * double{static_cast<float>(b.view(p, 0))};
          sum += term;
          magnitude += std::abs(term);
        }
        const auto length = static_cast<std::size_t>(n);
        const float got = dot(std::span(a.view.data, length), std::span(b.view.data, length));
        count.expect(std::abs(double{got} - sum) <= static_cast<double>(n) * 0x1.01p-24 * magnitude,
                     [&] { return text(isa, name_of<T>(), "length", n, "sum", sum, "got", got); });
        float strided = 0;
        gemm(in(turned), in(spread), matrix_view<float>{&strided, 1, 1, 1, 1});
        count.expect(std::bit_cast<std::uint32_t>(strided) == std::bit_cast<std::uint32_t>(got),
                     [&] { return text(isa, name_of<T>(), "length", n, strided, "against", got); });
      }
    });
  };
  floats(std::type_identity<fp16>{});
  floats(std::type_identity<bf16>{});
  floats(std::type_identity<fp8_e4m3fn>{});
  floats(std::type_identity<fp8_e5m2fnuz>{});
  const auto fixed_point = [&]<class T>(std::type_identity<T>) {
    for_each_isa([&](const std::string& isa) {
      std::mt19937 random(7);
      for (const place n : {1, 31, 33, 1023, 1025, 5000, 300'000}) {
        std::vector<T> a(static_cast<std::size_t>(n)), b = a;
        std::int64_t sum = 0;
        for (std::size_t p = 0; p < a.size(); ++p) {
          a[p] = random() % 2 == 0 ? random_code<T>(random) : std::numeric_limits<T>::lowest();
          b[p] = random() % 4 == 0 ? random_code<T>(random) : std::numeric_limits<T>::lowest();
          sum += std::int64_t{a[p].bits()} * b[p].bits();
        }
        count.expect(static_cast<std::int64_t>(dot(a, b).mantissa()) == sum,
                     [&] { return text(isa, name_of<T>(), "length", n); });
      }
    });
  };
  fixed_point(std::type_identity<fixed<8, 4>>{});
  fixed_point(std::type_identity<fixed<12, 6>>{});
  fixed_point(std::type_identity<fixed<16, 8>>{});
  count.require(isa_count() * (4 * 18 * 2 + 3 * 7));
}

TEST_CASE("conversions are the same bits on every instruction set", "[kernel][isa]") {
  tally count;
  for_each_type<all_formats>([&]<class T>() {
    std::vector<std::vector<T>> narrow_before;
    std::vector<std::vector<float>> wide_before;
    for_each_isa([&](const std::string& isa) {
      std::mt19937 random(8);
      std::size_t number = 0;
      for (std::size_t length = 0; length < 70; ++length)
        for (int kind = 0; kind < 4; ++kind) {
          std::vector<float> wide(length), back(length);
          std::vector<T> narrowed(length), codes(length);
          for (float& x : wide) {
            const auto bits = static_cast<std::uint32_t>(random());
            x = kind == 0   ? std::bit_cast<float>(bits)                  // NaN and infinity among them
                : kind == 1 ? static_cast<float>(random_code<T>(random))  // and codes
                : kind == 2 ? std::ldexp(static_cast<float>(static_cast<std::int32_t>(bits % 257) - 128),
                                         static_cast<int>(bits >> 8 & 31) - 24)  // ties, subnormals, overflow
                            : std::bit_cast<float>(bits & 0x807f'ffff);
          }
          for (T& x : codes) x = random_code<T>(random);
          convert(wide, narrowed);
          convert(codes, back);
          if (isa == "portable") {
            narrow_before.push_back(narrowed);
            wide_before.push_back(back);
          }
          for (std::size_t i = 0; i < length; ++i) {
            count.expect(narrowed[i].bits() == narrow_before[number][i].bits(), [&] {
              return text(isa, name_of<T>(), wide[i], "gave", std::uint32_t{narrowed[i].bits()});
            });
            count.expect(
                std::bit_cast<std::uint32_t>(back[i]) == std::bit_cast<std::uint32_t>(wide_before[number][i]),
                [&] { return text(isa, name_of<T>(), "code", std::uint32_t{codes[i].bits()}, back[i]); });
          }
          ++number;
        }
    });
  });
  count.require(std::tuple_size_v<all_formats> * isa_count() * 4 * 2 * (69 * 70 / 2));
}
