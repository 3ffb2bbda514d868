// Sums of lines; included once in the namespace of an instruction set by simd/vector_kernels.inl. Op: the
// operation of a line, see simd/operations.inl. No include guard, on purpose.

/// The sum of a[i].
template <class Op> NARROW_KERNEL typename Op::sum sum_line(const void* a, index n) {
  constexpr int ways = Op::ways;
  constexpr index step = Op::elements, bytes = step * index{Op::element_size};
  const auto* x = static_cast<const unsigned char*>(a);
  typename Op::vector acc[ways];
  NARROW_UNROLL for (int w = 0; w < ways; ++w) acc[w] = Op::zero();
  for (; n >= ways * step; n -= ways * step, x += ways * bytes) {
    NARROW_UNROLL for (int w = 0; w < ways; ++w) acc[w] = Op::add(acc[w], Op::load(x + w * bytes));
  }
  NARROW_UNROLL for (int w = 1; w < ways; ++w) acc[0] = Op::add(acc[0], acc[w]);
  for (; n >= step; n -= step, x += bytes) acc[0] = Op::add(acc[0], Op::load(x));
  if (n > 0) {
    unsigned char rest[bytes];
    read_part(rest, x, n * Op::element_size);
    acc[0] = Op::add(acc[0], Op::load(rest));
  }
  return Op::total(acc[0]);
}

/// Integers in lanes that hold the sums of many.
template <class Element, class Lane> struct summed_integers {
  using sum = std::int64_t;
  using lane = Lane;
  static constexpr int ways = 4, lanes = vector_bytes / sizeof(Lane), elements = lanes,
                       element_size = sizeof(Element);
  using vector [[gnu::vector_size(vector_bytes)]] = Lane;
  static vector zero() { return vector{}; }
  static vector load(const void* from) {
    using elements_of [[gnu::vector_size(vector_bytes / sizeof(Lane) * sizeof(Element))]] = Element;
    elements_of x;
    std::memcpy(&x, from, sizeof x);
    return wider<vector>(x);
  }
  static vector add(vector a, vector b) { return a + b; }
  static sum total(vector acc) {
    sum result = 0;
    for (int l = 0; l < lanes; ++l) result += acc[l];
    return result;
  }
};
