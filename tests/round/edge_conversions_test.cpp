// Conversions, comparisons and whole numbers of every floating format, those of more than 16 bits among them,
// on the operands of Berkeley TestFloat, against exact rationals.
#include <bit>
#include <compare>

#include "../every_isa.hpp"
#include "../exact_integers.hpp"
#include "../rational_oracle.hpp"
#include "arithmetic.hpp"
#include "edge_operands.hpp"

using namespace test;

namespace {

template <class T> std::vector<T> numbers(std::uint64_t n) {
  edge_operands operands(oracle::format_of<T>, 5);
  std::vector<T> result;
  for (const std::uint64_t code : operands.few()) result.push_back(from_code<T>(code));
  while (result.size() < n) result.push_back(from_code<T>(operands.any()));
  return result;
}
constexpr std::uint64_t some = 20'000;

template <class T> oracle::operand exact_value(T x) { return oracle::decode(x); }
template <class Source> oracle::operand exact_source(Source x) { return oracle::datum_of(x); }

/// Doubles of the exponents of T's operands, with mantissas of a double's own.
template <class T> std::vector<double> doubles() {
  edge_operands operands(oracle::format_of<T>, 6);
  constexpr auto f = oracle::format_of<T>;
  constexpr int bits = std::numeric_limits<double>::digits - 1;
  const code_list mantissas = patterns(bits);
  std::vector<double> result;
  for (std::uint64_t i = 0; i < some; ++i) {
    const std::uint64_t code = operands.any();
    const auto field = static_cast<int>(code % f.sign() >> f.mantissa_bits);
    // A mantissa beginning with that of a number of T, or any; subnormals of T begin with zeros.
    const std::uint64_t upper = code % (std::uint64_t{1} << f.mantissa_bits);
    const std::uint64_t mantissa =
        (i % 2 == 0 ? upper << (bits - f.mantissa_bits) : 0) +
        (operands.one_of(mantissas) >> (i % 3 * static_cast<unsigned>(f.mantissa_bits)));
    const double x = std::ldexp(1 + std::ldexp(static_cast<double>(mantissa), -bits - 1),
                                field - f.bias() - static_cast<int>(i % 4 == 3 ? i % 32 : 0));
    result.push_back(code < f.sign() ? x : -x);
  }
  return result;
}

template <class T, class Source> void check_all_policies(tally& count, const std::vector<Source>& from) {
  for (const Source x : from) {
    const auto right = oracle::rounded(oracle::ladder_of<T>(), exact_source(x));
    for_each_policy<T>([&]<class U>() {
      const U result = x;
      count.expect(oracle::matches_on_ladder(right, result),
                   [&] { return text(name_of<U>(), "of", name_of<Source>(), x, "gives", result.bits()); });
    });
  }
}

std::uint64_t one_of(generator& random, const code_list& list) {
  return list[static_cast<std::size_t>(below(random, list.size()))];
}

/// Integers of patterns of every length, and sums and differences of two of them.
template <class Integer> std::vector<Integer> integers() {
  generator random(8);
  std::vector<Integer> result;
  constexpr int bits = std::numeric_limits<Integer>::digits;
  const code_list all = patterns(bits);
  for (const std::uint64_t pattern : all) result.push_back(static_cast<Integer>(pattern));
  while (result.size() < some / 4) {
    const code_list list = patterns(1 + static_cast<int>(below(random, bits)));
    const std::uint64_t x = one_of(random, list) + one_of(random, all);
    result.push_back(static_cast<Integer>(below(random, 2) != 0 ? x : std::uint64_t{0} - x));
  }
  return result;
}

using integer_types = std::tuple<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("doubles and floats with TestFloat's patterns are rounded once", "[round][edges]",
                        edge_floating_formats) {
  const std::vector<double> wide = doubles<TestType>();
  std::vector<float> floats;
  for (const auto x : numbers<narrow::floating<8, 23>>(some))
    if (isfinite(x)) floats.push_back(x);
  REQUIRE(floats.size() > some / 2);
  tally count;
  check_all_policies<TestType>(count, wide);
  check_all_policies<TestType>(count, floats);
  count.require((wide.size() + floats.size()) * policy_count<TestType>);
}

TEMPLATE_LIST_TEST_CASE("integers with TestFloat's patterns are rounded once", "[round][edges]",
                        edge_floating_formats) {
  tally count;
  for_each_type<integer_types>(
      [&]<class Integer>() { check_all_policies<TestType>(count, integers<Integer>()); });
  count.require(std::tuple_size_v<integer_types> * (some / 4) * policy_count<TestType>);
}

namespace {

/// The whole numbers that x becomes, as magnitudes.
struct whole {
  mpz_class toward_zero, away, nearest_even, nearest_away;
};
whole whole_of(const oracle::operand& x) {
  const oracle::fraction size = oracle::magnitude(x);
  whole result;
  result.toward_zero = size.above / size.below;
  const mpz_class rest = size.above % size.below;
  result.away = result.toward_zero + (rest != 0 ? 1 : 0);
  const int side = cmp(mpz_class(2 * rest), size.below);
  const bool odd = mpz_class(result.toward_zero % 2) != 0;
  result.nearest_away = side >= 0 ? result.away : result.toward_zero;
  result.nearest_even = side > 0 || (side == 0 && odd) ? result.away : result.toward_zero;
  return result;
}

/// x as convert() gives it: to nearest, within the range of Integer.
template <class Integer> Integer nearest_integer(const oracle::operand& x) {
  using limits = std::numeric_limits<Integer>;
  if (x.what == oracle::kind::nan) return 0;
  if (x.what == oracle::kind::infinite) return x.negative ? limits::min() : limits::max();
  mpz_class n = whole_of(x).nearest_even;
  if (x.negative) n = -n;
  if (n < test::exact_integer(limits::min())) return limits::min();
  if (n > test::exact_integer(limits::max())) return limits::max();
  return static_cast<Integer>(test::bits_of(n));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("numbers become integers: cut off in a cast, to nearest in an array",
                        "[round][edges]", edge_floating_formats) {
  const std::vector<TestType> from = numbers<TestType>(some / 4);
  tally count;
  for_each_type<integer_types>([&]<class Integer>() {
    using limits = std::numeric_limits<Integer>;
    for_each_isa([&](const std::string& isa) {
      std::vector<Integer> to(from.size());
      narrow::convert(from, to);
      for (std::size_t i = 0; i < from.size(); ++i) {
        const Integer right = nearest_integer<Integer>(exact_value(from[i]));
        count.expect(to[i] == right, [&] {
          return text(isa, name_of<TestType>(), from[i].bits(), "gives", std::to_string(to[i]), "not",
                      std::to_string(right));
        });
      }
    });
    for (const TestType x : from) {
      const oracle::operand exact = exact_value(x);
      if (exact.what != oracle::kind::number && exact.what != oracle::kind::zero) continue;
      mpz_class right = whole_of(exact).toward_zero;
      if (exact.negative) right = -right;
      // What is beyond the range is undefined, as it is of floats.
      if (right > mpz_class(std::to_string(limits::max())) ||
          right < mpz_class(std::to_string(limits::min())))
        continue;
      const auto result = static_cast<Integer>(x);
      count.expect(std::to_string(result) == right.get_str(),
                   [&] { return text(name_of<TestType>(), x.bits(), "gives", std::to_string(result)); });
    }
  });
  count.require_at_least(std::tuple_size_v<integer_types> * isa_count() * from.size() + from.size());
}

TEMPLATE_LIST_TEST_CASE("whole numbers near TestFloat's operands", "[round][edges]", edge_floating_formats) {
  const oracle::ladder& t = oracle::ladder_of<TestType>();
  tally count;
  std::uint64_t finite = 0;
  for (const TestType x : numbers<TestType>(some)) {
    const oracle::operand exact = exact_value(x);
    if (exact.what != oracle::kind::number) continue;
    ++finite;
    const whole near = whole_of(exact);
    const auto expect = [&](TestType result, const mpz_class& right, const char* name) {
      oracle::outcome expected{oracle::kind::zero, exact.negative};
      if (right != 0) expected = oracle::locate(t, exact.negative, {right, 1});
      count.expect(oracle::matches_on_ladder(expected, result),
                   [&] { return text(name_of<TestType>(), name, x.bits(), "gives", result.bits()); });
    };
    expect(trunc(x), near.toward_zero, "trunc");
    expect(round(x), near.nearest_away, "round");
    expect(rint(x), near.nearest_even, "rint");
    expect(nearbyint(x), near.nearest_even, "nearbyint");
    expect(floor(x), exact.negative ? near.away : near.toward_zero, "floor");
    expect(ceil(x), exact.negative ? near.toward_zero : near.away, "ceil");
  }
  REQUIRE(finite > some / 4);
  count.require(6 * finite);
}

TEMPLATE_LIST_TEST_CASE("TestFloat's operands are ordered by their exact values", "[round][edges]",
                        edge_floating_formats) {
  using oracle::kind;
  constexpr auto f = oracle::format_of<TestType>;
  edge_operands operands(f, 2024);
  const auto pairs = operands.pairs();
  const auto order = [](const oracle::datum& a, const oracle::datum& b) -> std::partial_ordering {
    if (a.what == kind::nan || b.what == kind::nan) return std::partial_ordering::unordered;
    const auto value = [](const oracle::datum& x) {  // beyond every format's numbers where it is infinite
      const oracle::real size =
          x.what == kind::infinite ? oracle::exact(0x1p200L) : oracle::exact(x.magnitude);
      return x.negative ? oracle::real(-size) : size;
    };
    return cmp(value(a), value(b)) <=> 0;
  };
  tally count;
  for (const code_pair& pair : pairs) {
    const auto right = order(f.decode(pair.first), f.decode(pair.second));
    const auto a = from_code<TestType>(pair.first), b = from_code<TestType>(pair.second);
    const bool less = std::is_lt(right), equal = std::is_eq(right), greater = std::is_gt(right);
    count.expect((a <=> b) == right && (a == b) == equal && (a != b) == !equal && (a < b) == less &&
                     (a > b) == greater && (a <= b) == (less || equal) && (a >= b) == (greater || equal),
                 [&] { return text(name_of<TestType>(), pair.first, pair.second); });
  }
  count.require(pairs.size());
}

namespace {

template <class T> oracle::outcome from_exact(const oracle::operand& x) {
  return oracle::rounded(oracle::ladder_of<T>(), x);
}

using destinations = std::tuple<narrow::fp16, narrow::fp8_e4m3fn, narrow::fp4_e2m1, narrow::floating<8, 18>,
                                narrow::floating<6, 21>, narrow::floating<2, 23>,
                                narrow::floating<6, 16, narrow::specials::fnuz>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("TestFloat's operands of one format in others: rounded once", "[round][edges]",
                        edge_floating_formats) {
  const std::vector<TestType> from = numbers<TestType>(some);
  tally count;
  for_each_type<destinations>([&]<class To>() {
    for (const TestType x : from) {
      const auto right = from_exact<To>(exact_value(x));
      const auto check = [&]<class Round, class Overflow>(Round, Overflow) {
        using U = with_policies<To, Round, Overflow>;
        const U result = narrow::narrow_cast<U>(x);
        count.expect(oracle::matches_on_ladder(right, result), [&] {
          return text(name_of<U>(), "of", name_of<TestType>(), x.bits(), "gives", result.bits());
        });
      };
      check(narrow::rounding::nearest_even{}, narrow::overflow::ieee{});
      check(narrow::rounding::upward{}, narrow::overflow::saturate{});
      check(narrow::rounding::to_odd{}, narrow::overflow::ieee{});
    }
  });
  count.require(from.size() * 3 * std::tuple_size_v<destinations>);
}
