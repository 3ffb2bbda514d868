// The library's rounding against the processor's: F16C conversions, and float arithmetic in floating<8, 23>.
// Tests tagged [.exhaustive] are left out by default; they take a minute.
#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#include <bit>
#include <string>

#include "../float_control.hpp"
#include "arithmetic.hpp"

using namespace test;

namespace {

bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0 && __builtin_cpu_supports("avx"))
    return true;
  WARN("not tested: this processor has no F16C");
  return false;
}

/// `Mode` as in the instruction: 0 nearest-even, 1 down, 2 up, 3 toward zero.
template <int Mode> [[gnu::target("avx,f16c")]] void to_half(const std::uint32_t* from, std::uint16_t* to) {
  __m256 x;
  std::memcpy(&x, from, sizeof x);
  const __m128i y = _mm256_cvtps_ph(x, Mode);
  std::memcpy(to, &y, sizeof y);
}

[[gnu::target("avx,f16c")]] void to_float(const std::uint16_t* from, std::uint32_t* to) {
  __m128i x;
  std::memcpy(&x, from, sizeof x);
  const __m256 y = _mm256_cvtph_ps(x);
  std::memcpy(to, &y, sizeof y);
}

/// Compares the conversion of every `stride`-th float, from the code 0 on, with the hardware's.
template <int Mode, class Round> void compare_with_f16c(std::uint64_t stride) {
  const float_control control(plain_control);
  using half = narrow::floating<5, 10, narrow::specials::ieee, Round>;
  tally count;
  const std::uint64_t end = std::uint64_t{1} << 32;
  for (std::uint64_t first = 0; first < end; first += 8 * stride) {
    std::uint32_t codes[8];
    std::uint16_t right[8];
    for (unsigned i = 0; i < 8; ++i)
      codes[i] = static_cast<std::uint32_t>(std::min(first + i * stride, end - 1));
    to_half<Mode>(codes, right);
    for (int i = 0; i < 8; ++i) {
      const half result = std::bit_cast<float>(codes[i]);
      count.expect(result.bits() == right[i],
                   [&] { return text(codes[i], "gives", result.bits(), "not", right[i]); });
    }
  }
  count.require((end + 8 * stride - 1) / (8 * stride) * 8);
}

void compare_every_mode_with_f16c(std::uint64_t stride) {
  compare_with_f16c<0, narrow::rounding::nearest_even>(stride);
  compare_with_f16c<1, narrow::rounding::downward>(stride);
  compare_with_f16c<2, narrow::rounding::upward>(stride);
  compare_with_f16c<3, narrow::rounding::toward_zero>(stride);
}

/// bfloat16 by the addition that everyone uses for it: right for numbers, not for NaN.
void compare_bf16_with_addition(std::uint64_t stride) {
  tally count;
  std::uint64_t inputs = 0;
  for (std::uint64_t code = 0; code < std::uint64_t{1} << 32; code += stride, ++inputs) {
    const auto bits = static_cast<std::uint32_t>(code);
    const bool nan = (bits & 0x7fff'ffffu) > 0x7f80'0000u;
    const std::uint32_t right =
        nan ? (bits >> 16) | 0x40
            : static_cast<std::uint32_t>((std::uint64_t{bits} + 0x7fff + ((bits >> 16) & 1)) >> 16);
    const narrow::bf16 result = std::bit_cast<float>(bits);
    count.expect(result.bits() == right, [&] { return text(code, "gives", result.bits(), "not", right); });
  }
  count.require(inputs);
}

constexpr std::uint64_t stride = 61;  // prime: 70 million floats, of every exponent and every ending

/// The float instructions themselves: no compiler flag reaches them.
template <char Op> float hardware(float a, float b) {
  if constexpr (Op == '+') asm volatile("addss %1, %0" : "+x"(a) : "x"(b));
  if constexpr (Op == '-') asm volatile("subss %1, %0" : "+x"(a) : "x"(b));
  if constexpr (Op == '*') asm volatile("mulss %1, %0" : "+x"(a) : "x"(b));
  if constexpr (Op == '/') asm volatile("divss %1, %0" : "+x"(a) : "x"(b));
  if constexpr (Op == 'r') asm volatile("sqrtss %1, %0" : "=x"(a) : "x"(b));
  return a;
}

template <char Op, class T> T library(T a, T b) {
  if constexpr (Op == '+') return a + b;
  if constexpr (Op == '-') return a - b;
  if constexpr (Op == '*') return a * b;
  if constexpr (Op == '/') return a / b;
  if constexpr (Op == 'r') return sqrt(b);
}

template <char Op, class T> void compare_operation(tally& count, code_pair codes) {
  const auto a = std::bit_cast<float>(static_cast<std::uint32_t>(codes.first)),
             b = std::bit_cast<float>(static_cast<std::uint32_t>(codes.second));
  const auto right = std::bit_cast<std::uint32_t>(hardware<Op>(a, b));
  const T result = library<Op>(from_code<T>(codes.first), from_code<T>(codes.second));
  const bool both_nan = (right & 0x7fff'ffffu) > 0x7f80'0000u && isnan(result);
  count.expect(result.bits() == right || both_nan, [&] {
    return text(codes.first, std::string(1, Op), codes.second, "gives", result.bits(), "not", right);
  });
}

}  // namespace

TEST_CASE("float to fp16 equals F16C in its four modes: one input of 61", "[round][hardware]") {
  if (!has_f16c()) return;
  compare_every_mode_with_f16c(stride);
}

TEST_CASE("float to fp16 equals F16C in its four modes: all inputs", "[round][hardware][.exhaustive]") {
  if (!has_f16c()) return;
  compare_every_mode_with_f16c(1);
}

TEST_CASE("float to bf16 equals the integer addition: one input of 61", "[round][hardware]") {
  compare_bf16_with_addition(stride);
}

TEST_CASE("float to bf16 equals the integer addition: all inputs", "[round][hardware][.exhaustive]") {
  compare_bf16_with_addition(1);
}

TEST_CASE("fp16 to float equals F16C for all codes", "[round][hardware]") {
  if (!has_f16c()) return;
  const float_control control(plain_control);
  tally count;
  for (std::uint32_t first = 0; first < 65536; first += 8) {
    std::uint16_t codes[8];
    std::uint32_t right[8];
    for (std::uint32_t i = 0; i < 8; ++i) codes[i] = static_cast<std::uint16_t>(first + i);
    to_float(codes, right);
    for (int i = 0; i < 8; ++i) {
      const float result = narrow::fp16::from_bits(codes[i]);
      count.expect(std::bit_cast<std::uint32_t>(result) == right[i],
                   [&] { return text(codes[i], "not", right[i]); });
    }
  }
  count.require(65536);
}

TEMPLATE_TEST_CASE("floating<8, 23> computes as float does", "[round][hardware]",
                   narrow::rounding::nearest_even, narrow::rounding::toward_zero, narrow::rounding::upward,
                   narrow::rounding::downward) {
  using T = narrow::floating<8, 23, narrow::specials::ieee, TestType>;
  const std::uint32_t mode = std::same_as<TestType, narrow::rounding::toward_zero> ? round_to_zero
                             : std::same_as<TestType, narrow::rounding::upward>    ? round_up
                             : std::same_as<TestType, narrow::rounding::downward>  ? round_down
                                                                                   : 0;
  generator random(2024);
  const auto pairs = sample_pairs(oracle::format_of<T>, 500'000, random);
  const float_control control(plain_control | mode);
  tally count;
  for (const auto& pair : pairs) {
    compare_operation<'+', T>(count, pair);
    compare_operation<'-', T>(count, pair);
    compare_operation<'*', T>(count, pair);
    compare_operation<'/', T>(count, pair);
    compare_operation<'r', T>(count, pair);
  }
  count.require(5 * pairs.size());
}

TEST_CASE("fma of floating<8, 23> equals the hardware's", "[round][hardware]") {
  if (!__builtin_cpu_supports("fma")) {
    WARN("not tested: this processor has no FMA");
    return;
  }
  using T = narrow::floating<8, 23>;
  generator random(2024);
  const auto pairs = sample_pairs(oracle::format_of<T>, 500'000, random);
  const float_control control(plain_control);
  tally count;
  for (const auto& pair : pairs) {
    const T x = from_code<T>(pair.first), y = from_code<T>(pair.second);
    // Anything, or what nearly cancels the product.
    const std::uint64_t cancelling = (x * y).bits() ^ oracle::format_of<T>.sign();
    const std::uint64_t c = below(random, 2) != 0
                                ? below(random, oracle::format_of<T>.codes())
                                : std::min(cancelling + below(random, 3), std::uint64_t{0xffff'ffff});
    float right = std::bit_cast<float>(static_cast<std::uint32_t>(c));
    asm volatile("vfmadd231ss %2, %1, %0"
                 : "+x"(right)
                 : "x"(std::bit_cast<float>(x.bits())), "x"(std::bit_cast<float>(y.bits())));
    const T result = fma(x, y, from_code<T>(c));
    const bool both_nan =
        (std::bit_cast<std::uint32_t>(right) & 0x7fff'ffffu) > 0x7f80'0000u && isnan(result);
    count.expect(result.bits() == std::bit_cast<std::uint32_t>(right) || both_nan,
                 [&] { return text(pair.first, '*', pair.second, '+', c, "gives", result.bits()); });
  }
  count.require(pairs.size());
}

#endif
