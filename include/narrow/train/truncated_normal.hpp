// Initial weights.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "../round/random.hpp"
#include "../runtime/environment.hpp"
#include "array_access.hpp"
#include "parameter.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI {

namespace detail {

/// The normal distribution of deviation 1 without what is beyond +-sqrt(3), for element `index` of an array:
/// numbers evenly spread over that range are drawn until one is kept, each with the probability of its
/// density over that at 0. Two of three are.
inline double truncated_normal(std::uint64_t seed, std::uint64_t index) {
  for (random_stream attempt{seed, 0};;) {
    const std::uint64_t key = attempt.next();
    const auto draw = [&](std::uint64_t which) {  // the middle of one of 2^32 equal parts of (0, 1)
      const std::uint64_t at = 2 * index + which;
      return (random_bits(random_key(key, at), static_cast<std::uint32_t>(at)) + 0.5) * 0x1p-32;
    };
    const double x = (2 * draw(0) - 1) * std::numbers::sqrt3;
    if (draw(1) < std::exp(-x * x / 2)) return x;
  }
}

inline void fill_truncated_normal(matrix_view<float> weights, double deviation, std::uint64_t seed) {
  for (std::ptrdiff_t i = 0; i < weights.rows; ++i)
    for (std::ptrdiff_t j = 0; j < weights.cols; ++j)
      weights(i, j) =
          static_cast<float>(deviation * truncated_normal(seed, element_index(i, j, weights.cols)));
}

}  // namespace detail

/// Fills weights with N(0, scale / fan_in), without what is further than sqrt(3) deviations from 0: variance
/// scaling by the number of inputs of a unit. The variance of what is left is 0.66 scale / fan_in.
///
/// Random  element (i, j) depends on the seed and on its row-major index alone, not on the storage order. Give
///         each layer a seed of its own.
/// Throws  std::invalid_argument naming fan_in or scale unless they are in [1, 1e18] and [1e-9, 1e9].
/// Source  Kummer et al., "MARViN" (arXiv:2107.13490, 2021), the initialiser; its scale is open, 0.5 is AdaPT's.
template <class Weights>
requires writable_array_of<Weights, float>
void truncated_normal(Weights&& weights, double fan_in, std::uint64_t seed, double scale = 0.5) {
  detail::check_parameter("narrow::truncated_normal", "fan_in", fan_in, detail::within(1, 1e18));
  detail::check_parameter("narrow::truncated_normal", "scale", scale, detail::within(1e-9, 1e9));
  const array_layout layout = detail::read_array(weights).layout();
  auto out = detail::write_array(weights, layout, {"narrow::truncated_normal", "weights", "weights"});
  detail::with_float_environment([&] {
    detail::fill_truncated_normal(detail::as_matrix(out.elements(), layout), std::sqrt(scale / fan_in), seed);
  });
  out.commit();
}

}  // namespace narrow

NARROW_STRICT_END
