#include <narrow/eigen.hpp>

#include <iostream>

int main() {
  using MatrixB = Eigen::Matrix<narrow::bf16, Eigen::Dynamic, Eigen::Dynamic>;
  const MatrixB weights = MatrixB::Random(1024, 1024);
  const auto W = narrow::prepacked(weights);  // a copy, which later changes of `weights` do not reach

  MatrixB X = MatrixB::Random(1024, 8), Y = MatrixB::Zero(1024, 8);
  for (int step = 0; step < 100; ++step) {
    Y = W * X;  // packs W the first time; the same bits as weights * X
    X.noalias() = W.transpose() * Y * 0.0007f;
  }
  std::cout << X.norm() << '\n';
}
