// Integers of more than 16 bits in lanes of double, included once in the namespace of an instruction set by
// simd/vector_kernels.inl. No include guard, on purpose.

/// x as it is.
struct whole_number {
  template <class Ints> static Ints of(Ints x) { return x; }
};
// The limbs of x = 2^16 high + low, |low| <= 2^15. Rounded without leaving 32 bits.
struct high_limb {
  template <class Ints> static Ints of(Ints x) { return (x >> 16) + (x >> 15 & 1); }
};
struct low_limb {
  template <class Ints> static Ints of(Ints x) { return (x & 0xffff) - ((x & 0x8000) << 1); }
};

template <class Limb> NARROW_KERNEL void widen(const word* x, double* to, index n) {
  constexpr int lanes = vector_bytes / sizeof(double);
  using ints [[gnu::vector_size(lanes * sizeof(std::int32_t))]] = std::int32_t;
  using doubles [[gnu::vector_size(vector_bytes)]] = double;
  for (index i = 0; i < n; i += lanes) {
    ints some;
    std::memcpy(&some, x + i, sizeof some);
    const auto wide = __builtin_convertvector(Limb::of(some), doubles);
    std::memcpy(to + i, &wide, sizeof wide);
  }
}

/// total[i] += sums[i] 2^shift for whole vectors. Op::integers: doubles of at most 2^53 as integers.
template <class Op>
NARROW_KERNEL void add_integers(const double* sums, int shift, std::int64_t* total, index n) {
  for (index i = 0; i < n; i += Op::lanes) {
    long_lanes so_far;
    std::memcpy(&so_far, total + i, sizeof so_far);
    so_far += Op::integers(Op::load(sums + i)) << shift;
    std::memcpy(total + i, &so_far, sizeof so_far);
  }
}

template <class Op, int Rows, int Vectors> constexpr wide_kernels wide_products(const char* instruction) {
  return {panels<Op, Rows, Vectors>(instruction),
          panels<Op, 1, 16 / Op::lanes>(instruction),
          widen<whole_number>,
          widen<high_limb>,
          widen<low_limb>,
          add_integers<Op>};
}
