// The inner loop of all products, included once in the namespace of each instruction set, inside its target region.
// Op: a vector of 32-bit lanes, `zero`, `load`, `store`, and `step(acc, a, b)`, which multiplies the word a with every
// word of b and adds to acc. No include guard, on purpose.

template <class Op, int Rows, int Vectors>
NARROW_KERNEL void multiply_panels(const word* a, const word* b, index groups, typename Op::lane* tile) {
  typename Op::vector acc[Rows][Vectors];
  NARROW_UNROLL for (int i = 0; i < Rows; ++i) NARROW_UNROLL for (int v = 0; v < Vectors; ++v) acc[i][v] = Op::zero();
  for (index p = 0; p < groups; ++p, a += Rows, b += Vectors * Op::lanes) {
    typename Op::vector x[Vectors];
    NARROW_UNROLL for (int v = 0; v < Vectors; ++v) x[v] = Op::load(b + v * Op::lanes);
    NARROW_UNROLL for (int i = 0; i < Rows; ++i) NARROW_UNROLL for (int v = 0; v < Vectors; ++v) acc[i][v] =
        Op::step(acc[i][v], a[i], x[v]);
  }
  NARROW_UNROLL for (int i = 0; i < Rows; ++i) NARROW_UNROLL for (int v = 0; v < Vectors; ++v)
      Op::store(tile + (i * Vectors + v) * Op::lanes, acc[i][v]);
}

template <class Op, int Rows, int Vectors> constexpr panel_kernel<typename Op::lane> panels() {
  return {Rows, Vectors * Op::lanes, multiply_panels<Op, Rows, Vectors>};
}
