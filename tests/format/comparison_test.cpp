// Comparison of the narrow scalars with themselves and with every built-in type.
#include <bit>
#include <compare>

#include "../round/arithmetic.hpp"

using namespace test;
using namespace narrow;

namespace {

/// The order of two data, as a standard ordering.
std::partial_ordering order(const oracle::datum& a, const oracle::datum& b) {
  using oracle::kind;
  if (a.what == kind::nan || b.what == kind::nan) return std::partial_ordering::unordered;
  const auto infinity = [](const oracle::datum& x) {
    return x.what != kind::infinite ? 0 : x.negative ? -1 : 1;
  };
  if (infinity(a) != infinity(b)) return infinity(a) <=> infinity(b);
  const auto value = [](const oracle::datum& x) {
    return x.what != kind::number ? 0 : x.negative ? -x.magnitude : x.magnitude;
  };
  const long double x = value(a), y = value(b);
  return x < y   ? std::partial_ordering::less
         : x > y ? std::partial_ordering::greater
                 : std::partial_ordering::equivalent;
}

template <class A, class B> void check_order(tally& count, A a, B b, std::partial_ordering right) {
  using std::is_eq, std::is_lt, std::is_gt;
  const bool less = right<0, equal = right == 0, greater = right> 0;
  const bool match = (a <=> b) == right && (a == b) == equal && (a != b) == !equal && (a < b) == less &&
                     (a > b) == greater && (a <= b) == (less || equal) && (a >= b) == (greater || equal);
  count.expect(match, [&] { return text(name_of<A>(), +a, "and", name_of<B>(), +b); });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("comparison of all pairs of 8-bit codes, of the edges of wider ones",
                        "[format][operators]", floating_formats) {
  constexpr auto f = oracle::format_of<TestType>;
  generator random(2024);
  const auto pairs = f.codes() <= 256 ? all_pairs(f) : sample_pairs(f, 100'000, random);
  tally count;
  for (const auto& [a, b] : pairs)
    check_order(count, from_code<TestType>(a), from_code<TestType>(b), order(f.decode(a), f.decode(b)));
  count.require(pairs.size());
}

namespace {

template <class T, class B> void check_against(tally& count, T x, const oracle::datum& exact, B b) {
  check_order(count, x, b, order(exact, oracle::datum_of(b)));
  check_order(count, b, x, order(oracle::datum_of(b), exact));
}

/// A value of B that is x, or next to it, or no more than B's best approximation.
template <class B> B nearby(long double x, int steps) {
  if constexpr (std::floating_point<B>) {
    const auto max = static_cast<long double>(std::numeric_limits<B>::max());
    auto result = static_cast<B>(std::clamp(x, -max, max));
    if (steps != 0) result = std::nextafter(result, static_cast<B>(steps) * std::numeric_limits<B>::max());
    return result;
  } else if constexpr (std::same_as<B, bool>) {
    return (x != 0) != (steps == 1);
  } else {
    const auto max = static_cast<long double>(std::numeric_limits<B>::max()),
               min = static_cast<long double>(std::numeric_limits<B>::min());
    return static_cast<B>(std::clamp(std::floor(x) + static_cast<long double>(steps), min, max));
  }
}

template <class T> void check_with_builtins(tally& count, T x, const oracle::datum& exact) {
  const long double value =
      exact.what == oracle::kind::number ? (exact.negative ? -1 : 1) * exact.magnitude : 0;
  for_each_type<mixed_with<T>>([&]<class B>() {
    for (const int steps : {-1, 0, 1}) check_against(count, x, exact, nearby<B>(value, steps));
    check_against(count, x, exact, std::numeric_limits<B>::max());
    check_against(count, x, exact, std::numeric_limits<B>::lowest());
    check_against(count, x, exact, B{0});
    if constexpr (std::floating_point<B>)
      check_against(count, x, exact, std::numeric_limits<B>::denorm_min());
  });
  // What is not finite, by bits.
  for (const bool negative : {false, true}) {
    const oracle::datum infinity{oracle::kind::infinite, negative, 0}, nan{oracle::kind::nan, negative, 0};
    const auto sign = std::uint64_t{negative} << 63;
    const auto f32 = [&](std::uint32_t bits) {
      return std::bit_cast<float>(bits | static_cast<std::uint32_t>(sign >> 32));
    };
    const auto f64 = [&](std::uint64_t bits) { return std::bit_cast<double>(bits | sign); };
    check_order(count, x, f32(0x7f80'0000), order(exact, infinity));
    check_order(count, f64(0x7ff0'0000'0000'0000), x, order(infinity, exact));
    check_order(count, x, f32(0x7fc0'0000), order(exact, nan));
    check_order(count, f32(0x7fa0'0000), x, order(nan, exact));
    check_order(count, x, f64(0x7ff8'0000'0000'0001), order(exact, nan));
    check_order(count, x, f64(0), order(exact, {oracle::kind::zero, negative, 0}));
  }
}

/// Six comparisons each way with each type, one more with the three floating-point types, and what is not
/// finite.
template <class T>
constexpr std::uint64_t comparisons_per_number = 2 * (std::tuple_size_v<mixed_with<T>> * 6 + 3) + 2 * 6;

}  // namespace

TEMPLATE_LIST_TEST_CASE("comparison with every built-in type is exact", "[format][operators]",
                        floating_formats) {
  constexpr auto f = oracle::format_of<TestType>;
  tally count;
  std::uint64_t numbers = 0;
  for (const auto code : edge_codes(f)) {
    check_with_builtins(count, from_code<TestType>(code), f.decode(code));
    ++numbers;
  }
  REQUIRE(numbers > 10);
  count.require(comparisons_per_number<TestType> * numbers);
}

TEMPLATE_LIST_TEST_CASE("fixed: comparison with every built-in type is exact", "[format][operators][fixed]",
                        fixed_formats) {
  tally count;
  std::uint64_t numbers = 0;
  generator random(2024);
  const auto check = [&](TestType x) {
    check_with_builtins(count, x, oracle::datum_of(static_cast<double>(x)));
    ++numbers;
  };
  using limits = std::numeric_limits<TestType>;
  for (const TestType x : {limits::lowest(), limits::max(), limits::min(), -limits::min(), TestType(0),
                           TestType(1), TestType(-1)})
    check(x);
  for (int i = 0; i < 100; ++i)
    check(TestType::from_bits(static_cast<typename TestType::bits_type>(random())));
  count.require(comparisons_per_number<TestType> * numbers);
}
