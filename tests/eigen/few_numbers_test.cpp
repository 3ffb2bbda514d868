// Expressions of matrices of small sizes known at compile time, with products, identities, rows, transposes
// and the destination itself in them: every coefficient is computed in float, operation by operation, and
// rounded once, as the loops of this test do; on every instruction set, in any floating-point environment.
#include <cmath>
#include <narrow/eigen.hpp>
#include <random>

#include "catch.hpp"
#include "coefficient_bits.hpp"
#include "compared.hpp"
#include "every_isa.hpp"
#include "exhaustive.hpp"
#include "filled.hpp"
#include "float_control.hpp"
#include "shape.hpp"

namespace {

using namespace narrow;
using at = Eigen::Index;
using test::environment;
using test::same;

template <class M> M samples(unsigned seed) {
  std::mt19937 engine(seed);
  return test::filled<M>(
      [&] { return typename M::Scalar(static_cast<float>(static_cast<std::int32_t>(engine())) * 0x1p-30f); });
}

/// (A B)(i, j) in ascending order.
template <class A, class B> float product(const A& a, const B& b, at i, at j) {
  volatile float sum = 0;  // rounded after each product, in this order, whatever the flags
  for (at p = 0; p < a.cols(); ++p)
    sum = std::fma(static_cast<float>(a(i, p)), static_cast<float>(b(p, j)), sum);
  return sum;
}

struct counts {
  at compared = 0, different = 0;

  /// Whether got(i, j) is right(i, j) rounded to its format.
  template <class M, class Right> void compare(const M& got, const Right& right) {
    for (at j = 0; j < got.cols(); ++j)
      for (at i = 0; i < got.rows(); ++i, ++compared)
        different += !same(got(i, j), typename M::Scalar(right(i, j)));
  }
};

/// So many rows and columns, in this order; Eigen wants a row by rows and a column by columns.
template <class T, int Rows, int Cols, int Order>
using matrix = Eigen::Matrix<T, Rows, Cols,
                             Rows == 1 && Cols != 1 ? Eigen::RowMajor
                             : Cols == 1            ? Eigen::ColMajor
                                                    : Order>;

constexpr unsigned inner_products = 50;

template <class T, int Rows, int Cols, int Order> counts check(const environment& in) {
  using M = matrix<T, Rows, Cols, Order>;
  using square = matrix<T, Rows, Rows, Order>;
  using vector = Eigen::Matrix<T, Cols, 1>;
  const M a = samples<M>(1), b = samples<M>(2);
  const square s = samples<square>(3);
  const vector v = samples<vector>(4);
  const matrix<T, Cols, Rows, Order> t = samples<matrix<T, Cols, Rows, Order>>(5);
  const auto f = [](const auto& x) { return static_cast<float>(x); };
  M got = a;
  counts result;

  in.run([&] { got = a - b; });
  result.compare(got, [&](at i, at j) { return f(a(i, j)) - f(b(i, j)); });
  in.run([&] { got = s * a + b; });
  result.compare(got, [&](at i, at j) { return product(s, a, i, j) + f(b(i, j)); });
  in.run([&] { got = b - s * a; });
  result.compare(got, [&](at i, at j) { return f(b(i, j)) - product(s, a, i, j); });
  in.run([&] { got = M::Identity() - a; });
  result.compare(got, [&](at i, at j) { return (i == j ? 1.0f : 0.0f) - f(a(i, j)); });
  in.run([&] { got = a + t.transpose(); });
  result.compare(got, [&](at i, at j) { return f(a(i, j)) + f(t(j, i)); });
  got = a;
  in.run([&] { got += b.cwiseProduct(t.transpose()); });
  result.compare(got, [&](at i, at j) {
    volatile const float product = f(b(i, j)) * f(t(j, i));  // rounded, whatever the flags
    return f(a(i, j)) + product;
  });
  in.run([&] { got = a.cwiseMax(b).cwiseAbs(); });
  result.compare(got, [&](at i, at j) { return std::abs(std::max(f(a(i, j)), f(b(i, j)))); });

  // Rows times columns, as numbers that are not rounded: another order of additions shows in one of ten.
  for (unsigned i = 0; i < inner_products; ++i) {
    const vector column = samples<vector>(6 + i);
    Eigen::Matrix<float, 1, 1> one;
    in.run([&] { one(0) = static_cast<float>(b.row(0) * column); });
    result.compare(one, [&](at, at) { return product(b, column, 0, 0); });
  }

  // Destinations that are part of a matrix.
  got = a;
  in.run([&] { got.row(Rows - 1) = b.row(0) - v.transpose(); });
  result.compare(got, [&](at i, at j) { return i == Rows - 1 ? f(b(0, j)) - f(v(j)) : f(a(i, j)); });
  got = a;
  in.run([&] { got.transpose() -= t; });
  result.compare(got, [&](at i, at j) { return f(a(i, j)) - f(t(j, i)); });
  got = a;
  in.run([&] { got = s * got + got; });
  result.compare(got, [&](at i, at j) { return product(s, a, i, j) + f(a(i, j)); });

  // A float destination is not rounded.
  matrix<float, Rows, Cols, Order> wide;
  in.run([&] { wide = (s * a - b).template cast<float>(); });
  result.compare(wide, [&](at i, at j) { return product(s, a, i, j) - f(b(i, j)); });

  // A destination that changes its size after it was read.
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> resized = s;
  in.run([&] { resized = (resized * a + b).eval(); });
  result.compare(resized, [&](at i, at j) { return product(s, a, i, j) + f(b(i, j)); });
  resized = s;
  in.run([&] { resized = resized * a + b; });
  result.compare(resized, [&](at i, at j) { return product(s, a, i, j) + f(b(i, j)); });
  return result;
}

using test::shape;
using shapes =
    test::some_of<std::tuple<shape<1, 1>, shape<4, 4>, shape<3, 5>, shape<2, 2>, shape<3, 3>, shape<8, 8>>, 0,
                  1, 2>;

template <class T> counts check_shapes() {
  counts total;
  const auto add = [&](const counts& some) {
    total.compared += some.compared;
    total.different += some.different;
  };
  test::for_each_shape<shapes>([&]<int Rows, int Cols>() {
    add(check<T, Rows, Cols, Eigen::ColMajor>({}));
    add(check<T, Rows, Cols, Eigen::RowMajor>({}));
  });
  return total;
}

using formats = test::some_of<std::tuple<fp16, bf16, fp8_e4m3fn, fp8_e5m2, fp6_e3m2>, 0>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("expressions of few numbers are computed in float and rounded once", "[eigen][small]",
                        formats) {
  const at compared =
      test::compared_on_every_isa([](const std::string&) { return check_shapes<TestType>(); });
  REQUIRE(compared == at(test::isa_count()) * 2 *
                          (13 * test::size_of_all<shapes> + inner_products * at(std::tuple_size_v<shapes>)));
}

TEST_CASE("expressions of few numbers do not depend on the floating-point environment", "[eigen][small]") {
  test::for_each_environment([](const environment& in) {
    INFO(in);
    const counts all = check<bf16, 4, 4, Eigen::ColMajor>(in);
    CHECK(all.different == 0);
    CHECK(in.is_kept());
  });
}

TEST_CASE("sums of few numbers", "[eigen][small]") {
  // Whole numbers, whose sums are exact in any order.
  Eigen::Matrix<fp16, 3, 3> m;
  m << fp16(1.f), fp16(-2.f), fp16(3.f), fp16(4.f), fp16(5.f), fp16(-6.f), fp16(7.f), fp16(8.f), fp16(9.f);
  const Eigen::Matrix<fp16, 3, 1> v(fp16(3.f), fp16(-4.f), fp16(12.f));
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    CHECK(m.sum() == fp16(29.f));
    CHECK(m.row(1).sum() == fp16(3.f));
    CHECK(m.col(2).sum() == fp16(6.f));
    CHECK(m.row(0).dot(v) == fp16(47.f));
    CHECK(v.squaredNorm() == fp16(169.f));
    CHECK(v.norm() == fp16(13.f));
    CHECK((m.col(0) - v).squaredNorm() == fp16(4.f + 64 + 25));
    CHECK((m * v).sum() == fp16(47.f - 80 + 97));
    CHECK((m.transpose() * m - m).sum() == fp16(589.f - 29));
  });
}
