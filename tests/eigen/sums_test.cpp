// What sums promise beyond being wide: one rounding, exact fixed point, the wide value itself.
#include "catch.hpp"
#include "counting.hpp"
#include "exhaustive.hpp"
#include "tally.hpp"

using namespace test;
using narrow::fp16;

namespace {

constexpr Eigen::Index n = 4096;

}  // namespace

TEST_CASE("Sums of fixed-point numbers are exact and saturate once") {
  using F = narrow::fixed<28, 14>;
  const double step = std::ldexp(1., -14), largest = static_cast<double>(std::numeric_limits<F>::max());
  const column<F> ones = column<F>::Ones(n), steps = column<F>::Constant(4 * n, F(step)),
                  tens = column<F>::Constant(n, F(10));
  REQUIRE(double(ones.sum()) == n);
  REQUIRE(double(ones.dot(ones)) == n);
  REQUIRE(double(steps.sum()) == 4 * n * step);
  REQUIRE(double(steps.dot(steps)) == step);  // 2^14 squares of 2^-14, each of which rounds to 0
  REQUIRE(double(steps.squaredNorm()) == step);
  REQUIRE(double(tens.sum()) == largest);
  REQUIRE(double(tens.dot(tens)) == largest);
  REQUIRE(double((-tens).dot(tens)) == double(std::numeric_limits<F>::lowest()));
  REQUIRE(double((steps.transpose() * steps).value()) == step);
  REQUIRE(as_double(matrix<F>(steps.transpose().replicate(2, 1)).rowwise().squaredNorm()) ==
          Eigen::Vector2d(step, step));

  // A sum that leaves the range on the way comes back into it.
  column<F> there_and_back(n);
  there_and_back << column<F>::Constant(n / 2, F(8000)), column<F>::Constant(n / 2 - 1, F(-8000)), F(-7999);
  REQUIRE(double(there_and_back.sum()) == 1);
  REQUIRE(double(there_and_back.dot(ones)) == 1);
  REQUIRE(double((ones.transpose() * there_and_back).value()) == 1);
  matrix<F> c = matrix<F>::Constant(1, 1, F(-8191));
  c += there_and_back.transpose().topLeftCorner(1, 2) * ones.topRows(2);  // -8191 + 16000
  REQUIRE(double(c(0, 0)) == 7809);
}

TEST_CASE("narrow::sum, mean, norm and dot take expressions") {
  const column<fp16> ones = column<fp16>::Ones(90000);
  REQUIRE(narrow::sum(ones + ones) == 180000.f);
  REQUIRE(narrow::mean(2 * ones.array()) == 2.f);
  REQUIRE(narrow::norm(ones / 4) == 75.f);
  REQUIRE(narrow::dot(ones, Eigen::VectorXf::Ones(90000)) == 90000.f);
  REQUIRE(narrow::dot(3 * ones, ones + ones) == 540000.f);

  const matrix<fp16> m = Eigen::Map<const matrix<fp16>>(ones.data(), 300, 300);
  REQUIRE(narrow::sum(m.transpose().topRows(150)) == 45000.f);
  REQUIRE(narrow::sum(m * m) == 90000.f * 300);
  REQUIRE(narrow::norm(m * m) == 300.f * 300);
  REQUIRE(narrow::norm(m) == 300.f);
  REQUIRE(narrow::mean(m) == 1.f);
  REQUIRE(narrow::mean(m.transpose().topRows(150) + m.topRows(150)) == 2.f);

  using F = narrow::fixed<8, 4>;
  const column<F> large = column<F>::Constant(100, F(7.5));
  REQUIRE(narrow::mean(large) == 7.5f);
  REQUIRE(narrow::norm(large) == 75.f);
  REQUIRE(static_cast<double>(narrow::sum(large + large)) == 100 * double(std::numeric_limits<F>::max()));
}

/// As a program writes it once for all of its scalars.
template <class T> std::array<double, 4> wide_reductions_of(const matrix<T>& x) {
  return {double(narrow::sum(2 * x)), double(narrow::mean(x.array() + T(1))), double(narrow::norm(x)),
          double(narrow::dot(x.col(0), x.col(1)))};
}
TEST_CASE("narrow::sum, mean, norm and dot give the same for built-in numbers") {
  const matrix<double> x{{3, 1, 0}, {4, 2, 2.5}, {0, 0.5, -12}};
  const std::array expected = wide_reductions_of(x);
  REQUIRE(expected == std::array{2., 1 + 1. / 9, x.norm(), 11.});
  REQUIRE(wide_reductions_of<fp16>(x.cast<fp16>()) == wide_reductions_of<float>(x.cast<float>()));
  REQUIRE(std::isnan(narrow::mean(matrix<float>(0, 0))));
  REQUIRE(std::isnan(narrow::mean(matrix<fp16>(0, 0))));
}

TEST_CASE("A row and a column have an inner product, whatever their strides") {
  const column<fp16> v = integers(60, 1, 1).cast<fp16>();
  const matrix<fp16> m = integers(60, 60, 2).cast<fp16>();
  const matrix<fp16, Eigen::RowMajor> r = m;
  const Eigen::VectorXd x = as_double(v);
  const Eigen::MatrixXd y = as_double(m);
  const auto same = [](double got, double expected) { return got == expected; };
  REQUIRE(same(narrow::dot(v.transpose(), v), x.dot(x)));
  REQUIRE(same(narrow::dot(m.row(3), m.col(2)), y.row(3).dot(y.col(2))));
  REQUIRE(same(narrow::dot(r.row(3), v), y.row(3).dot(x)));
  REQUIRE(same(narrow::dot(m.col(2), 2 * m.row(3)), 2 * y.row(3).dot(y.col(2))));
  REQUIRE(same(m.row(3).dot(r.col(2)), static_cast<double>(fp16(y.row(3).dot(y.col(2))))));
  REQUIRE(same((m.row(3) + m.row(4)).dot(v), static_cast<double>(fp16((y.row(3) + y.row(4)).dot(x)))));
}

TEMPLATE_TEST_CASE("An inner product stands for a number", "[eigen]", fp16, (narrow::fixed<16, 8>)) {
  using S = TestType;
  const column<S> v = integers(5, 1, 1).cast<S>() / S(4);
  const matrix<S> m = integers(5, 5, 2).cast<S>() / S(4);
  const Eigen::RowVectorXd x = as_double(v).transpose();
  const double right = x.dot(x), through = x * as_double(m) * x.transpose();
  const auto r = v.transpose();
  const float single = r * v;
  const double wide = r * v;
  const S narrowed = r * v;
  S assigned;
  assigned = r * v;
  CHECK(double{single} == right);
  CHECK(wide == right);
  CHECK(double(narrowed) == right);
  CHECK(assigned == narrowed);
  CHECK(double(r * v) == right);
  CHECK(((r * v > 0) == (right > 0) && (r * v < S(1)) == (right < 1) && r * v == right));
  CHECK((r * m * v < 0) == (through < 0));
  float sum = 1;
  sum += r * v;
  CHECK(double{sum} == 1 + right);
  CHECK((2.0f * (v * r))(0, 0) == S(2 * x(0) * x(0)));
}

TEST_CASE("A number is what an inner product in float is, not rounded on the way") {
  const column<fp16> v = column<fp16>::Ones(2049);
  const float sum = v.transpose() * v;
  CHECK(sum == 2049);
  CHECK((v.transpose() * v).value() == 2048);
}

TEMPLATE_TEST_CASE("The largest and the smallest of all sizes, orders and expressions", "[eigen]",
                   (matrix<fp16, Eigen::ColMajor>), (matrix<narrow::bf16, Eigen::RowMajor>),
                   (matrix<narrow::fp8_e4m3fn, Eigen::ColMajor>)) {
  using M = TestType;
  using S = typename M::Scalar;
  tally result;
  for (const auto& shape : {std::pair{1, 1}, {3, 5}, {40, 1}, {1, 40}, {33, 7}, {7, 300}, {300, 3}}) {
    const int rows = shape.first, cols = shape.second;
    const M m = integers(rows, cols, 3).template cast<S>();
    const Eigen::MatrixXd x = as_double(m);
    const auto expect = [&](const char* what, double got, double right) {
      result.expect(got == right, [&] { return text(what, rows, cols, got, right); });
    };
    for (int place = 0; place < rows * cols;
         place += 1 + rows * cols / 5) {  // the extremes where they are last, too
      M peak = m;
      peak.data()[rows * cols - 1 - place] = S(208);
      expect("largest", double(peak.maxCoeff()), 208);
      expect("smallest", double((-peak).minCoeff()), -208);
      peak.data()[place] = std::numeric_limits<S>::quiet_NaN();
      expect("NaN", isnan(peak.template maxCoeff<Eigen::PropagateNaN>()), 1);
      if (rows * cols > 1) {
        const bool covered = place == rows * cols - 1 - place;
        expect("numbers", double(peak.template maxCoeff<Eigen::PropagateNumbers>()),
               covered ? double(peak.array().isNaN().select(S(-1000), peak).maxCoeff()) : 208);
      }
    }
    expect("smallest as it is", double(m.minCoeff()), x.minCoeff());
    expect("of magnitudes", double(m.cwiseAbs().maxCoeff()), x.cwiseAbs().maxCoeff());
    expect("of a sum", double((m + m).minCoeff()), 2 * x.minCoeff());
    expect("of a row", double(m.row(rows / 2).maxCoeff()), x.row(rows / 2).maxCoeff());
    expect("of a column", double(m.col(cols / 2).minCoeff()), x.col(cols / 2).minCoeff());
    expect("of columns", double(Eigen::Matrix<S, 1, Eigen::Dynamic>(m.colwise().maxCoeff()).minCoeff()),
           x.colwise().maxCoeff().minCoeff());
    expect("sum of a sum", double(narrow::sum(m + m)), 2 * x.sum());
    expect("sum of differences", double(narrow::sum((m - M::Constant(rows, cols, S(1))).cwiseAbs())),
           (x.array() - 1).abs().sum());
    expect("sum of a block", double(narrow::sum(2 * m.bottomRows(rows - rows / 2))),
           2 * x.bottomRows(rows - rows / 2).sum());
  }
  result.require_at_least(7 * 9);
}

TEST_CASE("A sum reads each coefficient once") {
  const matrix<fp16> a = matrix<fp16>::Ones(8, 8);
  int reads = 0;
  const auto counted = a.unaryExpr([&](fp16 x) {
    ++reads;
    return x;
  });
  REQUIRE(float((counted * a).sum()) == 512);
  REQUIRE(reads == 64);
  REQUIRE(float((counted + a).sum()) == 128);
  REQUIRE(reads == 128);
  REQUIRE(float((counted * a).rowwise().sum()(3)) == 64);
  REQUIRE(reads == 192);
}

TEST_CASE("Sums round once") {
  using S = counted_fp16;
  const matrix<S> a = reals(20, 30, 1).cast<S>(), b = reals(30, 20, 2).cast<S>();
  const Eigen::MatrixXd x = as_double(a), y = as_double(b);
  tally result;
  const auto check = [&](const char* name, auto sum, double expected, double magnitude, long exact = 0) {
    double got = 0;
    const long count = roundings([&] { got = static_cast<double>(sum()); });
    const double bound = magnitude * 600 * std::ldexp(1., -24) + std::abs(expected) * std::ldexp(1., -11);
    result.expect(count >= 1 && count <= 1 + exact && std::abs(got - expected) <= bound,
                  [&] { return text(name, got, expected, count); });
  };
  check(
      "sum", [&] { return a.sum(); }, x.sum(), x.cwiseAbs().sum());
  check(
      "sum of a block", [&] { return a.block(2, 3, 7, 9).sum(); }, x.block(2, 3, 7, 9).sum(), 63);
  check(
      "sum of an expression", [&] { return (2 * a - b.transpose()).sum(); }, (2 * x - y.transpose()).sum(),
      1800);
  check(
      "dot", [&] { return a.col(3).dot(b.row(2)); }, x.col(3).dot(y.row(2)), 20);
  check(
      "dot of expressions", [&] { return (a.col(3) * 3).dot(b.row(2) + a.col(1).transpose()); },
      (x.col(3) * 3).dot(y.row(2) + x.col(1).transpose()), 120);
  check(
      "squared norm", [&] { return a.squaredNorm(); }, x.squaredNorm(), 600,
      1);  // Eigen 5.0 adds the square of an imaginary part of 0
  check(
      "trace", [&] { return (a * b).trace(); }, (x * y).trace(), 600);
  check(
      "sum of a product", [&] { return (a * b).sum(); }, (x * y).sum(), 12000);
  check(
      "row sum", [&] { return S(a.rowwise().sum().coeff(2)); }, x.row(2).sum(), 30);
  check(
      "exponentials", [&] { return a.array().exp().sum(); }, x.array().exp().sum(), 1800);
  result.require(10);
}

using some_formats = test::some_of<narrow::all_formats, 0, 3>;
TEMPLATE_LIST_TEST_CASE("Products of all coefficients are wide and round once", "[eigen]", some_formats) {
  using S = TestType;
  Eigen::Index checked = 0;
  // Powers of two, the products of which pass the largest number of the format and come back.
  for (const Eigen::Index half : {1, 2, 7, 8, 9, 15, 16, 17, 40, 63}) {
    Eigen::Matrix<S, Eigen::Dynamic, 1> x(2 * half + 2);
    x << Eigen::Matrix<S, Eigen::Dynamic, 1>::Constant(half, S(2)),
        Eigen::Matrix<S, Eigen::Dynamic, 1>::Constant(half, S(0.5)), S(-1.5), S(1);
    CHECK(x.prod() == S(-1.5));
    const auto twos = x.head(2 * half);  // in an expression, the product of which may be too large
    CHECK((twos + twos).cwiseProduct(twos.cwiseInverse()).prod().bits() ==
          S(std::ldexp(1., static_cast<int>(2 * half))).bits());
    Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic> m(2, half + 1);
    m = x.reshaped(2, half + 1);
    CHECK(m.prod() == S(-1.5));
    CHECK(m.transpose().leftCols(1).prod() == S(m.row(0).template cast<double>().prod()));
    checked += 4;
  }
  REQUIRE(checked == 40);
}
