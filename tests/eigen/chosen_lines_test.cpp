// Columns and rows that are chosen by their numbers, or turned about, keep their codes: of matrices in both
// orders, of parts of them, and where they are computed with.
#include <narrow/eigen.hpp>
#include <vector>

#include "any_codes.hpp"
#include "catch.hpp"
#include "coefficient_bits.hpp"

namespace {

using namespace narrow;
using at = Eigen::Index;

template <class T, int Order> class chosen_check {
  using matrix = test::matrix_in_order<T, Order>;

 public:
  at run(at rows, at cols) {
    const matrix whole = test::any_codes<T, Order>(rows + 3, cols + 2, 1);
    const auto part = whole.block(1, 1, rows, cols);
    const matrix a = part;
    std::vector<at> chosen_cols, chosen_rows;
    for (at k = 0; k < 2 * cols + 1; ++k) chosen_cols.push_back(k * 5 % cols);
    for (at k = 0; k < rows / 2 + 1; ++k) chosen_rows.push_back(k * 7 % rows);
    const auto col = [&](at j) { return chosen_cols[static_cast<std::size_t>(j)]; };
    const auto row = [&](at i) { return chosen_rows[static_cast<std::size_t>(i)]; };

    same("columns", a(Eigen::all, chosen_cols), [&](at i, at j) { return a(i, col(j)); });
    same("rows", a(chosen_rows, Eigen::all), [&](at i, at j) { return a(row(i), j); });
    same("columns of a part", part(Eigen::all, chosen_cols), [&](at i, at j) { return a(i, col(j)); });
    same("rows of a part", part(chosen_rows, Eigen::all), [&](at i, at j) { return a(row(i), j); });
    same("both", a(chosen_rows, chosen_cols), [&](at i, at j) { return a(row(i), col(j)); });
    same("every other column", a(Eigen::all, Eigen::seq(0, cols - 1, 2)),
         [&](at i, at j) { return a(i, 2 * j); });
    same("columns from the last", a.rowwise().reverse(), [&](at i, at j) { return a(i, cols - 1 - j); });
    same("rows from the last", a.colwise().reverse(), [&](at i, at j) { return a(rows - 1 - i, j); });
    same("both from the last", a.reverse(), [&](at i, at j) { return a(rows - 1 - i, cols - 1 - j); });
    same("columns of a part from the last", part.rowwise().reverse(),
         [&](at i, at j) { return a(i, cols - 1 - j); });

    matrix to = matrix::Zero(rows + 1, 2 * cols + 3);
    to.block(1, 2, rows, 2 * cols + 1) = a(Eigen::all, chosen_cols);
    same("into a part", to.block(1, 2, rows, 2 * cols + 1), [&](at i, at j) { return a(i, col(j)); });
    const T two(2);
    same("of which twice", two * a(Eigen::all, chosen_cols),
         [&](at i, at j) { return T(two * a(i, col(j))); });
    same("of which twice, from the last", two * a.rowwise().reverse(),
         [&](at i, at j) { return T(two * a(i, cols - 1 - j)); });
    return checked_;
  }

 private:
  template <class X, class Right> void same(const char* form, const X& x, const Right& right) {
    const matrix got = x;
    at different = 0;
    for (at i = 0; i < got.rows(); ++i)
      for (at j = 0; j < got.cols(); ++j) different += !test::same(got(i, j), right(i, j));
    INFO(form << ", " << got.rows() << " x " << got.cols());
    CHECK(different == 0);
    checked_ += got.size();
  }
  at checked_ = 0;
};

}  // namespace

TEMPLATE_TEST_CASE("chosen and turned lines keep their codes", "[eigen][lines]", fp16, bf16, fp8_e4m3fn,
                   (floating<8, 16>)) {
  at checked = 0;
  for (const auto& [rows, cols] : {std::pair<at, at>{1, 1}, {2, 3}, {9, 12}, {40, 33}, {3, 70}, {70, 3}}) {
    checked += chosen_check<TestType, Eigen::ColMajor>().run(rows, cols);
    checked += chosen_check<TestType, Eigen::RowMajor>().run(rows, cols);
  }
  REQUIRE(checked >= 50'000);
}
