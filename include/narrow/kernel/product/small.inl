// Products of small matrices (see small.hpp); included once in the namespace of an instruction set by
// simd/vector_kernels.inl. No include guard, on purpose.

/// As many vectors as Length numbers need.
template <int Length> inline constexpr int vectors_of = (Length + lanes32 - 1) / lanes32;

/// Vector v of a line of Length numbers, with zeros after them.
template <int Length, class T> inline float_vector part_of(const T* line, int v) {
  const index first = v * lanes32, count = Length - first;
  const lane_numbers<T> numbers{line, 0};
  return count >= lanes32 ? at(numbers, first, all_lanes{}) : at(numbers, first, first_lanes{count});
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

template <class A, class B, class C, class Product>
NARROW_KERNEL void multiply_small(const A& a, const B& b, const C& c, float alpha, float beta) {
  constexpr int rows = Product::rows, depth = Product::depth, cols = Product::cols, parts = vectors_of<rows>;
  constexpr bool a_by_columns = A::order == line_order::columns,
                 b_by_columns = B::order == line_order::columns;
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
      const auto factor =
          reinterpret_cast<instructions::floats>((b_by_columns ? right[j][p] : right[p][j]) - float_vector{});
      NARROW_UNROLL for (int v = 0; v < parts; ++v) sums[v] = reinterpret_cast<float_vector>(
          instructions::multiply_add(reinterpret_cast<instructions::floats>(sums[v]),
                                     reinterpret_cast<instructions::floats>(left[p][v]), factor));
    }
    T* const to = c.from + j * c.step;
    NARROW_UNROLL for (int v = 0; v < parts; ++v) {
      if (alpha != 1) sums[v] = uncontracted(sums[v] * (alpha - float_vector{}));
      if (beta != 0)
        sums[v] =
            uncontracted((beta - float_vector{}) * part_of<rows>(static_cast<const T*>(to), v)) + sums[v];
      const index first = v * lanes32, count = rows - first;
      if (count >= lanes32) {
        store_numbers<T>(to + first, sums[v]);
      } else {
        detail::uint_at_least<8 * sizeof(T)> some[lanes32];
        store_numbers<T>(some, sums[v]);
        write_part(to + first, some, count * index{sizeof(T)});
      }
    }
  }
}

/// Not for wider vectors, most lanes of which would be spare: what they extend has it.
template <class A, class B, class C, int Rows, int Depth, int Cols>
requires(lanes32 <=
         8) constexpr auto kernel_of(std::type_identity<small_product<A, B, C, Rows, Depth, Cols>>) {
  return multiply_small<A, B, C, small_product<A, B, C, Rows, Depth, Cols>>;
}
