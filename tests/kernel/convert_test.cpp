// Arrays from one format to another.
#include <array>
#include <span>
#include <string>
#include <vector>

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

template <class F> std::string message_of(F f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

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
      for (std::size_t i = 0; i < from.size(); ++i) different += !same(to[i], static_cast<To>(from[i]));
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
  const std::string message = message_of([&] { convert(from, to); });
  REQUIRE(message.find("narrow::convert") != std::string::npos);
  REQUIRE(message.find("from is 3") != std::string::npos);
  REQUIRE(message.find("to is 4") != std::string::npos);
}
