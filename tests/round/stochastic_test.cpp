// Stochastic rounding: the probabilities, the streams, and what they depend on. All seeds are fixed, so that
// no test can fail by chance.
#include <cmath>
#include <thread>
#include <vector>

#include "arithmetic.hpp"

using namespace test;
using namespace narrow;

namespace {

/// By how many standard deviations a count of n draws of probability p may be off. The tests draw a few
/// hundred counts: one beyond 5 would come by chance in one of ten thousand seeds.
bool within_bound(double count, double n, double p, double sigmas = 5) {
  return std::abs(count - n * p) <= sigmas * std::sqrt(n * p * (1 - p)) + 1e-9 * n;
}

/// How many of n roundings of x go away from zero; each must give one of the two neighbours.
template <class T> std::uint64_t count_away(double x, std::uint64_t n, T lower, T upper, std::uint64_t seed) {
  std::uint64_t away = 0, strangers = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const T result = narrow_cast<T>(x, rounding::stochastic{seed, i});
    away += result.bits() == upper.bits();
    strangers += result.bits() != lower.bits() && result.bits() != upper.bits();
  }
  REQUIRE(strangers == 0);
  return away;
}

using stochastic_fp16 = floating<5, 10, specials::ieee, rounding::stochastic>;

template <class T> std::vector<typename T::bits_type> bits_of(const std::vector<T>& values) {
  std::vector<typename T::bits_type> result;
  for (const T x : values) result.push_back(x.bits());
  return result;
}

std::vector<float> uniform_floats(std::size_t n) {
  generator random(5);
  std::vector<float> result(n);
  for (float& x : result) x = static_cast<float>(random() >> 40) * 0x1p-24f * 8 - 4;
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("stochastic: away with the probability of the discarded fraction", "[round][stochastic]",
                   fp16, bf16, fp8_e4m3fn, fp8_e5m2, fp4_e2m1, (fixed<8, 4>), (fixed<16, 8>),
                   (fixed<32, 16>)) {
  // A normal number, a subnormal one and the smallest, which has zero below it.
  const auto one = TestType(1);
  const auto code = [&](int steps) {
    return TestType::from_bits(static_cast<typename TestType::bits_type>(one.bits() + steps));
  };
  const std::pair<TestType, TestType> gaps[] = {
      {one, code(1)},
      {TestType::from_bits(1), TestType::from_bits(2)},
      {TestType::from_bits(0), TestType::from_bits(1)},
  };
  std::uint64_t seed = 1;
  for (const auto& [lower, upper] : gaps) {
    const auto low = static_cast<double>(lower), gap = static_cast<double>(upper) - low;
    for (const double fraction :
         {0x1p-16, 0x1p-10, 0.001, 0.1, 0.25, 1.0 / 3, 0.5, 0.75, 0.9, 1 - 0x1p-10, 1 - 0x1p-16}) {
      constexpr std::uint64_t n = 1 << 19;
      const auto away = count_away(low + gap * fraction, n, lower, upper, seed++);
      INFO("fraction " << fraction << " went away " << away << " times of " << n);
      CHECK(within_bound(static_cast<double>(away), n, fraction));
      const auto away_of_negative = count_away(-(low + gap * fraction), n, -lower, -upper, seed++);
      CHECK(within_bound(static_cast<double>(away_of_negative), n, fraction));
    }
    REQUIRE(count_away(low, 1000, lower, upper, seed) == 0);
  }
}

TEST_CASE("stochastic: 24 bits of the fraction count at least", "[round][stochastic]") {
  // 2^24 draws at 2^-22 give four, and none would come of fewer than 22 bits. Bits beyond the 32nd change
  // nothing.
  constexpr std::uint64_t n = 1 << 24;
  std::uint64_t away = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    away += count_away<fp16>(1 + 0x1p-32, n, 1, 1 + 0x1p-10, seed);
  INFO(away << " of " << 8 * n);
  REQUIRE(within_bound(static_cast<double>(away), 8.0 * n, 0x1p-22));
  REQUIRE(away > 0);
  std::uint64_t kept = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    kept += n - count_away<fp16>(1 + 0x1p-10 - 0x1p-32, n, 1, 1 + 0x1p-10, seed);
  REQUIRE(within_bound(static_cast<double>(kept), 8.0 * n, 0x1p-22));
  REQUIRE(kept > 0);
  REQUIRE(count_away<fp16>(1 + 0x1p-50, 1 << 20, 1, 1 + 0x1p-10, 1) == 0);
}

TEST_CASE("stochastic: the sum of many small steps is not lost", "[round][stochastic]") {
  // 2^20 times 1 + 2^-14 rounded to fp16, whose step at 1 is 2^-10: the mean is kept to within its deviation.
  constexpr int n = 1 << 20;
  const std::vector<double> from(n, 1 + 0x1p-14);
  std::vector<fp16> to(n);
  convert(from, to, rounding::stochastic{3});
  double excess = 0;
  for (const fp16 x : to) excess += static_cast<double>(x) - 1;
  const double p = 0x1p-4, deviation = 0x1p-10 * std::sqrt(p * (1 - p) / n);
  REQUIRE(std::abs(excess / n - 0x1p-14) < 5 * deviation);
}

TEST_CASE("stochastic: results depend on seed and index alone, not on the split", "[round][stochastic]") {
  const auto from = uniform_floats(10'000);
  std::vector<fp16> whole(from.size()), pieces(from.size()), again(from.size()), other(from.size());
  const rounding::stochastic round{42, 17};
  convert(from, whole, round);
  convert(from, again, round);
  REQUIRE(bits_of(whole) == bits_of(again));
  std::size_t begin = 0;
  for (const std::size_t length : {1u, 2u, 3u, 7u, 64u, 1000u, 5000u, 3923u}) {
    convert(std::span(from).subspan(begin, length), std::span(pieces).subspan(begin, length),
            round.at(begin));
    begin += length;
  }
  REQUIRE(begin == from.size());
  REQUIRE(bits_of(whole) == bits_of(pieces));
  for (std::size_t i = from.size(); i-- > 0;)
    pieces[i] = narrow_cast<fp16>(from[i], rounding::stochastic{42, 17 + i});
  REQUIRE(bits_of(whole) == bits_of(pieces));
  convert(from, other, rounding::stochastic{43, 17});
  REQUIRE(bits_of(whole) != bits_of(other));
  // The random number belongs to the element, whatever the source type.
  std::vector<double> doubles(from.begin(), from.end());
  convert(doubles, other, round);
  REQUIRE(bits_of(whole) == bits_of(other));
}

TEST_CASE("stochastic: narrow::seed restarts the calling thread's stream", "[round][stochastic]") {
  const auto from = uniform_floats(1000);
  const auto draw = [&] {
    std::vector<stochastic_fp16> to(from.begin(), from.end());
    for (std::size_t i = 1; i < to.size(); ++i) to[i] = to[i] * to[i - 1] + to[i];
    return bits_of(to);
  };
  seed(11);
  const auto first = draw(), second = draw();
  seed(11);
  const auto again = draw();
  seed(12);
  const auto other = draw();
  REQUIRE(first == again);
  REQUIRE(first != second);
  REQUIRE(first != other);

  // Each thread has a stream of its own, which begins at seed 0.
  seed(0);
  const auto here = draw();
  std::vector<std::uint16_t> there, seeded;
  std::thread([&] {
    there = draw();
    seed(11);
    seeded = draw();
  }).join();
  REQUIRE(there == here);
  REQUIRE(seeded == first);

  // The stream is data: saved and restored.
  const random_stream saved = thread_stream();
  const auto next = draw();
  REQUIRE(!(thread_stream() == saved));
  thread_stream() = saved;
  REQUIRE(draw() == next);
}

TEST_CASE("stochastic: a scalar operation takes one ticket, an array one for all its elements",
          "[round][stochastic]") {
  using T = stochastic_fp16;
  const auto tickets = [](auto f) {
    seed(1);
    f();
    return thread_stream().ticket;
  };
  seed(9);
  T x = 1.3f, y = 2.7f, z;
  REQUIRE(tickets([&] { z = 0.1f; }) == 1);
  REQUIRE(tickets([&] { z = x + y; }) == 1);
  REQUIRE(tickets([&] { z = x - 3; }) == 1);
  REQUIRE(tickets([&] { z = x * y; }) == 1);
  REQUIRE(tickets([&] { z = x / y; }) == 1);
  REQUIRE(tickets([&] { z = sqrt(x); }) == 1);
  REQUIRE(tickets([&] { z = fma(x, y, x); }) == 1);
  REQUIRE(tickets([&] { z = exp(x); }) == 1);
  REQUIRE(tickets([&] {
            z = -x;
            z = abs(z);
          }) == 0);
  REQUIRE(tickets([&] {
            z = std::numeric_limits<T>::lowest();
            z = std::numeric_limits<T>::epsilon();
          }) == 0);
  const auto from = uniform_floats(100);
  std::vector<T> to(from.size());
  REQUIRE(tickets([&] { convert(from, to); }) == 1);

  // Under that ticket, element i is rounded as number i.
  seed(1);
  const rounding::stochastic round;
  std::vector<fp16> right(from.size());
  convert(from, right, round);
  seed(1);
  convert(from, to);
  REQUIRE(bits_of(to) == bits_of(right));
}

TEST_CASE("stochastic: streams of neighbouring seeds and neighbouring elements are independent",
          "[round][stochastic]") {
  // Joint frequencies of the upper four bits of two draws against 2^-8 each: chi-square with 255 degrees of
  // freedom has mean 255 and deviation sqrt(510).
  constexpr std::uint32_t n = 1 << 16;
  const auto draw = [](std::uint64_t seed, std::uint64_t index) {
    return detail::random_bits(detail::random_key(seed, index), static_cast<std::uint32_t>(index));
  };
  const auto chi_square = [&](auto first, auto second, int shift) {
    std::vector<double> cells(256);
    for (std::uint32_t i = 0; i < n; ++i)
      ++cells[((first(i) >> shift) & 15) * 16 + ((second(i) >> shift) & 15)];
    double result = 0;
    for (const double cell : cells) result += (cell - n / 256.0) * (cell - n / 256.0) / (n / 256.0);
    return result;
  };
  int outside = 0, tests = 0;
  const auto check = [&](auto first, auto second) {
    for (const int shift : {28, 20, 12}) {
      ++tests;
      outside += std::abs(chi_square(first, second, shift) - 255) > 5 * std::sqrt(510.0);
    }
  };
  for (const std::uint64_t seed : {0ull, 1ull, 2ull, 41ull, 1ull << 32, ~0ull - 1}) {
    const auto stream = [&](std::uint64_t s, std::uint64_t from) {
      return [=](std::uint32_t i) { return draw(s, from + i); };
    };
    check(stream(seed, 0), stream(seed + 1, 0));
    check(stream(seed, 1), stream(seed + 1, 0));
    check(stream(seed, 0), stream(seed, 1));
    check(stream(seed, 0), stream(seed, 1ull << 32));
    check(stream(seed, 0), stream(seed, n));
    check(stream(seed, 0), stream(seed ^ (1ull << 63), 0));
    // By seed at one index, as tickets are used.
    check([=](std::uint32_t i) { return draw(seed + i, 0); },
          [=](std::uint32_t i) { return draw(seed + i + 1, 0); });
    check([=](std::uint32_t i) { return draw(seed + i, 0); },
          [=](std::uint32_t i) { return draw(seed + i, 1); });
  }
  REQUIRE(tests == 6 * 8 * 3);
  REQUIRE(outside == 0);
}

TEST_CASE("stochastic: the tickets of a thread are independent draws", "[round][stochastic]") {
  seed(0);
  constexpr int n = 1 << 18;
  int away = 0, pairs = 0, last = 0;
  for (int i = 0; i < n; ++i) {
    const stochastic_fp16 x = 1 + 0x1p-12;
    const int up = x != 1;
    away += up;
    pairs += up & last;
    last = up;
  }
  REQUIRE(within_bound(away, n, 0.25));
  REQUIRE(within_bound(pairs, n, 0.0625));
}

TEST_CASE("stochastic: overflow goes by the fraction too", "[round][stochastic]") {
  // 65512 is a quarter of the way from 65504 to 65536, which does not fit: infinity, or saturated.
  constexpr std::uint64_t n = 1 << 16;
  std::uint64_t infinite = 0, strangers = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const fp16 x = narrow_cast<fp16>(65512.0, rounding::stochastic{4, i});
    infinite += isinf(x);
    strangers += !isinf(x) && x != 65504;
    const rounding::stochastic round{4, i};
    strangers += narrow_cast<fp16>(65512.0, round, overflow::saturate{}) != 65504;
    strangers += !isinf(narrow_cast<fp16>(65536.0, round));
  }
  REQUIRE(strangers == 0);
  REQUIRE(within_bound(static_cast<double>(infinite), n, 0.25));
}
