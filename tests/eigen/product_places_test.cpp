// Operands and destinations of products, wherever they lie in memory.
#include "catch.hpp"
#include "product_checks.hpp"

using namespace test;

namespace {

using S = counted_fp16;
using Mat = matrix<S>;
using MatR = matrix<S, Eigen::RowMajor>;
using strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;

constexpr int rows = 6, depth = 13, cols = 5;

/// Calls `f(name, place)` with the numbers in every kind of place.
template <class F> void in_every_place(const Eigen::MatrixXd& values, F f) {
  const Eigen::Index m = values.rows(), n = values.cols();
  const auto fill = [&](auto&& place) -> auto& {
    place = values.cast<S>();
    return place;
  };
  Mat whole = Mat::Constant(m + n, m + n, S(77));
  {
    Mat x = values.cast<S>();
    f("matrix", x);
  }
  {
    MatR x = values.cast<S>();
    f("row-major matrix", x);
  }
  {
    auto x = whole.block(2, 3, m, n);
    f("block", fill(x));
  }
  {
    MatR by_rows = MatR::Zero(m + 2, n + 2);
    auto x = by_rows.bottomRightCorner(m, n);
    f("block of a row-major matrix", fill(x));
  }
  std::vector<S> memory(static_cast<std::size_t>(6 * (m + 1) * (n + 1)), S(77));
  {
    Eigen::Map<Mat> x(memory.data(), m, n);
    f("map", fill(x));
  }
  {
    Eigen::Map<Mat, 0, strides> x(memory.data(), m, n, strides(3 * m + 1, 3));
    f("map with strides", fill(x));
  }
  {
    Eigen::Map<MatR, 0, Eigen::OuterStride<>> x(memory.data(), m, n, Eigen::OuterStride<>(n + 3));
    f("row-major map with a stride", fill(x));
  }
  {
    Eigen::Ref<Mat> x(whole.topRows(m).leftCols(n));
    f("reference", fill(x));
  }
  {
    Mat below = values.transpose().cast<S>();
    auto x = below.transpose();
    f("transpose", x);
  }
  {
    auto x = whole.block(1, 1, n, m).transpose();
    f("transpose of a block", fill(x));
  }
  {
    auto x = whole.topLeftCorner(m, n).array().matrix();
    f("array as a matrix", fill(x));
  }
  {
    auto x = whole(Eigen::seqN(0, m), Eigen::seqN(n, n, -1));
    f("columns in reverse, without memory of its own", fill(x));
  }
}
constexpr int place_count = 12;

const Eigen::MatrixXd a = integers(rows, depth, 1), b = integers(depth, cols, 2), d = integers(rows, cols, 3);

}  // namespace

TEST_CASE("The destination of a product can lie anywhere") {
  tally result;
  const Mat x = a.cast<S>(), y = b.cast<S>(), z = d.cast<S>();
  in_every_place(d, [&](const std::string& name, auto& c) {
    check_stores(
        result, name, c, [&] { return x * y; }, a * b);
    check_stores(
        result, name + ", d - 0.5f * a * b", c, [&] { return z - 0.5f * x * y; }, d - 0.5 * a * b);
  });
  result.require(place_count * 2 * store_count);
}

TEST_CASE("The left operand of a product can lie anywhere") {
  tally result;
  const Mat y = b.cast<S>();
  Mat c(rows, cols);
  in_every_place(a, [&](const std::string& name, const auto& x) {
    check_some_of_stores(
        result, name, c, [&] { return x * y; }, a * b);
    check_some_of_stores(
        result, name + ", times 2", c, [&] { return 2 * x * y; }, 2 * a * b);
  });
  result.require(place_count * 2 * some_of_stores_count);
}

TEST_CASE("The right operand of a product can lie anywhere") {
  tally result;
  const Mat x = a.cast<S>();
  MatR c(rows, cols);
  in_every_place(b, [&](const std::string& name, const auto& y) {
    check_some_of_stores(
        result, name, c, [&] { return x * y; }, a * b);
    check_some_of_stores(
        result, name + ", negated", c, [&] { return x * -y; }, -a * b);
  });
  result.require(place_count * 2 * some_of_stores_count);
}

TEST_CASE("A constant reference to an expression holds it in the narrow type") {
  const Mat x = a.cast<S>(), y = b.cast<S>();
  const auto product = [&](const Eigen::Ref<const Mat>& left) { return Mat(left * y); };
  REQUIRE(as_double(product(0.5f * x)) == rounded_to<S>(0.5 * a * b));
  REQUIRE(roundings([&] { product(0.5f * x); }) == a.size() + rows * cols);
}
