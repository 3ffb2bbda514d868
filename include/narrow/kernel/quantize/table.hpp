// What an instruction set offers for blocks of elements that share a scale.
#pragma once

#include "../shapes.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// A kernel has room for the scales of so many places of a line.
inline constexpr index max_places = 256;

/// How lines are divided into blocks that share a scale: `width` places of `height` lines each; the first
/// ones lack the places `before` the lines and the lines `above` them. Blocks are counted along the lines.
struct block_runs {
  index width = 1, before = 0;
  index height = 1, above = 0;

  /// Whether a scale for each place of the lines, which then have at most max_places, is better than a block
  /// at a time.
  constexpr bool are_narrow() const { return width < 16 || (2 * width <= max_places && height >= 4); }
  static constexpr block_runs one(const strided_lines& b) { return {.width = b.n, .height = b.lines}; }
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
using scaling_of_blocks = void(const Element* from, float* to, const strided_lines&, const block_runs&,
                               const float* scales);

/// Floats to integers under each policy that has a kernel, and back. Made from references: an instruction set
/// offers all of them or none.
template <class Element> struct quantize_kernels {
  using encoding_of_blocks = void(const float* from, Element* to, const strided_lines&, const quantization&,
                                  const block_runs&, const double* inverses);

  constexpr quantize_kernels() = default;
  constexpr quantize_kernels(encoding_of_blocks& to_nearest_even, encoding_of_blocks& to_zero,
                             encoding_of_blocks& by_draws, scaling_of_blocks<Element>& back)
      : nearest_even(to_nearest_even), toward_zero(to_zero), stochastic(by_draws), dequantize(back) {}

  encoding_of_blocks *nearest_even = nullptr, *toward_zero = nullptr, *stochastic = nullptr;
  scaling_of_blocks<Element>* dequantize = nullptr;
};

/// The kernels of quantisation; one that an instruction set has not is null.
struct quantize_table {
  quantize_kernels<std::int8_t> quantize_int8 = {};
  quantize_kernels<std::int16_t> quantize_int16 = {};
  quantize_kernels<std::int32_t> quantize_int32 = {};
  scaling_of_blocks<float>* scale_blocks = nullptr;
  /// Raises `largest` of each block to the bits of the largest finite magnitude; returns how many numbers are
  /// not finite.
  std::size_t (*absmax)(const float* from, const strided_lines&, const block_runs&,
                        std::uint32_t* largest) = nullptr;
};

}  // namespace narrow::kernel
