// What narrow scalars take beside numbers of the built-in types: what float takes; and that none of it
// throws.
#include <compare>
#include <cstddef>
#include <functional>

#include "../round/arithmetic.hpp"

using namespace test;
using namespace narrow;

namespace {

enum plain { least = -3, two = 2, most = 1000 };
enum of_bool : bool { no, yes };
enum of_signed_char : signed char {};
enum of_unsigned_char : unsigned char {};
enum of_char16 : char16_t {};
enum of_short : short {};
enum of_unsigned : unsigned {};
enum of_long : long {};
enum of_unsigned_long : unsigned long {};
enum declared_only : int;
enum class scoped { one };
enum class scoped_long : long {};
struct aggregate {};
using enumerations = std::tuple<plain, of_bool, of_signed_char, of_unsigned_char, of_char16, of_short,
                                of_unsigned, of_long, of_unsigned_long, declared_only>;
/// As with built-in types: all for one format of each kind, a few for the others.
template <class T>
using mixed_enumerations = std::conditional_t<std::same_as<T, fp16> || std::same_as<T, fixed<32, 16>>,
                                              enumerations, std::tuple<plain, of_bool, of_unsigned_long>>;
using others = std::tuple<bool, char, signed char, unsigned char, wchar_t, char8_t, char16_t, char32_t, short,
                          unsigned short, int, unsigned, long, unsigned long, long long, unsigned long long,
                          std::size_t, std::ptrdiff_t, float, double, long double, narrow::detail::int128,
                          narrow::detail::uint128, scoped, scoped_long, std::byte, std::nullptr_t, void*,
                          const char*, int*, int[2], aggregate, int aggregate::*, void (*)()>;

/// The enumerators that E can have: its integers of 8 bits; of wider ones some of every length.
template <class E> std::vector<E> values_of() {
  using Integer = std::underlying_type_t<E>;
  if constexpr (std::same_as<E, plain>) {
    return {least, two, most, plain{}};
  } else if constexpr (std::same_as<Integer, bool>) {
    return {no, yes};
  } else {
    std::vector<E> values{E{}, static_cast<E>(std::numeric_limits<Integer>::min()),
                          static_cast<E>(std::numeric_limits<Integer>::max())};
    generator random(2024);
    for (int i = 0; i < 200; ++i)
      values.push_back(static_cast<E>(static_cast<Integer>(random() >> below(random, 64))));
    return values;
  }
}

/// Each use of `e` beside `x` against the same of its integer.
template <class T, class E> void check_enumerator(tally& count, T x, E e) {
  const auto n = static_cast<std::underlying_type_t<E>>(e);
  const auto check = [&](const char* what, auto use) {
    seed(7);
    const T by_enumerator = use(e);
    seed(7);
    const T by_integer = use(n);
    count.expect(by_enumerator.bits() == by_integer.bits(),
                 [&] { return text(name_of<T>(), what, name_of<E>(), std::to_string(n)); });
  };
  check("implicit", [](auto v) -> T { return v; });
  check("assigned", [](auto v) {
    T y{};
    y = v;
    return y;
  });
  check("cast", [](auto v) { return narrow_cast<T>(v); });
  check("cast upward", [](auto v) { return narrow_cast<T>(v, rounding::upward{}); });
  check("+", [x](auto v) -> T { return x + v; });
  check("-", [x](auto v) -> T { return v - x; });
  check("*", [x](auto v) -> T { return x * v; });
  check("/", [x](auto v) -> T { return v / x; });
  check("+=", [x](auto v) {
    T y = x;
    return y += v;
  });
  check("-=", [x](auto v) {
    T y = x;
    return y -= v;
  });
  check("*=", [x](auto v) {
    T y = x;
    return y *= v;
  });
  check("/=", [x](auto v) {
    T y = x;
    return y /= v;
  });
  check("fmin", [x](auto v) -> T { return fmin(x, v); });
  check("fmax", [x](auto v) -> T { return fmax(v, x); });
  check("pow", [x](auto v) -> T { return pow(x, v); });
  count.expect((x < e) == (x < n) && (e <= x) == (n <= x) && (x == e) == (x == n),
               [&] { return text(name_of<T>(), "compared", std::to_string(n)); });
}
constexpr std::uint64_t uses = 16;

}  // namespace

TEMPLATE_LIST_TEST_CASE("implicit from whatever becomes a float implicitly, and from nothing else",
                        "[format][operands]", scalar_formats) {
  const auto check = []<class From>() {
    STATIC_REQUIRE(std::is_convertible_v<From, TestType> == std::is_convertible_v<From, float>);
    STATIC_REQUIRE(std::is_assignable_v<TestType&, From> == std::is_assignable_v<float&, From>);
  };
  for_each_type<enumerations>(check);
  for_each_type<others>(check);
  // A lone number of a block format is a float.
  for_each_type<enumerations>([]<class From>() { STATIC_REQUIRE(std::is_convertible_v<From, bfp<8>>); });
  STATIC_REQUIRE(!std::is_convertible_v<scoped, bfp<8>>);
}

TEMPLATE_LIST_TEST_CASE("an enumerator is the integer that it stands for", "[format][operands]",
                        scalar_formats) {
  tally count;
  std::uint64_t cases = 0;
  generator random(11);
  for_each_type<mixed_enumerations<TestType>>([&]<class E>() {
    STATIC_REQUIRE(std::same_as<std::common_type_t<TestType, E>, TestType>);
    STATIC_REQUIRE(std::same_as<decltype(TestType() * E()), TestType>);
    STATIC_REQUIRE(std::same_as<decltype(E() / TestType()), TestType>);
    STATIC_REQUIRE(std::same_as<decltype(E() <=> TestType()), std::partial_ordering>);
    const auto values = values_of<E>();
    for (const E e : values) {
      const auto x = TestType::from_bits(static_cast<typename TestType::bits_type>(random()));
      check_enumerator(count, x, e);
      check_enumerator(
          count, std::bit_cast<with_policies<TestType, rounding::stochastic, overflow::saturate>>(x), e);
    }
    cases += 2 * uses * values.size();
  });
  count.require(cases);
}

TEST_CASE("bit-fields and enumerators as they stand in code", "[format][operands]") {
  struct {
    unsigned three : 3;
    of_signed_char minus_three : 4;
    int five : 5;
  } fields{3, static_cast<of_signed_char>(-3), 5};
  const fp16 x = 2;
  fp16 y = fields.three;
  REQUIRE(y == 3);
  y = fields.minus_three;
  REQUIRE(y == -3);
  REQUIRE(x * fields.five == 10);
  REQUIRE(x * two == 4);
  REQUIRE(x / std::size_t{4} == 0.5f);
  REQUIRE(u8'a' - x == 95);
  const fixed<8, 4> z = two;
  REQUIRE(z == two);
  REQUIRE(z + yes == 3);
  constexpr fp16 constant = two;
  STATIC_REQUIRE(constant * two == 4);
}

namespace {

/// n with all but its leading 62 bits replaced by one that says whether they were zero: rounds as n does, in
/// every mode but the stochastic one.
long double rounded_to_odd(narrow::detail::int128 n) {
  auto magnitude = static_cast<narrow::detail::uint128>(n);
  if (n < 0) magnitude = 0 - magnitude;
  int exponent = 0;
  bool sticky = false;
  for (; magnitude >> 62 != 0; magnitude >>= 1, ++exponent) sticky = sticky || (magnitude & 1) != 0;
  const auto result = std::ldexp(
      static_cast<long double>(static_cast<std::uint64_t>(magnitude | (sticky ? 1u : 0u))), exponent);
  return n < 0 ? -result : result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("integers of 128 bits are rounded once", "[format][operands]", scalar_formats) {
  using narrow::detail::int128, narrow::detail::uint128;
  generator random(5);
  std::vector<int128> numbers;
  for (int i = 0; i < 600; ++i) {
    auto n = static_cast<int128>(uint128{random()} << 64 | random()) >> below(random, 127);
    if (i % 3 == 0)
      n = static_cast<int128>(uint128{1 + random() % 4096} << below(random, 114)) +
          static_cast<int>(random() % 3) - 1;
    numbers.push_back(n);
  }
  tally count;
  std::uint64_t cases = 0;
  for_each_type<rounding_modes>([&]<class Round>() {
    if constexpr (std::same_as<Round, rounding::stochastic>) return;
    for_each_type<overflows_of<TestType>>([&]<class Overflow>() {
      using T = with_policies<TestType, Round, Overflow>;
      for (const int128 n : numbers) {
        const auto describe = [&] { return text(name_of<T>(), static_cast<long double>(n)); };
        const T x = n;
        T right = rounded_to_odd(n);
        if constexpr (std::same_as<Overflow, overflow::wrap>)  // the low bits, and nothing to round
          right = T::from_bits(
              static_cast<typename T::bits_type>(static_cast<std::uint64_t>(n) << T::fraction_length));
        count.expect(x.bits() == right.bits(), describe);
        if (n >= 0) count.expect(T(static_cast<uint128>(n)).bits() == right.bits(), describe);
        cases += n >= 0 ? 2 : 1;
      }
    });
  });
  count.require(cases);
  REQUIRE(cases > 6 * 2 * 600);
}

namespace {

/// What is so, counted from 0.
void check_facts(std::initializer_list<bool> facts) {
  int number = 0;
  for (const bool is_true : facts) {
    INFO("fact " << number++);
    REQUIRE(is_true);
  }
}

/// Beside each type of Others.
template <class T, class Others> void check_nothrow() {
  for_each_type<Others>([]<class B>() {
    check_facts(
        {std::is_nothrow_constructible_v<T, B>, std::is_nothrow_convertible_v<B, T>,
         std::is_nothrow_assignable_v<T&, B>, std::is_nothrow_convertible_v<T, B> == !std::is_enum_v<B>,
         noexcept(T() + B()), noexcept(B() / T()), noexcept(std::declval<T&>() *= B()), noexcept(T() < B()),
         noexcept(T() == B()), noexcept(B() <=> T()), noexcept(fmin(T(), B())), noexcept(pow(T(), B()))});
  });
  T x{};
  check_facts({std::is_nothrow_default_constructible_v<T>,
               std::is_nothrow_copy_constructible_v<T>,
               noexcept(T::from_bits(1)),
               noexcept(T().bits()),
               std::is_nothrow_convertible_v<T, carrier_t<T>>,
               std::is_nothrow_constructible_v<T, fp16>,
               std::is_nothrow_constructible_v<T, fixed<32, 16>>,
               noexcept(narrow_cast<T>(1.0)),
               noexcept(narrow_cast<T>(fp16(), rounding::stochastic{})),
               noexcept(x + x),
               noexcept(x - x),
               noexcept(x * x),
               noexcept(x / x),
               noexcept(x += x),
               noexcept(x -= x),
               noexcept(x *= x),
               noexcept(x /= x),
               noexcept(-x),
               noexcept(+x),
               noexcept(++x),
               noexcept(x++),
               noexcept(--x),
               noexcept(x--),
               noexcept(x < x),
               noexcept(x == x),
               noexcept(x <=> x),
               noexcept(isnan(x)),
               noexcept(isinf(x)),
               noexcept(isfinite(x)),
               noexcept(isnormal(x)),
               noexcept(signbit(x)),
               noexcept(abs(x)),
               noexcept(fabs(x)),
               noexcept(sqrt(x)),
               noexcept(fma(x, x, x)),
               noexcept(min(x, x)),
               noexcept(max(x, x)),
               noexcept(fmin(x, x)),
               noexcept(fmax(x, x)),
               noexcept(exp(x)),
               noexcept(log(x)),
               noexcept(tanh(x)),
               noexcept(floor(x)),
               noexcept(pow(x, x)),
               noexcept(hypot(x, x)),
               std::is_nothrow_invocable_v<std::hash<T>, T>,
               std::is_nothrow_swappable_v<T>});
  static_cast<void>(x);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("nothing of a number throws, in any rounding mode", "[format][operands]",
                        scalar_formats) {
  check_nothrow<TestType, std::tuple<int, float, plain>>();
  int formats = 1;
  for_each_policy<TestType>([&]<class T>() {
    check_nothrow<T, std::tuple<float>>();
    ++formats;
  });
  REQUIRE(formats == 15);
  STATIC_REQUIRE(std::is_nothrow_constructible_v<bfp<8>, float> &&
                 std::is_nothrow_convertible_v<bfp<8>, float>);
  STATIC_REQUIRE(std::is_nothrow_constructible_v<int8, TestType>);
  STATIC_REQUIRE(noexcept(seed(1)));
}

TEST_CASE("nothing of a number throws, beside any type", "[format][operands]") {
  using all = decltype(std::tuple_cat(builtin_types{}, enumerations{}));
  check_nothrow<fp16, all>();
  check_nothrow<fixed<32, 16>, all>();
}

namespace {

/// A user's policy, which may throw.
struct throwing {
  static bool away(const rounding::tail& t) {
    if (t.inexact()) throw std::string("inexact");
    return false;
  }
  static bool overflows_to_infinity(sign) { return true; }
};

}  // namespace

TEST_CASE("what a rounding policy of the user's throws arrives", "[format][operands]") {
  using picky = floating<5, 10, specials::ieee, throwing>;
  STATIC_REQUIRE(!std::is_nothrow_constructible_v<picky, float>);
  STATIC_REQUIRE(!noexcept(picky() + picky()));
  REQUIRE(picky(0.5f) == 0.5f);
  REQUIRE_THROWS_AS(picky(0.1f), std::string);
  REQUIRE_THROWS_AS(picky(1) / 3, std::string);
  REQUIRE_THROWS_AS(sqrt(picky(2)), std::string);
  REQUIRE_THROWS_AS((narrow_cast<fixed<8, 4>>(0.1, throwing{})), std::string);
}
