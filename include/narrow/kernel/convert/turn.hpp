// Rows and columns exchanged, of numbers as they are.
#pragma once

#include <algorithm>
#include <cstring>

#include "../../simd/region.hpp"
#include "../shapes.hpp"

namespace narrow::inline NARROW_ABI::kernel {

using two_words [[gnu::vector_size(16)]] = std::uint64_t;

/// As many lines of Codes, of one or two bytes, as a vector has of them.
template <class Code> class code_block {
  static constexpr std::size_t side = sizeof(two_words) / sizeof(Code);
  using codes [[gnu::vector_size(sizeof(two_words))]] = Code;

 public:
  static constexpr auto size = static_cast<index>(side);

  code_block(const void* from, index step) {
    NARROW_UNROLL for (index l = 0; l < size; ++l)
        std::memcpy(&lines_[l], static_cast<const Code*>(from) + l * step, sizeof lines_[l]);
  }
  /// Each round lets every line meet the one half of all lines further: after as many as a number of a line
  /// has binary digits, line l has number l of all.
  template <std::size_t Rounds = side> void turn() {
    if constexpr (Rounds > 1) {
      codes met[side];
      NARROW_UNROLL for (std::size_t l = 0; l < side / 2; ++l)
          meet(lines_[l], lines_[l + side / 2], &met[2 * l], std::make_integer_sequence<int, int{side}>{});
      NARROW_UNROLL for (std::size_t l = 0; l < side; ++l) lines_[l] = met[l];
      turn<Rounds / 2>();
    }
  }
  void store(void* to, index step) const {
    NARROW_UNROLL for (index l = 0; l < size; ++l)
        std::memcpy(static_cast<Code*>(to) + l * step, &lines_[l], sizeof lines_[l]);
  }

 private:
  template <int... I>
  static void meet(const codes& a, const codes& b, codes* both, std::integer_sequence<int, I...>) {
    both[0] = __builtin_shufflevector(a, b, (I / 2 + I % 2 * size)...);
    both[1] = __builtin_shufflevector(a, b, (I / 2 + I % 2 * size + size / 2)...);
  }

  codes lines_[side];
};

/// Number l of line i at `to` is number i of line l at `from`, for i < length and l < lines; lines are a step
/// of so many numbers apart. The two places do not overlap.
template <class T>
requires(sizeof(T) <= 2) void turn_lines(const T* from, index step, index lines, index length, T* to,
                                         index to_step) {
  using block = code_block<detail::uint_at_least<8 * sizeof(T)>>;
  constexpr index side = block::size;
  if (lines < side || length < side) {
    for (index i = 0; i < length; ++i)
      for (index l = 0; l < lines; ++l) to[i * to_step + l] = from[l * step + i];
    return;
  }
  // The last block may have lines and numbers of the one before again.
  for (index i = 0; i < length; i += side) {
    const index first = std::min(i, length - side);
    for (index l = 0; l < lines; l += side) {
      const index line = std::min(l, lines - side);
      block some(from + line * step + first, step);
      some.turn();
      some.store(to + first * to_step + line, to_step);
    }
  }
}

}  // namespace narrow::kernel
