#include "narrow/train/truncated_normal.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <set>
#include <vector>

#include "catch.hpp"
#include "float_control.hpp"
#include "narrow/eigen.hpp"

using narrow::truncated_normal;

namespace {

/// P(X <= x) of the normal distribution of deviation 1 cut at +-sqrt(3), by the trapezoidal rule.
double truncated_share(double x) {
  const double end = std::sqrt(3.0);
  const int pieces = 200000;
  double below = 0, all = 0;
  for (int i = 0; i < pieces; ++i) {
    const double t = -end + (i + 0.5) * 2 * end / pieces, density = std::exp(-t * t / 2);
    all += density;
    below += t <= x ? density : 0;
  }
  return below / all;
}

std::vector<float> drawn(std::size_t n, double fan_in, std::uint64_t seed, double scale = 0.5) {
  std::vector<float> w(n);
  truncated_normal(w, fan_in, seed, scale);
  return w;
}

}  // namespace

TEST_CASE("the distribution is the normal one between its ends") {
  for (const auto& [fan_in, scale] : {std::pair{1.0, 0.5}, {784.0, 0.5}, {10.0, 2.0}}) {
    const std::size_t n = 200000;
    auto w = drawn(n, fan_in, 17, scale);
    const double deviation = std::sqrt(scale / fan_in);
    double sum = 0, squares = 0;
    for (const float x : w) {
      sum += static_cast<double>(x);
      squares += static_cast<double>(x) * static_cast<double>(x);
    }
    const double size = static_cast<double>(n);
    CHECK(std::fabs(sum / size) < 4 * deviation / std::sqrt(size));
    CHECK(squares / size == Approx(0.6636318 * deviation * deviation).epsilon(0.01));
    std::sort(w.begin(), w.end());
    CHECK(static_cast<double>(w.front()) >= -std::sqrt(3.0) * deviation * (1 + 1e-7));
    CHECK(static_cast<double>(w.back()) <= std::sqrt(3.0) * deviation * (1 + 1e-7));
    CHECK(static_cast<double>(w.back()) > 1.72 * deviation);
    CHECK(static_cast<double>(w.front()) < -1.72 * deviation);
    double distance = 0;
    for (double x = -1.7; x <= 1.7; x += 0.1) {
      const auto below = std::upper_bound(w.begin(), w.end(), static_cast<float>(x * deviation)) - w.begin();
      distance = std::max(distance, std::fabs(static_cast<double>(below) / size - truncated_share(x)));
    }
    CHECK(distance < 1.63 / std::sqrt(size));
  }
}

TEST_CASE("weights depend on the seed and the row-major index alone") {
  using row_major = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::MatrixXf by_columns(7, 9);
  row_major by_rows(7, 9);
  truncated_normal(by_columns, 9, 5);
  truncated_normal(by_rows, 9, 5);
  CHECK(by_columns == by_rows);
  const auto range = drawn(63, 9, 5);
  CHECK(Eigen::Map<const row_major>(range.data(), 7, 9) == by_rows);
  const auto longer = drawn(200, 9, 5);
  CHECK(std::equal(range.begin(), range.end(), longer.begin()));
  Eigen::MatrixXf around = Eigen::MatrixXf::Zero(12, 12);
  truncated_normal(around.block(2, 3, 7, 9), 9, 5);
  CHECK(around.block(2, 3, 7, 9) == by_columns);
  CHECK(around.row(0).isZero(0));
  std::array<float, 63> fixed{};
  truncated_normal(std::span(fixed), 9, 5);
  CHECK(std::equal(range.begin(), range.end(), fixed.begin()));

  const auto other = drawn(63, 9, 6);
  std::set<float> all(range.begin(), range.end());
  all.insert(other.begin(), other.end());
  CHECK(all.size() == 126);
  // A scale of 4 times as much is twice as wide.
  const auto wider = drawn(63, 9, 5, 2);
  for (std::size_t i = 0; i < 63; ++i) CHECK(wider[i] == 2 * range[i]);
  std::vector<float> none;
  truncated_normal(none, 9, 5);
  CHECK(none.empty());
}

TEST_CASE("seeds and indices do not repeat one another") {
  double products = 0, to_the_next = 0;
  int equal = 0;
  const auto a = drawn(20000, 1, 1), b = drawn(20000, 1, 2);
  for (std::size_t i = 0; i + 1 < a.size(); ++i) {
    products += static_cast<double>(a[i]) * static_cast<double>(a[i + 1]) +
                static_cast<double>(a[i]) * static_cast<double>(b[i]);
    // What keeps a number, small where the number is large, must not be what the next one is made of.
    to_the_next += static_cast<double>(a[i]) * static_cast<double>(a[i]) * static_cast<double>(a[i + 1]);
    equal += a[i] == b[i];
  }
  CHECK(std::fabs(to_the_next) < 4 * 0.3 * std::sqrt(20000.0));
  // Each product has the mean 0 and the deviation 0.66 / 2.
  CHECK(std::fabs(products) < 4 * 0.34 * std::sqrt(40000.0));
  CHECK(equal < 5);
}

TEST_CASE("the caller's floating-point control register changes no weight") {
  const auto bits = [](test::control_word mode) {
    std::vector<float> w(5000);
    {
      const test::float_control control(mode);
      truncated_normal(w, 33, 5);
    }
    std::vector<std::uint32_t> result;
    for (const float x : w) result.push_back(std::bit_cast<std::uint32_t>(x));
    return result;
  };
  const auto expected = bits(test::plain_control);
  for (const test::control_word mode : {test::round_down, test::round_up, test::round_to_zero})
    CHECK((bits(test::plain_control | mode) == expected));
}

TEST_CASE("parameters of the initialiser out of range are named") {
  std::vector<float> w = {7};
  CHECK_THROWS_WITH(truncated_normal(w, 0, 1),
                    "narrow::truncated_normal: fan_in is 0, must be in [1, 1e+18]");
  CHECK_THROWS_WITH(truncated_normal(w, 1, 1, 0),
                    "narrow::truncated_normal: scale is 0, must be in [1e-09, 1e+09]");
  CHECK_THROWS_AS(truncated_normal(w, std::nan(""), 1), std::invalid_argument);
  CHECK(w[0] == 7);
}
