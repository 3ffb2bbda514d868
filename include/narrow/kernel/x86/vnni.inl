// Products of int8 and int16 with VNNI, included once in the namespace of each instruction set that has it, inside its
// target region. `plain` is the namespace of the vectors; add_quads(acc, a, b)
// multiplies bytes, unsigned ones of a and signed ones of b, and adds four products to each lane, add_pairs does so with
// two of int16; both wrap. No include guard, on purpose.

#include "../dot.inl"
#include "../gemv.inl"
#include "../panels.inl"

using ints = plain::integers;

/// The byte in all places.
inline ints::vector every_byte(std::uint8_t byte) { return ints::fill(std::bit_cast<ints::lane>(0x0101'0101u * byte)); }
/// x + 128 of each int8 as uint8.
inline ints::vector plus_128(ints::vector x) { return x ^ every_byte(0x80); }

struct int16_pairs : ints {
  static vector step(vector acc, word a, vector b) { return add_pairs(acc, b, broadcast(a)); }
};

struct int8_quads : ints {
  static vector step(vector acc, word a, vector b) { return add_quads(acc, b, broadcast(a)); }
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

template <int Rows> NARROW_KERNEL void sum_rows(const left_panel& a, index groups, std::int32_t* sums) {
  constexpr index lanes = ints::lanes, bytes = lanes * index{sizeof(word)};
  static_assert(Rows < lanes);
  const ints::vector ones = every_byte(1);
  ints::vector acc = ints::zero();
  if (a.group_step == sizeof(word)) {  // rows lie along memory
    for (int i = 0; i < Rows; ++i, acc = ints::zero()) {
      const unsigned char* row = a.data + i * a.row_step;
      index p = groups;
      for (; p >= lanes; p -= lanes, row += bytes) acc = add_quads(acc, ones, int8_line::load_x(row));
      if (p > 0) acc = add_quads(acc, ones, ints::load_some(row, p));
      sums[i] = static_cast<std::int32_t>(int8_line::total(acc));
    }
  } else {  // rows side by side
    for (index p = 0; p < groups; ++p) acc = add_quads(acc, ones, ints::load_some(a.data + p * a.group_step, Rows));
    std::memcpy(sums, &acc, Rows * sizeof *sums);
  }
}

template <int Rows> constexpr kernel_table vnni_kernels() {
  kernel_table added{.fp32 = {}, .bf16 = {}, .int16 = panels<int16_pairs, Rows, 2>(), .int8 = panels<int8_quads, Rows, 2>()};
  added.int8.row_sums = sum_rows<Rows>;
  added.dot_int8 = dot_line<int8_pairs_of_lines>;
  added.dot_int16 = dot_line<int16_line>;
  added.dot_wide_int16 = dot_line<in_halves<int16_line>>;
  added.lines_int8 = line_products<quad_columns<int8_line>, int8_line, 128>();
  added.lines_int16 = line_products<pair_columns<int16_line>, int16_line>();
  return added;
}
