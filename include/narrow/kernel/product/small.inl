// Products of small matrices (see small.hpp); included once in the namespace of an instruction set by
// simd/vector_kernels.inl. No include guard, on purpose.

/// As many vectors as Length numbers need.
template <int Length> inline constexpr int vectors_of = (Length + lanes32 - 1) / lanes32;

/// Vector v of a line of Length numbers, with zeros after them.
template <int Length, class T> inline float_vector part_of(const T* line, int v) {
  const lane_numbers<T> numbers{line, 0};
  const index first = v * lanes32;
  return first + lanes32 <= Length ? at(numbers, first, all_lanes{})
                                   : at(numbers, first, so_many_lanes<Length % lanes32>{});
}
/// Stores vector v of a line of Length numbers.
template <int Length, class T> inline void store_part(T* line, int v, const float_vector& x) {
  const index first = v * lanes32;
  if (first + lanes32 <= Length)
    store_numbers<T>(line + first, x);
  else
    store_numbers<T>(line + first, x, so_many_lanes<Length % lanes32>{});
}

/// Lines x Length numbers in the order in which they lie, as floats, each line in whole vectors.
template <int Lines, int Length, class M>
inline void decode_lines(const M& m, float (&to)[Lines][vectors_of<Length> * lanes32]) {
  NARROW_UNROLL for (int l = 0; l < Lines; ++l) {
    NARROW_UNROLL for (int v = 0; v < vectors_of<Length>; ++v) {
      const float_vector part = part_of<Length>(m.from + l * m.step, v);
      std::memcpy(to[l] + v * lanes32, &part, sizeof part);
    }
  }
}

/// Vector v of column p of Lines lines. From numbers, not from an array of them: see parts.inl.
template <int Lines, int Padded, int... L>
inline float_vector column_of(const float (&lines)[Lines][Padded], int p, int v,
                              std::integer_sequence<int, L...>) {
  return float_vector{(v * lanes32 + L < Lines ? lines[std::min(v * lanes32 + L, Lines - 1)][p] : 0.0f)...};
}

/// What a product becomes before it is stored: alpha product + beta c, each operation rounded. `c` gives the
/// vector that lies there.
template <class Read>
inline float_vector scaled_small(float_vector product, float alpha, float beta, const Read& c) {
  if (alpha != 1) product = uncontracted(product * (alpha - float_vector{}));
  if (beta != 0) product = uncontracted((beta - float_vector{}) * c()) + product;
  return product;
}
template <class A, class B, class C, class Product>
NARROW_KERNEL void multiply_small(A a, B b, C c, float alpha, float beta) {
  constexpr int rows = Product::rows, depth = Product::depth, cols = Product::cols, parts = vectors_of<rows>;
  constexpr bool a_by_columns = Product::a_by_columns, b_by_columns = Product::b_by_columns;
  using T = typename C::scalar;

  // All of A and B is read before anything is written.
  float_vector left[depth][parts];
  if constexpr (a_by_columns) {
    NARROW_UNROLL for (int p = 0; p < depth; ++p) {
      NARROW_UNROLL for (int v = 0; v < parts; ++v) left[p][v] = part_of<rows>(a.from + p * a.step, v);
    }
  } else {
    float lines[rows][vectors_of<depth> * lanes32];
    decode_lines<rows, depth>(a, lines);
    NARROW_UNROLL for (int p = 0; p < depth; ++p) {
      NARROW_UNROLL for (int v = 0; v < parts; ++v) left[p][v] =
          column_of(lines, p, v, std::make_integer_sequence<int, lanes32>{});
    }
  }
  float right[b_by_columns ? cols : depth][vectors_of < b_by_columns ? depth : cols > *lanes32];
  decode_lines<b_by_columns ? cols : depth, b_by_columns ? depth : cols>(b, right);

  NARROW_UNROLL for (int j = 0; j < cols; ++j) {
    float_vector sums[parts] = {};
    NARROW_UNROLL for (int p = 0; p < depth; ++p) {
      const float_vector factor = (b_by_columns ? right[j][p] : right[p][j]) - float_vector{};
      NARROW_UNROLL for (int v = 0; v < parts; ++v) sums[v] = multiply_add(sums[v], left[p][v], factor);
    }
    T* const to = c.from + j * c.step;
    NARROW_UNROLL for (int v = 0; v < parts; ++v) store_part<rows>(
        to, v, scaled_small(sums[v], alpha, beta, [&] { return part_of<rows>(std::as_const(to), v); }));
  }
}

/// How many vectors of a small matrix without gaps lanes can be taken from.
inline constexpr int max_sources = 2;

/// Where in A, or in B, the factor of a lane is: that of coefficient `at` of C, which lies by columns.
template <class Product> constexpr int place_in_a(int at, int p) {
  const int i = at % Product::rows;
  return Product::a_by_columns ? i + p * Product::rows : i * Product::depth + p;
}
template <class Product> constexpr int place_in_b(int at, int p) {
  const int j = at / Product::rows;
  return Product::b_by_columns ? p + j * Product::depth : p * Product::cols + j;
}

/// Vector V of C, a small product without gaps. A spare lane computes what the last coefficient is.
template <class Product, int V, int... L>
inline float_vector product_lanes(const float_vector (&a)[max_sources], const float_vector (&b)[max_sources],
                                  std::integer_sequence<int, L...>) {
  constexpr auto at = [](int lane) {
    return std::min(V * lanes32 + lane, Product::rows * Product::cols - 1);
  };
  float_vector sum = {};
  const auto add = [&]<int P>(std::integral_constant<int, P>) {
    sum = multiply_add(sum, __builtin_shufflevector(a[0], a[1], place_in_a<Product>(at(L), P)...),
                       __builtin_shufflevector(b[0], b[1], place_in_b<Product>(at(L), P)...));
  };
  [&]<int... P>(std::integer_sequence<int, P...>) { (add(std::integral_constant<int, P>{}), ...); }
  (std::make_integer_sequence<int, Product::depth>{});
  return sum;
}

/// The same as multiply_small, of matrices that fit into a few vectors each.
template <class A, class B, class C, class Product>
NARROW_KERNEL void multiply_few(A a, B b, C c, float alpha, float beta) {
  constexpr int in_a = Product::rows * Product::depth, in_b = Product::depth * Product::cols,
                in_c = Product::rows * Product::cols;
  float_vector left[max_sources] = {}, right[max_sources] = {}, sums[vectors_of<in_c>];
  NARROW_UNROLL for (int v = 0; v < vectors_of<in_a>; ++v) left[v] = part_of<in_a>(a.from, v);
  NARROW_UNROLL for (int v = 0; v < vectors_of<in_b>; ++v) right[v] = part_of<in_b>(b.from, v);
  [&]<int... V>(std::integer_sequence<int, V...>) {
    ((sums[V] = product_lanes<Product, V>(left, right, std::make_integer_sequence<int, lanes32>{})), ...);
  }
  (std::make_integer_sequence<int, vectors_of<in_c>>{});
  NARROW_UNROLL for (int v = 0; v < vectors_of<in_c>; ++v) store_part<in_c>(
      c.from, v, scaled_small(sums[v], alpha, beta, [&] { return part_of<in_c>(std::as_const(c.from), v); }));
}

template <class Product>
inline constexpr bool is_few = Product::without_gaps&& vectors_of<Product::rows * Product::depth> <=
                               max_sources&& vectors_of<Product::depth * Product::cols> <= max_sources;

/// Where lines are taken one by one, not for wider vectors, most lanes of which would be spare: what they
/// extend has it.
template <class A, class B, class C, int Rows, int Depth, int Cols>
requires(is_few<small_product<A, B, C, Rows, Depth, Cols>> ||
         lanes32 <=
             8) constexpr auto kernel_of(std::type_identity<small_product<A, B, C, Rows, Depth, Cols>>) {
  using product = small_product<A, B, C, Rows, Depth, Cols>;
  if constexpr (is_few<product>)
    return multiply_few<A, B, C, product>;
  else
    return multiply_small<A, B, C, product>;
}
