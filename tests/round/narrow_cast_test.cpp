// Conversions into the floating formats: from the built-in floating-point types and from each other.
#include <bit>
#include <cstring>

#include "arithmetic.hpp"

using namespace test;

namespace {

template <class T, class Source> void check_conversion(tally& count, Source x) {
  const auto right = oracle::rounded(oracle::table_of<T>(), oracle::datum_of(x));
  for_each_policy<T>([&]<class U>() {
    const U result = x;
    count.expect(oracle::matches(right, result),
                 [&] { return text(name_of<U>(), "of", name_of<Source>(), x, "gives", result.bits()); });
  });
}

using sources = std::tuple<float, double, long double>;

template <class To, class From> To bits_as(From x) { return std::bit_cast<To>(x); }

}  // namespace

TEMPLATE_LIST_TEST_CASE("conversion from float, double and long double rounds the exact value once",
                        "[round][narrow_cast]", floating_formats) {
  const auto& t = oracle::table_of<TestType>();
  tally count;
  std::uint64_t inputs = 0;
  for_each_type<sources>([&]<class Source>() {
    const auto check = [&](Source x) {
      check_conversion<TestType>(count, x);
      check_conversion<TestType>(count, -x);
      inputs += 2;
    };
    // The number that would follow bf16's largest is beyond float.
    const auto as_source = [](double x) {
      return static_cast<Source>(std::is_same_v<Source, float> ? std::min(x, double{0x1.fffffep127f}) : x);
    };
    // Each number, each midpoint, and a hair off each of them on both sides. The last midpoint is where
    // overflow begins.
    constexpr Source infinity = std::numeric_limits<Source>::max();
    for (std::size_t i = 0; i < t.beyond(); ++i) {
      const auto low = as_source(t.numbers[i]), middle = as_source((t.numbers[i] + t.numbers[i + 1]) / 2),
                 high = as_source(t.numbers[i + 1]);
      for (const Source x : {low, std::nextafter(low, infinity), std::nextafter(middle, Source{0}), middle,
                             std::nextafter(middle, infinity), std::nextafter(high, Source{0})})
        check(x);
    }
    for (const double factor : {1.0, 1.25, 1.5, 1.9999, 2.0, 3.0})
      check(as_source(t.numbers.back() * factor));
    using limits = std::numeric_limits<Source>;
    for (const Source x :
         {limits::max(), limits::max() / 2, limits::min(), limits::denorm_min(), limits::epsilon()})
      check(x);
  });
  REQUIRE(inputs == std::tuple_size_v<sources> * 2 * (6 * t.beyond() + 11));
  count.require(inputs * policy_count<TestType>);
}

TEMPLATE_LIST_TEST_CASE("conversion of random doubles rounds once", "[round][narrow_cast]",
                        floating_formats) {
  const auto& t = oracle::table_of<TestType>();
  generator random(2024);
  tally count;
  constexpr int doubles = 50'000;
  for (int i = 0; i < doubles; ++i) {
    // A random significand of random length between a quarter of the smallest and four times the largest
    // number.
    const auto significand = static_cast<double>((random() | std::uint64_t{1} << 63) >> below(random, 64));
    const int least = std::ilogb(t.numbers[1]) - 2, most = std::ilogb(t.numbers.back()) + 2;
    const int exponent =
        least + static_cast<int>(below(random, static_cast<std::uint64_t>(most - least + 1)));
    check_conversion<TestType>(count, std::ldexp(significand, exponent - std::ilogb(significand)));
  }
  count.require(doubles * policy_count<TestType>);
}

TEMPLATE_LIST_TEST_CASE("infinity and NaN convert as the format's special values say", "[round][narrow_cast]",
                        floating_formats) {
  const auto& t = oracle::table_of<TestType>();
  // By bits: under -ffast-math the compiler takes it that neither occurs.
  const auto check = [&](auto x, oracle::kind what, bool negative) {
    for_each_policy<TestType>([&]<class U>() {
      INFO(name_of<U>() << " negative " << negative);
      const U result = x;
      REQUIRE(oracle::matches(oracle::outcome{what, negative}, result));
      if (what == oracle::kind::nan && t.of.special != narrow::specials::fnuz &&
          t.of.special != narrow::specials::none)
        REQUIRE((result.bits() >= t.of.sign()) == negative);
    });
  };
  for (const bool negative : {false, true}) {
    const std::uint32_t sign32 = negative ? 0x8000'0000u : 0;
    const std::uint64_t sign64 = std::uint64_t{sign32} << 32;
    check(bits_as<float>(sign32 | 0x7f80'0000u), oracle::kind::infinite, negative);
    check(bits_as<double>(sign64 | 0x7ff0'0000'0000'0000u), oracle::kind::infinite, negative);
    for (const std::uint32_t payload : {0x1u, 0x2000u, 0x10'0000u, 0x40'0000u, 0x7f'ffffu})
      check(bits_as<float>(sign32 | 0x7f80'0000u | payload), oracle::kind::nan, negative);
    for (const std::uint64_t payload :
         {std::uint64_t{1}, std::uint64_t{1} << 51, (std::uint64_t{1} << 52) - 1})
      check(bits_as<double>(sign64 | 0x7ff0'0000'0000'0000u | payload), oracle::kind::nan, negative);
    if constexpr (std::numeric_limits<long double>::digits == 64) {  // x87
      const auto x87 = [&](std::uint64_t significand) {
        const std::uint16_t top = negative ? 0xffff : 0x7fff;
        long double x = 0;
        std::memcpy(&x, &significand, sizeof significand);
        std::memcpy(reinterpret_cast<char*>(&x) + sizeof significand, &top, sizeof top);
        return x;
      };
      check(x87(std::uint64_t{1} << 63), oracle::kind::infinite, negative);
      check(x87(std::uint64_t{3} << 62), oracle::kind::nan, negative);
      check(x87((std::uint64_t{1} << 63) + 1), oracle::kind::nan, negative);
    }
  }
}

TEMPLATE_TEST_CASE("every code survives float, double and long double; signalling NaNs become quiet",
                   "[round][narrow_cast]", narrow::fp16, narrow::bf16) {
  constexpr auto f = oracle::format_of<TestType>;
  const std::uint64_t quiet = std::uint64_t{1} << (f.mantissa_bits - 1);
  tally count;
  std::uint64_t nans = 0;
  for (std::uint64_t code = 0; code < f.codes(); ++code) {
    const auto x = from_code<TestType>(code);
    const bool nan = f.decode(code).what == oracle::kind::nan;
    nans += nan;
    const std::uint64_t expected = nan ? code | quiet : code;
    const float f32 = x;
    const auto describe = [&] { return text(name_of<TestType>(), code); };
    count.expect(TestType(f32).bits() == expected, describe);
    count.expect(TestType(double{f32}).bits() == expected || nan, describe);  // DAZ may be on: see below
    count.expect(TestType(static_cast<long double>(f32)).bits() == expected || nan, describe);
    count.expect(narrow::narrow_cast<TestType>(x).bits() == expected, describe);
    // The value itself, from the definition.
    if (f.decode(code).what == oracle::kind::number) {
      const auto value = static_cast<double>(f.decode(code).magnitude) * (code >= f.sign() ? -1 : 1);
      count.expect(
          std::bit_cast<std::uint32_t>(f32) == std::bit_cast<std::uint32_t>(static_cast<float>(value)),
          describe);
      count.expect(TestType(value).bits() == code, describe);
    }
    // NaN in float: the sign and the payload, quiet, aligned to the top of the mantissa.
    if (nan) {
      const auto bits = std::bit_cast<std::uint32_t>(f32);
      count.expect(bits == ((code >= f.sign() ? 0x8000'0000u : 0u) | 0x7fc0'0000u |
                            static_cast<std::uint32_t>((code & (2 * quiet - 1)) << (23 - f.mantissa_bits))),
                   describe);
      const std::uint64_t wide = (std::uint64_t{code >= f.sign()} << 63) | 0x7ff0'0000'0000'0000u |
                                 ((code & (2 * quiet - 1)) << (52 - f.mantissa_bits));
      count.expect(TestType(std::bit_cast<double>(wide)).bits() == expected, describe);
    }
  }
  REQUIRE(nans == 2 * (2 * quiet - 1));
  count.require(4 * f.codes() + 2 * (f.codes() - 2 * quiet * 2 - 2) + 2 * nans);
}

TEMPLATE_LIST_TEST_CASE("each format converts into each other one with one rounding", "[round][narrow_cast]",
                        floating_formats) {
  constexpr auto from = oracle::format_of<TestType>;
  tally count;
  for_each_type<floating_formats>([&]<class To>() {
    for (std::uint64_t code = 0; code < from.codes(); ++code) {
      const auto x = from_code<TestType>(code);
      const auto right = oracle::rounded(oracle::table_of<To>(), from.decode(code));
      const auto check = [&]<class Round, class Overflow>(Round, Overflow) {
        using U = with_policies<To, Round, Overflow>;
        const U result = narrow::narrow_cast<U>(x);
        const auto describe = [&] {
          return text(name_of<U>(), "of", name_of<TestType>(), code, "gives", result.bits());
        };
        count.expect(oracle::matches(right, result), describe);
        count.expect(narrow::narrow_cast<To>(x, Round{}, Overflow{}).bits() == result.bits(), describe);
        // By way of float, which holds every number and every NaN, comes the same.
        count.expect(U(static_cast<float>(x)).bits() == result.bits(), describe);
        // A copy keeps a signalling NaN as it is.
        const bool copy = std::same_as<U, TestType>;
        count.expect(U(x).bits() == (copy ? x.bits() : result.bits()), describe);
      };
      check(narrow::rounding::nearest_even{}, narrow::overflow::ieee{});
      check(narrow::rounding::downward{}, narrow::overflow::saturate{});
    }
  });
  count.require(from.codes() * 2 * 4 * std::tuple_size_v<floating_formats>);
}

TEST_CASE("narrow_cast takes a mode and an overflow rule for one conversion", "[round][narrow_cast]") {
  using narrow::narrow_cast;
  namespace rounding = narrow::rounding;
  namespace overflow = narrow::overflow;
  using narrow::fp16;
  STATIC_REQUIRE(narrow_cast<fp16>(65504 - 0x1p-24, rounding::toward_zero{}) == 65472);
  STATIC_REQUIRE(narrow_cast<fp16>(65504 - 0x1p-24) == 65504);
  STATIC_REQUIRE(isinf(narrow_cast<fp16>(65520.0)));
  STATIC_REQUIRE(narrow_cast<fp16>(65519.99999) == 65504);
  STATIC_REQUIRE(narrow_cast<fp16>(65520.0, rounding::nearest_even{}, overflow::saturate{}) == 65504);
  STATIC_REQUIRE(narrow_cast<fp16>(1e9, rounding::toward_zero{}) == 65504);
  STATIC_REQUIRE(narrow_cast<fp16>(-1e9, rounding::upward{}) == -65504);
  STATIC_REQUIRE(isinf(narrow_cast<fp16>(-1e9, rounding::downward{})));
  STATIC_REQUIRE(narrow_cast<narrow::fixed<8, 4>>(8, rounding::nearest_even{}, overflow::wrap{}) == -8);
  STATIC_REQUIRE(narrow_cast<narrow::fixed<8, 4>>(8) == 7.9375);
  STATIC_REQUIRE(narrow_cast<narrow::fixed<8, 4>>(fp16(0.09375), rounding::downward{}) == 0.0625);
  // A stochastic rounding of given seed is a constant expression too.
  constexpr fp16 up = narrow_cast<fp16>(1 + 0x1p-11, rounding::stochastic{1});
  STATIC_REQUIRE((up == 1 || up == 1 + 0x1p-10));
}

TEST_CASE("conversions that two roundings get wrong", "[round][narrow_cast]") {
  using namespace narrow;
  STATIC_REQUIRE(fp16(1 + 0x1p-11 + 0x1p-40) == 1 + 0x1p-10);
  STATIC_REQUIRE(fp16(1 + 0x1p-11) == 1);
  STATIC_REQUIRE(fp16(1 + 0x1p-11L + 0x1p-63L) == 1 + 0x1p-10);
  STATIC_REQUIRE(bf16(16842753) ==
                 16908288);  // 2^24 + 2^16 - 2^7 + ..., just above a midpoint: 257 * 65536 + 1
  STATIC_REQUIRE(bf16(16842752) == 16777216);
  STATIC_REQUIRE(bf16((std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1) == 0x1p62 + 0x1p55);
  STATIC_REQUIRE(bf16(1 + 0x1p-8 + 0x1p-30) == 1 + 0x1p-7);
  STATIC_REQUIRE(fp8_e4m3fn(464) == 448);
  STATIC_REQUIRE(isnan(fp8_e4m3fn(465)));
  STATIC_REQUIRE(isnan(fp8_e4m3fn(464.0000001)));
  STATIC_REQUIRE(fp16(0x1p-25) == 0);
  STATIC_REQUIRE(fp16(0x1p-25 + 0x1p-77) == 0x1p-24);
  STATIC_REQUIRE(fp16(0x1p-25L + 0x1p-88L) == 0x1p-24);
}
