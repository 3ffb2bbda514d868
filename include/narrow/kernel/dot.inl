// Products of lines, included once in the namespace of each instruction set, inside its target region. Op: a vector of
// 32-bit lanes, `zero`, `store`, `load` of `elements` numbers, `add`, and `multiply_add(acc, a, b)`. No include guard, on
// purpose.

/// The lanes' sums of a[i] b[i], in ascending order in each lane; eight vectors, since an addition takes long.
template <class Op> inline void dot_lanes(const void* a, const void* b, index n, typename Op::lane* lanes) {
  constexpr int ways = 8;
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
  for (; n >= step; n -= step, x += bytes, y += bytes) acc[0] = Op::multiply_add(acc[0], Op::load(x), Op::load(y));
  if (n > 0) {
    unsigned char rest[2][bytes] = {};
    std::memcpy(rest[0], x, static_cast<std::size_t>(n * Op::element_size));
    std::memcpy(rest[1], y, static_cast<std::size_t>(n * Op::element_size));
    acc[0] = Op::multiply_add(acc[0], Op::load(rest[0]), Op::load(rest[1]));
  }
  Op::store(lanes, acc[0]);
}

template <class Op> NARROW_KERNEL typename Op::sum dot_line(const void* a, const void* b, index n) {
  typename Op::lane lanes[Op::lanes];
  dot_lanes<Op>(a, b, n, lanes);
  typename Op::sum total = 0;
  for (int l = 0; l < Op::lanes; ++l) total += lanes[l];
  return total;
}
