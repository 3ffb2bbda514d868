// A matrix whose rows lie along memory times a few vectors at once; included once in the namespace of an
// instruction set by simd/vector_kernels.inl. Line: as in gemv.inl. No include guard, on purpose.

/// Adds the products of Rows rows and of all vectors to the sums, each of which has the same order of
/// additions wherever its row stands.
template <class Line, int Rows>
inline void multiply_few_vectors(const unsigned char* a, index stride,
                                 const unsigned char* const (&x)[vectors_at_once], index n,
                                 typename Line::sum* sums, index row_step, index vector_step) {
  constexpr int vectors = vectors_at_once;
  constexpr index step = Line::elements, bytes = step * index{Line::element_size},
                  x_bytes = step * index{Line::x_size};
  typename Line::vector acc[Rows][vectors], factors[vectors];
  NARROW_UNROLL for (int r = 0; r < Rows; ++r) NARROW_UNROLL for (int c = 0; c < vectors; ++c) acc[r][c] =
      Line::zero();
  index at = 0;  // in bytes of a vector
  for (; n >= step; n -= step, a += bytes, at += x_bytes) {
    NARROW_UNROLL for (int c = 0; c < vectors; ++c) factors[c] = Line::load_x(x[c] + at);
    NARROW_UNROLL for (int r = 0; r < Rows; ++r) {
      const typename Line::vector row = Line::load(a + r * stride);
      NARROW_UNROLL for (int c = 0; c < vectors; ++c) acc[r][c] =
          Line::multiply_add(acc[r][c], row, factors[c]);
    }
  }
  if (n > 0) {
    unsigned char rest[bytes], x_rest[x_bytes];
    NARROW_UNROLL for (int c = 0; c < vectors; ++c) {
      read_part(x_rest, x[c] + at, n * Line::x_size);
      factors[c] = Line::load_x(x_rest);
    }
    NARROW_UNROLL for (int r = 0; r < Rows; ++r) {
      read_part(rest, a + r * stride, n * Line::element_size);
      const typename Line::vector row = Line::load(rest);
      NARROW_UNROLL for (int c = 0; c < vectors; ++c) acc[r][c] =
          Line::multiply_add(acc[r][c], row, factors[c]);
    }
  }
  NARROW_UNROLL for (int r = 0; r < Rows; ++r) {
    const auto total = totals_of_lines<Line>(acc[r]);
    NARROW_UNROLL for (int c = 0; c < vectors; ++c) sums[r * row_step + c * vector_step] +=
        total[static_cast<std::size_t>(c)];
  }
}

template <class Line>
NARROW_KERNEL void add_rows_times_few(const void* a, index stride, index count, const word* const* x, index n,
                                      typename Line::sum* sums, index row_step, index vector_step) {
  constexpr int rows = sizeof(typename Line::vector) == 64 ? 4 : 2;  // sums in half of the registers
  const auto* next = static_cast<const unsigned char*>(a);
  const unsigned char* factors[vectors_at_once];
  for (int c = 0; c < vectors_at_once; ++c) factors[c] = reinterpret_cast<const unsigned char*>(x[c]);
  for (; count >= rows; count -= rows, next += rows * stride, sums += rows * row_step)
    multiply_few_vectors<Line, rows>(next, stride, factors, n, sums, row_step, vector_step);
  for (; count > 0; --count, next += stride, sums += row_step)
    multiply_few_vectors<Line, 1>(next, stride, factors, n, sums, row_step, vector_step);
}
