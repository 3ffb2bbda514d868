// What the kernels of products and sums are instantiated with: how vectors of each kind of elements are read,
// added to and summed up; included by vector_kernels.inl. No include guard, on purpose.
//
// The operation of a panel (product/panels.inl) has `vector`, `lane`, `lanes`, fill, load, store and
// step(acc, word, vector). That of a line (product/dot.inl, product/gemv.inl, reduce/sum.inl) has besides
//
//   zero
//   sum, total(acc)          what the numbers of a line add up to
//   elements, element_size   how many elements `load` reads, of so many bytes
//   x_size, load_x           those of the vector by which a matrix is multiplied
//   load_lanes               lanes as `store` leaves them
//   add, multiply_add        whole vectors
//   ways                     accumulators: an addition takes four cycles, and two begin in each

struct floats {
  using vector = instructions::floats;
  using lane = float;
  static constexpr int lanes = lanes32;
  static vector zero() { return vector{}; }
  static vector broadcast(word a) { return reinterpret_cast<vector>(uint32_vector{} + a); }
  static vector fill(lane x) { return x - vector{}; }  // which keeps the sign of a zero
  static vector load(const void* from) {
    vector x;
    std::memcpy(&x, from, sizeof x);
    return x;
  }
  static vector load_lanes(const lane* from) { return load(from); }
  static void store(lane* to, vector x) { std::memcpy(to, &x, sizeof x); }
  static vector step(vector acc, word a, vector b) {
    return instructions::multiply_add(acc, broadcast(a), b);
  }
};

struct doubles {
  using vector = instructions::doubles;
  using lane = double;
  static constexpr int lanes = lanes64;
  static vector fill(lane x) { return x - vector{}; }
  static vector load(const lane* from) {
    vector x;
    std::memcpy(&x, from, sizeof x);
    return x;
  }
  static void store(lane* to, vector x) { std::memcpy(to, &x, sizeof x); }
  static vector step(vector acc, lane a, vector b) { return instructions::multiply_add(acc, fill(a), b); }
  static int64_vector integers(vector x) { return lanes_as<int64_vector>(instructions::to_int64(x)); }
};

struct fp32_line : floats {
  using sum = float;
  static constexpr int elements = lanes, element_size = 4, x_size = 4, ways = 8;
  static sum total(vector acc) { return total_of_lanes<fp32_line>(acc); }
  static vector load_x(const void* from) { return load(from); }
  static vector add(vector a, vector b) { return a + b; }  // clang's intrinsic has the caller's flags
  static vector multiply_add(vector acc, vector a, vector b) { return instructions::multiply_add(acc, a, b); }
};

struct fp16_line : fp32_line {
  static constexpr int element_size = 2;
  static vector load(const void* from) { return instructions::load_fp16(from); }
};

struct bf16_line : fp32_line {
  static constexpr int element_size = 2;
  static vector load(const void* from) { return reinterpret_cast<vector>(load_upper<uint32_vector>(from)); }
};

struct integers {
  using vector = instructions::integers;
  using lane = std::int32_t;
  static constexpr int lanes = lanes32;
  static vector zero() { return vector{}; }
  static vector broadcast(word a) { return reinterpret_cast<vector>(uint32_vector{} + a); }
  static vector fill(lane x) { return broadcast(static_cast<word>(x)); }
  static vector load(const void* from) {
    vector x;
    std::memcpy(&x, from, sizeof x);
    return x;
  }
  static vector load_x(const void* from) { return load(from); }
  static vector load_lanes(const lane* from) { return load(from); }
  static void store(lane* to, vector x) { std::memcpy(to, &x, sizeof x); }
  static vector add(vector a, vector b) {  // wraps
    return reinterpret_cast<vector>(reinterpret_cast<uint32_vector>(a) + reinterpret_cast<uint32_vector>(b));
  }
  static vector low_pairs(vector a, vector b) { return interleaved<int16_vector, false>(a, b); }
  static vector high_pairs(vector a, vector b) { return interleaved<int16_vector, true>(a, b); }
  static vector low_bytes(vector a, vector b) { return interleaved<int8_vector, false>(a, b); }
  static vector high_bytes(vector a, vector b) { return interleaved<int8_vector, true>(a, b); }
};

struct int16_pairs : integers {
  static vector step(vector acc, word a, vector b) { return instructions::multiply_add(acc, a, b); }
};

struct int16_line : int16_pairs {
  using sum = std::int64_t;
  static constexpr int elements = 2 * lanes, element_size = 2, x_size = 2, ways = 8;
  static sum total(vector acc) { return total_of_lanes<int16_line>(acc); }
  // b = 256 high_half + low_half.
  static vector high_half(vector b) {
    return reinterpret_cast<vector>(reinterpret_cast<int16_vector>(b) >> 8);
  }
  static vector low_half(vector b) {
    return reinterpret_cast<vector>(reinterpret_cast<int16_vector>(b) & 0xff);
  }
  static vector multiply_add(vector acc, vector a, vector b) { return instructions::multiply_add(acc, a, b); }
};

struct int8_line : int16_line {
  static constexpr int element_size = 1;
  static vector load(const void* from) { return instructions::int8_to_int16(from); }
};

struct summed_int8 : int16_line {
  static constexpr int elements = lanes, element_size = 1;
  static vector load(const void* from) { return instructions::load_signed<1>(from); }
};

struct fp16_codes {
  floats::vector operator()(const void* from) const { return instructions::load_fp16(from); }
  void operator()(const float* from, void* to) const { instructions::store_fp16(to, floats::load(from)); }
};
