// The rounding policies as types: the library's and one of a user.
#include <bit>
#include <limits>

#include "arithmetic.hpp"

using namespace test;
using namespace narrow;

namespace {

/// Nearest-even that counts how often it is asked.
struct counting {
  static inline std::uint64_t asked = 0;
  static bool away(const rounding::tail& t) {
    ++asked;
    return rounding::nearest_even::away(t);
  }
  static constexpr bool overflows_to_infinity(sign) { return true; }
};

struct no_policy {
  static constexpr bool away(const rounding::tail&) { return false; }
};

template <class F> std::uint64_t asked_by(F f) {
  counting::asked = 0;
  f();
  return counting::asked;
}

}  // namespace

TEST_CASE("what is a rounding policy and what is not", "[round][rounding]") {
  STATIC_REQUIRE(rounding_policy<counting>);
  STATIC_REQUIRE(!rounding_policy<no_policy>);
  STATIC_REQUIRE(!rounding_policy<int>);
  for_each_type<rounding_modes>([]<class Round>() { STATIC_REQUIRE(rounding_policy<Round>); });
  for_each_type<std::tuple<overflow::ieee, overflow::saturate, overflow::wrap>>(
      []<class Overflow>() { STATIC_REQUIRE(overflow_policy<Overflow>); });
  STATIC_REQUIRE(!overflow_policy<counting>);
}

TEST_CASE("a policy of the user's own is asked once for each number that is rounded", "[round][rounding]") {
  using T = floating<5, 10, specials::ieee, counting>;
  const T x = 1.5f, y = 3.0f;
  T z;
  const float subnormal = 0x1.8p-24f;
  REQUIRE(asked_by([&] { z = 0.1f; }) == 1);
  REQUIRE(asked_by([&] { z = 0.1; }) == 1);
  REQUIRE(asked_by([&] { z = 0.1L; }) == 1);
  REQUIRE(asked_by([&] { z = 12345; }) == 1);
  REQUIRE(asked_by([&] { z = std::uint64_t{12345}; }) == 1);
  REQUIRE(asked_by([&] { z = T(bf16(3)); }) == 1);
  REQUIRE(asked_by([&] { z = subnormal; }) == 1);
  REQUIRE(asked_by([&] { z = x + y; }) == 1);
  REQUIRE(asked_by([&] { z = x - y; }) == 1);
  REQUIRE(asked_by([&] { z = x * y; }) == 1);
  REQUIRE(asked_by([&] { z = x / y; }) == 1);
  REQUIRE(asked_by([&] { z = x + 1; }) == 1);
  REQUIRE(asked_by([&] { z = 7 / x; }) == 1);
  REQUIRE(asked_by([&] { z = x * 0.5f; }) == 1);  // a float product, then the assignment
  REQUIRE(asked_by([&] {
            z = y;
            z += x;
          }) == 1);
  REQUIRE(asked_by([&] {
            z = y;
            z *= 0.1f;
          }) == 1);
  REQUIRE(asked_by([&] {
            z = y;
            ++z;
          }) == 1);
  REQUIRE(asked_by([&] { z = sqrt(y); }) == 1);
  REQUIRE(asked_by([&] { z = fma(x, y, x); }) == 1);
  REQUIRE(asked_by([&] { z = exp(x); }) == 1);
  REQUIRE(asked_by([&] { z = pow(x, y); }) == 1);

  // Nothing is rounded: zeros, what is not finite, copies, and what only changes a sign or compares.
  const float infinity = std::bit_cast<float>(0x7f80'0000u), nan = std::bit_cast<float>(0x7fc0'0000u);
  REQUIRE(asked_by([&] { z = 0.0f; }) == 0);
  REQUIRE(asked_by([&] { z = infinity; }) == 0);
  REQUIRE(asked_by([&] { z = nan; }) == 0);
  REQUIRE(asked_by([&] { z = x - x; }) == 0);
  REQUIRE(asked_by([&] { z = x / T(0); }) == 0);
  REQUIRE(asked_by([&] {
            z = x;
            z = -z;
            z = abs(z);
            z = +z;
          }) == 0);
  bool ordered = false;
  REQUIRE(asked_by([&] { ordered = x < y && x != y && x < 2 && 1.0 < x; }) == 0);
  REQUIRE(ordered);
  REQUIRE(asked_by([&] {
            z = std::numeric_limits<T>::lowest();
            z = std::numeric_limits<T>::infinity();
          }) == 0);

  REQUIRE(asked_by([&] { z = T(narrow_cast<fp16>(0.1f)); }) == 1);
  fp16 plain;
  REQUIRE(asked_by([&] { plain = narrow_cast<fp16>(0.1f, counting{}); }) == 1);
  REQUIRE(plain == fp16(0.1f));
  using F = fixed<16, 8, counting>;
  F f;
  REQUIRE(asked_by([&] { f = 0.1f; }) == 1);
  REQUIRE(asked_by([&] { f = F(0.0f); }) == 0);
  REQUIRE(asked_by([&] { f = F(2) * F(3); }) == 2 + 1);
}

TEST_CASE("at_element tells elements apart for a policy that draws, and for no other", "[round][rounding]") {
  constexpr auto tenth = at_element(rounding::stochastic{7, 100}, 10);
  STATIC_REQUIRE(tenth.seed() == 7);
  STATIC_REQUIRE(tenth.offset() == 110);
  STATIC_REQUIRE(std::same_as<decltype(at_element(rounding::upward{}, 3)), rounding::upward>);
  // Offsets beyond 2^32 count.
  tally count;
  int differences = 0;
  for (std::uint64_t i = 0; i < 64; ++i) {
    const auto near = narrow_cast<fp16>(1 + 0x1p-11, rounding::stochastic{7, i}),
               far = narrow_cast<fp16>(1 + 0x1p-11, rounding::stochastic{7, i + (std::uint64_t{1} << 32)});
    differences += near != far;
  }
  REQUIRE(differences > 16);
  REQUIRE(differences < 48);
}
