#include <narrow/eigen.hpp>

#include <iostream>

int main() {
  using Eigen::Dynamic, Eigen::MatrixXf, narrow::rounding::stochastic;
  const MatrixXf X = MatrixXf::Random(16, 256), T = MatrixXf::Random(4, 16) * X;

  MatrixXf master(4, 16);                    // the fp32 weights
  narrow::truncated_normal(master, 16, 42);  // 16 inputs, seed 42
  Eigen::Matrix<narrow::dynamic_fixed, Dynamic, Dynamic> W = master;
  Eigen::Matrix<narrow::basic_int8<narrow::per_row>, Dynamic, Dynamic> G;  // a scale for each channel
  Eigen::Matrix<narrow::int8, Dynamic, Dynamic> X8 = X;

  narrow::precision_switch formats({.min_lookback = 5, .max_lookback = 20});
  narrow::adaptive_clip clip;
  float error = 0, rate = 0.2f;
  for (unsigned step = 1; step <= 400; ++step, rate *= 0.98f) {
    const MatrixXf E = W.cast<float>() * X - T;
    error = E.norm() / T.norm();
    clip.observe(E);
    G.quantize(E, clip.clips(), stochastic(step));
    const MatrixXf dW = G * X8.transpose();  // int8 times int8
    W.format(formats.observe("W", master, dW, error));
    master -= rate / formats.layer("W").gradient_norm * dW;
    W.quantize(master, stochastic(step));
  }
  std::cout << "error " << error << ", weights in " << W.format() << " after " << formats.layer("W").switches
            << " switches\n";
  return error < 0.01f ? 0 : 1;
}
