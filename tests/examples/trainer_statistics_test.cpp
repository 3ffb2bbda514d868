// What the example trainer finds in the tensors of a run, against counts in another way; and that looking
// changes nothing but what it is asked to change.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "formats/formats.hpp"
#include "models/network.hpp"
#include "options/options.hpp"
#include "report/report.hpp"
#include "trainer_fixtures.hpp"
#include "training/training.hpp"

using namespace narrow_train;

namespace {

using look = tensor_watch::look;

/// Gradients of three channels of different ranges, some zero, some tiny, for ten samples of five pixels.
fp32_matrix few_gradients() {
  fp32_matrix dy = spread(15, 10, 1e-3f, 3);
  for (Eigen::Index i = 0; i < dy.size(); ++i) dy.data()[i] *= i % 3 == 0 ? 1.0f : i % 3 == 1 ? 1e-2f : 1e-5f;
  dy(4, 3) = dy(7, 7) = 0;
  dy(5, 2) = -0x1p-130f;
  return dy;
}

/// The statistics of one tensor, by name.
std::map<std::string, statistic> found(const tensor_watch& watch, const std::string& tensor) {
  std::map<std::string, statistic> all;
  for (const statistic& s : watch.statistics())
    if (s.tensor == tensor) CHECK(all.emplace(s.name, s).second);
  return all;
}

/// What 127 steps to each side of zero up to `clip` make of x: by comparing distances.
double nearest_step(double x, double clip) {
  double best = 0;
  for (int q = -127; q <= 127; ++q)
    if (std::abs(q * clip / 127 - x) < std::abs(best - x)) best = q * clip / 127;
  return best;
}

double relative_error(const fp32_matrix& dy, Eigen::Index channels, const std::vector<double>& clips) {
  double error = 0, all = 0;
  for (Eigen::Index i = 0; i < dy.size(); ++i) {
    const double x = double{dy.data()[i]};
    const double clip = clips[clips.size() == 1 ? 0 : static_cast<std::size_t>(i % channels)];
    error += std::pow(x - nearest_step(x, clip), 2);
    all += x * x;
  }
  return std::sqrt(error / all);
}

}  // namespace

TEST_CASE("statistics of an activation gradient, counted otherwise", "[train][statistics]") {
  constexpr Eigen::Index channels = 3;
  constexpr float scale = 1024;
  const fp32_matrix dy = few_gradients(), x = spread(4, 10, 0.5f, 4), dw = spread(3, 4, 1e-2f, 5);
  const std::vector<float> clips{0.5f * scale * dy.cwiseAbs().maxCoeff(), 3.0f, 2.0f};
  tensor_watch watch;
  watch.begin(look::everything, 2, 70, scale, 0);
  watch.gradients<float>("weights 4", x, scale * dy, channels, scale * dw, clips);
  auto of = found(watch, "activation_gradients");

  for (const auto& [name, s] : of) {
    CHECK(s.epoch == 2);
    CHECK(s.step == 70);
    CHECK(s.layer == "weights 4");
  }
  const auto value = [&](const char* name) { return of.at(name).values.at(0); };
  CHECK(value("zeros") == 2);
  CHECK(value("nonfinite") == 0);
  const double largest = double{dy.cwiseAbs().maxCoeff()};
  CHECK(value("largest") == largest);

  std::map<int, double> exponents;
  std::vector<double> values(64);
  std::map<std::string, std::vector<double>> groups;
  for (Eigen::Index n = 0; n < dy.cols(); ++n)
    for (Eigen::Index i = 0; i < dy.rows(); ++i) {
      const double g = double{dy(i, n)};
      int exponent = 0;
      if (g != 0) {
        std::frexp(g, &exponent);
        ++exponents[exponent - 1];
      }
      std::size_t bin = 0;
      while (bin < 63 && g >= largest * (2.0 * static_cast<double>(bin + 1) / 64 - 1)) ++bin;
      ++values[bin];
      for (const std::string& group :
           {"values_channel_" + std::to_string(i % channels), "values_sample_" + std::to_string(n)}) {
        groups[group].resize(64);
        ++groups[group][bin];
      }
    }
  const statistic& counted = of.at("exponents");
  CHECK(counted.first_bin == exponents.begin()->first);
  CHECK(counted.first_bin == -130);
  for (std::size_t i = 0; i < counted.values.size(); ++i) {
    const auto bin = exponents.find(counted.first_bin + static_cast<int>(i));
    CHECK(counted.values[i] == (bin == exponents.end() ? 0 : bin->second));
  }
  CHECK(counted.first_bin + static_cast<int>(counted.values.size()) == exponents.rbegin()->first + 1);
  CHECK(of.at("values").values == values);
  int shown = 0;
  for (const auto& [name, counts] : groups)
    if (name != "values_sample_8" && name != "values_sample_9") {
      INFO(name);
      CHECK(of.at(name).values == counts);
      ++shown;
    }
  CHECK(shown == 3 + 8);
  CHECK(of.count("values_sample_8") == 0);

  const auto largest_of = [&](Eigen::Index channel) {
    double most = 0;
    for (Eigen::Index i = channel; i < dy.size(); i += channels)
      most = std::max(most, std::abs(double{dy.data()[i]}));
    return most;
  };
  const std::vector<double> by_channel{largest_of(0), largest_of(1), largest_of(2)};
  CHECK(value("error_global") == Approx(relative_error(dy, channels, {largest})).epsilon(1e-3));
  CHECK(value("error_gvq") == Approx(relative_error(dy, channels, by_channel)).epsilon(1e-3));
  CHECK(value("error_gvq") < 0.8 * value("error_global"));
  std::vector<double> unscaled_clips;
  for (const float clip : clips) unscaled_clips.push_back(double{clip} / double{scale});
  CHECK(value("error_both") == Approx(relative_error(dy, channels, unscaled_clips)).epsilon(1e-3));
  CHECK(of.count("error_mcs") == 0);

  // Distances by their definition, on both sides of every element.
  std::vector<double> sample(dy.data(), dy.data() + dy.size());
  const auto n = static_cast<double>(sample.size());
  double mean = 0, variance = 0;
  for (const double g : sample) mean += g / n;
  for (const double g : sample) variance += (g - mean) * (g - mean) / n;
  const double sigma = std::sqrt(variance);
  const auto inside =
      static_cast<double>(std::ranges::count_if(sample, [&](double g) { return std::abs(g) < sigma; })) / n;
  const auto gaussian = [&](double g) { return 0.5 * (1 + std::erf((g - mean) / sigma / std::sqrt(2.0))); };
  const auto inverted_t = [&](double g) {
    const double d = std::abs(g);
    const double share = d < sigma ? inside * d / sigma
                                   : inside + (1 - inside) * std::min(1.0, (d - sigma) / (largest - sigma));
    return 0.5 + std::copysign(share / 2, g);
  };
  const auto distance = [&](const auto& cdf) {
    double most = 0;
    for (const double g : sample) {
      const auto below = static_cast<double>(std::ranges::count_if(sample, [&](double o) { return o < g; }));
      const auto up_to = static_cast<double>(std::ranges::count_if(sample, [&](double o) { return o <= g; }));
      most = std::max({most, std::abs(below / n - cdf(g)), std::abs(up_to / n - cdf(g))});
    }
    return most;
  };
  CHECK(value("ks_gaussian") == Approx(distance(gaussian)).epsilon(1e-6));
  CHECK(value("ks_inverted_t") == Approx(distance(inverted_t)).epsilon(1e-6));

  CHECK(found(watch, "activations").at("largest").values.at(0) == double{x.cwiseAbs().maxCoeff()});
  CHECK(watch.scaled_gradients().max_abs() ==
        std::max(double{scale} * largest, double{scale * dw.cwiseAbs().maxCoeff()}));
}

TEST_CASE("a step that is not looked at leaves nothing", "[train][statistics]") {
  const fp32_matrix m = few_gradients();
  tensor_watch watch;
  watch.begin(look::none, 1, 1, 1, 0);
  watch.gradients<float>("weights 1", m, m, 3, m);
  watch.weights("weights 1", m, m);
  CHECK(watch.statistics().empty());
  CHECK(watch.scaled_gradients().total() == 0);
  watch.begin(look::gradients, 1, 2, 1, 0);
  watch.gradients<float>("weights 1", m, m, 3, m);
  watch.weights("weights 1", m, m);
  CHECK(watch.statistics().empty());
  CHECK(watch.scaled_gradients().total() == 2 * static_cast<std::uint64_t>(m.size()));
}

TEST_CASE("gradients without a finite number, or a number but zero", "[train][statistics]") {
  tensor_watch watch;
  watch.begin(look::everything, 1, 1, 1, 0);
  const fp32_matrix zero = fp32_matrix::Zero(6, 2);
  fp32_matrix infinite = zero;
  infinite(1, 1) = std::numeric_limits<float>::infinity();
  watch.gradients<float>("weights 1", zero, zero, 3, zero);
  watch.gradients<float>("weights 2", zero, infinite, 3, zero);
  int seen = 0;
  for (const statistic& s : watch.statistics()) {
    if (s.tensor != "activation_gradients") continue;
    const bool first = s.layer == "weights 1";
    if (s.name == "nonfinite") CHECK(s.values == std::vector<double>{first ? 0.0 : 1.0});
    if (s.name == "zeros") CHECK(s.values == std::vector<double>{first ? 12.0 : 11.0});
    if (s.name == "exponents") CHECK(s.values.empty());
    seen += s.name == "zeros";
  }
  CHECK(seen == 2);
}

TEST_CASE("small gradients are flushed, whatever the loss scale", "[train][statistics]") {
  const fp32_matrix dy = few_gradients();
  fp32_matrix left;
  tensor_watch watch;
  watch.begin(look::none, 1, 0, 1, 0);
  CHECK(&watch.flushed(dy, left) == &dy);
  for (const float scale : {1.0f, 4096.0f}) {
    watch.begin(look::none, 1, 0, scale, 0x1p-12f);
    const fp32_matrix scaled = scale * dy;
    const fp32_matrix& flushed = watch.flushed(scaled, left);
    int zeros = 0;
    for (Eigen::Index i = 0; i < dy.size(); ++i) {
      const bool kept = std::abs(double{dy.data()[i]}) >= std::pow(2.0, -12);
      CHECK(flushed.data()[i] == (kept ? scaled.data()[i] : 0.0f));
      zeros += !kept;
    }
    CHECK(zeros > 50);
    CHECK(zeros < 140);
  }
}

namespace {

class nobody final : public observer {
 public:
  void batch_done(std::size_t, float, float, std::uint64_t) override {}
  void epoch_done(const curve_point&) override {}
};

train_and_test few_digits() { return {draw_digits(64, 1), draw_digits(20, 2)}; }

training_settings two_epochs() {
  training_settings settings;
  settings.epochs = 2;
  settings.batch = 8;
  settings.step.rate = 0.02f;
  return settings;
}

const format& named(std::string_view name) {
  const auto found = std::ranges::find(formats(), name, &format::name);
  REQUIRE(found != formats().end());
  return *found;
}

training_result trained(const char* format, const training_settings& settings) {
  nobody watcher;
  return named(format).train(settings, few_digits(), 3, watcher);
}

void check_same_curve(const training_result& a, const training_result& b) {
  REQUIRE(a.curve.size() == b.curve.size());
  for (std::size_t i = 0; i < a.curve.size(); ++i) {
    CHECK(std::memcmp(&a.curve[i].loss, &b.curve[i].loss, sizeof(float)) == 0);
    CHECK(a.curve[i].accuracy == b.curve[i].accuracy);
    CHECK(a.curve[i].scale == b.curve[i].scale);
  }
}

}  // namespace

TEST_CASE("looking changes nothing", "[train][statistics]") {
  for (const char* format : {"fp32", "fp16", "hbfp8", "int8", "marvin"}) {
    INFO(format);
    training_settings settings = two_epochs();
    if (named(format).quantised) settings.recipes.clip = gradient_clip::both;
    const training_result without = trained(format, settings);
    CHECK(without.statistics.empty());
    settings.look = {3, true};
    const training_result with = trained(format, settings);
    check_same_curve(with, without);
    // Steps 0, 3, ... 15 of 16; five layers of lenet; four tensors.
    const auto largest = std::ranges::count(with.statistics, "largest", &statistic::name);
    CHECK(largest == 6 * 5 * 4);
    const auto both = std::ranges::count(with.statistics, "error_both", &statistic::name);
    CHECK(both == (std::string(format) == "int8" ? 6 * 5 : 0));
  }
}

TEST_CASE("flushing everything stops training, flushing nothing that there is changes nothing",
          "[train][statistics]") {
  for (const char* format : {"fp32", "fp16"}) {
    INFO(format);
    training_settings settings = two_epochs();
    const training_result as_usual = trained(format, settings);
    settings.flush_below = 0x1p-149f;
    check_same_curve(trained(format, settings), as_usual);
    settings.flush_below = 1e6f;
    const training_result stopped = trained(format, settings);
    CHECK(stopped.curve[0].accuracy == stopped.curve[1].accuracy);
    CHECK(stopped.curve[1].loss == Approx(stopped.curve[0].loss).epsilon(1e-3));
    CHECK(as_usual.curve[1].loss < 0.98f * stopped.curve[1].loss);
  }
}

TEST_CASE("the loss scale that the gradients ask for", "[train][statistics]") {
  training_settings settings = two_epochs();
  settings.epochs = 1;
  settings.look = {8, true};
  settings.loss_scale = "1024";
  const training_result constant = trained("fp16", settings);
  settings.loss_scale = "auto";
  settings.look.statistics = false;
  const training_result automatic = trained("fp16", settings);
  // Of its only look, at the first of eight steps: the largest 2^n below 65504 over the largest gradient,
  // over four.
  double largest = 0;
  for (const statistic& s : constant.statistics)
    if (s.name == "largest" && s.tensor.ends_with("gradients")) largest = std::max(largest, s.values[0]);
  REQUIRE(largest > 0);
  const double scale = std::pow(2.0, std::floor(std::log2(65504 / largest))) / 4;
  CHECK(double{automatic.curve[0].scale} == scale);
  CHECK(automatic.curve[0].skipped == 0);
}

TEST_CASE("statistics and the automatic scale go on after a stop", "[train][statistics][checkpoint]") {
  const folder f;
  training_settings settings = two_epochs();
  settings.loss_scale = "auto";
  settings.look = {3, true};
  const training_result whole = trained("fp16", settings);
  settings.checkpoints = f.path();
  settings.epochs = 1;
  static_cast<void>(trained("fp16", settings));
  settings.epochs = 2;
  settings.start = run_start::checkpoint;
  const training_result parts = trained("fp16", settings);
  check_same_curve(parts, whole);
  REQUIRE(parts.statistics.size() == whole.statistics.size());
  for (std::size_t i = 0; i < whole.statistics.size(); ++i) {
    const statistic &a = parts.statistics[i], &b = whole.statistics[i];
    CHECK((a.epoch == b.epoch && a.step == b.step && a.layer == b.layer && a.tensor == b.tensor));
    CHECK((a.name == b.name && a.first_bin == b.first_bin && a.values == b.values));
  }
}

TEST_CASE("statistics as a file", "[train][statistics][report]") {
  const folder f;
  std::vector<run> runs{{&formats().front(), 7, {}, true}};
  runs[0].result.statistics = {{1, 0, "weights 1", "weights", "largest", 0, {0.75}},
                               {1, 0, "weights 1", "weights", "exponents", -3, {1, 0, 5}}};
  write_statistics(f.path() / "s.csv", runs);
  CHECK(f.read("s.csv") ==
        "format,seed,epoch,step,layer,tensor,statistic,first_bin,values\n"
        "fp32,7,1,0,weights 1,weights,largest,0,0.75\n"
        "fp32,7,1,0,weights 1,weights,exponents,-3,1 0 5\n");
}

namespace {

std::optional<options> parsed(std::vector<const char*> arguments, int& exit_code) {
  arguments.insert(arguments.begin(), "train");
  return parse(static_cast<int>(arguments.size()), arguments.data(), exit_code);
}

}  // namespace

TEST_CASE("options of looking", "[train][statistics][options]") {
  int exit_code = 0;
  const auto asked =
      parsed({"--flush-below", "2^-27", "--statistics-csv", "s.csv", "--statistics-every", "7"}, exit_code);
  REQUIRE(asked);
  CHECK(asked->training.flush_below == 0x1p-27f);
  CHECK(asked->training.look.statistics);
  CHECK(asked->training.look.every == 7);
  const auto number =
      parsed({"--flush-below", "0.125", "--loss-scale", "auto", "--statistics-every", "9"}, exit_code);
  REQUIRE(number);
  CHECK(number->training.flush_below == 0.125f);
  CHECK_FALSE(number->training.look.statistics);

  int refused = 0;
  for (const std::vector<const char*>& wrong : {std::vector<const char*>{"--flush-below", "2^-150"},
                                                {"--flush-below", "2^"},
                                                {"--flush-below", "2^x"},
                                                {"--flush-below", "-1"},
                                                {"--flush-below", "nan"},
                                                {"--statistics-every", "7"},
                                                {"--statistics-csv", "s.csv", "--statistics-every", "0"},
                                                {"--loss-scale", "automatic"}}) {
    exit_code = 0;
    INFO(wrong[0] << ' ' << wrong[1]);
    CHECK_FALSE(parsed(wrong, exit_code));
    CHECK(exit_code == 2);
    ++refused;
  }
  CHECK(refused == 8);
}
