#include <narrow/eigen.hpp>

#include <iostream>

int main() {
  using narrow::fp16;
  using MatrixH = Eigen::Matrix<fp16, Eigen::Dynamic, Eigen::Dynamic>;

  MatrixH A = MatrixH::Random(64, 4096), B = MatrixH::Random(4096, 8);  // 2 bytes a coefficient
  MatrixH C = 0.5f * A * B;                // summed in float, rounded to fp16 once
  Eigen::MatrixXf D(A * B);                // the same sums, not rounded at all
  C.array() = (C.array() * 3 + 1).max(0);  // computed in float, rounded once

  fp16 x = 0.1, y = x * x + 1;  // scalars behave as float does; + - * / sqrt fma are correctly rounded
  std::cout << y << ' ' << C.sum() << ' ' << narrow::mean(C) << '\n';
}
