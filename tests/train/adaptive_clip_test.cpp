// The oracle keeps every gradient and computes each step anew from all of them, in long double and two
// passes.
#include "narrow/train/adaptive_clip.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "catch.hpp"
#include "float_control.hpp"
#include "narrow/eigen.hpp"
#include "refusal.hpp"
#include "train/saved_state.hpp"

namespace {

using Eigen::Dynamic;
using narrow::adaptive_clip;
using narrow::adaptive_clip_options;
using narrow::clip_granularity;
using narrow::fp16;
using narrow::gradient_distribution;
using narrow_test::refused;
using narrow_test::saved;
using narrow_test::with_field;
using enum gradient_distribution;
using row_major = Eigen::Matrix<float, Dynamic, Dynamic, Eigen::RowMajor>;
using col_major = Eigen::MatrixXf;

const float infinity = std::bit_cast<float>(0x7f800000u);
const float not_a_number = std::bit_cast<float>(0x7fc00000u);
const float smallest = std::bit_cast<float>(1u);

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
bool finite(float x) { return (bits(x) & 0x7fffffffu) < 0x7f800000u; }

template <class T> std::vector<T> copy(std::span<const T> s) { return {s.begin(), s.end()}; }
std::vector<float> clips(const adaptive_clip& clip) { return copy(clip.clips()); }

void observe(adaptive_clip& clip, const std::vector<float>& channel) { clip.observe(channel); }

std::string message_of(const adaptive_clip_options& options) {
  return test::refusal([&] { adaptive_clip clip(options); });
}

/// What one step should say of one channel. The share is a range: an element within 1e-9 of sigma may count
/// or not.
struct verdict {
  long double max = 0;
  double fewest = 0, most = 0;  // shares, rounded to double as documented
};

verdict judge(const std::vector<float>& channel) {
  verdict result;
  long double sum = 0, n = 0;
  for (const float x : channel)
    if (finite(x)) {
      sum += static_cast<long double>(x);
      result.max = std::fmax(result.max, std::fabs(static_cast<long double>(x)));
      ++n;
    }
  if (n == 0) return result;
  long double squares = 0;
  for (const float x : channel)
    if (finite(x))
      squares += (static_cast<long double>(x) - sum / n) * (static_cast<long double>(x) - sum / n);
  const long double sigma = std::sqrt(squares / n);
  double fewest = 0, most = 0;
  for (const float x : channel)
    if (finite(x)) {
      const long double off = std::fabs(static_cast<long double>(x) - sum / n);
      fewest += off > sigma * (1 + 1e-9L) ? 1 : 0;
      most += off > sigma * (1 - 1e-9L) ? 1 : 0;
    }
  result.fewest = fewest / static_cast<double>(n);
  result.most = most / static_cast<double>(n);
  return result;
}

/// All steps of one channel so far, and its clipping value after them.
class channel_oracle {
 public:
  /// Returns false if the discriminator, or whether the recurrence starts again, is on the fence.
  bool step(const std::vector<float>& channel, const adaptive_clip_options& options) {
    const verdict v = judge(channel);
    if (v.fewest <= options.lambda && v.most > options.lambda) return false;
    gaussian = v.fewest > options.lambda;
    if (v.max > 0 && (!gaussian || maxima_.empty())) maxima_.push_back(v.max);
    // From the first step on, every time.
    long double s = 0;
    for (const long double max : maxima_) {
      const long double k_a = static_cast<long double>(options.k) * static_cast<long double>(options.a);
      const long double next = (1 - k_a) * s + static_cast<long double>(options.a) * max;
      if (s > 0 && std::fabs(next) < 1e-9L * s) return false;
      s = s > 0 && next > 0 ? next : max;
    }
    clip = gaussian ? v.max : s;
    clipped = clipped_at_most = 0;
    for (const float x : channel) {
      const long double magnitude = finite(x) ? std::fabs(static_cast<long double>(x)) : 0;
      clipped += magnitude > clip * (1 + 0x1p-23L);
      clipped_at_most += !gaussian && magnitude > clip * (1 - 0x1p-23L);
    }
    return true;
  }
  bool gaussian = false;
  long double clip = 0;
  // The clipping value is a float: what is as close to it as that may be beyond it or not.
  std::uint64_t clipped = 0, clipped_at_most = 0;

 private:
  std::vector<long double> maxima_;
};

/// rows channels of kinds that take turns: normal, cubed normal, uniform, nearly all zero, one that dies out.
std::vector<float> random_gradient(int rows, int cols, int step, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> result;
  for (int i = 0; i < rows; ++i) {
    const float size = std::ldexp(1.0f + 0.5f * uniform(random), i % 3 - 1);
    for (int j = 0; j < cols; ++j) {
      const float z = normal(random), u = uniform(random);
      const int kind = (i + (i % 7 == 6 ? step / 4 : 0)) % 5;  // some channels change what they are
      result.push_back(size * (kind == 0   ? z
                               : kind == 1 ? z * z * z
                               : kind == 2 ? u
                               : kind == 3 ? (u > 0.9f ? z : 0)
                                           : z * z * z * std::ldexp(1.0f, -step)));
    }
  }
  return result;
}

template <class T> std::vector<T> converted(const std::vector<float>& x) {
  std::vector<T> result;
  for (const float v : x) result.push_back(static_cast<T>(v));
  return result;
}

using scalars = decltype(std::tuple_cat(
    narrow::all_formats{}, std::tuple<float, double, narrow::fixed<8, 4>, narrow::fixed<32, 30>>{}));

}  // namespace

TEMPLATE_LIST_TEST_CASE("clips, distributions and counts of every format agree with the whole history", "",
                        scalars) {
  using T = TestType;
  std::mt19937 random(3);
  int compared = 0, on_the_fence = 0, wrong = 0, gaussians = 0, clipped = 0, decided = 0;
  for (const auto& [k, a, lambda] : {std::array{1.0, 0.8, 0.3}, {1.5, 0.8, 0.25}, {1.2, 0.5, 0.1}}) {
    const adaptive_clip_options options{.k = k, .a = a, .lambda = lambda};
    const int rows = 21, cols = 150;
    adaptive_clip clip(options);
    std::vector<channel_oracle> oracle(rows);
    std::vector<bool> lost(rows);
    for (int step = 0; step < 12; ++step) {
      const auto g = converted<T>(random_gradient(rows, cols, step, random));
      clip.observe(narrow::row_major(g, rows, cols));
      for (int i = 0; i < rows; ++i) {
        const auto c = static_cast<std::size_t>(i);
        std::vector<float> channel;
        for (int j = 0; j < cols; ++j)
          channel.push_back(narrow::detail::to_value<float>(
              g[c * static_cast<std::size_t>(cols) + static_cast<std::size_t>(j)]));
        lost[c] = lost[c] || !oracle[c].step(channel, options);
        if (lost[c]) {
          ++on_the_fence;
          continue;
        }
        const auto expected = std::max(oracle[c].clip, static_cast<long double>(smallest));
        wrong += std::fabs(static_cast<long double>(clip.clips()[c]) - expected) > expected * 0x1p-23L;
        wrong += (clip.distributions()[c] == gaussian) != oracle[c].gaussian;
        const auto counted = clip.clipped_by_channel()[c];
        wrong += counted < oracle[c].clipped || counted > oracle[c].clipped_at_most;
        decided += oracle[c].clipped == oracle[c].clipped_at_most;
        gaussians += oracle[c].gaussian;
        clipped += oracle[c].clipped > 0;
        ++compared;
      }
    }
    CHECK(clip.steps() == 12);
  }
  CHECK(wrong == 0);
  CHECK(compared + on_the_fence == 3 * 12 * 21);
  CHECK(compared > 700);
  CHECK(gaussians > 100);
  CHECK(compared - gaussians > 100);
  CHECK(clipped > 20);
  CHECK(decided > 600);
}

TEST_CASE("the inverted T follows recurrences computed by hand") {
  const auto inverted = [](float max) {  // one in ten is far out: the share 0.1 is at most lambda
    std::vector<float> g(10, 0.0f);
    g[4] = -max;
    return g;
  };
  struct row {
    float max, clip;
    int clipped;
  };
  const auto check = [&](const adaptive_clip_options& options, const std::vector<row>& rows) {
    adaptive_clip clip(options);
    for (const auto& [max, expected, clipped] : rows) {
      observe(clip, inverted(max));
      CHECK(clip.clips()[0] == expected);
      CHECK(clip.max_abs() == max);
      CHECK(clip.clipped() == static_cast<std::uint64_t>(clipped));
      CHECK(clip.distributions()[0] == inverted_t);
    }
  };
  // 1 - k a = 0.5: half of what was, half of what is; it stays above a maximum that falls.
  check({.k = 1, .a = 0.5}, {{8, 8, 0}, {4, 6, 0}, {4, 5, 0}, {16, 10.5, 1}, {1, 5.75, 0}, {5.75, 5.75, 0}});
  // It settles at max / k = max / 2: 8, 4 + 2 = 6, 5, 4.5 ...
  check({.k = 2, .a = 0.25}, {{8, 8, 0}, {8, 6, 1}, {8, 5, 1}, {8, 4.5, 1}, {8, 4.25, 1}});
  // k a = 1.5: -0.5 s + 0.75 max; where that is not positive it starts again at the maximum.
  check({.k = 2, .a = 0.75},
        {{8, 8, 0}, {8, 2, 1}, {8, 5, 1}, {2, 2, 0}, {4, 2, 1}, {1, 1, 0}, {0.5, 0.5, 0}});
  // k a = 1: nothing is kept.
  check({.k = 4, .a = 0.25}, {{8, 8, 0}, {8, 2, 1}, {4, 1, 1}, {16, 4, 1}});
}

TEST_CASE("the defaults are those of the paper") {
  const adaptive_clip_options options;
  CHECK(options.k == 1.0);
  CHECK(options.a == 0.8);
  CHECK(options.lambda == 0.3);
  CHECK(options.granularity == clip_granularity::per_channel);
  const adaptive_clip clip;
  CHECK(clip.options() == options);
  CHECK(clip.steps() == 0);
  CHECK(clip.clips().empty());
  CHECK(clip.max_abs() == 0);
}

TEST_CASE("the discriminator counts what is further than sigma from the mean, and compares with lambda") {
  // Mean 1, variance 300 / 10 - 1 = 29: of ten elements three are further than sqrt(29) from 1.
  const std::vector<float> g = {0, 0, 0, 10, 0, 0, -10, 0, 0, 10};
  const auto distribution = [](const std::vector<float>& x, double lambda) {
    adaptive_clip clip({.lambda = lambda});
    observe(clip, x);
    return clip.distributions()[0];
  };
  CHECK(distribution(g, 0.3) == inverted_t);  // not more than lambda
  CHECK(distribution(g, 0.2999) == gaussian);
  CHECK(distribution(g, 1) == inverted_t);
  CHECK(distribution(g, 0) == gaussian);
  // Seen from 0 instead of the mean, all of these would be far.
  std::vector<float> shifted;
  for (const float x : g) shifted.push_back(x + 1000);
  CHECK(distribution(shifted, 0.3) == inverted_t);
  CHECK(distribution(shifted, 0.2999) == gaussian);
  // Two values, each at sigma from the mean exactly: none is further.
  CHECK(distribution({3, -3, 3, -3}, 0) == inverted_t);
  CHECK(distribution({-1, 7, 7, -1}, 0) == inverted_t);
}

TEST_CASE("a mean far from zero does not hide the deviation") {
  // Steps of one unit in the last place about 2^23: squares of float differences are lost in 2^46.
  std::vector<float> g(1000, 0x1p23f);
  for (std::size_t i = 0; i < g.size(); ++i)
    g[i] += static_cast<float>(i % 10 == 0 ? 2 : i % 10 == 1 ? -2 : 0);
  adaptive_clip clip({.lambda = 0.19});
  observe(clip, g);
  CHECK(clip.distributions()[0] == gaussian);  // a fifth is further than sigma = 0.9
  adaptive_clip other({.lambda = 0.21});
  observe(other, g);
  CHECK(other.distributions()[0] == inverted_t);
}

TEST_CASE("Gaussian steps clip at the maximum and leave the recurrence alone") {
  const std::vector<float> flat = {1, -2, 3, -4, 5, -6, 7, -8};  // a uniform spread
  std::vector<float> inverted(20, 0.0f);
  inverted[3] = 4;
  adaptive_clip clip({.k = 1, .a = 0.5});
  const auto after = [&](const std::vector<float>& g) {
    observe(clip, g);
    return clip.clips()[0];
  };
  CHECK(after(inverted) == 4);
  CHECK(after(flat) == 8);
  CHECK(clip.distributions()[0] == gaussian);
  CHECK(clip.clipped() == 0);
  inverted[3] = 8;
  CHECK(after(inverted) == 6);  // 4 / 2 + 8 / 2
  adaptive_clip begins_gaussian({.k = 1, .a = 0.5});
  observe(begins_gaussian, flat);
  observe(begins_gaussian, flat);
  inverted[3] = 2;
  observe(begins_gaussian, inverted);
  CHECK(begins_gaussian.clips()[0] == 5);  // from s = 8 of the first step
}

TEST_CASE("zeros, equal numbers, infinities and NaNs") {
  adaptive_clip clip({.k = 1, .a = 0.5});
  const auto g = [](std::initializer_list<float> x) { return std::vector<float>(x); };
  observe(clip, g({0, 0, -0.0f, 0}));
  CHECK(bits(clip.clips()[0]) == 1);  // the smallest positive float: nothing else was seen
  CHECK(clip.max_abs() == 0);
  CHECK(clip.distributions()[0] == inverted_t);
  observe(clip, g({not_a_number, infinity, -infinity, not_a_number}));
  CHECK(bits(clip.clips()[0]) == 1);
  CHECK(clip.nonfinite() == 4);
  CHECK(clip.clipped() == 0);
  observe(clip, g({4, 4, 4}));  // the first maximum that is not zero
  CHECK(clip.clips()[0] == 4);
  CHECK(clip.nonfinite() == 0);
  observe(clip, g({0, 0, 0}));
  CHECK(clip.clips()[0] == 4);
  observe(clip, g({infinity, infinity}));
  CHECK(clip.clips()[0] == 4);
  observe(clip, g({infinity, 8, not_a_number, 8, -infinity}));
  CHECK(clip.clips()[0] == 6);
  CHECK(clip.max_abs() == 8);
  CHECK(clip.clipped() == 2);
  CHECK(clip.nonfinite() == 3);
  observe(clip, {});
  CHECK(clip.clips()[0] == 6);
  CHECK(clip.clipped() == 0);
  CHECK(clip.steps() == 7);

  // Equal numbers that no mean of a few has exactly.
  for (const float x : {0.1f, 1e-30f, smallest, 3e38f, 0x1.fffffep127f}) {
    adaptive_clip equal({.lambda = 0});
    observe(equal, std::vector<float>(1000, x));
    CHECK(equal.distributions()[0] == inverted_t);
    CHECK(bits(equal.clips()[0]) == bits(x));
  }
  // NaN and infinity have no part in mean, deviation and share.
  adaptive_clip with({.lambda = 0.2999}), without({.lambda = 0.2999});
  observe(without, g({0, 0, 0, 10, 0, 0, -10, 0, 0, 10}));
  observe(with, g({not_a_number, 0, infinity, 0, 0, 10, 0, 0, -10, 0, not_a_number, 0, 10, -infinity}));
  CHECK(with.distributions()[0] == gaussian);
  CHECK(clips(with) == clips(without));
}

TEST_CASE("extreme magnitudes") {
  adaptive_clip large({.k = 0.01, .a = 150});
  observe(large, std::vector<float>{0, 0, 0, 0, 0x1.fffffep127f});
  observe(large, std::vector<float>{0, 0, 0, 0, 0x1.fffffep127f});  // 150 times as much
  CHECK(large.clips()[0] == 0x1.fffffep127f);
  adaptive_clip returns({.k = 0.01, .a = 50});  // k a = 0.5
  observe(returns, std::vector<float>{0, 0, 0, 0, 0x1.fffffep127f});
  observe(returns, std::vector<float>{0, 0, 0, 0, 0x1.fffffep127f});  // no more than the largest float
  observe(returns, std::vector<float>{0, 0, 0, 0, 1});
  CHECK(returns.clips()[0] == Approx(0x1p127).epsilon(1e-6));
  adaptive_clip small({.k = 1, .a = 1e-30});
  observe(small, std::vector<float>{0, 0, 0, 0, smallest});
  for (int i = 0; i < 10; ++i) observe(small, std::vector<float>{0, 0, 0, 0, smallest});
  CHECK(bits(small.clips()[0]) == 1);
  CHECK(small.clipped() == 0);
  // Squares of subnormals are far below float.
  adaptive_clip tiny({.lambda = 0.2999});
  observe(tiny, std::vector<float>{0, 0, 0, 10 * smallest, 0, 0, -10 * smallest, 0, 0, 10 * smallest});
  CHECK(tiny.distributions()[0] == gaussian);
}

TEST_CASE("channels are rows, in every storage order and through every view, bit for bit") {
  std::mt19937 random(11);
  for (const auto granularity : {clip_granularity::per_channel, clip_granularity::per_layer}) {
    const adaptive_clip_options options{.granularity = granularity};
    std::vector<adaptive_clip> ways(7, adaptive_clip(options));
    for (int step = 0; step < 6; ++step) {
      const Eigen::Index rows = 13, cols = granularity == clip_granularity::per_layer ? 5 + 40 * step : 133;
      const auto values = random_gradient(static_cast<int>(rows), static_cast<int>(cols), step, random);
      const row_major by_rows = Eigen::Map<const row_major>(values.data(), rows, cols);
      const col_major by_columns = by_rows;
      const col_major padded = [&] {
        col_major m = col_major::Random(rows + 3, cols);
        m.middleRows(1, rows) = by_rows;
        return m;
      }();
      const row_major turned = by_rows.transpose();
      ways[0].observe(narrow::row_major(values, rows, cols));
      ways[1].observe(by_rows);
      ways[2].observe(by_columns);
      ways[3].observe(padded.middleRows(1, rows));
      ways[4].observe(turned.transpose());
      ways[5].observe(0.5f * (by_columns + by_rows));
      ways[6].observe(narrow::matrix_view<const float>{padded.data() + 1, rows, cols, 1, rows + 3});
      for (const auto& way : ways) CHECK(way == ways[0]);
      CHECK(ways[0].clips().size() == (granularity == clip_granularity::per_layer ? 1u : 13u));
    }
    for (const auto& way : ways) CHECK(saved(way) == saved(ways[0]));
  }
}

TEST_CASE("one layer is one long channel") {
  std::mt19937 random(12);
  adaptive_clip layer({.granularity = clip_granularity::per_layer}), range;
  for (int step = 0; step < 8; ++step) {
    const auto values = random_gradient(10, 50, step, random);
    layer.observe(narrow::row_major(values, 10, 50));
    range.observe(values);
    CHECK(layer.distributions()[0] == range.distributions()[0]);
    CHECK(layer.clips()[0] == range.clips()[0]);
    CHECK(layer.clipped() == range.clipped());
    CHECK(layer.max_abs() == range.max_abs());
  }
}

TEST_CASE("rows of one layer have one mean") {
  // 1000, 1100, ... 1900: four of ten rows are further than sigma = 287 from 1450, none is so from a mean of
  // its own.
  std::vector<float> values;
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 50; ++j) values.push_back(static_cast<float>(1000 + 100 * i));
  for (const double lambda : {0.39, 0.41}) {
    adaptive_clip layer({.lambda = lambda, .granularity = clip_granularity::per_layer});
    layer.observe(narrow::row_major(values, 10, 50));
    CHECK(layer.distributions()[0] == (lambda < 0.4 ? gaussian : inverted_t));
  }
}

TEST_CASE("a gradient quantised over the clips saturates where the report says so") {
  std::mt19937 random(13);
  adaptive_clip clip;
  using channelwise = narrow::basic_int8<narrow::per_row, narrow::rounding::stochastic>;
  using whole = narrow::basic_int8<narrow::per_tensor, narrow::rounding::stochastic>;
  std::uint64_t clipped = 0;
  for (int step = 0; step < 10; ++step) {
    const auto values = random_gradient(15, 200, step, random);
    const auto g = narrow::row_major(values, 15, 200);
    clip.observe(g);
    const std::uint64_t seed = 99 + static_cast<std::uint64_t>(step);
    narrow::block_tensor<channelwise> by_channel;
    by_channel.assign(g, narrow::rounding::stochastic(seed), clip.clips());
    int wrong = 0;
    for (std::ptrdiff_t i = 0; i < 15; ++i) {
      const float s = clip.clips()[static_cast<std::size_t>(i)];
      std::uint64_t beyond = 0;
      for (std::ptrdiff_t j = 0; j < 200; ++j) {
        const float x = g(i, j), clamped = std::clamp(x, -s, s), q = by_channel(i, j);
        beyond += std::fabs(x) > s;
        wrong += !(std::fabs(q - clamped) <= s / 127 * 1.0001f);
        if (std::fabs(x) > s) wrong += std::fabs(std::fabs(q) - s) > s * 1e-4f;
      }
      wrong += beyond != clip.clipped_by_channel()[static_cast<std::size_t>(i)];
      clipped += beyond;
    }
    CHECK(wrong == 0);
    const float largest = clip.max_abs();
    narrow::block_tensor<whole> global;
    global.assign(g, narrow::rounding::stochastic(seed), std::span(&largest, 1));
    narrow::block_tensor<whole> by_itself;
    by_itself.assign(g, narrow::rounding::stochastic(seed));
    CHECK(std::ranges::equal(global.mantissas(), by_itself.mantissas()));
    CHECK(global.scales()[0] == by_itself.scales()[0]);

    const col_major eigen = Eigen::Map<const row_major>(values.data(), 15, 200);
    Eigen::Matrix<channelwise, Dynamic, Dynamic> matrix(15, 200);
    matrix.quantize(eigen, clip.clips(), narrow::rounding::stochastic(seed));
    CHECK(col_major(matrix)(3, 7) == by_channel(3, 7));
    CHECK(std::ranges::equal(matrix.scales(), by_channel.scales()));
  }
  CHECK(clipped > 10);
}

TEST_CASE("the caller's floating-point control register changes no bit and is there afterwards") {
  std::mt19937 random(14);
  std::vector<std::vector<float>> gradients;
  for (int step = 0; step < 8; ++step) {
    auto values = random_gradient(10, 100, step, random);
    for (std::size_t i = 0; i < 100; ++i) {  // subnormals, and anything below 2
      values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random()) & 0x801fffffu);
      values[100 + i] = std::bit_cast<float>(static_cast<std::uint32_t>(random()) & 0xbfffffffu);
    }
    gradients.push_back(values);
  }
  const auto run = [&](test::control_word mode) {
    adaptive_clip clip({.k = 1.2, .a = 0.7});
    test::control_word after = 0;
    {
      const test::float_control control(mode);
      for (const auto& g : gradients) clip.observe(narrow::row_major(g, 10, 100));
      after = test::read_control();
    }
    CHECK((after & ~test::exception_flags) == mode);
    return saved(clip);
  };
  const std::string expected = run(test::plain_control);
  for (const test::control_word mode : {test::round_down, test::round_up, test::round_to_zero,
                                        test::flush_to_zero | test::denormals_are_zero})
    CHECK(run(test::plain_control | mode) == expected);
}

TEST_CASE("a run that goes on from a saved state has the same bits") {
  std::mt19937 random(15);
  for (const auto granularity : {clip_granularity::per_channel, clip_granularity::per_layer}) {
    adaptive_clip whole({.k = 1.2, .a = 0.5, .lambda = 0.2, .granularity = granularity}), restored;
    for (int step = 0; step < 20; ++step) {
      const auto values = random_gradient(9, 70, step, random);
      std::stringstream stream(saved(step == 0 ? whole : restored));
      adaptive_clip next;
      stream >> next;
      whole.observe(narrow::row_major(values, 9, 70));
      next.observe(narrow::row_major(values, 9, 70));
      restored = next;
      CHECK(restored == whole);
      CHECK(saved(restored) == saved(whole));
    }
  }
}

TEST_CASE("the saved state of clips") {
  std::mt19937 random(16);
  adaptive_clip clip, before({.k = 0.5});
  auto values = random_gradient(4, 60, 0, random);
  values[70] = infinity;
  clip.observe(narrow::row_major(values, 4, 60));
  narrow_test::check_saved_state(clip, before);
  const std::string text = saved(clip);
  int checked = 0;
  for (const auto& [field, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"k", "0"},
                                                                  {"k", "7ff0000000000000"},
                                                                  {"a", "4010000000000000"},  // k a = 4
                                                                  {"lambda", "3ff8000000000000"},
                                                                  {"granularity", "2"},
                                                                  {"granularity", "0"},  // with four channels
                                                                  {"steps", "0"},
                                                                  {"steps", "-1"},
                                                                  {"max_abs", "7f800000"},
                                                                  {"max_abs", "bf800000"},
                                                                  {"states", "3"},
                                                                  {"clips", "5"},
                                                                  {"distributions", "99999999999"},
                                                                  {"clipped", "0"}}) {
    INFO(field << " " << value);
    CHECK(refused(with_field(text, field, value), before));
    ++checked;
  }
  CHECK(checked == 14);
  const auto with_first = [&](const std::string& field, const std::string& value) {
    const auto at = text.find(" " + field + " 4 ") + field.size() + 4;
    return std::string(text).replace(at, text.find(' ', at) - at, value);
  };
  CHECK_FALSE(refused(with_first("clips", "3f800000"), before));
  CHECK(refused(with_first("clips", "0"), before));
  CHECK(refused(with_first("clips", "7f800000"), before));
  CHECK(refused(with_first("states", "7ff8000000000000"), before));
  CHECK(refused(with_first("states", "bff0000000000000"), before));
  CHECK(refused(with_first("distributions", "2"), before));
}

TEST_CASE("options out of range are named") {
  CHECK(message_of({}) == "nothing was thrown");
  CHECK(message_of({.k = 1.5, .a = 1.3}) == "nothing was thrown");
  CHECK(message_of({.k = 0}) == "narrow::adaptive_clip: k is 0, must be in (0, inf)");
  CHECK(message_of({.k = -1, .a = -1}) == "narrow::adaptive_clip: k is -1, must be in (0, inf)");
  CHECK(message_of({.k = std::nan("")}).find("k is nan") != std::string::npos);
  CHECK(message_of({.a = 0}) == "narrow::adaptive_clip: a is 0, must be in (0, inf)");
  CHECK(message_of({.k = 4, .a = 0.5}) == "narrow::adaptive_clip: k a is 2, must be in (0, 2)");
  CHECK(message_of({.k = 1e-200, .a = 1e-200}) == "narrow::adaptive_clip: k a is 0, must be in (0, 2)");
  CHECK(message_of({.lambda = -0.1}) == "narrow::adaptive_clip: lambda is -0.1, must be in [0, 1]");
  CHECK(message_of({.lambda = 1.5}) == "narrow::adaptive_clip: lambda is 1.5, must be in [0, 1]");
  CHECK(message_of({.granularity = static_cast<clip_granularity>(2)}) ==
        "narrow::adaptive_clip: granularity is 2, must be in [0, 1]");
}

TEST_CASE("the number of channels must not change") {
  adaptive_clip clip;
  clip.observe(col_major(0, 5));
  clip.observe(col_major(3, 0));
  CHECK(clip.clips().empty());
  clip.observe(col_major::Ones(3, 4));
  clip.observe(col_major::Ones(3, 9));
  const std::string before = saved(clip);
  CHECK_THROWS_WITH(
      clip.observe(col_major::Ones(4, 3)),
      "narrow::adaptive_clip::observe: shapes do not match: gradient is 4 x 3, the number of channels is 3");
  CHECK(saved(clip) == before);
  clip.observe(col_major(0, 0));
  CHECK(clip.steps() == 5);
  CHECK(clips(clip) == std::vector<float>(3, 1));

  adaptive_clip layer({.granularity = clip_granularity::per_layer});
  layer.observe(col_major::Ones(3, 4));
  layer.observe(col_major::Ones(7, 2));
  CHECK(layer.clips().size() == 1);
}
