// Triangular, self-adjoint, diagonal and permutation factors, rank updates and triangular solves: each
// coefficient is rounded once.
#include "catch.hpp"
#include "product_checks.hpp"

using namespace test;

namespace {

using S = counted_fp16;
using Mat = matrix<S>;
using MatR = matrix<S, Eigen::RowMajor>;

constexpr int size = 6, cols = 4;
const Eigen::MatrixXd a = integers(size, size, 1), b = integers(size, cols, 2), d = integers(size, cols, 3);

template <unsigned Mode> Eigen::MatrixXd triangle() { return a.triangularView<Mode>(); }
template <unsigned Mode> Eigen::MatrixXd symmetric() { return a.selfadjointView<Mode>(); }

template <unsigned Mode, class M> void check_triangle(tally& result) {
  const M x = a.cast<S>(), y = b.cast<S>(), yt = y.transpose(), z = d.cast<S>();
  const Eigen::MatrixXd t = triangle<Mode>();
  const auto view = x.template triangularView<Mode>();
  M c(size, cols), ct(cols, size);
  column<S> v(size);
  check_stores(
      result, "triangle times matrix", c, [&] { return view * y; }, t * b);
  check_some_of_stores(
      result, "matrix times triangle", ct, [&] { return yt * view; }, b.transpose() * t);
  check_some_of_stores(
      result, "triangle times column", v, [&] { return view * y.col(1); }, t * b.col(1));
  check_stores(
      result, "sum with triangle times matrix", c, [&] { return 2 * z - view * y; }, 2 * d - t * b);
}
constexpr int triangle_count = 2 * store_count + 2 * some_of_stores_count;

template <unsigned Mode, class M> void check_symmetric(tally& result) {
  const M x = a.cast<S>(), y = b.cast<S>(), yt = y.transpose();
  const Eigen::MatrixXd s = symmetric<Mode>();
  const auto view = x.template selfadjointView<Mode>();
  M c(size, cols), ct(cols, size);
  column<S> v(size);
  check_stores(
      result, "symmetric times matrix", c, [&] { return view * y; }, s * b);
  check_some_of_stores(
      result, "matrix times symmetric", ct, [&] { return yt * view; }, b.transpose() * s);
  check_stores(
      result, "symmetric times column", v, [&] { return view * y.col(1); }, s * b.col(1));
}
constexpr int symmetric_count = 2 * store_count + some_of_stores_count;

}  // namespace

TEST_CASE("Products with triangles round once") {
  tally result;
  check_triangle<Eigen::Lower, Mat>(result);
  check_triangle<Eigen::UnitUpper, Mat>(result);
  check_triangle<Eigen::StrictlyLower, MatR>(result);
  check_triangle<Eigen::Upper, MatR>(result);
  result.require(4 * triangle_count);
}

TEST_CASE("Products with symmetric matrices round once") {
  tally result;
  check_symmetric<Eigen::Lower, Mat>(result);
  check_symmetric<Eigen::Upper, MatR>(result);
  result.require(2 * symmetric_count);
}

TEST_CASE("Products with triangles inside of expressions are wide") {
  const Mat x = a.cast<S>(), y = b.cast<S>();
  const Eigen::MatrixXd t = triangle<Eigen::Lower>() * b, s = b.transpose() * symmetric<Eigen::Upper>();
  const auto lower = x.triangularView<Eigen::Lower>();
  const auto upper = x.selfadjointView<Eigen::Upper>();
  Eigen::MatrixXf across, product, sum;
  CHECK(roundings([&] { across = (lower * y).transpose().cast<float>(); }) == 0);
  CHECK(as_double(across) == t.transpose());
  CHECK(roundings([&] { product = (y.transpose() * upper) * Eigen::MatrixXf::Identity(size, size); }) == 0);
  CHECK(as_double(product) == s);
  CHECK(roundings([&] { sum = ((lower * y).array() + 1).cast<float>(); }) == 0);
  CHECK(as_double(sum) == (t.array() + 1).matrix());
  const matrix<narrow::fixed<24, 4>> fixed = x.cast<float>().cast<narrow::fixed<24, 4>>();
  const matrix<narrow::fixed<24, 4>> doubled =
      (fixed.triangularView<Eigen::Lower>() * y.cast<float>().cast<narrow::fixed<24, 4>>()).array() * 2;
  CHECK(as_double(doubled) == 2 * t);
}

TEST_CASE("A triangular product may be stored over its operands, and grow") {
  const Mat x = a.cast<S>(), y = b.cast<S>();
  Mat c = y;
  c = x.triangularView<Eigen::Lower>() * c;
  REQUIRE(as_double(c) == rounded_to<S>(triangle<Eigen::Lower>() * b));
  c = x;
  c = c.triangularView<Eigen::Upper>() * y;
  REQUIRE(as_double(c) == rounded_to<S>(triangle<Eigen::Upper>() * b));
  c = x;
  c += c.selfadjointView<Eigen::Lower>() * c;
  REQUIRE(as_double(c) == rounded_to<S>(a + symmetric<Eigen::Lower>() * a));
  Eigen::MatrixXf wide(size, cols);
  wide = x.triangularView<Eigen::Lower>() * y;
  REQUIRE(as_double(wide) == triangle<Eigen::Lower>() * b);
  wide += x.selfadjointView<Eigen::Lower>() * y;
  REQUIRE(as_double(wide) == triangle<Eigen::Lower>() * b + symmetric<Eigen::Lower>() * b);
}

TEST_CASE("Products and rank updates into a triangle leave the rest alone") {
  const Mat x = a.cast<S>(), y = b.cast<S>(), z = d.cast<S>();
  const Eigen::MatrixXd before = integers(size, size, 9);
  Mat c = before.cast<S>();
  const auto lower = [&](const Eigen::MatrixXd& inside) {
    Eigen::MatrixXd expected = before;
    expected.triangularView<Eigen::Lower>() = rounded_to<S>(inside);
    return expected;
  };
  const auto triangle = [&] { return c.triangularView<Eigen::Lower>(); };
  const int stored = size * (size + 1) / 2, factor = 1;  // the factor is a narrow number

  REQUIRE(roundings([&] { triangle() = y * z.transpose(); }) <= stored + factor);
  REQUIRE(as_double(c) == lower(b * d.transpose()));
  c = before.cast<S>();
  REQUIRE(roundings([&] { triangle() += y * z.transpose(); }) <= stored + factor);
  REQUIRE(as_double(c) == lower(before + b * d.transpose()));
  c = before.cast<S>();
  REQUIRE(roundings([&] { triangle() -= y * z.transpose(); }) <= stored + factor);
  REQUIRE(as_double(c) == lower(before - b * d.transpose()));
  c = before.cast<S>();
  REQUIRE(roundings([&] { c.selfadjointView<Eigen::Lower>().rankUpdate(y, S(0.5)); }) <= stored + factor);
  REQUIRE(as_double(c) == lower(before + 0.5 * b * b.transpose()));
  c = before.cast<S>();
  c.selfadjointView<Eigen::Lower>().rankUpdate(y.col(0), S(-1));
  REQUIRE(as_double(c) == lower(before - b.col(0) * b.col(0).transpose()));
  c = before.cast<S>();
  c.selfadjointView<Eigen::Lower>().rankUpdate(y.col(0), z.col(0), S(2));
  REQUIRE(as_double(c) ==
          lower(before + 2 * (b.col(0) * d.col(0).transpose() + d.col(0) * b.col(0).transpose())));
}

TEST_CASE("A triangle is updated in either order of storage, above and below the diagonal") {
  using Rows = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Mat x = a.cast<S>(), y = b.cast<S>(), z = d.cast<S>();
  const Eigen::MatrixXd before = integers(size, size, 10), product = b * d.transpose(),
                        square = 0.5 * b * b.transpose();
  const auto check = [&]<class M>(std::type_identity<M>) {
    M c = before.cast<S>();
    Eigen::MatrixXd expected = before;
    c.template triangularView<Eigen::Upper>() = y * z.transpose();
    expected.triangularView<Eigen::Upper>() = rounded_to<S>(product);
    REQUIRE(as_double(c) == expected);
    c.template triangularView<Eigen::Lower>() += y * z.transpose();
    expected.triangularView<Eigen::Lower>() = rounded_to<S>(expected + product);
    REQUIRE(as_double(c) == expected);
    c.template selfadjointView<Eigen::Upper>().rankUpdate(y, S(0.5));
    expected.triangularView<Eigen::Upper>() = rounded_to<S>(expected + square);
    REQUIRE(as_double(c) == expected);
    auto part = c.bottomRightCorner(3, 3);
    part.template selfadjointView<Eigen::Lower>().rankUpdate(y.topRows(3), S(0.5));
    expected.bottomRightCorner(3, 3).triangularView<Eigen::Lower>() =
        rounded_to<S>(expected.bottomRightCorner(3, 3) + square.topLeftCorner(3, 3));
    REQUIRE(as_double(c) == expected);
  };
  check(std::type_identity<Mat>{});
  check(std::type_identity<Rows>{});
}

TEST_CASE("Triangular solves round each unknown once") {
  const Eigen::MatrixXd t = a / 16 + 3 * Eigen::MatrixXd::Identity(size, size);
  const Mat x = t.cast<S>(), y = b.cast<S>(), yt = y.transpose();
  const MatR xr = x;
  tally result;
  const auto check = [&](const char* name, const Mat& got, const Eigen::MatrixXd& exact) {
    const double bound = exact.cwiseAbs().maxCoeff() * 1e-5;
    const Eigen::ArrayXXd error =
        (as_double(got) - exact).array().abs() - exact.array().abs() * std::ldexp(1., -11);
    result.expect((error <= bound).all(), [&] { return text(name, error.maxCoeff(), bound); });
  };
  using Eigen::Lower, Eigen::Upper, Eigen::UnitLower, Eigen::OnTheRight;
  check("lower", x.triangularView<Lower>().solve(y), t.triangularView<Lower>().solve(b));
  check("upper, by rows", xr.triangularView<Upper>().solve(y), t.triangularView<Upper>().solve(b));
  check("unit", x.triangularView<UnitLower>().solve(y), t.triangularView<UnitLower>().solve(b));
  check("column", x.triangularView<Upper>().solve(y.col(2)), t.triangularView<Upper>().solve(b.col(2)));
  check("on the right", x.triangularView<Upper>().solve<OnTheRight>(yt),
        t.triangularView<Upper>().solve<OnTheRight>(b.transpose()));
  check("transpose", x.transpose().triangularView<Upper>().solve(y),
        t.transpose().triangularView<Upper>().solve(b));
  Mat in_place = y;
  REQUIRE(roundings([&] { x.triangularView<Lower>().solveInPlace(in_place); }) == size * cols);
  check("in place", in_place, t.triangularView<Lower>().solve(b));
  Mat right = yt;
  x.triangularView<Lower>().solveInPlace<OnTheRight>(right);
  check("in place on the right", right, t.triangularView<Lower>().solve<OnTheRight>(b.transpose()));
  const Eigen::Matrix<S, 3, 3> fixed = x.topLeftCorner(3, 3);
  const Eigen::Matrix<S, 3, 1> fixed_right = y.topLeftCorner(3, 1);
  check("fixed size", Mat(fixed.triangularView<Lower>().solve(fixed_right)),
        t.topLeftCorner(3, 3).triangularView<Lower>().solve(b.topLeftCorner(3, 1)));
  result.require(9);
}

TEST_CASE("Permutations move coefficients and diagonals scale them") {
  const Mat x = a.cast<S>(), y = b.cast<S>();
  Eigen::PermutationMatrix<Eigen::Dynamic> p(size);
  p.setIdentity();
  p.applyTranspositionOnTheRight(0, 3);
  p.applyTranspositionOnTheRight(2, 5);
  Mat c;
  REQUIRE(roundings([&] { c = p * y; }) == 0);
  REQUIRE(as_double(c) == p * b);
  c = x * p.transpose();
  REQUIRE(as_double(c) == a * p.transpose());
  const column<S> v = y.col(1);
  REQUIRE(roundings([&] { c = v.asDiagonal() * y; }) == size * cols);
  REQUIRE(as_double(c) == rounded_to<S>(b.col(1).asDiagonal() * b));
  REQUIRE(roundings([&] { c -= x * v.asDiagonal() * y; }) == size * cols);
  const Eigen::Matrix<bool, Eigen::Dynamic, 1> negative = (b.col(1).array() < 0).matrix();
  c = negative.select(-v, v).asDiagonal() * y;
  REQUIRE(as_double(c) == rounded_to<S>(b.col(1).cwiseAbs().asDiagonal() * b));
  const Eigen::MatrixXf wide = v.asDiagonal() * x;
  REQUIRE(as_double(wide) == Eigen::MatrixXd(b.col(1).asDiagonal() * a));
  const Eigen::MatrixXf mixed = b.col(1).cast<float>().asDiagonal() * x;
  REQUIRE(mixed == wide);
}
