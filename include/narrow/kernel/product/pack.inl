// Lines of elements as panels of words, included once in the namespace of an instruction set by
// simd/vector_kernels.inl. No include guard, on purpose.

using quad [[gnu::vector_size(16)]] = word;
using bytes16 [[gnu::vector_size(16)]] = std::uint8_t;
using halves8 [[gnu::vector_size(16)]] = std::uint16_t;

inline bytes16 load16(const unsigned char* from) {
  bytes16 x;
  std::memcpy(&x, from, sizeof x);
  return x;
}
// The elements of the first halves of x and y, and of the second ones, one of each in turn.
inline halves8 zip_low(bytes16 x, bytes16 y) {
  return std::bit_cast<halves8>(
      __builtin_shufflevector(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
}
inline halves8 zip_high(bytes16 x, bytes16 y) {
  return std::bit_cast<halves8>(
      __builtin_shufflevector(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
}
inline quad zip_low(halves8 x, halves8 y) {
  return std::bit_cast<quad>(__builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11));
}
inline quad zip_high(halves8 x, halves8 y) {
  return std::bit_cast<quad>(__builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15));
}

inline constexpr index lines_across = 16;
/// A quad as two pairs of words.
struct pair_of_pairs {
  std::uint64_t first, second;
};

/// A word of each of 16 lines, from elements side by side in the lines: load(q, i) has 16 bytes from byte 16
/// i of element q of the words.
template <class Element, class Load> inline void words_across(const Load& load, word flip, quad (&words)[4]) {
  if constexpr (sizeof(Element) == sizeof(word)) {
    NARROW_UNROLL for (int i = 0; i < 4; ++i) words[i] = std::bit_cast<quad>(load(0, i));
  } else if constexpr (sizeof(Element) == 2) {
    NARROW_UNROLL for (int i = 0; i < 2; ++i) {
      const auto x = std::bit_cast<halves8>(load(0, i)), y = std::bit_cast<halves8>(load(1, i));
      words[2 * i] = zip_low(x, y);
      words[2 * i + 1] = zip_high(x, y);
    }
  } else {
    const bytes16 x[4] = {load(0, 0), load(1, 0), load(2, 0), load(3, 0)};
    const halves8 low01 = zip_low(x[0], x[1]), low23 = zip_low(x[2], x[3]), high01 = zip_high(x[0], x[1]),
                  high23 = zip_high(x[2], x[3]);
    words[0] = zip_low(low01, low23);
    words[1] = zip_high(low01, low23);
    words[2] = zip_low(high01, high23);
    words[3] = zip_high(high01, high23);
  }
  NARROW_UNROLL for (int i = 0; i < 4; ++i) words[i] ^= flip;
}

/// Lines that are side by side in memory: the first element of the first one, where the first words of each
/// pair of them go, how many lines are read, and how many pairs the panels have room for.
struct strip {
  const unsigned char* from;
  word* to[lines_across / 2];
  index lines, pairs;
};
enum class strip_place {
  in_one_panel,  // all words of a k-pack side by side
  in_panels,     // perhaps in several, but those of a pair in one
  before_end     // the same, of as many pairs only as the strip has
};

template <strip_place Place> inline void put_words(const quad (&words)[4], const strip& x, index step) {
  if constexpr (Place == strip_place::in_one_panel) {
    NARROW_UNROLL for (int i = 0; i < 4; ++i) {
      std::memcpy(x.to[0] + step + 4 * i, &words[i], sizeof(quad));
    }
  } else {
    NARROW_UNROLL for (int i = 0; i < lines_across / 2; ++i) {
      if (Place == strip_place::before_end && i == x.pairs) return;
      const auto pairs = std::bit_cast<pair_of_pairs>(words[i / 2]);
      std::memcpy(x.to[i] + step, i % 2 == 0 ? &pairs.first : &pairs.second, sizeof pairs.first);
    }
  }
}

/// A strip from element k of the depth on, of which nothing is read that lies beyond the matrix, nor written
/// beyond the panels.
template <class Element>
inline void pack_strip(const line_source& s, const strip& x, index k, index width, word flip) {
  constexpr index size = sizeof(Element), k_pack = sizeof(word) / size;
  for (; k < s.depth; k += k_pack) {
    const auto load = [&](int q, int i) {
      bytes16 some = {};
      const index bytes = k + q < s.depth ? x.lines * size - 16 * i : 0;
      if (bytes <= 0) return some;
      const unsigned char* const from = x.from + (k + q) * s.depth_step + 16 * i;
      if (bytes >= 16) return load16(from);
      read_part(some, from, bytes);
      return some;
    };
    quad words[4];
    words_across<Element>(load, flip, words);
    put_words<strip_place::before_end>(words, x, k / k_pack * width);
  }
}

/// Where neighbours across the lines lie side by side, in panels of an even width.
template <class Element, strip_place Place>
inline void pack_across(const line_source& s, index width, index panel_words, word flip, word* to) {
  constexpr index size = sizeof(Element), k_pack = sizeof(word) / size;
  // Whole cache lines of several panels are read at a time: along the depth, elements are far apart.
  constexpr index max_strips = 16;
  const index end = (s.lines + width - 1) / width * width;
  for (index line = 0, in_panel = 0; line < end;) {
    strip strips[max_strips];
    index count = 0, read_whole = 0, whole = 0;
    for (; count < max_strips && line < end; line += lines_across, ++count) {
      const index first = std::min(line, s.lines), lines = std::min(s.lines - first, lines_across),
                  pairs = std::min(end - line, lines_across) / 2;
      // Where panels have no room for more, lines beyond those are read, if there are, and not written.
      const bool reads_all = lines == 2 * pairs && s.readable - first >= lines_across;
      strip& x = strips[count];
      x = {s.data + first * size, {}, reads_all ? lines_across : lines, pairs};
      for (index i = 0; i < x.pairs; ++i) {
        x.to[i] = to + in_panel;
        in_panel += 2;
        if (in_panel == width) {
          in_panel = 0;
          to += panel_words;
        }
      }
      read_whole += x.lines == lines_across;
      whole += lines == lines_across;
    }
    index k = 0;
    for (index step = 0; k + k_pack <= s.depth; k += k_pack, step += width)
      for (index i = 0; i < read_whole; ++i) {
        const unsigned char* const from = strips[i].from + k * s.depth_step;
        quad words[4];
        words_across<Element>([&](int q, int j) { return load16(from + q * s.depth_step + 16 * j); }, flip,
                              words);
        if (i < whole)
          put_words<Place>(words, strips[i], step);
        else
          put_words<strip_place::before_end>(words, strips[i], step);
      }
    for (index i = 0; i < count; ++i) pack_strip<Element>(s, strips[i], i < read_whole ? k : 0, width, flip);
  }
}

/// Four words of each of four lines as four rows of words.
inline void turn(quad (&x)[4], word flip) {
  const quad a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5),
             b = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5),
             c = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7),
             d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
  x[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5) ^ flip;
  x[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7) ^ flip;
  x[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5) ^ flip;
  x[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7) ^ flip;
}

/// Where neighbours along a line lie side by side, and so the elements of a word.
template <class Element> inline void pack_along(const line_source& s, index width, word flip, word* to) {
  constexpr index k_pack = sizeof(word) / sizeof(Element), size = sizeof(Element);
  // What a last quad writes beyond the panel's width, those after it put right.
  const index whole = s.depth / k_pack, safe = width % 4 == 0 ? whole : whole - 1;
  index p = 0;
  for (; p + 4 <= safe; p += 4, to += 4 * width)
    for (index l = (width - 1) / 4 * 4; l >= 0; l -= 4) {
      quad x[4] = {};
      NARROW_UNROLL for (int i = 0; i < 4; ++i) if (l + i < s.lines)
          std::memcpy(&x[i], s.data + (l + i) * s.line_step + p * 4, sizeof(quad));
      turn(x, flip);
      NARROW_UNROLL for (int i = 0; i < 4; ++i) std::memcpy(to + i * width + l, &x[i], sizeof(quad));
    }
  // The last words, of which nothing is written beyond the panel.
  for (index bytes = (s.depth - p * k_pack) * size; bytes > 0; bytes -= sizeof(quad), p += 4, to += 4 * width)
    for (index l = 0; l < width; l += 4) {
      quad x[4] = {};
      NARROW_UNROLL for (int i = 0; i < 4; ++i) {
        if (l + i >= s.lines) break;
        const unsigned char* const from = s.data + (l + i) * s.line_step + p * 4;
        if (bytes >= index{sizeof(quad)})
          std::memcpy(&x[i], from, sizeof(quad));
        else
          read_part(x[i], from, bytes);
      }
      turn(x, flip);
      const index words = std::min<index>((bytes + 3) / 4, 4), lines = width - l;
      NARROW_UNROLL for (int i = 0; i < 4; ++i) {
        if (i >= words) break;
        if (lines >= 4)
          std::memcpy(to + i * width + l, &x[i], sizeof(quad));
        else
          std::memcpy(to + i * width + l, &x[i], static_cast<std::size_t>(lines) * sizeof(word));
      }
    }
}

/// Where neither do.
template <class Element> inline void pack_apart(const line_source& s, index width, word flip, word* to) {
  constexpr index k_pack = sizeof(word) / sizeof(Element);
  for (index k = 0; k < s.depth; k += k_pack, to += width)
    for (index l = 0; l < width; ++l) {
      Element x[k_pack] = {};
      if (l < s.lines)
        for (index q = 0; q < k_pack && k + q < s.depth; ++q)
          std::memcpy(&x[q], s.data + l * s.line_step + (k + q) * s.depth_step, sizeof(Element));
      std::memcpy(to + l, x, sizeof(word));
      to[l] ^= flip;
    }
}

template <class Element>
NARROW_KERNEL void pack_lines(const line_source& s, index width, index panel_words, word flip, word* to) {
  constexpr index size = sizeof(Element);
  if (s.line_step == size && width % 2 == 0)
    return width % lines_across == 0
               ? pack_across<Element, strip_place::in_one_panel>(s, width, panel_words, flip, to)
               : pack_across<Element, strip_place::in_panels>(s, width, panel_words, flip, to);
  for (index first = 0; first < s.lines; first += width, to += panel_words) {
    line_source panel = s;
    panel.data += first * s.line_step;
    panel.lines = std::min(width, s.lines - first);
    if (s.depth_step == size)
      pack_along<Element>(panel, width, flip, to);
    else
      pack_apart<Element>(panel, width, flip, to);
  }
}

NARROW_KERNEL inline void int8_to_int16(const void* from, void* to, index n) {
  using half_vector [[gnu::vector_size(vector_bytes / 2)]] = std::int8_t;
  using whole_vector [[gnu::vector_size(vector_bytes)]] = std::int16_t;
  const auto* const x = static_cast<const std::int8_t*>(from);
  auto* const y = static_cast<std::int16_t*>(to);
  constexpr index count = sizeof(half_vector);
  const auto widen = [&](index i, index some) {
    write(y + i, __builtin_convertvector(read<half_vector>(x + i, some), whole_vector), some);
  };
  for (index i = 0; i + count <= n; i += count) widen(i, count);
  if (n % count == 0) return;
  // The last ones, with some of those before them once more where there are so many.
  if (n > count)
    widen(n - count, count);
  else
    widen(0, n);
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
  for (index i = 0; i < n; i += lanes32) {  // a whole number of vectors
    half_words halves;
    std::memcpy(&halves, x + i, sizeof halves);
    halves = change(halves);
    std::memcpy(x + i, &halves, sizeof halves);
  }
}
NARROW_KERNEL inline void take_high(word* x, index n) { change_halves(x, n, high_halves); }
NARROW_KERNEL inline void take_low(word* x, index n) { change_halves(x, n, low_halves); }
