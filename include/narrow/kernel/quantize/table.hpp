// What an instruction set offers for blocks of elements that share a scale.
#pragma once

#include "../shapes.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// Of lines that meet narrow blocks.
inline constexpr index most_places = 256;

/// How lines are divided into blocks that share a scale: `width` places of `height` lines each; the first
/// ones lack the places `before` the lines and the lines `above` them. Blocks are counted along the lines.
struct block_runs {
  index width = 1, before = 0;
  index height = 1, above = 0;

  /// Whether a scale for each place of the lines, which then have at most most_places, is better than a block
  /// at a time.
  constexpr bool are_narrow() const { return width < 16 || (2 * width <= most_places && height >= 4); }
  static constexpr block_runs one(const line_block& b) { return {.width = b.n, .height = b.lines}; }
};
/// How floats become integers: x * inverse, to the nearest multiple of 2^-30 if `snaps`, held to the range,
/// rounded.
struct quantization {
  double lowest = 0, highest = 0;
  bool snaps = false;
  element_draws draws = {};
};

/// to = float(from) * scale, rounded.
template <class Element>
using scaling_of_blocks = void (*)(const Element* from, float* to, const line_block&, const block_runs&,
                                   const float* scales);

template <class Element> struct quantize_kernels {
  using kernel = void (*)(const float* from, Element* to, const line_block&, const quantization&,
                          const block_runs&, const double* inverses);
  kernel nearest_even = nullptr, toward_zero = nullptr, stochastic = nullptr;
  scaling_of_blocks<Element> dequantize = nullptr;
};

/// The kernels of quantisation; one that an instruction set has not is null.
struct quantize_table {
  quantize_kernels<std::int8_t> quantize_int8 = {};
  quantize_kernels<std::int16_t> quantize_int16 = {};
  quantize_kernels<std::int32_t> quantize_int32 = {};
  scaling_of_blocks<float> scale_blocks = nullptr;
  /// Raises `largest` of each block to the bits of the largest finite magnitude; returns how many numbers are
  /// not finite.
  std::size_t (*survey)(const float* from, const line_block&, const block_runs&,
                        std::uint32_t* largest) = nullptr;
};

}  // namespace narrow::inline NARROW_ABI::kernel
