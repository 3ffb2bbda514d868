// What a user adds: a rounding mode, and a format that the catalogue has not. Each is one declaration here,
// and goes through scalars, bulk conversion, quantisation and products as the library's own do.
#include <bit>
#include <cmath>
#include <vector>

#include <narrow/narrow.hpp>

#include "../every_isa.hpp"
#include "../policies.hpp"
#include "../tally.hpp"

namespace user {

/// To the nearer neighbour, ties toward zero.
struct half_down {
  static constexpr bool away(const narrow::rounding::tail& t) noexcept {
    return t.fraction > t.half || (t.fraction == t.half && t.sticky);
  }
  static constexpr bool overflows_to_infinity(narrow::sign) noexcept { return true; }
};

using fp12 = narrow::floating<5, 6>;

}  // namespace user

using namespace test;
using namespace narrow;

namespace {

/// x / step rounded by half_down, in units of the step: exact, for powers of two.
double half_down_of(double x, double step) {
  const double magnitude = std::fabs(x) / step, whole = std::floor(magnitude);
  return std::copysign(whole + (magnitude - whole > 0.5 ? 1 : 0), x) * step;
}

/// x in a format of so many mantissa bits and such a smallest normal exponent.
double expected(double x, int mantissa_bits, int min_exponent, bool half_down) {
  if (x == 0) return x;
  const double step = std::ldexp(1.0, std::max(std::ilogb(x), min_exponent) - mantissa_bits);
  return half_down ? half_down_of(x, step) : std::nearbyint(x / step) * step;
}

/// Numbers of which many lie in the middle between two of 4 to 10 bits.
std::vector<float> samples() {
  std::vector<float> result;
  for (int exponent = -17; exponent <= 6; ++exponent)
    for (int k = -300; k <= 300; ++k) result.push_back(std::ldexp(static_cast<float>(k) / 8, exponent - 4));
  return result;
}

template <class T> void check_scalars_and_arrays(bool half_down) {
  constexpr int bits = T::layout::mantissa_bits, lowest = T::layout::min_exponent;
  const std::vector<float> numbers = samples();
  std::vector<T> converted(numbers.size());
  std::vector<float> back(numbers.size());
  tally count;
  for_each_isa([&](const std::string& isa) {
    convert(numbers, converted);
    convert(converted, back);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double want = expected(numbers[i], bits, lowest, half_down);
      const auto describe = [&] { return text(isa, name_of<T>(), numbers[i], want, back[i]); };
      count.expect(float{T(numbers[i])} == want && back[i] == want, describe);
      const T x = converted[i], y = converted[numbers.size() - 1 - i];
      count.expect(float{x * y} == expected(double{float{x}} * float{y}, bits, lowest, half_down), describe);
    }
  });
  count.require(isa_count() * numbers.size() * 2);
}

/// A product of which many coefficients lie in the middle between two numbers of T: 1 * 1 + 1 * k / 2^(bits +
/// 1).
template <class T> void check_product(bool half_down) {
  constexpr int bits = T::layout::mantissa_bits;
  constexpr std::size_t n = std::size_t{2} << bits;
  constexpr auto rows = static_cast<std::ptrdiff_t>(n);
  std::vector<T> a(2 * n), c(n);
  std::vector<double> want(n);
  for (std::size_t i = 0; i < n; ++i) {
    a[2 * i] = 1;
    a[2 * i + 1] = std::ldexp(static_cast<float>(i), -bits - 1);
    want[i] = expected(1 + double{float{a[2 * i + 1]}}, bits, T::layout::min_exponent, half_down);
  }
  const std::vector<T> b{T(1), T(1)};
  tally count;
  for_each_isa([&](const std::string& isa) {
    gemm(row_major(a, rows, 2), row_major(b, 2, 1), row_major(c, rows, 1));
    for (std::size_t i = 0; i < n; ++i)
      count.expect(float{c[i]} == want[i], [&] { return text(isa, name_of<T>(), i, float{c[i]}, want[i]); });
  });
  count.require(isa_count() * n);
}

}  // namespace

TEST_CASE("a user's rounding mode", "[format][extension]") {
  using half = floating<5, 10, specials::ieee, user::half_down>;
  CHECK(half(1 + 0x1p-11f) == 1);
  CHECK(half(1 + 0x1.8p-10f) == 1 + 0x1p-10f);
  CHECK(narrow_cast<fp16>(1 + 0x3p-11f, user::half_down{}) == 1 + 0x1p-10f);
  CHECK(fixed<8, 4, user::half_down>(-0.09375) == -0.0625f);
  CHECK(std::numeric_limits<half>::round_style == std::round_to_nearest);
  CHECK(format_name<half>() == "floating<5,10, specials::ieee, user::half_down>");
  check_scalars_and_arrays<half>(true);
  check_scalars_and_arrays<floating<4, 3, specials::ieee, user::half_down>>(true);
  check_product<half>(true);
  check_product<floating<5, 2, specials::ieee, user::half_down>>(true);

  const std::vector<float> numbers = samples();
  tally count;
  for_each_isa([&](const std::string& isa) {
    const auto tensor = quantize<bfp<6, per_tensor, user::half_down>>(numbers, 1, std::ssize(numbers));
    std::vector<float> values(numbers.size());
    dequantize(tensor, values);
    const double scale = tensor.scales()[0];
    for (std::size_t i = 0; i < numbers.size(); ++i)
      count.expect(values[i] == half_down_of(numbers[i], scale),
                   [&] { return text(isa, numbers[i], values[i]); });
  });
  count.require(isa_count() * numbers.size());
}

TEST_CASE("a user's format", "[format][extension]") {
  using user::fp12;
  CHECK(sizeof(fp12) == 2);
  CHECK(format_name<fp12>() == "floating<5,6>");
  CHECK(std::numeric_limits<fp12>::max() == 65024);
  check_scalars_and_arrays<fp12>(false);
  check_product<fp12>(false);
  check_product<floating<5, 6, specials::ieee, user::half_down>>(true);

  std::vector<fp12> numbers(64);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i) / 32 - 1;
  const auto tensor = quantize<bfp<8>>(numbers, 8, 8);
  std::vector<float> values(numbers.size());
  dequantize(tensor, values);
  for (std::size_t i = 0; i < numbers.size(); ++i) CHECK(values[i] == float{numbers[i]});
}
