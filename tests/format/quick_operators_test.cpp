// The operators, the root and fma of formats whose numbers become floats in a few instructions, or are
// computed with as they are: what exact arithmetic gives, rounded once, in any floating-point environment.
#include <narrow/narrow.hpp>

#include <cfenv>

#include "../float_control.hpp"
#include "../samples.hpp"
#include "../tally.hpp"
#include "catch.hpp"

using namespace test;

namespace {

using narrow::detail::unpack;

template <class T> T number(std::uint64_t code) {
  return T::from_bits(static_cast<typename T::bits_type>(code));
}

/// a op b by the arithmetic of unpacked numbers, none of which is a float's.
template <class Op, class T> T exactly(T a, T b) {
  const typename T::round_policy round{};
  return T(Op::exact(unpack(a), unpack(b), narrow::detail::sign_of_zero_sum(round)), round,
           typename T::overflow_policy{});
}

template <class T> T exact_fma(T a, T b, T c) {
  using namespace narrow::detail;
  const typename T::round_policy round{};
  return T(add(multiply(unpack(a), unpack(b)), unpack(c), sign_of_zero_sum(round)), round,
           typename T::overflow_policy{});
}

template <class Op, class T, class Apply>
void check(tally& count, const std::vector<code_pair>& pairs, const Apply& apply) {
  for (const code_pair& codes : pairs) {  // structured bindings cannot be captured by clang 14
    const T a = number<T>(codes.first), b = number<T>(codes.second), got = apply(a, b),
            right = exactly<Op>(a, b);
    count.expect(got.bits() == right.bits(),
                 [&] { return text(codes.first, codes.second, "give", got.bits()); });
  }
}

/// Numbers that occur together in programs, whose sums and products are subnormal, tie, cancel or overflow.
template <class T> std::vector<code_pair> pairs() {
  generator random(7);
  auto result = sample_pairs(oracle::format_of<T>, 20'000, random);
  for (std::uint64_t code = 0; code < 1u << 16; code += 3)
    for (const std::uint64_t other : {code, code ^ 0x8000, code + 1, std::uint64_t{0x3c01}, std::uint64_t{0}})
      result.push_back({code, other & 0xffff});
  return result;
}

/// a b + c and a b - a b of each pair, c being each number of the next pair.
template <class T> void check_fma(tally& count, const std::vector<code_pair>& pairs) {
  T c = number<T>(0);
  for (const code_pair& codes : pairs) {
    const T a = number<T>(codes.first), b = number<T>(codes.second);
    for (const T summand : {c, -(a * b), a}) {
      const T got = fma(a, b, summand), right = exact_fma(a, b, summand);
      count.expect(got.bits() == right.bits(), [&] {
        return text("fma of", codes.first, codes.second, summand.bits(), "gives", got.bits());
      });
    }
    c = b;
  }
}

/// The order of each pair, and of a number and the float and the double that have the other's value.
template <class T> void check_order(tally& count, const std::vector<code_pair>& pairs) {
  for (const code_pair& codes : pairs) {
    const T a = number<T>(codes.first), b = number<T>(codes.second);
    const auto order = compare(unpack(a), unpack(b));
    const auto compared = [&](auto other) {
      return (a < other) == (order < 0) && (a <= other) == (order <= 0) && (a > other) == (order > 0) &&
             (a >= other) == (order >= 0) && (a == other) == (order == 0) && (a <=> other) == order;
    };
    using narrow::detail::nearest;
    count.expect(compared(b) && compared(nearest<float>(unpack(b))) && compared(nearest<double>(unpack(b))),
                 [&] { return text(codes.first, codes.second, "are ordered otherwise"); });
  }
}

}  // namespace

TEMPLATE_TEST_CASE("quick operators do not depend on the floating-point environment", "[format]",
                   narrow::fp16, narrow::bf16) {
  using T = TestType;
  const auto some = pairs<T>();
  tally count;
  std::size_t environments = 0;
  for (const control_word rounding : {control_word{0}, round_down, round_up, round_to_zero})
    for (const control_word flushing : flushing_modes) {
      const float_control control(plain_control | rounding | flushing);
      ++environments;
      check<narrow::detail::plus, T>(count, some, [](T a, T b) { return a + b; });
      check<narrow::detail::minus, T>(count, some, [](T a, T b) { return a - b; });
      check<narrow::detail::times, T>(count, some, [](T a, T b) { return a * b; });
      check<narrow::detail::over, T>(count, some, [](T a, T b) { return a / b; });
      for (std::uint64_t code = 0; code < 1u << 16; ++code) {
        const T x = number<T>(code), got = sqrt(x),
                right = narrow::detail::rounded<T>(narrow::detail::square_root(unpack(x)));
        count.expect(got.bits() == right.bits(), [&] { return text("root of", code, "is", got.bits()); });
      }
      check_fma<T>(count, some);
      check_order<T>(count, some);
    }
  count.require(environments * ((4 + 3 + 1) * some.size() + (1u << 16)));
}

// Compilers keep what is computed next in its register, where they see that it fits.
TEMPLATE_TEST_CASE("quick operators on results of theirs", "[format]", narrow::fp16, narrow::bf16) {
  using T = TestType;
  using namespace narrow::detail;
  const auto some = pairs<T>();
  tally count;
  for (const code_pair& codes : some) {
    const T a = number<T>(codes.first), b = number<T>(codes.second);
    const T product = exactly<times>(a, b), sum = exactly<plus>(product, a), ratio = exactly<over>(sum, b);
    const auto expect = [&](const char* what, T got, T right) {
      count.expect(got.bits() == right.bits(),
                   [&] { return text(codes.first, codes.second, what, got.bits()); });
    };
    expect("a b + a", a * b + a, sum);
    expect("(a b + a) / b", (a * b + a) / b, ratio);
    expect("the root of a b", sqrt(a * b), rounded<T>(square_root(unpack(product))));
    T steps = a;
    for (int i = 0; i < 3; ++i) steps = steps * b - a;
    T right = a;
    for (int i = 0; i < 3; ++i) right = exactly<minus>(exactly<times>(right, b), a);
    expect("of three steps", steps, right);
    const auto order = compare(unpack(product), unpack(sum));
    count.expect((a * b < a * b + a) == (order < 0) && (a * b <= a * b + a) == (order <= 0),
                 [&] { return text(codes.first, codes.second, "are ordered otherwise"); });
  }
  count.require(5 * some.size());
}

#if defined(__x86_64__)
namespace {

/// A float in a register whose other lanes raise exceptions if they are computed with.
float among_others(float x) {
  alignas(16) const float lanes[4] = {x, std::numeric_limits<float>::signaling_NaN(), 1e30f, 1e-30f};
  float result;
  asm("movaps %1, %0" : "=x"(result) : "m"(lanes));
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("single numbers raise no exceptions of other lanes", "[format]", narrow::fp16,
                   narrow::bf16) {
  using T = TestType;
  std::feclearexcept(FE_ALL_EXCEPT);
  const T a(among_others(1.5f)), b(among_others(-0.25f));
  const T results[] = {a + b, a - b, a * b, a * T(2.f) / T(3.f) * T(0.f), sqrt(a * a)};
  CHECK(std::fetestexcept(FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_DIVBYZERO) == 0);
  CHECK(results[0] == T(1.25f));
  CHECK(results[4] == T(1.5f));
}
#endif
