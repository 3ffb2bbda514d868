// Vectors of floats to integers: the same results as kernel::portable, in float lanes where they tell.
// Included once in the namespace of an instruction set by simd/vector_kernels.inl. No include guard, on
// purpose.

inline constexpr int quantize_lanes = vector_bytes / 8;
using double_lanes [[gnu::vector_size(vector_bytes)]] = double;
using long_lanes [[gnu::vector_size(vector_bytes)]] = std::int64_t;
using float_lanes [[gnu::vector_size(vector_bytes / 2)]] = float;
using int_lanes [[gnu::vector_size(vector_bytes / 2)]] = std::int32_t;
using word_lanes [[gnu::vector_size(vector_bytes / 2)]] = std::uint32_t;

/// Numbers, and zeros for NaNs. Bits: as many integers of as many bits.
template <class Bits, class Lanes> inline Lanes number_or_zero(const Lanes& x) {
#if NARROW_COMPARES_NANS
  return x == x ? x : 0;
#else
  const Bits bits = lanes_as<Bits>(x),
             is_nan = (bits & static_cast<std::int32_t>(magnitude_mask)) > nonfinite_bits;
  return lanes_as<Lanes>(bits & ~is_nan);
#endif
}

/// The larger one, or b if it is NaN.
inline float_vector larger_or_nan(float_vector a, float_vector b) {
#if NARROW_COMPARES_NANS
  return larger(a, b);
#else
  asm("vmaxps %0, %1, %0" : "+v"(b) : "v"(a));  // an intrinsic's operands may be exchanged as well
  return b;
#endif
}

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
    const word_lanes draw = random_draws{q.draws.key}(at);
    const long_lanes carry = (bits + __builtin_convertvector(draw, long_lanes)) >> 32;
    const long_lanes kept = integers_in(whole + 0x1.8p52) + carry;
    return __builtin_convertvector(negative ? -kept : kept, int_lanes);
  }
};

/// The inverse of one scale.
struct one_inverse {
  double value;
  float single = static_cast<float>(value);
  double_lanes doubles(index) const { return double_lanes{} + value; }
  float_vector floats(index) const { return float_vector{} + single; }
};
/// The inverses of the scales that the places of a line have; `singles` only where they are needed.
struct own_inverses {
  const double* values;
  const float* singles;
  double_lanes doubles(index place) const { return vector_at<double_lanes>(values + place); }
  float_vector floats(index place) const { return vector_at<float_vector>(singles + place); }
};

/// Quantises a vector of double lanes, for any inverse and range.
template <class Round, class Element>
inline void round_in_doubles(const float* from, Element* to, const quantization& q, double_lanes inverse,
                             word_lanes at) {
  float_lanes x;
  std::memcpy(&x, from, sizeof x);
  x = number_or_zero<int_lanes>(x);
  double_lanes quotient = wider<double_lanes>(x) * inverse;
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

template <class Round, class Inverse> struct in_double_lanes {
  static constexpr int count = quantize_lanes;
  using indices = word_lanes;
  quantization q;
  Inverse inverse;

  void set_inverse(double by) { inverse = Inverse{by}; }
  template <class Element> void operator()(const float* from, Element* to, index place, indices at) const {
    round_in_doubles<Round>(from, to, q, inverse.doubles(place), at);
  }
};

// In float lanes, for inverses that are floats and powers of two: the quotient is exact, or so small that it
// rounds as 0 does, or infinite. Magnitudes are integers to `whole`, and the rounding is right to the ends of
// int32.

/// Magnitudes below 2^31, rounded to integers.
struct magnitude_nearest {
  static int32_vector round(float_vector x, const quantization&, uint32_vector) {
    const float_vector whole = (x + 0x1p23f) - 0x1p23f;
    return __builtin_convertvector(x < 0x1p23f ? whole : x, int32_vector);
  }
};
struct magnitude_toward_zero {
  static int32_vector round(float_vector x, const quantization&, uint32_vector) {
    return __builtin_convertvector(x, int32_vector);
  }
};
struct magnitude_stochastic {
  static int32_vector round(float_vector x, const quantization& q, uint32_vector at) {
    const int32_vector whole = __builtin_convertvector(x, int32_vector);
    // The first 32 bits of the fraction, cut off.
    const float_vector fraction = (x - __builtin_convertvector(whole, float_vector)) * 0x1p32f;
    const uint32_vector bits = __builtin_convertvector(fraction, uint32_vector);
    return whole - lanes_as<int32_vector>(bits + random_draws{q.draws.key}(at) < bits);
  }
};

template <class Round, class Inverse> struct in_float_lanes {
  static constexpr int count = lanes32;
  using indices = uint32_vector;
  quantization q;
  Inverse inverse;
  float lowest, highest;
  std::int32_t least, most;

  in_float_lanes(const quantization& how, const Inverse& by)
      : q(how),
        inverse(by),
        lowest(static_cast<float>(how.lowest)),
        highest(static_cast<float>(how.highest)),
        least(static_cast<std::int32_t>(how.lowest)),
        most(static_cast<std::int32_t>(how.highest)) {}

  void set_inverse(double by) { inverse = Inverse{by}; }
  template <class Element> void operator()(const float* from, Element* to, index place, indices at) const {
    float_vector x;
    std::memcpy(&x, from, sizeof x);
    float_vector quotient = number_or_zero<int32_vector>(x) * inverse.floats(place);
    int32_vector result;
    if constexpr (sizeof(Element) < sizeof(float)) {
      quotient = larger(smaller(quotient, float_vector{} + highest), float_vector{} + lowest);
      if constexpr (std::is_same_v<Round, magnitude_nearest>) {
        const float_vector magic = float_vector{} + 0x1.8p23f;
        result = lanes_as<int32_vector>(quotient + magic) - lanes_as<int32_vector>(magic);
      } else if constexpr (std::is_same_v<Round, magnitude_toward_zero>) {
        result = __builtin_convertvector(quotient, int32_vector);
      } else {
        result = rounded(quotient, at);
      }
    } else {
      constexpr float inside = 0x1.fffffep30f;  // the last float that an int32 holds
      const int32_vector over = quotient > inside, under = quotient < -inside;
      quotient = quotient < inside ? quotient : inside;
      quotient = quotient > -inside ? quotient : -inside;
      result = rounded(quotient, at);
      result = result < most ? result : most;
      result = result > least ? result : least;
      result = over ? most : result;
      result = under ? least : result;
    }
    store_lower<sizeof(Element)>(to, result);
  }

 private:
  int32_vector rounded(float_vector quotient, indices at) const {
    const int32_vector bits = lanes_as<int32_vector>(quotient), negative = bits >> 31;
    const int32_vector magnitude = Round::round(lanes_as<float_vector>(bits & 0x7fff'ffff), q, at);
    return lanes_as<int32_vector>((lanes_as<uint32_vector>(magnitude) ^ lanes_as<uint32_vector>(negative)) -
                                  lanes_as<uint32_vector>(negative));
  }
};

/// To the nearest multiple of a scale whose products with all integers of the range are floats. x / scale,
/// computed, is next to the right integer or is it, fused or not, and x less that many scales is exact. No
/// draws.
template <class Inverse> struct to_nearest_multiple {
  static constexpr int count = lanes32;
  using indices = uint32_vector;
  Inverse inverse, scale;  // the inverse's inverse
  float highest;

  to_nearest_multiple(const quantization& how, const Inverse& by, const Inverse& of)
      : inverse(by), scale(of), highest(static_cast<float>(how.highest)) {}

  static bool fits(const quantization& how) {
    return how.snaps && how.lowest == -how.highest && how.highest < 0x1p7;
  }
  static bool fits(double inverse) {
    if (!(inverse > 0x1p-127 && inverse < 0x1p126)) return false;
    const auto scale = static_cast<float>(1 / inverse);
    const auto free_bits = (std::uint32_t{1} << 7) - 1;
    return 1 / double(scale) == inverse && (std::bit_cast<std::uint32_t>(scale) & free_bits) == 0;
  }

  void set_inverse(double by) {
    inverse = Inverse{by};
    scale = Inverse{1 / by};
  }
  template <class Element> void operator()(const float* from, Element* to, index place, indices) const {
    const auto x = vector_at<float_vector>(from);
    const float_vector end = scale.floats(place) * highest;
    auto [near, rest, beyond] = of(larger(smaller(number_or_zero<int32_vector>(x), end), -end), place);
    // Further than half a scale, or as far, from an odd integer.
    const int32_vector wrong = beyond > -(near & 1);
    near += wrong & (rest >> 31 | 1);
    store_lower<sizeof(Element)>(to, near);
  }
  /// Quantises numbers that are nearer than half a scale to a multiple; raises `most` to 0 or more if one is
  /// not, or is NaN.
  template <class Element> void quick(const float* from, Element* to, index place, int32_vector& most) const {
    const float_vector end = scale.floats(place) * highest;
    const auto [near, rest, beyond] = of(larger_or_nan(-end, vector_at<float_vector>(from)), place);
    const int32_vector top = int32_vector{} + static_cast<std::int32_t>(highest);
    store_lower<sizeof(Element)>(to, near < top ? near : top);
    most = most > beyond ? most : beyond;
  }

 private:
  struct multiple {
    int32_vector near, rest,
        beyond;  // the last one how much further than half a scale, in units of the last place
  };
  /// Next to x, which is not below the range.
  multiple of(const float_vector& x, index place) const {
    const float_vector step = scale.floats(place), half = step * 0.5f;
    const float_vector magic = float_vector{} + 0x1.8p23f, sum = x * inverse.floats(place) + magic;
    const int32_vector near = lanes_as<int32_vector>(sum) - lanes_as<int32_vector>(magic);
    const int32_vector rest = lanes_as<int32_vector>(x - (sum - magic) * step);
    return {near, rest, (rest & 0x7fff'ffff) - lanes_as<int32_vector>(half)};
  }
};

/// Stochastically over a scale that is any float, to magnitudes of at most 127: in float lanes, and once more
/// in double lanes where the error of those could tell. That is below 2^-16: of the inverse and of the
/// product half an ulp each.
template <class Inverse> struct nearly_stochastic {
  static constexpr int count = lanes32;
  using indices = uint32_vector;
  quantization q;
  Inverse inverse;
  float highest;

  nearly_stochastic(const quantization& how, const Inverse& by)
      : q(how), inverse(by), highest(static_cast<float>(how.highest)) {}

  static bool fits(const quantization& how) {
    return how.snaps && how.lowest == -how.highest && how.highest < 0x1p7;
  }
  static bool fits(double inverse) { return inverse >= 0x1p-126 && inverse <= 0x1p127; }

  void set_inverse(double by) { inverse = Inverse{by}; }
  template <class Element> void operator()(const float* from, Element* to, index place, indices at) const {
    float_vector x;
    std::memcpy(&x, from, sizeof x);
    const int32_vector bits = lanes_as<int32_vector>(number_or_zero<int32_vector>(x) * inverse.floats(place)),
                       negative = bits >> 31;
    float_vector magnitude = lanes_as<float_vector>(bits & 0x7fff'ffff);
    magnitude = smaller(magnitude, float_vector{} + highest);
    const int32_vector whole = __builtin_convertvector(magnitude, int32_vector);
    const float_vector fraction = (magnitude - __builtin_convertvector(whole, float_vector)) * 0x1p32f;
    const uint32_vector upper = __builtin_convertvector(fraction, uint32_vector),
                        sum = upper + random_draws{q.draws.key}(at);
    constexpr std::uint32_t margin = std::uint32_t{1} << 17;  // around the next integer, in units of 2^-32
    if (any_of(sum + margin < 2 * margin)) [[unlikely]] {
      constexpr int half = count / 2;
      static_assert(half == quantize_lanes);
      word_lanes halves[2];
      std::memcpy(halves, &at, sizeof at);
      round_in_doubles<round_stochastic>(from, to, q, inverse.doubles(place), halves[0]);
      round_in_doubles<round_stochastic>(from + half, to + half, q, inverse.doubles(place + half), halves[1]);
      return;
    }
    const int32_vector kept = whole - lanes_as<int32_vector>(sum < upper);
    store_lower<sizeof(Element)>(to, (kept ^ negative) - negative);
  }
};

/// Lines, each number by the inverse that `lanes` have for its place.
template <class Lanes, class Element>
NARROW_KERNEL void encode_lines(const Lanes& of_places, const float* from, Element* to,
                                const strided_lines& block, const element_draws& draws) {
  constexpr index count = Lanes::count, ways = 4;
  const Lanes lanes = of_places;  // which a store to `to` cannot change
  const strided_lines b = block;
  const index n = b.n;
  const std::uint32_t next = draws.step, line_step = draws.line_step,
                      step = static_cast<std::uint32_t>(count) * next;
  typename Lanes::indices start;
  for (unsigned l = 0; l < count; ++l) start[l] = draws.first + l * next;
  for (index line = 0; line < b.lines; ++line, from += b.from_stride, to += b.to_stride, start += line_step) {
    auto at = start;
    index i = 0;
    for (; i + ways * count <= n; i += ways * count) {
      if constexpr (requires(int32_vector most) { lanes.quick(from, to, i, most); }) {
        int32_vector most = int32_vector{} - 1;
        NARROW_UNROLL for (index k = i; k < i + ways * count; k += count)
            lanes.quick(from + k, to + k, k, most);
        if (any_of(most >= 0)) [[unlikely]]
          for (index k = i; k < i + ways * count; k += count) lanes(from + k, to + k, k, at);
        continue;
      }
      NARROW_UNROLL for (index k = 0; k < ways; ++k) {
        lanes(from + i + k * count, to + i + k * count, i + k * count, at);
        at += step;
      }
    }
    for (; i + count <= n; i += count) {
      lanes(from + i, to + i, i, at);
      at += step;
    }
    if (i == n) continue;
    if (n >= count) {  // once more, of numbers that were rounded before
      lanes(from + n - count, to + n - count, n - count,
            at - static_cast<std::uint32_t>(i - (n - count)) * next);
      continue;
    }
    float rest[count];
    Element results[count];
    read_part(rest, from, n * index{sizeof(float)});
    lanes(rest, results, i, at);
    write_part(to, results, n * index{sizeof(Element)});
  }
}

/// values[j] = float(sums[j]) * (row_scale * col_scales[j]), each operation rounded to float. False if a
/// product of scales is no normal float, or rounds to none or the smallest one; then the values mean nothing.
NARROW_KERNEL inline bool scale_line(const std::int64_t* sums, float row_scale, const float* col_scales,
                                     float* values, index n) {
  int_lanes beyond = {};
  const auto scale = [&](const std::int64_t* from, const float* scales, float* to) {
    const float_lanes by = vector_at<float_lanes>(scales) * row_scale;
    beyond |= (by <= 0x1p-126f) | (by > 0x1p127f);
    const float_lanes value = __builtin_convertvector(vector_at<long_lanes>(from), float_lanes) * by;
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
  std::int32_t any = 0;
  for (int l = 0; l < quantize_lanes; ++l) any |= beyond[l];
  return any == 0;
}
