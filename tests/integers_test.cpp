// The class that stands in for integers of 128 bits where a compiler has none, compared with the compiler's
// own.
#include <random>

#include <narrow/integers.hpp>

#include "catch.hpp"

#if defined(__SIZEOF_INT128__)

namespace {

using narrow::detail::int128, narrow::detail::uint128, narrow::detail::wide_integer;

template <class Word> struct built_in;
template <> struct built_in<std::uint64_t> { using type = uint128; };
template <> struct built_in<std::int64_t> { using type = int128; };

/// The same number as the compiler's own integer.
template <class Word> auto own(const wide_integer<Word>& x) {
  const auto upper = static_cast<std::uint64_t>(x >> 64), lower = static_cast<std::uint64_t>(x);
  return static_cast<typename built_in<Word>::type>(uint128{upper} << 64 | lower);
}

/// Numbers of every length, and of few bits that are set.
template <class Word> wide_integer<Word> number(std::mt19937_64& random) {
  const auto word = [&] { return random() & (random() % 2 == 0 ? random() & random() : ~std::uint64_t{0}); };
  const auto whole = wide_integer<Word>(word()) << 64 | wide_integer<Word>(word());
  return whole >> static_cast<int>(random() % 128);
}

template <class Word> void compare(const wide_integer<Word>& a, const wide_integer<Word>& b, int shift) {
  const auto x = own(a), y = own(b);
  using unsigned_type = uint128;
  const auto p = static_cast<unsigned_type>(x), q = static_cast<unsigned_type>(y);  // which wrap
  const auto same = [](const auto& result, unsigned_type expected) {
    return static_cast<unsigned_type>(own(result)) == expected;
  };
  const bool right =
      same(a + b, p + q) && same(a - b, p - q) && same(a * b, p * q) && same(-a, -p) && same(~a, ~p) &&
      same(a & b, p & q) && same(a | b, p | q) && same(a ^ b, p ^ q) && same(a << shift, p << shift) &&
      same(a >> shift, static_cast<unsigned_type>(x >> shift)) && (a < b) == (x < y) &&
      (a == b) == (x == y) && (a >= b) == (x >= y) && static_cast<double>(a) == static_cast<double>(x) &&
      static_cast<std::int64_t>(a) == static_cast<std::int64_t>(x) &&
      static_cast<std::uint32_t>(a) == static_cast<std::uint32_t>(x);
  bool divides = true;
  if constexpr (std::unsigned_integral<Word>)
    if (y != 0) divides = same(a / b, x / y) && same(a % b, x % y);
  if (!right || !divides) {
    CAPTURE(static_cast<double>(x), static_cast<double>(y), shift);
    FAIL("the class differs from the compiler's integer");
  }
}

template <class Word> int compare_many() {
  std::mt19937_64 random(1);
  int count = 0;
  for (; count < 200'000; ++count)
    compare(number<Word>(random), number<Word>(random), static_cast<int>(random() % 128));
  return count;
}

}  // namespace

TEST_CASE("the class of 128 bits computes what the compiler's integers do") {
  CHECK(compare_many<std::uint64_t>() + compare_many<std::int64_t>() == 400'000);
}

TEST_CASE("built-in integers convert to the class of 128 bits") {
  using signed_class = wide_integer<std::int64_t>;
  using unsigned_class = wide_integer<std::uint64_t>;
  CHECK(own(signed_class(-3)) == -3);
  CHECK(own(signed_class(~std::uint64_t{0})) == int128{~std::uint64_t{0}});
  CHECK(own(unsigned_class(-3)) == static_cast<uint128>(-3));
  CHECK(own(unsigned_class(signed_class(-3))) == static_cast<uint128>(-3));
  static_assert(signed_class(-7) * 3 < 0 && unsigned_class(7) % 3 == 1);
  static_assert(static_cast<double>(unsigned_class(1) << 100) == 0x1p100);
}

#endif
