// What a floating scalar is as a type, and its encoding.
#include <type_traits>

#include "../oracle.hpp"
#include "../policies.hpp"
#include "../tally.hpp"

using namespace test;
using namespace narrow;

namespace {

/// Whether T can be converted by calling a conversion function of its own to To.
template <class T, class To>
concept has_conversion_function = requires(T x) {
  x.operator To();
};

/// How many of these types T has a conversion function to.
template <class T, class... To> constexpr int conversion_functions_among() {
  return (0 + ... + (has_conversion_function<T, To> ? 1 : 0));
}
template <class T> constexpr int conversion_functions() {
  return conversion_functions_among<T, bool, char, short, int, unsigned, long, long long, float, double,
                                    long double, fp16, bf16>();
}

template <class T> void check_type() {
  STATIC_REQUIRE(std::is_trivially_copyable_v<T>);
  STATIC_REQUIRE(std::is_trivially_default_constructible_v<T>);
  STATIC_REQUIRE(std::is_standard_layout_v<T>);
  STATIC_REQUIRE(std::is_trivially_destructible_v<T>);
  STATIC_REQUIRE(std::totally_ordered<T>);
  STATIC_REQUIRE(conversion_functions<T>() == 1);
  STATIC_REQUIRE(requires(T x) { x.operator carrier_t<T>(); });
  for_each_type<builtin_types>([]<class B>() {
    STATIC_REQUIRE(std::is_convertible_v<B, T>);
    STATIC_REQUIRE(std::is_convertible_v<T, B>);
    STATIC_REQUIRE(std::is_constructible_v<T, B>);
    STATIC_REQUIRE(std::is_assignable_v<T&, B>);
    STATIC_REQUIRE(builtin_arithmetic<B>);
    STATIC_REQUIRE(!narrow_scalar<B>);
  });
  // Between two narrow formats, be it only another policy: explicit.
  for_each_type<std::tuple<fp16, bf16, fp8_e4m3fn, fp4_e2m1, fixed<8, 4>, fixed<32, 16>,
                           with_policies<T, rounding::upward, overflow::saturate>>>([]<class U>() {
    if constexpr (!std::same_as<T, U>) {
      STATIC_REQUIRE(std::is_constructible_v<T, U>);
      STATIC_REQUIRE(!std::is_convertible_v<U, T>);
      STATIC_REQUIRE(!std::is_assignable_v<T&, U>);
    }
  });
  // Nothing else passes for a number.
  STATIC_REQUIRE(!std::is_constructible_v<T, const char*>);
  STATIC_REQUIRE(!std::is_constructible_v<T, std::nullptr_t>);
  enum class scoped { one };
  STATIC_REQUIRE(!std::is_constructible_v<T, scoped>);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("floating: a type like the built-in ones", "[format][floating]", floating_formats) {
  check_type<TestType>();
  constexpr auto f = oracle::format_of<TestType>;
  constexpr int width = 1 + f.exponent_bits + f.mantissa_bits;
  STATIC_REQUIRE(sizeof(TestType) == (width <= 8 ? 1 : width <= 16 ? 2 : 4));
  STATIC_REQUIRE(narrow_float<TestType>);
  STATIC_REQUIRE(!narrow_fixed<TestType>);
  STATIC_REQUIRE(!narrow_float<const TestType>);
  STATIC_REQUIRE(std::same_as<carrier_t<TestType>, float>);
}

TEMPLATE_LIST_TEST_CASE("fixed: a type like the built-in ones", "[format][fixed]", fixed_formats) {
  check_type<TestType>();
  constexpr int width = TestType::word_length;
  STATIC_REQUIRE(sizeof(TestType) == (width <= 8 ? 1 : width <= 16 ? 2 : 4));
  STATIC_REQUIRE(narrow_fixed<TestType>);
  STATIC_REQUIRE(!narrow_float<TestType>);
  STATIC_REQUIRE(std::same_as<carrier_t<TestType>, std::conditional_t<(width > 24), double, float>>);
}

TEMPLATE_LIST_TEST_CASE("floating: every code decodes as the definition says", "[format][floating]",
                        floating_formats) {
  constexpr auto f = oracle::format_of<TestType>;
  using raw = typename TestType::bits_type;
  tally count;
  for (std::uint64_t code = 0; code < f.codes(); ++code) {
    const auto x = TestType::from_bits(static_cast<raw>(code));
    const oracle::datum right = f.decode(code);
    const auto describe = [&] { return text(name_of<TestType>(), code); };
    count.expect(x.bits() == code, describe);
    count.expect(isnan(x) == (right.what == oracle::kind::nan), describe);
    count.expect(isinf(x) == (right.what == oracle::kind::infinite), describe);
    count.expect(isfinite(x) == (right.what == oracle::kind::zero || right.what == oracle::kind::number),
                 describe);
    count.expect(signbit(x) == right.negative, describe);
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
    const std::uint32_t sign = right.negative ? 0x8000'0000u : 0;
    switch (right.what) {
      case oracle::kind::nan:
        count.expect((bits & 0x7fc0'0000u) == 0x7fc0'0000u && (bits & 0x8000'0000u) == sign, describe);
        break;
      case oracle::kind::infinite:
        count.expect(bits == (sign | 0x7f80'0000u), describe);
        break;
      default:  // every number of every format is a float
        count.expect(bits == (sign | std::bit_cast<std::uint32_t>(static_cast<float>(right.magnitude))),
                     describe);
    }
  }
  count.require(6 * f.codes());
}

TEST_CASE("from_bits drops what is beyond the width", "[format][floating]") {
  STATIC_REQUIRE(fp6_e3m2::from_bits(0xff).bits() == 0x3f);
  STATIC_REQUIRE(fp4_e2m1::from_bits(0x35).bits() == 0x5);
  STATIC_REQUIRE(floating<8, 10>::from_bits(0xffff'ffff).bits() == 0x7'ffff);
  STATIC_REQUIRE(fixed<12, 6>::from_bits(0x0fff).bits() == -1);
  STATIC_REQUIRE(fixed<12, 6>::from_bits(0x07ff).bits() == 0x7ff);
  STATIC_REQUIRE(fixed<12, 6>::from_bits(0x1800).bits() == -0x800);
  STATIC_REQUIRE(fixed<2, 0>::from_bits(3).bits() == -1);
  STATIC_REQUIRE(fixed<32, 16>::from_bits(std::numeric_limits<std::int32_t>::min()).bits() ==
                 std::numeric_limits<std::int32_t>::min());
}

TEST_CASE("the zero-initialised scalar is zero", "[format]") {
  STATIC_REQUIRE(fp16{}.bits() == 0);
  STATIC_REQUIRE(fp8_e4m3fnuz{}.bits() == 0);
  STATIC_REQUIRE(fixed<8, 4>{}.bits() == 0);
}
