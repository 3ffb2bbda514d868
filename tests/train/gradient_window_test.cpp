// The oracle adds rational numbers.
#include "narrow/train/gradient_window.hpp"

#include <gmpxx.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "catch.hpp"
#include "every_isa.hpp"
#include "tally.hpp"

namespace {

using narrow::detail::gradient_window;
using narrow::detail::squared_norm;
using test::for_each_isa;
using test::tally;

/// Lengths around those of vectors, and one of many.
constexpr std::array lengths{0, 1, 2, 3, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 65, 95, 96, 97, 130, 1000};

/// Numbers of very different sizes that begin at an address of no particular alignment.
class numbers {
 public:
  numbers(int size, std::uint32_t seed) : floats_(static_cast<std::size_t>(size) + 1) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> fraction(-1, 1);
    for (float& x : floats_) x = std::ldexp(fraction(random), static_cast<int>(random() % 40) - 20);
  }
  std::span<float> values() { return std::span(floats_).subspan(1); }

 private:
  std::vector<float> floats_;
};

mpq_class squares_of(std::span<const float> x) {
  mpq_class sum = 0;
  for (const float value : x) sum += mpq_class(value) * mpq_class(value);
  return sum;
}

bool close(double value, const mpq_class& exact, std::size_t roundings) {
  const mpq_class error = abs(mpq_class(value) - exact);
  return error <= exact * mpq_class(std::ldexp(static_cast<double>(roundings), -52));
}

}  // namespace

TEST_CASE(
    "squared norms are within their roundings of the exact ones, the same bits on every instruction set") {
  tally seen;
  for (const int length : lengths) {
    numbers x(length, 7);
    const double before = squared_norm(x.values());
    const mpq_class exact = squares_of(x.values());
    for_each_isa([&](const std::string& isa) {
      const double now = squared_norm(x.values());
      seen.expect(now == before && close(now, exact, x.values().size()),
                  [&] { return isa + ", " + std::to_string(length); });
    });
  }
  seen.require(lengths.size() * test::isa_count());
}

TEST_CASE("a squared norm is finite if and only if all elements are") {
  tally seen;
  for_each_isa([&](const std::string& isa) {
    for (std::size_t at = 0; at < 100; ++at)
      for (const std::uint32_t bits : {0x7f7fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0x7f800001u}) {
        numbers x(100, 7);
        x.values()[at] = std::bit_cast<float>(bits);
        seen.expect(narrow::detail::is_finite(squared_norm(x.values())) == (bits == 0x7f7fffffu),
                    [&] { return isa + ", place " + std::to_string(at); });
      }
  });
  seen.require(500 * test::isa_count());
}

TEST_CASE("a window has the sum of its gradients, and diversities by its norm") {
  tally seen;
  for (const int length : lengths) {
    if (length == 0) continue;
    std::vector<gradient_window> all;
    for_each_isa([&](const std::string& isa) {
      gradient_window window(static_cast<std::size_t>(length));
      std::vector<mpq_class> sum(static_cast<std::size_t>(length));
      mpq_class squares = 0;
      for (const double divisor : {3.0, 0.0625, 17.5}) {
        numbers g(length, static_cast<std::uint32_t>(divisor * 16));
        const double norm = squared_norm(g.values());
        window.add(g.values(), divisor, norm);
        squares += mpq_class(norm);
        mpq_class of_sum = 0;
        for (std::size_t i = 0; i < sum.size(); ++i) {
          // The sum of a window is one of doubles.
          sum[i] = mpq_class(sum[i] + mpq_class(double{g.values()[i]} / divisor)).get_d();
          of_sum += sum[i] * sum[i];
        }
        const mpq_class expected = squares / of_sum;
        const std::size_t roundings = 8 * sum.size() + 16;
        seen.expect(close(window.squared_diversity(), expected, roundings),
                    [&] { return isa + ", " + std::to_string(length); });
        const auto count = static_cast<double>(window.count());
        const double diversity = std::max(1.0, count / std::sqrt(of_sum.get_d()));
        seen.expect(close(window.diversity(), mpq_class(diversity), roundings),
                    [&] { return isa + ", the other, " + std::to_string(length); });
      }
      all.push_back(window);
      window.clear();
      seen.expect(window == gradient_window(static_cast<std::size_t>(length)),
                  [&] { return isa + ", cleared"; });
    });
    for (const gradient_window& window : all)
      seen.expect(window == all.front(), [&] { return "bits differ at " + std::to_string(length); });
  }
  seen.require((lengths.size() - 1) * test::isa_count() * 8);
}
