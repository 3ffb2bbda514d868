// Inverses and determinants of every size, of matrices whose cofactors leave the range of the format.
#include <Eigen/LU>
#include <narrow/eigen.hpp>

#include "catch.hpp"
#include "counting.hpp"
#include "policies.hpp"
#include "tally.hpp"

using namespace test;

namespace {

/// Diagonally dominant, times scale.
Eigen::MatrixXd sample(Eigen::Index n, double scale) {
  return scale * (reals(n, n, 3) + 2.5 * Eigen::MatrixXd::Identity(n, n));
}

template <class S, int N> void check_inverse(tally& result, Eigen::Index n, double scale) {
  const Eigen::Matrix<S, N, N> a = sample(n, scale).cast<S>();
  const Eigen::MatrixXd exact = as_double(a).inverse();
  const double tolerance = static_cast<double>(std::numeric_limits<S>::epsilon()) / 2 + 1e-5;
  const auto near = [&](const char* what, const auto& got) {
    const double error = (as_double(got) - exact).cwiseAbs().maxCoeff() / exact.cwiseAbs().maxCoeff();
    result.expect(error <= tolerance, [&] { return text(name_of<S>(), what, n, scale, error); });
  };
  const Eigen::Matrix<S, N, N> inverse = a.inverse();
  near("inverse", inverse);
  const Eigen::MatrixXf wide = a.inverse();
  near("in float", wide);
  near("in a product", Eigen::MatrixXf(a.inverse() * Eigen::Matrix<S, N, N>::Identity(n, n)));
  Eigen::Matrix<S, N, N> sum = Eigen::Matrix<S, N, N>::Zero(n, n);
  sum -= -a.inverse();
  near("in a sum", sum);

  const double determinant = as_double(a).determinant();
  const double got = static_cast<double>(a.determinant());
  const double smallest = static_cast<double>(std::numeric_limits<S>::denorm_min());
  result.expect(std::abs(got - determinant) <= 2 * tolerance * std::abs(determinant) + smallest,
                [&] { return text(name_of<S>(), "determinant", n, scale, got, determinant); });
}
constexpr int checks_of_inverse = 5;

template <int... N> using sizes = std::tuple<std::integral_constant<int, N>...>;
/// Up to 4 there are formulas, above all are decomposed in one way.
template <class S>
using sizes_of =
    std::conditional_t<std::same_as<S, narrow::fp16>, some_of<sizes<1, 2, 3, 4, 5, 6>, 0, 1, 2, 3, 4>,
                       some_of<sizes<1, 2, 3, 4, 5, 6>, 2, 3>>;

template <class S> void check_sizes(double scale) {
  tally result;
  for_each_type<sizes_of<S>>(
      [&]<class Size>() { check_inverse<S, Size::value>(result, Size::value, scale); });
  check_inverse<S, Eigen::Dynamic>(result, 3, scale);
  check_inverse<S, Eigen::Dynamic>(result, 9, scale);
  result.require((std::tuple_size_v<sizes_of<S>> + 2) * checks_of_inverse);
}

}  // namespace

TEST_CASE("Inverses have the accuracy of fp16") {
  check_sizes<narrow::fp16>(1);
  check_sizes<narrow::fp16>(1e-3);
}

TEST_CASE("Inverses have the accuracy of bf16") {
  check_sizes<narrow::bf16>(1);
  check_sizes<narrow::bf16>(1e-9);
}

TEST_CASE("Inverses round once") {
  using S = counted_fp16;
  const matrix<S> a = sample(5, 1).cast<S>();
  const Eigen::Matrix<S, 3, 3> small = a.topLeftCorner(3, 3);
  REQUIRE(roundings([&] { (void)a.inverse().eval(); }) == 25);
  REQUIRE(roundings([&] { (void)small.inverse().eval(); }) == 9);
  REQUIRE(roundings([&] { (void)(small + small.inverse() * 2).eval(); }) == 9);
  REQUIRE(roundings([&] { (void)small.determinant(); }) == 1);
  REQUIRE(roundings([&] { (void)a.determinant(); }) == 1);
  REQUIRE(roundings([&] { (void)Eigen::MatrixXf(a.inverse()); }) == 0);
}

TEST_CASE("An inverse that is checked is the same, and may lie over its matrix") {
  using S = narrow::fp16;
  const Eigen::Matrix<S, 3, 3> a = sample(3, 0.125).cast<S>();
  Eigen::Matrix<S, 3, 3> inverse = a;
  S determinant;
  bool invertible = false;
  inverse.computeInverseAndDetWithCheck(inverse, determinant, invertible, S(1e-5f));
  REQUIRE(invertible);
  REQUIRE(inverse == Eigen::Matrix<S, 3, 3>(a.inverse()));
  REQUIRE(determinant == a.determinant());
  Eigen::Matrix<S, 2, 2> singular = Eigen::Matrix<S, 2, 2>::Ones(), nothing;
  singular.computeInverseWithCheck(nothing, invertible);
  REQUIRE_FALSE(invertible);

  matrix<S> large = sample(7, 1).cast<S>();
  const matrix<S> expected = large.inverse();
  large = large.inverse();
  REQUIRE(large == expected);
}

TEST_CASE("Inverses of fixed-point matrices round once") {
  using F = narrow::fixed<28, 14>;
  const Eigen::Matrix<F, 3, 3> a = sample(3, 0.02).cast<F>();
  const Eigen::MatrixXd exact = as_double(a).inverse();
  const double half_step = std::ldexp(1., -15);
  REQUIRE((as_double(Eigen::Matrix<F, 3, 3>(a.inverse())) - exact).cwiseAbs().maxCoeff() < 1.01 * half_step);
  REQUIRE((as_double(matrix<F>(matrix<F>(a).inverse())) - exact).cwiseAbs().maxCoeff() < 1.01 * half_step);
  REQUIRE(std::abs(static_cast<double>(a.determinant()) - as_double(a).determinant()) < 1.01 * half_step);
}
