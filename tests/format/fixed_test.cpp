// Fixed-point scalars: values, wrapping and saturation.
#include <bit>

#include "../fixed_oracle.hpp"
#include "../policies.hpp"
#include "../tally.hpp"

using namespace test;
using namespace narrow;

namespace {

template <int WL, int FL> using wrapping = fixed<WL, FL, rounding::nearest_even, overflow::wrap>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("fixed: a mantissa stands for mantissa 2^-FL, exactly", "[format][fixed]",
                        fixed_formats) {
  constexpr int WL = TestType::word_length, FL = TestType::fraction_length;
  constexpr std::int64_t end = std::int64_t{1} << (WL - 1), step = WL <= 16 ? 1 : 65'521;  // a prime
  tally count;
  std::uint64_t inputs = 0;
  const auto check = [&](std::int64_t mantissa) {
    const auto x = TestType::from_bits(static_cast<typename TestType::bits_type>(mantissa));
    const auto describe = [&] { return text(name_of<TestType>(), std::to_string(mantissa)); };
    count.expect(x.bits() == mantissa, describe);
    count.expect(static_cast<double>(x) == std::ldexp(static_cast<double>(mantissa), -FL), describe);
    count.expect(TestType(static_cast<carrier_t<TestType>>(x)).bits() == mantissa, describe);
    count.expect(signbit(x) == (mantissa < 0), describe);
    ++inputs;
  };
  for (std::int64_t mantissa = -end; mantissa < end; mantissa += step) check(mantissa);
  check(end - 1);
  count.require(4 * inputs);
}

TEST_CASE("fixed: what does not fit saturates or wraps", "[format][fixed]") {
  using saturating = fixed<8, 4>;
  STATIC_REQUIRE(saturating(100) == 7.9375);
  STATIC_REQUIRE(saturating(-100) == -8);
  STATIC_REQUIRE(saturating(7.96875) == 7.9375);  // rounds up to 8
  STATIC_REQUIRE(-saturating(-8) == 7.9375);
  STATIC_REQUIRE(abs(saturating(-8)) == 7.9375);
  STATIC_REQUIRE(saturating(5) + saturating(5) == 7.9375);
  STATIC_REQUIRE(saturating(-5) - saturating(5) == -8);
  STATIC_REQUIRE(saturating(4) * saturating(-4) == -8);
  STATIC_REQUIRE(saturating(1) / saturating(0) == 7.9375);
  STATIC_REQUIRE(saturating(-1) / saturating(0) == -8);
  STATIC_REQUIRE(saturating(0) / saturating(0) == 0);
  STATIC_REQUIRE(sqrt(saturating(-4)) == 0);
  STATIC_REQUIRE(sqrt(saturating(2)) == 1.4375);  // 1.41421 lies between 22/16 and 23/16, nearer 23/16

  using wraps = wrapping<8, 4>;
  STATIC_REQUIRE(wraps(8) == -8);
  STATIC_REQUIRE(wraps(17) == 1);
  STATIC_REQUIRE(wraps(-9) == 7);
  STATIC_REQUIRE(-wraps(-8) == -8);
  STATIC_REQUIRE(abs(wraps(-8)) == -8);
  STATIC_REQUIRE(wraps(5) + wraps(5) == -6);
  STATIC_REQUIRE(wraps(1e30) == 0);
  STATIC_REQUIRE(wraps(std::uint64_t{0xffff'ffff'ffff'ffff}) == -1);
  STATIC_REQUIRE(wraps(1) / wraps(0) == 7.9375);
  wraps x = 7.9375;
  ++x;
  REQUIRE(x == -7.0625);
  saturating y = 7.9375;
  ++y;
  REQUIRE(y == 7.9375);
}

TEST_CASE("fixed: halves go where the mode says", "[format][fixed]") {
  const auto mantissa = []<class Round>(Round, double x) { return int{fixed<8, 4, Round>(x / 16).bits()}; };
  using namespace rounding;
  REQUIRE(mantissa(nearest_even{}, 2.5) == 2);
  REQUIRE(mantissa(nearest_even{}, 3.5) == 4);
  REQUIRE(mantissa(nearest_even{}, -2.5) == -2);
  REQUIRE(mantissa(nearest_away{}, 2.5) == 3);
  REQUIRE(mantissa(nearest_away{}, -2.5) == -3);
  REQUIRE(mantissa(toward_zero{}, -2.9) == -2);
  REQUIRE(mantissa(upward{}, 2.1) == 3);
  REQUIRE(mantissa(upward{}, -2.9) == -2);
  REQUIRE(mantissa(downward{}, -2.1) == -3);
  REQUIRE(mantissa(downward{}, 2.9) == 2);
  REQUIRE(mantissa(to_odd{}, 2.1) == 3);
  REQUIRE(mantissa(to_odd{}, 3.9) == 3);
  REQUIRE(mantissa(to_odd{}, -4.1) == -5);
}
