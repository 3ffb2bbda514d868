// Lines of elements as panels of words, included once in the namespace of each instruction set, inside its target
// region, after codes.inl. No include guard, on purpose.

using quad [[gnu::vector_size(16)]] = word;

/// Element q of a line's words from elements side by side in the lines: a word of each of `code_count` lines.
template <class Element> inline code_lanes words_across(const unsigned char* from, const line_source& s, index depth) {
  constexpr index group = sizeof(word) / sizeof(Element);
  using elements [[gnu::vector_size(code_count * sizeof(Element))]] = std::make_unsigned_t<Element>;
  code_lanes words = {};
  NARROW_UNROLL for (index q = 0; q < group; ++q) {
    if (q >= depth) break;
    elements x;
    std::memcpy(&x, from + q * s.depth_step, sizeof x);
    words |= __builtin_convertvector(x, code_lanes) << static_cast<word>(q * 8 * sizeof(Element));
  }
  return words;
}

/// Where neighbours across the lines lie side by side.
template <class Element> inline void pack_across(const line_source& s, index width, word flip, word* to) {
  constexpr index group = sizeof(word) / sizeof(Element), size = sizeof(Element);
  // Ends of the matrix are read from a copy.
  unsigned char end[group * code_count * size];
  for (index first = 0; first < width; first += code_count) {
    const index lines = std::clamp<index>(s.lines - first, 0, code_count);
    const bool inside = s.readable - first >= code_count;
    const unsigned char* from = s.data + first * size;
    word* next = to + first;
    for (index k = 0; k < s.depth; k += group, next += width) {
      const index depth = std::min(group, s.depth - k);
      code_lanes words;
      if (inside) {
        words = depth == group ? words_across<Element>(from + k * s.depth_step, s, group)
                               : words_across<Element>(from + k * s.depth_step, s, depth);
      } else {
        std::memset(end, 0, sizeof end);
        for (index q = 0; q < depth; ++q)
          std::memcpy(end + q * code_count * size, from + (k + q) * s.depth_step, static_cast<std::size_t>(lines * size));
        words = words_across<Element>(end, {.depth_step = code_count * size}, depth);
      }
      words ^= flip;
      std::memcpy(next, &words, sizeof words);
    }
  }
}

/// Where neighbours along a line lie side by side, and so the elements of a word.
template <class Element> inline void pack_along(const line_source& s, index width, word flip, word* to) {
  constexpr index group = sizeof(word) / sizeof(Element), size = sizeof(Element);
  const index whole = s.depth / group;
  index p = 0;
  for (; p + 4 <= whole; p += 4, to += 4 * width)
    // What a last quad writes beyond the panel's width, those after it put right.
    for (index l = (width - 1) / 4 * 4; l >= 0; l -= 4) {
      quad x[4] = {};
      const unsigned char* const from = s.data + l * s.line_step + p * 4;
      if (l + 4 <= s.lines) {
        NARROW_UNROLL for (int i = 0; i < 4; ++i) std::memcpy(&x[i], from + i * s.line_step, sizeof(quad));
      } else {
        for (index i = 0; i < s.lines - l; ++i) std::memcpy(&x[i], from + i * s.line_step, sizeof(quad));
      }
      const quad a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5), b = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5),
                 c = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7), d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
      x[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5) ^ flip;
      x[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7) ^ flip;
      x[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5) ^ flip;
      x[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7) ^ flip;
      NARROW_UNROLL for (int i = 0; i < 4; ++i) std::memcpy(to + i * width + l, &x[i], sizeof(quad));
    }
  for (; p * group < s.depth; ++p, to += width)
    for (index l = 0; l < width; ++l) {
      word x = 0;
      if (l < s.lines)
        std::memcpy(&x, s.data + l * s.line_step + p * 4, static_cast<std::size_t>(std::min(group, s.depth - p * group) * size));
      to[l] = x ^ flip;
    }
}

template <class Element> NARROW_KERNEL void pack_lines(const line_source& s, index width, word flip, word* to) {
  constexpr index group = sizeof(word) / sizeof(Element), size = sizeof(Element);
  if (s.line_step == size) return pack_across<Element>(s, width, flip, to);
  if (s.depth_step == size) return pack_along<Element>(s, width, flip, to);
  for (index k = 0; k < s.depth; k += group, to += width)
    for (index l = 0; l < width; ++l) {
      Element x[group] = {};
      if (l < s.lines)
        for (index q = 0; q < group && k + q < s.depth; ++q)
          std::memcpy(&x[q], s.data + l * s.line_step + (k + q) * s.depth_step, sizeof(Element));
      std::memcpy(to + l, x, sizeof(word));
      to[l] ^= flip;
    }
}

// Each int16 x = 256 high + low, both of which 9 bits hold, becomes one of them.

using half_words [[gnu::vector_size(vector_bytes)]] = std::uint16_t;

/// high = (x + 128) >> 8 without leaving 16 bits.
inline half_words high_halves(half_words x) {
  using signed_halves [[gnu::vector_size(vector_bytes)]] = std::int16_t;
  signed_halves s;
  std::memcpy(&s, &x, sizeof s);
  s = (s >> 8) + (s >> 7 & 1);
  std::memcpy(&x, &s, sizeof x);
  return x;
}
inline half_words low_halves(half_words x) { return x - (high_halves(x) << 8); }
template <class Change> inline void change_halves(word* x, index n, Change change) {
  for (index i = 0; i < n; i += code_count) {  // a whole number of vectors
    half_words halves;
    std::memcpy(&halves, x + i, sizeof halves);
    halves = change(halves);
    std::memcpy(x + i, &halves, sizeof halves);
  }
}
NARROW_KERNEL inline void take_high(word* x, index n) { change_halves(x, n, high_halves); }
NARROW_KERNEL inline void take_low(word* x, index n) { change_halves(x, n, low_halves); }

constexpr pack_kernels packers() {
  return {pack_lines<std::int8_t>, pack_lines<std::int16_t>, pack_lines<std::int32_t>, take_high, take_low};
}
