// Products of matrices of few numbers; included once in the namespace of an instruction set by
// simd/vector_kernels.inl. No include guard, on purpose.

/// Lines of numbers as floats that follow one another. Up to a vector after the last one is written, too.
template <class T> inline void decode_lines(const T* from, index step, index lines, index length, float* to) {
  if (step == length) {
    length *= lines;
    lines = 1;
  }
  for (; lines > 0; --lines, from += step, to += length) {
    const lane_numbers<T> line{from, 0};
    index i = 0;
    for (; i + lanes32 <= length; i += lanes32) {
      const float_vector x = at(line, i, all_lanes{});
      std::memcpy(to + i, &x, sizeof x);
    }
    if (i == length) continue;
    const float_vector x = at(line, i, first_lanes{length - i});
    std::memcpy(to + i, &x, sizeof x);
  }
}

/// The second half of each 2 Step lanes of one vector and the first half of those of another one change
/// places.
template <int Step, int... L>
inline void exchange(float_vector& a, float_vector& b, std::integer_sequence<int, L...>) {
  const float_vector first = __builtin_shufflevector(a, b, ((L & Step) == 0 ? L : lanes32 + L - Step)...),
                     second = __builtin_shufflevector(a, b, ((L & Step) == 0 ? L + Step : lanes32 + L)...);
  a = first;
  b = second;
}
/// Rows and columns exchanged, of a block of as many vectors as these have lanes.
template <int Step = 1> inline void turn_block(float_vector (&x)[lanes32]) {
  NARROW_UNROLL for (int i = 0; i < lanes32; ++i) {
    if ((i & Step) == 0) exchange<Step>(x[i], x[i + Step], std::make_integer_sequence<int, lanes32>{});
  }
  if constexpr (2 * Step < lanes32) turn_block<2 * Step>(x);
}
/// The rows of a matrix whose columns lie side by side, as floats that follow one another. Up to a vector
/// after the last one is written, too.
template <class T>
inline void decode_turned(const T* from, index col_step, index rows, index cols, float* to) {
  for (index i = 0; i < rows; i += lanes32) {
    const index height = std::min<index>(rows - i, lanes32);
    // What is written beyond a row the beginning of the next one puts right.
    for (index j = (cols - 1) / lanes32 * lanes32; j >= 0; j -= lanes32) {
      float_vector x[lanes32];
      const auto load = [&](index l) {
        return lane_numbers<T>{from + std::min<index>(j + l, cols - 1) * col_step, 0};
      };
      if (height == lanes32) {
        NARROW_UNROLL for (index l = 0; l < lanes32; ++l) x[l] = at(load(l), i, all_lanes{});
      } else {
        for (index l = 0; l < lanes32; ++l) x[l] = at(load(l), i, first_lanes{height});
      }
      turn_block(x);
      for (index l = 0; l < height; ++l) std::memcpy(to + (i + l) * cols + j, &x[l], sizeof x[l]);
    }
  }
}

/// Where a product in float goes: to = alpha product + beta to.
template <class C> struct compact_result {
  C* to;
  line_steps steps;
  float alpha, beta;
  bool copies = alpha == 1 && beta == 0;

  C* at_place(index i, index j) const { return to + i * steps.line + j * steps.element; }
  /// What a vector of products becomes where numbers lie side by side from `first` on.
  template <class Lanes> float_vector scaled(const C* first, const float_vector& product, Lanes lanes) const {
    if (copies) return product;
    return scaled_small(product, alpha, beta, [&] { return at(lane_numbers<C>{first, 0}, 0, lanes); });
  }
  /// The first `count` of a vector of products of row i, from column j on.
  void store(index i, index j, const float_vector& product, index count) const {
    C* const first = at_place(i, j);
    if (steps.element != 1)
      store_spread(first, product, std::min<index>(count, lanes32));
    else if (count < lanes32)
      store_some<C>(first, scaled(first, product, first_lanes{count}), first_lanes{count});
    else
      store_some<C>(first, scaled(first, product, all_lanes{}), all_lanes{});
  }

 private:
  [[gnu::noinline]] void store_spread(C* first, const float_vector& product, index count) const {
    const lane_spread_numbers<C> present{first, 0, steps.element};
    const float_vector x =
        scaled_small(product, alpha, beta, [&] { return at(present, 0, first_lanes{count}); });
    detail::uint_at_least<8 * sizeof(C)> codes[lanes32];
    store_numbers<C>(codes, x);
    spread_some(codes, first, steps.element, count);
  }
};

/// What the lanes of a last vector compute that have no column.
enum class spare_lanes {
  none,        // there are none
  any_number,  // what comes next in memory, or zeros
  copies       // what the first lane does: no exception is raised there that the numbers do not raise
};

/// So many rows and vectors of columns of a product, the rows of B side by side. Terms are added in ascending
/// order.
template <int Rows, int Vectors, spare_lanes Spare, class B, class C>
inline void multiply_some(const compact_factors<float, B>& x, index i, index j,
                          const compact_result<C>& result) {
  const float* a = x.a + i * x.a_row_step;
  lane_numbers<B> right{x.b + j, 0};
  float_vector sums[Rows][Vectors] = {};
  constexpr int last = Vectors - 1;
  const first_lanes columns{x.cols - j - last * lanes32};
  for (index p = 0; p < x.depth; ++p, a += x.a_term_step, right.from += x.b_term_step) {
    float_vector factors[Vectors];
    NARROW_UNROLL for (int v = 0; v < Vectors; ++v) factors[v] = at(right, v * lanes32, all_lanes{});
    if constexpr (Spare == spare_lanes::copies)
      factors[last] = are_numbers(columns) ? factors[last] : factors[last][0] - float_vector{};
    NARROW_UNROLL for (int r = 0; r < Rows; ++r) {
      const float_vector left = a[r * x.a_row_step] - float_vector{};
      NARROW_UNROLL for (int v = 0; v < Vectors; ++v) sums[r][v] = multiply_add(sums[r][v], left, factors[v]);
    }
  }
  if constexpr (Spare != spare_lanes::none && Vectors == 1)
    if (result.steps.element == 1) {
      // Rows of a part of a vector each, which may follow one another: all of them before any is stored,
      // since a processor waits where it reads a vector with numbers that were just stored with a mask.
      NARROW_UNROLL for (int r = 0; r < Rows; ++r) sums[r][0] =
          result.scaled(result.at_place(i + r, j), sums[r][0], columns);
      NARROW_UNROLL for (int r = 0; r < Rows; ++r)
          store_some<C>(result.at_place(i + r, j), sums[r][0], columns);
      return;
    }
  NARROW_UNROLL for (int r = 0; r < Rows; ++r) {
    NARROW_UNROLL for (int v = 0; v < Vectors; ++v) {
      const bool is_whole = Spare == spare_lanes::none || v < last;
      result.store(i + r, j + v * lanes32, sums[r][v], is_whole ? lanes32 : columns.count);
    }
  }
}
/// So many rows: columns by as many vectors at once as there are, or fewer.
template <int Rows, int Vectors, class B, class C>
inline void multiply_rows(const compact_factors<float, B>& x, index i, index j,
                          const compact_result<C>& result) {
  constexpr index width = Vectors * lanes32, before_last = width - lanes32;
  for (; x.cols - j >= width; j += width) multiply_some<Rows, Vectors, spare_lanes::none>(x, i, j, result);
  if (x.cols - j > before_last) {
    if constexpr (lanes32 > 8 || raises_no_others(before_last + 1))
      if (raises_no_others(x.cols)) return multiply_some<Rows, Vectors, spare_lanes::copies>(x, i, j, result);
    return multiply_some<Rows, Vectors, spare_lanes::any_number>(x, i, j, result);
  }
  if constexpr (Vectors > 1)
    if (j < x.cols) multiply_rows<Rows, Vectors / 2>(x, i, j, result);
}

/// Which part of the terms is added: the first one, or a next one, to what the sums are by then.
enum class depth_part { first, next };

/// Rows of a product, each of at most so many vectors, as floats: row r at to + r * step, where step is at
/// least the number of columns. Up to a vector after the last one is written, too. The next part of the terms
/// is added to what is there, for which rows are whole vectors apart.
template <int Rows, int Vectors>
inline void multiply_short_rows(const compact_factors<float, float>& x, index i, float* to, index step,
                                depth_part part) {
  constexpr int last = Vectors - 1;
  const float* a = x.a + i * x.a_row_step;
  const float* b = x.b;
  const first_lanes columns{x.cols - last * lanes32};
  float_vector sums[Rows][Vectors] = {};
  if (part == depth_part::next)
    NARROW_UNROLL for (int r = 0; r < Rows; ++r) std::memcpy(sums[r], to + r * step, sizeof sums[r]);
  for (index p = 0; p < x.depth; ++p, a += x.a_term_step, b += x.cols) {
    float_vector factors[Vectors];
    NARROW_UNROLL for (int v = 0; v < Vectors; ++v) factors[v] = vector_at<float_vector>(b + v * lanes32);
    factors[last] = are_numbers(columns) ? factors[last] : factors[last][0] - float_vector{};
    NARROW_UNROLL for (int r = 0; r < Rows; ++r) {
      const float_vector left = a[r * x.a_row_step] - float_vector{};
      NARROW_UNROLL for (int v = 0; v < Vectors; ++v) sums[r][v] = multiply_add(sums[r][v], left, factors[v]);
    }
  }
  NARROW_UNROLL for (int r = 0; r < Rows; ++r) std::memcpy(to + r * step, sums[r], sizeof sums[r]);
}
/// `count` rows, so many at a time, or half of these.
template <int Rows, int Vectors>
inline void multiply_short_rows(const compact_factors<float, float>& x, index i, index count, float* to,
                                index step, depth_part part) {
  for (; count >= Rows; count -= Rows, i += Rows, to += Rows * step)
    multiply_short_rows<Rows, Vectors>(x, i, to, step, part);
  if constexpr (Rows > 1)
    if (count > 0) multiply_short_rows<Rows / 2, Vectors>(x, i, count, to, step, part);
}
/// The most vectors of a short row, which has at most 512 bits.
inline constexpr int max_short_vectors = lanes32 < 16 ? 2 : 1;
/// All of them where those of C follow one another, too: they are stored in whole vectors. `right` is B,
/// decoded.
template <class A, class B, class C>
inline void multiply_short_rows(const compact_factors<A, B>& x, const float* right,
                                const compact_result<C>& result) {
  constexpr index height = 64, max_terms = 64;  // rows that are whole vectors, however many columns they have
  constexpr int vectors = max_short_vectors;
  static_assert(height % lanes32 == 0);
  const bool by_rows = x.a_term_step == 1, in_parts = x.depth > max_terms;
  const index step = in_parts ? vectors * lanes32 : x.cols;
  float left[height * max_terms + lanes32], products[(height + 1) * vectors * lanes32];
  for (index i = 0; i < x.rows; i += height) {
    const index some = std::min(height, x.rows - i), count = some * x.cols;
    for (index p = 0; p < x.depth; p += max_terms) {
      const index terms = std::min(max_terms, x.depth - p);
      const A* const a = x.a + i * x.a_row_step + p * x.a_term_step;
      if (by_rows)
        decode_lines(a, x.a_row_step, some, terms, left);
      else
        decode_lines(a, x.a_term_step, terms, some, left);
      const compact_factors<float, float> part{
          left, right + p * x.cols, by_rows ? terms : 1, by_rows ? 1 : some, x.cols, 1, some, terms, x.cols};
      const auto which = p == 0 ? depth_part::first : depth_part::next;
      if (x.cols <= lanes32)
        multiply_short_rows<8, 1>(part, 0, some, products, step, which);
      else if constexpr (vectors > 1)
        multiply_short_rows<4, 2>(part, 0, some, products, step, which);
    }
    if (in_parts)
      for (index r = 1; r < some; ++r) {
        float_vector row[vectors];
        std::memcpy(row, products + r * step, sizeof row);
        std::memcpy(products + r * x.cols, row, sizeof row);
      }
    C* const to = result.at_place(i, 0);
    index n = 0;
    for (; n + lanes32 <= count; n += lanes32)
      store_numbers<C>(to + n, result.scaled(to + n, vector_at<float_vector>(products + n), all_lanes{}));
    if (n < count) {
      const first_lanes rest{count - n};
      store_some<C>(to + n, result.scaled(to + n, vector_at<float_vector>(products + n), rest), rest);
    }
  }
}

/// One row, from column j on with at most Columns columns whose numbers lie side by side. After the numbers
/// of A there are zeros.
template <int Columns, class B, class C>
inline void multiply_some_columns(const compact_factors<float, B>& x, index j,
                                  const compact_result<C>& result) {
  float_vector sums[Columns] = {};
  const index count = std::min<index>(x.cols - j, Columns);
  const B* columns[Columns];
  const B* column = x.b + j * x.b_col_step;
  NARROW_UNROLL for (int c = 0; c < Columns; ++c) {
    columns[c] = column;
    column += c + 1 < count ? x.b_col_step : 0;
  }
  const auto add = [&](index p, auto lanes) {
    const float_vector left = vector_at<float_vector>(x.a + p);
    NARROW_UNROLL for (int c = 0; c < Columns; ++c) sums[c] =
        multiply_add(sums[c], left, at(lane_numbers<B>{columns[c], 0}, p, lanes));
  };
  index p = 0;
  for (; p + lanes32 <= x.depth; p += lanes32) add(p, all_lanes{});
  if (p < x.depth) add(p, first_lanes{x.depth - p});
  result.store(0, j, totals_of(sums), count);
}
/// All of them: as many at a time as a vector has lanes, or few.
template <int Columns = lanes32, class B, class C>
inline void multiply_with_columns(const compact_factors<float, B>& x, index j,
                                  const compact_result<C>& result) {
  constexpr int few_columns = 4, before = Columns > few_columns ? few_columns : 0;
  for (; x.cols - j > before; j += Columns) multiply_some_columns<Columns>(x, j, result);
  if constexpr (before > 0)
    if (j < x.cols) multiply_with_columns<before>(x, j, result);
}

/// One row, from column j on Vectors vectors of columns, whose neighbours lie side by side. Terms are added
/// in four sums, since each addition waits for the one before.
template <int Vectors, spare_lanes Spare, class B, class C>
inline void multiply_some_of_line(const compact_factors<float, B>& x, index j,
                                  const compact_result<C>& result) {
  constexpr int ways = 4, last = Vectors - 1;
  float_vector sums[ways][Vectors] = {};
  const first_lanes columns{x.cols - j - last * lanes32};
  lane_numbers<B> right{x.b + j, 0};
  const auto add = [&](float_vector(&to)[Vectors], index p) __attribute__((always_inline)) {
    const float_vector left = x.a[p] - float_vector{};
    NARROW_UNROLL for (int v = 0; v < Vectors; ++v) {
      float_vector factor;
      if (Spare != spare_lanes::none && v == last) {
        factor = at(right, v * lanes32, columns);
        factor = are_numbers(columns) ? factor : factor[0] - float_vector{};
      } else {
        factor = at(right, v * lanes32, all_lanes{});
      }
      to[v] = multiply_add(to[v], left, factor);
    }
    right.from += x.b_term_step;
  };
  index p = 0;
  for (; p + ways <= x.depth; p += ways) {
    NARROW_UNROLL for (int w = 0; w < ways; ++w) add(sums[w], p + w);
  }
  NARROW_UNROLL for (int w = 0; w < ways - 1; ++w) {
    if (p + w < x.depth) add(sums[w], p + w);
  }
  NARROW_UNROLL for (int v = 0; v < Vectors; ++v) {
    const bool is_whole = Spare == spare_lanes::none || v < last;
    result.store(0, j + v * lanes32, (sums[0][v] + sums[1][v]) + (sums[2][v] + sums[3][v]),
                 is_whole ? lanes32 : columns.count);
  }
}
/// The last columns, of at most so many vectors.
template <int Vectors, class B, class C>
inline void multiply_rest_of_line(const compact_factors<float, B>& x, index j,
                                  const compact_result<C>& result) {
  constexpr index before_last = (Vectors - 1) * lanes32;
  if (x.cols - j == before_last + lanes32)
    multiply_some_of_line<Vectors, spare_lanes::none>(x, j, result);
  else if (x.cols - j > before_last)
    multiply_some_of_line<Vectors, spare_lanes::copies>(x, j, result);
  else if constexpr (Vectors > 1)
    multiply_rest_of_line<Vectors - 1>(x, j, result);
}
template <class B, class C>
inline void multiply_line(const compact_factors<float, B>& x, const compact_result<C>& result) {
  constexpr int vectors = lanes32 / 4;  // whose sums stay in registers
  index j = 0;
  for (; x.cols - j >= vectors * lanes32; j += vectors * lanes32)
    multiply_some_of_line<vectors, spare_lanes::none>(x, j, result);
  multiply_rest_of_line<vectors>(x, j, result);
}

/// The numbers of a row as floats, and zeros after them.
template <class T> inline void decode_row(const T* from, index step, index n, float* to) {
  const lane_spread_numbers<T> row{from, 0, step};
  index i = 0;
  const auto put = [&](float_vector x) { std::memcpy(to + i, &x, sizeof x); };
  for (; i + lanes32 <= n; i += lanes32) put(at(row, i, all_lanes{}));
  const first_lanes rest{n - i};
  float_vector x = {};
  if (i < n && step == 1) x = at(lane_numbers<T>{from, 0}, i, rest);
  if (i < n && step != 1) x = are_numbers(rest) ? at(row, i, rest) : x;
  put(x);
}

template <class A, class B, class C>
NARROW_KERNEL void multiply_compact_line(const compact_line<A, B, C>& x) {
  // One by one, as they were written: a vector of two would wait for them.
  const index depth = in_register(x.depth), cols = in_register(x.cols),
              b_col_step = in_register(x.b_col_step);
  float left[max_compact + lanes32];
  decode_row(in_register(x.a), in_register(x.a_step), depth, left);
  const compact_factors<float, B> line{
      left, in_register(x.b), 1, 1, in_register(x.b_term_step), b_col_step, 1, depth, cols};
  const compact_result<C> result{in_register(x.c), {0, in_register(x.c_step)}, x.alpha, x.beta};
  if (b_col_step != 1) return multiply_with_columns(line, 0, result);
  multiply_line(line, result);
}
template <class A, class B, class C> constexpr auto kernel_of(std::type_identity<compact_line<A, B, C>>) {
  return multiply_compact_line<A, B, C>;
}

template <class A, class B, class C>
NARROW_KERNEL void multiply_compact(const compact_factors<A, B>& factors, C* c, const line_steps& c_steps,
                                    float alpha, float beta) {
  constexpr index room = max_compact + compact_factors<A, B>::max_spare;
  static_assert(lanes32 <= compact_factors<A, B>::max_spare);
  const auto [a, b, a_row_step, a_term_step, b_term_step, b_col_step, rows, depth, cols] = factors;
  const compact_result<C> result{c, c_steps, alpha, beta};
  float right[room];
  if (b_col_step == 1)
    decode_lines(b, b_term_step, depth, cols, right);
  else
    decode_turned(b, b_col_step, depth, cols, right);
  std::fill_n(right + depth * cols, lanes32, 0.0f);
  // Rows of whole vectors, which are more than one, are stored as soon where they are computed.
  const bool are_short = cols <= lanes32 || (cols < max_short_vectors * lanes32 && cols % lanes32 != 0);
  if (are_short && c_steps.line == cols && c_steps.element == 1)
    return multiply_short_rows(factors, right, result);
  float left[room];
  const bool by_rows = a_term_step == 1;
  const index length = by_rows ? depth : rows;
  decode_lines(a, by_rows ? a_row_step : a_term_step, by_rows ? rows : depth, length, left);
  const compact_factors<float, float> x{
      left, right, by_rows ? length : 1, by_rows ? 1 : length, cols, 1, rows, depth, cols};
  index i = 0;
  for (; i + 4 <= rows; i += 4) multiply_rows<4, 2>(x, i, 0, result);
  for (; i < rows; ++i) multiply_rows<1, 4>(x, i, 0, result);
}

template <class A, class B, class C> constexpr auto kernel_of(std::type_identity<compact_product<A, B, C>>) {
  return multiply_compact<A, B, C>;
}
