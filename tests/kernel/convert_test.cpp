// Arrays from one format to another.
#include <array>
#include <span>
#include <string>
#include <vector>

#include "../float_control.hpp"
#include "../refusal.hpp"
#include "../round/arithmetic.hpp"

using namespace test;
using namespace narrow;

namespace {

/// Numbers of From in a range where most formats have numbers, and the specials of its codes.
template <class From> std::vector<From> inputs() {
  generator random(2024);
  std::vector<From> result;
  for (int i = 0; i < 300; ++i) {
    const int exponent = static_cast<int>(below(random, 24)) - 12;
    const double x = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), exponent - 63);
    if constexpr (std::integral<From>)
      result.push_back(static_cast<From>(std::clamp(x * 1000, -100.0, 100.0)));
    else
      result.push_back(static_cast<From>(x));
  }
  if constexpr (narrow_float<From>)
    for (const auto code : edge_codes(oracle::format_of<From>)) result.push_back(from_code<From>(code));
  return result;
}

template <class T> bool same(T a, T b) {
  if constexpr (narrow_scalar<T>)
    return a.bits() == b.bits();
  else
    return std::memcmp(&a, &b, std::min<std::size_t>(sizeof a, 10)) == 0;  // a long double ends in padding
}

using types = std::tuple<fp16, bf16, fp8_e4m3fn, fp6_e3m2, fixed<8, 4>, fixed<32, 16>, float, double, int>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("convert rounds each element as a scalar conversion does", "[kernel][convert]",
                        types) {
  const auto from = inputs<TestType>();
  for_each_type<types>([&]<class To>() {
    if constexpr (!std::same_as<To, int>) {
      INFO(name_of<TestType>() << " to " << name_of<To>());
      std::vector<To> to(from.size());
      convert(from, to);
      std::size_t different = 0;
      {
        const float_control control(plain_control);  // a subnormal bf16 is a float, and then a double
        for (std::size_t i = 0; i < from.size(); ++i) different += !same(to[i], static_cast<To>(from[i]));
      }
      // Of its own type a scalar is copied, a converted array rounded again: signalling NaNs become quiet.
      if constexpr (std::same_as<To, TestType> && narrow_scalar<To>) {
        different = 0;
        for (std::size_t i = 0; i < from.size(); ++i) different += !same(to[i], narrow_cast<To>(from[i]));
      }
      REQUIRE(different == 0);
      if constexpr (narrow_scalar<To>) {
        convert(from, to, rounding::downward{});
        for (std::size_t i = 0; i < from.size(); ++i)
          different += !same(to[i], narrow_cast<To>(from[i], rounding::downward{}));
        REQUIRE(different == 0);
      }
    }
  });
}

TEST_CASE("convert into integers: to nearest even, within their range, NaN to zero", "[kernel][convert]") {
  constexpr double inf = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  tally count;
  const auto check = [&]<class T>(T) {
    const std::vector<double> from{0,      0.5,
                                   1.5,    2.5,
                                   2.75,   3.5,
                                   -0.5,   -1.5,
                                   -2.5,   -2.75,
                                   126.5,  127.5,
                                   -128,   255,
                                   -129,   1e300,
                                   -1e300, 0x1p31,
                                   0x1p32, -0x1p31,
                                   0x1p63, 0x1p64,
                                   inf,    -inf,
                                   nan,    0x1.fffffffffffffp52};
    std::vector<T> to(from.size());
    convert(from, to);
    for (std::size_t i = 0; i < from.size(); ++i) {
      constexpr auto least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
      const long double x = std::nearbyint(static_cast<long double>(from[i]));
      // Where a long double has the bits of a double, it has 2^63 for `most`, which is above it.
      const T right = detail::is_nan(from[i])               ? T{0}
                      : x < static_cast<long double>(least) ? least
                      : x >= static_cast<long double>(most) ? most
                                                            : static_cast<T>(x);
      count.expect(to[i] == right,
                   [&] { return text(from[i], std::to_string(to[i]), std::to_string(right)); });
    }
  };
  check(std::int8_t{});
  check(std::uint8_t{});
  check(std::int16_t{});
  check(std::int32_t{});
  check(std::uint32_t{});
  check(std::int64_t{});
  check(std::uint64_t{});
  count.require(7 * 26);

  std::vector<int> to(3);
  convert(std::vector<bf16>{2.75f, -2.75f, 3.5f}, to);
  REQUIRE(to == std::vector<int>{3, -3, 4});
  convert(std::vector<fixed<8, 4>>{2.75f, -2.5f, 3.5f}, to);
  REQUIRE(to == std::vector<int>{3, -2, 4});
  std::vector<signed char> small(1);
  convert(std::vector<int>{1000}, small);
  REQUIRE(small[0] == 127);
}

TEST_CASE("convert takes any contiguous ranges, the same memory where the types are the same",
          "[kernel][convert]") {
  const std::array<float, 3> from{1, 2.5f, -3};
  fp16 to[3];
  convert(from, to);
  REQUIRE(to[2] == -3);
  std::vector<double> wide(3);
  convert(std::span<const fp16>(to), std::span(wide));
  REQUIRE(wide == std::vector<double>{1, 2.5, -3});
  std::vector<fixed<8, 4>> steps = {1, 2, 3};
  convert(steps, steps);
  REQUIRE(steps[1] == 2);
  convert(std::vector<float>{}, std::span<fp16>{});
  using up = with_policies<fp16, rounding::upward, overflow::ieee>;
  std::vector<up> rounded(1);
  convert(std::array{1 + 0x1p-20}, rounded);  // by the policy of the type
  REQUIRE(rounded[0] == 1 + 0x1p-10);
}

TEST_CASE("convert refuses ranges of different sizes and names both", "[kernel][convert]") {
  const std::vector<float> from(3);
  std::vector<fp16> to(4);
  const std::string message = test::refusal([&] { convert(from, to); });
  REQUIRE(message.find("narrow::convert") != std::string::npos);
  REQUIRE(message.find("from is 3") != std::string::npos);
  REQUIRE(message.find("to is 4") != std::string::npos);
}
