// A matrix times a vector, included once in the namespace of an instruction set by simd/vector_kernels.inl.
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

template <class Lanes> inline constexpr int lanes_in = sizeof(Lanes) / sizeof(Lanes{}[0]);

/// The two halves of each 2 Half lanes of two vectors added up: what was of the first vector, then what was
/// of the second one, in every block of so many lanes.
template <int Half, class Lanes, int... L>
inline Lanes halves_of_two(Lanes a, Lanes b, std::integer_sequence<int, L...>) {
  constexpr int block = 2 * Half, count = sizeof...(L);
  return __builtin_shufflevector(a, b, (L % block < Half ? L : L - Half + count)...) +
         __builtin_shufflevector(a, b, (L % block < Half ? L + Half : L + count)...);
}
/// The same of one vector, side by side in its first lanes.
template <int Half, class Lanes, int... L>
inline Lanes halves_of_one(Lanes x, std::integer_sequence<int, L...>) {
  return __builtin_shufflevector(x, x, (L / Half * 2 * Half + L % Half)...) +
         __builtin_shufflevector(x, x, (L / Half * 2 * Half + L % Half + Half)...);
}
/// The sums of the lanes of Count vectors, a power of two of at most as many as there are lanes, in the first
/// lanes: of each lane and the one half a vector further, and so on.
template <class Lanes, int Count, int Half = lanes_in<Lanes> / 2>
inline Lanes totals_of(const Lanes (&x)[Count]) {
  constexpr std::make_integer_sequence<int, lanes_in<Lanes>> all;
  if constexpr (Half == 0) {
    return x[0];
  } else if constexpr (Count == 1) {
    const Lanes one[] = {halves_of_one<Half>(x[0], all)};
    return totals_of<Lanes, 1, Half / 2>(one);
  } else {
    Lanes pairs[Count / 2];
    NARROW_UNROLL for (int i = 0; i < Count / 2; ++i) pairs[i] =
        halves_of_two<Half>(x[i], x[i + Count / 2], all);
    return totals_of<Lanes, Count / 2, Half / 2>(pairs);
  }
}
/// The same of vectors of a line, whose sums are to fit a lane.
template <class Line, int Count> inline auto totals_of_lines(const typename Line::vector (&x)[Count]) {
  using lane = typename Line::lane;
  using unsigned_or_float = std::conditional_t<std::is_same_v<lane, float>, float, std::uint32_t>;
  using typed [[gnu::vector_size(sizeof x[0])]] = unsigned_or_float;
  constexpr int at_once = std::min(Count, lanes_in<typed>);
  std::array<lane, Count> result;
  NARROW_UNROLL for (int first = 0; first < Count; first += at_once) {
    typed lanes[at_once];
    std::memcpy(lanes, x + first, sizeof lanes);
    const typed totals = totals_of(lanes);
    std::memcpy(result.data() + first, &totals, at_once * sizeof(lane));
  }
  return result;
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
  if constexpr (std::is_same_v<typename Line::lane, float>) {
    const auto totals = totals_of_lines<Line>(acc[0]);
    NARROW_UNROLL for (int r = 0; r < Rows; ++r) sums[r] += totals[static_cast<std::size_t>(r)];
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
