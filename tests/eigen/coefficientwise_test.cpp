// Coefficient-wise expressions of floating formats: computed in float, rounded once where they are stored.
#include "catch.hpp"
#include "counting.hpp"
#include "every_isa.hpp"
#include "policies.hpp"
#include "tally.hpp"

using namespace test;

namespace {

using S = counted_fp16;
using Mat = matrix<S>;
using MatR = matrix<S, Eigen::RowMajor>;

constexpr int size = 6;

template <class M> struct operands {
  M a, b, d;  // a, d of either sign, b positive, all of them away from 0
};

operands<Eigen::MatrixXd> exact() {
  const auto numbers = [](unsigned seed) {
    const Eigen::MatrixXd x = reals(size, size, seed);
    return rounded_to<S>(x + 0.25 * x.cwiseSign());
  };
  return {numbers(1), numbers(2).cwiseAbs(), numbers(3)};
}

template <class M> operands<M> narrowed() {
  const auto x = exact();
  return {x.a.cast<S>(), x.b.cast<S>(), x.d.cast<S>()};
}

/// `got` is the narrow number next to x, or next to what a float computation makes of x: terms below 8.
bool is_rounded(double got, double x) {
  const double float_error = 8 * std::ldexp(4., -24);
  return static_cast<double>(S(x - float_error)) <= got && got <= static_cast<double>(S(x + float_error));
}

/// Adds: whether forms are added to something, too, which takes as long to compile again.
template <bool Adds = is_exhaustive> struct checker {
  tally& result;

  /// `form` of narrow operands, stored in `c`, is that of doubles rounded once; `constants` roundings are
  /// those of scalars that the form holds as narrow numbers.
  template <class M, class Form> void stored(const char* name, Form form, long constants) {
    const auto x = narrowed<M>();
    const Eigen::MatrixXd expected = form(exact());
    M c(expected.rows(), expected.cols());
    const long count = roundings([&] { c = form(x); });
    expect(name, count - constants, c, expected);
    if constexpr (Adds) {
      const M before = x.d.topLeftCorner(expected.rows(), expected.cols());
      c = before;
      const long again = roundings([&] { c.array() += form(x).array(); });
      expect(name, again - constants, c, as_double(before) + expected);
    }
  }

  template <class C> void expect(const char* name, long count, const C& c, const Eigen::MatrixXd& expected) {
    const Eigen::MatrixXd got = as_double(c);
    bool near = true;
    for (Eigen::Index i = 0; i < got.size(); ++i) near = near && is_rounded(got(i), expected(i));
    const long nonzero = (expected.array() != 0).count();
    result.expect(near && count == nonzero, [&] {
      std::ostringstream out;
      out << name << ": " << count << " roundings for " << nonzero << " coefficients, got\n"
          << got << "\nexpected\n"
          << expected;
      return out.str();
    });
  }

  template <class Form> void operator()(const char* name, Form form, long constants = 0) {
    for_each_type<orders>([&]<class M>() { stored<M>(name, form, constants); });
  }

  using orders = some_of<std::tuple<Mat, MatR>, 0>;
  static constexpr std::size_t checks_of_form = (Adds ? 2 : 1) * std::tuple_size_v<orders>;
};

}  // namespace

TEST_CASE("Arithmetic on matrices rounds once") {
  tally result;
  checker<true> check{result};
  check("2 a + b o a - d / 3", [](const auto& x) { return 2 * x.a + x.b.cwiseProduct(x.a) - x.d / 3; });
  check("negated sum", [](const auto& x) { return -(x.a + x.b); });
  check("quotient", [](const auto& x) { return (x.a + x.d).cwiseQuotient(x.b); });
  check("extremes", [](const auto& x) { return (x.a + x.b).cwiseMax(x.d).cwiseMin(3 * x.b) * 2; });
  check("magnitudes", [](const auto& x) { return (x.a - x.b).cwiseAbs() + (x.d * 2).cwiseAbs2(); });
  check("root", [](const auto& x) { return (x.a.cwiseAbs() + x.b).cwiseSqrt(); });
  check("product inside", [](const auto& x) { return 2 * (x.a * x.b) + x.d; });
  check("product of sums", [](const auto& x) { return ((x.a + x.b) * x.d).cwiseProduct(x.b); });
  check("two products", [](const auto& x) { return x.a * x.b - x.b * x.d; });
  result.require(9 * checker<true>::checks_of_form);
}

TEST_CASE("Views of expressions hand on what was not rounded") {
  tally result;
  checker<> check{result};
  check("transpose", [](const auto& x) { return (x.a + x.b).transpose() * 2 - x.d; });
  check("block", [](const auto& x) { return (x.a + x.b).block(1, 2, 3, 4) * 2 - x.d.block(0, 0, 3, 4); });
  check("row", [](const auto& x) { return (x.a + x.b).row(2) * 2 - x.d.row(1); });
  check("column of a product", [](const auto& x) { return (x.a * x.b).col(2) / 3 - x.d.col(1); });
  check("array", [](const auto& x) { return ((x.a + x.b).array() * x.d.array()).matrix() + x.b; });
  check("array of a product", [](const auto& x) { return ((x.a * x.b).array() + 1).matrix() - x.d; });
  check("diagonal", [](const auto& x) { return (x.a + x.b).diagonal() * 2 - x.d.diagonal(); });
  check("diagonal above", [](const auto& x) { return (x.a + x.b).diagonal(2) * 3; });
  check("diagonal below", [](const auto& x) { return (x.a - x.b).diagonal(-1) * 3; });
  check("diagonal of a product", [](const auto& x) { return (x.a * x.b).diagonal() * 2 - x.d.diagonal(); });
  check("reverse", [](const auto& x) { return (x.a + x.b).reverse() * 2 - x.d; });
  check("reversed rows", [](const auto& x) { return (x.a + x.b).colwise().reverse() * 2 - x.d; });
  check("repeated row", [](const auto& x) { return (x.a + x.b).row(1).replicate(size, 1) * 2 - x.d; });
  check("broadcast", [](const auto& x) { return x.d.colwise() - (x.a * x.b).col(1); });
  check("means taken away",
        [](const auto& x) { return x.d.rowwise() - x.d.colwise().sum() / static_cast<float>(size); });
  check("diagonal matrices",
        [](const auto& x) { return x.d + x.a.col(0).asDiagonal() * x.b + x.b * x.d.row(0).asDiagonal(); });
  result.require(16 * checker<>::checks_of_form);
}

TEST_CASE("Functions of arrays round once") {
  tally result;
  checker<> check{result};
  check("exp", [](const auto& x) { return (x.a + x.b).array().exp().matrix(); });
  check("tanh of a product", [](const auto& x) { return (x.a * x.b).array().tanh().matrix(); });
  check("log", [](const auto& x) { return (x.b + x.b).array().log().matrix() + x.d; });
  check("root", [](const auto& x) { return (x.b.array() * 3).sqrt().matrix(); });
  check("square", [](const auto& x) { return (x.a + x.b).array().square().matrix() - x.d; });
  check("inverse", [](const auto& x) { return (x.b.array() + x.b.array()).inverse().matrix(); });
  check("maximum", [](const auto& x) { return (x.a + x.b).array().max(x.d.array()).matrix() * 2; });
  check("minimum", [](const auto& x) { return ((x.a - x.b).array().min)(x.d.array()).matrix() * 2; });
  check("squared", [](const auto& x) { return (x.a + x.b).array().pow(2).matrix(); });
  check("fourth power", [](const auto& x) { return (x.a.array() * 0.75f).pow(4).matrix(); });
  check("power", [](const auto& x) { return (x.b.array() * 2).pow(0.3f).matrix(); });
  check("powers", [](const auto& x) { return (x.b.array() * 2).pow(x.a.array()).matrix(); });
  check("choice", [](const auto& x) { return 2 * (x.a.array() > x.d.array()).select(x.a + x.b, x.d * 3); });
  check("choice of products",
        [](const auto& x) { return (x.a.array() > x.d.array()).select(x.a * x.b, x.d) + x.b; });
  result.require(14 * checker<>::checks_of_form);
}

TEST_CASE("Compound assignments of expressions round once") {
  const auto x = narrowed<Mat>();
  const auto y = exact();
  tally result;
  checker<> check{result};
  const auto run = [&](const char* name, auto assign, const Eigen::MatrixXd& expected) {
    Mat c = x.d;
    const long count = roundings([&] { assign(c); });
    check.expect(name, count, c, expected);
  };
  run(
      "+=", [&](Mat& c) { c += 2 * (x.a + x.b); }, y.d + 2 * (y.a + y.b));
  run(
      "-=", [&](Mat& c) { c -= x.a / 3 - x.b; }, y.d - y.a / 3 + y.b);
  run(
      "*=", [&](Mat& c) { c.array() *= (x.a + x.b).array(); }, y.d.cwiseProduct(y.a + y.b));
  run(
      "/=", [&](Mat& c) { c.array() /= (x.a - x.b * 9).array(); }, y.d.cwiseQuotient(y.a - y.b * 9));
  run(
      "block +=", [&](Mat& c) { c.topRows(6) += (x.a + x.b).topRows(6) / 3; }, y.d + (y.a + y.b) / 3);
  run(
      "columns +=", [&](Mat& c) { c.colwise() += x.b.col(1); }, y.d.colwise() + y.b.col(1));
  run(
      "rows -=", [&](Mat& c) { c.rowwise() -= x.b.row(1); }, y.d.rowwise() - y.b.row(1));
  run(
      "comma", [&](Mat& c) { c << (x.a + x.b).leftCols(2), (x.a * x.b).rightCols(4); },
      (Eigen::MatrixXd(6, 6) << (y.a + y.b).leftCols(2), (y.a * y.b).rightCols(4)).finished());
  result.require(8);
}

TEST_CASE("Casts round to the type that they name, once") {
  const auto x = narrowed<Mat>();
  const auto y = exact();
  using narrow::bf16;
  const Eigen::MatrixXd sum = y.a + y.b;
  REQUIRE(as_double((x.a + x.b).cast<float>().eval()) == sum);  // fp16 sums of this size are exact in float
  REQUIRE(as_double((x.a + x.b).cast<double>().eval()) == sum);
  REQUIRE(as_double((x.a + x.b).cast<bf16>().eval()) == rounded_to<bf16>(sum));
  REQUIRE(as_double((x.a + x.b).cast<bf16>().cast<float>().eval()) == rounded_to<bf16>(sum));
  REQUIRE(roundings([&] { (void)(x.a + x.b).cast<double>().eval(); }) == 0);
  REQUIRE(roundings([&] { (void)y.a.cast<S>().eval(); }) == size * size);
  REQUIRE((x.a * 100).cast<int>().eval() == (y.a * 100).cast<int>());
  Mat c = y.a.cast<S>();
  REQUIRE(c == x.a);
}

TEST_CASE("What is cast for a compound assignment is rounded with the result") {
  using M = matrix<narrow::fp16>;
  const auto y = exact();
  const Eigen::MatrixXf third = y.b.cast<float>() / 3;
  const Eigen::MatrixXf difference = y.a.cast<float>() - third;
  const Eigen::MatrixXd expected = rounded_to<narrow::fp16>(difference.cast<double>());
  for_each_isa([&](const std::string& isa) {
    INFO(isa);
    M whole = y.a.cast<narrow::fp16>(), apart(2 * size, size);
    Eigen::Map<M, 0, Eigen::Stride<Eigen::Dynamic, 2>> every_second(apart.data(), size, size, {2 * size, 2});
    every_second = whole;
    whole -= third.cast<narrow::fp16>();
    every_second -= third.cast<narrow::fp16>();
    CHECK(as_double(whole) == expected);
    CHECK(as_double(every_second) == expected);
  });
}

TEST_CASE("Diagonals of maps with a stride between neighbours") {
  matrix<S> memory = integers(2 * size, size, 1).cast<S>();
  Eigen::Map<matrix<S>, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>> m(memory.data(), size, size,
                                                                            {2 * size, 2});
  Eigen::VectorXd expected(size);
  for (int i = 0; i < size; ++i) expected(i) = static_cast<double>(m(i, i));
  const column<S> doubled = m.diagonal() * 2;
  CHECK(as_double(doubled) == 2 * expected);
  CHECK(narrow::sum(m.diagonal()) == static_cast<float>(expected.sum()));
  CHECK(static_cast<double>(m.diagonal().maxCoeff()) == expected.maxCoeff());
  m.diagonal() += doubled;
  for (int i = 0; i < size; ++i) CHECK(static_cast<double>(m(i, i)) == 3 * expected(i));
}

TEST_CASE("Comparisons of expressions see what was not rounded") {
  for (const Eigen::Index n : {3, 40}) {
    const Eigen::VectorXf ones = Eigen::VectorXf::Ones(n);
    const column<S> x = ones.cast<S>(), small = (0x1p-12f * ones).cast<S>();  // less than half an ulp of 1
    CHECK(((x + small).array() == x.array()).count() == 0);
    CHECK((x + small).cwiseEqual(x).count() == 0);
    CHECK((x + small).cwiseNotEqual(x).count() == n);
    CHECK((x + small).cwiseNotEqual(x).select(x, -x) == x);
    CHECK((x + small).cwiseEqual(x + small).count() == n);
  }
}

namespace {
/// A functor of the user's own that needs to see the narrow type.
template <class T> struct without_low_bits {
  T operator()(const T& x) const {
    return T::from_bits(static_cast<typename T::bits_type>(x.bits() & 0xfff0u));
  }
};
}  // namespace

TEST_CASE("Functors of the user see the narrow type") {
  const auto x = narrowed<Mat>();
  const Mat sum = x.a + x.b;
  const Mat kept = (x.a + x.b).unaryExpr(without_low_bits<S>());
  for (Eigen::Index i = 0; i < sum.size(); ++i) REQUIRE(kept(i).bits() == (sum(i).bits() & 0xfff0u));
  const Mat larger = x.a.binaryExpr(x.b, [](S p, S q) { return p < q ? q : p; });
  REQUIRE(larger == x.a.cwiseMax(x.b));
}

TEST_CASE("Operations on fixed-point arrays round one by one, as those on scalars do") {
  using F = narrow::fixed<16, 8>;
  const auto y = exact();
  const matrix<F> a = y.a.cast<F>(), b = y.b.cast<F>(), d = y.d.cast<F>();
  const matrix<F> c = 2 * a + b.cwiseProduct(a) - d / 3;
  for (Eigen::Index i = 0; i < c.size(); ++i) REQUIRE(c(i) == 2 * a(i) + b(i) * a(i) - d(i) / 3);
}

TEST_CASE("Powers of fixed-point arrays, with exponents of any type") {
  using T = narrow::fixed<16, 8>;
  using numbers = Eigen::Array<T, Eigen::Dynamic, 1>;
  const numbers x = numbers::LinSpaced(5, T(0), T(4));
  const auto same = [&](const numbers& got, double exponent) {
    for (Eigen::Index i = 0; i < x.size(); ++i)
      if (got(i) != T(std::pow(double(x(i)), exponent))) return false;
    return true;
  };
  CHECK(same(x.pow(2), 2));
  CHECK(same(x.pow(1.5), 1.5));
  CHECK(same(pow(x, 0.5f), 0.5));
  CHECK(same(x.pow(T(1.5)), 1.5));
}
