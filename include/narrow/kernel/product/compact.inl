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

  /// The first `count` of a vector of coefficients of row i, from column j on.
  void store(index i, index j, float_vector product, index count) const {
    C* const first = to + i * steps.line + j * steps.element;
    if (count < lanes32 || steps.element != 1)
      return store_some(first, product, std::min<index>(count, lanes32));
    store_numbers<C>(first, scaled_small(product, alpha, beta, [&] {
                       return at(lane_numbers<C>{first, 0}, 0, all_lanes{});
                     }));
  }

 private:
  [[gnu::noinline]] void store_some(C* first, float_vector product, index count) const {
    const first_lanes lanes{count};
    const lane_spread_numbers<C> present{first, 0, steps.element};
    const float_vector x = scaled_small(product, alpha, beta, [&] { return at(present, 0, lanes); });
    if (steps.element == 1) return store_numbers<C>(first, x, lanes);
    detail::uint_at_least<8 * sizeof(C)> codes[lanes32];
    store_numbers<C>(codes, x);
    spread(codes, first, steps.element, count);
  }
};

/// What the lanes of a last vector compute that have no column.
enum class spare_lanes {
  none,        // there are none
  any_number,  // what comes next in memory, or zeros
  copies       // what the first lane does: no exception is raised there that the numbers do not raise
};

/// So many rows and vectors of columns of a product, the rows of B side by side. Terms are added in ascending
/// order. Of one row nothing is read beyond B.
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
    NARROW_UNROLL for (int v = 0; v < Vectors; ++v) {
      if (Spare != spare_lanes::none && v == last && Rows == 1)
        factors[v] = at(right, v * lanes32, columns);
      else
        factors[v] = at(right, v * lanes32, all_lanes{});
    }
    if constexpr (Spare == spare_lanes::copies)
      factors[last] = are_numbers(columns) ? factors[last] : factors[last][0] - float_vector{};
    NARROW_UNROLL for (int r = 0; r < Rows; ++r) {
      const float_vector left = a[r * x.a_row_step] - float_vector{};
      NARROW_UNROLL for (int v = 0; v < Vectors; ++v) sums[r][v] = multiply_add(sums[r][v], left, factors[v]);
    }
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
    if constexpr (raises_no_others(before_last + 1))
      if (raises_no_others(x.cols)) return multiply_some<Rows, Vectors, spare_lanes::copies>(x, i, j, result);
    return multiply_some<Rows, Vectors, spare_lanes::any_number>(x, i, j, result);
  }
  if constexpr (Vectors > 1)
    if (j < x.cols) multiply_rows<Rows, Vectors / 2>(x, i, j, result);
}

/// One row, with columns that lie side by side. After the numbers of A there are zeros.
template <class B, class C>
inline void multiply_with_columns(const compact_factors<float, B>& x, const compact_result<C>& result) {
  for (index j = 0; j < x.cols; j += 4) {
    fp32_line::vector sums[4] = {};
    const index count = std::min<index>(x.cols - j, 4);
    const auto add = [&](index p, auto lanes) {
      const float_vector left = vector_at<float_vector>(x.a + p);
      NARROW_UNROLL for (int c = 0; c < 4; ++c) {
        const lane_numbers<B> column{x.b + (j + std::min<index>(c, count - 1)) * x.b_col_step, 0};
        sums[c] = instructions::multiply_add(sums[c], reinterpret_cast<instructions::floats>(left),
                                             reinterpret_cast<instructions::floats>(at(column, p, lanes)));
      }
    };
    index p = 0;
    for (; p + lanes32 <= x.depth; p += lanes32) add(p, all_lanes{});
    if (p < x.depth) add(p, first_lanes{x.depth - p});
    const auto totals = totals_of_four<fp32_line>(sums);
    float_vector product = {};
    std::memcpy(&product, &totals, sizeof totals);
    result.store(0, j, product, count);
  }
}

template <class A, class B, class C>
NARROW_KERNEL void multiply_compact(const compact_factors<A, B>& factors, C* c, const line_steps& c_steps,
                                    float alpha, float beta) {
  constexpr index room = max_compact + compact_factors<A, B>::max_spare;
  static_assert(lanes32 <= compact_factors<A, B>::max_spare);
  const auto [a, b, a_row_step, a_term_step, b_term_step, b_col_step, rows, depth, cols] = factors;
  const compact_result<C> result{c, c_steps, alpha, beta};
  float left[room];
  const bool by_rows = a_term_step == 1;
  const index length = by_rows ? depth : rows;
  decode_lines(a, by_rows ? a_row_step : a_term_step, by_rows ? rows : depth, length, left);
  if (rows == 1) {
    const compact_factors<float, B> line{left, b, 1, 1, b_term_step, b_col_step, rows, depth, cols};
    if (b_col_step == 1) return multiply_rows<1, 4>(line, 0, 0, result);
    std::fill_n(left + depth, lanes32, 0.0f);
    return multiply_with_columns(line, result);
  }
  float right[room];
  if (b_col_step == 1)
    decode_lines(b, b_term_step, depth, cols, right);
  else
    decode_turned(b, b_col_step, depth, cols, right);
  std::fill_n(right + depth * cols, lanes32, 0.0f);
  const compact_factors<float, float> x{
      left, right, by_rows ? length : 1, by_rows ? 1 : length, cols, 1, rows, depth, cols};
  index i = 0;
  for (; i + 4 <= rows; i += 4) multiply_rows<4, 2>(x, i, 0, result);
  for (; i < rows; ++i) multiply_rows<1, 4>(x, i, 0, result);
}

template <class A, class B, class C> constexpr auto kernel_of(std::type_identity<compact_product<A, B, C>>) {
  return multiply_compact<A, B, C>;
}
