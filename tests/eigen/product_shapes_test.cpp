// Products with vectors, of fixed sizes and of none.
#include "catch.hpp"
#include "policies.hpp"
#include "product_checks.hpp"

using namespace test;

namespace {

using S = counted_fp16;
using Mat = matrix<S>;
using MatR = matrix<S, Eigen::RowMajor>;

/// A product of fixed size: Eigen takes other ways for one number, for few, and for large ones.
template <int N> void check_square(tally& result) {
  using Fixed = Eigen::Matrix<S, N, N>;
  const Eigen::MatrixXd a = integers(N, N, 1), b = integers(N, N, 2), d = integers(N, N, 3);
  const Fixed x = a.cast<S>(), y = b.cast<S>(), z = d.cast<S>();
  const std::string name = "fixed " + std::to_string(N);
  Fixed c;
  check_stores(
      result, name, c, [&] { return x * y; }, a * b);
  check_stores(
      result, name + ", d + 0.5 a' b", c, [&] { return z + 0.5 * x.transpose() * y; },
      d + 0.5 * a.transpose() * b);
}
constexpr int square_count = 2 * store_count;
template <int... N> using sizes = std::tuple<std::integral_constant<int, N>...>;
using square_sizes = some_of<sizes<1, 2, 3, 4, 5, 6, 8, 13, 20>, 0, 2, 3, 6, 8>;

template <int M, int K, int N> void check_rectangle(tally& result) {
  const Eigen::MatrixXd a = integers(M, K, 1), b = integers(K, N, 2);
  constexpr int order = M == 1 && N != 1 ? Eigen::RowMajor : Eigen::ColMajor;
  const Eigen::Matrix<S, M, K, K != 1 ? Eigen::RowMajor : Eigen::ColMajor> x = a.cast<S>();
  const Eigen::Matrix<S, K, N, K == 1 ? Eigen::RowMajor : Eigen::ColMajor> y = b.cast<S>();
  Eigen::Matrix<S, M, N, order> c;
  const std::string name = std::to_string(M) + " x " + std::to_string(K) + " x " + std::to_string(N);
  check_stores(
      result, name, c, [&] { return x * y; }, a * b);
  check_stores(
      result, name + ", lazy", c, [&] { return x.lazyProduct(y); }, a * b);
}
constexpr int rectangle_count = 2 * store_count;

}  // namespace

TEST_CASE("Products with vectors round once per coefficient") {
  tally result;
  const Eigen::MatrixXd a = integers(6, 14, 1), v = integers(14, 1, 2), u = integers(6, 1, 3),
                        w = integers(14, 1, 4);
  const Mat x = a.cast<S>();
  const MatR xr = x;
  const column<S> p = v.cast<S>(), q = u.cast<S>(), r = w.cast<S>();
  column<S> c(6);
  row<S> t(14);
  Mat outer(6, 14);
  MatR outer_by_rows(6, 14);
  Eigen::Matrix<S, 1, 1> inner;

  check_stores(
      result, "a v", c, [&] { return x * p; }, a * v);
  check_stores(
      result, "row-major a v", c, [&] { return xr * p; }, a * v);
  check_stores(
      result, "0.5 a' u", t, [&] { return (0.5 * q.transpose()) * x; }, 0.5 * u.transpose() * a);
  check_stores(
      result, "u' a", t, [&] { return q.transpose() * xr; }, u.transpose() * a);
  check_stores(
      result, "a row", c, [&] { return x * xr.row(2).transpose(); }, a * a.row(2).transpose());
  check_stores(
      result, "column of a", t, [&] { return xr.col(3).transpose() * x; }, a.col(3).transpose() * a);
  check_stores(
      result, "outer", outer, [&] { return q * p.transpose(); }, u * v.transpose());
  check_stores(
      result, "outer by rows", outer_by_rows, [&] { return -q * p.transpose(); }, -u * v.transpose());
  check_stores(
      result, "inner", inner, [&] { return p.transpose() * r; }, v.transpose() * w);
  check_stores(
      result, "scaled inner", inner, [&] { return 2 * p.transpose() * (r + p); },
      2 * v.transpose() * (w + v));
  result.require(10 * store_count);
}

TEST_CASE("A product with a row goes into a column") {
  const Eigen::MatrixXd a = integers(6, 14, 1), u = integers(6, 1, 3);
  const Mat x = a.cast<S>();
  const column<S> v = u.cast<S>();
  column<S> c;
  c = v.transpose() * x;
  REQUIRE(as_double(c) == rounded_to<S>(a.transpose() * u));
}

TEST_CASE("Lazy products and diagonals of products round once per coefficient") {
  tally result;
  const Eigen::MatrixXd a = integers(6, 14, 1), b = integers(14, 6, 2), d = integers(6, 6, 3);
  const Mat x = a.cast<S>(), y = b.cast<S>(), z = d.cast<S>();
  Mat c(6, 6);
  column<S> v(6);
  check_stores(
      result, "lazy", c, [&] { return x.lazyProduct(y); }, a * b);
  check_stores(
      result, "scaled lazy", c, [&] { return (2 * x).lazyProduct(y) + z; }, 2 * a * b + d);
  check_stores(
      result, "diagonal", v, [&] { return (x * y).diagonal(); }, (a * b).diagonal());
  check_stores(
      result, "lazy diagonal", v, [&] { return x.lazyProduct(y).diagonal(); }, (a * b).diagonal());
  result.require(4 * store_count);
}

TEST_CASE("Products of fixed square matrices round once per coefficient") {
  tally result;
  for_each_type<square_sizes>([&]<class Size>() { check_square<Size::value>(result); });
  result.require(std::tuple_size_v<square_sizes> * square_count);
}

TEST_CASE("Products of fixed rectangles round once per coefficient") {
  tally result;
  check_rectangle<1, 4, 3>(result);
  check_rectangle<3, 1, 4>(result);
  check_rectangle<4, 3, 1>(result);
  check_rectangle<2, 20, 5>(result);
  check_rectangle<1, 9, 1>(result);
  check_rectangle<20, 2, 7>(result);
  result.require(6 * rectangle_count);
}

TEST_CASE("A sum over nothing is zero, and a product of nothing is empty") {
  const Mat tall(5, 0), flat(0, 4), nothing(0, 0);
  Mat c = Mat::Constant(5, 4, S(3));
  REQUIRE(roundings([&] { c += tall * flat; }) == 20);
  REQUIRE((c.array() == S(3)).all());
  c.noalias() -= 2 * tall * flat;
  REQUIRE((c.array() == S(3)).all());
  c = tall * flat;
  REQUIRE((c.rows() == 5 && c.cols() == 4 && (c.array() == S(0)).all()));
  c = Mat::Constant(5, 4, S(3)) - tall * flat;
  REQUIRE((c.array() == S(3)).all());
  REQUIRE(Mat(nothing * flat).size() == 0);
  REQUIRE(Mat(flat.transpose() * nothing).rows() == 4);
  const column<S> v(0);
  REQUIRE((tall * v).eval() == column<S>::Zero(5));
  REQUIRE(float(v.dot(v)) == 0);
  REQUIRE(float((v.transpose() * v).value()) == 0);
  REQUIRE(float(tall.sum()) == 0);
  REQUIRE(flat.colwise().sum().eval() == row<S>::Zero(4));
  REQUIRE(tall.rowwise().squaredNorm().eval() == column<S>::Zero(5));
  REQUIRE(float(flat.norm()) == 0);
  REQUIRE(tall.lazyProduct(flat).eval() == Mat::Zero(5, 4));
}

TEST_CASE("Products of fixed-point numbers are exact and round once") {
  tally result;
  using F = counted_fixed;
  const Eigen::MatrixXd a = integers(6, 30, 1, 100) / 16, b = integers(30, 5, 2, 100) / 16,
                        d = integers(6, 5, 3) / 16;
  const matrix<F> x = a.cast<F>(), y = b.cast<F>(), z = d.cast<F>(), xt = x.transpose();
  matrix<F> c(6, 5);
  matrix<F, Eigen::RowMajor> t(6, 5);
  check_stores(
      result, "a b", c, [&] { return x * y; }, a * b);
  check_stores(
      result, "0.1 a b", c, [&] { return 0.1 * x * y; }, 0.1 * a * b);
  check_stores(
      result, "-at' b", t, [&] { return -xt.transpose() * y; }, -a * b);
  check_stores(
      result, "a (-b)", t, [&] { return x * -y; }, -a * b);
  check_stores(
      result, "lazy", c, [&] { return x.lazyProduct(y); }, a * b);
  result.require(5 * store_count);
  for (int i = 0; i < 5; ++i) {
    const column<F> v = x.row(i);
    REQUIRE(static_cast<double>(v.dot(v)) == static_cast<double>(F(a.row(i).squaredNorm())));
    REQUIRE(roundings([&] { return v.dot(v); }) == 1);
  }
}
