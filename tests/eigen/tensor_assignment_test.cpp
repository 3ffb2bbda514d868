// Every way of giving a matrix in a block format its values.
#include <sstream>
#include <vector>

#include "tensor_formats.hpp"

using namespace test;
using Eigen::Dynamic;
using Eigen::MatrixXd;
using Eigen::MatrixXf;

// What is assigned does not depend on the granularity, which has tests of its own.
using a_few_formats = some_of<std::tuple<in_order<narrow::bfp<8>, Eigen::ColMajor>,
                                         in_order<narrow::bfp<16, narrow::tile<2, 3>>, Eigen::RowMajor>,
                                         in_order<narrow::dynamic_fixed, Eigen::RowMajor>>,
                              1>;

TEMPLATE_LIST_TEST_CASE(
    "A matrix in blocks of any size, of which few numbers are assigned to a matrix of a known size",
    "[tensor]", tensor_formats) {
  using M = typename TestType::template matrix<>;
  using T = typename M::Scalar;
  using known = Eigen::Matrix<T, 3, 3>;
  using column = Eigen::Matrix<T, 3, 1>;
  tally count;
  const M x = numbers<T>(3, 3), y = numbers<T>(3, 3, 2);
  const typename TestType::template matrix<Dynamic, 1> v = numbers<T>(3, 1, 4);
  const known a = plain<M>(x), b = plain<M>(y);
  const column c = plain<decltype(v)>(v);
  const typename TestType::template matrix<3, 3> in_blocks = x;
  count.expect(holds(in_blocks, a), [] { return "in blocks"; });
  const auto check = [&](const char* name, const auto& got, const auto& right) {
    count.expect(got == right, [&] { return name; });
  };
  known sums = x + y;
  check("a sum", sums, known(a + b));
  sums += T(2) * x;
  check("added", sums, known(a + b + T(2) * a));
  sums = x;
  check("a copy", sums, a);
  column vector = v;
  check("a vector", vector, c);
  vector -= v.cwiseAbs();
  check("subtracted", vector, column(c - c.cwiseAbs()));
  const Eigen::Matrix<narrow::fp16, 3, 3> rounded = x.template cast<narrow::fp16>();
  check("another format", rounded, Eigen::Matrix<narrow::fp16, 3, 3>(a.template cast<narrow::fp16>()));
  const typename TestType::template matrix<3, 1> few = v;
  count.expect(holds(few, c), [] { return "a vector in blocks"; });
  count.require(8);
}

TEMPLATE_LIST_TEST_CASE("Any expression can be assigned, and is rounded once", "[tensor]", a_few_formats) {
  using M = typename TestType::template matrix<>;
  using T = typename M::Scalar;
  using Plain = Eigen::Matrix<T, Dynamic, Dynamic>;
  tally count;
  const Plain a = numbers<T>(5, 7), b = numbers<T>(5, 7, 2), square = numbers<T>(5, 5, 3);
  const Eigen::Matrix<T, Dynamic, Dynamic, Eigen::RowMajor> by_rows = a;
  const auto check = [&](const char* name, const auto& expression) {
    const Plain values = expression;
    const M constructed(expression);
    M assigned;
    assigned = expression;
    M without_alias;
    without_alias.noalias() = expression;
    count.expect(holds(constructed, values), [&] { return name; });
    count.expect(holds(assigned, values), [&] { return name; });
    count.expect(holds(without_alias, values), [&] { return name; });
  };
  check("matrix", a);
  check("matrix in the other order", by_rows);
  check("transpose", a.transpose());
  check("block", a.block(1, 2, 3, 4));
  check("every other column",
        Eigen::Map<const Plain, 0, Eigen::OuterStride<>>(a.data(), 5, 3, Eigen::OuterStride<>(10)));
  check("sum", a + b);
  check("difference and factor", T(2) * a - b / T(3));
  check("coefficient-wise", a.cwiseProduct(b).cwiseAbs().cwiseMax(T(0.5)));
  check("array", (a.array() * b.array() + T(1)).matrix());
  check("exponential", a.array().exp().matrix());
  check("product", a * b.transpose());
  check("product in a sum", square + a * b.transpose());
  check("lazy product", a.lazyProduct(b.transpose()));
  check("inverse", square.inverse());
  check("triangular", Plain(square.template triangularView<Eigen::Upper>()));
  check("replicated", a.replicate(2, 1));
  check("reversed", a.reverse());
  check("diagonal", a.diagonal());
  check("reduction", a.rowwise().sum());
  check("selection", (a.array() > T(0)).select(a, b));
  check("constant", Plain::Constant(3, 2, T(0.7)));
  check("identity", Plain::Identity(3, 4));
  check("empty", Plain(0, 3));
  check("one", Plain::Constant(1, 1, T(-0.3)));
  check("fp16", a.template cast<narrow::fp16>());
  check("computed bf16", (a.template cast<narrow::bf16>() * narrow::bf16(1.5f)).template cast<T>());
  check("int", (a * T(10)).template cast<int>().template cast<T>());
  check("its own format", a.template cast<typename TestType::format>());
  count.require(28 * 3);

  M triangle = square.template triangularView<Eigen::Upper>(), diagonal = a.col(0).asDiagonal();
  REQUIRE(holds(triangle, Plain(square.template triangularView<Eigen::Upper>())));
  REQUIRE(holds(diagonal, Plain(a.col(0).asDiagonal())));
  M random = M::Random(4, 4);  // its coefficients differ whenever they are computed
  REQUIRE(random.cwiseAbs().maxCoeff() <= 1);
  REQUIRE(random.cwiseAbs().maxCoeff() > 0);
}

TEMPLATE_LIST_TEST_CASE("The matrix may be in what is assigned to it", "[tensor]", a_few_formats) {
  using M = typename TestType::template matrix<>;
  using T = typename M::Scalar;
  const M start = numbers<T>(6, 6);
  const auto before = plain<M>(start);
  tally count;
  const auto check = [&](const char* name, auto&& change, const auto& expected) {
    M m = start;
    change(m);
    count.expect(holds(m, expected), [&] { return name; });
  };
  check(
      "transpose", [](M& m) { m = m.transpose(); }, before.transpose());
  check(
      "in place", [](M& m) { m.transposeInPlace(); }, before.transpose());
  check(
      "reverse", [](M& m) { m = m.reverse(); }, before.reverse());
  check(
      "block", [](M& m) { m = m.block(1, 1, 4, 3); }, before.block(1, 1, 4, 3));
  check(
      "itself", [](M& m) { m = *&m; }, before);
  check(
      "sum", [](M& m) { m = m + m; }, before + before);
  check(
      "+=", [](M& m) { m += m; }, before + before);
  check(
      "-=", [](M& m) { m -= T(0.5) * m; }, before - T(0.5) * before);
  check(
      "*=", [](M& m) { m *= 3; }, before * T(3));
  check(
      "/=", [](M& m) { m /= 3; }, before / T(3));
  check(
      "+= diagonal", [&](M& m) { m += before.col(0).asDiagonal(); },
      plain<M>(before + plain<M>(before.col(0).asDiagonal())));
  check(
      "-= triangular", [&](M& m) { m -= before.template triangularView<Eigen::Lower>(); },
      plain<M>(before - plain<M>(before.template triangularView<Eigen::Lower>())));
  count.require(12);
}

TEMPLATE_LIST_TEST_CASE("Constructors, statics, sizes, comma, streams", "[tensor]", tensor_formats) {
  using M = typename TestType::template matrix<>;
  using Fixed = typename TestType::template matrix<2, 3>;
  using Column = typename TestType::template matrix<Dynamic, 1>;
  using Row = typename TestType::template matrix<1, Dynamic>;
  using Three = typename TestType::template matrix<3, 1>;
  using T = typename M::Scalar;
  using Plain = Eigen::Matrix<T, Dynamic, Dynamic>;

  REQUIRE(M().size() == 0);
  REQUIRE(holds(M(2, 3), Plain::Zero(2, 3)));
  REQUIRE(holds(Fixed(), Plain::Zero(2, 3)));
  REQUIRE(Column(4).rows() == 4);
  REQUIRE(Row(4).cols() == 4);
  REQUIRE(holds(Three(T(1), T(2), T(-3)), Eigen::Matrix<T, 3, 1>(1, 2, -3)));
  REQUIRE(holds(typename TestType::template matrix<2, 1>(T(1), T(-2)), Eigen::Matrix<T, 2, 1>(1, -2)));
  REQUIRE(holds(M{{T(1), T(2)}, {T(3), T(4)}}, Plain{{1, 2}, {3, 4}}));

  M m;
  m.setZero(3, 4);
  REQUIRE(holds(m, Plain::Zero(3, 4)));
  m.setOnes();
  REQUIRE(holds(m, Plain::Ones(3, 4)));
  m.setConstant(2, 2, T(0.75));
  REQUIRE(holds(m, Plain::Constant(2, 2, T(0.75))));
  m.setIdentity(4, 4);
  REQUIRE(holds(m, Plain::Identity(4, 4)));
  m.fill(T(2));
  REQUIRE(holds(m, Plain::Constant(4, 4, T(2))));
  m = M::Identity(2, 2);
  REQUIRE(holds(m, Plain::Identity(2, 2)));
  m = numbers<T>(4, 4);
  const Plain kept = m.topLeftCorner(3, 3);
  m.conservativeResize(3, 3);
  REQUIRE(Plain(m).isApprox(kept, T(0.2)));
  m.resize(2, 5);
  REQUIRE(holds(m, Plain::Zero(2, 5)));
  m.resize(Eigen::NoChange, 4);
  REQUIRE(holds(m, Plain::Zero(2, 4)));
  m.resize(3, Eigen::NoChange);
  REQUIRE(holds(m, Plain::Zero(3, 4)));
  m.setOnes(2, Eigen::NoChange);
  Plain larger = (Plain(2, 5) << plain<M>(m), Plain::Zero(2, 1)).finished();
  m.conservativeResize(Eigen::NoChange, 5);
  REQUIRE(holds(m, larger));
  larger = (Plain(3, 5) << plain<M>(m), Plain::Zero(1, 5)).finished();
  m.conservativeResize(3, Eigen::NoChange);
  REQUIRE(holds(m, larger));
  larger = (Plain(1, 6) << plain<M>(m).topRows(1), T(2)).finished();
  m.conservativeResizeLike(Plain::Constant(1, 6, T(2)));
  REQUIRE(holds(m, larger));
  m.setConstant(Eigen::NoChange, 2, T(2));
  REQUIRE(holds(m, Plain::Constant(1, 2, T(2))));
  m.setZero(4, Eigen::NoChange);
  REQUIRE(holds(m, Plain::Zero(4, 2)));

  Fixed f;
  f << T(1), T(2), T(3), T(4), T(5), T(6);
  REQUIRE(holds(f, Plain{{1, 2, 3}, {4, 5, 6}}));
  M parts(2, 5);
  parts << Plain::Ones(2, 3), Plain::Zero(2, 2);
  REQUIRE(holds(parts, (Plain(2, 5) << Plain::Ones(2, 3), Plain::Zero(2, 2)).finished()));
  REQUIRE(holds((M(1, 2) << T(1), T(-1)).finished(), Plain{{1, -1}}));
  std::ostringstream narrow_text, wide_text;
  narrow_text << f;
  wide_text << plain<Fixed>(f);
  REQUIRE(narrow_text.str() == wide_text.str());

  Column column = numbers<T>(5, 1);
  Row row = column;  // turned, as Eigen does
  REQUIRE(holds(row, plain<Column>(column).transpose()));
  row.conservativeResize(2);
  REQUIRE(row.cols() == 2);
  column.setLinSpaced(T(0), T(2));
  REQUIRE(holds(column, Eigen::Matrix<T, Dynamic, 1>::LinSpaced(5, 0, 2)));
  column.setLinSpaced(7, T(0), T(3));
  REQUIRE(holds(column, Eigen::Matrix<T, Dynamic, 1>::LinSpaced(7, 0, 3)));

  Plain rows(0, parts.cols()), columns(parts.rows(), 0);
  for (const auto& line : parts.rowwise()) {
    rows.conservativeResize(rows.rows() + 1, Eigen::NoChange);
    rows.bottomRows(1) = line;
  }
  for (const auto& line : parts.colwise()) {
    columns.conservativeResize(Eigen::NoChange, columns.cols() + 1);
    columns.rightCols(1) = line;
  }
  REQUIRE(holds(parts, rows));
  REQUIRE(holds(parts, columns));
}

TEMPLATE_LIST_TEST_CASE("Copies, moves, swaps, containers", "[tensor]", tensor_formats) {
  using M = typename TestType::template matrix<>;
  using T = typename M::Scalar;
  const auto a = numbers<T>(3, 4), b = numbers<T>(2, 5, 2);
  M x = a, y = b;
  x.swap(y);
  REQUIRE((holds(x, b) && holds(y, a)));
  std::swap(x, y);
  REQUIRE((holds(x, a) && holds(y, b)));
  swap(x, y);
  REQUIRE((holds(x, b) && holds(y, a)));
  M moved = std::move(x);
  REQUIRE(holds(moved, b));
  x = std::move(moved);
  REQUIRE(holds(x, b));
  std::vector<M> many;
  for (int i = 0; i < 5; ++i) many.push_back(i % 2 == 0 ? M(a) : M(b));
  for (std::size_t i = 0; i < 5; ++i) REQUIRE(holds(many[i], i % 2 == 0 ? a : b));
  const auto copy = y;
  REQUIRE(holds(copy, a));
  REQUIRE(holds(M(copy.eval()), plain<M>(copy)));
}

TEMPLATE_LIST_TEST_CASE("The matrix reads as numbers in any expression", "[tensor]", a_few_formats) {
  using M = typename TestType::template matrix<>;
  using T = typename M::Scalar;
  const M m = numbers<T>(6, 6), n = numbers<T>(6, 6, 2);
  plain<M> x(6, 6), y(6, 6);
  for (Eigen::Index i = 0; i < 6; ++i)
    for (Eigen::Index j = 0; j < 6; ++j) {
      x(i, j) = static_cast<T>(m.tensor()(i, j));
      y(i, j) = static_cast<T>(n.tensor()(i, j));
    }
  STATIC_REQUIRE(std::same_as<typename M::Scalar, T>);
  REQUIRE(plain<M>(m) == x);
  REQUIRE(m(2, 3) == x(2, 3));
  REQUIRE(m.coeff(4, 1) == x(4, 1));
  REQUIRE(plain<M>(m + n) == x + y);
  REQUIRE(plain<M>(m.cwiseProduct(n)) == x.cwiseProduct(y));
  REQUIRE(plain<M>(m.array().abs().sqrt().matrix()) == x.array().abs().sqrt().matrix());
  REQUIRE(plain<M>((m.array() > 0).select(m, n)) == plain<M>((x.array() > 0).select(x, y)));
  const auto near = [](T got, T expected) {
    return std::abs(got - expected) <= T(1e-5) * (1 + std::abs(expected));
  };
  REQUIRE(near(m.sum(), x.sum()));
  REQUIRE(near(m.norm(), x.norm()));
  REQUIRE(m.cwiseAbs().maxCoeff() == x.cwiseAbs().maxCoeff());
  REQUIRE(near(m.trace(), x.trace()));
  REQUIRE(m.rowwise().sum().isApprox(x.rowwise().sum()));
  REQUIRE(plain<M>(m.colwise() + y.col(0)) == plain<M>(x.colwise() + y.col(0)));
  REQUIRE(near(m.row(2).dot(n.row(1)), x.row(2).dot(y.row(1))));
  REQUIRE(m.template cast<double>() == x.template cast<double>());
  REQUIRE(m.template cast<narrow::fp16>() == x.template cast<narrow::fp16>());
  REQUIRE(m.transpose() == x.transpose());
  REQUIRE(m.isApprox(x));
  const Eigen::Ref<const Eigen::Matrix<T, Dynamic, Dynamic>> reference(m);
  REQUIRE(reference == x);
}

TEST_CASE("The matrix can be decomposed", "[tensor]") {
  using M = Eigen::Matrix<narrow::bfp<8>, Dynamic, Dynamic>;  // the format makes no difference
  const M m = numbers<float>(6, 6);
  const MatrixXf x = m;
  const Eigen::VectorXf y = numbers<float>(6, 1);
  REQUIRE(m.lu().solve(y).isApprox(x.lu().solve(y)));
  REQUIRE(Eigen::PartialPivLU<M>(m).solve(y).isApprox(x.lu().solve(y)));
  REQUIRE(m.inverse().isApprox(x.inverse()));
  REQUIRE(std::abs(m.determinant() - x.determinant()) <= 1e-5f * (1 + std::abs(x.determinant())));
}
