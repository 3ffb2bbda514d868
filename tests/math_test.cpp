// Mathematical functions: found by argument-dependent lookup, and as good as one rounding of the double
// function.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <numeric>
#include <vector>

#include "round/arithmetic.hpp"

using namespace test;
using namespace narrow;

namespace {

/// A built-in result of any kind, looked at by bits.
oracle::datum any(long double x) {
  const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(x));
  const std::uint64_t magnitude = bits & 0x7fff'ffff'ffff'ffffu, infinity = 0x7ff0'0000'0000'0000u;
  if (magnitude > infinity) return {oracle::kind::nan, bits >> 63 != 0, 0};
  if (magnitude == infinity) return {oracle::kind::infinite, bits >> 63 != 0, 0};
  return oracle::datum_of(x);
}

/// Whether `result` is `right` rounded, or a number within three units of double's last place of it, rounded.
template <class T> bool is_rounded(T result, long double right) {
  oracle::datum x = any(right);
  const auto matches = [&](long double factor) {
    oracle::datum y = x;
    y.magnitude *= factor;
    if constexpr (narrow_float<T>)
      return oracle::matches(oracle::rounded(oracle::table_of<T>(), y), result);
    else
      return oracle::matches(oracle::rounded(T::fraction_length, oracle::operand(y)), result);
  };
  return matches(1) || matches(1 - 0x1.8p-51L) || matches(1 + 0x1.8p-51L);
}

template <class T> T from_any_code(std::uint64_t code) {
  return T::from_bits(static_cast<typename T::bits_type>(code));
}

template <narrow_float T> constexpr std::uint64_t codes() { return oracle::format_of<T>.codes(); }
template <narrow_fixed T> constexpr std::uint64_t codes() { return std::uint64_t{1} << T::word_length; }
template <class T> constexpr std::uint64_t code_count = codes<T>();

using formats = std::tuple<fp16, bf16, fp8_e4m3fn, fp8_e5m2fnuz, fp4_e2m1, fixed<8, 4>, fixed<12, 6>>;

/// The value of x, by bits: NaN and infinity as well, -ffast-math or not.
template <class T> long double value_of(T x) {
  return static_cast<long double>(static_cast<carrier_t<T>>(x));
}

}  // namespace

#define CHECK_UNARY(function)                                                                         \
  for (std::uint64_t code = 0; code < code_count<TestType>; ++code) {                                 \
    const auto x = from_any_code<TestType>(code);                                                     \
    const TestType result = function(x);                                                              \
    count.expect(is_rounded(result, std::function(value_of(x))),                                      \
                 [&] { return text(name_of<TestType>(), #function, code, "gives", result.bits()); }); \
  }                                                                                                   \
  STATIC_REQUIRE(std::same_as<decltype(function(TestType())), TestType>)

TEMPLATE_LIST_TEST_CASE("functions of one argument: those of long double, rounded", "[math]", formats) {
  tally count;
  using std::exp;  // generic code: the narrow function must win over those in sight
  using std::sqrt;
  CHECK_UNARY(exp);
  CHECK_UNARY(exp2);
  CHECK_UNARY(expm1);
  CHECK_UNARY(log);
  CHECK_UNARY(log2);
  CHECK_UNARY(log10);
  CHECK_UNARY(log1p);
  CHECK_UNARY(cbrt);
  CHECK_UNARY(sin);
  CHECK_UNARY(cos);
  CHECK_UNARY(tan);
  CHECK_UNARY(asin);
  CHECK_UNARY(acos);
  CHECK_UNARY(atan);
  CHECK_UNARY(sinh);
  CHECK_UNARY(cosh);
  CHECK_UNARY(tanh);
  CHECK_UNARY(asinh);
  CHECK_UNARY(acosh);
  CHECK_UNARY(atanh);
  CHECK_UNARY(erf);
  CHECK_UNARY(erfc);
  CHECK_UNARY(tgamma);
  CHECK_UNARY(floor);
  CHECK_UNARY(ceil);
  CHECK_UNARY(trunc);
  CHECK_UNARY(round);
  CHECK_UNARY(rint);
  CHECK_UNARY(nearbyint);
  CHECK_UNARY(sqrt);
  count.require(30 * code_count<TestType>);
}

TEMPLATE_LIST_TEST_CASE("functions of two arguments: those of long double, rounded", "[math]", formats) {
  generator random(2024);
  tally count;
  constexpr int pairs = 20'000;
  for (int i = 0; i < pairs; ++i) {
    const auto x = from_any_code<TestType>(below(random, code_count<TestType>)),
               y = from_any_code<TestType>(below(random, code_count<TestType>));
    if (!isfinite(x) || !isfinite(y)) continue;
    const long double a = value_of(x), b = value_of(y);
    const auto check = [&](const char* name, TestType result, long double right) {
      count.expect(is_rounded(result, right), [&] {
        return text(name_of<TestType>(), name, x.bits(), y.bits(), "gives", result.bits());
      });
    };
    check("pow", pow(x, y), std::pow(a, b));
    check("atan2", atan2(x, y), std::atan2(a, b));
    check("hypot", hypot(x, y), std::hypot(a, b));
    check("copysign", copysign(x, y), std::copysign(a, b));
    check("fmin", fmin(x, y), std::min(a, b));
    check("fmax", fmax(x, y), std::max(a, b));
    if (y != 0) {
      check("fmod", fmod(x, y), std::fmod(a, b));
      check("remainder", remainder(x, y), std::remainder(a, b));
    }
  }
  count.require_at_least(6 * 18'000);
}

TEST_CASE("functions of a narrow and a built-in argument have the type of their sum", "[math]") {
  const fp16 x = 5;
  STATIC_REQUIRE(std::same_as<decltype(pow(x, 2)), fp16>);
  STATIC_REQUIRE(std::same_as<decltype(pow(x, 0.5f)), float>);
  STATIC_REQUIRE(std::same_as<decltype(pow(2.0, x)), double>);
  STATIC_REQUIRE(std::same_as<decltype(fmod(x, 2.0L)), long double>);
  REQUIRE(pow(x, 2) == 25);
  REQUIRE(pow(2.0, x) == 32);
  REQUIRE(atan2(x, 5.0f) == static_cast<float>(std::atan(1.0)));
  REQUIRE(fmin(x, 3) == 3);
  REQUIRE(fmax(7.0, x) == 7);
  // In long double where that is the result.
  REQUIRE(fmod(x, 3 + 0x1p-60L) == 2 - 0x1p-60L);
}

TEMPLATE_LIST_TEST_CASE("classification, sign and magnitude of every code", "[math]", floating_formats) {
  constexpr auto f = oracle::format_of<TestType>;
  const double smallest_normal = std::ldexp(1.0, 1 - f.bias());
  tally count;
  for (std::uint64_t code = 0; code < f.codes(); ++code) {
    const auto x = from_code<TestType>(code);
    const auto right = f.decode(code);
    const auto describe = [&] { return text(name_of<TestType>(), code); };
    const bool number = right.what == oracle::kind::number;
    count.expect(isnormal(x) == (number && right.magnitude >= smallest_normal), describe);
    const bool nan_code = f.special == specials::fnuz && code == f.sign();
    count.expect(abs(x).bits() == (nan_code ? code : code % f.sign()), describe);
    count.expect(fabs(x).bits() == abs(x).bits(), describe);
  }
  count.require(3 * f.codes());
}

TEMPLATE_LIST_TEST_CASE("the number next to each one, up and down", "[math]", formats) {
  if constexpr (sizeof(TestType) <= 2) {
    std::vector<double> ascending;
    for (std::uint64_t code = 0; code < code_count<TestType>; ++code)
      if (const auto x = from_any_code<TestType>(code); !isnan(x))
        ascending.push_back(static_cast<double>(x));
    std::sort(ascending.begin(), ascending.end());
    ascending.erase(std::unique(ascending.begin(), ascending.end()), ascending.end());  // of zeros one
    const auto number = [](double x) { return static_cast<TestType>(x); };              // exact
    tally count;
    for (std::size_t i = 0; i < ascending.size(); ++i) {
      const TestType x = number(ascending[i]), lowest = number(ascending.front()),
                     highest = number(ascending.back());
      const auto describe = [&] { return text(name_of<TestType>(), x.bits()); };
      const double up = ascending[std::min(i + 1, ascending.size() - 1)], down = ascending[i - (i > 0)];
      count.expect(static_cast<double>(nextafter(x, highest)) == up, describe);
      count.expect(nextafter(x, number(up)) == number(up), describe);
      count.expect(static_cast<double>(nextafter(x, lowest)) == down, describe);
      count.expect(nextafter(x, x) == x, describe);
      if (up == 0 && TestType(-1) < TestType(0))  // a zero keeps the sign of what it is next to
        count.expect(signbit(nextafter(x, highest)) == signbit(-TestType(0)), describe);
      else
        count.add_matches(1);
    }
    count.require(5 * ascending.size());
  }
  const TestType one = 1;
  STATIC_REQUIRE(nextafter(TestType(1), TestType(1)) == TestType(1));
  REQUIRE(nextafter(one, TestType(0)) < one);
  REQUIRE(nextafter(nextafter(one, TestType(0)), one) == one);
  if constexpr (std::numeric_limits<TestType>::has_quiet_NaN) {
    const auto nan = std::numeric_limits<TestType>::quiet_NaN();
    REQUIRE(isnan(nextafter(nan, one)));
    REQUIRE(isnan(nextafter(one, nan)));
  }
}

TEST_CASE("fixed: classification, sign and magnitude", "[math][fixed]") {
  using T = fixed<8, 4>;
  STATIC_REQUIRE(!isnan(T(1)) && !isinf(T(1)) && isfinite(T(1)));
  STATIC_REQUIRE(isnormal(T(0.0625)) && !isnormal(T(0)));
  STATIC_REQUIRE(signbit(T(-1)) && !signbit(T(0)) && !signbit(T(1)));
  STATIC_REQUIRE(abs(T(-1.5)) == 1.5);
  STATIC_REQUIRE(fabs(T(1.5)) == 1.5);
}

TEST_CASE("min, max and the algorithms of the standard library", "[math]") {
  const fp16 a = 1, b = 2;
  using std::max;
  using std::min;
  REQUIRE(&min(a, b) == &a);
  REQUIRE(&max(a, b) == &b);
  const fp16 zero = 0, minus_zero = -0.0f;
  REQUIRE(&min(zero, minus_zero) == &zero);  // the first of two equals, as std::min
  REQUIRE(&max(zero, minus_zero) == &zero);
  REQUIRE(std::max(a, b) == 2);
  REQUIRE(std::min({a, b}) == 1);
  REQUIRE(std::clamp(fp16(3), a, b) == 2);
  REQUIRE(narrow::min(fixed<8, 4>(1), fixed<8, 4>(-1)) == -1);
  STATIC_REQUIRE(max(fp16(1), fp16(2)) == 2);

  std::vector<bf16> v = {3, 1, 2};
  std::sort(v.begin(), v.end());
  REQUIRE(v == std::vector<bf16>{1, 2, 3});
  REQUIRE(std::accumulate(v.begin(), v.end(), bf16(0)) == 6);
  REQUIRE(*std::max_element(v.begin(), v.end()) == 3);
  std::swap(v[0], v[1]);
  REQUIRE(v[0] == 2);
}

TEST_CASE("std:: functions called by their full name take the value as float", "[math]") {
  STATIC_REQUIRE(std::same_as<decltype(std::exp(fp16(1))), float>);
  REQUIRE(std::sqrt(fp16(4)) == 2.0f);
  REQUIRE(std::abs(fp16(-4)) == 4.0f);
}

TEST_CASE("square roots and fused sums of special values", "[math]") {
  using limits = std::numeric_limits<fp16>;
  REQUIRE(sqrt(fp16(-0.0f)).bits() == 0x8000);
  REQUIRE(isnan(sqrt(fp16(-1))));
  REQUIRE(isinf(sqrt(limits::infinity())));
  REQUIRE(isnan(fma(limits::infinity(), fp16(0), fp16(1))));
  REQUIRE(isnan(fma(limits::infinity(), fp16(1), -limits::infinity())));
  REQUIRE(fma(limits::max(), fp16(2), -limits::max()) == limits::max());
  REQUIRE(fma(fp16(1 + 0x1p-10), fp16(1 - 0x1p-10), fp16(-1)) == -0x1p-20);
}

TEST_CASE("the nearest whole number is the same in every rounding mode, zeros with their signs", "[math]") {
  tally count;
  const int before = std::fegetround();
  for (std::uint64_t code = 0; code < code_count<fp16>; ++code) {
    const auto x = from_any_code<fp16>(code);
    const auto wanted = fp16(std::nearbyint(static_cast<double>(x))).bits();
    for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      std::fesetround(mode);
      const auto got = rint(x).bits(), also = nearbyint(x).bits();
      std::fesetround(before);
      count.expect(got == wanted && also == wanted, [&] { return text("fp16 rint", code, "gives", got); });
    }
  }
  count.require(4 * code_count<fp16>);
}
