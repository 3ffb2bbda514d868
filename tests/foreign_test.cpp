// Numbers and memory of types that have a format's codes: the compiler's, a program's own, integers.
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "policies.hpp"
#include "tally.hpp"

namespace own {
/// A number type of a program's own, bfloat16 with another name.
struct brain {
  std::uint16_t code;
  explicit operator float() const { return static_cast<float>(narrow::bf16::from_bits(code)); }
};
/// Of the codes of fp8_e4m3fn.
struct eighth {
  unsigned char code;
};
}  // namespace own

template <> struct narrow::foreign_format<own::brain> { using type = narrow::bf16; };
template <> struct narrow::foreign_format<own::eighth> { using type = narrow::fp8_e4m3fn; };

using namespace test;
using namespace narrow;

TEST_CASE("what has a format's codes is a number of it as it is, and of others rounded once", "[foreign]") {
  STATIC_REQUIRE(std::convertible_to<own::brain, bf16>);
  STATIC_REQUIRE(std::constructible_from<fp16, own::brain>);
  STATIC_REQUIRE(!std::convertible_to<own::brain, fp16>);
  STATIC_REQUIRE(!std::convertible_to<own::brain, with_policies<bf16, rounding::upward, overflow::ieee>>);
  STATIC_REQUIRE(!std::constructible_from<fp16, std::array<char, 2>>);
  STATIC_REQUIRE(bf16(own::brain{0x3f81}).bits() == 0x3f81);
  STATIC_REQUIRE(fixed<8, 4>(own::eighth{0x39}) == 1.125);
  STATIC_REQUIRE(narrow_cast<fp8_e5m2>(own::brain{0x3f81}, rounding::upward{}) == 1.25f);
  STATIC_REQUIRE(narrow_cast<fp8_e5m2>(own::brain{0x4fff}, rounding::nearest_even{}, overflow::saturate{}) ==
                 57344);
  tally count;
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const own::brain x{static_cast<std::uint16_t>(code)};
    const bf16 same = x;
    const bool is_number = isfinite(same);  // whose rounding the tests of conversions check
    count.expect(same.bits() == code, [&] { return text("bf16", code); });
    count.expect(!is_number || (fp16(x).bits() == fp16(static_cast<float>(x)).bits() &&
                                fixed<16, 8>(x) == fixed<16, 8>(static_cast<float>(x)) &&
                                floating<8, 23>(x) == static_cast<float>(x)),
                 [&] { return text("others", code); });
  }
  count.require(2 * 0x10000);
}

TEST_CASE("the compiler's types of 16 bits are formats", "[foreign]") {
  tally count;
  [[maybe_unused]] const auto check = [&]<class T>(T zero) {
    using format = foreign_format_t<T>;
    for (std::uint32_t code = 0; code < 0x10000; ++code) {
      T x = zero;
      const auto bits = static_cast<std::uint16_t>(code);
      std::memcpy(&x, &bits, sizeof x);
      const format same = x;
      const float value = static_cast<float>(x);
      count.expect(same.bits() == code && (isnan(same) || static_cast<float>(same) == value),
                   [&] { return text("from", code); });
      const T back = static_cast<T>(same);
      count.expect(isnan(same) || std::memcmp(&back, &bits, sizeof x) == 0, [&] { return text("to", code); });
      count.expect(isnan(same) || fp8_e5m2(x).bits() == fp8_e5m2(value).bits(),
                   [&] { return text("rounded", code); });
    }
  };
  std::uint64_t types = 0;
#if defined(NARROW_FLOAT16)
  check(NARROW_FLOAT16{}), ++types;
#endif
#if defined(NARROW_STORED_FLOAT16)
  check(NARROW_STORED_FLOAT16{}), ++types;
#endif
#if defined(NARROW_BFLOAT16)
  check(NARROW_BFLOAT16{}), ++types;
#endif
  count.require(3 * types * 0x10000);
}

TEST_CASE("memory is seen as numbers of a type with the same codes, and back", "[foreign]") {
  STATIC_REQUIRE(viewable_as<own::brain, bf16>);
  STATIC_REQUIRE(viewable_as<bf16, with_policies<bf16, rounding::stochastic, overflow::saturate>>);
  STATIC_REQUIRE(viewable_as<std::uint16_t, bf16>);
  STATIC_REQUIRE(viewable_as<fixed<12, 6>, std::int16_t>);
  STATIC_REQUIRE(!viewable_as<fp16, bf16>);
  STATIC_REQUIRE(!viewable_as<fp16, own::brain>);
  STATIC_REQUIRE(!viewable_as<fixed<12, 6>, fixed<12, 7>>);
  STATIC_REQUIRE(!viewable_as<fp16, std::uint32_t>);
  STATIC_REQUIRE(!viewable_as<fp8_e5m2, bool>);
  STATIC_REQUIRE(!viewable_as<float, std::uint32_t>);

  std::vector<own::brain> foreign{{0x3f80}, {0x4000}, {0x4040}, {0xc080}};
  const std::span<bf16> numbers = view_as<bf16>(foreign);
  REQUIRE(numbers.data() == static_cast<void*>(foreign.data()));
  REQUIRE(dot(numbers, numbers) == 1 + 4 + 9 + 16);
  for (bf16& x : numbers) x *= 2;
  const std::span<own::brain> back = view_as<own::brain>(numbers);
  REQUIRE(back[3].code == 0xc100);

  const std::vector<std::uint16_t> codes{0x3c00, 0x4000};
  STATIC_REQUIRE(std::same_as<decltype(view_as<fp16>(codes)), std::span<const fp16>>);
  REQUIRE(view_as<fp16>(codes)[1] == 2);
  REQUIRE(view_as<fp16>(std::span<std::uint16_t>()).empty());

  std::array<std::int8_t, 6> integers{16, 32, 48, 64, 80, -128};
  const auto m = view_as<fixed<8, 4>>(row_major(integers, 2, 3));
  REQUIRE(m(1, 2) == -8);
  REQUIRE(m.transposed()(2, 0) == 3);
  REQUIRE((m.rows == 2 && m.cols == 3 && m.row_stride == 3 && m.col_stride == 1));
}
