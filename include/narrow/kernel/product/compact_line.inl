// Products of one row and a matrix of few numbers; included once in the namespace of an instruction set by
// simd/vector_kernels.inl. No include guard, on purpose.

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
/// All of them: as many at a time as a vector has lanes, or half of that, or few.
template <int Columns = lanes32, class B, class C>
inline void multiply_with_columns(const compact_factors<float, B>& x, index j,
                                  const compact_result<C>& result) {
  constexpr int few_columns = 4, before = Columns > few_columns ? Columns / 2 : 0;
  for (; x.cols - j > before; j += Columns) multiply_some_columns<Columns>(x, j, result);
  if constexpr (before > 0)
    if (j < x.cols) multiply_with_columns<before>(x, j, result);
}

/// One row, from column j on Vectors vectors of columns, whose neighbours lie side by side. Terms are added
/// in four sums, since each addition waits for the one before. Columns of bf16 are taken in twos, as those of
/// programs are in alternating.inl.
template <int Vectors, spare_lanes Spare, class B, class C>
inline void multiply_some_of_line(const compact_factors<float, B>& x, index j,
                                  const compact_result<C>& result) {
  constexpr int ways = 4, last = Vectors - 1;
  constexpr bool has_twos = coded_as_bf16<B> && std::endian::native == std::endian::little;
  constexpr int in_twos = has_twos ? (Spare == spare_lanes::none ? Vectors : last) / 2 * 2 : 0;
  float_vector sums[ways][Vectors] = {};
  const first_lanes columns{x.cols - j - last * lanes32};
  lane_numbers<B> right{x.b + j, 0};
  const auto add = [&](float_vector(&to)[Vectors], index p) __attribute__((always_inline)) {
    const float_vector left = x.a[p] - float_vector{};
    if constexpr (in_twos > 0) NARROW_UNROLL for (int v = 0; v < in_twos; v += 2) {
        to[v] = multiply_add(to[v], left, at(right, v * lanes32, one_of_twos<0>{}));
        to[v + 1] = multiply_add(to[v + 1], left, at(right, v * lanes32, one_of_twos<1>{}));
      }
    NARROW_UNROLL for (int v = in_twos; v < Vectors; ++v) {
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
  float_vector totals[Vectors];
  NARROW_UNROLL for (int v = 0; v < Vectors; ++v) totals[v] =
      (sums[0][v] + sums[1][v]) + (sums[2][v] + sums[3][v]);
  [[maybe_unused]] constexpr std::make_integer_sequence<int, lanes32> all;
  NARROW_UNROLL for (int v = 0; v < in_twos; v += 2) {
    const float_vector first = totals[v], second = totals[v + 1];
    totals[v] = in_turn<lanes32, false>(first, second, all);
    totals[v + 1] = in_turn<lanes32, true>(first, second, all);
  }
  NARROW_UNROLL for (int v = 0; v < Vectors; ++v) {
    const bool is_whole = Spare == spare_lanes::none || v < last;
    result.store(0, j + v * lanes32, totals[v], is_whole ? lanes32 : columns.count);
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
