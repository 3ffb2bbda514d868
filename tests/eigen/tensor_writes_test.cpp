// Writing a coefficient, a row, a column or a block of a matrix in a block format.
#include "tensor_formats.hpp"

using namespace test;
using Eigen::Dynamic;

TEMPLATE_LIST_TEST_CASE("Parts of a matrix are written into its tensor", "[tensor]", tensor_formats) {
  using M = typename TestType::template matrix<>;
  using T = typename M::Scalar;
  using Plain = Eigen::Matrix<T, Dynamic, Dynamic>;
  const Plain values = numbers<T>(6, 6, 2);
  tally count;
  const auto check = [&](const char* name, auto&& change, Eigen::Index row, Eigen::Index col,
                         const auto& expression) {
    M m = numbers<T>(6, 6);
    typename M::Tensor expected = m.tensor();
    const Plain x = expression(Plain(m));
    expected.write(row, col, narrow::detail::view_of_direct(x));
    change(m);
    count.expect(same(m.tensor(), expected), [&] { return name; });
  };
  const auto part = [&](auto r, auto c, auto h, auto w) {
    return [&, r, c, h, w](const Plain&) { return Plain(values.block(r, c, h, w)); };
  };
  check(
      "row", [&](M& m) { m.row(2) = values.row(2); }, 2, 0, part(2, 0, 1, 6));
  check(
      "column", [&](M& m) { m.col(3) = values.col(3); }, 0, 3, part(0, 3, 6, 1));
  check(
      "block", [&](M& m) { m.block(1, 2, 3, 4) = values.block(1, 2, 3, 4); }, 1, 2, part(1, 2, 3, 4));
  check(
      "fixed block", [&](M& m) { m.template block<2, 2>(4, 0) = values.template block<2, 2>(4, 0); }, 4, 0,
      part(4, 0, 2, 2));
  check(
      "rows", [&](M& m) { m.topRows(2) = values.topRows(2); }, 0, 0, part(0, 0, 2, 6));
  check(
      "columns", [&](M& m) { m.middleCols(2, 3) = values.middleCols(2, 3); }, 0, 2, part(0, 2, 6, 3));
  check(
      "corner", [&](M& m) { m.bottomRightCorner(2, 3) = values.bottomRightCorner(2, 3); }, 4, 3,
      part(4, 3, 2, 3));
  check(
      "row of rows", [&](M& m) { m.bottomRows(3).row(1) = values.row(4); }, 4, 0, part(4, 0, 1, 6));
  check(
      "part of a column", [&](M& m) { m.col(1).segment(2, 3) = values.col(1).segment(2, 3); }, 2, 1,
      part(2, 1, 3, 1));
  check(
      "turned", [&](M& m) { m.row(2) = values.row(2).transpose(); }, 2, 0, part(2, 0, 1, 6));
  check(
      "zero", [&](M& m) { m.col(0).setZero(); }, 0, 0, [](const Plain&) { return Plain(Plain::Zero(6, 1)); });
  check(
      "row += row", [&](M& m) { m.row(0) += m.row(1); }, 0, 0,
      [](const Plain& m) { return Plain(m.row(0) + m.row(1)); });
  check(
      "column -= product", [&](M& m) { m.col(1) -= values * values.col(0); }, 0, 1,
      [&](const Plain& m) { return Plain(m.col(1) - (values * values.col(0)).eval()); });
  check(
      "row *= factor", [&](M& m) { m.row(5) *= 4; }, 5, 0,
      [](const Plain& m) { return Plain(m.row(5) * T(4)); });
  check(
      "comma", [&](M& m) { m.row(1) << T(1), T(2), T(3), T(4), T(5), T(6); }, 1, 0,
      [](const Plain&) { return Plain((Plain(1, 6) << 1, 2, 3, 4, 5, 6).finished()); });
  check(
      "block of itself", [&](M& m) { m.topLeftCorner(3, 3) = m.bottomRightCorner(3, 3); }, 0, 0,
      [](const Plain& m) { return Plain(m.bottomRightCorner(3, 3)); });
  check(
      "overlapping block of itself",
      [&](M& m) { m.topLeftCorner(4, 4) = m.bottomRightCorner(4, 4).transpose(); }, 0, 0,
      [](const Plain& m) { return Plain(m.bottomRightCorner(4, 4).transpose()); });
  check(
      "coefficient", [&](M& m) { m(3, 4) = T(2.3); }, 3, 4,
      [](const Plain&) { return Plain(Plain::Constant(1, 1, T(2.3))); });
  check(
      "+= a coefficient", [&](M& m) { m(3, 4) += T(2.3); }, 3, 4,
      [](const Plain& m) { return Plain(Plain::Constant(1, 1, m(3, 4) + T(2.3))); });
  check(
      "coefficient of another", [&](M& m) { m(0, 0) = m(5, 5); }, 0, 0,
      [](const Plain& m) { return Plain(Plain::Constant(1, 1, m(5, 5))); });
  check(
      "coefficient of a block", [&](M& m) { m.block(1, 1, 2, 2)(1, 0) = T(-2); }, 2, 1,
      [](const Plain&) { return Plain(Plain::Constant(1, 1, T(-2))); });
  check(
      "larger than the scale allows", [&](M& m) { m(2, 2) = T(100); }, 2, 2,
      [](const Plain&) { return Plain(Plain::Constant(1, 1, T(100))); });
  count.require(22);
}

TEMPLATE_LIST_TEST_CASE("Parts of matrices swap what they hold", "[tensor]", tensor_formats) {
  using M = typename TestType::template matrix<>;
  using Plain = Eigen::Matrix<typename M::Scalar, Dynamic, Dynamic>;
  const M before = numbers<typename M::Scalar>(6, 6);
  const Plain values = numbers<typename M::Scalar>(6, 6, 2), held = before;
  tally count;
  const auto write = [](typename M::Tensor& to, Eigen::Index row, Eigen::Index col, const Plain& x) {
    to.write(row, col, narrow::detail::view_of_direct(x));
  };
  const auto expect = [&](const char* name, const M& got, const typename M::Tensor& expected) {
    count.expect(same(got.tensor(), expected), [&] { return name; });
  };

  M m = before;
  typename M::Tensor expected = before.tensor();
  m.row(1).swap(m.row(4));
  write(expected, 1, 0, held.row(4));
  write(expected, 4, 0, held.row(1));
  expect("rows", m, expected);

  m = before;
  expected = before.tensor();
  m.topLeftCorner(2, 3).swap(m.bottomRightCorner(2, 3));
  write(expected, 0, 0, held.bottomRightCorner(2, 3));
  write(expected, 4, 3, held.topLeftCorner(2, 3));
  expect("blocks", m, expected);

  m = before;
  expected = before.tensor();
  Plain other = values;
  m.col(2).swap(other.col(5));
  write(expected, 0, 2, values.col(5));
  expect("a column and one of built-in numbers", m, expected);
  count.expect(other.col(5) == held.col(2), [] { return "what the built-in numbers became"; });

  m = before;
  other = values;
  m.swap(other);
  expect("a matrix and one of built-in numbers", m, M(values).tensor());
  count.expect(other == held, [] { return "what that matrix became"; });
  count.require(6);
}

#if defined(NDEBUG)  // Eigen asserts that lists are complete
TEST_CASE("A list that an exception cuts off is not stored", "[tensor]") {
  using M = Eigen::Matrix<narrow::bfp<8>, Dynamic, Dynamic>;
  M m = Eigen::MatrixXf::Ones(2, 2);
  const auto fails = []() -> float { throw std::runtime_error("no number"); };
  CHECK_THROWS_AS((m << 5.0f, fails(), 6.0f, 7.0f), std::runtime_error);
  CHECK(Eigen::MatrixXf(m) == Eigen::MatrixXf::Ones(2, 2));
}
#endif

TEMPLATE_LIST_TEST_CASE("Vectors are written by one index", "[tensor]", tensor_formats) {
  using V = typename TestType::template matrix<Dynamic, 1>;
  using R = typename TestType::template matrix<1, Dynamic>;
  using T = typename V::Scalar;
  V v = V::Zero(5);
  R r = R::Zero(5);
  for (Eigen::Index i = 0; i < 5; ++i) {
    v(i) = static_cast<T>(i);
    r[i] = static_cast<T>(i) - 2;
  }
  const auto near = [](T got, double expected) { return std::abs(double(got) - expected) <= 0.04; };
  for (Eigen::Index i = 0; i < 5; ++i) {
    const auto x = static_cast<double>(i);
    REQUIRE((near(v(i), x) && near(v[i], x) && near(std::as_const(r)[i], x - 2)));
  }
  v.head(2) = v.tail(2);
  v.template segment<2>(2).setZero();
  const double expected[] = {3, 4, 0, 0, 4};
  for (Eigen::Index i = 0; i < 5; ++i) REQUIRE(near(v(i), expected[i]));
}

TEMPLATE_LIST_TEST_CASE("A matrix filled in a loop holds what it was given", "[tensor]", tensor_formats) {
  using M = typename TestType::template matrix<>;
  using T = typename M::Scalar;
  M m = M::Zero(8, 8);
  const Eigen::Matrix<T, Dynamic, Dynamic> values = numbers<T>(8, 8);
  for (Eigen::Index i = 0; i < 8; ++i)
    for (Eigen::Index j = 0; j < 8; ++j) m(i, j) = values(i, j);
  // One step of the whole matrix, twice where a scale that grew rounds once more.
  const plain<M> error = m - values;
  const M whole = values;
  const plain<M> least = whole - values;
  REQUIRE(error.cwiseAbs().maxCoeff() <= 4 * least.cwiseAbs().maxCoeff());
}
