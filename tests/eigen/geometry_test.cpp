// Products of Eigen's quaternions and of its transforms, against those in double, and against products of
// matrices.
#include <Eigen/Geometry>
#include <narrow/eigen.hpp>
#include <random>

#include "catch.hpp"
#include "compared.hpp"
#include "counting.hpp"
#include "every_isa.hpp"
#include "exhaustive.hpp"
#include "filled.hpp"
#include "float_control.hpp"

namespace {

using namespace narrow;
using at = Eigen::Index;

struct counts {
  at compared = 0, different = 0;

  template <class M, class N> void compare(const M& got, const N& expected) {
    for (at j = 0; j < got.cols(); ++j)
      for (at i = 0; i < got.rows(); ++i, ++compared) {
        const double g = static_cast<double>(got(i, j)), e = static_cast<double>(expected(i, j));
        different += !(g == e || (g != g && e != e)) || (g == 0 && std::signbit(g) != std::signbit(e));
      }
  }
};

/// Integers that every format has, or any codes of formats that have all of 8 or 16 bits.
struct small_integers {
  template <class T> static T next(std::mt19937& engine) { return T(static_cast<int>(engine() % 7) - 3); }
};
struct any_codes {
  template <class T> static T next(std::mt19937& engine) {
    return T::from_bits(static_cast<typename T::bits_type>(engine()));
  }
};
template <class M, class Numbers> M samples(std::mt19937& engine) {
  return test::filled<M>([&] { return Numbers::template next<typename M::Scalar>(engine); });
}

/// The matrix that multiplies the coefficients x, y, z, w of a quaternion as the quaternion a does.
template <class T> Eigen::Matrix<T, 4, 4> matrix_of(const Eigen::Quaternion<T>& a) {
  Eigen::Matrix<T, 4, 4> m;
  m.col(0) << a.w(), a.z(), -a.y(), -a.x();
  m.col(1) << -a.z(), a.w(), a.x(), -a.y();
  m.col(2) << a.y(), -a.x(), a.w(), -a.z();
  m.col(3) << a.x(), a.y(), a.z(), a.w();
  return m;
}

template <class T> void check_quaternions(counts& all, std::mt19937& engine, const test::environment& in) {
  using numbers = Eigen::Matrix<T, 4, 1>;
  using quaternion = Eigen::Quaternion<T>;
  quaternion got;
  const quaternion a(samples<numbers, small_integers>(engine)), b(samples<numbers, small_integers>(engine));
  const Eigen::Quaterniond exact = Eigen::Quaterniond(Eigen::Vector4d(test::as_double(a.coeffs()))) *
                                   Eigen::Quaterniond(Eigen::Vector4d(test::as_double(b.coeffs())));
  in.run([&] { got = a * b; });
  // What cancels has the sign of a sum that begins with zero, here as there.
  all.compare(got.coeffs(), test::rounded_to<T>(exact.coeffs().array() + 0.0));
  if constexpr (narrow_float<T>) {
    const quaternion c(samples<numbers, any_codes>(engine)), d(samples<numbers, any_codes>(engine));
    const numbers expected = matrix_of(c) * d.coeffs();
    in.run([&] { got = c * d; });
    all.compare(got.coeffs(), expected);
    got = c;
    in.run([&] { got *= d; });
    all.compare(got.coeffs(), expected);
  }
}

template <class T, int Dim, int Mode>
void check_transform(counts& all, std::mt19937& engine, const test::environment& in) {
  using transform = Eigen::Transform<T, Dim, Mode>;
  using vector = Eigen::Matrix<T, Dim, 1>;
  transform t = transform::Identity();
  t.linear() = samples<Eigen::Matrix<T, Dim, Dim>, small_integers>(engine);
  t.translation() = samples<vector, small_integers>(engine);
  const vector x = samples<vector, small_integers>(engine);
  const Eigen::VectorXd exact =
      test::as_double(t.linear()) * test::as_double(x) + test::as_double(t.translation());
  vector got, over = x;
  in.run([&] { got = t * x; });
  all.compare(got, test::rounded_to<T>(exact.array() + 0.0));
  in.run([&] { over = t * over; });
  all.compare(over, got);
}

constexpr int rounds = 50;
template <class T> counts check(const test::environment& in = {}) {
  std::mt19937 engine(1);
  counts all;
  for (int round = 0; round < rounds; ++round) {
    check_quaternions<T>(all, engine, in);
    check_transform<T, 3, Eigen::Affine>(all, engine, in);
    check_transform<T, 3, Eigen::Isometry>(all, engine, in);
    check_transform<T, 3, Eigen::AffineCompact>(all, engine, in);
    check_transform<T, 2, Eigen::Affine>(all, engine, in);
  }
  return all;
}

using formats = test::some_of<std::tuple<fp16, bf16, fp8_e4m3fn, fixed<16, 8>, fp8_e5m2, fixed<8, 4>,
                                         floating<5, 10, specials::ieee, rounding::upward>>,
                              0, 1, 2, 3>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("quaternions and transforms are summed exactly and rounded once", "[eigen][geometry]",
                        formats) {
  constexpr at of_quaternions = narrow_float<TestType> ? 12 : 4, of_transforms = 2 * (3 + 3 + 3 + 2);
  const at compared = test::compared_on_every_isa([](const std::string&) { return check<TestType>(); });
  REQUIRE(compared == at(test::isa_count()) * rounds * (of_quaternions + of_transforms));
}

TEST_CASE("quaternions and transforms do not depend on the floating-point environment", "[eigen][geometry]") {
  test::for_each_environment([](const test::environment& in) {
    INFO(in);
    CHECK(check<fp16>(in).different == 0);
    CHECK(in.is_kept());
  });
}
