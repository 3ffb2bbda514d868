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
    // The last vector that is stored may reach beyond the last row's, whose spare lanes must hold something.
    // The rows come after it, so that a single one is read as it was written.
    const float_vector none{};
    std::memcpy(products + count, &none, sizeof none);
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

/// At most few_numbers numbers that follow one another, of which every lane finds one by its place.
class numbers_by_place {
 public:
  static constexpr int vectors = few_numbers / lanes32;

  template <class T> numbers_by_place(const T* from, index count) {
    const lane_numbers<T> line{from, 0};
    NARROW_UNROLL for (int v = 0; v < vectors; ++v) {
      const index rest = count - v * lanes32;
      if (rest >= lanes32)
        numbers_[v] = at(line, v * lanes32, all_lanes{});
      else if (rest > 0)
        numbers_[v] = at(line, v * lanes32, first_lanes{rest});
    }
  }
  float_vector operator[](const int32_vector& places) const {
    float_vector found = permuted(0, places);
    NARROW_UNROLL for (int v = 1; v < vectors; ++v) found =
        places < v * lanes32 ? found : permuted(v, places);
    return found;
  }

 private:
  float_vector permuted(int v, const int32_vector& places) const {
    return lanes_as<float_vector>(instructions::permuted(lanes_as<instructions::floats>(numbers_[v]),
                                                         lanes_as<instructions::integers>(places)));
  }

  float_vector numbers_[vectors] = {};
};
/// A product of factors that are_few(), whose results follow one another row by row: the lanes are its
/// coefficients, each of which finds the numbers that it multiplies next. Spare lanes do what the first one
/// does.
template <class A, class B, class C>
inline void multiply_few(const compact_factors<A, B>& x, const compact_result<C>& result) {
  constexpr int vectors = numbers_by_place::vectors;
  const numbers_by_place left(x.a, x.rows * x.depth), right(x.b, x.depth * x.cols);
  const index count = x.rows * x.cols;
  const auto& places = row_of_place[1];  // 0, 1, 2, ...: with one column each number is a row
  const auto& rows = row_of_place[static_cast<std::size_t>(x.cols)];
  int32_vector left_places[vectors], right_places[vectors];
  NARROW_UNROLL for (int v = 0; v < vectors; ++v) {
    const auto place = vector_at<int32_vector>(places.data() + v * lanes32),
               row = vector_at<int32_vector>(rows.data() + v * lanes32);
    const int32_vector col = place - row * static_cast<std::int32_t>(x.cols),
                       is_number = place < static_cast<std::int32_t>(count);
    left_places[v] = (row & is_number) * static_cast<std::int32_t>(x.a_row_step);
    right_places[v] = (col & is_number) * static_cast<std::int32_t>(x.b_col_step);
  }
  float_vector sums[vectors] = {};
  for (index p = 0; p < x.depth; ++p) {
    NARROW_UNROLL for (int v = 0; v < vectors; ++v) {
      sums[v] = multiply_add(sums[v], left[left_places[v]], right[right_places[v]]);
      left_places[v] += static_cast<std::int32_t>(x.a_term_step);
      right_places[v] += static_cast<std::int32_t>(x.b_term_step);
    }
  }
  NARROW_UNROLL for (int v = 0; v < vectors; ++v) {
    C* const to = result.to + v * lanes32;
    const first_lanes rest{count - v * lanes32};
    if (rest.count >= lanes32)
      store_numbers<C>(to, result.scaled(to, sums[v], all_lanes{}));
    else if (rest.count > 0)
      store_some<C>(to, result.scaled(to, sums[v], rest), rest);
  }
}

template <class A, class B, class C>
NARROW_KERNEL void multiply_compact(const compact_factors<A, B>& factors, C* c, const line_steps& c_steps,
                                    float alpha, float beta) {
  constexpr index room = max_compact + compact_factors<A, B>::max_spare;
  static_assert(lanes32 <= compact_factors<A, B>::max_spare);
  const auto [a, b, a_row_step, a_term_step, b_term_step, b_col_step, rows, depth, cols] = factors;
  const compact_result<C> result{c, c_steps, alpha, beta};
  if constexpr (lanes32 >= 8)
    if (factors.are_few() && c_steps.line == cols && c_steps.element == 1)
      return multiply_few(factors, result);
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
