// Lines of floats to codes of floating<E, M, ...>, to nearest even, and back, exactly; included once in the
// namespace of an instruction set by simd/vector_kernels.inl. No include guard, on purpose.

inline std::int32_t largest_of(const int32_vector& x) {
  using quad [[gnu::vector_size(16)]] = std::int32_t;
  quad parts[sizeof x / sizeof(quad)];
  std::memcpy(parts, &x, sizeof x);
  const auto larger_of = [](quad a, quad b) { return a > b ? a : b; };
  for (const quad& part : parts) parts[0] = larger_of(parts[0], part);
  parts[0] = larger_of(parts[0], __builtin_shufflevector(parts[0], parts[0], 2, 3, 0, 1));
  return larger_of(parts[0], __builtin_shufflevector(parts[0], parts[0], 1, 0, 3, 2))[0];
}

/// Raises `most` to the numbers' magnitudes, which tell whether one of them is NaN.
inline void raise_to_magnitudes(const uint32_vector& bits, int32_vector& most) {
  const auto magnitude = lanes_as<int32_vector>(bits & magnitude_mask);
  most = most > magnitude ? most : magnitude;
}

/// Codes of magnitudes, perhaps too large ones, with the signs of these numbers.
inline uint32_vector with_signs(int32_vector magnitude, uint32_vector bits, const encoding& e) {
  const int32_vector last = int32_vector{} + static_cast<std::int32_t>(e.last_code);
  const auto code = lanes_as<uint32_vector>(magnitude < last ? magnitude : last);
  uint32_vector signs = (bits & ~magnitude_mask) >> (31 - e.sign_shift);
  if (e.zero_sign == 0) signs = code != 0 ? signs : 0u;
  return code | signs;
}
template <class Code>
inline void store_codes(const int32_vector& magnitude, const uint32_vector& bits, void* to,
                        const encoding& e) {
  store_lower<sizeof(Code)>(to, with_signs(magnitude, bits, e));
}

/// The magnitudes of codes, perhaps too large ones, to nearest even; that of a NaN means nothing.
inline int32_vector nearest_codes(uint32_vector bits, const encoding& e) {
  const uint32_vector magnitude = bits & magnitude_mask;
  if (e.last_bits == 0) {
    const uint32_vector tie = magnitude >> e.dropped_bits & 1u;
    const uint32_vector normal = ((magnitude + (e.half - 1) + tie) >> e.dropped_bits) - e.rebias;
    // Below the normal numbers an addition rounds to multiples of the smallest one.
    const float_vector magic = float_vector{} + e.magic, sum = lanes_as<float_vector>(magnitude) + magic;
    const uint32_vector subnormal = lanes_as<uint32_vector>(sum) - lanes_as<uint32_vector>(magic);
    return lanes_as<int32_vector>(magnitude) < static_cast<std::int32_t>(e.min_normal)
               ? lanes_as<int32_vector>(subnormal)
               : lanes_as<int32_vector>(normal);
  }
  // The sum with a power of two rounds to the units of the format: those of a number's own power of two, or
  // of the least one that is not below the normal numbers. The sum counts them in its lower bits.
  constexpr int mantissa_bits = detail::binary32::mantissa_bits;
  const int32_vector held = smaller(lanes_as<int32_vector>(magnitude),
                                    int32_vector{} + static_cast<std::int32_t>(e.last_bits)),
                     power = larger(held & nonfinite_bits,
                                    int32_vector{} + static_cast<std::int32_t>(e.min_normal)),
                     shift = power + (e.dropped_bits << mantissa_bits);
  const auto sum = lanes_as<int32_vector>(lanes_as<float_vector>(held) + lanes_as<float_vector>(shift));
  return (sum - shift) +
         ((power >> e.dropped_bits) - static_cast<std::int32_t>(e.min_normal >> e.dropped_bits));
}

/// The codes of bf16 in the upper halves: those of float, rounded. That of a NaN means nothing.
inline uint32_vector upper_half_codes(uint32_vector bits) { return bits + 0x7fffu + (bits >> 16 & 1u); }

// Steps from a vector of numbers to their codes. `most` is the largest magnitude of all, which tells whether
// one is NaN; the code of a NaN means nothing.

template <class Code> struct encode_nearest {
  encoding e;
  int32_vector most = {};

  void operator()(const float* from, void* to) {
    uint32_vector bits;
    std::memcpy(&bits, from, sizeof bits);
    raise_to_magnitudes(bits, most);
    store_codes<Code>(nearest_codes(bits, e), bits, to, e);
  }
};

struct encode_upper_half {
  int32_vector most = {};

  void operator()(const float* from, void* to) {
    uint32_vector bits;
    std::memcpy(&bits, from, sizeof bits);
    raise_to_magnitudes(bits, most);
    store_upper(to, upper_half_codes(bits));
  }
};

/// Numbers whose bits below the last one of the code are cut off after something was added to them, in units
/// that below the normal numbers are those of the smallest one.
template <class Code> struct encode_in_other_mode {
  encoding e;  // without a last code, which depends on the sign here
  other_mode mode;
  int32_vector most = {};

  void operator()(const float* from, void* to) {
    constexpr int mantissa_bits = detail::binary32::mantissa_bits;
    constexpr std::uint32_t leading_one = std::uint32_t{1} << mantissa_bits;
    const auto bits = vector_at<uint32_vector>(from);
    raise_to_magnitudes(bits, most);
    const uint32_vector magnitude = bits & magnitude_mask, field = magnitude >> mantissa_bits;
    const auto least = static_cast<std::int32_t>(e.min_normal >> mantissa_bits);
    const int32_vector exponent = lanes_as<int32_vector>(field),
                       above = larger(exponent - least, int32_vector{}),
                       below = larger(least - larger(exponent, int32_vector{} + 1), int32_vector{});
    const uint32_vector significand =
        (magnitude & (leading_one - 1)) | (exponent != 0 ? uint32_vector{} + leading_one : 0u);
    const uint32_vector places =
                            lanes_as<uint32_vector>(smaller(below + e.dropped_bits, int32_vector{} + 31)),
                        rest = ((uint32_vector{} + 1u) << places) - 1u;
    const uint32_vector negative = lanes_as<uint32_vector>(lanes_as<int32_vector>(bits) >> 31);
    const uint32_vector added =
        (((rest + 1u) >> 1) & mode.half_unit) |
        (rest & ((negative & mode.unit_if_negative) | (~negative & mode.unit_if_positive)));
    const uint32_vector kept = ((significand + added) >> places) |
                               (lanes_as<uint32_vector>((significand & rest) != 0) & mode.sticky);
    const uint32_vector code = (lanes_as<uint32_vector>(above) << (mantissa_bits - e.dropped_bits)) + kept;
    const uint32_vector last = (negative & mode.last_negative) | (~negative & mode.last_positive);
    const uint32_vector finite = code < last ? code : last;
    const uint32_vector is_infinite = lanes_as<uint32_vector>(magnitude == std::uint32_t{nonfinite_bits});
    store_codes<Code>(lanes_as<int32_vector>((is_infinite & mode.infinity) | (~is_infinite & finite)), bits,
                      to, e);
  }
};

struct stochastic_state {
  encoding e;
  random_draws draws;
  std::uint32_t step;     // from one number's index to the next one's
  uint32_vector at = {};  // the indices, which draws.key.before was added to
  int32_vector most = {};

  void move_by(index n) { at += static_cast<std::uint32_t>(n) * step; }
  /// The codes of numbers in the range of the normal ones. What of a draw is below the bits that are cut off
  /// cannot carry into them.
  uint32_vector normal(uint32_vector magnitude, uint32_vector draw) const {
    const uint32_vector cut = uint32_vector{} + static_cast<std::uint32_t>(e.dropped_bits);
    return ((magnitude + (draw >> (32u - cut))) >> cut) - e.rebias;
  }
};

/// Numbers to bf16, stochastically.
struct encode_upper_half_stochastic : stochastic_state {
  void operator()(const float* from, void* to) {
    const auto bits = vector_at<uint32_vector>(from);
    raise_to_magnitudes(bits, most);
    store_upper(to, bits + (draws.upper_half(at) >> 16));
  }
};

/// Numbers of which none is a subnormal one of the format. Upper: the upper 16 bits of a draw suffice.
template <class Code, bool Upper> struct encode_normal_stochastic : stochastic_state {
  void operator()(const float* from, void* to) {
    uint32_vector bits, draw;
    std::memcpy(&bits, from, sizeof bits);
    raise_to_magnitudes(bits, most);
    if constexpr (Upper)
      draw = draws.upper_half(at);
    else
      draw = draws.mixed(at);
    const uint32_vector magnitude = bits & magnitude_mask;
    uint32_vector code = normal(magnitude, draw);
    if (e.rebias != 0) code = magnitude != 0 ? code : 0u;
    store_codes<Code>(lanes_as<int32_vector>(code), bits, to, e);
  }
};

/// Any numbers, to a format with fewer exponents than float has.
template <class Code> struct encode_some_stochastic : stochastic_state {
  float units_in_one = 0x1p23f / e.magic;  // of the smallest number: `magic` is 2^23 of them

  void operator()(const float* from, void* to) {
    uint32_vector bits;
    std::memcpy(&bits, from, sizeof bits);
    raise_to_magnitudes(bits, most);
    const uint32_vector magnitude = bits & magnitude_mask, draw = draws.mixed(at);
    const int32_vector is_small = lanes_as<int32_vector>(magnitude) < static_cast<std::int32_t>(e.min_normal);
    const auto small = lanes_as<float_vector>(lanes_as<int32_vector>(magnitude) & is_small);
    const float_vector units = small * units_in_one;
    const int32_vector whole = __builtin_convertvector(units, int32_vector);
    // The first 32 bits cut off.
    const float_vector rest = (units - __builtin_convertvector(whole, float_vector)) * 0x1p32f;
    const uint32_vector fraction = __builtin_convertvector(rest, uint32_vector);
    const int32_vector carry = lanes_as<int32_vector>(fraction + draw < fraction);  // -1 or 0
    const auto large = lanes_as<int32_vector>(normal(magnitude, draw));
    store_codes<Code>(is_small ? whole - carry : large, bits, to, e);
  }
};

/// To numbers that are so many places further, for steps to which that makes a difference.
template <class Step> inline void move(Step& step, index n) {
  if constexpr (requires { step.move_by(n); }) step.move_by(n);
}

/// How many of n numbers to take before vectors of the rest lie in whole cache lines; 0 where that is of no
/// use.
inline index until_whole_lines(const float* from, index n) {
  constexpr index min_length = 16 * lanes32;  // below, one more vector costs what it saves
  const auto past = static_cast<index>(std::bit_cast<std::uintptr_t>(from) % vector_bytes);
  const bool useful = past != 0 && past % index{sizeof(float)} == 0 && n >= min_length;
  return useful ? lanes32 - past / index{sizeof(float)} : 0;
}

/// Takes a step for each vector of a line of n numbers. The second one and the last one may take numbers of
/// the one before again; of a line shorter than a vector they are followed by zeros.
template <class Code, class Step> inline Step for_codes(const float* from, void* to, index n, Step step) {
  auto* const codes = static_cast<unsigned char*>(to);
  constexpr index ways = 4, bytes = sizeof(Code);
  // Inlined, so that what a step knows stays in registers.
  const auto take = [&](index i) __attribute__((always_inline)) {
    step(from + i, codes + i * bytes);
    move(step, lanes32);
  };
  index i = until_whole_lines(from, n);
  if (i > 0) {
    take(0);
    move(step, i - lanes32);
  }
  for (; i + ways * lanes32 <= n; i += ways * lanes32) {
    NARROW_UNROLL for (index v = 0; v < ways; ++v) take(i + v * lanes32);
  }
  for (; i + lanes32 <= n; i += lanes32) take(i);
  if (i == n) return step;
  if (n >= lanes32) {
    move(step, n - lanes32 - i);
    take(n - lanes32);
    return step;
  }
  float rest[lanes32];
  Code results[lanes32];
  read_part(rest, from, n * index{sizeof(float)});
  step(rest, results);
  write_part(to, results, n * index{sizeof(Code)});
  return step;
}

/// Takes a step for each vector of the rows of a tile.
template <class Code, class Step>
inline Step for_codes(const float* from, const tile_shape& shape, void* to, Step step) {
  const tile_shape s = shape;  // which a store to `to` cannot change
  auto* const codes = static_cast<unsigned char*>(to);
  for (index i = 0; i < s.rows; ++i)
    step = for_codes<Code>(from + i * s.stride, codes + i * s.to_stride * index{sizeof(Code)}, s.cols, step);
  return step;
}

template <class Code>
NARROW_KERNEL bool encode_tile(const float* from, const tile_shape& s, void* to, const encoding& e) {
  const int32_vector most = sizeof(Code) == 2 && e.is_upper_half
                                ? for_codes<std::uint16_t>(from, s, to, encode_upper_half{}).most
                                : for_codes<Code>(from, s, to, encode_nearest<Code>{e}).most;
  return largest_of(most) <= nonfinite_bits;
}

template <class Code>
NARROW_KERNEL bool encode_tile_in_mode(const float* from, const tile_shape& s, void* to, const encoding& e,
                                       const other_mode& mode) {
  encoding without_last = e;
  without_last.last_code = std::numeric_limits<std::int32_t>::max();
  return largest_of(for_codes<Code>(from, s, to, encode_in_other_mode<Code>{without_last, mode}).most) <=
         nonfinite_bits;
}

/// The codes of a tile in fp16. Fp16: a step, which knows what becomes of a NaN.
template <class Fp16> NARROW_KERNEL void encode_fp16(const float* from, const tile_shape& s, void* to) {
  for_codes<std::uint16_t>(from, s, to, Fp16{});
}

/// Whether one of n numbers, at least a vector of them, is a subnormal one of the format.
inline bool any_small(const float* from, index n, const encoding& e) {
  uint32_vector least = ~uint32_vector{};
  const auto look = [&](index i) {
    uint32_vector bits;
    std::memcpy(&bits, from + i, sizeof bits);
    const uint32_vector less_one = (bits & magnitude_mask) - 1u;  // a zero becomes the largest number
    least = least < less_one ? least : less_one;
  };
  for (index i = 0; i + lanes32 <= n; i += lanes32) look(i);
  look(n - lanes32);
  return any_of(lanes_as<int32_vector>(least < e.min_normal - 1u));
}

template <class Code>
NARROW_KERNEL bool encode_line_stochastic(const float* from, void* to, index n, const encoding& e,
                                          const element_draws& draws) {
  stochastic_state state{e, {draws.key}, draws.step};
  for (unsigned l = 0; l < lanes32; ++l) state.at[l] = draws.first + l * draws.step + draws.key.before;
  const auto round = [&](index i, index count, auto step) {
    state = for_codes<Code>(from + i, static_cast<unsigned char*>(to) + i * index{sizeof(Code)}, count, step);
  };
  constexpr index block = 1024;
  for (index i = 0, count; i < n; i += count) {
    count = std::min(block, n - i);
    if (e.rebias != 0 && (count < lanes32 || any_small(from + i, count, e)))
      round(i, count, encode_some_stochastic<Code>{state});
    else if (sizeof(Code) == 2 && e.is_upper_half)
      round(i, count, encode_upper_half_stochastic{state});
    else if (e.dropped_bits <= 16)
      round(i, count, encode_normal_stochastic<Code, true>{state});
    else
      round(i, count, encode_normal_stochastic<Code, false>{state});
  }
  return largest_of(state.most) <= nonfinite_bits;
}

// From a vector of codes to the bits of floats. Not lambdas, which g++ takes for functions of another target.

template <class Code> inline uint32_vector decode_some(const void* from, const decoding& d) {
  const auto code = lanes_as<uint32_vector>(load_lower<sizeof(Code)>(from));
  const uint32_vector magnitude = code & d.magnitude_mask, sign = (code >> d.sign_shift) << 31;
  const uint32_vector upper = magnitude << d.dropped_bits,
                      nan = (upper & d.payload_mask) | 0x7fc0'0000u;  // quiet
  const auto number = lanes_as<int32_vector>(magnitude);
  uint32_vector bits = upper;
  if (d.factor != 1) {
    // Exponents differ by a factor; below the normal numbers, by units of the smallest one.
    const auto least = std::int32_t{1} << (23 - d.dropped_bits);
    const float unit = d.factor * 0x1p-126f / static_cast<float>(least);
    const float_vector subnormal = __builtin_convertvector(number, float_vector) * unit;
    const uint32_vector normal =
        upper + (std::bit_cast<std::uint32_t>(d.factor) - std::bit_cast<std::uint32_t>(1.0f));
    bits = number < least ? lanes_as<uint32_vector>(subnormal) : normal;
  }
  const uint32_vector special = magnitude == d.infinity ? uint32_vector{} + 0x7f80'0000u : nan;
  bits = number > static_cast<std::int32_t>(d.max_code) ? special : bits;
  return bits | sign;
}

/// Of bf16.
inline uint32_vector decode_upper_half(const void* from) {
  uint32_vector bits = load_upper<uint32_vector>(from);
  const int32_vector nan = lanes_as<int32_vector>(bits & magnitude_mask) > nonfinite_bits;
  return bits | (lanes_as<uint32_vector>(nan) & 0x0040'0000u);  // quiet
}

template <class Code> struct some_decoder {
  decoding d;  // a copy, which a store to the floats cannot change
  uint32_vector operator()(const void* from) const { return decode_some<Code>(from, d); }
};
struct upper_half_decoder {
  uint32_vector operator()(const void* from) const { return decode_upper_half(from); }
};

template <class Code, class Decode>
inline void decode_with(Decode decode, const void* from, float* to, index n) {
  const auto* const codes = static_cast<const unsigned char*>(from);
  constexpr index ways = 4, bytes = sizeof(Code);
  const auto decode_at = [decode](const void* place, float* numbers) {
    const auto values = decode(place);
    std::memcpy(numbers, &values, sizeof values);
  };
  index i = until_whole_lines(to, n);
  if (i > 0) decode_at(codes, to);
  for (; i + ways * lanes32 <= n; i += ways * lanes32) {
    NARROW_UNROLL for (index v = 0; v < ways; ++v)
        decode_at(codes + (i + v * lanes32) * bytes, to + i + v * lanes32);
  }
  for (; i + lanes32 <= n; i += lanes32) decode_at(codes + i * bytes, to + i);
  if (i == n) return;
  Code rest[lanes32];
  float results[lanes32];
  read_part(rest, codes + i * bytes, (n - i) * index{sizeof(Code)});
  decode_at(rest, results);
  write_part(to + i, results, (n - i) * index{sizeof(float)});
}

template <class Code>
NARROW_KERNEL void decode_line(const void* from, float* to, index n, const decoding& d) {
  if (sizeof(Code) == 2 && d.dropped_bits == 16 && d.factor == 1)
    return decode_with<std::uint16_t>(upper_half_decoder{}, from, to, n);
  if constexpr (decodes_by_fp16 && sizeof(Code) == 1)
    if (const fp16_fields& fields = d.as_fp16; fields.factor != 0) {
      if (fields.is_upper_half()) return decode_with<Code>(fp16_upper_half_decoder{}, from, to, n);
      if (fields.special_bits == 0) return decode_with<Code>(finite_fp16_fields_decoder{fields}, from, to, n);
      return decode_with<Code>(fp16_fields_decoder{fields}, from, to, n);
    }
  decode_with<Code>(some_decoder<Code>{d}, from, to, n);
}

template <class Code> constexpr code_kernels coders() {
  return {encode_tile<Code>, encode_line_stochastic<Code>, encode_tile_in_mode<Code>, decode_line<Code>};
}

template <class Fp16> NARROW_KERNEL void decode_fp16(const void* from, float* to, index n) {
  decode_with<std::uint16_t>(Fp16{}, from, to, n);
}

NARROW_KERNEL inline bool has_code16(const void* codes, index n, const code_range& range) {
  using half_lanes [[gnu::vector_size(vector_bytes)]] = std::uint16_t;
  constexpr index count = vector_bytes / 2, ways = 4;
  const auto* next = static_cast<const unsigned char*>(codes);
  // The least distance from the first code of the range; those before it become large numbers.
  half_lanes least[ways] = {};
  for (half_lanes& x : least) x = ~x;
  const auto look = [&](const void* from, half_lanes& to) {
    half_lanes code;
    std::memcpy(&code, from, sizeof code);
    to = smaller(to, (code & range.mask) - range.first);
  };
  for (; n >= ways * count; n -= ways * count, next += ways * index{sizeof(half_lanes)})
    NARROW_UNROLL for (index v = 0; v < ways; ++v) look(next + v * index{sizeof(half_lanes)}, least[v]);
  for (; n >= count; n -= count, next += sizeof(half_lanes)) look(next, least[0]);
  if (n > 0) {
    std::uint16_t rest[count];  // no range begins with 0
    read_part(rest, next, n * index{sizeof(std::uint16_t)});
    look(rest, least[1]);
  }
  const half_lanes of_all = smaller(smaller(least[0], least[1]), smaller(least[2], least[3]));
  return any_of(lanes_as<int32_vector>(of_all < range.count));
}
