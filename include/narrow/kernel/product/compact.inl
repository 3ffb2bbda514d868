// Products of few floats; included once in the namespace of an instruction set by simd/vector_kernels.inl. No
// include guard, on purpose.

/// So many rows and vectors of columns of a product. Terms are added in ascending order.
template <int Rows, int Vectors>
inline void multiply_compact(const compact_factors& x, index i, index j, float* sums) {
  const float *a = x.a + i * x.a_row_step, *b = x.b + j;
  floats::vector acc[Rows][Vectors] = {};
  for (index p = 0; p < x.depth; ++p, a += x.a_term_step, b += x.b_term_step) {
    floats::vector right[Vectors];
    NARROW_UNROLL for (int v = 0; v < Vectors; ++v) right[v] = floats::load(b + v * lanes32);
    NARROW_UNROLL for (int r = 0; r < Rows; ++r) {
      const floats::vector left = floats::fill(a[r * x.a_row_step]);
      NARROW_UNROLL for (int v = 0; v < Vectors; ++v) acc[r][v] =
          instructions::multiply_add(acc[r][v], left, right[v]);
    }
  }
  NARROW_UNROLL for (int r = 0; r < Rows; ++r) {
    NARROW_UNROLL for (int v = 0; v < Vectors; ++v) {
      const index at = j + v * lanes32;
      write(sums + (i + r) * x.cols + at, acc[r][v], x.cols - at);
    }
  }
}
/// So many rows: columns by as many vectors at once as there are, or fewer.
template <int Rows, int Vectors>
inline void multiply_compact_rows(const compact_factors& x, index i, index j, float* sums) {
  for (; x.cols - j > (Vectors - 1) * lanes32; j += Vectors * lanes32)
    multiply_compact<Rows, Vectors>(x, i, j, sums);
  if constexpr (Vectors > 1)
    if (j < x.cols) multiply_compact_rows<Rows, Vectors / 2>(x, i, j, sums);
}

NARROW_KERNEL inline void multiply_compact(const compact_factors& factors, float* sums) {
  const compact_factors x = factors;  // which a store to the sums cannot change
  index i = 0;
  for (; i + 4 <= x.rows; i += 4) multiply_compact_rows<4, 2>(x, i, 0, sums);
  for (; i < x.rows; ++i) multiply_compact_rows<1, 4>(x, i, 0, sums);
}
