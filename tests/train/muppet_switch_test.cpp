// The oracle keeps all gradients and takes every diversity from them, in long double.
#include "narrow/train/muppet_switch.hpp"

#include <bit>
#include <cmath>
#include <random>

#include "catch.hpp"
#include "float_control.hpp"
#include "narrow/eigen.hpp"
#include "refusal.hpp"
#include "train/saved_state.hpp"

namespace {

using narrow::muppet_quantize;
using narrow::muppet_scale;
using narrow::muppet_switch;
using narrow::muppet_switch_options;
using narrow::rounding::nearest_even;
using narrow::rounding::stochastic;
using narrow_test::refused;
using narrow_test::saved;
using narrow_test::with_field;

const float infinity = std::bit_cast<float>(0x7f800000u);
const float not_a_number = std::bit_cast<float>(0x7fc00000u);

std::string message_of(const muppet_switch_options& options) {
  return test::refusal([&] { muppet_switch words(options); });
}

using gradients = std::vector<std::vector<float>>;  // of the epochs of one layer; empty: not usable

/// sum ||g||^2 / ||sum g||^2 of some epochs; 0 where it is none.
long double diversity(const gradients& epochs, std::size_t first, std::size_t last) {
  std::vector<long double> sum;
  long double squares = 0;
  for (std::size_t e = first; e < last; ++e) {
    sum.resize(std::max(sum.size(), epochs[e].size()));
    for (std::size_t i = 0; i < epochs[e].size(); ++i) {
      const auto g = static_cast<long double>(epochs[e][i]);
      sum[i] += g;
      squares += g * g;
    }
  }
  long double norm = 0;
  for (const long double x : sum) norm += x * x;
  return norm > 0 ? squares / norm : 0;
}

struct verdict {
  int word_length = 8, violations = 0;
};

/// After so many epochs, from the first one on.
verdict judge(const std::vector<gradients>& layers, const muppet_switch_options& options,
              std::size_t epochs) {
  const int lengths[] = {8, 12, 14, 16, 32};
  int stage = 0, violations = 0;
  std::vector<long double> since_switch;
  const auto window = static_cast<std::size_t>(options.window);
  for (std::size_t end = window; end <= epochs && stage < 4; end += window) {
    long double sum = 0, n = 0;
    for (const auto& layer : layers)
      if (const long double d = diversity(layer, end - window, end); d > 0) {
        sum += d;
        ++n;
      }
    if (n == 0) continue;
    since_switch.push_back(sum / n);
    const long double largest = *std::max_element(since_switch.begin(), since_switch.end());
    const long double threshold =
        1 + static_cast<long double>(options.amplitude) *
                std::exp(-static_cast<long double>(options.decay) * static_cast<long double>(end));
    if (largest / since_switch.back() > threshold && ++violations == options.patience) {
      ++stage;
      violations = 0;
      since_switch.clear();
    }
  }
  return {lengths[stage], violations};
}

/// Gradients of epochs that agree with one another more and more, and then anew.
std::vector<float> gradient(std::size_t size, int epoch, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> g;
  const float agreement = static_cast<float>(epoch % 11) * 0.2f;
  for (std::size_t i = 0; i < size; ++i) g.push_back(1e-4f * (normal(random) + agreement));
  return g;
}

}  // namespace

TEST_CASE("word lengths agree with the whole history") {
  int compared = 0, wrong = 0, skipped = 0;
  std::vector<int> seen(33);
  for (const muppet_switch_options& options : {muppet_switch_options{},
                                               {.window = 1},
                                               {.window = 2, .patience = 1},
                                               {.amplitude = 0.2, .decay = 0.5}})
    for (const unsigned seed : {1u, 2u, 3u}) {
      std::mt19937 random(seed);
      muppet_switch words(options);
      const std::vector<std::size_t> sizes = {30, 200, 5};
      std::vector<gradients> layers(sizes.size());
      std::uint64_t skips = 0;
      for (int epoch = 1; epoch <= 90; ++epoch) {
        for (std::size_t l = 0; l < sizes.size(); ++l) {
          auto g = gradient(sizes[l], epoch, random);
          const auto kind = random() % 20;
          if (kind == 0) g.assign(g.size(), 0);
          if (kind == 1) g[random() % g.size()] = not_a_number;
          const bool trains = !words.full_precision();
          words.observe("layer " + std::to_string(l), g);
          if (kind <= 1) g.clear();
          if (kind <= 1 && trains) ++skips;
          layers[l].push_back(g);
        }
        const int length = words.update();
        const verdict expected = judge(layers, options, static_cast<std::size_t>(epoch));
        wrong += length != expected.word_length || words.word_length() != length;
        wrong += length < 32 && words.violations() != expected.violations;
        wrong += words.full_precision() != (length == 32);
        ++seen[static_cast<std::size_t>(length)];
        ++compared;
      }
      CHECK(words.epochs() == 90);
      CHECK(words.skipped() == skips);
      skipped += static_cast<int>(skips);
    }
  CHECK(wrong == 0);
  CHECK(compared == 4 * 3 * 90);
  CHECK(skipped > 50);
  for (const std::size_t length : {8u, 12u, 14u, 16u, 32u}) CHECK(seen[length] > 5);
}

TEST_CASE("diversities, violations and switches by hand") {
  muppet_switch words;
  const std::vector<float> a = {1, 0}, b = {0, 1}, opposite = {-1, 0};
  const auto epochs = [&](const std::vector<float>& x, const std::vector<float>& y,
                          const std::vector<float>& z) {
    int length = 0;
    for (const auto* g : {&x, &y, &z}) {
      words.observe("w", *g);
      length = words.update();
    }
    return length;
  };
  CHECK(epochs(a, b, opposite) == 8);  // 3 / 1
  CHECK(words.diversity() == 3);
  CHECK(words.largest_diversity() == 3);
  CHECK(words.violations() == 0);
  CHECK(epochs(a, a, b) == 8);  // 3 / 5; 3 / 0.6 = 5 > 1 + 1.5 e^-0.6 = 1.82
  CHECK(words.diversity() == 0.6);
  CHECK(words.violations() == 1);
  CHECK(epochs(a, b, opposite) == 8);  // as large as the largest: none
  CHECK(words.violations() == 1);
  CHECK(epochs(a, a, a) == 12);  // 3 / 9: a second one
  CHECK(words.violations() == 0);
  CHECK(words.largest_diversity() == 0);
  CHECK(epochs(a, a, a) == 12);  // the first since the switch is its own largest
  CHECK(words.largest_diversity() == Approx(1.0 / 3));
  CHECK(words.threshold(3) == Approx(1 + 1.5 * std::exp(-0.3)).epsilon(1e-15));
  CHECK(words.threshold(15) == Approx(1 + 1.5 * std::exp(-1.5)).epsilon(1e-15));

  // Cancelled gradients have no diversity, and no part in the mean.
  muppet_switch cancelled({.window = 2});
  for (const auto* g : {&a, &opposite}) {
    cancelled.observe("w", *g);
    cancelled.observe("v", b);
    cancelled.update();
  }
  CHECK(cancelled.diversity() == 0.5);
  for (const auto* g : {&a, &opposite}) {
    cancelled.observe("w", *g);
    cancelled.update();
  }
  CHECK(cancelled.diversity() == 0);
  CHECK(cancelled.violations() == 0);
}

TEST_CASE("observations and epochs") {
  muppet_switch words;
  CHECK_THROWS_WITH(words.update(),
                    "narrow::muppet_switch::update: no gradient was observed since the last update");
  const std::vector<float> g = {1, 2};
  words.observe("a", g);
  const std::string before = saved(words);
  CHECK_THROWS_WITH(words.observe("a", g),
                    "narrow::muppet_switch::observe: \"a\" was observed in this epoch already");
  CHECK(saved(words) == before);
  words.update();
  CHECK_THROWS_WITH(
      words.observe("a", std::vector<float>(3)),
      "narrow::muppet_switch::observe: shapes do not match: gradient is 3, that of \"a\" before is 2");
  words.observe("b", std::vector<float>(3));
  words.update();
  CHECK(words.epochs() == 2);
  CHECK(words.skipped() == 1);
  CHECK_THROWS_AS(words.update(), std::logic_error);
}

TEST_CASE("the scale is the largest that fits") {
  CHECK(muppet_scale(std::vector<float>{1}, 8) == 6);   // 64; 128 is beyond 127.5
  CHECK(muppet_scale(std::vector<float>{-1}, 8) == 7);  // -128 fits
  CHECK(muppet_scale(std::vector<float>{1, -1}, 8) == 6);
  CHECK(muppet_scale(std::vector<float>{127.5f}, 8) == 0);  // rounds into the word or half a step above it
  CHECK(muppet_scale(std::vector<float>{-128.5f}, 8) == 0);
  CHECK(muppet_scale(std::vector<float>{127.6f}, 8) == -1);
  CHECK(muppet_scale(std::vector<float>{0, -0.0f}, 8) == 0);
  CHECK(muppet_scale(std::vector<float>{}, 8) == 0);
  CHECK(muppet_scale(std::vector<float>{not_a_number, infinity, 1, -infinity}, 8) == 6);
  CHECK(muppet_scale(std::vector<float>{std::bit_cast<float>(1u)}, 16) == 149);
  CHECK(muppet_scale(std::vector<float>{0x1.fffffep127f}, 16) == 14 - 128);  // 2^14 2^128 is 32768
  CHECK(muppet_scale(std::vector<float>{0x1.fffffep127f}, 2) == -127);
  CHECK(muppet_scale(std::vector<float>{0.75f}, 2) == 1);  // 1.5 at most
  CHECK_THROWS_WITH(muppet_scale(std::vector<float>{1}, 1),
                    "narrow::muppet_scale: word_length is 1, must be in [2, 16]");
  CHECK_THROWS_AS(muppet_scale(std::vector<float>{1}, 17), std::invalid_argument);

  std::mt19937 random(4);
  int compared = 0, wrong = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<float> x;
    for (std::size_t n = 0; n <= random() % 4; ++n)
      x.push_back(
          std::ldexp(static_cast<float>(random() % 4096) - 2048, static_cast<int>(random() % 60) - 40));
    const int wl = static_cast<int>(2 + random() % 15), s = muppet_scale(x, wl);
    const double upper = std::ldexp(1.0, wl - 1) - 0.5, lower = -std::ldexp(1.0, wl - 1) - 0.5;
    const auto fits = [&](int scale) {
      for (const float v : x) {
        const double scaled = std::ldexp(static_cast<double>(v), scale);
        if (scaled > upper || scaled < lower) return false;
      }
      return true;
    };
    const bool zero = std::all_of(x.begin(), x.end(), [](float v) { return v == 0; });
    wrong += zero ? s != 0 : !fits(s) || fits(s + 1);
    ++compared;
  }
  CHECK(wrong == 0);
  CHECK(compared == 20000);

  // Of many numbers, which several threads look at; the largest one anywhere, of either sign.
  narrow::set_num_threads(2);
  std::vector<float> many(300'001, 0.25f);
  many[7] = not_a_number;
  for (const std::size_t at : {std::size_t{0}, many.size() / 2, many.size() - 1}) {
    for (const auto& [largest, s] :
         {std::pair{1.0f, 6}, std::pair{-1.0f, 7}, std::pair{1.5f, 6}, std::pair{-3.0f, 5}}) {
      many[at] = largest;
      CHECK(muppet_scale(many, 8) == s);
    }
    many[at] = 0.25f;
  }
  narrow::set_num_threads(1);
}

TEST_CASE("quantising rounds x 2^s to a word and saturates") {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  int compared = 0, wrong = 0, saturated = 0;
  for (const int wl : {2, 8, 12, 14, 16})
    for (int i = 0; i < 200; ++i) {
      std::vector<float> x(50), nearest, drawn;
      for (float& v : x) v = std::ldexp(normal(random), static_cast<int>(i % 40) - 20);
      const std::uint64_t seed = random();
      const int s = muppet_quantize(x, nearest, wl, nearest_even{});
      CHECK(muppet_quantize(x, drawn, wl, stochastic(seed, 7)) == s);
      REQUIRE(s == muppet_scale(x, wl));
      const double highest = std::ldexp(1.0, wl - 1) - 1, lowest = -highest - 1;
      for (std::size_t k = 0; k < x.size(); ++k) {
        const double scaled = std::ldexp(static_cast<double>(x[k]), s);
        const auto fits = [&](double q) { return std::ldexp(std::fmin(std::fmax(q, lowest), highest), -s); };
        wrong += static_cast<double>(nearest[k]) != fits(std::nearbyint(scaled));
        const auto d = static_cast<double>(drawn[k]);
        wrong += d != fits(std::floor(scaled)) && d != fits(std::ceil(scaled));
        saturated += std::ceil(scaled) > highest;
        ++compared;
      }
    }
  CHECK(wrong == 0);
  CHECK(compared == 5 * 200 * 50);
  CHECK(saturated > 10);

  // Element (i, j) draws under its row-major index, and up as often as the fraction says.
  Eigen::MatrixXf m = Eigen::MatrixXf::Random(40, 50);
  m(0, 0) = 1;
  const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> by_rows = m;
  Eigen::MatrixXf a;
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> b;
  muppet_quantize(m, a, 8, stochastic(3));
  muppet_quantize(by_rows, b, 8, stochastic(3));
  CHECK(a == b);
  CHECK(std::fabs((a - m).cast<double>().mean()) < 4 * 0.5 / 64 / std::sqrt(2000.0));
  muppet_quantize(m, m, 8, stochastic(3));
  CHECK(m == a);
  std::vector<float> special = {not_a_number, infinity, -infinity, 1};
  muppet_quantize(special, special, 8, nearest_even{});
  CHECK(special == std::vector<float>{0, 127.0f / 64, -2, 1});
  std::array<float, 3> other{};
  CHECK_THROWS_WITH(muppet_quantize(special, other, 8, nearest_even{}),
                    "narrow::muppet_quantize: shapes do not match: x is 4, to is 3");
}

TEST_CASE("a MuPPET run that goes on from a saved state has the same bits") {
  std::mt19937 random(6);
  muppet_switch whole({.window = 2}), restored({.window = 2});
  for (int epoch = 0; epoch < 30; ++epoch) {
    for (const char* name : {"a", "b"}) {
      const auto g = gradient(20, epoch, random);
      whole.observe(name, g);
      muppet_switch next;
      std::stringstream stream(saved(restored));
      stream >> next;
      next.observe(name, g);
      restored = next;
      CHECK((saved(restored) == saved(whole)));
    }
    muppet_switch between;
    std::stringstream stream(saved(restored));
    stream >> between;
    restored = between;
    CHECK(whole.update() == restored.update());
    CHECK(whole == restored);
  }
  CHECK(whole.word_length() > 8);
}

TEST_CASE("the caller's floating-point control register changes no bit of a MuPPET run") {
  const auto run = [](test::control_word mode) {
    std::mt19937 random(7);
    muppet_switch words({.window = 2});
    std::vector<float> out;
    int scale = 0;
    for (int epoch = 0; epoch < 30; ++epoch) {
      auto g = gradient(20, epoch, random);
      g[3] *= 1e-36f;
      const test::float_control control(mode);
      words.observe("a", g);
      words.update();
      scale += muppet_quantize(g, out, 12, stochastic(4));
    }
    std::string text = saved(words) + std::to_string(scale);
    for (const float x : out) text += " " + std::to_string(std::bit_cast<std::uint32_t>(x));
    return text;
  };
  const std::string expected = run(test::plain_control);
  for (const test::control_word mode : {test::round_down, test::round_up, test::round_to_zero,
                                        test::flush_to_zero | test::denormals_are_zero})
    CHECK((run(test::plain_control | mode) == expected));
}

TEST_CASE("the saved state of a MuPPET switch") {
  std::mt19937 random(8);
  muppet_switch words({.window = 2}), before;
  for (int epoch = 0; epoch < 7; ++epoch) {
    words.observe("a layer", gradient(6, epoch, random));
    words.update();
  }
  words.observe("a layer", gradient(6, 0, random));
  narrow_test::check_saved_state(words, before);
  const std::string text = saved(words);
  int checked = 0;
  for (const auto& [field, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"window", "0"},
                                                                  {"amplitude", "bff0000000000000"},
                                                                  {"decay", "7ff0000000000000"},
                                                                  {"patience", "0"},
                                                                  {"stage", "5"},
                                                                  {"stage", "-1"},
                                                                  {"violations", "2"},
                                                                  {"diversity", "bff0000000000000"},
                                                                  {"largest_diversity", "7ff8000000000000"},
                                                                  {"layers", "2"},
                                                                  {"order", "3"},
                                                                  {"rows", "5"},
                                                                  {"cols", "2"},
                                                                  {"last_epoch", "9"},
                                                                  {"last_epoch", "0"},
                                                                  {"squares", "fff0000000000000"},
                                                                  {"sum", "5"}}) {
    INFO(field << " " << value);
    CHECK(refused(with_field(text, field, value), before));
    ++checked;
  }
  CHECK(checked == 17);
  // An element of a sum, infinite or so large that the sum's norm would be.
  const auto element = text.find(" sum 6 ") + std::string_view(" sum 6 ").size();
  for (const char* value : {"7ff0000000000000", "7ff8000000000000", "7e37e43c8800759c"}) {
    std::string changed = text;
    CHECK(refused(changed.replace(element, text.find(' ', element) - element, value), before));
  }
}

TEST_CASE("options of a MuPPET switch out of range are named") {
  CHECK(message_of({}) == "nothing was thrown");
  CHECK(message_of({.window = 0}) == "narrow::muppet_switch: window is 0, must be in [1, 1000]");
  CHECK(message_of({.amplitude = -1}).find("narrow::muppet_switch: amplitude is -1, must be in [0, ") == 0);
  CHECK(message_of({.decay = std::nan("")}).find("narrow::muppet_switch: decay is nan") == 0);
  CHECK(message_of({.patience = 1001}) == "narrow::muppet_switch: patience is 1001, must be in [1, 1000]");
}
