// Expressions that are stored piece by piece have the bits that they have coefficient by coefficient.
#include <bit>
#include <narrow/eigen.hpp>
#include <random>

#include "catch.hpp"
#include "coefficient_bits.hpp"
#include "exhaustive.hpp"

namespace {

using test::bits_of;

using narrow::bf16;
using narrow::fp16;
using narrow::fp8_e4m3fn;

template <class T, int Order = Eigen::ColMajor>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>;

/// Numbers of both signs and all sizes, with zeros, infinities and NaN among them.
template <class T, int Order = Eigen::ColMajor>
matrix<T, Order> samples(Eigen::Index rows, Eigen::Index cols, unsigned seed) {
  std::mt19937 engine(seed);
  matrix<T, Order> m(rows, cols);
  for (Eigen::Index i = 0; i < m.size(); ++i) {
    const auto bits = static_cast<std::uint32_t>(engine());
    const float moderate = static_cast<float>(static_cast<std::int32_t>(bits)) * 0x1p-30f;
    m.data()[i] = T(i % 7 != 0 ? moderate : i % 91 != 0 ? std::bit_cast<float>(bits) : i % 2 ? 0.0f : -0.0f);
  }
  return m;
}

/// to = form(...), against the coefficients that its evaluator gives one by one; NaN is NaN.
template <class Dst, class Form, class... M> void check(const char* name, const Form& form, const M&... m) {
  Dst got, expected;
  got = form(m...);
  expected.resize(got.rows(), got.cols());
  const auto expression = form(m...);
  const Eigen::internal::evaluator<std::remove_cvref_t<decltype(expression)>> values(expression);
  for (Eigen::Index i = 0; i < got.rows(); ++i)
    for (Eigen::Index j = 0; j < got.cols(); ++j)
      expected(i, j) = static_cast<typename Dst::Scalar>(values.coeff(i, j));
  INFO(name << ", " << got.rows() << " x " << got.cols());
  Eigen::Index different = 0;
  for (Eigen::Index i = 0; i < got.rows(); ++i)
    for (Eigen::Index j = 0; j < got.cols(); ++j) {
      const bool both_nan = got(i, j) != got(i, j) && expected(i, j) != expected(i, j);
      different += !both_nan && bits_of(got(i, j)) != bits_of(expected(i, j));
    }
  CHECK(different == 0);
}

/// How many coefficients are not right(i, j), rounded once; NaN is NaN.
template <class M, class Right> Eigen::Index differences(const M& got, const Right& right) {
  Eigen::Index different = 0;
  for (Eigen::Index i = 0; i < got.rows(); ++i)
    for (Eigen::Index j = 0; j < got.cols(); ++j) {
      const typename M::Scalar expected(right(i, j));
      different +=
          !(got(i, j) != got(i, j) && expected != expected) && bits_of(got(i, j)) != bits_of(expected);
    }
  return different;
}

/// Casts of floats to S, as they are and computed, and back.
template <class S> void check_casts(const matrix<float>& x, const matrix<S>& a) {
  check<matrix<S>>(
      "rounded", [](const auto& p) { return p.template cast<S>(); }, x);
  check<matrix<S>>(
      "scaled", [](const auto& p) { return (p * 0.1f).template cast<S>(); }, x);
  check<matrix<float>>(
      "widened", [](const auto& p) { return p.template cast<float>(); }, a);
}

template <class Dst, class Src> constexpr bool in_pieces(const Dst&, const Src&) {
  using scalar = typename Dst::Scalar;
  return narrow::detail::assigns_in_pieces<Dst, Src,
                                           Eigen::internal::assign_op<scalar, typename Src::Scalar>>;
}

}  // namespace

using narrow_floats = test::some_of<std::tuple<fp16, bf16, fp8_e4m3fn>, 0>;
TEMPLATE_LIST_TEST_CASE("pieces hold the same bits as coefficients", "[eigen][piecewise]", narrow_floats) {
  using S = TestType;
  const auto [rows, cols] = GENERATE(std::pair{1, 40}, std::pair{40, 1}, std::pair{33, 5}, std::pair{4, 100},
                                     std::pair{300, 3}, std::pair{2, 3});
  const auto a = samples<S>(rows, cols, 1), b = samples<S>(rows, cols, 2);
  const auto x = samples<float>(rows, cols, 3);
  check<matrix<S>>(
      "sum", [](const auto& p, const auto& q) { return p + q; }, a, b);
  check<matrix<S>>(
      "mixed", [](const auto& p, const auto& q) { return 0.3f * p - q.cwiseProduct(p) / 7; }, a, b);
  check<matrix<S>>(
      "signs", [](const auto& p, const auto& q) { return (-p).cwiseAbs() - q; }, a, b);
  check<matrix<S>>(
      "quotient", [](const auto& p, const auto& q) { return p.cwiseQuotient(q); }, a, b);
  check_casts<S>(x, a);
  check<matrix<float>>(
      "into float", [](const auto& p, const auto& q) { return q + (p + p).template cast<float>() * 0.1f; }, a,
      x);
  check<matrix<S>>(
      "select", [](const auto& p, const auto& q) { return (p.array() > S(0)).select(q, p + p); }, a, b);
  check<matrix<S>>(
      "relu", [](const auto& p) { return (p.array() < S(0)).select(S(0), p); }, a);
  check<matrix<S>>(
      "where positive", [](const auto& p) { return (p.array() > S(0)).template cast<S>().matrix(); }, a);
  check<matrix<S>>(
      "extremes", [](const auto& p, const auto& q) { return p.cwiseMax(q).cwiseMin(S(1.5f)); }, a, b);
  check<matrix<S>>(
      "squares", [](const auto& p) { return (p.array().square() - p.cwiseAbs2().array()).matrix(); }, a);
  check<matrix<S>>(
      "root", [](const auto& p) { return p.cwiseAbs().cwiseSqrt(); }, a);
  check<matrix<S>>(
      "functions", [](const auto& p, const auto& q) { return (p.array().exp() + q.array().tanh()).matrix(); },
      a, b);
  check<matrix<S>>(
      "power", [](const auto& p) { return p.array().abs().pow(0.3f).matrix(); }, a);
}

TEMPLATE_TEST_CASE("vectors stand for rows and columns in pieces", "[eigen][piecewise]",
                   (matrix<fp16, Eigen::ColMajor>), (matrix<bf16, Eigen::RowMajor>)) {
  using M = TestType;
  using S = typename M::Scalar;
  constexpr Eigen::Index rows = 37, cols = 300;
  const M a = samples < S, M::IsRowMajor ? Eigen::RowMajor : Eigen::ColMajor > (rows, cols, 1);
  const Eigen::Matrix<S, Eigen::Dynamic, 1> column = samples<S>(rows, 1, 2);
  const Eigen::Matrix<S, 1, Eigen::Dynamic> row = samples<S, Eigen::RowMajor>(1, cols, 3);
  const auto expect = [&](const char* name, const M& got, const auto& right) {
    INFO(name);
    CHECK(differences(got, [&](Eigen::Index i, Eigen::Index j) {
            return right(float{a(i, j)}, float{column(i)}, float{row(j)});
          }) == 0);
  };
  expect("a column for all", a.colwise() + column, [](float x, float c, float) { return x + c; });
  expect("a row for all", a.rowwise() - row, [](float x, float, float r) { return x - r; });
  expect("both", ((a.colwise() + column).array().rowwise() * row.array()).matrix(),
         [](float x, float c, float r) { return (x + c) * r; });
  expect("relu of the biased", (a.colwise() + column).cwiseMax(S(0)),
         [](float x, float c, float) { return x + c < 0 ? 0 : x + c; });
  expect("rows scaled", column.asDiagonal() * a, [](float x, float c, float) { return x * c; });
  expect("columns scaled", (a * row.asDiagonal()) * 0.5f + a,
         [](float x, float, float r) { return x * r * 0.5f + x; });
  M b = a;
  b.colwise() += column;
  expect("added to all columns", b, [](float x, float c, float) { return x + c; });
  b = a;
  b.rowwise() -= row;
  expect("taken from all rows", b, [](float x, float, float r) { return x - r; });
  M wide = a.colwise() - column.cwiseAbs();
  expect("computed", wide, [](float x, float c, float) { return x - std::abs(c); });
}

TEMPLATE_LIST_TEST_CASE("pieces of lines in any order and at any distance", "[eigen][piecewise]",
                        narrow_floats) {
  using S = TestType;
  using at = Eigen::Index;
  using strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  const auto [rows, cols] = GENERATE(std::pair{300, 9}, std::pair{10, 70}, std::pair{8, 4}, std::pair{7, 40});
  const at m = rows, n = cols;
  const auto a = samples<S>(m, n, 1);
  const auto r = samples<S, Eigen::RowMajor>(m, n, 2);
  const auto x = samples<float, Eigen::RowMajor>(m, n, 3);
  const auto wide = [](const auto& y) { return static_cast<float>(y); };
  INFO(m << " x " << n);

  matrix<S> got = a + r;
  CHECK(differences(got, [&](at i, at j) { return wide(a(i, j)) + wide(r(i, j)); }) == 0);
  matrix<S, Eigen::RowMajor> by_rows = 2 * a - r;
  CHECK(differences(by_rows, [&](at i, at j) { return 2 * wide(a(i, j)) - wide(r(i, j)); }) == 0);
  got = x.template cast<S>();
  CHECK(differences(got, [&](at i, at j) { return x(i, j); }) == 0);
  Eigen::MatrixXf floats = r.template cast<float>() * 0.1f;
  CHECK(differences(floats, [&](at i, at j) { return wide(r(i, j)) * 0.1f; }) == 0);
  matrix<S> turned = r.transpose() * 3;
  CHECK(differences(turned, [&](at i, at j) { return 3 * wide(r(j, i)); }) == 0);

  got = a.reverse() + r;
  CHECK(differences(got, [&](at i, at j) { return wide(a(m - 1 - i, n - 1 - j)) + wide(r(i, j)); }) == 0);
  got = (a - r).colwise().reverse();
  CHECK(differences(got, [&](at i, at j) { return wide(a(m - 1 - i, j)) - wide(r(m - 1 - i, j)); }) == 0);
  by_rows = r.rowwise().reverse() / 3;
  CHECK(differences(by_rows, [&](at i, at j) { return wide(r(i, n - 1 - j)) / 3; }) == 0);

  matrix<S> store = matrix<S>::Zero(2 * m + 1, 3 * n);
  Eigen::Map<matrix<S>, 0, strides> apart(store.data(), m, n, strides(3 * store.rows(), 2));
  apart = r;
  apart += a;
  CHECK(differences(apart, [&](at i, at j) { return wide(r(i, j)) + wide(a(i, j)); }) == 0);
  got = apart * 0.5f;
  CHECK(differences(got, [&](at i, at j) { return wide(apart(i, j)) * 0.5f; }) == 0);
  at touched = 0;
  for (at j = 0; j < store.cols(); ++j)
    for (at i = 0; i < store.rows(); ++i)
      touched += (i % 2 || i == 2 * m || j % 3) && store(i, j).bits() != 0;
  CHECK(touched == 0);
}

TEST_CASE("means of rows and columns are taken in pieces, computed once and wide", "[eigen][piecewise]") {
  std::mt19937 engine(5);
  const Eigen::MatrixXf x = Eigen::MatrixXf::NullaryExpr(
      50, 40, [&] { return static_cast<float>(static_cast<std::int32_t>(engine())) * 0x1p-31f; });
  const matrix<fp16> a = x.cast<fp16>();
  const Eigen::VectorXf of_rows = a.rowwise().mean(), of_columns = a.colwise().mean().transpose();
  matrix<fp16> got = a.colwise() - a.rowwise().mean();
  CHECK(differences(got, [&](Eigen::Index i, Eigen::Index j) { return float{a(i, j)} - of_rows(i); }) == 0);
  got = a.rowwise() - a.colwise().mean();
  CHECK(differences(got, [&](Eigen::Index i, Eigen::Index j) { return float{a(i, j)} - of_columns(j); }) ==
        0);
}

TEST_CASE("pieces in rows, in blocks and in place", "[eigen][piecewise]") {
  const auto a = samples<fp16, Eigen::RowMajor>(9, 70, 1), b = samples<fp16, Eigen::RowMajor>(9, 70, 2);
  check<matrix<fp16, Eigen::RowMajor>>(
      "rows", [](const auto& p, const auto& q) { return p * 2 - q; }, a, b);

  const auto finite = [](unsigned seed) {
    matrix<fp16> m(80, 6);
    for (Eigen::Index i = 0; i < m.size(); ++i)
      m.data()[i] = fp16(static_cast<float>((static_cast<unsigned>(i) * 37 + seed) % 101) * 0.37f - 17);
    return m;
  };
  const auto c = finite(1), d = finite(2);
  matrix<fp16> whole = c;
  whole.block(3, 1, 50, 4) += d.block(20, 2, 50, 4) * 0.7f;
  whole.array() *= fp16(3);
  matrix<float> wide = c.cast<float>();
  wide -= d.cast<float>();
  bool same = true;
  for (Eigen::Index i = 0; i < 80; ++i)
    for (Eigen::Index j = 0; j < 6; ++j) {
      fp16 expected = c(i, j);
      if (i >= 3 && i < 53 && j >= 1 && j < 5)
        expected = fp16(float{c(i, j)} + float{d(i + 17, j + 1)} * 0.7f);
      same = same && whole(i, j) == fp16(float{expected} * 3);
      same = same && wide(i, j) == float{c(i, j)} - float{d(i, j)};
    }
  CHECK(same);

  // Rows of a matrix by columns do not lie side by side.
  matrix<fp16> rows = c;
  rows.row(2) = 2 * d.row(3) - c.row(1);
  rows.transpose().row(1) += d.transpose().row(0);
  bool same_rows = true;
  for (Eigen::Index j = 0; j < 6; ++j)
    same_rows = same_rows && (j == 1 || rows(2, j) == fp16(2 * float{d(3, j)} - float{c(1, j)}));
  for (Eigen::Index i = 0; i < 80; ++i)
    same_rows = same_rows && (i == 2 || rows(i, 1) == fp16(float{c(i, 1)} + float{d(i, 0)}));
  CHECK(same_rows);
}

using fixed_numbers = test::some_of<
    std::tuple<narrow::fixed<8, 4>, narrow::fixed<16, 8>, narrow::fixed<24, 20>, narrow::fixed<32, 16>,
               narrow::fixed<8, 4, narrow::rounding::upward, narrow::overflow::wrap>>,
    0>;
TEMPLATE_LIST_TEST_CASE("fixed-point numbers from floats and as floats in pieces", "[eigen][piecewise]",
                        fixed_numbers) {
  using S = TestType;
  const auto [rows, cols] = GENERATE(std::pair{1, 40}, std::pair{40, 1}, std::pair{33, 5}, std::pair{300, 3});
  const auto x = samples<float>(rows, cols, 3);
  const auto h = samples<fp16>(rows, cols, 4);
  const auto q = samples<S>(rows, cols, 5);
  check<matrix<S>>(
      "from fp16", [](const auto& p) { return p.template cast<S>(); }, h);
  check_casts<S>(x, q);
  check<matrix<float>>(
      "into float", [](const auto& p, const auto& y) { return y - p.template cast<float>() * 0.1f; }, q, x);
  check<matrix<fp16>>(
      "into fp16", [](const auto& p) { return p.template cast<fp16>(); }, q);
  check<matrix<narrow::fixed<8, 3>>>(
      "into fixed", [](const auto& p) { return p.template cast<narrow::fixed<8, 3>>(); }, q);
  check<matrix<S>>(
      "sum", [](const auto& p, const auto& r) { return p + r; }, q, q);
}

namespace {

/// to = form(x) where rounding draws: each coefficient under its row-major index, whatever the order.
template <class S, int Order, class Form>
void check_draws(Eigen::Index rows, Eigen::Index cols, const Form& form) {
  const auto x = samples<float, Order>(rows, cols, 6);
  matrix<S, Order> got = matrix<S, Order>::Constant(rows, cols, S(0.5f));
  narrow::seed(11);
  form(got, x);
  narrow::seed(11);
  const narrow::rounding::stochastic round;
  Eigen::Index different = 0;
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < cols; ++j) {
      Eigen::Matrix<float, 1, 1> start(0.5f);
      form(start, Eigen::Matrix<float, 1, 1>(x(i, j)));
      const auto expected =
          narrow::narrow_cast<S>(start(0, 0), round.at(static_cast<std::uint64_t>(i * cols + j)));
      different += bits_of(got(i, j)) != bits_of(expected);
    }
  INFO(rows << " x " << cols << (Order == Eigen::RowMajor ? " by rows" : " by columns"));
  CHECK(different == 0);
}

}  // namespace

TEMPLATE_TEST_CASE("pieces draw as coefficients do", "[eigen][piecewise]",
                   (narrow::floating<5, 10, narrow::specials::ieee, narrow::rounding::stochastic>),
                   (narrow::floating<8, 10, narrow::specials::ieee, narrow::rounding::stochastic>),
                   (narrow::fixed<16, 12, narrow::rounding::stochastic>),
                   (narrow::fixed<8, 4, narrow::rounding::stochastic>)) {
  using S = TestType;
  const auto assign = [](auto& to, const auto& from) {
    to = (from * 0.75f).template cast<typename std::remove_cvref_t<decltype(to)>::Scalar>();
  };
  const auto add = [](auto& to, const auto& from) { to += from; };
  const auto [rows, cols] =
      GENERATE(std::pair{1, 300}, std::pair{300, 1}, std::pair{33, 65}, std::pair{4, 5});
  check_draws<S, Eigen::ColMajor>(rows, cols, assign);
  if constexpr (narrow::narrow_float<S>) check_draws<S, Eigen::ColMajor>(rows, cols, add);
  if (cols > 1) check_draws<S, Eigen::RowMajor>(rows, cols, assign);
}

TEST_CASE("what is stored in pieces", "[eigen][piecewise]") {
  const matrix<fp16> a, b;
  const matrix<fp16, Eigen::RowMajor> r;
  const matrix<float> x;
  const Eigen::Matrix<fp16, 3, 3> small = Eigen::Matrix<fp16, 3, 3>::Zero();
  CHECK(in_pieces(a, a + b));
  CHECK(in_pieces(a, 0.5f * a - b.cwiseProduct(a)));
  CHECK(in_pieces(a, x.cast<fp16>()));
  CHECK(in_pieces(x, a.cast<float>()));
  CHECK(in_pieces(a, (a.array() < fp16(0)).select(fp16(0), a)));
  const matrix<narrow::fixed<16, 12, narrow::rounding::stochastic>> q;
  CHECK(in_pieces(q, x.cast<narrow::fixed<16, 12, narrow::rounding::stochastic>>()));
  CHECK(in_pieces(x, q.cast<float>()));
  CHECK_FALSE(in_pieces(q, q + q));  // exact
  CHECK(in_pieces(a, a + r));
  CHECK(in_pieces(a, a.reverse() * 2));
  CHECK_FALSE(in_pieces(a, b));  // copies
  CHECK_FALSE(in_pieces(a, r));
  CHECK_FALSE(in_pieces(a, b.reverse()));
  CHECK_FALSE(in_pieces(small, small + small));
  CHECK(in_pieces(a, a.array().exp().matrix()));
  CHECK(in_pieces(a, a.cwiseMax(fp16(0))));
  CHECK(in_pieces(a, (a.array() > b.array()).cast<fp16>().matrix() * 0.5f));
  const Eigen::Matrix<fp16, Eigen::Dynamic, 1> v;
  CHECK(in_pieces(a, a.colwise() + v));
  CHECK(in_pieces(r, r.colwise() + v));
  CHECK(in_pieces(a, a.colwise() - a.rowwise().mean()));
  CHECK(in_pieces(a, v.asDiagonal() * a));
  CHECK(in_pieces(r, r * v.asDiagonal()));
  CHECK_FALSE(in_pieces(a, v.replicate(1, 3)));
  CHECK_FALSE(in_pieces(a, a.unaryExpr([](fp16 y) { return y * y; })));  // the user's function sees fp16
}
