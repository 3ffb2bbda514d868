// Functions in programs of lanes: on every instruction set the float nearest to the function of a float,
// which the C library computes with 64 bits of mantissa; of those that it has only in double, what numbers
// have.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <narrow/format/catalog.hpp>
#include <narrow/kernel/elementwise.hpp>
#include <vector>

#include "catch.hpp"
#include "every_isa.hpp"

namespace {

using namespace narrow;

/// Floats of every sign and exponent, NaNs too, so many that each instruction set meets vectors in which
/// lanes have to be decided one by one.
std::vector<float> samples() {
  constexpr std::uint64_t step = 3989;  // prime, so that all lower bits occur
  std::vector<float> result;
  for (std::uint64_t code = 0; code < std::uint64_t{1} << 32; code += step)
    result.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(code)));
  for (const float x : {0.0f, 0.25f, 1.0f, 88.7228394f, 103.972084f, std::numeric_limits<float>::infinity()})
    for (const float near : {x, std::nextafter(x, 0.0f), std::nextafter(x, 200.0f)}) {
      result.push_back(near);
      result.push_back(-near);
    }
  // Next to multiples of pi / 2, of which all bits count.
  const long double quarter = std::acos(0.0L);
  for (int n = 1; n < 90'000; ++n) {
    const auto near = static_cast<float>(n * quarter);
    if (std::abs(n * quarter - near) < 1e-5L) result.push_back(near);
  }
  return result;
}

template <class Operation, class To = float> std::vector<To> in_lanes(const std::vector<float>& x) {
  using numbers = kernel::lane_numbers<float>;
  std::vector<To> y(x.size());
  const bool done =
      kernel::store_program(kernel::lane_unary<Operation, numbers>{numbers{x.data(), 0}}, y.data(), 0,
                            kernel::one_line{static_cast<kernel::index>(x.size())});
  CHECK(done);
  return y;
}

template <class Function> float nearest(float x) {
  if constexpr (std::same_as<decltype(Function::of(1.0L)), long double>)
    return static_cast<float>(Function::of(static_cast<long double>(x)));
  else
    return kernel::function_of<Function>(x);
}

bool same(float a, float b) {
  const auto x = std::bit_cast<std::uint32_t>(a), y = std::bit_cast<std::uint32_t>(b);
  const auto is_nan = [](std::uint32_t code) { return (code & 0x7fff'ffff) > 0x7f80'0000; };
  return x == y || (is_nan(x) && is_nan(y));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("functions in lanes are rounded to the nearest float", "[kernel][functions]",
                        kernel::functions_in_lanes) {
  if (std::numeric_limits<long double>::digits < 64) return;
  const std::vector<float> x = samples();
  std::vector<float> expected(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) expected[i] = nearest<TestType>(x[i]);
  std::size_t compared = 0;
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    const std::vector<float> y = in_lanes<kernel::lane_function<TestType>>(x);
    std::size_t different = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!same(y[i], expected[i]) && different++ < 3) {
        INFO("of " << x[i]);
        CHECK(y[i] == expected[i]);
      }
    CHECK(different == 0);
    compared += x.size();
  });
  REQUIRE(compared >= test::isa_count() * 1'000'000);
}

// Of floats of every kind, not only of those that are numbers of a format of 16 bits.
TEMPLATE_LIST_TEST_CASE("functions in lanes are rounded once to a format", "[kernel][functions]",
                        kernel::functions_in_lanes) {
  const std::vector<float> x = samples();
  const auto odd = [](float value) { return kernel::function_of<TestType, rounding::to_odd>(value); };
  // Rounding to odd first keeps every number on its side of all ties, so that one list serves every format.
  std::vector<decltype(odd(0.0f))> values(x.size());
  std::transform(x.begin(), x.end(), values.begin(), odd);
  std::size_t compared = 0;
  const auto check = [&]<class T>(std::type_identity<T>) {
    std::vector<T> expected(x.size());
    std::transform(values.begin(), values.end(), expected.begin(), [](auto value) { return T(value); });
    test::for_each_isa([&](const std::string& isa) {
      using operation = kernel::lane_function_before_rounding<TestType, detail::bits_of_ties<T>()>;
      const std::vector<T> y = in_lanes<operation, T>(x);
      std::size_t different = 0;
      for (std::size_t i = 0; i < x.size(); ++i)
        if (y[i].bits() != expected[i].bits() && different++ < 3) {
          INFO(isa << ", of " << x[i]);
          CHECK(y[i].bits() == expected[i].bits());
        }
      CHECK(different == 0);
      compared += x.size();
    });
  };
  check(std::type_identity<fp16>{});
  check(std::type_identity<bf16>{});
  REQUIRE(compared >= 2 * test::isa_count() * 1'000'000);
}
