#include "narrow/train/kolmogorov_smirnov.hpp"

#include <bit>
#include <random>

#include "catch.hpp"
#include "narrow/eigen.hpp"

namespace {

using narrow::fit_gaussian;
using narrow::fit_inverted_t;
using narrow::gaussian_distribution;
using narrow::inverted_t_distribution;
using narrow::kolmogorov_smirnov;

const float infinity = std::bit_cast<float>(0x7f800000u);
const float not_a_number = std::bit_cast<float>(0x7fc00000u);

/// On [0, 1] evenly: the distances to it are easy to see.
struct uniform {
  double below(double x) const { return up_to(x); }
  double up_to(double x) const { return x < 0 ? 0.0 : x > 1 ? 1.0 : x; }
};

/// The normal distribution by Simpson's rule.
double integrated_normal(double mean, double deviation, double x) {
  const double from = mean - 12 * deviation;
  const int pieces = 20000;
  const double h = (x - from) / pieces;
  const auto density = [&](double t) {
    return std::exp(-(t - mean) * (t - mean) / (2 * deviation * deviation)) /
           (deviation * std::sqrt(2 * std::acos(-1.0)));
  };
  double sum = density(from) + density(x);
  for (int i = 1; i < pieces; ++i) sum += density(from + i * h) * (i % 2 != 0 ? 4 : 2);
  return sum * h / 3;
}

}  // namespace

TEST_CASE("distances computed by hand") {
  CHECK(kolmogorov_smirnov(std::vector<double>{0.5}, uniform{}) == 0.5);
  CHECK(kolmogorov_smirnov(std::vector<double>{0.125, 0.375, 0.625, 0.875}, uniform{}) == 0.125);
  CHECK(kolmogorov_smirnov(std::vector<float>{0.75f, 0.25f, 0.25f, 0.25f}, uniform{}) ==
        0.5);                                                               // 3/4 up to 1/4
  CHECK(kolmogorov_smirnov(std::vector<double>{1, 1, 1}, uniform{}) == 1);  // none before 1
  CHECK(kolmogorov_smirnov(std::vector<double>{-1}, uniform{}) == 1);
  CHECK(kolmogorov_smirnov(std::vector<double>{}, uniform{}) == 0);
  CHECK(kolmogorov_smirnov(std::vector<float>{not_a_number, 0.5f, infinity, -infinity}, uniform{}) == 0.5);
  CHECK(kolmogorov_smirnov(std::vector<narrow::fp16>{0.25f, 0.75f}, uniform{}) == 0.25);
  CHECK(kolmogorov_smirnov(Eigen::MatrixXf::Constant(2, 3, 0.5f), uniform{}) == 0.5);
}

TEST_CASE("the normal distribution function agrees with its integral") {
  int checked = 0;
  for (const double mean : {0.0, -3.0, 0.01})
    for (const double deviation : {1.0, 0.001, 50.0})
      for (double z = -4; z <= 4; z += 0.5) {
        const gaussian_distribution d{mean, deviation};
        const double x = mean + z * deviation;
        if (std::fabs(d.up_to(x) - integrated_normal(mean, deviation, x)) > 1e-10) FAIL(mean << " " << x);
        CHECK(d.below(x) == d.up_to(x));
        ++checked;
      }
  CHECK(checked == 9 * 17);
}

TEST_CASE("the inverted T has the shares that it is made of") {
  const inverted_t_distribution d{0.5, 0.75, 2};
  CHECK(d.up_to(-3) == 0);
  CHECK(d.up_to(-2) == 0);
  CHECK(d.up_to(-0.5) == 0.125);
  CHECK(d.up_to(-0.25) == 0.3125);
  CHECK(d.up_to(0) == 0.5);
  CHECK(d.up_to(0.25) == 0.6875);
  CHECK(d.up_to(0.5) == 0.875);
  CHECK(d.up_to(1.25) == 0.9375);
  CHECK(d.up_to(2) == 1);
  CHECK(d.below(0.25) == 0.6875);
}

TEST_CASE("fits have the moments and shares of the sample") {
  const auto normal = fit_gaussian(std::vector<float>{1, 3, not_a_number, 5, 7, infinity});
  CHECK(normal.mean == 4);
  CHECK(normal.deviation == std::sqrt(5.0));
  CHECK(fit_gaussian(std::vector<double>{1e15 + 1, 1e15 - 1}).deviation == 1);
  const std::vector<float> sample = {-4, -1, 0.5f, -0.25f, 0, 0, 1, 0.75f, not_a_number};
  const auto t = fit_inverted_t(sample, 1);
  CHECK(t.eps == 1);
  CHECK(t.inside == 5.0 / 8);  // 1 and -1 are not inside
  CHECK(t.max == 4);
  CHECK(fit_inverted_t(sample, 5).eps == 4);
  CHECK(fit_inverted_t(sample, 4).inside == 1);
  CHECK_THROWS_WITH(fit_inverted_t(sample, 0), "narrow::fit_inverted_t: eps is 0, must be in (0, inf)");
  CHECK_THROWS_AS(fit_inverted_t(sample, static_cast<double>(infinity)), std::invalid_argument);
}

TEST_CASE("samples of one value, and none, are at no distance from their fits") {
  for (const float x : {0.0f, 3.0f, -1e-40f}) {
    const std::vector<float> sample(5, x);
    CHECK(kolmogorov_smirnov(sample, fit_gaussian(sample)) == 0);
  }
  const std::vector<float> zeros(5, 0.0f), none = {not_a_number};
  CHECK(kolmogorov_smirnov(zeros, fit_inverted_t(zeros, 1)) == 0);
  CHECK(kolmogorov_smirnov(none, fit_gaussian(none)) == 0);
  CHECK(kolmogorov_smirnov(none, fit_inverted_t(none, 1)) == 0);
}

TEST_CASE("each of two samples is nearer to what it was drawn from") {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, 1e-3);
  std::uniform_real_distribution<double> uniform01(-1, 1);
  std::vector<double> bell, inverted;
  for (int i = 0; i < 20000; ++i) {
    bell.push_back(normal(random));
    inverted.push_back(uniform01(random) * (i % 10 == 0 ? 1 : 0.02));
  }
  const double near_one = fit_gaussian(bell).deviation;
  CHECK(near_one == Approx(1e-3).epsilon(0.03));
  // 1.63 / sqrt(n) is the distance that one in a hundred samples of their own distribution passes.
  const double bound = 1.63 / std::sqrt(20000.0);
  CHECK(kolmogorov_smirnov(bell, fit_gaussian(bell)) < bound);
  CHECK(kolmogorov_smirnov(bell, fit_inverted_t(bell, near_one)) > 5 * bound);
  CHECK(kolmogorov_smirnov(inverted, fit_inverted_t(inverted, 0.02)) < bound);
  CHECK(kolmogorov_smirnov(inverted, fit_gaussian(inverted)) > 20 * bound);
}
