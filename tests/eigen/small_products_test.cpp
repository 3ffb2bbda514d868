// Products of matrices of small sizes known at compile time: every coefficient is the sum of the products in
// ascending order, in float, rounded once; in every layout, on every instruction set, in any floating-point
// environment.
#include <bit>
#include <cmath>
#include <narrow/eigen.hpp>
#include <random>

#include "catch.hpp"
#include "coefficient_bits.hpp"
#include "every_isa.hpp"
#include "filled.hpp"
#include "float_control.hpp"
#include "policies.hpp"

namespace {

using test::bits_of;

using namespace narrow;
using at = Eigen::Index;

template <class M> M samples(std::mt19937& engine) {
  return test::filled<M>(
      [&] { return typename M::Scalar(static_cast<float>(static_cast<std::int32_t>(engine())) * 0x1p-30f); });
}

/// Eigen wants a row by rows and a column by columns.
template <class T, int Rows, int Cols, int Order>
using matrix = Eigen::Matrix<T, Rows, Cols,
                             Rows == 1 && Cols != 1 ? Eigen::RowMajor
                             : Cols == 1            ? Eigen::ColMajor
                                                    : Order>;

/// alpha A B + beta C at (i, j), before it is rounded.
template <class A, class B, class C>
float right(const A& a, const B& b, const C& c, at i, at j, float alpha, float beta) {
  float sum = 0;
  for (at p = 0; p < a.cols(); ++p)
    sum = std::fma(static_cast<float>(a(i, p)), static_cast<float>(b(p, j)), sum);
  volatile float value = alpha * sum;  // two roundings, whatever the flags
  if (beta != 0) {
    volatile float old = beta * static_cast<float>(c(i, j));
    value = old + value;
  }
  return value;
}

template <class C, class A, class B> at check(const test::environment& in) {
  std::mt19937 engine(
      static_cast<unsigned>(A::RowsAtCompileTime * 64 + A::ColsAtCompileTime * 8 + B::ColsAtCompileTime));
  const A a = samples<A>(engine);
  const B b = samples<B>(engine);
  const C c = samples<C>(engine);
  at checked = 0;
  const auto expect = [&](const char* form, const C& got, float alpha, float beta) {
    at different = 0;
    for (at j = 0; j < c.cols(); ++j)
      for (at i = 0; i < c.rows(); ++i)
        different +=
            bits_of(got(i, j)) != bits_of(static_cast<typename C::Scalar>(right(a, b, c, i, j, alpha, beta)));
    INFO(form << ", " << a.rows() << " x " << a.cols() << " x " << b.cols() << ", by rows: " << A::IsRowMajor
              << B::IsRowMajor << C::IsRowMajor);
    CHECK(different == 0);
    checked += c.size();
  };
  C got = c;
  in.run([&] { got = a * b; });
  expect("=", got, 1, 0);
  got = c;
  in.run([&] { got.noalias() += a * b; });
  expect("+=", got, 1, 1);
  got = c;
  in.run([&] { got.noalias() -= (0.3f * a) * b; });
  expect("-= 0.3", got, -0.3f, 1);
  if constexpr (A::RowsAtCompileTime == A::ColsAtCompileTime && std::same_as<C, B>) {
    C square = b;
    in.run([&] { square = a * square; });
    expect("= over an operand", square, 1, 0);
  }
  // The same from transposes, each of which lies in the other order.
  const Eigen::Transpose<const B> bt(b);
  const Eigen::Transpose<const A> at_(a);
  typename Eigen::Matrix<typename C::Scalar, C::ColsAtCompileTime, C::RowsAtCompileTime,
                         C::ColsAtCompileTime == 1 && C::RowsAtCompileTime != 1 ? Eigen::RowMajor
                                                                                : Eigen::ColMajor>
      turned;
  in.run([&] { turned = bt * at_; });
  at different = 0;
  for (at j = 0; j < c.cols(); ++j)
    for (at i = 0; i < c.rows(); ++i)
      different +=
          bits_of(turned(j, i)) != bits_of(static_cast<typename C::Scalar>(right(a, b, c, i, j, 1, 0)));
  CHECK(different == 0);
  return checked;
}

template <class T, class To, int Rows, int Depth, int Cols> at check_orders(const test::environment& in) {
  constexpr int col = Eigen::ColMajor, row = Eigen::RowMajor;
  return check<matrix<To, Rows, Cols, col>, matrix<T, Rows, Depth, col>, matrix<T, Depth, Cols, col>>(in) +
         check<matrix<To, Rows, Cols, row>, matrix<T, Rows, Depth, col>, matrix<T, Depth, Cols, row>>(in) +
         check<matrix<To, Rows, Cols, col>, matrix<T, Rows, Depth, row>, matrix<T, Depth, Cols, col>>(in) +
         check<matrix<To, Rows, Cols, row>, matrix<T, Rows, Depth, row>, matrix<T, Depth, Cols, row>>(in);
}

template <class To, int Rows, int Depth, int Cols> struct sized {
  template <class T> using result = std::conditional_t<std::is_void_v<To>, T, To>;
  template <class T> static at check(const test::environment& in) {
    return check_orders<T, result<T>, Rows, Depth, Cols>(in);
  }
};
using products_of_sizes = test::some_of<
    std::tuple<sized<void, 1, 1, 1>, sized<void, 1, 3, 1>, sized<void, 3, 1, 3>, sized<void, 2, 4, 2>,
               sized<void, 3, 3, 3>, sized<void, 4, 4, 1>, sized<void, 1, 4, 4>, sized<float, 4, 4, 4>,
               sized<void, 5, 7, 6>, sized<void, 8, 8, 8>>,
    1, 2, 4, 5, 6, 7, 8, 9>;

template <class T> at check_shapes(const test::environment& in = {}) {
  at checked = 0;
  test::for_each_type<products_of_sizes>([&]<class Product>() { checked += Product::template check<T>(in); });
  return checked;
}

using formats = test::some_of<std::tuple<fp16, bf16, fp8_e4m3fn, fp8_e5m2, fp6_e3m2>, 0>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("small products are sums in ascending order, rounded once", "[eigen][small]",
                        formats) {
  at checked = 0;
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    checked += check_shapes<TestType>();
  });
  REQUIRE(checked >= at(test::isa_count()) * 1600);
}

TEST_CASE("small products do not depend on the floating-point environment", "[eigen][small]") {
  test::for_each_environment([](const test::environment& in) {
    INFO(in);
    check_orders<bf16, bf16, 4, 4, 4>(in);
    CHECK(in.is_kept());
  });
}

TEST_CASE("small products of numbers at the ends of the range", "[eigen][small]") {
  // Sums and products that are subnormal in float, infinite ones, and NaN.
  Eigen::Matrix<bf16, 2, 2> a, b, c;
  a << bf16(0x1p-130f), bf16(0x1p-100f), bf16(0x1p127f), bf16(1.f);
  b << bf16(0x1p3f), bf16(0x1p127f), bf16(0x1p-30f), bf16(0x1p127f);
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    c = a * b;
    CHECK(c(0, 0) == bf16(0x1p-127f + 0x1p-130f));
    CHECK(c(0, 1) == bf16(0x1p27f));
    CHECK(c(1, 0) == bf16(std::numeric_limits<float>::infinity()));
    CHECK(c(1, 1) == bf16(std::numeric_limits<float>::infinity()));
    const Eigen::Matrix<bf16, 2, 1> d = a * Eigen::Matrix<bf16, 2, 1>(bf16(0x1p127f), -bf16(0x1p127f));
    CHECK(isinf(d(1)));
    const Eigen::Matrix<bf16, 1, 1> e =
        (c.row(1) - c.row(1)) * Eigen::Matrix<bf16, 2, 1>(bf16(1.f), bf16(1.f));
    CHECK(isnan(e(0)));
  });
}
