// Numbers to measure with.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

namespace narrow_bench {

/// n numbers between -1 and 1.
inline std::vector<float> random_floats(std::size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<float> result(n);
  for (float& x : result) x = distribution(generator);
  return result;
}

}  // namespace narrow_bench
