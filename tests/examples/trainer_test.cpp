// The example trainer: layers against finite differences, optimisers against their formulas, loaders against files
// that are cut, padded and mislabelled, and the promises that the comparison of formats rests on.
#include <unistd.h>
#include <zlib.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "data/batches.hpp"
#include "data/dataset.hpp"
#include "formats.hpp"
#include "options.hpp"
#include "report.hpp"

using namespace narrow_train;

namespace {

// ---- layers against finite differences

/// (rows x columns), all values different and at least `gap` apart, in random order, around zero but never at it:
/// no ReLU and no maximum changes sides under a step smaller than half the gap.
fp32_matrix spread(Eigen::Index rows, Eigen::Index columns, float gap, std::uint64_t seed) {
  fp32_matrix m(rows, columns);
  for (Eigen::Index i = 0; i < m.size(); ++i)
    m.data()[i] = (static_cast<float>(i - m.size() / 2) + 0.5f) * gap;
  random_stream(seed, purpose::weights).shuffle(std::span(m.data(), static_cast<std::size_t>(m.size())));
  return m;
}

/// Compares d/dx of loss() with `gradient`, entry by entry, by central differences of step h. Returns how many
/// entries were compared.
template <class Loss>
std::size_t check_gradient(const char* what, fp32_matrix& x, const fp32_matrix& gradient, float h, const Loss& loss) {
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
  for (auto* b : parameters.biases) b->value = spread(b->value.rows(), b->value.cols(), 0.1f, 12);

  const auto shape = l.forward(x);
  const fp32_matrix r = spread(shape.rows(), shape.cols(), 2 / static_cast<float>(shape.size()), 13);
  const auto loss = [&] { return l.forward(x).cast<double>().cwiseProduct(r.cast<double>()).sum(); };
  const fp32_matrix dx = l.backward(x, r, input_gradient::wanted);
  std::vector<fp32_matrix> gradients;
  for (const auto* w : parameters.weights) gradients.push_back(w->gradient);
  for (const auto* b : parameters.biases) gradients.push_back(b->gradient);

  std::size_t compared = check_gradient("x", x, dx, h, loss);
  auto gradient = gradients.begin();
  for (auto* w : parameters.weights) compared += check_gradient("weights", w->value, *gradient++, h, loss);
  for (auto* b : parameters.biases) compared += check_gradient("bias", b->value, *gradient++, h, loss);
  return compared;
}

}  // namespace

TEST_CASE("dense layer: gradients", "[train][layers]") {
  dense<float> l(7, 5, accumulation::wide);
  CHECK(check_layer(l, spread(7, 3, 0.05f, 1), 0.25f) == 7 * 3 + 7 * 5 + 5);
}

TEST_CASE("convolution: gradients, with and without padding", "[train][layers]") {
  const int padding = GENERATE(0, 1, 2);
  const window_grid grid{{5, 6, 2}, 3, padding};
  convolution<float> l(grid, 4, accumulation::wide);
  CHECK(l.output_shape() == image_shape{3 + 2 * padding, 4 + 2 * padding, 4});
  CHECK(check_layer(l, spread(5 * 6 * 2, 3, 0.01f, 2), 0.25f) == 60 * 3 + 4 * 18 + 4);
}

TEST_CASE("convolution: values, against the definition", "[train][layers]") {
  const image_shape image{4, 5, 2};
  const int kernel = 3, padding = 1, channels = 3;
  convolution<float> l({image, kernel, padding}, channels, accumulation::wide);
  parameter_list<float> parameters;
  l.collect(parameters);
  auto& w = parameters.weights.front()->value = spread(channels, kernel * kernel * 2, 0.01f, 3);
  auto& b = parameters.biases.front()->value = spread(channels, 1, 0.1f, 4);
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
  const model small{"small", "", {convolution_spec{3, 3, 1}, relu_spec{}, max_pool_spec{2}, dense_spec{8}, relu_spec{}}};
  network<float> net(small, {6, 6, 1}, 4, accumulation::wide);
  auto parameters = net.parameters();
  std::uint64_t seed = 20;
  random_stream random(21, purpose::weights);
  for (auto* w : parameters.weights) w->value = he_normal(w->value.rows(), w->value.cols(), random);
  for (auto* b : parameters.biases) b->value = spread(b->value.rows(), 1, 0.05f, seed++);
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
  for (auto* w : parameters.weights) compared += check_gradient("weights", w->value, fp32_matrix(w->gradient), 2e-3f, loss);
  CHECK(compared == 3 * 9 + 8 * 27 + 4 * 8);
}

TEST_CASE("a model that does not fit the images is refused", "[train][layers]") {
  CHECK_THROWS_WITH((network<float>(models().front(), {8, 8, 1}, 10, accumulation::wide)),
                    "model lenet: images of 8 x 8 are too small");
}

// ---- optimisers against their formulas

namespace {

/// Three steps on one tensor of two entries; `next` computes the step for one entry in double, by hand.
template <class Next>
void check_optimizer(std::string_view name, const Next& make_next) {
  const optimizer_kind* kind = nullptr;
  for (const auto& k : optimizers())
    if (k.name == name) kind = &k;
  REQUIRE(kind != nullptr);
  const auto rule = kind->make({.rate = 0.25f, .momentum = 0.75f, .weight_decay = 0});
  moments memory, other_memory;
  std::array next{make_next(), make_next()};
  const std::array<std::array<float, 2>, 3> gradients{{{1.0f, -0.5f}, {0.25f, 3.0f}, {-2.0f, 1e-3f}}};
  for (const auto& g : gradients) {
    rule->begin_step();
    fp32_matrix step{{g[0], g[1]}}, other{{g[0], g[1]}};
    rule->gradient_to_step(memory, step);
    rule->gradient_to_step(other_memory, other);  // a second tensor in the same step: time counts steps
    for (std::size_t i = 0; i < 2; ++i) CHECK(double{step(0, Eigen::Index(i))} == Approx(next[i](g[i])).epsilon(1e-5));
    CHECK(other == step);
  }
  CHECK(rule->time() == 3);
}

}  // namespace

TEST_CASE("SGD with momentum by hand", "[train][optimizer]") {
  check_optimizer("sgd", [] {
    return [v = 0.0](double g) mutable {
      v = 0.75 * v + g;
      return 0.25 * v;
    };
  });
}

TEST_CASE("Nesterov's momentum by hand", "[train][optimizer]") {
  check_optimizer("nesterov", [] {
    return [v = 0.0](double g) mutable {
      v = 0.75 * v + g;
      return 0.25 * (g + 0.75 * v);
    };
  });
}

TEST_CASE("Adam by hand", "[train][optimizer]") {
  check_optimizer("adam", [] {
    return [m = 0.0, v = 0.0, t = 0](double g) mutable {
      ++t;
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      return 0.25 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    };
  });
}

// ---- mixed precision

namespace {

/// One weight tensor (2 x 3) and one bias (2 x 1) with everything that training keeps beside them.
template <class S>
struct single_layer {
  parameter<S> weights{matrix<S>::Zero(2, 3), matrix<S>::Zero(2, 3)};
  parameter<float> bias{fp32_matrix::Zero(2, 1), fp32_matrix::Zero(2, 1)};
  mixed_precision<S> training;

  explicit single_layer(const std::string& loss_scale, optimizer_settings step = {.rate = 0.125f}, float clip_norm = 0,
                        master_copy master = master_copy::kept)
      : training({{&weights}, {&bias}}, 5, optimizers().front().make(step), make_scaler(loss_scale), clip_norm,
                 master) {}

  /// A step with these (unscaled) gradients in every entry.
  bool step(float weight_gradient, float bias_gradient) {
    const float scale = training.loss_scale();
    weights.gradient.setConstant(static_cast<S>(scale * weight_gradient));
    bias.gradient.setConstant(scale * bias_gradient);
    return training.step();
  }
};

template <class S>
bool same_bits(const matrix<S>& a, const matrix<S>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), bytes_of(a)) == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("an overflowing step changes neither weights nor momentum nor time", "[train][mixed]", float) {
  const std::string scale = GENERATE("dynamic", "none", "1024");
  single_layer<TestType> with(scale), without(scale);
  const auto initial = with.weights.value;
  CHECK(with.step(0.5f, 0.25f));
  CHECK(without.step(0.5f, 0.25f));
  CHECK_FALSE(same_bits(with.weights.value, initial));

  const auto before = with.weights.value;
  const auto bias_before = with.bias.value;
  const float scale_before = with.training.loss_scale();
  with.weights.gradient.setOnes();
  with.weights.gradient(1, 2) = GENERATE(std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN());
  with.bias.gradient.setOnes();
  CHECK_FALSE(with.training.step());
  CHECK(same_bits(with.weights.value, before));
  CHECK(same_bits(with.bias.value, bias_before));
  CHECK(with.training.rule().time() == 1);
  CHECK(with.training.loss_scale() == (scale == "dynamic" ? scale_before / 2 : scale_before));

  CHECK(with.step(-1.0f, 2.0f));  // the velocity in it shows whether the overflow touched it
  CHECK(without.step(-1.0f, 2.0f));
  CHECK(same_bits(with.weights.value, without.weights.value));
  CHECK(same_bits(with.bias.value, without.bias.value));
}

TEST_CASE("clipping and decay do not see the loss scale", "[train][mixed]") {
  const optimizer_settings step{.rate = 0.125f, .momentum = 0.5f, .weight_decay = 0.25f};
  single_layer<float> plain("none", step, 0.75f), scaled("4096", step, 0.75f);
  for (int i = 0; i < 3; ++i) {
    CHECK(plain.step(0.5f, -0.25f));
    CHECK(scaled.step(0.5f, -0.25f));
  }
  CHECK(same_bits(plain.weights.value, scaled.weights.value));
  CHECK(same_bits(plain.bias.value, scaled.bias.value));
}

TEST_CASE("clipping bounds the norm of all gradients together", "[train][mixed]") {
  single_layer<float> l("none", {.rate = 1, .momentum = 0}, 0.5f);
  const fp32_matrix before = l.weights.value;
  CHECK(l.step(1.0f, 2.0f));  // norm sqrt(6 * 1 + 2 * 4)
  const double moved = std::sqrt(double{(l.weights.value - before).squaredNorm()} + double{l.bias.value.squaredNorm()});
  CHECK(moved == Approx(0.5).epsilon(1e-5));
  CHECK(double{l.bias.value(0, 0)} == Approx(-0.5 * 2 / std::sqrt(14.0)).epsilon(1e-5));
}

TEST_CASE("decay pulls at weights, not at biases", "[train][mixed]") {
  single_layer<float> l("none", {.rate = 0.5f, .momentum = 0, .weight_decay = 0.25f});
  l.bias.value.setOnes();
  const fp32_matrix before = l.weights.value;
  CHECK(l.step(0, 0));
  CHECK((l.weights.value - 0.875f * before).cwiseAbs().maxCoeff() < 1e-6f);
  CHECK((l.bias.value.array() == 1).all());
}

TEST_CASE("initial weights: from the seed alone, with the variance asked for", "[train][mixed]") {
  random_stream random(1, purpose::weights), again(1, purpose::weights), other(2, purpose::weights);
  const fp32_matrix w = he_normal(200, 50, random);
  CHECK(same_bits(w, he_normal(200, 50, again)));
  CHECK_FALSE(same_bits(w, he_normal(200, 50, other)));
  CHECK(double{w.mean()} == Approx(0).margin(4 * 0.2 / 100));
  CHECK(double{w.squaredNorm()} / 10000 == Approx(2.0 / 50).epsilon(0.05));  // 4 standard errors: 0.05
  CHECK(w.cwiseAbs().maxCoeff() <= 2 * 0.2f / 0.8796f);
}

// ---- data files

namespace {

/// A folder that goes with the test.
class folder {
 public:
  folder() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("narrow-trainer-test-" + std::to_string(getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }
  void write_packed(const std::string& name, const std::string& bytes) const {
    gzFile file = gzopen((path_ / name).c_str(), "wb");
    REQUIRE(file != nullptr);
    REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) == static_cast<int>(bytes.size()));
    REQUIRE(gzclose(file) == Z_OK);
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path path_;
};

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

/// `count` images of 3 x 2 whose pixels count up from `first`, as an idx file.
std::string idx_images(std::uint32_t count, unsigned first) {
  std::string bytes = big_endian(2051) + big_endian(count) + big_endian(3) + big_endian(2);
  for (unsigned i = 0; i < 6 * count; ++i) bytes += static_cast<char>(first + i);
  return bytes;
}
std::string idx_labels(const std::string& labels) {
  return big_endian(2049) + big_endian(static_cast<std::uint32_t>(labels.size())) + labels;
}

const std::string train_images = "train-images-idx3-ubyte", train_labels = "train-labels-idx1-ubyte",
                  test_images = "t10k-images-idx3-ubyte", test_labels = "t10k-labels-idx1-ubyte";

void write_mnist(const folder& f) {
  f.write(train_images, idx_images(4, 0));
  f.write(train_labels, idx_labels(std::string("\5\0\4\1", 4)));
  f.write(test_images, idx_images(2, 200));
  f.write(test_labels, idx_labels("\7\2"));
}

/// The message of the data_error that load(path) throws; it must be one line.
template <class Load>
std::string refusal(const Load& load, const folder& f) {
  try {
    static_cast<void>(load(f.path()));
  } catch (const data_error& e) {
    const std::string message = e.what();
    CHECK(message.find('\n') == std::string::npos);
    return message;
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("idx files, plain and packed", "[train][data]") {
  const folder f;
  write_mnist(f);
  if (GENERATE(false, true)) {
    for (const auto& name : {train_images, train_labels, test_labels}) {
      f.write_packed(name + ".gz", f.read(name));
      std::filesystem::remove(f.path() / name);
    }
  }
  const auto data = load_mnist(f.path());
  CHECK(data.train.shape == image_shape{3, 2, 1});
  CHECK(data.train.classes == 10);
  CHECK(data.train.labels == std::vector<std::uint8_t>{5, 0, 4, 1});
  CHECK(data.test.labels == std::vector<std::uint8_t>{7, 2});
  REQUIRE(data.train.pixels.size() == 24);
  CHECK(data.train.image(1)[0] == 6);
  CHECK(data.train.image(3)[5] == 23);
  CHECK(data.test.image(0)[0] == 200);
}

TEST_CASE("idx files that are not right are named", "[train][data]") {
  using Catch::Matchers::Contains;
  const folder f;
  write_mnist(f);
  const std::string images = idx_images(4, 0), labels = idx_labels(std::string("\5\0\4\1", 4));
  const auto message = [&] { return refusal(load_mnist, f); };
  const auto check_names = [&](const std::string& name, const std::string& what) {
    const auto complaint = message();
    CHECK_THAT(complaint, Contains((f.path() / name).string()));
    CHECK_THAT(complaint, Contains(what));
  };

  SECTION("missing") {
    std::filesystem::remove(f.path() / test_labels);
    check_names(test_labels, "cannot open");
  }
  SECTION("a folder") {
    std::filesystem::remove(f.path() / test_labels);
    std::filesystem::create_directory(f.path() / test_labels);
    check_names(test_labels, "");
  }
  SECTION("wrong magic number") {
    f.write(train_images, labels);
    check_names(train_images, "starts with 2049 instead of 2051");
  }
  SECTION("cut at every byte") {
    std::size_t cuts = 0;
    for (std::size_t length = 0; length < images.size(); ++length, ++cuts) {
      f.write(train_images, images.substr(0, length));
      if (const auto m = message(); m != (f.path() / train_images).string() + " ends too early") FAIL(length << ": " << m);
    }
    CHECK(cuts == 16 + 24);
    f.write(train_images, images);
    for (std::size_t length = 0; length < labels.size(); ++length, ++cuts) {
      f.write(train_labels, labels.substr(0, length));
      if (const auto m = message(); m != (f.path() / train_labels).string() + " ends too early") FAIL(length << ": " << m);
    }
    CHECK(cuts == 40 + 12);
  }
  SECTION("packed and cut at every byte") {
    f.write_packed("whole.gz", images);
    const auto packed = f.read("whole.gz");
    std::filesystem::remove(f.path() / train_images);
    for (std::size_t length = 0; length < packed.size(); ++length) {
      f.write(train_images + ".gz", packed.substr(0, length));
      if (const auto m = message(); m.find(train_images + ".gz") == std::string::npos) FAIL(length << ": " << m);
    }
  }
  SECTION("packed and damaged") {
    f.write_packed("whole.gz", images);
    auto packed = f.read("whole.gz");
    packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);  // in the checksum
    std::filesystem::remove(f.path() / train_images);
    f.write(train_images + ".gz", packed);
    check_names(train_images + ".gz", "not readable");
  }
  SECTION("too long") {
    f.write(train_images, images + "x");
    check_names(train_images, "longer");
    f.write(train_images, images);
    f.write(train_labels, labels + "x");
    check_names(train_labels, "longer");
  }
  SECTION("a label too large") {
    f.write(train_labels, idx_labels(std::string("\5\0\12\1", 4)));
    check_names(train_labels, "label 10");
  }
  SECTION("counts that differ") {
    f.write(train_labels, idx_labels("\1\2\3"));
    check_names(train_labels, "3 labels for the 4 images");
  }
  SECTION("dimensions that make no sense") {
    for (const std::uint32_t count : {0u, 0x80000000u, 0xffffffffu}) {
      f.write(train_images, big_endian(2051) + big_endian(count) + big_endian(3) + big_endian(2));
      check_names(train_images, "dimension of " + std::to_string(count));
    }
  }
  SECTION("test images of another size") {
    f.write(test_images, big_endian(2051) + big_endian(2) + big_endian(1) + big_endian(1) + "ab");
    CHECK_THAT(message(), Contains("differ in size"));
  }
}

TEST_CASE("CIFAR-10 files", "[train][data]") {
  using Catch::Matchers::Contains;
  const folder f;
  const auto record = [](int label, int first) {
    std::string bytes(1, static_cast<char>(label));
    for (int i = 0; i < 3072; ++i) bytes += static_cast<char>(first + i / 1024 * 80 + i % 1024 % 7);
    return bytes;
  };
  for (int i = 1; i <= 5; ++i)
    f.write("data_batch_" + std::to_string(i) + ".bin", record(i, i) + record(9 - i, 10 * i));
  f.write("test_batch.bin", record(3, 0));

  SECTION("right") {
    const auto data = load_cifar10(f.path());
    CHECK(data.train.shape == image_shape{32, 32, 3});
    CHECK(data.train.labels == std::vector<std::uint8_t>{1, 8, 2, 7, 3, 6, 4, 5, 5, 4});
    CHECK(data.test.labels == std::vector<std::uint8_t>{3});
    REQUIRE(data.train.pixels.size() == 30720);
    const auto image = data.train.image(3);  // the second of file 2: red from 20, green from 100, blue from 180
    CHECK(image[0] == 20);
    CHECK(image[1] == 100);
    CHECK(image[2] == 180);
    CHECK(image[3] == 21);
    CHECK(image[3071] == 180 + 1023 % 7);
  }
  SECTION("missing") {
    std::filesystem::remove(f.path() / "data_batch_4.bin");
    CHECK_THAT(refusal(load_cifar10, f), Contains((f.path() / "data_batch_4.bin").string()));
  }
  SECTION("cut inside a record") {
    f.write("data_batch_5.bin", (record(1, 1) + record(2, 2)).substr(0, 6145));
    CHECK_THAT(refusal(load_cifar10, f), Contains("data_batch_5.bin ends inside a record"));
  }
  SECTION("empty") {
    f.write("test_batch.bin", "");
    CHECK_THAT(refusal(load_cifar10, f), Contains("test_batch.bin is empty"));
  }
  SECTION("a label too large") {
    f.write("data_batch_2.bin", record(10, 0));
    CHECK_THAT(refusal(load_cifar10, f), Contains("data_batch_2.bin has a label 10"));
  }
}

TEST_CASE("drawn digits: the same every time, each from its own index", "[train][data]") {
  const auto a = draw_digits(300, 1), b = draw_digits(100, 1), c = draw_digits(100, 2);
  CHECK(a.shape == image_shape{28, 28, 1});
  CHECK(std::equal(b.labels.begin(), b.labels.end(), a.labels.begin()));
  CHECK(std::equal(b.pixels.begin(), b.pixels.end(), a.pixels.begin()));
  CHECK(b.pixels != c.pixels);
  std::array<int, 10> seen{};
  for (const auto label : a.labels) ++seen[label];
  CHECK(std::ranges::min(seen) > 10);  // 30 expected of each
}

TEST_CASE("normalisation: mean 0 and variance 1 in every channel", "[train][data]") {
  dataset data{.shape = {1, 2, 2}, .classes = 10, .pixels = {0, 7, 100, 7, 50, 7, 250, 7}, .labels = {1, 2}};
  const auto values = normalised(data);
  REQUIRE(values.size() == 2);
  double sum = 0, squares = 0;
  for (const std::size_t byte : {0, 100, 50, 250}) {
    sum += double{values[0][byte]};
    squares += double{values[0][byte]} * double{values[0][byte]};
  }
  CHECK(sum == Approx(0).margin(1e-5));
  CHECK(squares / 4 == Approx(1).epsilon(1e-5));
  CHECK(values[1][7] == 0);  // one colour only: no division by zero
}

TEST_CASE("batches: every image once an epoch, in an order of its own", "[train][data]") {
  const auto data = draw_digits(25, 3);
  const auto values = normalised(data);
  batches<float> cut(data, values, 10);
  REQUIRE(cut.count() == 3);
  std::vector<std::vector<std::uint8_t>> orders;
  for (const int epoch : {0, 1, 2, 1}) {
    if (epoch > 0) cut.shuffle(7, epoch);
    orders.emplace_back();
    for (std::size_t i = 0; i < 3; ++i) {
      cut.select(i);
      CHECK(cut.images.cols() == (i < 2 ? 10 : 5));
      REQUIRE(cut.labels.size() == static_cast<std::size_t>(cut.images.cols()));
      orders.back().insert(orders.back().end(), cut.labels.begin(), cut.labels.end());
    }
  }
  CHECK(orders[0] == data.labels);
  CHECK(orders[1] == orders[3]);
  CHECK(orders[1] != orders[2]);
  auto sorted = orders[2], all = data.labels;
  std::ranges::sort(sorted);
  std::ranges::sort(all);
  CHECK(sorted == all);
  cut.shuffle(7, 0);
  batches<float> unshuffled(data, values, 25);
  unshuffled.select(0);
  CHECK(unshuffled.images(300, 4) == values[0][data.image(4)[300]]);
}

// ---- the whole program

namespace {

class silent final : public observer {
 public:
  void batch_done(std::size_t images, float, float, std::int64_t) override { images_ += images; }
  void epoch_done(const curve_point&) override { ++epochs_; }
  std::size_t images_ = 0;
  int epochs_ = 0;
};

train_and_test few_digits() { return {draw_digits(600, 1), draw_digits(200, 2)}; }

/// What the curve says about the weights, without the time it took.
std::string fingerprint(const training_result& r) {
  std::ostringstream text;
  text.precision(17);
  for (const auto& p : r.curve) text << p.epoch << ' ' << p.step << ' ' << p.loss << ' ' << p.accuracy << ' ' << p.skipped << '\n';
  return text.str();
}

}  // namespace

TEST_CASE("every format trains, and twice the same", "[train][run]") {
  const auto data = few_digits();
  training_settings settings;
  settings.epochs = 4;
  settings.batch = 16;
  settings.optimizer = &optimizers().back();
  settings.step.rate = settings.optimizer->usual_rate;
  for (const format& f : formats()) {
    INFO(std::string(f.name));
    silent watcher;
    const auto first = f.train(settings, data, 1, watcher);
    CHECK(watcher.images_ == 2400);
    CHECK(watcher.epochs_ == 4);
    REQUIRE(first.curve.size() == 4);
    CHECK(first.curve.back().step == 4 * 38);
    CHECK(first.curve.back().accuracy > 0.5);
    CHECK(first.curve.back().loss < first.curve.front().loss);
    CHECK(fingerprint(first) == fingerprint(f.train(settings, data, 1, watcher)));
    CHECK(fingerprint(first) != fingerprint(f.train(settings, data, 2, watcher)));
  }
}

TEST_CASE("in fp32 a loss scale that is a power of two changes nothing", "[train][run]") {
  const auto data = few_digits();
  training_settings settings;
  settings.epochs = 1;
  settings.step.rate = 0.01f;
  silent watcher;
  settings.loss_scale = "none";
  const auto plain = train_network<float>(settings, data, 1, watcher);
  settings.loss_scale = "1024";
  CHECK(fingerprint(train_network<float>(settings, data, 1, watcher)) == fingerprint(plain));
  settings.sums = accumulation::narrow;  // fp32 sums are as narrow as they get
  CHECK(fingerprint(train_network<float>(settings, data, 1, watcher)) == fingerprint(plain));
}

namespace {

/// parse() of a command line; a refusal's message goes to `complaint`.
std::optional<options> parse_line(std::vector<const char*> words, int& exit_code, std::string& complaint) {
  words.insert(words.begin(), "train");
  std::ostringstream captured;
  auto* const before = std::cerr.rdbuf(captured.rdbuf());
  auto result = parse(static_cast<int>(words.size()), words.data(), exit_code);
  std::cerr.rdbuf(before);
  complaint = captured.str();
  return result;
}

}  // namespace

TEST_CASE("options are read", "[train][options]") {
  int exit_code = 0;
  std::string complaint;
  const auto plain = parse_line({}, exit_code, complaint);
  REQUIRE(plain.has_value());
  CHECK(plain->formats.size() == formats().size());
  CHECK(plain->training.step.rate == optimizers().front().usual_rate);
  CHECK(plain->training.network->name == "lenet");
  CHECK(plain->data->name == "digits");

  const auto o = parse_line({"--formats", "fp32", "--seed", "4,5", "--model", "mlp", "--optimizer", "adam", "--lr", "0.5",
                             "--no-master", "--loss-scale", "128", "--accumulate", "narrow", "--dataset", "mnist",
                             "--data", "somewhere"},
                            exit_code, complaint);
  REQUIRE(o.has_value());
  REQUIRE(o->formats.size() == 1);
  CHECK(o->formats[0]->name == "fp32");
  CHECK(o->seeds == std::vector<std::uint64_t>{4, 5});
  CHECK(o->training.network->name == "mlp");
  CHECK(o->training.optimizer->name == "adam");
  CHECK(o->training.step.rate == 0.5f);
  CHECK(o->training.master == master_copy::absent);
  CHECK(o->training.sums == accumulation::narrow);
  CHECK(make_scaler(o->training.loss_scale).scale() == 128);
  CHECK(o->folder == "somewhere");
}

TEST_CASE("options that make no sense are refused in one line that names them", "[train][options]") {
  using words = std::vector<const char*>;
  const std::vector<words> wrong{
      {"--lr", "0"},           {"--lr", "nan"},         {"--lr", "x"},          {"--epochs", "0"},
      {"--batch", "0"},        {"--batch", "1.5"},      {"--momentum", "1"},    {"--weight-decay", "-1"},
      {"--clip-norm", "-1"},   {"--loss-scale", "0"},   {"--loss-scale", "-1"}, {"--loss-scale", "inf"},
      {"--loss-scale", "2x"},  {"--loss-weight", "0"},  {"--limit", "-3"},      {"--formats", "fp99"},
      {"--model", "resnet"},   {"--optimizer", "lion"}, {"--dataset", "mnist"}, {"--data", "folder"},
      {"--accumulate", "big"}, {"--seed", "1,x"},       {"--jobs", "0"},        {"--lr-decay", "1.5"},
      {"--nonsense", "1"}};
  for (const auto& line : wrong) {
    int exit_code = 0;
    std::string complaint;
    INFO(line[0] << ' ' << line[1]);
    CHECK_FALSE(parse_line(line, exit_code, complaint).has_value());
    CHECK(exit_code == 2);
    CHECK(complaint.find(line[0]) != std::string::npos);
    CHECK(complaint.find(line[1]) != std::string::npos);
    CHECK(std::ranges::count(complaint, '\n') == 1);
  }
}

TEST_CASE("the curves as a file", "[train][report]") {
  const folder f;
  const std::string header = "format,seed,epoch,step,loss,accuracy,scale,skipped,seconds\n";
  std::vector<run> runs{{&formats().front(), 7, {}, false}, {&formats().front(), 8, {}, true}};
  runs[1].result.curve = {{1, 10, 0.5f, 0.75, 1024, 2, 1.5}};
  write_csv(f.path() / "curves.csv", runs);
  CHECK(f.read("curves.csv") == header + "fp32,8,1,10,0.5,0.75,1024,2,1.5\n");

  CHECK_THROWS_AS(write_csv(f.path() / "no such folder" / "curves.csv", runs), data_error);
  std::filesystem::create_directory(f.path() / "taken");
  CHECK_THROWS_AS(write_csv(f.path() / "taken", runs), data_error);
  CHECK_FALSE(std::filesystem::exists(f.path() / "taken.partial"));
}

TEST_CASE("the final table averages over seeds", "[train][report]") {
  std::vector<run> runs{{&formats().front(), 1, {}, true}, {&formats().front(), 2, {}, true}};
  runs[0].result = {{{1, 10, 0.5f, 0.97, 1024, 0, 2.0}}, 2000, 4000, 1500000};
  runs[1].result = {{{1, 10, 0.5f, 0.99, 1024, 3, 4.0}}, 2000, 4000, 1500000};
  std::ostringstream out;
  print_table(out, runs);
  const std::string table = out.str();
  CHECK(std::ranges::count(table, '\n') == 2);
  for (const char* part : {"fp32", "98.00 %", "97.00..99.00", " 3.00", "2.0 kB", "4.0 kB", "1.50 MB", " 3\n"}) {
    INFO(part);
    CHECK(table.find(part) != std::string::npos);
  }
}
