// 4096 ones are 4096 in formats whose own sums stop at 2048 (fp16) or 256 (bf16), in every way to add them.
#include "catch.hpp"
#include "counting.hpp"
#include "tally.hpp"

using namespace test;
using narrow::bf16;
using narrow::fp16;

namespace {

constexpr Eigen::Index n = 4096;

struct checker {
  tally result;

  void operator()(const char* name, double got, double expected = n) {
    result.expect(got == expected, [&] { return text(name, got, "expected", expected); });
  }
  /// Every coefficient of x is 4096.
  template <class X> void all(const char* name, const Eigen::DenseBase<X>& x, double expected = n) {
    const Eigen::MatrixXd values = as_double(x);
    for (Eigen::Index i = 0; i < values.size(); ++i) (*this)(name, values(i), expected);
  }
};

}  // namespace

TEMPLATE_TEST_CASE("Sums of 4096 ones", "", fp16, bf16) {
  using S = TestType;
  const column<S> v = column<S>::Ones(n);
  const row<S> t = row<S>::Ones(n);
  const matrix<S> a = matrix<S>::Ones(3, n), b = matrix<S>::Ones(n, 2);
  const matrix<S, Eigen::RowMajor> ar = a, br = b;
  checker check;

  check("dot", v.dot(v));
  check("dot of a row and a column", t.dot(v));
  check("dot of rows", ar.row(1).dot(a.row(2)));
  check("dot of expressions", (v + v).dot(v / 2));
  check("inner product", (t * v).value());
  check("sum", v.sum());
  check("sum of a matrix", a.topRows(1).sum());
  check("sum of a row-major matrix", br.rightCols(1).sum());
  check("sum of a sum", (v + v).sum(), 2 * n);
  check("sum of products", v.cwiseProduct(v).sum());
  check("sum of an array", (v.array() * 2 - 1).sum());
  check("squared norm", a.row(0).squaredNorm());
  check("squared norm of an expression", (2 * v - v).squaredNorm());
  check("norm", v.norm(), 64);
  check("trace", (v * t).trace());
  check("sum of a product", (a * b).sum(), 6 * n);
  check("mean", v.mean(), 1);

  check.all("row sums", a.rowwise().sum());
  check.all("row sums, row-major", ar.rowwise().sum());
  check.all("column sums", b.colwise().sum());
  check.all("column sums, row-major", br.colwise().sum());
  check.all("row sums of squares", ar.rowwise().squaredNorm());
  check.all("column sums of squares", b.colwise().squaredNorm());
  check.all("column norms", b.colwise().norm(), 64);
  check.all("row means", a.rowwise().mean(), 1);
  check.all("column sums of an expression", (b + b).colwise().sum(), 2 * n);
  check.all("column sums of a product", (v * t).topRows(2).colwise().sum().leftCols(3), 2);
  check.all("row sums of a product", (v * t).topRows(2).rowwise().sum());
  check.result.require_at_least(40);
}

TEMPLATE_TEST_CASE("Products that add 4096 ones", "", fp16, bf16) {
  using S = TestType;
  using Mat = matrix<S>;
  const column<S> v = column<S>::Ones(n);
  const Mat a = Mat::Ones(3, n), b = Mat::Ones(n, 2);
  const matrix<S, Eigen::RowMajor> ar = a, br = b;
  checker check;

  check.all("a b", (a * b).eval());
  check.all("row-major", (ar * br).eval());
  check.all("a v", (a * v).eval());
  check.all("v' b", (v.transpose() * b).eval());
  check.all("0.5 a b", (0.5f * a * b).eval(), n / 2);
  check.all("lazy", a.lazyProduct(b).eval());
  check.all("transposes", (b.transpose() * a.transpose()).eval());
  check.all("blocks", (a.block(1, 0, 2, n) * br.block(0, 1, n, 1)).eval());
  check.all("diagonal", (a.topRows(2) * b).diagonal().eval());
  check.all("of sums", ((a + a) * (b / 2)).eval());

  const std::vector<S> memory(static_cast<std::size_t>(6 * n), S(1));
  using strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  const Eigen::Map<const Mat, 0, strides> strided(memory.data(), 2, n, strides(3, 2));
  check.all("map with strides", (strided * b).eval());

  Mat c = Mat::Ones(3, 2);
  c += a * b;
  check.all("+=", c, static_cast<double>(S(n + 1)));
  c = Mat::Ones(3, 2) * -8;
  c.noalias() += a * b;
  check.all("noalias +=", c, static_cast<double>(S(n - 8)));
  c -= a * b;
  check.all("-=", c, static_cast<double>(S(static_cast<double>(S(n - 8)) - n)));

  Eigen::Matrix<S, 2, 1024> wide = Eigen::Matrix<S, 2, 1024>::Constant(S(2));
  Eigen::Matrix<S, 1024, 3> tall = Eigen::Matrix<S, 1024, 3>::Constant(S(2));
  check.all("fixed sizes", (wide * tall).eval());
  const Eigen::Matrix<S, 16, 16> square = Eigen::Matrix<S, 16, 16>::Constant(S(16));
  check.all("fixed square", (square * square).eval());
  check("fixed sum", square.sum());
  check("fixed dot", square.row(0).dot(square.col(0)));
  Eigen::Array<S, 64, 64> ones = Eigen::Array<S, 64, 64>::Ones();
  check("fixed array", ones.sum());
  check.result.require_at_least(60);
}

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

  // What leaves the range on the way comes back.
  column<F> there_and_back(n);
  there_and_back << column<F>::Constant(n / 2, F(8000)), column<F>::Constant(n / 2 - 1, F(-8000)), F(-7999);
  REQUIRE(double(there_and_back.sum()) == 1);
  REQUIRE(double(there_and_back.dot(ones)) == 1);
  REQUIRE(double((ones.transpose() * there_and_back).value()) == 1);
  matrix<F> c = matrix<F>::Constant(1, 1, F(-8191));
  c += there_and_back.transpose().topLeftCorner(1, 2) * ones.topRows(2);  // -8191 + 16000
  REQUIRE(double(c(0, 0)) == 7809);
}

TEST_CASE("narrow::sum, mean, norm and dot do not round to the format") {
  const column<fp16> ones = column<fp16>::Ones(90000);
  REQUIRE(narrow::sum(ones) == 90000.f);
  REQUIRE(narrow::mean(ones) == 1.f);
  REQUIRE(narrow::norm(ones) == 300.f);
  REQUIRE(narrow::dot(ones, ones) == 90000.f);
  REQUIRE(narrow::sum(ones + ones) == 180000.f);
  REQUIRE(narrow::mean(2 * ones.array()) == 2.f);
  REQUIRE(narrow::norm(ones / 4) == 75.f);
  REQUIRE(std::isinf(float(ones.sum())));  // as documented
  STATIC_REQUIRE(std::is_same_v<decltype(narrow::sum(ones)), float>);

  const matrix<fp16> m = Eigen::Map<const matrix<fp16>>(ones.data(), 300, 300);
  REQUIRE(narrow::sum(m) == 90000.f);
  REQUIRE(narrow::sum(m.transpose().topRows(150)) == 45000.f);
  REQUIRE(narrow::sum(m * m) == 90000.f * 300);
  REQUIRE(narrow::norm(m * m) == 300.f * 300);
  REQUIRE(narrow::norm(m) == 300.f);

  // A row and a column, whatever their strides.
  REQUIRE(narrow::dot(ones.transpose(), ones) == 90000.f);
  REQUIRE(narrow::dot(m.row(3), m.col(2)) == 300.f);
  REQUIRE(narrow::dot(m.col(2), 2 * m.row(3)) == 600.f);
  REQUIRE(narrow::dot(ones, Eigen::VectorXf::Ones(90000)) == 90000.f);

  using F = narrow::fixed<8, 4>;
  const column<F> tens = column<F>::Constant(100, F(7.5));
  REQUIRE(static_cast<double>(narrow::sum(tens)) == 750);
  REQUIRE(static_cast<double>(narrow::dot(tens, tens)) == 5625);
  REQUIRE(narrow::mean(tens) == 7.5f);
  REQUIRE(narrow::norm(tens) == 75.f);
  REQUIRE(static_cast<double>(narrow::sum(tens + tens)) == 100 * double(std::numeric_limits<F>::max()));
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
