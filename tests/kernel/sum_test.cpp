// dot, sum, mean, norm.
#include <array>
#include <span>

#include "../exact_integers.hpp"
#include "product_oracle.hpp"

using namespace test;
using namespace narrow;

namespace {

template <class... Pairs> struct pairs {};
template <class A, class B> struct pair_of {
  using first = A;
  using second = B;
};

using float_pairs = std::tuple<pair_of<fp16, fp16>, pair_of<bf16, bf16>, pair_of<fp8_e4m3fn, fp8_e4m3fn>,
                               pair_of<fp4_e2m1, fp4_e2m1>, pair_of<fp16, float>, pair_of<float, bf16>,
                               pair_of<fp16, bf16>, pair_of<double, fp16>, pair_of<fixed<8, 4>, fp16>,
                               pair_of<fixed<8, 4>, fixed<16, 8>>, pair_of<fixed<32, 16>, bf16>>;

std::vector<std::size_t> lengths() {
  std::vector<std::size_t> result;
  for (std::size_t n = 0; n <= 40; ++n) result.push_back(n);
  for (const std::size_t n : {63u, 64u, 65u, 100u, 1000u}) result.push_back(n);
  return result;
}

/// The exact fixed sum of 2^-2FL units as a number.
template <class Word, int FL> mpq_class exact_value_of(const fixed_sum<Word, FL>& sum) {
  mpq_class result(test::exact_integer(sum.mantissa()), oracle::power_of_two(FL));
  result.canonicalize();
  return result;
}

}  // namespace

TEST_CASE("accumulators: float, or an exact sum of 64 or 128 bits", "[kernel][sum]") {
  STATIC_REQUIRE(std::same_as<accumulator_t<fp16>, float>);
  STATIC_REQUIRE(std::same_as<accumulator_t<bf16>, float>);
  STATIC_REQUIRE(std::same_as<accumulator_t<fp4_e2m1>, float>);
  STATIC_REQUIRE(std::same_as<accumulator_t<fixed<8, 4>>, fixed_sum<std::int64_t, 8>>);
  STATIC_REQUIRE(std::same_as<accumulator_t<fixed<12, 5>>, fixed_sum<std::int64_t, 10>>);
  STATIC_REQUIRE(std::same_as<accumulator_t<fixed<13, 5>>, fixed_sum<detail::int128, 10>>);
  STATIC_REQUIRE(std::same_as<accumulator_t<fixed<32, 31>>, fixed_sum<detail::int128, 62>>);
  STATIC_REQUIRE(!std::is_convertible_v<accumulator_t<fixed<8, 4>>, double>);
  STATIC_REQUIRE(std::is_constructible_v<double, accumulator_t<fixed<8, 4>>>);
  STATIC_REQUIRE(std::is_constructible_v<float, accumulator_t<fixed<8, 4>>>);
  const std::vector<fixed<8, 4>> a = {1.5, -2}, b = {2, 0.25};
  STATIC_REQUIRE(std::same_as<decltype(dot(a, b)), accumulator_t<fixed<8, 4>>>);
  REQUIRE(dot(a, b).mantissa() == 640);  // 2.5 in units of 2^-8
  REQUIRE(static_cast<double>(dot(a, b)) == 2.5);
  REQUIRE(static_cast<float>(dot(a, b)) == 2.5f);
  REQUIRE(dot(a, b) == dot(b, a));
  REQUIRE(dot(a, b) < dot(a, a));
  // To double it rounds once, to nearest even.
  using wide_sum = fixed_sum<detail::int128, 0>;
  constexpr auto large = detail::int128{1} << 60;
  STATIC_REQUIRE(static_cast<double>(wide_sum(large + 128)) == 0x1p60);
  STATIC_REQUIRE(static_cast<double>(wide_sum(large + 129)) == 0x1p60 + 256);
  STATIC_REQUIRE(static_cast<double>(wide_sum(-(large + 129))) == -0x1p60 - 256);
  STATIC_REQUIRE(static_cast<float>(wide_sum(large + (detail::int128{1} << 36))) == 0x1p60f);
  STATIC_REQUIRE(static_cast<float>(wide_sum(large + (detail::int128{1} << 36) + 1)) == 0x1p60f + 0x1p37f);
}

TEMPLATE_LIST_TEST_CASE("dot of floating formats and of mixed pairs: within gamma_n sum |a b|",
                        "[kernel][sum]", float_pairs) {
  using A = typename TestType::first;
  using B = typename TestType::second;
  generator random(2024);
  tally count;
  for (const std::size_t n : lengths()) {
    const auto a = random_numbers<A>(n, random);
    auto b = random_numbers<B>(n, random);
    // Half of the sums cancel: later terms take away earlier ones.
    if (n % 2 == 0)
      for (std::size_t i = n / 2; i < n; ++i)
        b[i] = i % 3 == 0 || a[i] != a[i - n / 2] ? b[i] : -b[i - n / 2];
    exact_sum exact;
    for (std::size_t i = 0; i < n; ++i) exact.add(exact_value(a[i]), exact_value(b[i]));
    const auto result = dot(a, b);
    using wide = std::remove_const_t<decltype(result)>;
    STATIC_REQUIRE(std::floating_point<wide>);
    count.expect(within(result, exact.value, mpq_class(gamma<wide>(n) * exact.magnitude)),
                 [&] { return text(name_of<TestType>(), "length", n, "gives", result); });
  }
  count.require(lengths().size());
}

TEMPLATE_LIST_TEST_CASE("fixed: dot, sum, mean and norm are exact until they are rounded",
                        "[kernel][sum][fixed]", fixed_formats) {
  constexpr int FL = TestType::fraction_length;
  generator random(2024);
  tally count;
  for (const std::size_t n : lengths()) {
    const auto a = random_numbers<TestType>(n, random), b = random_numbers<TestType>(n, random);
    exact_sum products, squares;
    mpq_class total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      products.add(exact_value(a[i]), exact_value(b[i]));
      squares.add(exact_value(a[i]), exact_value(a[i]));
      total += exact_value(a[i]);
    }
    const auto describe = [&] { return text(name_of<TestType>(), "length", n); };
    count.expect(exact_value_of(dot(a, b)) == products.value, describe);
    const auto added = sum(a);
    STATIC_REQUIRE(std::same_as<decltype(added), const fixed_sum<detail::int128, FL>>);
    count.expect(exact_value_of(added) == total, describe);
    using wide = carrier_t<TestType>;
    const wide two_roundings = mean(a), root = norm(a);
    if (n > 0) {
      const mpq_class right = total / static_cast<unsigned long>(n);
      count.expect(within(two_roundings, right, mpq_class(abs(right) * gamma<wide>(2))), describe);
    }
    // |root^2 - sum| <= 3 u sum: half a unit of the root, twice, and that of the sum.
    const mpq_class square = exact_value(root) * exact_value(root);
    count.expect(abs(mpq_class(square - squares.value)) <= squares.value * gamma<wide>(4), describe);
  }
  count.require(4 * lengths().size() - 1);
}

TEMPLATE_TEST_CASE("sum, mean and norm of floating formats", "[kernel][sum]", fp16, bf16, fp8_e4m3fn,
                   fp8_e5m2fnuz, fp4_e2m1) {
  generator random(2024);
  tally count;
  for (const std::size_t n : lengths()) {
    const auto a = random_numbers<TestType>(n, random);
    exact_sum total, squares;
    for (std::size_t i = 0; i < n; ++i) {
      total.add(exact_value(a[i]), 1);
      squares.add(exact_value(a[i]), exact_value(a[i]));
    }
    const auto describe = [&] { return text(name_of<TestType>(), "length", n); };
    STATIC_REQUIRE(std::same_as<decltype(sum(a)), float>);
    STATIC_REQUIRE(std::same_as<decltype(mean(a)), float>);
    STATIC_REQUIRE(std::same_as<decltype(norm(a)), float>);
    count.expect(within(sum(a), total.value, mpq_class(gamma<float>(n) * total.magnitude)), describe);
    if (n > 0)
      count.expect(within(mean(a), mpq_class(total.value / static_cast<unsigned long>(n)),
                          mpq_class(gamma<float>(n + 1) * total.magnitude / static_cast<unsigned long>(n))),
                   describe);
    const mpq_class square = exact_value(norm(a)) * exact_value(norm(a));
    count.expect(abs(mpq_class(square - squares.value)) <= squares.value * gamma<float>(n + 4), describe);
  }
  count.require(3 * lengths().size() - 1);
}

TEMPLATE_LIST_TEST_CASE("4096 ones are 4096", "[kernel][sum]", scalar_formats) {
  if (std::numeric_limits<TestType>::max() >= 1) {
    const std::vector<TestType> ones(4096, TestType(1));
    REQUIRE(static_cast<double>(dot(ones, ones)) == 4096);
    REQUIRE(static_cast<double>(sum(ones)) == 4096);
    REQUIRE(mean(ones) == 1);
    REQUIRE(norm(ones) == 64);
  }
}

TEST_CASE("sums of nothing", "[kernel][sum]") {
  const std::vector<fp16> none;
  const std::vector<fixed<32, 16>> none_fixed;
  REQUIRE(std::bit_cast<std::uint32_t>(dot(none, none)) == 0);
  REQUIRE(std::bit_cast<std::uint32_t>(sum(none)) == 0);
  REQUIRE(norm(none) == 0);
  REQUIRE(detail::is_nan(mean(none)));
  REQUIRE(dot(none_fixed, none_fixed).mantissa() == 0);
  REQUIRE(sum(none_fixed).mantissa() == 0);
  REQUIRE(detail::is_nan(mean(none_fixed)));
}

TEST_CASE("sums take any contiguous ranges and mean what float would not hold", "[kernel][sum]") {
  const std::array<fp16, 4> large{65504, 65504, 65504, 65504};
  REQUIRE(sum(large) == 262016);
  REQUIRE(mean(large) == 65504);
  REQUIRE(norm(large) == 131008);
  REQUIRE(dot(std::span(large).first(2), std::vector<fp16>{2, -1}) == 65504);
  const fp16 plain[] = {1, 2};
  REQUIRE(dot(plain, plain) == 5);
  REQUIRE(dot(plain, std::array<float, 2>{0.5f, 0.25f}) == 1);
  const fixed<32, 31> halves[] = {0.5, -0.5, 0.25};
  REQUIRE(norm(halves) == 0.75);
}

TEST_CASE("NaN and infinity in every position of dot and sum", "[kernel][sum]") {
  using limits = std::numeric_limits<fp16>;
  tally count;
  for (std::size_t n = 1; n <= 20; ++n)
    for (std::size_t position = 0; position < n; ++position)
      for (const fp16 special :
           {limits::quiet_NaN(), limits::signaling_NaN(), limits::infinity(), -limits::infinity()})
        for (const float other : {1.0f, -1.0f, 0.0f}) {
          std::vector<fp16> a(n, 1), b(n, 2);
          a[position] = special;
          b[position] = other;
          special_sum products, terms;
          for (std::size_t i = 0; i < n; ++i) {
            products.add(oracle::decode(a[i]), oracle::decode(b[i]));
            terms.add(oracle::decode(a[i]), oracle::decode(fp16(1)));
          }
          const auto describe = [&] {
            return text("length", n, "position", position, special.bits(), other);
          };
          count.expect(products.matches(dot(a, b)), describe);
          count.expect(products.matches(dot(b, a)), describe);
          count.expect(terms.matches(sum(a)), describe);
          // Both infinities at once.
          if (n > 1) {
            a[(position + 1) % n] = -special;
            special_sum both;
            for (std::size_t i = 0; i < n; ++i) both.add(oracle::decode(a[i]), oracle::decode(fp16(1)));
            count.expect(both.matches(sum(a)), describe);
          }
        }
  count.require(210 * 12 * 3 + 209 * 12);
}

TEST_CASE("strides of the kernels, negative ones too", "[kernel][sum]") {
  const std::vector<fp16> a = {1, -100, 2, -100, 3, -100}, b = {10, 20, 30};
  REQUIRE(kernel::dot(a.data(), 2, b.data(), 1, 3) == 140);
  REQUIRE(kernel::dot(a.data() + 4, -2, b.data(), 1, 3) == 100);
  REQUIRE(kernel::sum(a.data(), 2, 3) == 6);
  REQUIRE(kernel::sum(a.data() + 5, -2, 3) == -300);
  REQUIRE(kernel::dot(a.data(), 0, b.data(), 1, 3) == 60);
}

TEST_CASE("dot refuses different sizes and names both", "[kernel][sum]") {
  const std::vector<fp16> a(3), b(4);
  const std::string message = refusal([&] { (void)dot(a, b); });
  REQUIRE(contains(message, "narrow::dot"));
  REQUIRE(contains(message, "a is 3"));
  REQUIRE(contains(message, "b is 4"));
}
