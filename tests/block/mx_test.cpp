// OCP MX blocks: facts of the formats, blocks worked out by hand, and every element found by search among all
// that the format has.
#include "block_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

using mx_elements = std::tuple<fp8_e5m2, fp8_e4m3fn, fp6_e3m2, fp6_e2m3, fp4_e2m1, int8>;

/// The largest element and its exponent, from the specification's table of element formats.
template <class Element> struct facts;
template <> struct facts<fp8_e5m2> {
  static constexpr int exponent = 15;
  static constexpr float largest = 57344;
};
template <> struct facts<fp8_e4m3fn> {
  static constexpr int exponent = 8;
  static constexpr float largest = 448;
};
template <> struct facts<fp6_e3m2> {
  static constexpr int exponent = 4;
  static constexpr float largest = 28;
};
template <> struct facts<fp6_e2m3> {
  static constexpr int exponent = 2;
  static constexpr float largest = 7.5;
};
template <> struct facts<fp4_e2m1> {
  static constexpr int exponent = 2;
  static constexpr float largest = 6;
};
template <> struct facts<int8> {
  static constexpr int exponent = 0;
  static constexpr float largest = 1 + 63.0f / 64;
};

template <class Element> float element_value(const block_tensor<mx<Element>>& t, place i, place j) {
  return static_cast<float>(t.view().elements(i, j));
}

/// Every magnitude that an element can be, and whether its last bit is 0.
template <class Element> std::vector<std::pair<mpq_class, bool>> magnitudes() {
  using stored = typename mx<Element>::element_type;
  std::vector<std::pair<mpq_class, bool>> result;
  for (int code = 0; code < 256; ++code) {
    const auto x = static_cast<float>(stored::from_bits(static_cast<typename stored::bits_type>(code)));
    if (is_finite(x) && std::signbit(x) == 0) result.emplace_back(rational(x), code % 2 == 0);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// The nearest of them; of two, the even one.
mpq_class nearest_magnitude(const std::vector<std::pair<mpq_class, bool>>& all, const mpq_class& x) {
  const auto* best = &all.front();
  for (const auto& candidate : all) {
    const mpq_class better = abs(best->first - x) - abs(candidate.first - x);
    if (better > 0 || (better == 0 && candidate.second)) best = &candidate;
  }
  return best->first;
}

/// The exponent of the scale of a block of finite numbers.
int scale_exponent(const std::vector<float>& block, int largest_element) {
  mpq_class largest = 0;
  for (const float x : block) largest = std::max(largest, mpq_class(abs(rational(x))));
  if (largest == 0) return -127;
  int exponent = 127;
  while (largest < power(exponent)) --exponent;
  return std::clamp(exponent - largest_element, -127, 127);
}

/// 32 numbers, of which the first ones are given and the rest are 0, in one block.
template <class Element> block_tensor<mx<Element>> block_of(std::vector<float> first) {
  first.resize(32);
  return quantize<mx<Element>>(first, 1, 32);
}

}  // namespace

TEST_CASE("E8M0 is a power of two or NaN", "[mx]") {
  tally count;
  for (int code = 0; code < 255; ++code) {
    const auto scale = e8m0::from_bits(static_cast<std::uint8_t>(code));
    const float value = scale;
    count.expect(rational(value) == power(code - 127) && e8m0(value) == scale && scale.bits() == code,
                 [&] { return text("code", code, value); });
  }
  count.expect(is_nan(e8m0::from_bits(255)) && e8m0(nan_value).bits() == 255, [] { return text("NaN"); });
  count.require(256);
  STATIC_REQUIRE(sizeof(e8m0) == 1);
}

TEST_CASE("MX elements have the specification's largest magnitudes", "[mx]") {
  for_each_type<mx_elements>([]<class Element>() {
    CAPTURE(name_of<Element>());
    CHECK(mx<Element>::limit == facts<Element>::largest);
    CHECK(mx<Element>::step::largest_element == facts<Element>::exponent);
    CHECK(sizeof(typename mx<Element>::element_type) == 1);
  });
}

TEST_CASE("MX blocks worked out by hand", "[mx]") {
  // The scale is 2^(floor(log2(largest)) - exponent of the largest element), as a code with the bias 127; an
  // element is value / scale.
  struct line {
    std::vector<float> values, elements;
    int scale;
  };
  const auto check = []<class Element>(std::type_identity<Element>, const std::vector<line>& table) {
    for (const auto& [values, elements, scale] : table) {
      const auto t = block_of<Element>(values);
      CAPTURE(name_of<Element>(), values);
      CHECK(t.scales().size() == 1);
      CHECK(int{t.scales()[0].bits()} == scale);
      for (std::size_t i = 0; i < elements.size(); ++i) {
        CAPTURE(i);
        CHECK(element_value(t, 0, static_cast<place>(i)) == elements[i]);
      }
    }
  };
  check(std::type_identity<fp8_e4m3fn>{},
        {{{448, 1, -3}, {448, 1, -3}, 127},
         {{511, 17, 0.001f}, {448, 16, 0x1p-9f}, 127},  // beyond the largest element: saturated; 17 is a tie
         {{512, 1}, {256, 0.5}, 128},                   // a power of two takes the next scale
         {{0x1p-149f, 0}, {0x1p-22f * 0, 0}, 0},        // 2^-149 / 2^-127 = 2^-22, less than half of 2^-9
         {{0x1p-119f, 0x1p-128f}, {256, 0.5}, 0},       // -119 - 8 = -127: the smallest scale
         {{0x1.fffffep127f, 0x1p118f}, {448, 0.5}, 127 + 119},  // the largest float
         {{-2, 1.1f}, {-256, 144}, 120}});                      // 1.1 * 2^7 = 140.8: 136, 144 in steps of 16
  check(std::type_identity<fp8_e5m2>{}, {{{57344, 1}, {57344, 1}, 127},
                                         {{65535, 0x1p-16f}, {57344, 0x1p-16f}, 127},
                                         {{1, 0.6f}, {32768, 20480}, 127 - 15},
                                         {{0x1p-120f, 0}, {128, 0}, 0}});
  check(std::type_identity<fp6_e3m2>{}, {{{31, -28, 0.0625f}, {28, -28, 0.0625f}, 127}, {{32}, {16}, 128}});
  check(std::type_identity<fp6_e2m3>{}, {{{7.5, 7.9f, 0.0625f}, {7.5, 7.5, 0}, 127}, {{0.3f}, {5}, 123}});
  check(std::type_identity<fp4_e2m1>{},
        {{{6, 5, 3.5, 2.5, 1.75, 0.75, 0.25, -7.9f}, {6, 4, 4, 2, 2, 1, 0, -6}, 127},
         {{0.011f, 0.02f}, {3, 6}, 119},  // in units of 2^-8: 2.8, 5.12
         {{0x1.8p127f}, {6}, 127 + 125}});
  check(std::type_identity<int8>{}, {{{1, -1, 0.0078125f, 0.0234375f}, {1, -1, 0, 0.03125f}, 127},
                                     {{1.999f, -1.999f}, {1.984375f, -1.984375f}, 127},  // never -128
                                     {{100, 0.5}, {1.5625, 0}, 127 + 6}});
}

TEST_CASE("MX blocks of zeros, NaNs and infinities", "[mx]") {
  for_each_type<mx_elements>([]<class Element>() {
    CAPTURE(name_of<Element>());
    const auto zero = block_of<Element>({0, -0.0f});
    CHECK(zero.scales()[0].bits() == 0);
    CHECK(zero(0, 0) == 0);
    CHECK(zero.nonfinite() == 0);
    for (const float special : {nan_value, -nan_value, infinity, -infinity}) {
      std::vector<float> two(64, 1.0f);
      two[3] = special;
      const auto t = quantize<mx<Element>>(two, 1, 64);
      CHECK(t.scales()[0].bits() == 255);
      CHECK(t.scales()[1].bits() == 127 - facts<Element>::exponent);
      int nans = 0;
      for (place j = 0; j < 64; ++j) nans += is_nan(t(0, j)) ? 1 : 0;
      CHECK(nans == 32);
      CHECK(t(0, 40) == 1);
      CHECK(t.nonfinite() == 1);
      std::vector<float> c(1);
      gemm(t, transposed(quantize<mx<Element>>(std::vector<float>(64, 1.0f), 1, 64)), row_major(c, 1, 1));
      CHECK(is_nan(c[0]));
    }
  });
}

TEST_CASE("MX scales and elements of all kinds of values", "[mx]") {
  tally count;
  for_each_type<mx_elements>([&]<class Element>() {
    const auto all = magnitudes<Element>();
    generator random(2024);
    for (int number = 0; number < 3 * kinds_of_values; ++number)
      for (const extent size : {extent{2, 40}, {3, 32}, {1, 5}, {2, 65}}) {
        const auto values =
            values_of_kind(number % kinds_of_values, static_cast<std::size_t>(size.rows * size.cols), random);
        const auto columns = in_columns(values, size);
        for (const auto& t : {quantize<mx<Element>>(values, size.rows, size.cols),
                              quantize<mx<Element>>(column_major(columns, size.rows, size.cols))})
          for (place i = 0; i < size.rows; ++i)
            for (place first = 0; first < size.cols; first += 32) {
              const auto begin = values.begin() + i * size.cols + first;
              const std::vector<float> block(begin, begin + std::min<place>(32, size.cols - first));
              const double stored = t.view().scale(i, first);
              const auto describe = [&] { return text(name_of<Element>(), "scale", stored, "of", block[0]); };
              if (!std::ranges::all_of(block, is_finite)) {
                count.expect(is_nan(static_cast<float>(stored)), describe);
                continue;
              }
              const mpq_class scale = power(scale_exponent(block, facts<Element>::exponent));
              count.expect(mpq_class(stored) == scale, describe);
              for (std::size_t k = 0; k < block.size(); ++k) {
                const place j = first + static_cast<place>(k);
                const mpq_class exact = rational(block[k]) / scale;
                const mpq_class expected = nearest_magnitude(all, abs(exact)) * (sgn(exact) < 0 ? -1 : 1);
                const float element = element_value(t, i, j);
                const mpq_class value = expected * scale;
                count.expect(rational(element) == expected && rational(t(i, j)) == value, [&] {
                  return text(name_of<Element>(), "value", block[k], "scale", stored, "element", element);
                });
              }
            }
      }
  });
  count.require_at_least(100'000);
}

TEST_CASE("MX blocks quantised again do not change", "[mx]") {
  tally count;
  for_each_type<mx_elements>([&]<class Element>() {
    generator random(7);
    for (int number = 0; number < 20 * kinds_of_values; ++number) {
      if (number % kinds_of_values == 7) continue;  // NaNs
      const auto once =
          dequantized(quantize<mx<Element>>(values_of_kind(number % kinds_of_values, 80, random), 2, 40));
      const auto twice = dequantized(quantize<mx<Element>>(once, 2, 40));
      count.expect(std::memcmp(once.data(), twice.data(), sizeof(float) * once.size()) == 0,
                   [&] { return text(name_of<Element>(), number); });
    }
  });
  count.require(6 * 20 * (kinds_of_values - 1));
}

TEST_CASE("MX products add 32 products at a time, and blocks in float", "[mx]") {
  tally count;
  for_each_type<mx_elements>([&]<class Element>() {
    generator random(5);
    for (const place k : {1, 31, 32, 33, 100, 320}) {
      const place m = 3, n = 4;
      const auto a = numbers_around(0, m * k, random), b = numbers_around(2, k * n, random);
      const auto left = quantize<mx<Element>>(a, m, k);
      const auto right = quantize<mx<Element>>(in_columns(b, {k, n}), n, k);  // the transpose
      std::vector<float> c(static_cast<std::size_t>(m * n), nan_value), mixed = c, other = c;
      gemm(left, transposed(right), row_major(c, m, n));
      gemm(left, row_major(b, k, n), row_major(mixed, m, n));
      gemm(row_major(a, m, k), transposed(right), row_major(other, m, n));
      for (place i = 0; i < m; ++i)
        for (place j = 0; j < n; ++j) {
          mpq_class exact = 0, magnitude = 0;
          for (place l = 0; l < k; ++l) {
            const mpq_class term = rational(left(i, l)) * rational(right(j, l));
            exact += term;
            magnitude += abs(term);
          }
          const auto at = static_cast<std::size_t>(i * n + j);
          const mpq_class bound = magnitude * static_cast<unsigned long>(k + 3) * power(-24);
          count.expect(abs(rational(c[at]) - exact) <= bound && mixed[at] == c[at] && other[at] == c[at],
                       [&] { return text(name_of<Element>(), static_cast<std::uint64_t>(k), c[at]); });
        }
    }
  });
  count.require(6 * 6 * 3 * 4);
}

TEST_CASE("MX products of integers are exact within a block", "[mx]") {
  // 32 * 127 * 127 in units of 2^-12 has 19 bits.
  const std::vector<float> extreme(32, -127.0f / 64);
  const auto t = quantize<mx<int8>>(extreme, 1, 32);
  std::vector<float> c(1);
  gemm(t, transposed(t), row_major(c, 1, 1));
  CHECK(c[0] == 32 * 127 * 127 / 4096.0f);
}

TEST_CASE("parts of MX tensors are written into their scales", "[mx]") {
  using F = mx<fp8_e4m3fn>;
  auto t = quantize<F>(std::vector<float>(64, 1.0f), 1, 64);  // scale 2^-8
  const auto write = [&](place col, float x) {
    t.write(0, col, row_major(std::span<const float>(&x, 1), 1, 1));
  };
  write(5, 1.5f);
  CHECK(t.scales()[0].bits() == 127 - 8);
  write(5, 100.0f);  // floor(log2(100)) - 8
  CHECK(t.scales()[0].bits() == 127 - 2);
  CHECK(t(0, 5) == 96);  // 100 / 2^-2 = 400, between 384 and 416: the even one
  CHECK(t(0, 0) == 1);
  CHECK(t.scales()[1].bits() == 127 - 8);
  write(40, infinity);
  CHECK(t.scales()[1].bits() == 255);
  CHECK(is_nan(t(0, 63)));
  CHECK(t.nonfinite() == 1);
  write(40, 1.0f);
  CHECK(t.scales()[1].bits() == 255);  // until the next whole assignment
  t.assign(row_major(std::vector<float>(64, 1.0f), 1, 64));
  CHECK(t.scales()[1].bits() == 127 - 8);
  CHECK(t.nonfinite() == 0);
}

TEST_CASE("an MX block of 32 takes 33 bytes", "[mx]") {
  const auto t = quantize<mx<fp4_e2m1>>(std::vector<float>(320, 1.0f), 2, 160);
  CHECK(t.mantissas().size_bytes() + t.scales().size_bytes() == 10 * 33);
}
