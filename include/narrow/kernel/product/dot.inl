// Products of lines, included once in the namespace of an instruction set by simd/vector_kernels.inl. Op: a
// vector of 32-bit lanes, `zero`, `load` of `elements` numbers, `add`, `multiply_add(acc, a, b)` and
// `total(acc)`. No include guard, on purpose.

/// What the lanes hold, added two by two.
template <class Op> inline typename Op::sum total_of_lanes(typename Op::vector acc) {
  typename Op::lane lanes[Op::lanes];
  Op::store(lanes, acc);
  typename Op::sum sums[Op::lanes];
  NARROW_UNROLL for (int l = 0; l < Op::lanes; ++l) sums[l] = lanes[l];
  NARROW_UNROLL for (int half = Op::lanes / 2; half > 0; half /= 2)
      NARROW_UNROLL for (int l = 0; l < half; ++l) sums[l] += sums[l + half];
  return sums[0];
}

/// The sum of a[i] b[i], in ascending order in each lane; several vectors, since an addition takes long.
template <class Op> NARROW_KERNEL typename Op::sum dot_line(const void* a, const void* b, index n) {
  constexpr int ways = Op::ways;
  constexpr index step = Op::elements, bytes = step * index{Op::element_size};
  const auto* x = static_cast<const unsigned char*>(a);
  const auto* y = static_cast<const unsigned char*>(b);
  typename Op::vector acc[ways];
  NARROW_UNROLL for (int w = 0; w < ways; ++w) acc[w] = Op::zero();
  for (; n >= ways * step; n -= ways * step, x += ways * bytes, y += ways * bytes) {
    NARROW_UNROLL for (int w = 0; w < ways; ++w) acc[w] =
        Op::multiply_add(acc[w], Op::load(x + w * bytes), Op::load(y + w * bytes));
  }
  NARROW_UNROLL for (int w = 1; w < ways; ++w) acc[0] = Op::add(acc[0], acc[w]);
  for (; n >= step; n -= step, x += bytes, y += bytes)
    acc[0] = Op::multiply_add(acc[0], Op::load(x), Op::load(y));
  if (n > 0) {
    unsigned char rest[2][bytes];
    read_part(rest[0], x, n * Op::element_size);
    read_part(rest[1], y, n * Op::element_size);
    acc[0] = Op::multiply_add(acc[0], Op::load(rest[0]), Op::load(rest[1]));
  }
  return Op::total(acc[0]);
}

/// Products of any two int16, those of b in two halves: b = 256 high + low.
template <class Line> struct in_halves : Line {
  struct vector {
    typename Line::vector high, low;
  };
  static constexpr int ways = Line::ways / 2;
  static vector zero() { return {Line::zero(), Line::zero()}; }
  static vector add(vector a, vector b) { return {Line::add(a.high, b.high), Line::add(a.low, b.low)}; }
  template <class Int16> static vector multiply_add(vector acc, Int16 a, Int16 b) {
    return {Line::multiply_add(acc.high, a, Line::high_half(b)),
            Line::multiply_add(acc.low, a, Line::low_half(b))};
  }
  static typename Line::sum total(vector acc) { return 256 * Line::total(acc.high) + Line::total(acc.low); }
};
