// A trainer of one's own, on ranges and without a matrix library: softmax regression. The weights are in
// block floating point with 8-bit mantissas and nowhere else (Drumond et al., 2018), the inputs in bf16, the
// gradients in fp16 under a dynamic loss scale (Micikevicius et al., 2018); products run on integers.
#include <narrow/narrow.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

using narrow::bf16, narrow::fp16, narrow::column_major, narrow::row_major;
using weight_format = narrow::bfp<8, narrow::per_tensor, narrow::rounding::stochastic>;

constexpr int classes = 10, features = 64, batch = 100;

/// Noisy copies of one pattern for each class, a sample a column, and what they are copies of.
struct samples {
  std::vector<bf16> x = std::vector<bf16>(features * batch);
  std::vector<std::size_t> labels = std::vector<std::size_t>(batch);

  void draw(const std::vector<float>& patterns, std::mt19937& random) {
    std::vector<float> values(x.size());
    std::normal_distribution<float> noise(0, 2);
    for (std::size_t n = 0; n < labels.size(); ++n) {
      labels[n] = random() % classes;
      for (std::size_t i = 0; i < features; ++i)
        values[n * features + i] = patterns[labels[n] * features + i] + noise(random);
    }
    narrow::convert(values, x);  // in bulk, rounded to nearest even
  }
};

struct classifier {
  narrow::block_tensor<weight_format> weights{classes, features};  // zeros
  narrow::loss_scaler scaler;
  std::vector<float> logits = std::vector<float>(classes * batch);

  /// The share of the samples that the network knows; `logits` then holds what it said.
  double forward(const samples& s) {
    narrow::gemm(weights, column_major(s.x, features, batch), column_major(logits, classes, batch));
    int right = 0;
    for (std::size_t n = 0; n < batch; ++n) {
      const float* said = logits.data() + n * classes;
      right += std::max_element(said, said + classes) == said + s.labels[n] ? 1 : 0;
    }
    return static_cast<double>(right) / batch;
  }

  void learn(const samples& s, float rate) {
    forward(s);
    // The loss is multiplied by the scale before anything is rounded to fp16.
    std::vector<float> dlogits(logits.size());
    for (std::size_t n = 0; n < batch; ++n) {
      float sum = 0;
      for (std::size_t c = 0; c < classes; ++c) sum += std::exp(logits[n * classes + c]);
      for (std::size_t c = 0; c < classes; ++c)
        dlogits[n * classes + c] =
            scaler.scale() / batch * (std::exp(logits[n * classes + c]) / sum - (s.labels[n] == c ? 1 : 0));
    }
    std::vector<fp16> dy(dlogits.size()), dw(features * classes);
    narrow::convert(dlogits, dy);

    // dW = dY X^T: both in blocks, one scale each; sums of integers, rounded once to fp16.
    const auto dy_blocks = narrow::quantize<weight_format>(column_major(dy, classes, batch));
    const auto x_blocks = narrow::quantize<weight_format>(column_major(s.x, features, batch));
    narrow::gemm(dy_blocks, narrow::transposed(x_blocks), row_major(dw, classes, features));

    std::vector<float> step(dw.size()), w(dw.size());
    if (scaler.unscale(dw, step, "weights")) {
      narrow::dequantize(weights, w);
      for (std::size_t i = 0; i < w.size(); ++i) w[i] -= rate * step[i];
      weights.assign(row_major(w, classes, features));
    }
    scaler.update();
  }
};

int main() {
  narrow::seed(1);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> patterns(classes * features);
  for (float& x : patterns) x = normal(random);

  classifier network;
  samples train, test;
  test.draw(patterns, random);
  const double before = network.forward(test);
  for (int step = 0; step < 300; ++step) {
    train.draw(patterns, random);
    network.learn(train, 0.1f);
  }
  const double after = network.forward(test);
  std::printf("right before %.2f, after %.2f; %td weights in %zu bytes, loss scale %g\n", before, after,
              network.weights.size(),
              network.weights.mantissas().size_bytes() + network.weights.scales().size_bytes(),
              double{network.scaler.scale()});
  return after > 0.9 ? 0 : 1;
}
