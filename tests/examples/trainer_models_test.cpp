// The models of the example trainer: how large they are, which images they take, that they train.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "formats/formats.hpp"
#include "models/network.hpp"
#include "trainer_fixtures.hpp"

using namespace narrow_train;

namespace {

const model& named(std::string_view name) {
  return *std::ranges::find(models(), name, [](const model& m) { return m.name; });
}

template <class S> Eigen::Index parameter_count(network<S>& net) {
  Eigen::Index count = 0;
  for (const auto* p : net.parameters().weights) count += p->value.size();
  for (const auto* p : net.parameters().per_channel) count += p->value.size();
  return count;
}

class losses final : public observer {
 public:
  void batch_done(std::size_t, float loss, float, std::uint64_t) override { values.push_back(loss); }
  void epoch_done(const curve_point&) override {}
  std::vector<float> values;
};

}  // namespace

TEST_CASE("ResNet-20: parameters and shapes", "[train][models]") {
  network<float> net(named("resnet20"), {32, 32, 3}, 10, {});
  const auto parameters = net.parameters();
  CHECK(parameters.weights.size() == 20);
  CHECK(parameters.per_channel.size() == 19 * 2 + 1);
  CHECK(parameters.buffers.size() == 19 * 2);
  // He et al. (2015), table 6: 0.27 M. The first convolution; the first of each stage, and the others of it;
  // gamma and beta; the dense layer.
  const int convolutions = 9 * (3 * 16 + 6 * 16 * 16 + 16 * 32 + 5 * 32 * 32 + 32 * 64 + 5 * 64 * 64);
  const int norms = 2 * (7 * 16 + 6 * 32 + 6 * 64);
  CHECK(convolutions + norms + 64 * 10 + 10 == 269722);
  CHECK(parameter_count(net) == 269722);

  CHECK(net.forward(spread(32 * 32 * 3, 2, 1e-3f, 1)).rows() == 10);
  network<float> grey(named("resnet20"), {28, 28, 1}, 10, {});
  CHECK(parameter_count(grey) == 269722 - 9 * 2 * 16);
  CHECK(grey.forward(spread(28 * 28, 2, 1e-3f, 1)).rows() == 10);
}

TEST_CASE("in inference an image's class does not depend on its batch", "[train][models]") {
  const model small{"small", "", residual_layers(std::array{4, 8}, 1, shortcut::projection)};
  network<float> net(small, {8, 8, 1}, 3, {});
  random_stream random(1, purpose::weights);
  for (auto* p : net.parameters().weights) p->store(he_normal(p->value.rows(), p->value.cols(), random));
  const fp32_matrix x = spread(64, 6, 0.01f, 1);
  const fp32_matrix trained = net.forward(x, phase::training);
  const fp32_matrix all = net.forward(x, phase::inference);
  const fp32_matrix one = net.forward(fp32_matrix(x.col(4)), phase::inference);
  CHECK((one - all.col(4)).norm() <= 1e-6f * one.norm());
  CHECK((trained - all).norm() > 0.01f * all.norm());
}

TEST_CASE("AlexNet and MobileNet: parameters", "[train][models]") {
  network<float> alexnet(named("alexnet"), {32, 32, 3}, 10, {});
  CHECK(alexnet.parameters().weights.size() == 8);
  CHECK(alexnet.parameters().buffers.empty());
  const int convolutions = 9 * (3 * 64 + 64 * 192 + 192 * 384 + 384 * 256 + 256 * 256);
  CHECK(parameter_count(alexnet) == convolutions + 1152 + 1025 * 512 + 513 * 512 + 513 * 10);

  network<float> mobilenet(named("mobilenet"), {32, 32, 3}, 10, {});
  CHECK(mobilenet.parameters().weights.size() == 1 + 2 * 5 + 1);
  const int depthwise = 9 * (32 + 64 + 128 + 128 + 256);
  const int pointwise = 32 * 64 + 64 * 128 + 128 * 128 + 128 * 256 + 256 * 256;
  const int norms = 2 * (32 + 32 + 64 + 64 + 128 + 128 + 128 + 128 + 256 + 256 + 256);
  CHECK(parameter_count(mobilenet) == 27 * 32 + depthwise + pointwise + norms + 257 * 10);
}

TEST_CASE("every model trains on a few images", "[train][models]") {
  const train_and_test data{draw_digits(8, 1), draw_digits(1, 2)};
  training_settings settings;
  settings.epochs = 5;
  settings.batch = 8;
  settings.loss_scale = "128";
  settings.optimizer = &optimizers().back();  // Adam
  for (const model& m : models())
    for (const format& f : formats()) {
      if (f.name != "fp32" && f.name != "fp16" && f.name != "hbfp8") continue;
      INFO(m.name << ' ' << f.name);
      settings.network = &m;
      settings.step.rate =
          m.name == "alexnet" ? 2e-4f : 1e-3f;  // without normalisation, wide layers need less
      losses seen;
      f.train(settings, data, 1, seen);
      REQUIRE(seen.values.size() == 5);
      CHECK(seen.values.back() < 0.9f * seen.values.front());
    }
}
