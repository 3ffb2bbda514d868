// Softmax of columns, rows and vectors, and its logarithm: each result is rounded from a number within the
// stated error of what long double gives, on every instruction set.
#include <cmath>
#include <limits>
#include <narrow/eigen.hpp>

#include "../policies.hpp"
#include "catch.hpp"
#include "every_isa.hpp"

namespace {

using namespace narrow;
using at = Eigen::Index;
template <class T, int Order = Eigen::ColMajor>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>;

/// Numbers between `middle` less and more half the `width`, or those of T next to them.
template <class M> M numbers(at rows, at cols, float middle, float width) {
  M x(rows, cols);
  std::uint32_t state = 7;
  for (at i = 0; i < rows; ++i)
    for (at j = 0; j < cols; ++j) {
      state = state * 1664525u + 1013904223u;
      const float share = static_cast<float>(state >> 8) / static_cast<float>(1 << 24);
      x(i, j) = static_cast<typename M::Scalar>(middle + width * (share - 0.5f));
    }
  return x;
}

struct shares {
  long double largest = -std::numeric_limits<long double>::infinity(), others = -1;

  template <class Line> explicit shares(const Line& x) {
    for (at i = 0; i < x.size(); ++i) largest = std::max(largest, static_cast<long double>(x(i)));
    for (at i = 0; i < x.size(); ++i) others += std::exp(static_cast<long double>(x(i)) - largest);
  }
  long double logarithm(long double x) const { return x - largest - std::log1p(others); }
};

template <class T> T rounded(long double x) { return static_cast<T>(static_cast<double>(x)); }
/// Whether `got` is rounded from a number that is off by no more than this.
template <class T> bool is_near(T got, long double exact, long double error) {
  return rounded<T>(exact - error) <= got && got <= rounded<T>(exact + error);
}

/// How many coefficients of a line are not as they should be.
template <class T, class Line, class Result>
at count_wrong(const Line& x, const Result& share, const Result& logarithm) {
  const shares right(x);
  const auto least = static_cast<long double>(std::numeric_limits<float>::denorm_min());
  at wrong = 0;
  for (at i = 0; i < x.size(); ++i) {
    const long double l = right.logarithm(static_cast<long double>(x(i))), s = std::exp(l);
    wrong += !is_near<T>(share(i), s, std::ldexp(s * (1 - l), -20) + least);
    wrong += !is_near<T>(logarithm(i), l, std::ldexp(-l, -20) + std::ldexp(1.0L, -50));
  }
  return wrong;
}

/// Columns and rows of x, the expression of which is `read`.
template <class M, class X> void check(const M& x, const X& read) {
  using T = typename M::Scalar;
  const matrix<long double> wide = x.template cast<float>().template cast<long double>();
  const auto of_columns = softmax(read.colwise()), log_of_columns = log_softmax(read.colwise());
  const auto of_rows = softmax(read.rowwise()), log_of_rows = log_softmax(read.rowwise());
  static_assert(std::same_as<typename decltype(of_columns)::Scalar, T>);
  REQUIRE((of_columns.rows() == x.rows() && log_of_rows.cols() == x.cols()));
  at wrong = 0;
  for (at j = 0; j < x.cols(); ++j)
    wrong += count_wrong<T>(wide.col(j), of_columns.col(j), log_of_columns.col(j));
  for (at i = 0; i < x.rows(); ++i) wrong += count_wrong<T>(wide.row(i), of_rows.row(i), log_of_rows.row(i));
  CHECK(wrong == 0);
}

template <class T, int Order> void check_shapes() {
  using M = matrix<T, Order>;
  const auto most = static_cast<float>(std::numeric_limits<T>::max());
  for (const auto& [rows, cols] : {std::pair<at, at>{1, 1}, {5, 3}, {16, 17}, {33, 70}, {150, 2}}) {
    INFO(rows << " x " << cols);
    const M x = numbers<M>(rows, cols, 0, 6), same = numbers<M>(rows, cols, 3, 0.01f),
            wide = numbers<M>(rows, cols, 0, std::min(200.0f, most)),
            large = numbers<M>(rows, cols, std::min(1e4f, most / 2), 40);
    for (const M& some : {x, same, wide, large}) check(some, some);
    const M larger = numbers<M>(2 * rows + 1, 2 * cols, 0, 4);
    const auto block = larger.block(1, cols, rows, cols);
    check(M(block), block);
    check(M(x.cwiseAbs()), x.array().abs());
    const matrix<T, Order == Eigen::RowMajor ? Eigen::ColMajor : Eigen::RowMajor> turned = x.transpose();
    check(M(turned.transpose()), turned.transpose());
  }
}

using formats = test::some_of<std::tuple<fp16, bf16, fp8_e4m3fn, fp8_e5m2fnuz, float>, 0, 2>;
using others = std::tuple<floating<5, 10, specials::ieee, rounding::toward_zero>,
                          floating<8, 7, specials::ieee, rounding::upward>, fixed<16, 8>, floating<8, 15>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("softmax of columns and rows is rounded from their shares", "[eigen][softmax]",
                        formats) {
  std::size_t sets = 0;
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    check_shapes<TestType, Eigen::ColMajor>();
    check_shapes<TestType, Eigen::RowMajor>();
    ++sets;
  });
  REQUIRE(sets == test::isa_count());
}

TEMPLATE_LIST_TEST_CASE("softmax is rounded by the policy of the type", "[eigen][softmax]", others) {
  const auto x = numbers<matrix<TestType>>(20, 9, 0, 6);
  check(x, x);
}

TEST_CASE("softmax of vectors, of expressions, in place", "[eigen][softmax]") {
  using column = Eigen::Matrix<bf16, Eigen::Dynamic, 1>;
  const column x = numbers<column>(100, 1, 0, 5);
  const Eigen::Array<bf16, 1, Eigen::Dynamic> row = x.transpose().array();
  const column right = softmax(x.colwise());
  CHECK(softmax(x) == right);
  CHECK((softmax(row).matrix().transpose() == right));
  CHECK((softmax(x.array().segment(0, 100)) == right.array()).all());
  // Not rounded to bf16 before: x / 3 as floats.
  const Eigen::VectorXf third = x.cast<float>() / 3.0f;
  CHECK(softmax(x / 3.0f) == column(softmax(third).cast<bf16>()));
  column in_place = x;
  in_place = softmax(in_place);
  CHECK(in_place == right);
  CHECK(softmax(column(0)).size() == 0);
  CHECK(log_softmax(matrix<fp16>(0, 3).colwise()).cols() == 3);
}

TEST_CASE("softmax of lines that are not finite", "[eigen][softmax]") {
  constexpr float infinity = std::numeric_limits<float>::infinity(),
                  nan = std::numeric_limits<float>::quiet_NaN();
  test::for_each_isa([&](const std::string& isa) {
    INFO(isa);
    for (const at length : {3, 40})
      for (const float special : {-infinity, infinity, nan}) {
        INFO(length << " with " << special);
        using M = matrix<fp16>;
        M x = M::Zero(length, 2);
        x(1, 0) = fp16(special);
        const bool is_nan = special != -infinity;
        const M of_columns = softmax(x.colwise()), of_rows = softmax(M(x.transpose()).rowwise());
        const M logarithms = log_softmax(x.colwise());
        CHECK(of_columns.col(1) == M::Constant(length, 1, fp16(1.0f / static_cast<float>(length))));
        CHECK(isnan(of_columns(0, 0)) == is_nan);
        CHECK(isnan(logarithms(0, 0)) == is_nan);
        if (!is_nan) {
          CHECK(of_columns(1, 0) == fp16(0));
          CHECK(logarithms(1, 0) == fp16(-infinity));
        }
        CHECK((of_rows.transpose().array().isNaN() == of_columns.array().isNaN()).all());
        const M nothing = softmax(M::Constant(length, 1, fp16(-infinity)).colwise());
        CHECK(nothing.array().isNaN().all());
      }
  });
}
