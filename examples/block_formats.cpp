#include <narrow/eigen.hpp>

#include <iostream>

int main() {
  using Eigen::MatrixXf;
  using W8 = Eigen::Matrix<narrow::bfp<8>, Eigen::Dynamic, Eigen::Dynamic>;

  W8 W = MatrixXf::Random(64, 256);  // 64 * 256 bytes and one scale
  W.row(3).setZero();                // a part is rounded into the present scale,
  W(0, 0) = 2;                       // which grows where something does not fit

  const MatrixXf X = MatrixXf::Random(256, 32), T = MatrixXf::Random(64, 32);
  for (int step = 0; step < 100; ++step) {
    MatrixXf E = W * X - T;            // X quantised, a scale for each column; integer products
    W -= 0.01f * (E * X.transpose());  // computed in float, quantised once
  }
  std::cout << (W * X - T).norm() / T.norm() << ", scale " << W.scales()[0] << '\n';
}
