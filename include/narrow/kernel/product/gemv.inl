// A matrix times a vector, included once in the namespace of each instruction set, inside its target region.
// Line: as in dot.inl, with `load` for elements of the matrix, and `x_size` and `load_x` for those of the
// vector. Columns: `k_pack` of them are multiplied at once, with `step(acc, columns, at, x)` for `elements`
// rows of each, in `vectors` vectors. No include guard, on purpose.

/// How many bytes ahead of what is multiplied the next lines of a matrix are wanted; 0 where the processor
/// fetches them by itself in time: unless they come from beyond the caches, a prefetch takes more time than
/// it saves.
inline index bytes_ahead(index stride, index count, index lines) {
  constexpr index in_caches = index{4} << 20;  // of what is multiplied by one call
  return stride * count > in_caches && count >= 2 * lines ? lines * stride : 0;
}
inline void fetch_ahead(const unsigned char* from, index ahead) {
  constexpr int second_level = 2;  // cache, as __builtin_prefetch has it: what is next would fill the first
  if (ahead != 0) __builtin_prefetch(from + ahead, 0, second_level);
}

/// Each column contributes to its vector: numbers that need no neighbour.
template <class Line> struct single_columns : Line {
  static constexpr int k_pack = 1, vectors = 1, ways = 8;
  static void step(typename Line::vector* acc, const unsigned char* const* columns, index at, word x) {
    acc[0] = Line::step(acc[0], x, Line::load(columns[0] + at));
  }
};

/// Two columns interleaved.
template <class Line> struct pair_columns : Line {
  static constexpr int k_pack = 2, vectors = 2, ways = 4;
  static void step(typename Line::vector* acc, const unsigned char* const* columns, index at, word x) {
    const auto a = Line::load(columns[0] + at), b = Line::load(columns[1] + at);
    acc[0] = Line::step(acc[0], x, Line::low_pairs(a, b));
    acc[1] = Line::step(acc[1], x, Line::high_pairs(a, b));
  }
};

/// Four columns of bytes interleaved.
template <class Line> struct quad_columns : Line {
  static constexpr int k_pack = 4, vectors = 4, ways = 2;
  static void step(typename Line::vector* acc, const unsigned char* const* columns, index at, word x) {
    const auto load = [&](int c) { return Line::load(columns[c] + at); };
    const auto a = load(0), b = load(1), c = load(2), d = load(3);
    const auto low_ab = Line::low_bytes(a, b), high_ab = Line::high_bytes(a, b),
               low_cd = Line::low_bytes(c, d), high_cd = Line::high_bytes(c, d);
    acc[0] = Line::step(acc[0], x, Line::low_pairs(low_ab, low_cd));
    acc[1] = Line::step(acc[1], x, Line::high_pairs(low_ab, low_cd));
    acc[2] = Line::step(acc[2], x, Line::low_pairs(high_ab, high_cd));
    acc[3] = Line::step(acc[3], x, Line::high_pairs(high_ab, high_cd));
  }
};

/// Adds `Ways` words of x times their columns to the sums; columns so many bytes ahead are next. What a last
/// vector lacks is zeros.
template <class Op, int Ways>
inline void add_some_columns(const unsigned char* const (&columns)[Ways * Op::k_pack], index ahead,
                             const word* x, index n, typename Op::lane* sums) {
  constexpr index step = Op::elements, bytes = step * index{Op::element_size};
  word factors[Ways];  // which a store to the sums cannot change
  std::copy(x, x + Ways, factors);
  const auto add = [&](const unsigned char* const* from, index at) {
    typename Op::vector acc[Op::vectors];
    NARROW_UNROLL for (int v = 0; v < Op::vectors; ++v) acc[v] = Op::load_lanes(sums + v * Op::lanes);
    NARROW_UNROLL for (int w = 0; w < Ways; ++w) Op::step(acc, from + w * Op::k_pack, at, factors[w]);
    NARROW_UNROLL for (int v = 0; v < Op::vectors; ++v) Op::store(sums + v * Op::lanes, acc[v]);
  };
  index at = 0;
  for (; n >= step; n -= step, at += bytes, sums += step) {
    NARROW_UNROLL for (int c = 0; c < Ways * Op::k_pack; ++c) fetch_ahead(columns[c] + at, ahead);
    add(columns, at);
  }
  if (n <= 0) return;
  unsigned char rest[Ways * Op::k_pack][bytes];
  const unsigned char* rests[Ways * Op::k_pack];
  for (int c = 0; c < Ways * Op::k_pack; ++c) {
    read_part(rest[c], columns[c] + at, n * Op::element_size);
    rests[c] = rest[c];
  }
  add(rests, 0);
}

template <class Op>
NARROW_KERNEL void add_columns(const void* a, index stride, index count, const word* x, index n,
                               typename Op::lane* sums) {
  constexpr int ways = Op::ways, k_pack = Op::k_pack;
  const index ahead = bytes_ahead(stride, count, ways * k_pack);
  const auto* next = static_cast<const unsigned char*>(a);
  for (; count >= ways * k_pack; count -= ways * k_pack, next += ways * k_pack * stride, x += ways) {
    const unsigned char* columns[ways * k_pack];
    for (int c = 0; c < ways * k_pack; ++c) columns[c] = next + c * stride;
    add_some_columns<Op, ways>(columns, count >= 2 * ways * k_pack ? ahead : 0, x, n, sums);
  }
  for (; count > 0; count -= k_pack, next += k_pack * stride, ++x) {
    const unsigned char* columns[k_pack];  // one that is lacking is another times 0
    for (int c = 0; c < k_pack; ++c) columns[c] = next + (c < count ? c * stride : 0);
    add_some_columns<Op, 1>(columns, 0, x, n, sums);
  }
}

/// The sum of the lanes of each of four vectors, which is to fit a lane.
template <class Line> inline auto totals_of_four(const typename Line::vector (&x)[4]) {
  using quad [[gnu::vector_size(16)]] = typename Line::lane;
  quad of[4];
  NARROW_UNROLL for (int c = 0; c < 4; ++c) {
    quad parts[sizeof x[c] / sizeof(quad)];
    std::memcpy(parts, &x[c], sizeof x[c]);
    NARROW_UNROLL for (std::size_t half = sizeof x[c] / sizeof(quad) / 2; half > 0; half /= 2)
        NARROW_UNROLL for (std::size_t k = 0; k < half; ++k) parts[k] += parts[k + half];
    of[c] = parts[0];
  }
  const quad low = __builtin_shufflevector(of[0], of[1], 0, 4, 1, 5) +
                   __builtin_shufflevector(of[0], of[1], 2, 6, 3, 7),
             high = __builtin_shufflevector(of[2], of[3], 0, 4, 1, 5) +
                    __builtin_shufflevector(of[2], of[3], 2, 6, 3, 7);
  return __builtin_shufflevector(low, high, 0, 1, 4, 5) + __builtin_shufflevector(low, high, 2, 3, 6, 7);
}

template <class Line, int Rows>
inline void multiply_some_rows(const unsigned char* a, index stride, index ahead, const unsigned char* x,
                               index n, typename Line::sum* sums) {
  constexpr int ways = 8 / Rows;
  constexpr index step = Line::elements, bytes = step * index{Line::element_size},
                  x_bytes = step * index{Line::x_size};
  typename Line::vector acc[ways][Rows];
  NARROW_UNROLL for (int w = 0; w < ways; ++w) NARROW_UNROLL for (int r = 0; r < Rows; ++r) acc[w][r] =
      Line::zero();
  for (; n >= ways * step; n -= ways * step, a += ways * bytes, x += ways * x_bytes) {
    NARROW_UNROLL for (int w = 0; w < ways; ++w) {
      const auto factor = Line::load_x(x + w * x_bytes);
      NARROW_UNROLL for (int r = 0; r < Rows; ++r) {
        fetch_ahead(a + r * stride + w * bytes, ahead);
        acc[w][r] = Line::multiply_add(acc[w][r], Line::load(a + r * stride + w * bytes), factor);
      }
    }
  }
  NARROW_UNROLL for (int w = 1; w < ways; ++w) NARROW_UNROLL for (int r = 0; r < Rows; ++r) acc[0][r] =
      Line::add(acc[0][r], acc[w][r]);
  for (; n >= step; n -= step, a += bytes, x += x_bytes) {
    NARROW_UNROLL for (int r = 0; r < Rows; ++r) acc[0][r] =
        Line::multiply_add(acc[0][r], Line::load(a + r * stride), Line::load_x(x));
  }
  if (n > 0) {
    unsigned char rest[Rows][bytes], x_rest[x_bytes];
    read_part(x_rest, x, n * Line::x_size);
    NARROW_UNROLL for (int r = 0; r < Rows; ++r) {
      read_part(rest[r], a + r * stride, n * Line::element_size);
      acc[0][r] = Line::multiply_add(acc[0][r], Line::load(rest[r]), Line::load_x(x_rest));
    }
  }
  if constexpr (Rows % 4 == 0 && std::is_same_v<typename Line::lane, float>) {
    NARROW_UNROLL for (int r = 0; r < Rows; r += 4) {
      const typename Line::vector four[] = {acc[0][r], acc[0][r + 1], acc[0][r + 2], acc[0][r + 3]};
      const auto totals = totals_of_four<Line>(four);
      for (int l = 0; l < 4; ++l) sums[r + l] += totals[l];
    }
  } else {
    NARROW_UNROLL for (int r = 0; r < Rows; ++r) {
      typename Line::lane lanes[Line::lanes];
      Line::store(lanes, acc[0][r]);
      for (int l = 0; l < Line::lanes; ++l) sums[r] += lanes[l];
    }
  }
}

template <class Line>
NARROW_KERNEL void add_rows(const void* a, index stride, index count, const word* x, index n,
                            typename Line::sum* sums) {
  constexpr int rows = 8;
  const index ahead = bytes_ahead(stride, count, rows);
  const auto* next = static_cast<const unsigned char*>(a);
  const auto* factors = reinterpret_cast<const unsigned char*>(x);
  for (; count >= rows; count -= rows, next += rows * stride, sums += rows)
    multiply_some_rows<Line, rows>(next, stride, count >= 2 * rows ? ahead : 0, factors, n, sums);
  for (; count > 0; --count, next += stride, ++sums)
    multiply_some_rows<Line, 1>(next, stride, 0, factors, n, sums);
}

#include "skinny.inl"

/// Excess: what each element of the matrix counts more than it is.
template <class Columns, class Line, int Excess = 0>
constexpr gemv_kernels<typename Line::lane, typename Line::sum> gemv_of() {
  static_assert(Columns::k_pack * Line::x_size == sizeof(word));
  return {Columns::k_pack,
          Columns::vectors,
          Columns::elements,
          add_columns<Columns>,
          add_rows<Line>,
          add_rows_times_few<Line>,
          Excess};
}
