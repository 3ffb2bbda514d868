// The layers of the example trainer against finite differences and their definitions.
#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

#include "catch.hpp"
#include "layers/softmax.hpp"
#include "models/network.hpp"
#include "trainer_fixtures.hpp"
#include "training/mixed_precision.hpp"

using namespace narrow_train;

namespace {

/// Compares d/dx of loss() with `gradient`, entry by entry, by central differences of step h. Returns how
/// many entries were compared.
template <class Loss>
std::size_t check_gradient(const char* what, fp32_matrix& x, const fp32_matrix& gradient, float h,
                           const Loss& loss) {
  REQUIRE(gradient.rows() == x.rows());
  REQUIRE(gradient.cols() == x.cols());
  const double tolerance = 2e-3 * (1 + double{gradient.cwiseAbs().maxCoeff()});
  std::ostringstream mismatches;
  std::size_t compared = 0;
  for (Eigen::Index i = 0; i < x.size(); ++i, ++compared) {
    float& entry = x.data()[i];
    const float kept = entry;
    entry = kept + h;
    const double above = loss();
    const double width = double{entry};
    entry = kept - h;
    const double below = loss();
    const double numeric = (above - below) / (width - double{entry});
    entry = kept;
    if (mismatches.str().empty() && !(std::abs(numeric - double{gradient.data()[i]}) <= tolerance))
      mismatches << what << " entry " << i << ": " << gradient.data()[i] << ", by differences " << numeric;
  }
  CHECK(mismatches.str() == "");
  return compared;
}

/// Checks dLoss/dx and the gradients of all parameters, for Loss = sum of r * layer(x) with a random r.
std::size_t check_layer(layer<float>& l, fp32_matrix x, float h) {
  parameter_list<float> parameters;
  l.collect(parameters);
  for (auto* w : parameters.weights) w->value = spread(w->value.rows(), w->value.cols(), 0.01f, 11);
  for (auto* b : parameters.per_channel) b->value = spread(b->value.rows(), b->value.cols(), 0.1f, 12);

  const auto shape = l.forward(x);
  const fp32_matrix r = spread(shape.rows(), shape.cols(), 2 / static_cast<float>(shape.size()), 13);
  const auto loss = [&] { return l.forward(x).cast<double>().cwiseProduct(r.cast<double>()).sum(); };
  const fp32_matrix dx = l.backward(x, r, input_gradient::wanted);
  std::vector<fp32_matrix> gradients;
  for (const auto* w : parameters.weights) gradients.push_back(w->gradient);
  for (const auto* b : parameters.per_channel) gradients.push_back(b->gradient);

  std::size_t compared = check_gradient("x", x, dx, h, loss);
  auto gradient = gradients.begin();
  for (auto* w : parameters.weights) compared += check_gradient("weights", w->value, *gradient++, h, loss);
  for (auto* b : parameters.per_channel) compared += check_gradient("bias", b->value, *gradient++, h, loss);
  return compared;
}

}  // namespace

TEST_CASE("dense layer: gradients", "[train][layers]") {
  dense<float> l(7, 5, {});
  CHECK(check_layer(l, spread(7, 3, 0.05f, 1), 0.25f) == 7 * 3 + 7 * 5 + 5);
}

TEST_CASE("convolution: gradients, with and without padding", "[train][layers]") {
  const int padding = GENERATE(0, 1, 2);
  const window_grid grid{{5, 6, 2}, 3, padding};
  convolution<float> l(grid, 4, {});
  CHECK(l.output_shape() == image_shape{3 + 2 * padding, 4 + 2 * padding, 4});
  CHECK(check_layer(l, spread(5 * 6 * 2, 3, 0.01f, 2), 0.25f) == 60 * 3 + 4 * 18 + 4);
}

TEST_CASE("convolution: values, against the definition", "[train][layers]") {
  const image_shape image{4, 5, 2};
  const int kernel = 3, padding = 1, channels = 3;
  convolution<float> l({image, kernel, padding}, channels, {});
  parameter_list<float> parameters;
  l.collect(parameters);
  auto& w = parameters.weights.front()->value = spread(channels, kernel * kernel * 2, 0.01f, 3);
  auto& b = parameters.per_channel.front()->value = spread(channels, 1, 0.1f, 4);
  const fp32_matrix x = spread(image.size(), 2, 0.01f, 5);
  const fp32_matrix y = l.forward(x);
  float worst = 0;
  int compared = 0;
  for (int n = 0; n < 2; ++n)
    for (int row = 0; row < 4; ++row)
      for (int column = 0; column < 5; ++column)
        for (int out = 0; out < channels; ++out, ++compared) {
          float sum = b(out, 0);
          for (int i = 0; i < kernel; ++i)
            for (int j = 0; j < kernel; ++j)
              for (int in = 0; in < 2; ++in) {
                const int r = row + i - padding, c = column + j - padding;
                if (r >= 0 && r < 4 && c >= 0 && c < 5)
                  sum += w(out, (i * kernel + j) * 2 + in) * x((r * 5 + c) * 2 + in, n);
              }
          worst = std::max(worst, std::abs(sum - y((row * 5 + column) * channels + out, n)));
        }
  CHECK(compared == 2 * 4 * 5 * channels);
  CHECK(worst < 1e-5f);
}

TEST_CASE("max pooling: gradients and a dropped edge", "[train][layers]") {
  max_pool<float> l({5, 4, 3}, 2);
  CHECK(l.output_shape() == image_shape{2, 2, 3});
  CHECK(check_layer(l, spread(5 * 4 * 3, 2, 0.1f, 6), 0.03f) == 120);
}

TEST_CASE("max pooling: values, one gradient for equal ones, an odd column dropped", "[train][layers]") {
  max_pool<float> l({2, 5, 1}, 2);
  const fp32_matrix x{{-4}, {-3}, {7}, {7}, {99},  //
                      {-2}, {-9}, {7}, {1}, {99}};
  const fp32_matrix y = l.forward(x);
  REQUIRE(y.size() == 2);
  CHECK(y(0) == -2);
  CHECK(y(1) == 7);
  const fp32_matrix dx = l.backward(x, fp32_matrix{{5}, {6}}, input_gradient::wanted);
  CHECK(dx(5) == 5);
  CHECK(dx(2) == 6);
  CHECK(dx.sum() == 11);
}

TEST_CASE("max pooling: a NaN stays one, wherever in the window it is", "[train][layers]") {
  max_pool<float> l({2, 2, 1}, 2);
  int seen = 0;
  for (Eigen::Index place = 0; place < 4; ++place) {
    fp32_matrix x{{1}, {2}, {4}, {3}};
    x(place) = std::numeric_limits<float>::quiet_NaN();
    seen += std::isnan(l.forward(x)(0));
    CHECK(l.backward(x, fp32_matrix{{1}}, input_gradient::wanted)(place) == 1);
  }
  CHECK(seen == 4);
}

TEST_CASE("max pooling: values and gradients in every window, against the definition", "[train][layers]") {
  const auto compare = []<class S>(S, const image_shape& image, int window) {
    max_pool<S> l(image, window);
    const matrix<S> x = spread(image.size(), 9, 0.1f, 14).template cast<S>();
    const matrix<S> y = l.forward(x);
    const matrix<S> dy = spread(y.rows(), y.cols(), 0.1f, 15).template cast<S>();
    const matrix<S> dx = l.backward(x, dy, input_gradient::wanted);
    const auto [height, width, channels] = l.output_shape();
    Eigen::Index equal = 0;
    matrix<S> expected = matrix<S>::Zero(x.rows(), x.cols());
    for (Eigen::Index n = 0; n < x.cols(); ++n)
      for (int out = 0; out < y.rows(); ++out) {
        const int row = out / channels / width * window, column = out / channels % width * window;
        int best = -1;
        for (int tap = 0; tap < window * window; ++tap) {
          const int pixel = (row + tap / window) * image.width + column + tap % window;
          const int in = pixel * channels + out % channels;
          if (best < 0 || float{x(in, n)} > float{x(best, n)}) best = in;
        }
        equal += y(out, n) == x(best, n);
        expected(best, n) = dy(out, n);
      }
    CHECK(equal == Eigen::Index{height} * width * channels * 9);
    CHECK(dx == expected);
  };
  for (const image_shape& image : {image_shape{4, 6, 1}, {7, 5, 6}, {3, 11, 17}})
    for (const int window : {1, 2, 3}) {
      CAPTURE(image.width, image.channels, window);
      compare(0.0f, image, window);
      compare(narrow::fp16(0), image, window);
      compare(narrow::bf16(0), image, window);
    }
}

TEST_CASE("ReLU: gradients, and a NaN stays one", "[train][layers]") {
  relu<float> l;
  CHECK(check_layer(l, spread(9, 4, 0.1f, 7), 0.03f) == 36);
  CHECK(std::isnan(l.forward(fp32_matrix::Constant(1, 1, std::numeric_limits<float>::quiet_NaN()))(0, 0)));
}

TEST_CASE("softmax and cross-entropy: gradient, loss and count", "[train][layers]") {
  fp32_matrix logits = spread(10, 6, 0.1f, 8);
  const std::vector<std::uint8_t> labels{0, 9, 3, 3, 7, 5};
  classification<float> out;
  const auto loss = [&] {
    softmax_cross_entropy(logits, labels, 1, out);
    return double{out.loss};
  };
  double expected = 0;
  for (Eigen::Index n = 0; n < 6; ++n) {
    const Eigen::ArrayXd column = logits.col(n).cast<double>();
    expected += std::log(column.exp().sum()) - column(labels[static_cast<std::size_t>(n)]);
  }
  CHECK(loss() == Approx(expected / 6));
  const fp32_matrix gradient = out.gradient;
  CHECK(check_gradient("logits", logits, gradient, 0.05f, loss) == 60);

  softmax_cross_entropy(logits, labels, 1024, out);
  CHECK((out.gradient.array() == 1024 * gradient.array()).all());

  logits.setConstant(-1);
  logits(9, 1) = 1e4f;  // certain and right; the others tie, which goes to class 0
  CHECK(std::isfinite(loss()));
  CHECK(out.correct == 2);
}

TEST_CASE("a whole network: gradients of the loss by every weight", "[train][layers]") {
  const model small{
      "small", "", {convolution_spec{3, 3, 1}, relu_spec{}, max_pool_spec{2}, dense_spec{8}, relu_spec{}}};
  network<float> net(small, {6, 6, 1}, 4, {});
  auto parameters = net.parameters();
  std::uint64_t seed = 20;
  random_stream random(21, purpose::weights);
  for (auto* w : parameters.weights) w->value = he_normal(w->value.rows(), w->value.cols(), random);
  for (auto* b : parameters.per_channel) b->value = spread(b->value.rows(), 1, 0.05f, seed++);
  const fp32_matrix x = spread(36, 5, 0.01f, seed);
  const std::vector<std::uint8_t> labels{0, 3, 1, 2, 2};
  classification<float> out;
  const auto loss = [&] {
    softmax_cross_entropy(net.forward(x), labels, 1, out);
    return double{out.loss};
  };
  loss();
  net.backward(out.gradient);
  REQUIRE(parameters.weights.size() == 3);
  std::size_t compared = 0;
  for (auto* w : parameters.weights)
    compared += check_gradient("weights", w->value, fp32_matrix(w->gradient), 2e-3f, loss);
  CHECK(compared == 3 * 9 + 8 * 27 + 4 * 8);
}

TEST_CASE("a model that does not fit the images is refused", "[train][layers]") {
  CHECK_THROWS_WITH((network<float>(models().front(), {8, 8, 1}, 10, {})),
                    "model lenet: images of 8 x 8 are too small");
}
