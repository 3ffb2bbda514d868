// Mixed precision added to a training loop: weights and gradients in fp16, an fp32 master copy that takes the
// updates, dynamic loss scaling, and the gradient statistics that tell whether it is needed (Micikevicius et
// al., 2018).
//
// The problem: linear regression Y ~ W X whose loss is weighted so low that its gradients lie below 2^-24,
// the smallest number of fp16. Without a loss scale nothing is learnt. The same loop in float stands before
// it.
#include <narrow/eigen.hpp>

#include <cstdio>
#include <iostream>

using Eigen::MatrixXf;
using narrow::fp16;
using MatrixH = Eigen::Matrix<fp16, Eigen::Dynamic, Eigen::Dynamic>;

constexpr float loss_weight = 0x1p-30f;

/// |W X - Y|^2 / |Y|^2 after training in float.
double train_in_float() {
  std::srand(5);
  const MatrixXf truth = MatrixXf::Random(4, 16);
  const MatrixXf X = MatrixXf::Random(16, 256);
  const MatrixXf Y = truth * X;

  MatrixXf W = MatrixXf::Zero(4, 16);
  for (int step = 0; step < 200; ++step) {
    const MatrixXf dLoss_dY = loss_weight * (W * X - Y);
    const MatrixXf dLoss_dW = dLoss_dY * X.transpose();
    W -= 1 / (256 * loss_weight) * dLoss_dW;
  }
  return (W * X - Y).squaredNorm() / Y.squaredNorm();
}

struct result {
  double error;  // |W X - Y|^2 / |Y|^2
  narrow::exponent_histogram gradients;
};

result train(narrow::loss_scaler scaler) {
  std::srand(5);
  const MatrixXf truth = MatrixXf::Random(4, 16);
  const MatrixH X = MatrixH::Random(16, 256);
  const MatrixH Y = truth * X;

  result outcome;
  MatrixXf master = MatrixXf::Zero(4, 16), gradient;
  MatrixH W = master;
  for (int step = 0; step < 200; ++step) {
    const MatrixH dLoss_dY =
        scaler.scale() * loss_weight * (W * X - Y);  // scaled before it is rounded to fp16
    const MatrixH dLoss_dW = dLoss_dY * X.transpose();
    outcome.gradients.add(dLoss_dW);
    if (scaler.unscale(dLoss_dW, gradient, "W")) {
      master -= 1 / (256 * loss_weight) * gradient;
      W = master;
    }
    scaler.update();
  }
  const MatrixXf residual = W * X - Y;
  outcome.error = residual.squaredNorm() / narrow::sum(Y.cwiseAbs2());
  return outcome;
}

int main() {
  const result unscaled = train(narrow::static_scale(1)), dynamic = train(narrow::loss_scaler());
  std::printf("error in float %.2g, in fp16 without a loss scale %.2g, with a dynamic one %.2g\n",
              train_in_float(), unscaled.error, dynamic.error);
  std::printf("gradients of the scaled run:\n");
  dynamic.gradients.print<fp16>(std::cout);
  return unscaled.error > 0.9 && dynamic.error < 1e-4 ? 0 : 1;
}
