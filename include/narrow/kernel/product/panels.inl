// The inner loop of all products, included once in the namespace of an instruction set by
// simd/vector_kernels.inl. Op: a vector of lanes, `load`, `store`, `fill`, which repeats a lane, and
// `step(acc, a, b)`, which multiplies the word or double a with every one of b and adds to acc;
// `row_sums<Rows>`, if it takes b for 128 more than it is. No include guard, on purpose.

/// Multiplies with the first `Vectors` vectors of panels of columns that are `Width` vectors wide.
template <class Op, int Rows, int Width, int Vectors>
NARROW_KERNEL void multiply_panels(const left_panel& a, const factor_of_lane<typename Op::lane>* b,
                                   index packs, const typename Op::lane* start, typename Op::lane* tile,
                                   index stride) {
  typename Op::vector acc[Rows][Vectors];
  NARROW_UNROLL for (int i = 0; i < Rows; ++i) NARROW_UNROLL for (int v = 0; v < Vectors; ++v) acc[i][v] =
      Op::fill(start[i]);
  // Three rows share an address, which theirs can be told from: base, base + step, base + 2 step. As numbers:
  // in the end they lie beyond the matrix.
  constexpr int bases = (Rows + 2) / 3;
  std::uintptr_t base[bases];
  const auto step = static_cast<std::uintptr_t>(a.row_step),
             pack_step = static_cast<std::uintptr_t>(a.pack_step),
             next = static_cast<std::uintptr_t>(a.next_panel);
  NARROW_UNROLL for (unsigned i = 0; i < bases; ++i) base[i] =
      reinterpret_cast<std::uintptr_t>(a.data) + 3 * i * step;
  for (index p = 0; p < packs; ++p, b += Width * Op::lanes) {
    __builtin_prefetch(reinterpret_cast<const void*>(base[0] + next), 0, 2);  // into the second-level cache
    typename Op::vector x[Vectors];
    NARROW_UNROLL for (int v = 0; v < Vectors; ++v) x[v] = Op::load(b + v * Op::lanes);
    NARROW_UNROLL for (unsigned i = 0; i < Rows; ++i) {
      factor_of_lane<typename Op::lane> w;
      std::memcpy(&w, reinterpret_cast<const void*>(base[i / 3] + i % 3 * step), sizeof w);
      NARROW_UNROLL for (int v = 0; v < Vectors; ++v) acc[i][v] = Op::step(acc[i][v], w, x[v]);
    }
    NARROW_UNROLL for (int i = 0; i < bases; ++i) base[i] += pack_step;
  }
  NARROW_UNROLL for (int i = 0; i < Rows; ++i) NARROW_UNROLL for (int v = 0; v < Vectors; ++v)
      Op::store(tile + i * stride + v * Op::lanes, acc[i][v]);
}

/// The kernel for panels of Rows rows and of columns in so many vectors, with the name of what multiplies.
template <class Op, int Rows, int Vectors>
constexpr panel_kernel<typename Op::lane> panels(const char* instruction) {
  static_assert(Vectors % 2 == 0);
  panel_kernel<typename Op::lane> result{Rows, Vectors * Op::lanes,
                                         multiply_panels<Op, Rows, Vectors, Vectors>,
                                         multiply_panels<Op, Rows, Vectors, Vectors / 2>};
  if constexpr (requires { &Op::template row_sums<Rows>; }) result.row_sums = &Op::template row_sums<Rows>;
  result.instruction = instruction;
  return result;
}

template <class Op, int Rows, int Vectors> inline constexpr auto lower_panels = panels<Op, Rows, Vectors>("");
/// The kernel for panels of Rows rows, or of LowerRows.
template <class Op, int Rows, int Vectors, int LowerRows>
constexpr panel_kernel<typename Op::lane> panels(const char* instruction) {
  auto result = panels<Op, Rows, Vectors>(instruction);
  result.lower = &lower_panels<Op, LowerRows, Vectors>;
  return result;
}
