// What kernels of all rooms are told: how the numbers lie that they read and write.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../config.hpp"
#include "../round/layout.hpp"
#include "../round/random.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// Four bytes: one float, two bf16 or int16, four int8; neighbours along the summed dimension of a product.
using word = std::uint32_t;

/// A float's magnitude in its bits, and the least one, infinity's, that is no finite number's: a NaN's are
/// greater.
inline constexpr std::uint32_t magnitude_mask = detail::binary32::magnitude_mask;
inline constexpr std::int32_t nonfinite_bits = detail::binary32::infinity;

/// A number or pointer of its own. g++ 12 copies two neighbours in memory at once, for which what was just
/// written one by one has to arrive there first.
template <class T> [[gnu::always_inline]] inline T in_register(T x) {
  asm("" : "+r"(x));
  return x;
}

/// Half of a first-level cache.
inline constexpr index near_bytes = 16384;

/// Lines of numbers that follow one another, and so many elements from one line to the next.
struct strided_lines {
  index n = 0, lines = 1;
  index from_stride = 0, to_stride = 0;

  /// As one line where nothing lies between them.
  constexpr strided_lines joined() const {
    return from_stride == n && to_stride == n ? strided_lines{.n = n * lines} : *this;
  }
};

/// How far it is from one line to the next, and from one element of a line to the next.
struct line_steps {
  index line, element;
};

/// What elements are rounded stochastically under: the indices first, first + step, ..., those of the next
/// line line_step on.
struct element_draws {
  detail::random_key key{0, 0};
  std::uint32_t first = 0, step = 1, line_step = 0;
};

/// Rows of numbers, `stride` elements apart, and where they go.
struct tile_shape {
  index rows = 0, cols = 0, stride = 0, to_stride = 0;

  static constexpr tile_shape line(index n) { return {1, n, n, n}; }
  /// As one line where its lines follow one another on both sides.
  constexpr tile_shape joined() const {
    return stride == cols && to_stride == cols ? line(rows * cols) : *this;
  }
};

}  // namespace narrow::kernel
