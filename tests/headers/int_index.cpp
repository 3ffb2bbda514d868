// A program that has Eigen count in int compiles, and its narrow numbers give what its floats do.
#define EIGEN_DEFAULT_DENSE_INDEX_TYPE int
#include <cstdio>
#include <narrow/eigen.hpp>

namespace {

int failures = 0;
void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("not so: %s\n", what);
  ++failures;
}

/// Whole numbers below 8, of which sums of 40 products are exact.
template <class T> Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> matrix(int rows, int cols) {
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> x(rows, cols);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) x(i, j) = T((5 * i + 3 * j) % 8);
  return x;
}

}  // namespace

int main() {
  using narrow::fp16;
  const auto a = matrix<fp16>(33, 40), b = matrix<fp16>(40, 35);
  const Eigen::MatrixXf x = a.cast<float>(), y = b.cast<float>();
  expect(Eigen::MatrixXf(a * b) == x * y, "a product");
  expect(Eigen::MatrixXf((a + a.cwiseProduct(a)).cast<float>()) == x + x.cwiseProduct(x), "an expression");
  expect(Eigen::VectorXf(a.rowwise().sum()) == x.rowwise().sum(), "sums of rows");

  int row = 0, col = 0, row_of_float = 0, col_of_float = 0;
  const fp16 most = a.maxCoeff(&row, &col);
  expect(
      float(most) == x.maxCoeff(&row_of_float, &col_of_float) && row == row_of_float && col == col_of_float,
      "the largest coefficient and its place");

  Eigen::Matrix<narrow::bfp<8>, Eigen::Dynamic, Eigen::Dynamic> blocks = x + x;
  expect(Eigen::MatrixXf(blocks) == x + x, "a matrix in blocks");
  blocks.row(1) = blocks.row(2);
  expect(Eigen::MatrixXf(blocks).row(1) == (x + x).row(2), "a row of a matrix in blocks");
  expect(Eigen::MatrixXf(blocks.topRows(1) * b) == (x + x).topRows(1) * y, "a product of blocks");
  return failures;
}
