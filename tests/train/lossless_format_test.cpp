// The oracle rounds, bins and sums in long double, one bin edge at a time, and tries every format.
#include "narrow/train/lossless_format.hpp"

#include <bit>
#include <cmath>
#include <random>

#include "catch.hpp"
#include "float_control.hpp"
#include "narrow/eigen.hpp"

namespace {

using narrow::covering_word_length;
using narrow::find_lossless_format;
using narrow::fixed_format;
using narrow::weight_divergence;

const float infinity = std::bit_cast<float>(0x7f800000u);
const float not_a_number = std::bit_cast<float>(0x7fc00000u);

long double to_format(float x, fixed_format f) {
  const long double half_range = std::ldexp(1.0L, f.wl - 1);
  const long double mantissa = std::nearbyint(std::ldexp(static_cast<long double>(x), f.fl));
  return std::ldexp(std::fmin(std::fmax(mantissa, -half_range), half_range - 1), -f.fl);
}

std::size_t bin(long double x, long double low, long double high, int bins) {
  int i = 0;
  while (i + 1 < bins && x >= low + (high - low) * (i + 1) / bins) ++i;
  return static_cast<std::size_t>(i);
}

long double divergence(const std::vector<float>& w, fixed_format f, int bins, double smoothing) {
  const auto [low, high] = std::minmax_element(w.begin(), w.end());
  std::vector<long double> p(static_cast<std::size_t>(bins)), q(p);
  for (const float x : w) {
    const auto a = static_cast<long double>(*low), b = static_cast<long double>(*high);
    p[bin(static_cast<long double>(x), a, b, bins)] += 1 / static_cast<long double>(w.size());
    q[bin(to_format(x, f), a, b, bins)] += 1 / static_cast<long double>(w.size());
  }
  long double sum = 0, total = 0;
  for (std::size_t i = 0; i < p.size(); ++i) total += q[i] + static_cast<long double>(smoothing);
  for (std::size_t i = 0; i < p.size(); ++i)
    if (p[i] > 0) sum += p[i] * std::log(p[i] / ((q[i] + static_cast<long double>(smoothing)) / total));
  return sum;
}

int shortest_word(const std::vector<float>& w, int fl) {
  for (int wl = std::max(2, fl + 1); wl <= 32; ++wl) {
    bool fits = true;
    for (const float x : w) {
      const long double magnitude = std::fabs(static_cast<long double>(x));
      fits = fits && std::nearbyint(std::ldexp(magnitude, fl)) < std::ldexp(1.0L, wl - 1);
    }
    if (fits) return wl;
  }
  return 33;
}

std::vector<float> random_weights(int n, int kind, float size, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> w;
  for (int i = 0; i < n; ++i) {
    const float z = normal(random), u = uniform(random);
    w.push_back(size * (kind == 0 ? z : kind == 1 ? u : kind == 2 ? z * z * z : 5 + u));
  }
  return w;
}

}  // namespace

TEST_CASE("the divergence agrees with the oracle") {
  std::mt19937 random(1);
  int compared = 0, wrong = 0, apart = 0;
  for (const int n : {1, 7, 300, 2500})
    for (int kind = 0; kind < 4; ++kind)
      for (const float size : {0.003f, 0.3f, 40.0f})
        for (const int bins : {2, 50, 149})
          for (const fixed_format f :
               {fixed_format(2, 0), {8, 4}, {8, 7}, {12, 10}, {16, 8}, {32, 20}, {32, 31}}) {
            const auto w = random_weights(n, kind, size, random);
            if (n == 1) continue;  // another test
            const double smoothing = 1e-6;
            const auto expected = static_cast<double>(divergence(w, f, bins, smoothing));
            const double actual = weight_divergence(w, f, bins, smoothing);
            wrong += !(std::fabs(actual - expected) <= 1e-12 * (1 + expected));
            apart += expected > 0.01;
            ++compared;
          }
  CHECK(wrong == 0);
  CHECK(compared == 3 * 4 * 3 * 3 * 7);
  CHECK(apart > 200);
}

TEST_CASE("divergences computed by hand") {
  // 0 to 3 in two bins of 1.5, to nearest even in <3, 0>: 0.5 becomes 0, 1.6 and 2.5 become 2.
  const std::vector<float> w = {0, 0.5f, 1.6f, 2.5f, 3};
  CHECK(weight_divergence(w, {3, 0}, 2, 1e-9) == Approx(0).margin(1e-8));
  // 1.4 becomes 1 and stays; 1.6 in steps of 2 becomes 2, 1.4 becomes 2 too.
  const std::vector<float> v = {0, 1.4f, 1.6f, 3};
  // In <2, 0> all above 1 saturates to 1: three of four are in the upper bin, none then is.
  const double p0 = 0.5, p1 = 0.5, d = 0.25;
  CHECK(weight_divergence(v, {2, 0}, 2, d) ==
        Approx(p0 * std::log(p0 / ((1 + d) / (1 + 2 * d))) + p1 * std::log(p1 / ((0 + d) / (1 + 2 * d))))
            .epsilon(1e-14));
  // What leaves the range counts in the end bins: -0.6 becomes -1, 2.6 becomes 3.
  CHECK(weight_divergence(std::vector<float>{-0.6f, 1, 1, 2.6f}, {4, 0}, 3, 1e-9) == Approx(0).margin(1e-8));
}

TEST_CASE("NaNs, infinities, nothing and one value") {
  const std::vector<float> w = {-1, 0.3f, 0.7f, 2},
                           with = {not_a_number, -1, infinity, 0.3f, 0.7f, -infinity, 2};
  for (const fixed_format f : {fixed_format(4, 0), {4, 1}, {8, 5}})
    CHECK(weight_divergence(with, f, 20, 1e-6) == weight_divergence(w, f, 20, 1e-6));
  CHECK(find_lossless_format(with, 50, 0.01, 1e-6).nonfinite == 3);
  CHECK(find_lossless_format(with, 50, 0.01, 1e-6).format == find_lossless_format(w, 50, 0.01, 1e-6).format);
  for (const auto& nothing : {std::vector<float>{}, {not_a_number}, {0, 0, -0.0f}}) {
    const auto found = find_lossless_format(nothing, 50, 0.01, 1e-6);
    CHECK(found.format == fixed_format(2, 0));
    CHECK(found.lossless);
  }
  // One value is binned between zero and itself: its copy must reach the last of 50 bins.
  for (const float x : {0.3f, -0.3f, 1e-3f, 77.7f}) {
    const std::vector<float> same(10, x);
    const auto found = find_lossless_format(same, 50, 0.01, 1e-6);
    CHECK(found.lossless);
    const double copy = static_cast<double>(to_format(x, found.format)), wide = static_cast<double>(x);
    CHECK(copy / wide > 0.98);
    CHECK(weight_divergence(same, {32, std::max(0, found.format.fl - 4)}, 50, 1e-6) >
          (std::fabs(x) > 8 ? 0.0 : 1.0));
  }
}

TEST_CASE("the shortest word that holds the largest weight") {
  int checked = 0, wrong = 0;
  std::mt19937 random(2);
  std::vector<float> maxima = {
      0,       1,   0.5f,    0.999f,         1.9f,    2,     127,    127.5f,
      127.49f, 128, 0x1p30f, 0x1.fffffep30f, 0x1p31f, 1e30f, 1e-40f, 0x1.fffffep127f};
  for (int i = 0; i < 200; ++i)
    maxima.push_back(
        std::ldexp(1 + static_cast<float>(random() % 4096) / 4096, static_cast<int>(random() % 40) - 10));
  for (const float max : maxima)
    for (int fl = 0; fl < 32; ++fl) {
      wrong += covering_word_length(max, fl) != shortest_word({max}, fl);
      ++checked;
    }
  for (const int fl : {-1, 32, std::numeric_limits<int>::max()})
    CHECK_THROWS_AS(covering_word_length(1, fl), std::invalid_argument);
  CHECK(wrong == 0);
  CHECK(checked == 216 * 32);
}

TEST_CASE("PushDown returns a format that is lossless, the shortest where that has a meaning") {
  std::mt19937 random(3);
  int monotone = 0, searches = 0;
  const double smoothing = 1e-6;
  for (int kind = 0; kind < 4; ++kind)
    for (const float size : {0.002f, 0.05f, 0.8f, 30.0f})
      for (const int bins : {50, 150})
        for (const double tolerance : {1e-3, 0.01, 0.2}) {
          const auto w = random_weights(300, kind, size, random);
          const auto found = find_lossless_format(w, bins, tolerance, smoothing);
          ++searches;
          std::vector<bool> lossless;
          for (int fl = 0; fl < 32; ++fl) {
            const int wl = shortest_word(w, fl);
            lossless.push_back(wl <= 32 && divergence(w, {wl, fl}, bins, smoothing) < tolerance);
          }
          const auto fl = static_cast<std::size_t>(found.format.fl);
          REQUIRE(found.lossless);
          CHECK(lossless[fl]);
          CHECK(found.format.wl == shortest_word(w, found.format.fl));
          CHECK(found.divergence == weight_divergence(w, found.format, bins, smoothing));
          CHECK(found.divergence < tolerance);
          const auto first =
              static_cast<std::size_t>(std::find(lossless.begin(), lossless.end(), true) - lossless.begin());
          bool closed = true;
          for (std::size_t i = first; i < 32; ++i)
            closed = closed && (lossless[i] || shortest_word(w, static_cast<int>(i)) > 32);
          if (closed) {
            CHECK(fl == first);
            ++monotone;
          }
        }
  CHECK(searches == 96);
  CHECK(monotone > 60);
}

TEST_CASE("weights that no format holds") {
  const std::vector<float> large = {1e12f, -3e11f, 5, 1e11f};
  const auto found = find_lossless_format(large, 50, 0.01, 1e-6);
  CHECK_FALSE(found.lossless);
  CHECK(found.format == fixed_format(32, 0));
  CHECK(found.divergence > 0.01);
  // Differences far below 2^-31 in a word that must hold 1000.
  std::vector<float> fine(100);
  for (std::size_t i = 0; i < fine.size(); ++i) fine[i] = static_cast<float>(i) * 0x1p-40f;
  CHECK_FALSE(find_lossless_format(fine, 50, 0.01, 1e-6).lossless);
  CHECK(find_lossless_format(fine, 50, 0.01, 1e-6).format == fixed_format(32, 31));
}

TEST_CASE("the caller's floating-point control register changes no bit of PushDown") {
  std::mt19937 random(4);
  auto w = random_weights(3000, 0, 0.1f, random);
  for (std::size_t i = 0; i < 100; ++i) w[i] *= 1e-38f;
  const auto run = [&](test::control_word mode) {
    const test::float_control control(mode);
    const auto found = find_lossless_format(w, 77, 0.003, 1e-6);
    const double at_8 = weight_divergence(w, {8, 4}, 77, 1e-6);
    const test::control_word after = test::read_control();
    test::write_control(test::plain_control);
    CHECK((after & ~test::exception_flags) == mode);
    return std::pair(found, at_8);
  };
  const auto expected = run(test::plain_control);
  for (const test::control_word mode : {test::round_down, test::round_up, test::round_to_zero,
                                        test::flush_to_zero | test::denormals_are_zero})
    CHECK(run(test::plain_control | mode) == expected);
}

TEST_CASE("matrices in both orders have one histogram") {
  const Eigen::MatrixXf m = Eigen::MatrixXf::Random(30, 20);
  const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> by_rows = m;
  CHECK(weight_divergence(m, {8, 4}, 50, 1e-6) == weight_divergence(by_rows, {8, 4}, 50, 1e-6));
  CHECK(find_lossless_format(m, 50, 0.01, 1e-6) == find_lossless_format(by_rows.transpose(), 50, 0.01, 1e-6));
}

TEST_CASE("parameters of PushDown out of range are named") {
  const std::vector<float> w = {1, 2};
  CHECK_THROWS_WITH(weight_divergence(w, {8, 4}, 1, 1e-6),
                    "narrow::weight_divergence: bins is 1, must be in [2, 65536]");
  CHECK_THROWS_WITH(weight_divergence(w, {8, 4}, 50, 0),
                    "narrow::weight_divergence: smoothing is 0, must be in (0, 1)");
  fixed_format none;
  none.fl = 9;
  CHECK_THROWS_AS(weight_divergence(w, none, 50, 1e-6), std::invalid_argument);
  CHECK_THROWS_WITH(find_lossless_format(w, 70000, 0.01, 1e-9),
                    "narrow::find_lossless_format: bins is 70000, must be in [2, 65536]");
  CHECK_THROWS_WITH(find_lossless_format(w, 50, 0, 1e-6),
                    "narrow::find_lossless_format: tolerance is 0, must be in (0, inf)");
  CHECK_THROWS_WITH(find_lossless_format(w, 50, 0.01, 0.001),
                    Catch::Contains("smoothing is 0.001, must be in [2.2250738585072014e-308, 1e-04]") ||
                        Catch::Contains("smoothing is 0.001, must be in [2.2250738585072014e-308, 0.0001]"));
}
