// Products of sparse matrices against sums of the same terms in double, which has all bits of them.
#include <narrow/eigen.hpp>

#include <Eigen/SparseCore>

#include "../samples.hpp"
#include "../tally.hpp"

using namespace test;
using namespace narrow;

namespace {

template <class T> using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T> using column = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T> using by_columns = Eigen::SparseMatrix<T>;
template <class T> using by_rows = Eigen::SparseMatrix<T, Eigen::RowMajor>;

/// Small multiples of 1/8, a part of them zero.
template <class X> X some_numbers(Eigen::Index rows, Eigen::Index cols, generator& random) {
  X x(rows, cols);
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < cols; ++j)
      x(i, j) = below(random, 3) == 0 ? 0.0f : (static_cast<float>(below(random, 61)) - 30) / 8;
  return x;
}

/// Whether each coefficient is the exact one, rounded once.
template <class X> bool is_rounded(const X& x, const matrix<double>& exact) {
  using T = typename X::Scalar;
  return x.rows() == exact.rows() && x.cols() == exact.cols() &&
         x.template cast<double>() == exact.template cast<T>().template cast<double>();
}

/// c + product and c - product, which are to be c + exact and c - exact, rounded once.
template <class T, class Product, class Check>
void check_added(const matrix<T>& c, const Product& product, const matrix<double>& exact,
                 const Check& check) {
  const matrix<double> wide = c.template cast<double>();
  matrix<T> sum = c;
  sum += product;
  check(sum, wide + exact, "added");
  matrix<T> difference = c;
  difference.noalias() -= product;
  check(difference, wide - exact, "subtracted");
}

}  // namespace

TEMPLATE_TEST_CASE("sparse times dense is summed wide and rounded once", "[eigen][sparse]", fp16,
                   (fixed<12, 6>)) {
  using T = TestType;
  generator random(5);
  tally count;
  struct sizes {
    int rows, depth, cols;
  };
  for (const sizes& n : {sizes{1, 1, 1}, {7, 40, 5}, {30, 3, 1}, {2, 200, 3}, {4, 0, 2}}) {
    const int rows = n.rows, depth = n.depth, cols = n.cols;
    const auto a = some_numbers<matrix<T>>(rows, depth, random),
               b = some_numbers<matrix<T>>(depth, cols, random),
               c = some_numbers<matrix<T>>(rows, cols, random);
    const matrix<double> wide_a = a.template cast<double>(), wide_b = b.template cast<double>(),
                         wide_c = c.template cast<double>(), exact = wide_a * wide_b;
    const by_columns<T> a_columns = a.sparseView(), b_columns = b.sparseView();
    const by_rows<T> a_rows = a.sparseView();
    const auto check = [&](const auto& x, const matrix<double>& right, const char* what) {
      count.expect(is_rounded(x, right), [&] { return what + text(rows, depth, cols); });
    };
    check(matrix<T>(a_columns * b), exact, "by columns");
    check(matrix<T>(a_rows * b), exact, "by rows");
    check(matrix<T>(a * b_columns), exact, "on the right");
    check(matrix<T>(b_columns.transpose() * a.transpose()), exact.transpose(), "transposed");
    check(matrix<T>(2 * a_rows * b), 2 * exact, "with a factor");
    const T factor(0.3f);  // which times a coefficient would be rounded
    check(matrix<T>(factor * (a_rows * b)), static_cast<double>(factor) * exact,
          "with a factor that is no power of 2");
    check(matrix<T>(a * (-factor * b_columns)), static_cast<double>(-factor) * exact,
          "with that of the right one");
    by_columns<T> loose = a_columns;
    loose.uncompress();
    loose.reserve(Eigen::VectorXi::Constant(depth, 3));
    check(matrix<T>(loose * b), exact, "with gaps between its columns");
    if (depth > 2)
      check(matrix<T>(a_columns.middleCols(1, depth - 2) * b.middleRows(1, depth - 2)),
            wide_a.middleCols(1, depth - 2) * wide_b.middleRows(1, depth - 2), "of some columns");
    check(matrix<T>(a_rows * (b * 2)), 2 * exact, "with a factor of the dense one");
    check(matrix<float>(a_rows * b), exact, "into float");
    check(column<T>(a_columns * b.col(0)), exact.col(0), "with a vector");
    Eigen::Matrix<T, 1, Eigen::Dynamic> row = a.row(0) * b_columns;
    check(row, exact.row(0), "of a row");
    check_added(c, a_columns * b, exact, check);
    check_added(c, a_rows * b, exact, check);
    check(matrix<T>(c + a_columns * b), wide_c + exact, "in a sum");
    check(matrix<T>((a_columns * b).cwiseAbs()), exact.cwiseAbs(), "in an expression");
    if (rows == cols || depth == cols) {
      matrix<T> own = b;  // takes the product's shape and is read for it
      own = a_columns * own;
      check(own, exact, "of itself");
    }
  }
  count.require(5 * 18 + 3 + 1);
}

TEMPLATE_TEST_CASE("triangular and self-adjoint views of sparse matrices are summed wide", "[eigen][sparse]",
                   fp16, (fixed<12, 6>)) {
  using T = TestType;
  generator random(8);
  tally count;
  for (const int n : {1, 9, 40}) {
    const auto a = some_numbers<matrix<T>>(n, n, random), b = some_numbers<matrix<T>>(n, 4, random);
    const matrix<double> wide_a = a.template cast<double>(), wide_b = b.template cast<double>();
    const auto check = [&](const auto& x, const matrix<double>& right, const char* what) {
      count.expect(is_rounded(x, right), [&] { return what + text(n); });
    };
    const auto multiply = [&](const auto& view, const matrix<double>& values) {
      const matrix<double> exact = values * wide_b, exact_right = wide_b.transpose() * values;
      check(matrix<T>(view * b), exact, "on the left");
      check(matrix<T>(b.transpose() * view), exact_right, "on the right");
      check(matrix<float>(view * b), exact, "into float");
      check(column<T>(view * b.col(0)), exact.col(0), "times a vector");
      check_added(b, view * b, exact, check);
      matrix<T> own = b;
      own = view * own;
      check(own, exact, "of itself");
    };
    const auto of = [&]<unsigned Mode>(std::integral_constant<unsigned, Mode>, const auto& sparse) {
      const matrix<double> part = wide_a.template triangularView<Mode>();
      if constexpr (Mode == Eigen::Lower || Mode == Eigen::Upper)
        multiply(sparse.template selfadjointView<Mode>(),
                 matrix<double>(wide_a.template selfadjointView<Mode>()));
      multiply(sparse.template triangularView<Mode>(), part);
    };
    const auto of_all = [&](const auto& sparse) {
      of(std::integral_constant<unsigned, Eigen::Lower>{}, sparse);
      of(std::integral_constant<unsigned, Eigen::Upper>{}, sparse);
      of(std::integral_constant<unsigned, Eigen::StrictlyUpper>{}, sparse);
      of(std::integral_constant<unsigned, Eigen::UnitLower>{}, sparse);
    };
    of_all(by_columns<T>(a.sparseView()));
    of_all(by_rows<T>(a.sparseView()));
  }
  count.require(3 * 2 * 6 * 7);
}

TEST_CASE("sums beyond the narrow type's own reach", "[eigen][sparse]") {
  // 4096 ones in bfloat16 are 256, if each sum is rounded; 4096 halves of fixed<8, 4> saturate.
  const matrix<bf16> ones = matrix<bf16>::Ones(2, 4096);
  const by_columns<bf16> sparse = ones.sparseView();
  REQUIRE((sparse * ones.transpose())(1, 1) == 4096);
  REQUIRE((ones * sparse.transpose())(0, 1) == 4096);
  REQUIRE(by_columns<bf16>(sparse * sparse.transpose()).coeff(0, 1) == 4096);
  by_columns<bf16> square(4096, 4096);
  for (int j = 0; j < 4096; ++j) square.insert(4095, j) = 1;
  REQUIRE((square.triangularView<Eigen::Lower>() * ones.row(0).transpose())(4095) == 4096);
  REQUIRE((square.selfadjointView<Eigen::Lower>() * ones.row(0).transpose())(4095) == 4096);
  REQUIRE(matrix<bf16>(sparse * sparse.transpose())(1, 0) == 4096);
  using short_fixed = fixed<8, 4>;
  matrix<short_fixed> halves = matrix<short_fixed>::Constant(1, 4096, short_fixed(0.5));
  halves.rightCols(2047) *= -1;
  const by_rows<short_fixed> sparse_halves = halves.sparseView();
  const matrix<short_fixed> all = matrix<short_fixed>::Constant(4096, 1, short_fixed(0.5));
  REQUIRE((sparse_halves * all)(0, 0) == 0.5);
  REQUIRE((sparse_halves * matrix<float>::Constant(4096, 1, 0.5f))(0, 0) == 0.5f);
}

TEST_CASE("sparse times sparse is summed wide and rounded once", "[eigen][sparse]") {
  generator random(6);
  const auto a = some_numbers<matrix<fp16>>(9, 40, random), b = some_numbers<matrix<fp16>>(40, 6, random);
  const matrix<double> exact = a.cast<double>() * b.cast<double>();
  const by_columns<fp16> a_columns = a.sparseView(), b_columns = b.sparseView();
  const by_rows<fp16> a_rows = a.sparseView();
  REQUIRE(is_rounded(matrix<fp16>(by_columns<fp16>(a_columns * b_columns)), exact));
  REQUIRE(is_rounded(matrix<fp16>(by_rows<fp16>(a_rows * b_columns)), exact));
  matrix<fp16> dense = a_rows * b_columns;
  REQUIRE(is_rounded(dense, exact));
  dense -= a_rows * b_columns;
  REQUIRE(dense.isZero());
}
