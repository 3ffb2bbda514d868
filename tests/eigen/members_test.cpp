// Members of Matrix and Array that the other tests do not call, with a narrow scalar.
#include <Eigen/Dense>
#include <narrow/eigen.hpp>
#include <sstream>

#include "catch.hpp"
#include "counting.hpp"
#include "exhaustive.hpp"

using namespace test;
using narrow::bf16;
using narrow::fp16;

namespace {
using formats = some_of<std::tuple<fp16, bf16>, 0>;
using ranges =
    some_of<std::tuple<fp16, bf16, narrow::fp8_e4m3fn, narrow::fixed<8, 4>, narrow::fixed<32, 16>>, 0, 3>;
}  // namespace

TEMPLATE_LIST_TEST_CASE("Norms", "", formats) {
  using S = TestType;
  const column<S> v = integers(100, 1, 1).cast<S>();
  const Eigen::VectorXd x = as_double(v);
  const double epsilon = static_cast<double>(std::numeric_limits<S>::epsilon());
  const auto near = [&](S got, double expected) {
    return std::abs(double(got) / expected - 1) < 4 * epsilon;
  };
  REQUIRE(near(v.norm(), x.norm()));
  REQUIRE(near(v.stableNorm(), x.norm()));
  REQUIRE(near(v.template lpNorm<1>(), x.lpNorm<1>()));
  REQUIRE(near(v.template lpNorm<Eigen::Infinity>(), x.lpNorm<Eigen::Infinity>()));
  REQUIRE(near(v.normalized().norm(), 1));
  REQUIRE(near((v / 1000).stableNorm(), x.norm() / 1000));
  REQUIRE(near((1000 * v / 15).stableNorm(), 1000 * x.norm() / 15));
  REQUIRE(near(v.cwiseAbs().mean(), x.cwiseAbs().mean()));
  REQUIRE(near(v.head(3).prod(), x.head(3).prod()));
}

TEMPLATE_LIST_TEST_CASE("hypotNorm does not leave the range of the format on the way", "", ranges) {
  using S = TestType;
  const double largest = static_cast<double>(std::numeric_limits<S>::max());
  int cases = 0;
  for (const double x :
       {1.0, largest, -largest / 64, static_cast<double>(std::numeric_limits<S>::denorm_min())})
    for (const Eigen::Index n : {1, 2, 9, 4096}) {
      const column<S> v = column<S>::Constant(n, S(x));
      const double norm = std::sqrt(static_cast<double>(n)) * std::abs(static_cast<double>(S(x)));
      REQUIRE(v.hypotNorm().bits() == S(norm).bits());  // a NaN where the format has no infinity
      REQUIRE((-v).hypotNorm().bits() == S(norm).bits());
      ++cases;
    }
  REQUIRE(cases == 16);
}

TEMPLATE_LIST_TEST_CASE("Approximate comparison has the range of double", "", formats) {
  using S = TestType;
  const column<S> ones = column<S>::Ones(90000), small = column<S>::Constant(50, S(1e-3f));
  REQUIRE(ones.isApprox(ones));
  REQUIRE_FALSE(ones.isApprox(2 * ones));  // squares that fp16 cannot sum
  REQUIRE(small.isApprox(small * 1.001f));
  REQUIRE_FALSE(small.isApprox(small * 1.1f));  // squares that fp16 cannot hold
  REQUIRE(small.isMuchSmallerThan(ones.head(50), S(0.01f)));
  REQUIRE_FALSE(small.isMuchSmallerThan(small));
  REQUIRE(small.head(1).isMuchSmallerThan(S(1), S(0.01f)));
  REQUIRE_FALSE(ones.isMuchSmallerThan(S(100)));
  REQUIRE((ones - ones).isZero());
}

TEMPLATE_LIST_TEST_CASE("Evenly spaced numbers are each rounded once", "", formats) {
  using S = TestType;
  for (const Eigen::Index n : {2, 7, 1001, 70001}) {
    const column<S> v = column<S>::LinSpaced(n, S(-1), S(3));
    int wrong = 0;
    for (Eigen::Index i = 0; i < n; ++i) {
      const double exact = -1 + 4 * static_cast<double>(i) / static_cast<double>(n - 1);
      wrong += std::abs(double(v(i)) - exact) >
               std::abs(exact) * double(std::numeric_limits<S>::epsilon()) / 2 + 1e-7;
    }
    REQUIRE(wrong == 0);
    REQUIRE(v(0) == S(-1));
    REQUIRE(v(n - 1) == S(3));
  }
  REQUIRE(column<S>::LinSpaced(1, S(2), S(3))(0) == S(3));  // as with float
}

TEST_CASE("Matrices are filled, resized, reordered and written") {
  using Mat = matrix<fp16>;
  Mat m(2, 3);
  m << 1, 2, 3, 4, 5, fp16(6);
  const Mat original = m;
  m.conservativeResize(3, 3);
  m.row(2) = m.row(0) * 0.5f;
  REQUIRE(m(2, 2) == fp16(1.5f));
  m.row(0).swap(m.row(1));
  REQUIRE(m(0, 0) == fp16(4));
  Mat other = Mat::Zero(1, 1);
  std::swap(m, other);
  REQUIRE((m.size() == 1 && other.rows() == 3));
  REQUIRE(original.replicate(2, 1).colwise().sum().eval() == 2 * original.colwise().sum());
  REQUIRE(original.reverse()(0, 0) == fp16(6));
  Eigen::Index i = -1, j = -1;
  REQUIRE(original.maxCoeff(&i, &j) == fp16(6));
  REQUIRE((i == 1 && j == 2));
  REQUIRE(original.minCoeff(&i, &j) == fp16(1));
  REQUIRE((i == 0 && j == 0));
  REQUIRE((original.array() > 2).select(original, Mat::Zero(2, 3)).sum() == fp16(18));
  REQUIRE(original.colwise().maxCoeff().eval() == row<fp16>(original.row(1)));
  REQUIRE((original.array() < 4).count() == 3);
  REQUIRE((original.array() > 0).all());
  std::ostringstream out;
  out << original;
  REQUIRE(out.str() == "1 2 3\n4 5 6");
  std::srand(1);
  const Mat random = Mat::Random(30, 30);
  REQUIRE((random.minCoeff() >= fp16(-1) && random.maxCoeff() <= fp16(1) &&
           random.maxCoeff() - random.minCoeff() > 1.5f));
  Mat listed{{1, 2}, {3, 4}};
  REQUIRE(listed(1, 0) == fp16(3));
  listed.setConstant(fp16(2));
  listed *= fp16(3);
  listed /= 2;
  REQUIRE((listed.array() == fp16(3)).all());
  listed.setIdentity();
  REQUIRE(listed.isIdentity());
  REQUIRE_FALSE(listed.hasNaN());
  listed(0, 1) = std::numeric_limits<fp16>::quiet_NaN();
  REQUIRE(listed.hasNaN());
  REQUIRE_FALSE(listed.allFinite());
}

TEMPLATE_TEST_CASE("A constant fills matrices of every size", "", fp16, narrow::fp8_e4m3fn,
                   (narrow::fixed<32, 8>)) {
  for (const Eigen::Index rows : {0, 1, 7, 15, 16, 17, 33, 64, 100}) {
    column<TestType> v(rows);
    matrix<TestType> m(rows, 3);
    v.setConstant(TestType(3));
    m.setConstant(TestType(2));
    REQUIRE((v.array() == TestType(3)).all());
    REQUIRE((m.array() == TestType(2)).all());
    v.setZero();
    m.setOnes();
    REQUIRE((v.array() == TestType(0)).all());
    REQUIRE((m.array() == TestType(1)).all());
    m.middleCols(1, 1).setZero();
    REQUIRE(static_cast<double>(narrow::sum(m)) == static_cast<double>(2 * rows));
    if (rows > 0) m.row(0).setConstant(TestType(4));
    REQUIRE(static_cast<double>(narrow::sum(m)) == static_cast<double>(2 * rows + (rows > 0 ? 10 : 0)));
  }
}

TEST_CASE("Small vectors have cross products and homogeneous coordinates") {
  using Vec = Eigen::Matrix<fp16, 3, 1>;
  const Vec x(1, 2, 3), y(4, -5, 6);
  REQUIRE(x.cross(y) == Vec(27, 6, -13));
  REQUIRE(x.homogeneous()(3) == fp16(1));
  REQUIRE((2 * x).homogeneous().hnormalized() == Vec(2 * x));
  const Eigen::Matrix<fp16, 2, 1> pair(1, 2);
  REQUIRE(pair.dot(pair) == fp16(5));
}

TEST_CASE("Arrays compute coefficient by coefficient") {
  using Arr = Eigen::Array<fp16, Eigen::Dynamic, 1>;
  const Arr x = Arr::LinSpaced(9, fp16(0.5f), fp16(4.5f));
  const Eigen::ArrayXd exact = x.cast<double>();
  const auto near = [](const Arr& got, const Eigen::ArrayXd& expected) {
    return ((got.cast<double>() - expected).abs() <= expected.abs() * std::ldexp(1.001, -11)).all();
  };
  REQUIRE(near(x.exp(), exact.exp()));
  REQUIRE(near(x.log1p(), exact.log1p()));
  REQUIRE(near(x.sin(), exact.sin()));
  REQUIRE(near(x.rsqrt(), exact.rsqrt()));
  REQUIRE(near(x.cube(), exact.cube()));
  REQUIRE(near(1 / (1 + (-x).exp()), 1 / (1 + (-exact).exp())));
  REQUIRE(near(x.floor(), exact.floor()));
  REQUIRE(near((x - 2).abs(), (exact - 2).abs()));
  REQUIRE((x.isFinite().all() && !x.isNaN().any() && !x.isInf().any()));
  Arr y = x;
  y *= x;
  y += 1;
  y /= x;
  REQUIRE(((y.cast<double>() - (exact + 1 / exact)).abs() < 0.01).all());
  REQUIRE((x.min)(fp16(1)).maxCoeff() == fp16(1));
  REQUIRE((x.max)(fp16(1)).minCoeff() == fp16(1));
}
