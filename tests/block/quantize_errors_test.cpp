// How far quantising may move a number: errors in steps, powers of two, and one rounding from any type.
#include "block_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

/// Errors in steps of the element's block: at most `most`, or less than it where `strictly`.
template <class F> void check_errors(tally& count, const mpq_class& most, bool strictly) {
  generator random(2024);
  const float largest_step =
      format_facts<F>::power_of_two ? std::ldexp(1.0f, 129 - format_facts<F>::width) : 0;
  for (const extent& size : extents)
    for (int kind = 0; kind < kinds_of_values; ++kind) {
      if (kind == 7) continue;  // not all of them numbers
      const auto values = values_of_kind(kind, static_cast<std::size_t>(size.rows * size.cols), random);
      const auto t = quantize<F>(values, size.rows, size.cols);
      for (place i = 0; i < size.rows; ++i)
        for (place j = 0; j < size.cols; ++j) {
          const auto step = static_cast<float>(t.view().scale(i, j));
          const mpq_class x = rational(values[static_cast<std::size_t>(i * size.cols + j)]);
          const bool beyond = abs(x) > rational(step) * limit_of<F> && step == largest_step;
          if (beyond) continue;  // less than half a step below 2^128
          const mpq_class error = abs(mpq_class(x - rational(t(i, j)))) / rational(step);
          count.expect(strictly ? error < most : error <= most,
                       [&] { return text(name_of<F>(), x.get_d(), t(i, j), "step", step); });
          if (format_facts<F>::power_of_two && abs(x) >= rational(step) && x.get_num() != 0 &&
              mpz_popcount(mpz_class(abs(x.get_num())).get_mpz_t()) == 1)
            count.expect(sgn(error) == 0, [&] { return text(name_of<F>(), "power of two", x.get_d()); });
        }
    }
}

}  // namespace

TEST_CASE("under max the error is at most half a step, or less than one, and nothing saturates", "[block]") {
  tally count;
  for_each_max_format<rounding::nearest_even>(
      [&]<class F>() { check_errors<F>(count, mpq_class(1, 2), false); });
  for_each_max_format<rounding::stochastic>([&]<class F>() { check_errors<F>(count, 1, true); });
  count.require_at_least(2 * max_formats * 8 * 90);
}

TEST_CASE("bfp: powers of two of at least one step are exact", "[block]") {
  tally count;
  for (int spread = 0; spread < 7; ++spread)
    for (int top = -149; top < 127; ++top) {
      std::vector<float> values;
      for (int e = top; e >= std::max(top - spread, -149); --e)
        values.push_back(std::ldexp(e % 2 != 0 ? 1.0f : -1.0f, e));
      const auto t = quantize<bfp<8>>(values, 1, std::ssize(values));
      count.expect(dequantized(t) == values, [&] { return text("from", values[0], "to", values.back()); });
    }
  count.require(7 * 276);
}

TEST_CASE("bfp: a power of two alone keeps its value in every width", "[block]") {
  tally count;
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (..., [&] {
      for (int e = -149; e <= 127; ++e) {
        const std::vector<float> values = {std::ldexp(-1.0f, e)};
        count.expect(dequantized(quantize<bfp<I + 2>>(values, 1, 1)) == values,
                     [&] { return text("width", I + 2, values[0]); });
      }
    }());
  }
  (std::make_integer_sequence<int, 15>{});
  count.require(15 * 277);
}

namespace {

template <class Value, class F> void check_rounded_once(tally& count, std::uint64_t halves) {
  // Half integers around which a float already rounds: a hair above or below a tie, in steps of 1.
  generator random(2024);
  constexpr int limit = limit_of<F>;
  for (std::uint64_t i = 0; i < halves; ++i) {
    const auto whole = static_cast<std::int64_t>(below(random, static_cast<std::uint64_t>(limit)));
    const int hair = static_cast<int>(below(random, 3)) - 1;
    const Value x =
        static_cast<Value>(whole) + Value(0.5) + static_cast<Value>(hair) * std::ldexp(Value(1), -40);
    const std::vector<Value> values = {static_cast<Value>(limit), x, -x};
    const auto t = quantize<F>(values, 3, 1);
    const std::int64_t right = whole + (hair > 0 || (hair == 0 && whole % 2 != 0) ? 1 : 0);
    count.expect(t.view().elements(1, 0) == right && t.view().elements(2, 0) == -right,
                 [&] { return text(name_of<F>(), name_of<Value>(), x, t(1, 0), hair + 1); });
  }
}

}  // namespace

TEST_CASE("numbers wider than float are rounded once", "[block]") {
  tally count;
  check_rounded_once<double, bfp<8>>(count, 1000);
  check_rounded_once<long double, bfp<16>>(count, 1000);
  check_rounded_once<double, int8>(count, 1000);
  count.require(3000);
  const std::vector<double> large = {1e300, -1e39, 1};
  const auto t = quantize<bfp<8>>(large, 3, 1);
  REQUIRE(t.nonfinite() == 0);
  REQUIRE(t(0, 0) == 0x1.fcp127f);
  REQUIRE(t(1, 0) == -0x1.fcp127f);
  const std::vector<int> integers = {16'777'217, -16'777'217, 1 << 24};
  REQUIRE(quantize<bfp<16>>(integers, 3, 1)(1, 0) == -0x1p24f);
  const std::vector<fixed<32, 16>> steps = {0.5, -100.25};
  REQUIRE(quantize<bfp<12>>(steps, 1, 2)(0, 1) == -100.25f);
}
