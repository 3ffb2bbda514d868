// The oracle keeps all gradients and losses, and computes each step anew from those since the last switch, in
// long double.
#include "narrow/train/precision_switch.hpp"

#include <bit>
#include <cmath>
#include <random>

#include "catch.hpp"
#include "float_control.hpp"
#include "narrow/eigen.hpp"
#include "refusal.hpp"
#include "train/saved_state.hpp"

namespace {

using narrow::fixed_format;
using narrow::precision_strategy;
using narrow::precision_switch;
using narrow::precision_switch_options;
using narrow::push_up;
using narrow::push_up_form;
using narrow_test::refused;
using narrow_test::saved;
using narrow_test::with_field;

const float infinity = std::bit_cast<float>(0x7f800000u);
const float not_a_number = std::bit_cast<float>(0x7fc00000u);

/// Short lookbacks: a few steps show what happens.
precision_switch_options quick() {
  return {.min_lookback = 3, .max_lookback = 12, .min_resolution = 20, .max_resolution = 26};
}

std::string message_of(const precision_switch_options& options) {
  return test::refusal([&] { precision_switch formats(options); });
}

/// The printed formulas in long double, as they stand.
fixed_format push_up_oracle(fixed_format low, long double ds, precision_strategy strategy, push_up_form form,
                            int buffer) {
  const long double log = ds > 0 && ds < 1e300L ? std::log(ds) : 1;
  long double s1 = 1, s2 = 1;
  if (form == push_up_form::printed) {
    if (log > 1) s1 = std::fmax(std::ceil(1 / (log - 1)), 1.0L);
    s2 = std::fmax(std::fmin(32 * log * log - 1, 32.0L) - low.fl, 1.0L);
  } else if (const long double x = log - 1; x > 0) {
    s1 = std::fmax(std::ceil(1 / (x * x)), 1.0L);
    s2 = std::fmax(std::fmin(std::ceil(32 * x * x), 32.0L) - low.fl, 0.0L);
  }
  const long double s = strategy == precision_strategy::min    ? std::fmin(s1, s2)
                        : strategy == precision_strategy::mean ? (s1 + s2) / 2
                                                               : std::fmax(s1, s2);
  int fl = static_cast<int>(std::fmin(low.fl + std::ceil(s), 32.0L));
  int wl = std::min(std::max(low.wl, fl) + 1, 32);
  if (fl > 32 - buffer) fl = 32 - buffer;
  if (wl < std::min(fl + buffer, 32)) wl = std::min(fl + buffer, 32);
  while (fl >= wl) --fl;
  return {wl, fl};
}

class layer_oracle {
 public:
  explicit layer_oracle(const precision_switch_options& options)
      : format(options.initial_format), lookback(options.min_lookback), resolution(options.min_resolution) {}

  void step(const std::vector<float>& weights, const std::vector<float>& gradient,
            precision_strategy strategy, const precision_switch_options& options) {
    long double squares = 0;
    bool usable = true;
    for (const float g : gradient) {
      squares += static_cast<long double>(g) * static_cast<long double>(g);
      usable = usable && (std::bit_cast<std::uint32_t>(g) & 0x7fffffffu) < 0x7f800000u;
    }
    if (!usable || squares == 0) {
      ++skipped;
      return;
    }
    window.push_back(gradient);
    const long double k = static_cast<long double>(window.size());
    const long double ds = diversity();
    if (window.size() >= 2) {
      const double upper = options.max_lookback, lower = options.min_lookback;
      const auto n = static_cast<double>(std::fmax(lower, std::fmin(upper, std::ceil(upper / ds))));
      lookback = std::fmax(lower, std::fmin(upper, options.gamma * n + (1 - options.gamma) * lookback));
      if (n == upper && resolution < options.max_resolution) ++resolution;
      if (n == lower && n != upper && resolution > options.min_resolution) --resolution;
    }
    if (k < static_cast<long double>(lookback)) return;
    const auto low = narrow::find_lossless_format(weights, resolution, options.tolerance, options.smoothing);
    format = push_up_oracle(low.format, ds, strategy, options.push_up, options.buffer_bits);
    window.clear();
    ++switches;
  }

  long double diversity() const {
    std::vector<long double> sum(window.empty() ? 0 : window[0].size());
    for (const auto& g : window) {
      long double squares = 0;
      for (const float x : g) squares += static_cast<long double>(x) * static_cast<long double>(x);
      for (std::size_t i = 0; i < g.size(); ++i)
        sum[i] += static_cast<long double>(g[i]) / std::sqrt(squares);
    }
    long double squares = 0;
    for (const long double x : sum) squares += x * x;
    return static_cast<long double>(window.size()) / std::sqrt(squares);
  }

  fixed_format format;
  double lookback;
  int resolution;
  std::uint64_t switches = 0, skipped = 0;
  std::vector<std::vector<float>> window;
};

precision_strategy strategy_oracle(precision_strategy before, const std::vector<double>& earlier, double loss,
                                   const std::vector<layer_oracle>& layers) {
  double lookbacks = 0;
  for (const auto& layer : layers) lookbacks += layer.lookback;
  const auto n = static_cast<std::size_t>(std::ceil(lookbacks / static_cast<double>(layers.size())));
  if (earlier.size() < n) return before;
  long double sum = 0;
  for (std::size_t i = earlier.size() - n; i < earlier.size(); ++i)
    sum += static_cast<long double>(earlier[i]);
  if (sum / static_cast<long double>(n) > static_cast<long double>(loss)) return precision_strategy::min;
  return before == precision_strategy::min ? precision_strategy::mean : precision_strategy::max;
}

struct problem {
  std::vector<std::vector<float>> weights;
  std::vector<float> agreement;  // of a layer's gradients with one another
  std::mt19937 random;
  std::vector<std::vector<float>> directions;

  explicit problem(unsigned seed) : random(seed) {
    for (const int size : {40, 300, 7, 1}) {
      weights.push_back(noise(size, 0.3f));
      directions.push_back(noise(size, 1));
    }
    agreement = {0, 0.3f, 2, 0.1f};
  }
  std::vector<float> noise(int n, float size) {
    std::normal_distribution<float> normal(0, size);
    std::vector<float> x;
    for (int i = 0; i < n; ++i) x.push_back(normal(random));
    return x;
  }
  std::vector<float> gradient(std::size_t layer) {
    auto g = noise(static_cast<int>(weights[layer].size()), 1e-3f);
    for (std::size_t i = 0; i < g.size(); ++i) g[i] += 1e-3f * agreement[layer] * directions[layer][i];
    for (std::size_t i = 0; i < g.size(); ++i) weights[layer][i] -= g[i];
    return g;
  }
};

const std::vector<std::string> names = {"conv 1", "conv 2", "dense", "bias"};

}  // namespace

TEST_CASE("every step of a run agrees with its whole history") {
  int compared = 0, wrong = 0;
  int cancelled = 0;
  std::uint64_t switches = 0, skipped = 0;
  std::vector<int> strategies(3);
  std::vector<bool> resolutions(100), word_lengths(33);
  for (const auto form : {push_up_form::adapt, push_up_form::printed})
    for (const double gamma : {0.9, 0.33})
      for (const unsigned seed : {1u, 2u, 3u}) {
        auto options = quick();
        options.gamma = gamma;
        options.push_up = form;
        options.buffer_bits = static_cast<int>(seed) * 2;
        precision_switch formats(options);
        problem p(seed);
        std::vector<layer_oracle> oracle(4, layer_oracle(options));
        std::vector<double> losses;
        precision_strategy strategy = precision_strategy::min;
        std::uniform_real_distribution<double> uniform(0, 1);
        for (int step = 0; step < 120; ++step) {
          const double loss = 3.0 / (step + 10) + 0.05 * uniform(p.random) + (step % 40 > 30 ? 0.2 : 0);
          for (std::size_t l = 0; l < 4; ++l) {
            auto gradient = p.gradient(l);
            if (p.random() % 25 == 0) gradient.assign(gradient.size(), 0);
            if (p.random() % 25 == 0) gradient.back() = p.random() % 2 == 0 ? infinity : not_a_number;
            if (l == 0) {
              // Until the end of the first call the oracle knows of the first layer alone.
              const std::vector<layer_oracle> known(oracle.begin(),
                                                    step == 0 ? oracle.begin() + 1 : oracle.end());
              strategy = strategy_oracle(strategy, losses, loss, known);
              losses.push_back(loss);
            }
            oracle[l].step(p.weights[l], gradient, strategy, options);
            const fixed_format f = formats.observe(names[l], p.weights[l], gradient, loss);
            const auto& report = formats.layer(names[l]);
            wrong += f != oracle[l].format || report.format != f;
            wrong += report.lookback != oracle[l].lookback;
            wrong += report.resolution != oracle[l].resolution;
            wrong += report.switches != oracle[l].switches || report.skipped != oracle[l].skipped;
            wrong += formats.strategy() != strategy;
            wrong += report.observed != static_cast<std::uint64_t>(step + 1);
            if (oracle[l].window.size() >= 2) {
              const auto ds = static_cast<double>(oracle[l].diversity());
              wrong += report.diversity != ds && !(std::fabs(report.diversity - ds) <= 1e-12 * ds);
              cancelled += ds > 1e300;
            }
            wrong += !(0 <= f.fl && f.fl < f.wl && f.wl <= 32);
            resolutions[static_cast<std::size_t>(report.resolution)] = true;
            word_lengths[static_cast<std::size_t>(f.wl)] = true;
            ++compared;
          }
          ++strategies[static_cast<std::size_t>(strategy)];
        }
        CHECK(formats.steps() == 120);
        CHECK(formats.layers() == std::vector<std::string>{"bias", "conv 1", "conv 2", "dense"});
        std::uint64_t layer_skips = 0;
        for (const auto& layer : oracle) {
          switches += layer.switches;
          layer_skips += layer.skipped;
        }
        CHECK(formats.skipped() == layer_skips);
        skipped += layer_skips;
      }
  CHECK(wrong == 0);
  CHECK(compared == 2 * 2 * 3 * 120 * 4);
  CHECK(switches > 500);
  CHECK(skipped > 200);
  CHECK(cancelled > 20);
  for (const int n : strategies) CHECK(n > 50);
  CHECK(std::count(resolutions.begin(), resolutions.end(), true) == 7);
  CHECK(std::count(word_lengths.begin(), word_lengths.end(), true) > 8);
}

TEST_CASE("PushUp, by hand") {
  using enum precision_strategy;
  using enum push_up_form;
  const double e = std::exp(1.0);
  const fixed_format low(11, 10);
  // ln ds <= 1: one bit. 11, then max(11, 11) + 1 = 12, then 11 + 4 = 15.
  CHECK(push_up(low, 1, min, adapt, 0) == fixed_format(12, 11));
  CHECK(push_up(low, 1, min, adapt, 4) == fixed_format(15, 11));
  CHECK(push_up(low, e * 0.999, max, adapt, 4) == fixed_format(15, 11));
  // ds = e^1.5, x = 1/2: s1 = 4, s2 = min(8, 32) - 10 = 0 at least; mean 2.
  const double half = std::exp(1.5);
  CHECK(push_up(low, half, min, adapt, 0) == fixed_format(12, 10));
  CHECK(push_up(low, half, mean, adapt, 0) == fixed_format(13, 12));
  CHECK(push_up(low, half, max, adapt, 0) == fixed_format(15, 14));
  CHECK(push_up(low, half, max, adapt, 8) == fixed_format(22, 14));
  CHECK(push_up({10, 4}, 3, mean, adapt, 4) ==
        fixed_format(32, 28));  // (103 + 0) / 2 bits are more than there is room for
  // ds = e^3, x = 2: s1 = 1, s2 = 32 - 10; FL = 32, WL = 32, then FL < WL or 32 - 4.
  CHECK(push_up(low, e * e * e, max, adapt, 0) == fixed_format(32, 31));
  CHECK(push_up(low, e * e * e, max, adapt, 4) == fixed_format(32, 28));
  CHECK(push_up(low, e * e * e, mean, adapt, 0) == fixed_format(23, 22));  // (1 + 22) / 2 rounded up
  // Printed, ln ds = 1.5: s1 = ceil(1 / 0.5) = 2, s2 = min(72 - 1, 32) - 10 = 22.
  CHECK(push_up(low, half, min, printed, 0) == fixed_format(13, 12));
  CHECK(push_up(low, half, mean, printed, 0) == fixed_format(23, 22));
  CHECK(push_up(low, half, max, printed, 0) == fixed_format(32, 31));
  // Printed, ln ds = 0.6: s1 = 1, s2 = 32 * 0.36 - 1 - 10 = 0.52, at least 1.
  CHECK(push_up(low, std::exp(0.6), max, printed, 0) == fixed_format(12, 11));
  CHECK(push_up({4, 2}, std::exp(0.6), max, printed, 0) == fixed_format(12, 11));  // 11.52 - 1 - 2 = 8.52
  // Gradients that cancel, and none: ln ds counts as 1.
  for (const auto strategy : {min, mean, max})
    for (const double ds : {static_cast<double>(infinity), 0.0, std::nan("")})
      CHECK(push_up(low, ds, strategy, adapt, 4) == fixed_format(15, 11));
  CHECK(push_up({8, 4}, 0, min, printed, 0) == fixed_format(9, 5));
  CHECK(push_up({8, 4}, static_cast<double>(infinity), max, printed, 0) ==
        fixed_format(32, 31));  // 31 - 4 bits
  CHECK(push_up({32, 31}, 1e6, max, adapt, 0) == fixed_format(32, 31));
  CHECK(push_up({32, 0}, 1, min, adapt, 30) == fixed_format(32, 1));
  CHECK_THROWS_WITH(push_up(low, 1, min, adapt, 31),
                    "narrow::push_up: buffer_bits is 31, must be in [0, 30]");
  CHECK_THROWS_AS(push_up(low, 1, min, adapt, -1), std::invalid_argument);
  fixed_format none;
  none.wl = 1;
  CHECK_THROWS_AS(push_up(none, 1, min, adapt, 4), std::invalid_argument);
}

TEST_CASE("PushUp agrees with the formulas everywhere") {
  int compared = 0, wrong = 0;
  for (int wl = 2; wl <= 32; ++wl)
    for (int fl = 0; fl < wl; ++fl)
      for (double log_ds = 0.013; log_ds < 5; log_ds += 0.0731)
        for (const int buffer : {0, 4, 8, 30})
          for (const auto strategy :
               {precision_strategy::min, precision_strategy::mean, precision_strategy::max})
            for (const auto form : {push_up_form::printed, push_up_form::adapt}) {
              const double ds = std::exp(log_ds);
              wrong += push_up({wl, fl}, ds, strategy, form, buffer) !=
                       push_up_oracle({wl, fl}, static_cast<long double>(ds), strategy, form, buffer);
              ++compared;
            }
  CHECK(wrong == 0);
  CHECK(compared == 527 * 69 * 4 * 3 * 2);
}

TEST_CASE("the defaults are the paper's") {
  const precision_switch formats;
  const auto& options = formats.options();
  CHECK(options.min_lookback == 25);
  CHECK(options.max_lookback == 100);
  CHECK(options.min_resolution == 50);
  CHECK(options.max_resolution == 150);
  CHECK(options.gamma == 0.9);
  CHECK(options.buffer_bits == 4);
  CHECK(options.push_up == push_up_form::adapt);
  CHECK(formats.strategy() == precision_strategy::min);
  CHECK(formats.steps() == 0);
  precision_switch once;
  const std::vector<float> w = {1, 2}, g = {1, -1};
  CHECK(once.observe("a", w, g, 1) == fixed_format(8, 4));
  CHECK(once.layer("a").lookback == 25);
  CHECK(once.layer("a").resolution == 50);
  CHECK(once.layer("a").diversity == 0);
  CHECK(once.layer("a").gradient_norm == std::sqrt(2.0));
  CHECK_THROWS_WITH(once.layer("b"), "narrow::precision_switch::layer: \"b\" was never observed");
}

TEST_CASE("the lookback moves with the diversity, both ways") {
  // Equal gradients: ds = 1, n = 100, lb = 0.9 * 100 + 0.1 * 25, then on to 100; the resolution grows.
  precision_switch formats({.gamma = 0.9});
  const std::vector<float> w = {0.5f, -0.25f}, g = {3, 4};
  const auto lookback = [&] { return formats.layer("a").lookback; };
  formats.observe("a", w, g, 1);
  CHECK(lookback() == 25);
  formats.observe("a", w, g, 1);
  CHECK(lookback() == Approx(92.5).epsilon(1e-15));
  CHECK(formats.layer("a").resolution == 51);
  formats.observe("a", w, g, 1);
  CHECK(lookback() == Approx(99.25).epsilon(1e-15));
  for (int i = 3; i < 99; ++i) formats.observe("a", w, g, 1);
  CHECK(formats.layer("a").switches == 0);
  CHECK(formats.layer("a").resolution == 148);
  formats.observe("a", w, g, 1);
  CHECK(formats.layer("a").switches == 1);
  CHECK(formats.layer("a").switch_diversity == Approx(1).epsilon(1e-15));
  // Gradients that cancel: ds is infinite after two, n = 25, so back to the lower bound.
  const std::vector<float> opposite = {-3, -4};
  formats.observe("a", w, g, 1);
  formats.observe("a", w, opposite, 1);
  CHECK(formats.layer("a").diversity == static_cast<double>(infinity));
  CHECK(lookback() == Approx(0.9 * 25 + 0.1 * 100).epsilon(1e-12));
  CHECK(formats.layer("a").resolution == 148);  // grew by one, shrank by one, in 100 and 2 steps
}

TEST_CASE("a lookback at its bound stays there") {
  // In double 0.33 * 27 + (1 - 0.33) * 27 is less than 27, and 0.1 * 13 + (1 - 0.1) * 13 more than 13.
  for (const auto& [gamma, bound] : {std::pair{0.33, 27}, {0.1, 13}}) {
    precision_switch formats({.min_lookback = bound, .max_lookback = bound, .gamma = gamma}), restored;
    const std::vector<float> w = {0.5f, -0.25f}, g = {3, 4};
    for (int i = 0; i < 5; ++i) formats.observe("a", w, g, 1);
    CHECK(formats.layer("a").lookback == bound);
    std::stringstream stream(saved(formats));
    CHECK_NOTHROW(stream >> restored);
  }
}

TEST_CASE("a step is one observation of each layer, whatever their order and number") {
  precision_switch formats(quick());
  const std::vector<float> w = {1, 2}, g = {1, -1};
  const auto observe = [&](const char* layer) { formats.observe(layer, w, g, 1); };
  observe("a");
  observe("b");
  observe("c");
  CHECK(formats.steps() == 1);
  observe("c");
  observe("a");
  CHECK(formats.steps() == 2);
  observe("d");  // new in this step
  observe("b");
  CHECK(formats.steps() == 2);
  observe("a");  // b is left out
  observe("c");
  observe("a");
  CHECK(formats.steps() == 4);
  CHECK(formats.layer("b").observed == 2);
  CHECK(formats.layer("a").observed == 4);
}

TEST_CASE("the strategy climbs while the loss stalls, and falls back") {
  auto options = quick();
  options.max_lookback = 3;  // every lookback is 3
  precision_switch formats(options);
  const std::vector<float> w = {1, 2}, g = {1, -1};
  using enum precision_strategy;
  const auto after = [&](double loss) {
    formats.observe("a", w, g, loss);
    return formats.strategy();
  };
  CHECK(after(9) == min);
  CHECK(after(9) == min);
  CHECK(after(9) == min);   // two earlier losses are not three
  CHECK(after(9) == mean);  // (9 + 9 + 9) / 3 <= 9
  CHECK(after(10) == max);
  CHECK(after(20) == max);
  CHECK(after(12.9) == min);    // 39 / 3 > 12.9
  CHECK(after(14.35) == mean);  // 42.9 / 3 = 14.3
  CHECK(after(std::nan("")) == mean);
  CHECK(formats.skipped_losses() == 1);
  CHECK(after(15.8) == max);  // (20 + 12.9 + 14.35) / 3 = 15.75: the NaN is none of them
  CHECK(after(static_cast<double>(infinity)) == max);
  CHECK(after(1) == min);
  CHECK(formats.skipped_losses() == 2);
  CHECK(formats.steps() == 12);
}

TEST_CASE("gradients that are zero or not finite are skipped and counted") {
  precision_switch formats(quick());
  const std::vector<float> w = {1, 2, 3}, g = {1, -1, 2};
  formats.observe("a", w, g, 1);
  const std::vector<std::vector<float>> bad = {
      {0, 0, -0.0f}, {infinity, 0, 1}, {1, -infinity, 1}, {1, 1, not_a_number}};
  for (const auto& b : bad) {
    CHECK(formats.observe("a", w, b, 1) == fixed_format(8, 4));
    CHECK(formats.layer("a").gradient_norm == 0);
  }
  CHECK(formats.layer("a").skipped == 4);
  CHECK(formats.layer("a").observed == 5);
  CHECK(formats.skipped() == 4);
  CHECK(formats.layer("a").diversity == 0);  // one gradient is in the window
  // The largest and the smallest gradients are normalised without overflow or underflow.
  const std::vector<float> large(3, 0x1.fffffep127f), tiny(3, std::bit_cast<float>(1u));
  formats.observe("a", w, large, 1);
  CHECK(formats.layer("a").gradient_norm == Approx(std::sqrt(3.0) * 0x1.fffffep127).epsilon(1e-15));
  precision_switch other(quick());
  other.observe("a", w, large, 1);
  other.observe("a", w, tiny, 1);
  CHECK(other.layer("a").diversity == Approx(1).epsilon(1e-15));
  CHECK(other.skipped() == 0);

  // Weights that are not finite are reported by PushDown.
  const std::vector<float> broken = {1, infinity, not_a_number};
  precision_switch third({.min_lookback = 1, .max_lookback = 1});
  third.observe("a", broken, g, 1);
  CHECK(third.layer("a").switches == 1);
  CHECK(third.layer("a").pushed_down.nonfinite == 2);
}

TEST_CASE("no weights") {
  precision_switch formats(quick());
  const std::vector<float> none;
  for (int i = 0; i < 5; ++i) CHECK(formats.observe("a", none, none, 1) == fixed_format(8, 4));
  CHECK(formats.skipped() == 5);
}

TEST_CASE("shapes and orders must match") {
  precision_switch formats(quick());
  using row_major = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::MatrixXf w = Eigen::MatrixXf::Random(3, 4), g = Eigen::MatrixXf::Random(3, 4);
  const row_major by_rows = g;
  CHECK_THROWS_WITH(
      formats.observe("a", w, Eigen::MatrixXf(3, 5), 1),
      "narrow::precision_switch::observe: shapes do not match: weights is 3 x 4, gradient is 3 x 5");
  CHECK_THROWS_AS(formats.observe("a", std::vector<float>(3), std::vector<float>(4), 1),
                  std::invalid_argument);
  CHECK_THROWS_AS(formats.observe("a", w, Eigen::MatrixXf(4, 3), 1), std::invalid_argument);
  CHECK(formats.steps() == 0);
  CHECK(formats.layers().empty());
  formats.observe("a", w, g, 1);
  const std::string before = saved(formats);
  CHECK_THROWS_WITH(
      formats.observe("a", w, by_rows, 1),
      "narrow::precision_switch::observe: gradient and that of \"a\" before have different storage orders");
  CHECK_THROWS_AS(formats.observe("a", Eigen::MatrixXf(4, 3), Eigen::MatrixXf(4, 3), 1),
                  std::invalid_argument);
  CHECK_THROWS_AS(formats.observe("a", std::vector<float>(11), std::vector<float>(11), 1),
                  std::invalid_argument);
  CHECK(saved(formats) == before);
  const std::vector<float> range(g.data(), g.data() + 12);
  precision_switch other = formats;
  formats.observe("a", w, g, 1);
  other.observe("a", range, range, 1);
  CHECK(formats.layer("a").diversity == other.layer("a").diversity);
}

TEST_CASE("a run that goes on from a saved state has the same bits, wherever it was interrupted") {
  problem p(8);
  precision_switch whole(quick()), restored(quick());
  int observations = 0;
  for (int step = 0; step < 60; ++step)
    for (std::size_t l = 0; l < 4; ++l) {
      const auto g = p.gradient(l);
      const double loss = 1 + 0.01 * (step % 7);
      whole.observe(names[l], p.weights[l], g, loss);
      precision_switch next;
      std::stringstream stream(saved(restored));
      stream >> next;
      next.observe(names[l], p.weights[l], g, loss);
      restored = next;
      if (saved(restored) != saved(whole) || !(restored == whole)) FAIL("step " << step << " " << names[l]);
      ++observations;
    }
  CHECK(observations == 240);
  CHECK(whole.layer("dense").switches > 3);
}

TEST_CASE("the caller's floating-point control register changes no bit of a run") {
  const auto run = [](test::control_word mode) {
    problem p(9);
    precision_switch formats(quick());
    for (int step = 0; step < 40; ++step)
      for (std::size_t l = 0; l < 4; ++l) {
        auto g = p.gradient(l);
        if (step % 5 == 0)
          for (float& x : g) x *= 1e-38f;
        const double loss = 1 + 0.1 * (step % 3);
        const test::float_control control(mode);
        formats.observe(names[l], p.weights[l], g, loss);
        if ((test::read_control() & ~test::exception_flags) != mode) FAIL("the register was changed");
      }
    return saved(formats);
  };
  const std::string expected = run(test::plain_control);
  for (const test::control_word mode : {test::round_down, test::round_up, test::round_to_zero,
                                        test::flush_to_zero | test::denormals_are_zero})
    CHECK((run(test::plain_control | mode) == expected));
}

TEST_CASE("the saved state of a precision switch") {
  problem p(10);
  precision_switch formats(quick()), before({.min_lookback = 2});
  for (int step = 0; step < 5; ++step)
    for (const std::size_t l : {2u, 3u}) formats.observe(names[l], p.weights[l], p.gradient(l), 1.5);
  narrow_test::check_saved_state(formats, before);
  const std::string text = saved(formats);
  int checked = 0;
  for (const auto& [field, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"min_lookback", "0"},
                                                                  {"min_lookback", "13"},
                                                                  {"max_lookback", "1"},
                                                                  {"min_resolution", "1"},
                                                                  {"max_resolution", "19"},
                                                                  {"gamma", "3ff8000000000000"},
                                                                  {"buffer_bits", "31"},
                                                                  {"tolerance", "0"},
                                                                  {"smoothing", "0"},
                                                                  {"push_up", "2"},
                                                                  {"initial_wl", "1"},
                                                                  {"initial_fl", "8"},
                                                                  {"steps", "0"},
                                                                  {"steps", "4"},
                                                                  {"skipped_losses", "6"},
                                                                  {"strategy", "3"},
                                                                  {"strategy", "-1"},
                                                                  {"losses", "13"},
                                                                  {"layers", "3"},
                                                                  {"layers", "1"},
                                                                  {"wl", "33"},
                                                                  {"fl", "-1"},
                                                                  {"lookback", "0"},
                                                                  {"lookback", "7ff0000000000000"},
                                                                  {"resolution", "19"},
                                                                  {"resolution", "27"},
                                                                  {"gradient_norm", "7ff8000000000000"},
                                                                  {"observed", "0"},
                                                                  {"observed", "6"},
                                                                  {"skipped", "9"},
                                                                  {"lossless_wl", "1"},
                                                                  {"lossless_fl", "32"},
                                                                  {"lossless", "2"},
                                                                  {"order", "4"},
                                                                  {"rows", "2"},
                                                                  {"cols", "7"},
                                                                  {"last_step", "0"},
                                                                  {"last_step", "6"},
                                                                  {"last_step", "4"},
                                                                  {"squares", "bff0000000000000"},
                                                                  {"sum", "6"},
                                                                  {"count", "-1"}}) {
    INFO(field << " " << value);
    CHECK(refused(with_field(text, field, value), before));
    ++checked;
  }
  CHECK(checked == 42);
  CHECK_FALSE(refused(with_field(text, "resolution", "26"), before));
}

TEST_CASE("options of a precision switch out of range are named") {
  CHECK(message_of({}) == "nothing was thrown");
  const std::string who = "narrow::precision_switch: ";
  CHECK(message_of({.min_lookback = 0}) == who + "min_lookback is 0, must be in [1, 100]");
  CHECK(message_of({.min_lookback = 101}) == who + "min_lookback is 101, must be in [1, 100]");
  CHECK(message_of({.max_lookback = 1000001}) == who + "max_lookback is 1000001, must be in [1, 1e+06]");
  CHECK(message_of({.min_resolution = 1}) == who + "min_resolution is 1, must be in [2, 150]");
  CHECK(message_of({.min_resolution = 151}) == who + "min_resolution is 151, must be in [2, 150]");
  CHECK(message_of({.max_resolution = 70000}) == who + "max_resolution is 70000, must be in [2, 65536]");
  CHECK(message_of({.gamma = -0.5}) == who + "gamma is -0.5, must be in [0, 1]");
  CHECK(message_of({.gamma = 1.5}) == who + "gamma is 1.5, must be in [0, 1]");
  CHECK(message_of({.gamma = std::nan("")}).find("gamma is nan") != std::string::npos);
  CHECK(message_of({.buffer_bits = 31}) == who + "buffer_bits is 31, must be in [0, 30]");
  CHECK(message_of({.tolerance = 0}) == who + "tolerance is 0, must be in (0, inf)");
  CHECK(message_of({.smoothing = 0}).find("smoothing is 0, must be in [") != std::string::npos);
  CHECK(message_of({.smoothing = 1e-3}).find("smoothing is 0.001, must be in [") != std::string::npos);
  CHECK(message_of({.push_up = static_cast<push_up_form>(2)}) == who + "push_up is 2, must be in [0, 1]");
  precision_switch_options bad_format;
  bad_format.initial_format.fl = 8;
  CHECK(message_of(bad_format) == who + "initial_fl is 8, must be in [0, 7]");
  bad_format.initial_format.wl = 40;
  CHECK(message_of(bad_format) == who + "initial_wl is 40, must be in [2, 32]");
}
