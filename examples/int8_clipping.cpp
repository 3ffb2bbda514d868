// Two layers whose products are in int8, forward and backward, beside the same two in fp32. The gradient of
// each layer's outputs is clipped by how it is distributed (Zhao et al., "Distribution Adaptive INT8
// Quantization for Training CNNs", 2021); the weights take their updates in fp32.
//
// The problem: to learn what another network of this kind makes of random inputs.
#include <narrow/eigen.hpp>

#include <cmath>
#include <cstdio>

using Eigen::MatrixXf;
template <class Format> using Matrix = Eigen::Matrix<Format, Eigen::Dynamic, Eigen::Dynamic>;

struct float_layer {
  MatrixXf weights, inputs;

  MatrixXf forward(const MatrixXf& x) {
    inputs = x;
    return weights * x;
  }
  /// Updates the weights, and returns the gradient of the inputs.
  MatrixXf backward(const MatrixXf& gradient, float rate, unsigned) {
    const MatrixXf of_inputs = weights.transpose() * gradient;
    weights -= rate * (gradient * inputs.transpose());
    return of_inputs;
  }
};

struct int8_layer {
  MatrixXf weights;  // the fp32 copy that takes the updates
  Matrix<narrow::int8> rounded_weights, inputs;
  Matrix<narrow::basic_int8<narrow::per_row>> by_channel;  // a scale for each output
  Matrix<narrow::int8> by_tensor;
  narrow::adaptive_clip clip;

  MatrixXf forward(const MatrixXf& x) {
    rounded_weights = weights;
    inputs = x;
    return rounded_weights * inputs;  // int8 times int8, sums of integers
  }
  MatrixXf backward(const MatrixXf& gradient, float rate, unsigned step) {
    using narrow::rounding::stochastic;
    clip.observe(gradient);  // chooses a clipping value for each row
    by_channel.quantize(gradient, clip.clips(), stochastic(2 * step));
    by_tensor.quantize(gradient, clip.max_abs(), stochastic(2 * step + 1));
    weights -= rate * (by_channel * inputs.transpose());
    return rounded_weights.transpose() * by_tensor;
  }
};

/// Trains two layers, and returns |output - target| / |target| at the end.
template <class Layer> float train() {
  std::srand(3);
  constexpr int inputs = 16, hidden = 32, outputs = 4, batch = 128;
  const MatrixXf teacher_1 = MatrixXf::Random(hidden, inputs), teacher_2 = MatrixXf::Random(outputs, hidden);

  Layer first, second;
  first.weights.resize(hidden, inputs);
  second.weights.resize(outputs, hidden);
  narrow::truncated_normal(first.weights, inputs, 1, 2.0);
  narrow::truncated_normal(second.weights, hidden, 2, 2.0);
  float error = 0;
  for (unsigned step = 0; step < 2000; ++step) {
    const MatrixXf X = MatrixXf::Random(inputs, batch);
    const MatrixXf target = teacher_2 * (teacher_1 * X).cwiseMax(0);

    const MatrixXf sums = first.forward(X);
    const MatrixXf E = second.forward(sums.cwiseMax(0)) - target;
    error = E.norm() / target.norm();

    const float rate = 0.5f / batch * std::pow(0.999f, static_cast<float>(step));
    const MatrixXf of_hidden = second.backward(E, rate, 2 * step);
    first.backward((sums.array() > 0).select(of_hidden, 0), rate, 2 * step + 1);
  }
  return error;
}

int main() {
  const float in_fp32 = train<float_layer>(), in_int8 = train<int8_layer>();
  std::printf("error after training in fp32 %.3f, in int8 %.3f\n", double{in_fp32}, double{in_int8});
  return in_int8 < 0.15f ? 0 : 1;
}
