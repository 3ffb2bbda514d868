// Lines of floats to codes of floating<E, M, ...>, to nearest even, and back, exactly; included once in the namespace of
// each instruction set, inside its target region, after `vector_bytes` and random_draws.inl. No include guard, on purpose.

inline constexpr int code_count = vector_bytes / 4;
using code_lanes [[gnu::vector_size(vector_bytes)]] = std::uint32_t;
using value_lanes [[gnu::vector_size(vector_bytes)]] = float;

/// Codes of magnitudes, perhaps too large ones, with their signs.
template <class Code>
inline void store_codes(code_lanes code, code_lanes negative, void* to, const encoding& e) {
  code = code > e.max_code ? e.overflow_code : code;
  const code_lanes signs = negative << e.sign_shift;
  code |= code != 0 ? signs : signs & e.zero_sign;
  using codes [[gnu::vector_size(code_count * sizeof(Code))]] = Code;
  const codes result = __builtin_convertvector(code, codes);
  std::memcpy(to, &result, sizeof result);
}

/// Sets `nan` where a number is none; its code then means nothing.
template <class Code> inline void encode_some(const float* from, void* to, const encoding& e, code_lanes& nan) {
  code_lanes bits;
  std::memcpy(&bits, from, sizeof bits);
  const code_lanes magnitude = bits & 0x7fff'ffffu, negative = bits >> 31;
  nan |= magnitude > 0x7f80'0000u;
  using codes [[gnu::vector_size(code_count * sizeof(Code))]] = Code;
  if (sizeof(Code) == 2 && e.is_upper_half) {
    const code_lanes rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    const codes result = __builtin_convertvector(rounded, codes);
    std::memcpy(to, &result, sizeof result);
    return;
  }
  const code_lanes tie = magnitude >> e.dropped_bits & 1u;
  code_lanes code = ((magnitude + (e.half - 1) + tie) >> e.dropped_bits) - e.rebias;
  // Below the normal numbers an addition rounds to multiples of the smallest one.
  value_lanes value;
  std::memcpy(&value, &magnitude, sizeof value);
  value += e.magic;
  code_lanes subnormal;
  std::memcpy(&subnormal, &value, sizeof subnormal);
  std::uint32_t magic;
  std::memcpy(&magic, &e.magic, sizeof magic);
  code = magnitude < e.min_normal ? subnormal - magic : code;
  store_codes<Code>(code, negative, to, e);
}

/// The same, rounded stochastically under these indices, of zeros and of numbers that are no subnormal ones of the format;
/// sets `small` where there is one.
template <class Code>
inline void encode_normal_stochastic(const float* from, void* to, const encoding& e, const random_draws& draws,
                                     code_lanes at, code_lanes& nan, code_lanes& small) {
  code_lanes bits;
  std::memcpy(&bits, from, sizeof bits);
  const code_lanes magnitude = bits & 0x7fff'ffffu, negative = bits >> 31;
  nan |= magnitude > 0x7f80'0000u;
  small |= magnitude - 1u < e.min_normal - 1u;
  // What of the draw is below the bits that are cut off cannot carry into them.
  const code_lanes code = ((magnitude + (draws(at) >> (32 - e.dropped_bits))) >> e.dropped_bits) - e.rebias;
  store_codes<Code>(magnitude != 0 ? code : 0u, negative, to, e);
}

inline bool any_of(code_lanes found) {
  std::uint32_t any = 0;
  for (int l = 0; l < code_count; ++l) any |= found[l];
  return any != 0;
}

/// The same of all numbers.
template <class Code>
inline void encode_some_stochastic(const float* from, void* to, const encoding& e, const random_draws& draws,
                                   code_lanes at, code_lanes& nan) {
  constexpr int mantissa_bits = 23;
  constexpr std::uint32_t hidden = 1u << mantissa_bits;
  code_lanes bits;
  std::memcpy(&bits, from, sizeof bits);
  const code_lanes magnitude = bits & 0x7fff'ffffu, negative = bits >> 31;
  nan |= magnitude > 0x7f80'0000u;
  const code_lanes field = magnitude >> mantissa_bits;
  const code_lanes significand = field != 0 ? (magnitude & (hidden - 1)) | hidden : magnitude;
  const code_lanes exponent = field > 1u ? field : 1u, lowest = code_lanes{} + (e.min_normal >> mantissa_bits);
  const code_lanes scale = exponent > lowest ? exponent : lowest;
  const code_lanes shift = scale - exponent + static_cast<std::uint32_t>(e.dropped_bits);
  const code_lanes above = shift - 32u, kept = shift < 31u ? shift : 31u;
  // The first 32 bits cut off.
  const code_lanes beyond = significand >> (above < 31u ? above : 31u);
  const code_lanes fraction = shift > 32u ? beyond : significand << ((32u - shift) & 31u);
  const code_lanes carry = (fraction + draws(at) < fraction) & 1;
  const code_lanes code =
      ((scale - lowest) << (mantissa_bits - e.dropped_bits)) + (significand >> kept) + carry;
  store_codes<Code>(code, negative, to, e);
}

template <class Code> NARROW_KERNEL bool encode_line(const float* from, void* to, index n, const encoding& format) {
  const encoding e = format;  // which a store to `to` cannot change
  auto* next = static_cast<unsigned char*>(to);
  code_lanes nan = {};
  for (; n >= code_count; n -= code_count, from += code_count, next += code_count * sizeof(Code))
    encode_some<Code>(from, next, e, nan);
  if (n > 0) {
    float rest[code_count] = {};
    Code results[code_count];
    std::memcpy(rest, from, static_cast<std::size_t>(n) * sizeof(float));
    encode_some<Code>(rest, results, e, nan);
    std::memcpy(next, results, static_cast<std::size_t>(n) * sizeof(Code));
  }
  return !any_of(nan);
}

/// Number i is rounded under index first + i.
template <class Code>
NARROW_KERNEL bool encode_line_stochastic(const float* from, void* to, index n, const encoding& format,
                                          const detail::random_key& key, std::uint32_t first) {
  const encoding e = format;  // which a store to `to` cannot change
  const random_draws draws{key};
  auto* next = static_cast<unsigned char*>(to);
  code_lanes nan = {}, at;
  for (unsigned l = 0; l < code_count; ++l) at[l] = first + l;
  constexpr index block = 8, bytes = code_count * sizeof(Code);  // vectors that are done again where a number is small
  const auto at_vector = [&](index v) { return static_cast<std::uint32_t>(v * code_count); };
  for (; n >= block * code_count; n -= block * code_count, from += block * code_count, next += block * bytes) {
    code_lanes small = {};
    NARROW_UNROLL for (index v = 0; v < block; ++v) encode_normal_stochastic<Code>(
        from + v * code_count, next + v * bytes, e, draws, at + at_vector(v), nan, small);
    if (any_of(small))
      for (index v = 0; v < block; ++v)
        encode_some_stochastic<Code>(from + v * code_count, next + v * bytes, e, draws, at + at_vector(v), nan);
    at += at_vector(block);
  }
  for (; n >= code_count; n -= code_count, from += code_count, next += code_count * sizeof(Code)) {
    encode_some_stochastic<Code>(from, next, e, draws, at, nan);
    at += code_count;
  }
  if (n > 0) {
    float rest[code_count] = {};
    Code results[code_count];
    std::memcpy(rest, from, static_cast<std::size_t>(n) * sizeof(float));
    encode_some_stochastic<Code>(rest, results, e, draws, at, nan);
    std::memcpy(next, results, static_cast<std::size_t>(n) * sizeof(Code));
  }
  return !any_of(nan);
}

template <class Code> inline void decode_some(const void* from, float* to, const decoding& d) {
  using codes [[gnu::vector_size(code_count * sizeof(Code))]] = Code;
  codes narrow;
  std::memcpy(&narrow, from, sizeof narrow);
  const code_lanes code = __builtin_convertvector(narrow, code_lanes);
  const code_lanes magnitude = code & d.magnitude_mask, sign = (code >> d.sign_shift) << 31;
  // Read with float's exponent field, a number is too small by a power of two; below the normal ones, too.
  code_lanes bits = magnitude << d.dropped_bits;
  const code_lanes nan = (bits & d.payload_mask) | 0x7fc0'0000u;  // quiet
  value_lanes value;
  std::memcpy(&value, &bits, sizeof value);
  value *= d.factor;
  std::memcpy(&bits, &value, sizeof bits);
  const code_lanes special = magnitude == d.infinity ? code_lanes{} + 0x7f80'0000u : nan;
  bits = magnitude > d.max_code ? special : bits;
  bits |= sign;
  std::memcpy(to, &bits, sizeof bits);
}

template <class Code> NARROW_KERNEL void decode_line(const void* from, float* to, index n, const decoding& d) {
  const auto* next = static_cast<const unsigned char*>(from);
  for (; n >= code_count; n -= code_count, next += code_count * sizeof(Code), to += code_count)
    decode_some<Code>(next, to, d);
  if (n <= 0) return;
  Code rest[code_count] = {};
  float results[code_count];
  std::memcpy(rest, next, static_cast<std::size_t>(n) * sizeof(Code));
  decode_some<Code>(rest, results, d);
  std::memcpy(to, results, static_cast<std::size_t>(n) * sizeof(float));
}

NARROW_KERNEL inline bool has_subnormal_bf16(const void* codes, index n) {
  using half_lanes [[gnu::vector_size(vector_bytes)]] = std::uint16_t;
  constexpr index count = vector_bytes / 2;
  const auto* next = static_cast<const unsigned char*>(codes);
  half_lanes found = {};
  const auto look = [&](const void* from) {
    half_lanes code;
    std::memcpy(&code, from, sizeof code);
    const half_lanes less_one = (code & 0x7fff) - 1;  // a zero becomes the largest number
    found |= less_one < 0x7f;
  };
  for (; n >= count; n -= count, next += sizeof(half_lanes)) look(next);
  if (n > 0) {
    std::uint16_t rest[count] = {};
    std::memcpy(rest, next, static_cast<std::size_t>(n) * sizeof(std::uint16_t));
    look(rest);
  }
  std::uint16_t any = 0;
  for (index l = 0; l < count; ++l) any = static_cast<std::uint16_t>(any | found[l]);
  return any != 0;
}
