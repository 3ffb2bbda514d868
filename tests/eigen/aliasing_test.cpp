// A destination that shares memory with the operands gets what it would get from copies of them.
#include <narrow/eigen.hpp>
#include <string>
#include <tuple>

#include "catch.hpp"

namespace {

template <class S> using matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
template <class S> using vector = Eigen::Matrix<S, Eigen::Dynamic, 1>;

using formats = std::tuple<narrow::fp16, narrow::fixed<16, 8>>;

/// Small multiples of 1/8, so that every sum is exact and the order of additions cannot tell.
template <class S> matrix<S> sample(Eigen::Index rows, Eigen::Index cols) {
  matrix<S> m(rows, cols);
  for (Eigen::Index j = 0; j < cols; ++j)
    for (Eigen::Index i = 0; i < rows; ++i)
      m(i, j) = S(static_cast<double>((7 * i + 5 * j + i * j) % 17 - 8) / 8);
  return m;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("products may be stored over their operands", "[eigen][product]", formats) {
  using S = TestType;
  const matrix<S> square = sample<S>(6, 6), wide = sample<S>(6, 9);
  matrix<S> a;
  int cases = 0;
  const auto same = [&](const matrix<S>& expected) {
    ++cases;
    CHECK(a == expected);
  };
  const matrix<S> copy = square, wide_copy = wide;
  matrix<S> expected(6, 6);

  expected.noalias() = square * copy;
  a = square, a = a * a, same(expected);
  a = square, a.noalias() = square * a, same(expected);
  expected.noalias() = square * wide;
  a = square, a = a * wide, same(expected);  // a grows
  a = wide, a = square * a, same(expected);
  expected.noalias() = wide_copy.transpose() * wide;
  a = wide, a = a.transpose() * a, same(expected);
  // a takes another shape, which its transpose then has, too
  const matrix<S> other = sample<S>(6, 4), tall = sample<S>(9, 4);
  expected.noalias() = wide_copy.transpose() * other;
  a = wide, a = a.transpose() * other, same(expected);
  a = wide, a = (0.5 * a.transpose()) * (2 * other), same(expected);
  a = wide, a = a.transpose().lazyProduct(other), same(expected);
  a = other, a = wide.transpose() * a, same(expected);
  expected.noalias() = tall.transpose() * wide_copy.transpose();
  a = tall, a = a.transpose() * wide.transpose(), same(expected);
  a = wide, a = tall.transpose() * a.transpose(), same(expected);
  expected.noalias() = wide_copy * wide.transpose();
  a = wide, a = a * a.transpose(), same(expected);
  expected.noalias() = wide_copy.middleCols(2, 3).transpose() * other;
  a = wide, a = a.middleCols(2, 3).transpose() * other, same(expected);
  expected.noalias() = wide_copy.row(1).transpose() * wide_copy.col(2).transpose();
  a = wide, a = a.row(1).transpose() * a.col(2).transpose(), same(expected);
  expected = square;
  expected.noalias() += square * copy;
  a = square, a += a * a, same(expected);
  a = square, a += a * copy, same(expected);
  expected = square;
  expected.noalias() -= 0.5 * square * copy;
  a = square, a -= 0.5 * (a * a), same(expected);
  const matrix<S> product = square * copy;
  expected = wide.leftCols(6) + product;
  a = square, a = wide.leftCols(6) + a * a, same(expected);
  expected = product - square;
  a = square, a = a * a - a, same(expected);
  expected = product.transpose();
  a = square, a = (a * a).transpose(), same(expected);

  a = wide;  // blocks of one matrix
  a.block(0, 0, 3, 3) = a.block(0, 3, 3, 3) * a.block(0, 6, 3, 3);
  expected = wide;
  const matrix<S> left = wide.block(0, 3, 3, 3), right = wide.block(0, 6, 3, 3);
  expected.block(0, 0, 3, 3).noalias() = left * right;
  same(expected);
  a = wide;  // overlapping
  a.block(1, 1, 4, 4) += a.block(0, 0, 4, 4) * a.block(2, 2, 4, 4);
  expected = wide;
  const matrix<S> first = wide.block(0, 0, 4, 4), second = wide.block(2, 2, 4, 4);
  expected.block(1, 1, 4, 4).noalias() += first * second;
  same(expected);
  a = square;
  a.row(0) = a.row(1) * a;
  expected = square;
  const matrix<S> line = square.row(1) * copy;
  expected.row(0) = line;
  same(expected);

  vector<S> v = square.col(0);
  const vector<S> v_copy = v, expected_v = square * v_copy;
  v = square * v;
  CHECK(v == expected_v);
  const vector<S> longer = wide.transpose() * expected_v;
  v = wide.transpose() * v;  // v grows
  CHECK(v == longer);
  CHECK(cases == 23);
}
