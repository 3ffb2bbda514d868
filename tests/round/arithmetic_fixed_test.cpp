// + - * / sqrt fma of the fixed formats against the oracle.
#include "arithmetic.hpp"

using namespace test;

namespace {

template <class T> T from_mantissa(std::int64_t mantissa) {
  return T::from_bits(static_cast<typename T::bits_type>(mantissa));
}

/// All pairs of up to 8 bits; wider, the ends, zero and one with each other, and random mantissas of every
/// length.
template <class T> std::vector<std::pair<std::int64_t, std::int64_t>> mantissa_pairs() {
  constexpr std::int64_t end = std::int64_t{1} << (T::word_length - 1),
                         one = std::int64_t{1} << T::fraction_length;
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  if (T::word_length <= 8) {
    for (std::int64_t a = -end; a < end; ++a)
      for (std::int64_t b = -end; b < end; ++b) result.emplace_back(a, b);
    return result;
  }
  const std::int64_t edges[] = {
      -end, -end + 1, -end / 2 - 1,           -one - 1, -one,    -one + 1, -2, -1, 0, 1,
      2,    one - 1,  std::min(one, end - 1), end / 2,  end - 2, end - 1};
  for (const auto a : edges)
    for (const auto b : edges) result.emplace_back(a, b);
  generator random(2024);
  const auto mantissa = [&] {
    const auto bits = static_cast<std::int64_t>(random()) >> (64 - T::word_length);
    return bits >> below(random, static_cast<std::uint64_t>(T::word_length));
  };
  for (int i = 0; i < 20'000; ++i) result.emplace_back(mantissa(), mantissa());
  return result;
}

template <class T, class Op> void check_fixed(tally& count, std::int64_t a, std::int64_t b) {
  const auto right =
      Op::exact(T::fraction_length, oracle::value(from_mantissa<T>(a)), oracle::value(from_mantissa<T>(b)));
  for_each_policy<T>([&]<class U>() {
    const U result = Op::apply(from_mantissa<U>(a), from_mantissa<U>(b));
    count.expect(oracle::matches(right, result), [&] {
      return text(name_of<U>(), std::to_string(a), Op::name, std::to_string(b), "gives",
                  std::to_string(result.bits()));
    });
  });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("fixed: + - * / give the exact result rounded once", "[round][arithmetic][fixed]",
                        fixed_formats) {
  const auto pairs = mantissa_pairs<TestType>();
  tally count;
  for (const auto& [a, b] : pairs) {
    check_fixed<TestType, plus>(count, a, b);
    check_fixed<TestType, minus>(count, a, b);
    check_fixed<TestType, times>(count, a, b);
    check_fixed<TestType, over>(count, a, b);
  }
  count.require(pairs.size() * 4 * policy_count<TestType>);
}

TEMPLATE_LIST_TEST_CASE("fixed: a double beside it enters exactly", "[round][arithmetic][fixed]",
                        fixed_formats) {
  using narrow::detail::literal;
  std::vector<double> literals{0.0,        -0.0,
                               1.0,        -1.0,
                               0.5,        0.1,
                               -0.1,       1.0 / 3,
                               2.5,        0.1f,
                               -0.01f,     3.0,
                               1e10,       1e300,
                               -1e-20,     0x1p-126,
                               0x1.8p-127, 0x1p-128,
                               5e-324,     0x1p53,
                               0x1p-52,    1e-3f,
                               -0x1p31,    0x1p-31,
                               65535.0,    0x1.fffffffffffffp-1};
  generator random(5);
  for (int i = 0; i < 30; ++i)
    literals.push_back(std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), -40 - i));
  auto pairs = mantissa_pairs<TestType>();
  std::shuffle(pairs.begin(), pairs.end(), random);
  pairs.resize(200);
  constexpr int fraction_length = TestType::fraction_length;
  tally count;
  for (const auto& pair : pairs)
    for (const double b : literals) {
      const std::int64_t a = pair.first;
      const mpq_class x = oracle::value(from_mantissa<TestType>(a)), y = b;
      const auto product = oracle::rounded(fraction_length, mpq_class(x * y));
      const auto sum = oracle::rounded(fraction_length, mpq_class(x + y));
      const auto difference = oracle::rounded(fraction_length, mpq_class(y - x));
      auto quotient = oracle::quotient(fraction_length, x, y);
      if (b == 0) quotient.negative = (a < 0) != std::signbit(b);  // infinite: rationals have one zero
      for_each_policy<TestType>([&]<class U>() {
        const U u = from_mantissa<U>(a);
        const literal v(b);
        const auto what = [&] { return text(name_of<U>(), std::to_string(a), "and", b); };
        count.expect(oracle::matches(product, u * v), what);
        count.expect(oracle::matches(product, v * u), what);
        count.expect(oracle::matches(sum, u + v), what);
        count.expect(oracle::matches(difference, v - u), what);
        count.expect(oracle::matches(quotient, u / v), what);
      });
    }
  count.require(pairs.size() * literals.size() * 5 * policy_count<TestType>);
}

TEMPLATE_LIST_TEST_CASE("fixed: sqrt, fma and unary minus give the exact result rounded once",
                        "[round][arithmetic][fixed]", fixed_formats) {
  const auto pairs = mantissa_pairs<TestType>();
  constexpr int fraction_length = TestType::fraction_length;
  tally count;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::int64_t a = pairs[i].first, b = pairs[i].second;
    const std::int64_t c = pairs[(i * 7919 + 1) % pairs.size()].first;
    const mpq_class x = oracle::value(from_mantissa<TestType>(a)),
                    y = oracle::value(from_mantissa<TestType>(b)),
                    z = oracle::value(from_mantissa<TestType>(c));
    const auto root = oracle::square_root(fraction_length, x);
    const auto sum = oracle::rounded(fraction_length, mpq_class(x * y + z));
    const auto negative = oracle::rounded(fraction_length, mpq_class(-x));
    for_each_policy<TestType>([&]<class U>() {
      const U u = from_mantissa<U>(a), v = from_mantissa<U>(b), w = from_mantissa<U>(c);
      count.expect(oracle::matches(root, sqrt(u)), [&] { return text(name_of<U>(), "sqrt", u.bits()); });
      count.expect(oracle::matches(sum, fma(u, v, w)),
                   [&] { return text(name_of<U>(), u.bits(), '*', v.bits(), '+', w.bits()); });
      count.expect(oracle::matches(negative, -u), [&] { return text(name_of<U>(), '-', u.bits()); });
    });
  }
  count.require(pairs.size() * 3 * policy_count<TestType>);
}
