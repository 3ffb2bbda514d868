// Conversions from every integer type into the floating formats.
#include "arithmetic.hpp"

using namespace test;

namespace {

template <class U, class Integer> void check_integer(tally& count, const oracle::outcome& right, Integer x) {
  const U result = x;
  count.expect(oracle::matches(right, result), [&] {
    return text(name_of<U>(), "of", name_of<Integer>(), std::to_string(x), "gives", result.bits());
  });
}

/// All integers of up to 16 bits; of the wider types the ends, what is next to each power of two, random ones
/// of every length, and what is next to the numbers and midpoints of T.
template <class T, class Integer> std::vector<Integer> integers() {
  using limits = std::numeric_limits<Integer>;
  std::vector<Integer> result;
  if (limits::digits <= 16) {
    for (std::int64_t i = limits::min(); i <= static_cast<std::int64_t>(limits::max()); ++i)
      result.push_back(static_cast<Integer>(i));
    return result;
  }
  const auto add = [&](std::uint64_t magnitude) {
    for (const std::uint64_t x : {magnitude - 1, magnitude, magnitude + 1}) {
      result.push_back(static_cast<Integer>(x));
      result.push_back(static_cast<Integer>(std::uint64_t{0} - x));
    }
  };
  add(0);
  for (int i = 0; i <= limits::digits; ++i) add(std::uint64_t{1} << i % 64);
  generator random(2024);
  for (int i = 0; i < 2000; ++i) add(random() >> below(random, 64));
  const auto& t = oracle::table_of<T>();
  for (std::size_t i = 0; i<t.beyond(); i += t.of.codes()> 256 ? 17 : 1) {
    const double middle = (t.numbers[i] + t.numbers[i + 1]) / 2;
    if (t.numbers[i] >= 1 && middle < 0x1p63) {
      add(static_cast<std::uint64_t>(t.numbers[i]));
      add(static_cast<std::uint64_t>(middle));
    }
  }
  return result;
}

using integer_types =
    std::tuple<bool, char, signed char, unsigned char, short, unsigned short, int, unsigned, long,
               unsigned long, long long, unsigned long long, wchar_t, char8_t, char16_t, char32_t>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("conversion from every integer type rounds once", "[round][narrow_cast]",
                        floating_formats) {
  STATIC_REQUIRE(std::numeric_limits<long double>::digits >= 64);  // the oracle holds any integer
  tally count;
  std::uint64_t cases = 0;
  for_each_type<integer_types>([&]<class Integer>() {
    // One type of each word that the library computes in goes through every mode.
    constexpr bool every_mode = std::same_as<Integer, int> || std::same_as<Integer, long>;
    const auto all = integers<TestType, Integer>();
    for (const Integer x : all) {
      const auto right = oracle::rounded(oracle::table_of<TestType>(), oracle::datum_of(x));
      if constexpr (every_mode)
        for_each_policy<TestType>([&]<class U>() { check_integer<U>(count, right, x); });
      else
        check_integer<TestType>(count, right, x);
    }
    cases += all.size() * (every_mode ? policy_count<TestType> : 1);
  });
  REQUIRE(cases > 2 * 6'000 * policy_count<TestType> + 4 * 65536);
  count.require(cases);
}

TEST_CASE("integers become numbers of the layout of float as they become floats", "[round][narrow_cast]") {
  std::uint64_t cases = 0, different = 0;
  for_each_type<integer_types>([&]<class Integer>() {
    for (const Integer x : integers<narrow::fp16, Integer>()) {
      different += narrow::floating<8, 23>(x).bits() != std::bit_cast<std::uint32_t>(static_cast<float>(x));
      ++cases;
    }
  });
  REQUIRE(different == 0);
  REQUIRE(cases > 4 * 65536);
}
