// Random numbers that are the same with every standard library: only the engine of <random> is specified to
// the bit, its distributions are not.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <utility>

namespace narrow_train {

/// What a stream of random numbers is for. Streams of one seed are independent, so that drawing more of one
/// (another model, say) leaves the others as they were.
enum class purpose : std::uint64_t {
  weights = 1,
  batch_order = 2,
  glyphs = 3,
  rounding = 4,
  augmentation = 5,
  evaluation = 6
};

class random_stream {
 public:
  random_stream(std::uint64_t seed, purpose use, std::uint64_t index = 0)
      : engine_(mix(mix(mix(seed) + static_cast<std::uint64_t>(use)) + index)) {}

  /// All 64 bits random: a seed for another generator.
  std::uint64_t bits() { return engine_(); }

  /// In [0, 1), all 53 bits random.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// In [0, count). The bias, count / 2^64, is far below anything that a training run could show.
  std::uint64_t below(std::uint64_t count) { return engine_() % count; }

  /// Standard normal: Marsaglia's polar method, second value dropped.
  double normal() {
    for (;;) {
      const double u = uniform(-1, 1);
      const double v = uniform(-1, 1);
      const double s = u * u + v * v;
      if (s > 0 && s < 1) return u * std::sqrt(-2 * std::log(s) / s);
    }
  }

  /// Fisher-Yates.
  template <class T> void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  /// Finaliser of splitmix64 (Steele, Lea, Flood 2014): neighbouring seeds give unrelated engine states.
  static std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  std::mt19937_64 engine_;
};

}  // namespace narrow_train
