// std::numeric_limits and std::hash against an enumeration of the format.
#include <functional>
#include <limits>

#include "../oracle.hpp"
#include "../policies.hpp"
#include "../tally.hpp"

using namespace test;
using namespace narrow;

namespace {

/// The catalogue, and the ends of what E, M and the special values can be.
using formats = decltype(std::tuple_cat(
    all_formats{},
    std::tuple<floating<2, 1>, floating<2, 1, specials::fn>, floating<2, 1, specials::fnuz>,
               floating<2, 1, specials::none>, floating<7, 8, specials::fn>, floating<7, 5, specials::fnuz>,
               floating<7, 1, specials::none>, floating<8, 1>, floating<8, 10>, floating<2, 13>, fp16>{}));

/// The exponent of 10 that is the first from `begin` on in direction `step` for which `fails`, less one step.
template <class Fails> int last_before(int begin, int step, Fails fails) {
  int n = begin;
  while (!fails(std::pow(10.0L, static_cast<long double>(n)))) n += step;
  return n - step;
}

constexpr long double log10_of_2 = 0.301029995663981195213738894724493027L;

}  // namespace

TEMPLATE_LIST_TEST_CASE("floating: numeric_limits agree with the table of all numbers", "[format][limits]",
                        formats) {
  using limits = std::numeric_limits<TestType>;
  const auto& t = oracle::table_of<TestType>();
  const double largest = t.numbers[t.beyond() - 1],
               next_after_1 = *std::upper_bound(t.numbers.begin(), t.numbers.end(), 1.0);
  const double smallest_normal = std::ldexp(1.0, 1 - t.of.bias());

  STATIC_REQUIRE(limits::is_specialized);
  STATIC_REQUIRE(limits::is_signed);
  STATIC_REQUIRE(!limits::is_integer);
  STATIC_REQUIRE(!limits::is_exact);
  STATIC_REQUIRE(limits::is_bounded);
  STATIC_REQUIRE(!limits::is_modulo);
  STATIC_REQUIRE(limits::radix == 2);
  STATIC_REQUIRE(limits::has_denorm == std::denorm_present);
  REQUIRE(limits::max() == largest);
  REQUIRE(limits::lowest() == -largest);
  REQUIRE(limits::min() == smallest_normal);
  REQUIRE(limits::denorm_min() == t.numbers[1]);
  REQUIRE(limits::epsilon() == next_after_1 - 1);
  REQUIRE(limits::round_error() == 0.5);

  // The standard's definitions: 2^(min_exponent - 1) is the smallest normal number, 2^(max_exponent - 1) the
  // largest power of two; 10^n with n from min_exponent10 to max_exponent10 are normal numbers' magnitudes.
  REQUIRE(std::ldexp(1.0, limits::min_exponent - 1) == smallest_normal);
  REQUIRE(limits::max_exponent - 1 == std::ilogb(largest));
  REQUIRE(std::ldexp(1.0, 1 - limits::digits) == next_after_1 - 1);
  REQUIRE(limits::min_exponent10 == last_before(0, -1, [&](long double x) { return x < smallest_normal; }));
  REQUIRE(limits::max_exponent10 == last_before(0, 1, [&](long double x) { return x > largest; }));
  REQUIRE(limits::digits10 == static_cast<int>(std::floor((limits::digits - 1) * log10_of_2)));
  REQUIRE(limits::max_digits10 == static_cast<int>(std::ceil(1 + limits::digits * log10_of_2)));

  std::uint64_t infinities = 0, nans = 0, signalling = 0;
  for (std::uint64_t code = 0; code < t.of.codes(); ++code) {
    infinities += t.of.decode(code).what == oracle::kind::infinite;
    nans += t.of.decode(code).what == oracle::kind::nan;
    const auto x = TestType::from_bits(static_cast<typename TestType::bits_type>(code));
    signalling += isnan(x) && narrow_cast<TestType>(x).bits() != code;
  }
  REQUIRE(limits::has_infinity == (infinities == 2));
  REQUIRE(limits::has_quiet_NaN == (nans > 0));
  REQUIRE(limits::has_signaling_NaN == (signalling > 0));
  REQUIRE(isinf(limits::infinity()) == limits::has_infinity);
  REQUIRE((limits::infinity() > limits::max()) == limits::has_infinity);
  REQUIRE(isnan(limits::quiet_NaN()) == limits::has_quiet_NaN);
  REQUIRE(isnan(limits::signaling_NaN()) == limits::has_quiet_NaN);
  const bool changes =
      narrow_cast<TestType>(limits::signaling_NaN()).bits() != limits::signaling_NaN().bits();
  REQUIRE(changes == limits::has_signaling_NaN);
  REQUIRE(narrow_cast<TestType>(limits::quiet_NaN()).bits() == limits::quiet_NaN().bits());
  REQUIRE(limits::is_iec559 == (t.of.special == specials::ieee));
}

TEMPLATE_LIST_TEST_CASE("fixed: numeric_limits", "[format][limits][fixed]", fixed_formats) {
  using limits = std::numeric_limits<TestType>;
  constexpr int WL = TestType::word_length, FL = TestType::fraction_length;
  const double step = std::ldexp(1.0, -FL), end = std::ldexp(1.0, WL - 1 - FL);
  STATIC_REQUIRE(limits::is_specialized);
  STATIC_REQUIRE(limits::is_signed);
  STATIC_REQUIRE(limits::is_exact);
  STATIC_REQUIRE(limits::is_bounded);
  STATIC_REQUIRE(!limits::is_modulo);
  STATIC_REQUIRE(!limits::has_infinity);
  STATIC_REQUIRE(!limits::has_quiet_NaN);
  STATIC_REQUIRE(!limits::is_iec559);
  STATIC_REQUIRE(limits::digits == WL - 1);
  REQUIRE(limits::max() == end - step);
  REQUIRE(limits::lowest() == -end);
  REQUIRE(limits::min() == step);
  REQUIRE(limits::denorm_min() == step);
  REQUIRE(limits::epsilon() == step);
  REQUIRE(limits::digits10 == static_cast<int>(std::floor((WL - 1) * log10_of_2)));
  REQUIRE(std::ldexp(1.0, limits::min_exponent - 1) == step);
  REQUIRE(limits::max_exponent - 1 == std::ilogb(end - step));
  // From where they must hold, not from 0: fixed<8, 7> has no number as large as 10^0.
  REQUIRE(limits::min_exponent10 == last_before(10, -1, [&](long double x) { return x < step; }));
  REQUIRE(limits::max_exponent10 == last_before(-10, 1, [&](long double x) { return x > end - step; }));
  STATIC_REQUIRE(std::numeric_limits<with_policies<TestType, rounding::downward, overflow::wrap>>::is_modulo);
}

TEST_CASE("numeric_limits say how a type rounds and are constant whatever it is", "[format][limits]") {
  using rounding::stochastic;
  const auto style = []<class Round>(Round) {
    return std::numeric_limits<floating<5, 10, specials::ieee, Round>>::round_style;
  };
  REQUIRE(style(rounding::nearest_even{}) == std::round_to_nearest);
  REQUIRE(style(rounding::nearest_away{}) == std::round_to_nearest);
  REQUIRE(style(rounding::toward_zero{}) == std::round_toward_zero);
  REQUIRE(style(rounding::upward{}) == std::round_toward_infinity);
  REQUIRE(style(rounding::downward{}) == std::round_toward_neg_infinity);
  REQUIRE(style(rounding::to_odd{}) == std::round_indeterminate);
  REQUIRE(style(rounding::stochastic{1}) == std::round_indeterminate);
  for_each_policy<fp16>([]<class T>() {
    using limits = std::numeric_limits<T>;
    STATIC_REQUIRE(limits::max() == 65504);
    STATIC_REQUIRE(limits::lowest() == -65504);
    STATIC_REQUIRE(limits::epsilon() == 0x1p-10);
    STATIC_REQUIRE(limits::denorm_min() == 0x1p-24);
    STATIC_REQUIRE(limits::round_error() == (limits::round_style == std::round_to_nearest ? 0.5 : 1.0));
    STATIC_REQUIRE(limits::is_iec559 == std::same_as<typename T::overflow_policy, overflow::ieee>);
  });
  for_each_policy<fixed<16, 8>>([]<class T>() {
    STATIC_REQUIRE(std::numeric_limits<T>::round_error() >= 0.5);
    STATIC_REQUIRE(std::numeric_limits<T>::lowest() == -128);
  });
}

TEST_CASE("the formats of the standards", "[format][catalog]") {
  const auto check = []<class T>(T, double max, double min, double denorm_min, double epsilon) {
    INFO(name_of<T>());
    using limits = std::numeric_limits<T>;
    CHECK(limits::max() == max);
    CHECK(limits::min() == min);
    CHECK(limits::denorm_min() == denorm_min);
    CHECK(limits::epsilon() == epsilon);
  };
  check(fp16{}, 65504, 0x1p-14, 0x1p-24, 0x1p-10);
  check(bf16{}, 0x1.fep127, 0x1p-126, 0x1p-133, 0x1p-7);
  check(fp8_e5m2{}, 57344, 0x1p-14, 0x1p-16, 0.25);
  check(fp8_e4m3fn{}, 448, 0x1p-6, 0x1p-9, 0.125);
  check(fp8_e3m4{}, 15.5, 0.25, 0x1p-6, 0.0625);
  check(fp8_e5m2fnuz{}, 57344, 0x1p-15, 0x1p-17, 0.25);
  check(fp8_e4m3fnuz{}, 240, 0x1p-7, 0x1p-10, 0.125);
  check(fp6_e2m3{}, 7.5, 1, 0.125, 0.125);
  check(fp6_e3m2{}, 28, 0.25, 0.0625, 0.25);
  check(fp4_e2m1{}, 6, 1, 0.5, 0.5);
}

TEMPLATE_LIST_TEST_CASE("hash: equal numbers have equal hashes, different codes mostly different ones",
                        "[format][limits]", floating_formats) {
  constexpr auto f = oracle::format_of<TestType>;
  const std::hash<TestType> hash;
  std::vector<std::size_t> hashes;
  for (std::uint64_t code = 0; code < f.codes(); ++code)
    hashes.push_back(hash(TestType::from_bits(static_cast<typename TestType::bits_type>(code))));
  if (f.special != specials::fnuz) REQUIRE(hashes[0] == hashes[f.sign()]);
  std::sort(hashes.begin(), hashes.end());
  const auto different =
      static_cast<std::uint64_t>(std::unique(hashes.begin(), hashes.end()) - hashes.begin());
  REQUIRE(different == f.codes() - (f.special != specials::fnuz ? 1 : 0));
  REQUIRE(std::hash<fixed<8, 4>>{}(fixed<8, 4>(0)) == std::hash<fixed<8, 4>>{}(fixed<8, 4>(-0.0)));
}
