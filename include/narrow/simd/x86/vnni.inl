// Products of int8 and int16 with VNNI, included once in the namespace of each instruction set that has it,
// inside its target region. `plain` is the namespace of the vectors; add_quads(acc, a, b) multiplies bytes,
// unsigned ones of a and signed ones of b, and adds four products to each lane, add_pairs does so with two of
// int16; both wrap. No include guard, on purpose.

using plain::read_part;
#include "../../kernel/product/dot.inl"
#include "../../kernel/product/gemv.inl"
#include "../../kernel/product/panels.inl"

using ints = plain::integers;

/// The byte in all places.
inline ints::vector every_byte(std::uint8_t byte) {
  return ints::fill(std::bit_cast<ints::lane>(0x0101'0101u * byte));
}
/// x + 128 of each int8 as uint8.
inline ints::vector plus_128(ints::vector x) { return x ^ every_byte(0x80); }

struct int16_pairs : ints {
  static vector step(vector acc, word a, vector b) { return add_pairs(acc, b, broadcast(a)); }
};

struct int8_quads : ints {
  static vector step(vector acc, word a, vector b) { return add_quads(acc, b, broadcast(a)); }
  template <int Rows> static void row_sums(const left_panel& a, index packs, lane* sums);
};

struct int16_line : plain::int16_line {
  static vector step(vector acc, word a, vector b) { return int16_pairs::step(acc, a, b); }
  static vector multiply_add(vector acc, vector a, vector b) { return add_pairs(acc, a, b); }
};

struct int8_line : plain::int16_line {
  static constexpr int elements = 4 * lanes, element_size = 1, x_size = 1;
  static vector load(const void* from) { return plus_128(load_x(from)); }
  static vector step(vector acc, word a, vector b) { return int8_quads::step(acc, a, b); }
  static vector multiply_add(vector acc, vector a, vector x) { return add_quads(acc, a, x); }
};

/// a counts 128 more than it is; the sum of b says how much that is too much.
struct int8_pairs_of_lines : int8_line {
  using bytes = int8_line::vector;
  struct vector {
    bytes products, sums;
  };
  static constexpr int ways = 4;
  static bytes load(const void* from) { return load_x(from); }
  static vector zero() { return {int8_line::zero(), int8_line::zero()}; }
  static vector add(vector a, vector b) {
    return {int8_line::add(a.products, b.products), int8_line::add(a.sums, b.sums)};
  }
  static vector multiply_add(vector acc, bytes a, bytes b) {
    return {add_quads(acc.products, plus_128(a), b), add_quads(acc.sums, every_byte(1), b)};
  }
  static sum total(vector acc) { return int8_line::total(acc.products) - 128 * int8_line::total(acc.sums); }
};

using four_sums [[gnu::vector_size(16)]] = std::int32_t;
/// The lanes of acc in four sums.
inline four_sums folded(ints::vector acc) {
  constexpr int parts = sizeof acc / sizeof(four_sums);
  four_sums part[parts];
  std::memcpy(part, &acc, sizeof acc);
  for (int k = 1; k < parts; ++k) part[0] += part[k];
  return part[0];
}
/// The totals of four.
inline four_sums totals(const four_sums (&x)[4]) {
  const four_sums a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5) +
                      __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7),
                  b = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5) +
                      __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
  return __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
}

template <int Rows> NARROW_KERNEL void int8_quads::row_sums(const left_panel& a, index packs, lane* sums) {
  constexpr index bytes = lanes * index{sizeof(word)};
  static_assert(Rows < lanes);
  const vector ones = every_byte(1);
  if (a.pack_step == sizeof(word)) {  // rows lie along memory
    for (int first = 0; first < Rows; first += 4) {
      four_sums of_rows[4] = {};
      const int some = std::min(Rows - first, 4);
      for (int i = 0; i < some; ++i) {
        const unsigned char* row = a.data + (first + i) * a.row_step;
        vector acc = zero();
        index p = packs;
        for (; p >= lanes; p -= lanes, row += bytes) acc = add_quads(acc, ones, int8_line::load_x(row));
        if (p > 0) acc = add_quads(acc, ones, plain::instructions::load_some(row, p));
        of_rows[i] = folded(acc);
      }
      const four_sums total = totals(of_rows);
      std::memcpy(sums + first, &total, static_cast<std::size_t>(some) * sizeof *sums);
    }
  } else {  // rows side by side
    vector acc = zero();
    for (index p = 0; p < packs; ++p)
      acc = add_quads(acc, ones, plain::instructions::load_some(a.data + p * a.pack_step, Rows));
    std::memcpy(sums, &acc, Rows * sizeof *sums);
  }
}

/// Rows: how many a panel has; LowerRows: how many the lower one has, if there is one.
template <int Rows, int... LowerRows, class Table> constexpr void offer_vnni(Table& table) {
  NARROW_OFFER(int16, panels<int16_pairs, Rows, 2, LowerRows...>("vpdpwssd"));
  NARROW_OFFER(int8, panels<int8_quads, Rows, 2, LowerRows...>("vpdpbusd"));
  NARROW_OFFER(dot_int8, dot_line<int8_pairs_of_lines>);
  NARROW_OFFER(dot_int16, {dot_line<int16_line>, dot_line<in_halves<int16_line>>});
  NARROW_OFFER(gemv_int8, gemv_of<quad_columns<int8_line>, int8_line, 128>());
  NARROW_OFFER(gemv_int16, gemv_of<pair_columns<int16_line>, int16_line>());
}
