// Batch normalisation, residual blocks, pooling and depth-wise convolutions of the example trainer, against a
// rewrite in double precision: values against its values, gradients against its finite differences.
#include <Eigen/Core>
#include <cmath>
#include <functional>
#include <limits>
#include <variant>
#include <vector>

#include "catch.hpp"
#include "models/network.hpp"
#include "trainer_fixtures.hpp"

using namespace narrow_train;

namespace {

using tensor = Eigen::MatrixXd;

/// What layers compute, from their definitions, one number after another.
class reference {
 public:
  std::vector<tensor> weights, per_channel;  // in the order of parameter_list

  tensor operator()(const std::vector<layer_spec>& specs, const image_shape& shape, const tensor& x) {
    weight_ = vector_ = 0;
    shape_ = shape;
    return all(specs, x);
  }

 private:
  tensor all(const std::vector<layer_spec>& specs, tensor x) {
    for (const any_layer& spec : specs) x = std::visit([&](const auto& s) { return of(s, x); }, spec);
    return x;
  }

  /// A window's sum for every output pixel; term(in, out, i, j): channels and position in the window.
  template <class Weight>
  tensor windows(const tensor& x, int channels, int kernel, int padding, int stride, Weight weight) {
    const image_shape in = shape_;
    shape_ = {(in.height + 2 * padding - kernel) / stride + 1, (in.width + 2 * padding - kernel) / stride + 1,
              channels};
    tensor y = tensor::Zero(shape_.size(), x.cols());
    for (int n = 0; n < x.cols(); ++n)
      for (int row = 0; row < shape_.height; ++row)
        for (int column = 0; column < shape_.width; ++column)
          for (int out = 0; out < channels; ++out)
            for (int i = 0; i < kernel; ++i)
              for (int j = 0; j < kernel; ++j) {
                const int r = row * stride + i - padding, c = column * stride + j - padding;
                if (r < 0 || r >= in.height || c < 0 || c >= in.width) continue;
                for (int channel = 0; channel < in.channels; ++channel)
                  y((row * shape_.width + column) * channels + out, n) +=
                      weight(out, channel, i * kernel + j) * x((r * in.width + c) * in.channels + channel, n);
              }
    return y;
  }

  tensor of(const dense_spec& s, const tensor& x) {
    shape_ = {1, 1, s.outputs};
    tensor y = weights[weight_++] * x;
    y.colwise() += per_channel[vector_++].col(0);
    return y;
  }
  tensor of(const convolution_spec& s, const tensor& x) {
    const tensor& w = weights[weight_++];
    const int depth = shape_.channels;
    tensor y = windows(x, s.channels, s.kernel, s.padding, s.stride,
                       [&](int out, int in, int tap) { return w(out, tap * depth + in); });
    if (s.bias == bias_term::present) {
      const tensor& b = per_channel[vector_++];
      for (int i = 0; i < y.rows(); ++i) y.row(i).array() += b(i % s.channels);
    }
    return y;
  }
  tensor of(const depthwise_convolution_spec& s, const tensor& x) {
    const tensor& w = weights[weight_++];
    return windows(x, shape_.channels, s.kernel, s.padding, s.stride,
                   [&](int out, int in, int tap) { return out == in ? w(out, tap) : 0; });
  }
  tensor of(const batch_norm_spec&, const tensor& x) {
    const tensor& gamma = per_channel[vector_++];
    const tensor& beta = per_channel[vector_++];
    tensor y = x;
    for (int c = 0; c < shape_.channels; ++c) {
      const auto rows = Eigen::seq(c, x.rows() - 1, shape_.channels);
      const tensor values = x(rows, Eigen::all);
      const double mean = values.mean();
      const double variance = (values.array() - mean).square().mean();
      y(rows, Eigen::all) = (values.array() - mean) / std::sqrt(variance + 1e-5) * gamma(c) + beta(c);
    }
    return y;
  }
  tensor of(const max_pool_spec&, const tensor&) { throw std::logic_error("not needed here"); }
  tensor of(const global_average_pool_spec&, const tensor& x) {
    tensor y(shape_.channels, x.cols());
    for (int c = 0; c < shape_.channels; ++c)
      y.row(c) = tensor(x(Eigen::seq(c, x.rows() - 1, shape_.channels), Eigen::all)).colwise().mean();
    shape_ = {1, 1, shape_.channels};
    return y;
  }
  tensor of(const relu_spec&, const tensor& x) { return x.cwiseMax(0); }
  tensor of(const residual_spec& s, const tensor& x) {
    const image_shape in = shape_;
    tensor y = all(s.body, x);
    const image_shape out = shape_;
    if (in == out) return y + x;
    const int stride = in.height > out.height ? 2 : 1;
    shape_ = in;
    if (s.where_shapes_differ == shortcut::projection)
      return y + all({convolution_spec{out.channels, 1, 0, stride, bias_term::absent}, batch_norm_spec{}}, x);
    y += windows(x, out.channels, 1, 0, stride, [](int o, int i, int) { return o == i ? 1.0 : 0.0; });
    return y;
  }

  std::size_t weight_ = 0, vector_ = 0;
  image_shape shape_;
};

tensor numbers(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  return spread(rows, columns, 4 / static_cast<float>(rows * columns), seed).cast<double>();
}

double relative_distance(const tensor& a, const tensor& b) {
  REQUIRE(a.rows() == b.rows());
  REQUIRE(a.cols() == b.cols());
  return (a - b).norm() / b.norm();
}

/// Derivatives of f by the entries of x, every step-th and the last. The others are those of `claimed`.
tensor differences(tensor& x, const tensor& claimed, const std::function<double()>& f) {
  tensor result = claimed;
  const Eigen::Index step = x.size() / 40 + 1;
  const double h = 1e-6;
  for (Eigen::Index i = 0; i < x.size() + step; i += step) {
    double& entry = x.data()[std::min(i, x.size() - 1)];
    const double kept = entry;
    entry = kept + h;
    const double above = f();
    entry = kept - h;
    result.data()[std::min(i, x.size() - 1)] = (above - f()) / (2 * h);
    entry = kept;
  }
  return result;
}

/// Layers in S, and the same in double with the same parameters.
template <class S> struct pair_of_stacks {
  std::unique_ptr<stack<S>> layers;
  reference exact;
  parameter_list<S> parameters;

  pair_of_stacks(const std::vector<layer_spec>& specs, const image_shape& shape) {
    layer_site at{"test", shape, {}, shape};
    layers = make_layers<S>(specs, at);
    layers->collect(parameters);
    std::uint64_t seed = 100;
    for (auto* p : parameters.weights) {
      p->store(numbers(p->value.rows(), p->value.cols(), seed++).template cast<float>());
      exact.weights.emplace_back(p->weights().template cast<double>());
    }
    for (auto* p : parameters.per_channel) {
      // Not simply related to each other: no ReLU is to be where it has no derivative.
      const double factor = 0.9 + 0.013 * static_cast<double>(seed % 7);
      p->value = (factor * numbers(p->value.rows(), 1, seed++)).template cast<float>();
      exact.per_channel.emplace_back(p->value.template cast<double>());
    }
  }
};

/// Compares a batch's output and all gradients of sum r * y with the rewrite's.
template <class S>
void check(const std::vector<layer_spec>& specs, const image_shape& shape, int batch, double tolerance,
           double offset = 0) {
  CAPTURE(shape.height, shape.width, shape.channels, batch);
  pair_of_stacks<S> both(specs, shape);
  const matrix<S> x =
      (numbers(shape.size(), batch, 1).array() + offset).matrix().template cast<float>().template cast<S>();
  tensor exact_x = x.template cast<float>().template cast<double>();
  const tensor y = both.layers->forward(x).template cast<float>().template cast<double>();
  CHECK(relative_distance(y, both.exact(specs, shape, exact_x)) < tolerance);

  const matrix<S> dy = numbers(y.rows(), y.cols(), 2).template cast<float>().template cast<S>();
  const tensor r = dy.template cast<float>().template cast<double>();
  const auto loss = [&] { return both.exact(specs, shape, exact_x).cwiseProduct(r).sum(); };
  const tensor dx =
      both.layers->backward(x, dy, input_gradient::wanted).template cast<float>().template cast<double>();
  CHECK(relative_distance(dx, differences(exact_x, dx, loss)) < tolerance);
  for (std::size_t i = 0; i < both.exact.weights.size(); ++i) {
    const tensor dw = both.parameters.weights[i]->gradient.template cast<float>().template cast<double>();
    CHECK(relative_distance(dw, differences(both.exact.weights[i], dw, loss)) < tolerance);
  }
  for (std::size_t i = 0; i < both.exact.per_channel.size(); ++i) {
    const tensor dv = both.parameters.per_channel[i]->gradient.template cast<double>();
    CHECK(relative_distance(dv, differences(both.exact.per_channel[i], dv, loss)) < tolerance);
  }
}

constexpr double fp32_error = 2e-5, fp16_error = 4e-3;
const std::vector<layer_spec> norm{batch_norm_spec{}};

}  // namespace

TEST_CASE("batch normalisation: values and gradients", "[train][layers]") {
  check<float>(norm, {3, 5, 4}, 7, fp32_error);
  check<float>(norm, {1, 1, 5}, 9, fp32_error);    // after a dense layer
  check<float>(norm, {1, 1, 300}, 3, fp32_error);  // more channels than fit a strip
  check<float>(norm, {40, 41, 3}, 9, fp32_error);  // several pieces, and a rest
  check<float>(norm, {8, 8, 70}, 5, fp32_error);
  check<float>(norm, {3, 5, 4}, 7, 1e-2, 1000);  // the mean is 1000 times the deviation
  check<narrow::fp16>(norm, {40, 41, 3}, 9, fp16_error);
  check<narrow::bf16>(norm, {3, 5, 4}, 7, 8 * fp16_error);
}

TEST_CASE("batch normalisation: running statistics and inference", "[train][layers]") {
  const int channels = 3, batch = 6;
  batch_norm<float> layer(channels);
  parameter_list<float> parameters;
  layer.collect(parameters);
  REQUIRE(parameters.buffers.size() == 2);
  REQUIRE(parameters.per_channel.size() == 2);
  CHECK(parameters.weights.empty());
  CHECK(parameters.per_channel[0]->value == fp32_matrix::Ones(channels, 1));
  parameters.per_channel[0]->value = fp32_matrix{{0.5f}, {2}, {-1}};
  parameters.per_channel[1]->value = fp32_matrix{{1}, {0}, {3}};

  Eigen::Array3d mean = Eigen::Array3d::Zero(), variance = Eigen::Array3d::Ones();
  fp32_matrix x;
  for (std::uint64_t step = 0; step < 3; ++step) {
    x = (numbers(4 * channels, batch, step).array() + double(step)).matrix().cast<float>();
    layer.forward(x);
    for (int c = 0; c < channels; ++c) {
      const tensor values = x.cast<double>()(Eigen::seq(c, x.rows() - 1, channels), Eigen::all);
      const double count = static_cast<double>(values.size());
      mean[c] = 0.9 * mean[c] + 0.1 * values.mean();
      variance[c] = 0.9 * variance[c] + 0.1 * (values.array() - values.mean()).square().sum() / (count - 1);
    }
  }
  const fp32_matrix after = *parameters.buffers[1];
  CHECK((parameters.buffers[0]->array().cast<double>() - mean).abs().maxCoeff() < 1e-6);
  CHECK((after.array().cast<double>() - variance).abs().maxCoeff() < 1e-6);

  const fp32_matrix y = layer.infer(x);
  double worst = 0;
  for (Eigen::Index n = 0; n < x.cols(); ++n)
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      const auto c = i % channels;
      const double gamma = double{parameters.per_channel[0]->value(c)};
      const double beta = double{parameters.per_channel[1]->value(c)};
      const double expected = gamma * (double{x(i, n)} - mean[c]) / std::sqrt(variance[c] + 1e-5) + beta;
      worst = std::max(worst, std::abs(double{y(i, n)} - expected));
    }
  CHECK(worst < 1e-5);
  CHECK(*parameters.buffers[1] == after);  // inference leaves them as they are

  x(4) = std::numeric_limits<float>::infinity();  // channel 1
  layer.forward(x);
  CHECK(std::isfinite((*parameters.buffers[0])(1)));
  CHECK((*parameters.buffers[1])(1) == after(1));
  CHECK((*parameters.buffers[1])(0) != after(0));
}

TEST_CASE("batch normalisation: one value in a channel, equal values, no images", "[train][layers]") {
  batch_norm<float> layer(4);
  const fp32_matrix x = fp32_matrix::Constant(4, 1, 7);
  CHECK(layer.forward(x).isZero());
  CHECK(layer.backward(x, fp32_matrix::Ones(4, 1), input_gradient::wanted).isZero());
  const fp32_matrix equal = fp32_matrix::Constant(4, 50, 1e6f);
  CHECK(layer.forward(equal).isZero());
  CHECK(layer.infer(fp32_matrix(4, 0)).size() == 0);
  CHECK(layer.activation_bytes() == 2 * 4 * sizeof(float));
}

TEST_CASE("global average pooling: values and gradients", "[train][layers]") {
  const std::vector<layer_spec> pool{global_average_pool_spec{}};
  check<float>(pool, {3, 5, 4}, 7, fp32_error);
  check<narrow::fp16>(pool, {3, 5, 4}, 7, fp16_error / 8);
}

TEST_CASE("convolutions with a stride: values and gradients", "[train][layers]") {
  for (const int stride : {1, 2, 3})
    for (const int padding : {0, 1}) {
      check<float>({convolution_spec{4, 3, padding, stride}}, {7, 6, 2}, 3, fp32_error);
      check<float>({depthwise_convolution_spec{3, padding, stride}}, {7, 6, 5}, 3, fp32_error);
    }
  check<float>({depthwise_convolution_spec{5, 2}}, {3, 4, 2}, 2, fp32_error);  // windows wider than the image
  check<float>({convolution_spec{4, 1, 0, 2, bias_term::absent}}, {7, 6, 2}, 3, fp32_error);
  check<narrow::fp16>({depthwise_convolution_spec{3, 1, 2}}, {7, 6, 5}, 3, fp16_error / 8);
}

TEST_CASE("depth-wise convolution: every addition rounded, in the ablation", "[train][layers]") {
  using narrow::fp16;
  const auto sum = [](accumulation mode) {
    depthwise_convolution<fp16> layer({{3, 3, 1}, 3, 0}, {mode, {}});
    parameter_list<fp16> parameters;
    layer.collect(parameters);
    parameters.weights.front()->store(fp32_matrix::Ones(1, 9));
    matrix<fp16> x = matrix<fp16>::Constant(9, 1, fp16(1));
    x(0) = fp16(2048);  // 2049 is no fp16
    return float{layer.forward(x)(0)};
  };
  CHECK(sum(accumulation::wide) == 2056);
  CHECK(sum(accumulation::narrow) == 2048);
}

TEST_CASE("depth-wise convolution in blocks: what is left of the operands", "[train][layers][blocks]") {
  const auto left = [](const operand_format& format, sharing scales, const fp32_matrix& m) {
    const auto operand = make_operand(format, scales, nullptr);
    operand->assign(m);
    return operand->values();
  };
  recipe_choices nearest;
  nearest.rounding = rounding_choice::nearest;
  for (const recipe& how : {recipe::hbfp(8), recipe::int8()}) {
    const recipe r = nearest.applied_to(how);
    const window_grid grid{{5, 6, 3}, 3, 1, 2};
    depthwise_convolution<float> in_blocks(grid, {accumulation::wide, r}), plain(grid, {});
    parameter_list<float> a, b;
    in_blocks.collect(a);
    plain.collect(b);
    const fp32_matrix w = numbers(3, 9, 1).cast<float>(), x = numbers(90, 4, 2).cast<float>();
    const fp32_matrix dy = numbers(27, 4, 3).cast<float>();
    a.weights.front()->store(w);
    b.weights.front()->store(left(r.weights, sharing::tensor, w));
    CHECK(in_blocks.forward(x) == plain.forward(left(r.activations, r.sample_scales, x)));
    const fp32_matrix dx = plain.backward(x, left(r.gradients, r.sample_scales, dy), input_gradient::wanted);
    CHECK(in_blocks.backward(x, dy, input_gradient::wanted) == dx);
    plain.backward(left(r.activations, sharing::tensor, x), left(r.gradients, sharing::tensor, dy),
                   input_gradient::unwanted);
    CHECK(a.weights.front()->gradient == b.weights.front()->gradient);
  }
}

TEST_CASE("residual blocks: values and gradients, with each shortcut", "[train][layers]") {
  const auto block = [](int channels, int stride, shortcut kind) {
    return std::vector<layer_spec>{
        residual_spec{{convolution_spec{channels, 3, 1, stride, bias_term::absent}, batch_norm_spec{},
                       relu_spec{}, convolution_spec{channels, 3, 1}},
                      kind}};
  };
  for (const shortcut kind : {shortcut::subsample, shortcut::projection}) {
    check<float>(block(3, 1, kind), {5, 4, 3}, 4, fp32_error);
    check<float>(block(5, 2, kind), {5, 4, 3}, 4, fp32_error);
    check<float>(block(5, 1, kind), {5, 4, 3}, 4, fp32_error);
    check<narrow::fp16>(block(5, 2, kind), {5, 4, 3}, 4, 2 * fp16_error);
  }
}

TEST_CASE("residual blocks: the sums are rounded once", "[train][layers]") {
  using narrow::fp16;
  auto body = std::make_unique<stack<fp16>>();  // the identity
  residual<fp16> layer(std::move(body), nullptr);
  const matrix<fp16> x = spread(20, 3, 0.37f, 1).cast<fp16>();
  CHECK(layer.forward(x) == (2 * x.cast<float>()).cast<fp16>());
  CHECK(layer.infer(x) == (2 * x.cast<float>()).cast<fp16>());
  CHECK(layer.backward(x, x, input_gradient::wanted) == (2 * x.cast<float>()).cast<fp16>());
  CHECK(layer.activation_bytes() == 60 * sizeof(fp16));
}

TEST_CASE("a small residual network: gradients of every parameter", "[train][layers]") {
  for (const shortcut kind : {shortcut::subsample, shortcut::projection}) {
    auto specs = residual_layers(std::array{3, 4, 6}, 1, kind);
    specs.emplace_back(dense_spec{4});
    check<float>(specs, {8, 8, 2}, 3, 10 * fp32_error);
  }
}

TEST_CASE("a shortcut that fits no stride is refused", "[train][layers]") {
  const auto build = [](const residual_spec& spec) {
    layer_site at{"m", {8, 8, 4}, {}, {8, 8, 4}};
    static_cast<void>(spec.make<float>(at));
  };
  CHECK_THROWS_WITH(build({{convolution_spec{2, 3, 1}}, shortcut::subsample}),
                    "model m: no shortcut leads from 8 x 8 x 4 to 8 x 8 x 2");
  CHECK_THROWS_WITH(build({{convolution_spec{4, 3, 0}}, shortcut::projection}),
                    "model m: no shortcut leads from 8 x 8 x 4 to 6 x 6 x 4");
}
