// Mismatched shapes end in eigen_assert, here an exception, as in Eigen's own code; NaN and infinity
// propagate.
#include <stdexcept>
#define eigen_assert(condition)                                            \
  do {                                                                     \
    if (!(condition)) throw std::logic_error("eigen_assert: " #condition); \
  } while (false)
#undef NDEBUG
#include <narrow/eigen.hpp>

#include "catch.hpp"

namespace {
using narrow::fp16;
using matrix = Eigen::Matrix<fp16, Eigen::Dynamic, Eigen::Dynamic>;
using vector = Eigen::Matrix<fp16, Eigen::Dynamic, 1>;
}  // namespace

TEST_CASE("shapes that do not match are asserted", "[eigen][errors]") {
  const matrix a = matrix::Ones(2, 3), b = matrix::Ones(4, 5);
  matrix c = matrix::Ones(2, 2);
  CHECK_THROWS_AS(c = a * b, std::logic_error);
  CHECK_THROWS_AS(c.noalias() += a * a.transpose() * b, std::logic_error);
  CHECK_THROWS_AS(c += a * matrix::Ones(3, 7), std::logic_error);
  CHECK_THROWS_AS(c.noalias() -= a * matrix::Ones(3, 7), std::logic_error);
  CHECK_THROWS_AS(c.block(0, 0, 1, 1) = a * matrix::Ones(3, 2), std::logic_error);
  CHECK_THROWS_AS(vector(vector::Ones(3)).dot(vector::Ones(4)), std::logic_error);
  CHECK_THROWS_AS(narrow::dot(vector::Ones(3), vector::Ones(4)), std::logic_error);
  CHECK((c.array() == 1).all());
}

TEST_CASE("empty products", "[eigen][errors]") {
  const matrix none(2, 0), nothing(0, 3);
  const matrix zero = none * nothing;
  CHECK(zero.rows() == 2);
  CHECK(zero.cols() == 3);
  CHECK((zero.array() == 0).all());
  matrix c = matrix::Ones(2, 3);
  c.noalias() += none * nothing;
  CHECK((c.array() == 1).all());
  c = nothing * matrix::Ones(3, 2);
  CHECK(c.size() == 0);
  CHECK(vector().sum() == 0);
  CHECK(narrow::sum(vector()) == 0);
}

TEST_CASE("NaN and infinity propagate through products from every place", "[eigen][special]") {
  const fp16 inf = std::numeric_limits<fp16>::infinity(), nan = std::numeric_limits<fp16>::quiet_NaN();
  int cases = 0, wrong = 0;
  for (int k = 1; k <= 9; ++k)
    for (int at = 0; at < k; ++at)
      for (int row = 0; row < 3; ++row) {
        matrix a = matrix::Ones(3, k), b = matrix::Ones(k, 5);
        a(row, at) = inf;
        const matrix c = a * b;
        a(row, at) = nan;
        const matrix d = a * b;
        b(at, 2) = 0;
        a(row, at) = inf;
        const matrix e = a * b;  // inf * 0
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 5; ++j) {
            ++cases;
            const bool touched = i == row;
            wrong += isinf(c(i, j)) != touched || isnan(d(i, j)) != touched ||
                     isnan(e(i, j)) != (touched && j == 2);
          }
      }
  CHECK(wrong == 0);
  CHECK(cases == 45 * 45);
}
