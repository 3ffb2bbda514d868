// The operators: result types, mixed operands, comparison.
#include <compare>

#include "../round/arithmetic.hpp"

using namespace test;
using namespace narrow;

namespace {

/// a op b, b op a and the compound assignments all compile and give R, or A where they assign.
template <class A, class B, class R> void check_result() {
  STATIC_REQUIRE(std::same_as<decltype(A() + B()), R>);
  STATIC_REQUIRE(std::same_as<decltype(A() - B()), R>);
  STATIC_REQUIRE(std::same_as<decltype(A() * B()), R>);
  STATIC_REQUIRE(std::same_as<decltype(A() / B()), R>);
  STATIC_REQUIRE(std::same_as<decltype(B() + A()), R>);
  STATIC_REQUIRE(std::same_as<decltype(B() - A()), R>);
  STATIC_REQUIRE(std::same_as<decltype(B() * A()), R>);
  STATIC_REQUIRE(std::same_as<decltype(B() / A()), R>);
  STATIC_REQUIRE(std::same_as<decltype(std::declval<A&>() += B()), A&>);
  STATIC_REQUIRE(std::same_as<decltype(std::declval<A&>() -= B()), A&>);
  STATIC_REQUIRE(std::same_as<decltype(std::declval<A&>() *= B()), A&>);
  STATIC_REQUIRE(std::same_as<decltype(std::declval<A&>() /= B()), A&>);
  STATIC_REQUIRE(std::same_as<std::common_type_t<A, B>, R>);
  STATIC_REQUIRE(std::same_as<std::common_type_t<B, A>, R>);
  STATIC_REQUIRE(std::equality_comparable_with<A, B>);
  STATIC_REQUIRE(std::same_as<decltype(A() == B()), bool>);
  STATIC_REQUIRE(std::same_as<decltype(B() != A()), bool>);
  STATIC_REQUIRE(std::same_as<decltype(A() <=> B()), std::partial_ordering>);
  STATIC_REQUIRE(std::same_as<decltype(B() <=> A()), std::partial_ordering>);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("result types of the operators", "[format][operators]", scalar_formats) {
  check_result<TestType, TestType, TestType>();
  for_each_type<mixed_with<TestType>>(
      []<class B>() { check_result<TestType, B, std::conditional_t<std::integral<B>, TestType, B>>(); });
  STATIC_REQUIRE(std::same_as<decltype(-TestType()), TestType>);
  STATIC_REQUIRE(std::same_as<decltype(+TestType()), TestType>);
  STATIC_REQUIRE(std::same_as<decltype(++std::declval<TestType&>()), TestType&>);
  STATIC_REQUIRE(std::same_as<decltype(--std::declval<TestType&>()), TestType&>);
  STATIC_REQUIRE(std::same_as<decltype(std::declval<TestType&>()++), TestType>);
  STATIC_REQUIRE(std::same_as<decltype(std::declval<TestType&>()--), TestType>);
}

namespace {

/// x op n and n op x for integers up to 64 bits, which enter exactly.
template <class T, class Integer> void check_with_integers(tally& count, generator& random) {
  for (int i = 0; i < 400; ++i) {
    const auto x = from_code<T>(below(random, oracle::format_of<T>.codes()));
    auto n = static_cast<Integer>(random() >> below(random, 64));
    if (i < 8) n = i % 2 != 0 ? std::numeric_limits<Integer>::min() : std::numeric_limits<Integer>::max();
    if (i % 4 == 3) {  // next to the midpoints above powers of two, where the integer's last bit decides
      const int room = std::numeric_limits<Integer>::digits - oracle::format_of<T>.mantissa_bits - 2;
      if (room > 0) {
        const auto unit = std::uint64_t{1} << below(random, static_cast<std::uint64_t>(room));
        const std::uint64_t middle = (std::uint64_t{1} << (oracle::format_of<T>.mantissa_bits + 1)) + 1;
        n = static_cast<Integer>(middle * unit + below(random, 3) - 1);
      }
    }
    const auto& t = oracle::table_of<T>();
    const oracle::operand a = oracle::decode(x), b = oracle::datum_of(n);
    const auto check = [&]<class Op>(Op) {
      const auto describe = [&] { return text(name_of<T>(), x.bits(), Op::name, std::to_string(n)); };
      count.expect(oracle::matches(Op::exact(t, a, b), Op::apply(x, n)), describe);
      count.expect(oracle::matches(Op::exact(t, b, a), Op::apply(n, x)), describe);
    };
    check(plus{});
    check(minus{});
    check(times{});
    check(over{});
  }
}

}  // namespace

using some_floating = std::tuple<fp16, bf16, fp8_e4m3fn, fp8_e5m2fnuz, fp4_e2m1>;
TEMPLATE_LIST_TEST_CASE("an integer operand enters exactly, however large", "[format][operators]",
                        some_floating) {
  generator random(2024);
  tally count;
  check_with_integers<TestType, int>(count, random);
  check_with_integers<TestType, long>(count, random);
  check_with_integers<TestType, unsigned long>(count, random);
  check_with_integers<with_policies<TestType, rounding::downward, overflow::saturate>, long>(count, random);
  count.require(4 * 400 * 8);
}

using some_fixed = std::tuple<fixed<8, 4>, fixed<16, 8>, fixed<25, 3>, fixed<32, 16>, fixed<32, 31>>;
TEMPLATE_LIST_TEST_CASE("fixed: an integer operand enters exactly, however large",
                        "[format][operators][fixed]", some_fixed) {
  generator random(2024);
  tally count;
  const auto check_one = [&]<class T, class Integer>(T x, Integer n) {
    const mpq_class a = oracle::value(x), b = oracle::value(oracle::operand(oracle::datum_of(n)));
    const auto check = [&]<class Op>(Op) {
      const auto describe = [&] {
        return text(name_of<T>(), std::to_string(x.bits()), Op::name, std::to_string(n));
      };
      count.expect(oracle::matches(Op::exact(T::fraction_length, a, b), Op::apply(x, n)), describe);
      count.expect(oracle::matches(Op::exact(T::fraction_length, b, a), Op::apply(n, x)), describe);
    };
    check(plus{});
    check(minus{});
    check(times{});
    check(over{});
  };
  const auto check = [&]<class T>(std::type_identity<T>) {
    for (int i = 0; i < 500; ++i) {
      const auto x = T::from_bits(static_cast<typename T::bits_type>(random()));
      check_one(x, static_cast<int>(random()) >> below(random, 32));
      check_one(x, static_cast<std::int64_t>(random()) >> below(random, 64));
      check_one(x, random() >> below(random, 64));
    }
    check_one(std::numeric_limits<T>::lowest(), std::numeric_limits<long>::min());
    check_one(std::numeric_limits<T>::min(), std::numeric_limits<unsigned long>::max());
  };
  check(std::type_identity<TestType>{});
  check(std::type_identity<with_policies<TestType, rounding::upward, overflow::wrap>>{});
  count.require(2 * 1502 * 8);
}

TEST_CASE("with float, double and long double: that type's own arithmetic", "[format][operators]") {
  const fp16 x = 1.5f;
  REQUIRE(x + 0.1f == 1.5f + 0.1f);
  REQUIRE(0.1 - x == 0.1 - 1.5);
  REQUIRE(x * 0.1L == 1.5L * 0.1L);
  REQUIRE(1 / 3.0f * x == 1 / 3.0f * 1.5f);
  // The value of a wide fixed enters a float sum in double.
  const auto y = fixed<32, 16>::from_bits(0x0123'4567);
  REQUIRE(y + 0.25f == static_cast<float>(static_cast<double>(y) + 0.25));
  REQUIRE(y - 1.0 == static_cast<double>(y) - 1.0);
  fp16 z = 1;
  z += 0.1f;
  REQUIRE(z == fp16(1.1f));
  z = 1;
  z *= 65536.0;
  REQUIRE(isinf(z));
  z = 2048;
  z += 1;  // a tie, exactly
  REQUIRE(z == 2048);
  z += 3;
  REQUIRE(z == 2052);
  float f = 1;
  f += x;
  REQUIRE(f == 2.5f);
  double d = x;
  d /= x;
  REQUIRE(d == 1);
  const int i = static_cast<int>(x);
  REQUIRE(i == 1);
  REQUIRE(static_cast<bool>(x));
  REQUIRE(!static_cast<bool>(fp16(-0.0f)));
}

TEST_CASE("increment and decrement", "[format][operators]") {
  for_each_type<scalar_formats>([]<class T>() {
    INFO(name_of<T>());
    T x = 0;
    const bool holds_1 = std::numeric_limits<T>::max() >= 1;
    const T one = 1;
    REQUIRE(x++ == 0);
    REQUIRE(x == one);
    if (holds_1) REQUIRE(x == 1);
    REQUIRE(x-- == one);
    if (holds_1) REQUIRE(x == 0);
    x = 0;
    REQUIRE(&++x == &x);
    REQUIRE(x == one);
    x = 0;
    REQUIRE(&--x == &x);
    REQUIRE(x == -1);
  });
  constexpr fp16 three = [] {
    fp16 x = 1;
    ++x;
    x++;
    return x;
  }();
  STATIC_REQUIRE(three == 3);
}

TEST_CASE("unary minus changes the sign bit and nothing else", "[format][operators]") {
  for_each_type<floating_formats>([]<class T>() {
    constexpr auto f = oracle::format_of<T>;
    tally count;
    for (std::uint64_t code = 0; code < f.codes(); ++code) {
      const T x = from_code<T>(code);
      const bool alone = f.special == specials::fnuz && code % f.sign() == 0;  // its zero and its NaN
      count.expect((-x).bits() == (alone ? code : code ^ f.sign()), [&] { return text(name_of<T>(), code); });
      count.expect((+x).bits() == code, [&] { return text(name_of<T>(), code); });
    }
    count.require(2 * f.codes());
  });
}

TEST_CASE("the operators are constant expressions", "[format][operators]") {
  STATIC_REQUIRE(fp16(1) + fp16(2) == fp16(3));
  STATIC_REQUIRE(fp16(1) - 3 == -2);
  STATIC_REQUIRE(2 * bf16(1.5) == 3.0f);
  STATIC_REQUIRE(fp8_e4m3fn(1) / 4 == 0.25);
  STATIC_REQUIRE(fp16(2048) + 1 == 2048);
  STATIC_REQUIRE(1 / fp16(0) == std::numeric_limits<fp16>::infinity());
  STATIC_REQUIRE(isnan(fp16(0) / 0));
  STATIC_REQUIRE(fp16(1) + 0.5f == 1.5f);
  STATIC_REQUIRE(fixed<8, 4>(1.5) * fixed<8, 4>(2.5) == 3.75);
  STATIC_REQUIRE((fp16(1) <=> fp16(2)) == std::partial_ordering::less);
  STATIC_REQUIRE(fp16(1) < 2 && 2.0 > fp16(1) && fp16(1) != 1.0000001);
  STATIC_REQUIRE(fp16(-0.0f) == fp16(0));
  STATIC_REQUIRE(sqrt(fp16(2)) == fp16(1.4142135623730951));
  STATIC_REQUIRE(fma(fp16(3), fp16(5), fp16(-15)).bits() == 0);
  STATIC_REQUIRE(abs(bf16(-3)) == 3);
  STATIC_REQUIRE(static_cast<float>(fp8_e5m2(0.75)) == 0.75f);
  constexpr fp16 x = [] {
    fp16 y = 1;
    y += 2;
    y *= fp16(3);
    y -= 0.5f;
    y /= 4.0;
    return y;
  }();
  STATIC_REQUIRE(x == 2.125);
  constexpr fp16 long_double = 1.25L;
  STATIC_REQUIRE(long_double == 1.25L);
}
