// Lines of floats to integers, included once in the namespace of each instruction set, inside its target region, after
// `vector_bytes` and random_draws.inl. The same arithmetic as kernel::portable, in double lanes. No include guard, on purpose.

inline constexpr int quantize_lanes = vector_bytes / 8;
using double_lanes [[gnu::vector_size(vector_bytes)]] = double;
using long_lanes [[gnu::vector_size(vector_bytes)]] = std::int64_t;
using float_lanes [[gnu::vector_size(vector_bytes / 2)]] = float;
using int_lanes [[gnu::vector_size(vector_bytes / 2)]] = std::int32_t;
using word_lanes [[gnu::vector_size(vector_bytes / 2)]] = std::uint32_t;

/// Integers below 2^51 that `magic`, 1.5 times a power of two, was added to: their last bits.
inline long_lanes integers_in(double_lanes sum) {
  long_lanes bits;
  std::memcpy(&bits, &sum, sizeof bits);
  return bits;
}

/// Numbers of at most 2^31, rounded to integers.
struct round_nearest {
  int_lanes operator()(double_lanes x, const quantization&, word_lanes) const {
    return __builtin_convertvector(integers_in(x + 0x1.8p52), int_lanes);
  }
};
struct round_toward_zero {
  int_lanes operator()(double_lanes x, const quantization&, word_lanes) const {
    return __builtin_convertvector(x, int_lanes);
  }
};
struct round_stochastic {
  int_lanes operator()(double_lanes x, const quantization& q, word_lanes at) const {
    const long_lanes negative = x < 0;
    const double_lanes magnitude = negative ? -x : x;
    double_lanes whole = (magnitude + 0x1p52) - 0x1p52;
    whole = whole > magnitude ? whole - 1 : whole;
    // The first 32 bits of the fraction, in units of 2^-32, cut off.
    const double_lanes fraction = magnitude - whole, shifted = fraction + 0x1p20;
    const long_lanes above = (shifted - 0x1p20) > fraction;  // -1 where the addition rounded up
    const long_lanes bits = integers_in(shifted) - integers_in(double_lanes{} + 0x1p20) + above;
    const word_lanes draw = random_draws{q.key}(at);
    const long_lanes carry = (bits + __builtin_convertvector(draw, long_lanes)) >> 32;
    const long_lanes kept = integers_in(whole + 0x1.8p52) + carry;
    return __builtin_convertvector(negative ? -kept : kept, int_lanes);
  }
};

template <class Round, class Element>
inline void quantize_some(const float* from, Element* to, const quantization& q, word_lanes at) {
  float_lanes x;
  std::memcpy(&x, from, sizeof x);
  x = x == x ? x : 0;  // NaN
  double_lanes quotient = __builtin_convertvector(x, double_lanes) * q.inverse;
  if (q.snaps) {
    quotient = quotient < 0x1p17 ? quotient : 0x1p17;
    quotient = quotient > -0x1p17 ? quotient : -0x1p17;
    const double_lanes snapped = (quotient + 0x1.8p22) - 0x1.8p22;
    quotient = snapped * snapped > 0.0625 ? snapped : quotient;
  }
  quotient = quotient < q.highest ? quotient : q.highest;
  quotient = quotient > q.lowest ? quotient : q.lowest;
  using elements [[gnu::vector_size(quantize_lanes * sizeof(Element))]] = Element;
  const elements result = __builtin_convertvector(Round{}(quotient, q, at), elements);
  std::memcpy(to, &result, sizeof result);
}

template <class Round, class Element>
NARROW_KERNEL void quantize_line(const float* from, Element* to, index n, const quantization& q) {
  word_lanes at;
  for (unsigned l = 0; l < quantize_lanes; ++l) at[l] = q.first + l * q.step;
  for (; n >= quantize_lanes; n -= quantize_lanes, from += quantize_lanes, to += quantize_lanes) {
    quantize_some<Round>(from, to, q, at);
    at += quantize_lanes * q.step;
  }
  if (n <= 0) return;
  float rest[quantize_lanes] = {};
  Element results[quantize_lanes];
  std::copy(from, from + n, rest);
  quantize_some<Round>(rest, results, q, at);
  std::copy(results, results + n, to);
}

template <class Element> constexpr quantize_kernels<Element> quantizers() {
  return {quantize_line<round_nearest, Element>, quantize_line<round_toward_zero, Element>,
          quantize_line<round_stochastic, Element>};
}

/// values[j] = float(sums[j]) * (row_scale * col_scales[j]), each operation rounded to float. False if a product of scales
/// is no normal float, or rounds to none; then the values mean nothing.
NARROW_KERNEL inline bool scale_line(const std::int64_t* sums, float row_scale, const float* col_scales, float* values,
                                     index n) {
  long_lanes beyond = {};
  const auto scale = [&](const std::int64_t* from, const float* scales, float* to) {
    long_lanes sum;
    float_lanes col_scale;
    std::memcpy(&sum, from, sizeof sum);
    std::memcpy(&col_scale, scales, sizeof col_scale);
    const double_lanes exact = __builtin_convertvector(col_scale, double_lanes) * double{row_scale};
    beyond |= (exact < 0x1p-126) | (exact > 0x1p127);
    const auto rounded = [](auto x) {
      return __builtin_convertvector(__builtin_convertvector(x, float_lanes), double_lanes);
    };
    const float_lanes value = __builtin_convertvector(rounded(sum) * rounded(exact), float_lanes);
    std::memcpy(to, &value, sizeof value);
  };
  for (; n >= quantize_lanes; n -= quantize_lanes) {
    scale(sums, col_scales, values);
    sums += quantize_lanes;
    col_scales += quantize_lanes;
    values += quantize_lanes;
  }
  if (n > 0) {
    std::int64_t last_sums[quantize_lanes] = {};
    float last_scales[quantize_lanes] = {};
    float last_values[quantize_lanes];
    std::copy(sums, sums + n, last_sums);
    std::copy(col_scales, col_scales + n, last_scales);
    std::fill(last_scales + n, last_scales + quantize_lanes, *col_scales);
    scale(last_sums, last_scales, last_values);
    std::copy(last_values, last_values + n, values);
  }
  std::int64_t any = 0;
  for (int l = 0; l < quantize_lanes; ++l) any |= beyond[l];
  return any == 0;
}

/// Raises `largest` to the bits of the largest finite magnitude; returns how many are not finite.
NARROW_KERNEL inline std::size_t survey_line(const float* from, index n, std::uint32_t* largest) {
  word_lanes most = {}, nonfinite = {};
  const auto add = [&](const float* numbers) {
    word_lanes x;
    std::memcpy(&x, numbers, sizeof x);
    x &= 0x7fff'ffffu;
    const word_lanes finite = x < 0x7f80'0000u;  // all ones, or 0
    nonfinite += finite + 1;
    x &= finite;
    most = most > x ? most : x;
  };
  for (; n >= quantize_lanes; n -= quantize_lanes, from += quantize_lanes) add(from);
  if (n > 0) {
    float rest[quantize_lanes] = {};
    std::copy(from, from + n, rest);
    add(rest);
  }
  std::size_t count = 0;
  for (unsigned l = 0; l < quantize_lanes; ++l) {
    count += nonfinite[l];
    *largest = *largest < most[l] ? most[l] : *largest;
  }
  return count;
}
