#include "narrow/train/exponent_histogram.hpp"

#include <bit>
#include <cmath>
#include <random>
#include <sstream>
#include <vector>

#include "catch.hpp"
#include "narrow/narrow.hpp"
#include "train/saved_state.hpp"

namespace {

using narrow::exponent_histogram;
using narrow::fp16;

const float infinity = std::bit_cast<float>(0x7f800000u);
const float not_a_number = std::bit_cast<float>(0x7fc00000u);

/// |x| for a finite code, from its fields: no conversion of subnormals, which -ffast-math may flush.
template <class Layout> double magnitude(std::uint64_t code) {
  const auto mantissa = static_cast<double>(code & Layout::mantissa_mask);
  const int field = static_cast<int>((code & Layout::exponent_mask) >> Layout::mantissa_bits);
  const double hidden = field == 0 ? 0 : std::ldexp(1.0, Layout::mantissa_bits);
  return std::ldexp(mantissa + hidden, (field == 0 ? 1 : field) - Layout::bias - Layout::mantissa_bits);
}

int floor_log2(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return exponent - 1;
}

std::vector<float> random_floats(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> result;
  while (static_cast<int>(result.size()) < n) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (narrow::detail::is_finite(x)) result.push_back(x);
  }
  return result;
}

double magnitude(float x) { return magnitude<narrow::detail::binary32>(std::bit_cast<std::uint32_t>(x)); }

}  // namespace

TEMPLATE_LIST_TEST_CASE("every code of a format falls into its bin", "", narrow::all_formats) {
  using T = TestType;
  using layout = typename T::layout;
  std::vector<T> all;
  std::map<int, std::uint64_t> expected;
  std::uint64_t zeros = 0, infinities = 0, nans = 0;
  double largest = 0;
  for (std::uint32_t code = 0; code < (1u << layout::width); ++code) {
    all.push_back(T::from_bits(static_cast<typename T::bits_type>(code)));
    if (isnan(all.back())) {
      ++nans;
    } else if (isinf(all.back())) {
      ++infinities;
    } else if (const double x = magnitude<layout>(code); x == 0) {
      ++zeros;
    } else {
      ++expected[floor_log2(x)];
      largest = std::fmax(largest, x);
    }
  }
  exponent_histogram histogram;
  histogram.add(all);
  int mismatches = 0;
  for (int exponent = -1100; exponent <= 1100; ++exponent)
    mismatches += histogram.count(exponent) != (expected.count(exponent) ? expected[exponent] : 0);
  CHECK(mismatches == 0);
  CHECK(expected.begin()->first == layout::min_quantum);
  CHECK(histogram.zeros() == zeros);
  CHECK(histogram.infinities() == infinities);
  CHECK(histogram.nans() == nans);
  CHECK(histogram.nonfinite() == infinities + nans);
  CHECK(histogram.total() == all.size());
  CHECK(histogram.max_abs() == largest);
}

TEST_CASE("float, double and fixed-point numbers, subnormals included") {
  const auto floats = random_floats(200000, 1);
  exponent_histogram histogram;
  histogram.add(floats);
  std::map<int, std::uint64_t> expected;
  double largest = 0;
  int subnormals = 0;
  for (const float f : floats) {
    const double x = magnitude(f);
    if (x == 0) continue;
    ++expected[floor_log2(x)];
    subnormals += x < 0x1p-126;
    largest = std::fmax(largest, x);
  }
  REQUIRE(subnormals > 100);
  int mismatches = 0;
  for (int exponent = -1100; exponent <= 1100; ++exponent)
    mismatches += histogram.count(exponent) != (expected.count(exponent) ? expected[exponent] : 0);
  CHECK(mismatches == 0);
  CHECK(histogram.max_abs() == largest);

  exponent_histogram doubles;
  const double smallest = std::bit_cast<double>(std::uint64_t{1});
  doubles.add(
      std::vector<double>{smallest, -1e300, std::bit_cast<double>(std::uint64_t{0x000fffffffffffff})});
  CHECK(doubles.count(-1074) == 1);
  CHECK(doubles.count(-1023) == 1);
  CHECK(doubles.count(996) == 1);  // 2^996 = 6.7e299
  CHECK(doubles.max_abs() == 1e300);
  exponent_histogram tiny;
  tiny.add(std::vector<double>{smallest});
  CHECK(std::bit_cast<std::uint64_t>(tiny.max_abs()) == 1);

  using q = narrow::fixed<8, 4>;
  exponent_histogram fixed;
  fixed.add(std::vector<q>{q::from_bits(1), q::from_bits(-128), q::from_bits(127), q::from_bits(0), q(-1)});
  CHECK(fixed.count(-4) == 1);
  CHECK(fixed.count(0) == 1);
  CHECK(fixed.count(2) == 1);
  CHECK(fixed.count(3) == 1);  // -8, the one number beyond 2^3
  CHECK(fixed.zeros() == 1);
  CHECK(fixed.max_abs() == 8);
}

TEST_CASE("infinities and NaNs are counted apart and are no maximum") {
  exponent_histogram histogram;
  histogram.add(std::vector<float>{infinity, 3, not_a_number, -infinity, -not_a_number, 0, -0.0f, infinity});
  CHECK(histogram.infinities() == 3);
  CHECK(histogram.nans() == 2);
  CHECK(histogram.zeros() == 2);
  CHECK(histogram.total() == 8);
  CHECK(histogram.max_abs() == 3);
  CHECK(histogram.share_below(1) == 0);
  CHECK(histogram.share_above(1) == 1);
}

TEST_CASE("an empty histogram") {
  exponent_histogram histogram;
  histogram.add(std::vector<fp16>{});
  CHECK(histogram == exponent_histogram{});
  CHECK(histogram.total() == 0);
  CHECK(histogram.max_abs() == 0);
  CHECK(histogram.share_below(0) == 0);
  CHECK(histogram.share_above<fp16>() == 0);
  CHECK(narrow::suggest_scale(histogram) == 1);
  histogram.add(std::vector<float>{0, not_a_number, infinity});
  CHECK(narrow::suggest_scale(histogram) == 1);
  CHECK(histogram.share_above(0) == 0);
}

TEST_CASE("merging counts what both have counted") {
  const auto floats = random_floats(1000, 2);
  exponent_histogram all, first, second;
  all.add(floats);
  first.add(std::span(floats).first(300));
  second.add(std::span(floats).subspan(300));
  exponent_histogram other_way = second;
  other_way += first;
  first += second;
  CHECK(first == all);
  CHECK(other_way == all);
  first += first;
  CHECK(first.total() == 2000);
  CHECK(first.count(5) == 2 * all.count(5));
  CHECK(first.max_abs() == all.max_abs());
}

TEMPLATE_LIST_TEST_CASE("the shares that a format loses are those that rounding loses", "",
                        narrow::all_formats) {
  using F = TestType;
  using limits = std::numeric_limits<F>;
  const double half = magnitude<typename F::layout>(1) / 2;
  const int beyond = floor_log2(magnitude<typename F::layout>(limits::max().bits())) + 1;
  std::vector<float> values = random_floats(20000, 3);
  for (const int step : {-2, -1, 0, 1, 2})  // around both limits, the ends of bins included
    for (const double limit : {half, std::ldexp(1.0, beyond)}) {
      const int exponent = floor_log2(limit) + step;
      if (exponent < -120 || exponent > 127) continue;
      for (const float fraction : {1.0f, 1.25f, 0x1.fffffep0f})
        values.push_back(std::ldexp(fraction, exponent));
    }
  std::uint64_t below = 0, above = 0, all = 0;
  int wrong = 0;
  for (const float x : values) {
    const double size = magnitude(x);
    if (size == 0) continue;
    ++all;
    const auto rounded =
        narrow::narrow_cast<F>(x, narrow::rounding::nearest_even{}, narrow::overflow::saturate{});
    if (size < half) ++below;
    // Lost to zero: all that is counted, and of the rest only the half itself.
    wrong += (rounded == 0) != (size <= half);
    if (size >= std::ldexp(1.0, beyond)) {
      ++above;
      wrong += narrow::abs(rounded) != limits::max();
    }
  }
  CHECK(wrong == 0);
  exponent_histogram histogram;
  histogram.add(values);
  CHECK(histogram.template share_below<F>() == static_cast<double>(below) / static_cast<double>(all));
  CHECK(histogram.template share_above<F>() == static_cast<double>(above) / static_cast<double>(all));
  CHECK(histogram.share_below(-3) + histogram.share_above(-3) == Approx(1));
}

TEST_CASE("the shares of fixed point") {
  using q = narrow::fixed<8, 4>;  // step 2^-4, largest 7.9375
  exponent_histogram histogram;
  histogram.add(std::vector<float>{0.03f, 0.04f, 7, 8, 0, 1});
  CHECK(histogram.share_below<q>() == 0.2);
  CHECK(histogram.share_above<q>() == 0.2);
}

TEMPLATE_LIST_TEST_CASE("the suggested scale is the largest power of two that does not overflow", "",
                        narrow::all_formats) {
  using F = TestType;
  const double limit = magnitude<typename F::layout>(std::numeric_limits<F>::max().bits());
  std::mt19937 random(4);
  int cases = 0, wrong = 0;
  const auto check = [&](double largest) {
    exponent_histogram histogram;
    histogram.add(std::vector<double>{0, -largest, largest / 3});
    const double scale{narrow::suggest_scale<F>(histogram)};
    wrong += !(scale * largest < limit) || (2 * scale * largest < limit && scale < 0x1p127) ||
             scale != std::ldexp(1.0, floor_log2(scale));
    ++cases;
  };
  for (int i = 0; i < 2000; ++i)
    check(std::ldexp(1 + static_cast<double>(random()) * 0x1p-32, static_cast<int>(random() % 60) - 50));
  for (int exponent = -20; exponent < 20; ++exponent) {
    check(std::ldexp(limit, exponent) * 0x1p-20);
    check(std::nextafter(std::ldexp(limit, exponent) * 0x1p-20, 0));
  }
  CHECK(wrong == 0);
  CHECK(cases == 2080);
}

TEST_CASE("the suggested scale is one that a scaler can hold") {
  const auto scale_for = [](double largest) {
    exponent_histogram histogram;
    histogram.add(std::vector<double>{largest});
    return narrow::suggest_scale(histogram);
  };
  CHECK(scale_for(1) == 32768);
  CHECK(scale_for(65504) == 0.5);  // 1 would reach the limit
  CHECK(scale_for(65503) == 1);
  CHECK(scale_for(0x1p-24) == 0x1p39f);
  CHECK(scale_for(1e-300) == 0x1p127f);
  CHECK(scale_for(1e300) == 0x1p-126f);
}

TEST_CASE("print draws a picture") {
  exponent_histogram histogram;
  std::vector<float> values(40, 1.5f);
  values.insert(values.end(), 20, -0x1p-2f);
  values.insert(values.end(), {0x1p-15f, 0x1p-25f, 0x1p-26f, 0, 0, 0x1p16f, infinity});
  histogram.add(values);
  std::ostringstream out;
  out << std::hex;
  histogram.print<fp16>(out);
  const std::string expected =
      R"(    |x|         count    share
      0             2   2.99 %            |##
  2^-26             1   1.49 %  to zero   |#
  2^-25             1   1.49 %  subnormal |#
    ...
  2^-15             1   1.49 %  subnormal |#
    ...
   2^-2            20  29.85 %            |####################
   2^-1             0   0.00 %            |
    2^0            40  59.70 %            |########################################
    ...
   2^16             1   1.49 %  overflow  |#
    inf             1   1.49 %            |#
    nan             0   0.00 %            |
)";
  CHECK(out.str() == expected);
  std::ostringstream plain;
  histogram.print(plain);
  CHECK(plain.str().find("zero") == std::string::npos);
  CHECK(plain.str().size() == expected.size());

  std::ostringstream empty;
  exponent_histogram{}.print(empty);
  CHECK(empty.str() == R"(    |x|         count    share
      0             0   0.00 %            |
    inf             0   0.00 %            |
    nan             0   0.00 %            |
)");
}

TEST_CASE("csv has a line for every bin that is not empty") {
  exponent_histogram histogram;
  histogram.add(std::vector<float>{0, 1, 1.5f, -0x1p-30f, not_a_number});
  std::ostringstream out;
  histogram.csv(out);
  CHECK(out.str() == "exponent,count\n-inf,1\n-30,1\n0,2\ninf,0\nnan,1\n");
}

TEST_CASE("the saved state of a histogram") {
  exponent_histogram histogram;
  histogram.add(random_floats(50, 6));
  histogram.add(std::vector<float>{not_a_number, infinity, 0});
  exponent_histogram before;
  before.add(std::vector<float>{1});
  narrow_test::check_saved_state(histogram, before);
  std::istringstream in(narrow_test::saved(histogram));
  exponent_histogram restored;
  in >> restored;
  CHECK(restored == histogram);

  const std::string text = narrow_test::saved(before);
  CHECK(text.find("bins 1 0 1 ") != std::string::npos);
  const auto with_bins = [&](const std::string& bins) {
    return std::string(text).replace(text.find("bins 1 0 1 "), 11, "bins " + bins + " ");
  };
  CHECK(narrow_test::refused(with_bins("2 0 1 0 1"), histogram));  // a bin twice
  CHECK(narrow_test::refused(with_bins("1 1 1"), histogram));      // max_abs is not in it
  CHECK(narrow_test::refused(with_bins("0"), histogram));
  CHECK(narrow_test::refused(with_bins("1 0 -1"), histogram));
  CHECK(narrow_test::refused(with_bins("2 -2147483648 1 0 1"), histogram));  // no double has it
  CHECK(narrow_test::refused(with_bins("2 -1075 1 0 1"), histogram));
  CHECK_FALSE(narrow_test::refused(with_bins("2 -1074 1 0 1"), histogram));
  CHECK(narrow_test::refused(with_bins("2 -5 0 0 1"), histogram));  // an empty bin
  CHECK_FALSE(narrow_test::refused(with_bins("2 -5 1 0 1"), histogram));
}
