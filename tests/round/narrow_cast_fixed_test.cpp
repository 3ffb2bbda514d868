// Conversions into the fixed formats: from the built-in types and from the floating formats.
#include <bit>

#include "arithmetic.hpp"

using namespace test;

namespace {

/// All policies for one source of each word that the library computes in, two for the others.
template <class Source>
inline constexpr bool every_policy = std::same_as<Source, double> || std::same_as<Source, long double>;
template <class T, class Source, class F> void policies_for(F&& f) {
  if constexpr (every_policy<Source>) {
    for_each_policy<T>(f);
  } else {
    f.template operator()<T>();
    f.template operator()<with_policies<T, narrow::rounding::upward, narrow::overflow::wrap>>();
  }
}

template <class T, class Source> void check_fixed(tally& count, Source x) {
  const auto right = oracle::rounded(T::fraction_length, oracle::operand(oracle::datum_of(x)));
  policies_for<T, Source>([&]<class U>() {
    const U result = x;
    count.expect(oracle::matches(right, result), [&] {
      return text(name_of<U>(), "of", name_of<Source>(), x, "gives", std::to_string(result.bits()));
    });
  });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("fixed: conversion from the built-in types rounds the exact value once",
                        "[round][narrow_cast][fixed]", fixed_formats) {
  constexpr int WL = TestType::word_length, FL = TestType::fraction_length;
  generator random(2024);
  tally count;
  std::uint64_t cases = 0;
  const auto check = [&]<class Source>(Source x) {
    check_fixed<TestType>(count, x);
    cases += every_policy<Source> ? policy_count<TestType> : 2;
  };
  // Mantissas up to four times the range, on the number, on the midpoint above and a hair off both.
  for (int i = 0; i < 1200; ++i) {
    const auto spread = static_cast<std::int64_t>(random()) >> (62 - WL);
    const std::int64_t mantissa = i < 8    ? i - 4
                                  : i < 12 ? i - 10 + (std::int64_t{1} << (WL - 1))
                                  : i < 16 ? i - 14 - (std::int64_t{1} << (WL - 1))
                                           : spread >> below(random, static_cast<std::uint64_t>(WL));
    for (const double part : {0.0, 0.5}) {
      const double x = std::ldexp(static_cast<double>(mantissa) + part, -FL);
      const auto wide = static_cast<long double>(x);
      for (const double y : {x, std::nextafter(x, 1e300), std::nextafter(x, -1e300)}) check(y);
      check(std::nextafter(wide, 1e300L));
      check(std::nextafter(wide, -1e300L));
      check(static_cast<float>(x));
    }
  }
  for (const double x : {1e300, -1e300, 0x1p63, -0x1p63, 0x1p64 + 0x1p12, 0x1p31 + 1, 1e-300, -1e-300}) {
    check(x);
    check(static_cast<float>(std::clamp(x, -1e38, 1e38)));
  }
  for (const auto x : {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                       std::int64_t{-1}, std::int64_t{1}, (std::int64_t{1} << 32) + 1})
    check(x);
  check(std::numeric_limits<std::uint64_t>::max());
  for (int i = 0; i < 500; ++i) {
    check(static_cast<std::int64_t>(random()) >> below(random, 64));
    check(random() >> below(random, 64));
    check(static_cast<int>(random()) >> below(random, 32));
    check(static_cast<signed char>(random()));
  }
  REQUIRE(cases == (1200 * 2 * 5 + 8) * policy_count<TestType> + (1200 * 2 + 8 + 6 + 500 * 4) * 2);
  count.require(cases);
}

TEMPLATE_LIST_TEST_CASE("fixed: infinity saturates and NaN is 0 under both overflow rules",
                        "[round][narrow_cast][fixed]", fixed_formats) {
  for_each_policy<TestType>([&]<class U>() {
    INFO(name_of<U>());
    using limits = std::numeric_limits<U>;
    REQUIRE(U(std::bit_cast<float>(0x7f80'0000u)).bits() == limits::max().bits());
    REQUIRE(U(std::bit_cast<float>(0xff80'0000u)).bits() == limits::lowest().bits());
    REQUIRE(U(std::bit_cast<double>(0x7ff0'0000'0000'0000u)).bits() == limits::max().bits());
    REQUIRE(U(std::bit_cast<float>(0x7fc0'0000u)).bits() == 0);
    REQUIRE(U(std::bit_cast<float>(0xffa0'0000u)).bits() == 0);
    REQUIRE(U(std::bit_cast<double>(0xfff8'0000'0000'0000u)).bits() == 0);
    REQUIRE(U(std::numeric_limits<narrow::fp16>::infinity()).bits() == limits::max().bits());
    REQUIRE(U(std::numeric_limits<narrow::fp16>::quiet_NaN()).bits() == 0);
  });
}

TEMPLATE_LIST_TEST_CASE(
    "fixed: every code of the 8-bit formats and of fp16 converts with one rounding, and back",
    "[round][narrow_cast][fixed]", fixed_formats) {
  tally count;
  std::uint64_t codes = 0;
  for_each_type<std::tuple<narrow::fp16, narrow::fp8_e4m3fn, narrow::fp8_e5m2>>([&]<class Float>() {
    constexpr auto f = oracle::format_of<Float>;
    codes += f.codes();
    for (std::uint64_t code = 0; code < f.codes(); ++code) {
      const TestType result(from_code<Float>(code));
      const auto right = oracle::rounded(TestType::fraction_length, oracle::operand(f.decode(code)));
      const auto describe = [&] {
        return text(name_of<Float>(), code, "gives", std::to_string(result.bits()));
      };
      count.expect(oracle::matches(right, result), describe);
      const double value = oracle::value(result).get_d();
      count.expect(static_cast<double>(result) == value, describe);
      count.expect(
          oracle::matches(oracle::rounded(oracle::table_of<Float>(), oracle::datum_of(value)), Float(result)),
          describe);
    }
  });
  count.require(3 * codes);
}
