// A first look at functions in programs of lanes, in float; included once in the namespace of an instruction
// set by simd/vector_kernels.inl. No include guard, on purpose.
//
// quickly<Bits>(function, x) gives the function with an error below quick_error<Bits>(function) units in the
// last place. Where that is not between the value and a number of Bits significant bits, all of them ties and
// numbers of the format that is rounded to next, the value is rounded as the exact one is. It need not be
// right beyond that: the value may be any between the same two of these numbers. Where it is such a number,
// zero, infinity or NaN, functions.inl looks again.

inline float_vector multiply_add(float_vector sum, float_vector a, float_vector b) {
  using lanes = instructions::floats;
  return lanes_as<float_vector>(
      instructions::multiply_add(lanes_as<lanes>(sum), lanes_as<lanes>(a), lanes_as<lanes>(b)));
}
inline float_vector all_lanes_of(float x) { return x - float_vector{}; }

template <std::size_t Terms>
inline float_vector polynomial(const std::array<float, Terms>& c, float_vector x) {
  float_vector sum = all_lanes_of(c[Terms - 1]);
  NARROW_UNROLL for (int n = static_cast<int>(Terms) - 2; n >= 0; --n) sum =
      multiply_add(all_lanes_of(c[static_cast<std::size_t>(n)]), sum, x);
  return sum;
}

/// x, but zero, which is looked at again, in the lanes where a condition does not hold.
inline float_vector where(int32_vector holds, float_vector x) { return holds ? x : float_vector{}; }
/// x between two bounds. NaN stays NaN: of two numbers that cannot be compared the second one is kept.
inline float_vector between(float least, float_vector x, float most) {
  return smaller(all_lanes_of(most), larger(all_lanes_of(least), x));
}

inline constexpr float next_to_whole = 0x1.8p23f;  // added to a number it leaves that, rounded, in its bits

/// e^x as power * scale.
struct float_power {
  float_vector power, scale;
};
/// Times 2^Shift, for -127.5 < x / log(2) + Shift < 128.5, beyond which scale is zero or infinite.
template <int Bits, int Shift = 0> inline float_power quick_exponential(float_vector x) {
  using limits = quick_limits<Bits>;
  static constexpr auto rest = limits::series_of_expm1;
  constexpr float shift =
      next_to_whole + detail::binary32::bias;  // the exponent of a float in the lowest bits
  constexpr auto ln2 = static_cast<float>(std::numbers::ln2);
  const float_vector shifted =
                         multiply_add(all_lanes_of(shift), x, all_lanes_of(std::numbers::log2e_v<float>)),
                     whole = shifted - shift;
  float_vector r = multiply_add(x, whole, all_lanes_of(-ln2));
  if constexpr (limits::is_wide || Shift != 0)
    r = multiply_add(r, whole, all_lanes_of(static_cast<float>(double(ln2) - std::numbers::ln2)));
  return {multiply_add(all_lanes_of(1), polynomial(rest, r), r),
          lanes_as<float_vector>((lanes_as<uint32_vector>(shifted) + std::uint32_t{Shift})
                                 << detail::binary32::mantissa_bits)};
}

template <int Bits> inline float_vector quickly(functions::exp, float_vector x) {
  using limits = quick_limits<Bits>;
  const auto [power, scale] = quick_exponential<Bits>(between(limits::least_log, x, limits::largest_log));
  return power * scale;
}
template <int Bits> inline float_vector quickly(functions::logistic, float_vector x) {
  using limits = quick_limits<Bits>;
  const auto [power, scale] =
      quick_exponential<Bits>(between(-limits::log_of_share, -x, limits::least_share));
  return 1 / multiply_add(all_lanes_of(1), power, scale);
}
template <int Bits> inline float_vector quickly(functions::tanh, float_vector x) {
  using limits = quick_limits<Bits>;
  static constexpr auto c = limits::tanh;
  const float_vector a = between(-limits::largest_tanh, x, limits::largest_tanh), square = a * a;
  return a * polynomial(c.above, square) / polynomial(c.below, square);
}
/// Of numbers that are not normal and positive as of the normal ones next to them, which are powers of four
/// but for the largest one, whose reciprocal root is next to one: these are looked at again.
template <int Bits> inline float_vector quickly(functions::rsqrt, float_vector x) {
  using limits = std::numeric_limits<float>;
  return reinterpret_cast<float_vector>(instructions::quick_reciprocal_root(
      reinterpret_cast<instructions::floats>(between(limits::min(), x, limits::max()))));
}

/// x = 2^exponent (1 + above), with 1 + above between the roots of 1/2 and 2.
struct float_in_parts {
  int32_vector exponent;
  float_vector above;
};
inline float_in_parts parts_near_one(float_vector x) {
  constexpr auto root = std::bit_cast<std::uint32_t>(1 / std::numbers::sqrt2_v<float>);
  constexpr int mantissa_bits = detail::binary32::mantissa_bits;
  const auto code = lanes_as<uint32_vector>(x);
  const int32_vector exponent = lanes_as<int32_vector>(code - root) >> mantissa_bits;
  return {exponent, lanes_as<float_vector>(code - (lanes_as<uint32_vector>(exponent) << mantissa_bits)) - 1};
}
/// exponent, and log(1 + above).
struct float_logarithm {
  float_vector exponent, rest;
};
template <int Bits> inline float_logarithm quick_logarithm(const float_in_parts& x) {
  static constexpr auto series = quick_limits<Bits>::series_of_log;
  return {__builtin_convertvector(x.exponent, float_vector),
          multiply_add(x.above, x.above * x.above, polynomial(series, x.above))};
}
template <int Bits> inline float_logarithm quick_logarithm(float_vector x) {
  return quick_logarithm<Bits>(parts_near_one(x));
}
inline int32_vector is_normal_positive(float_vector x) {
  constexpr std::uint32_t one = std::uint32_t{1} << detail::binary32::mantissa_bits;  // of the exponent
  return lanes_as<int32_vector>(lanes_as<uint32_vector>(x) + one) >= static_cast<std::int32_t>(2 * one);
}
/// The logarithm of zero, which is exact, where x is no positive normal number.
inline float_vector logarithm_where_normal(float_vector x, float_vector logarithm) {
  return is_normal_positive(x) ? logarithm : all_lanes_of(-std::numeric_limits<float>::infinity());
}
template <int Bits> inline float_vector quickly(functions::log, float_vector x) {
  const auto [exponent, rest] = quick_logarithm<Bits>(x);
  return logarithm_where_normal(x, multiply_add(rest, exponent, all_lanes_of(std::numbers::ln2_v<float>)));
}
template <int Bits> inline float_vector quickly(functions::log2, float_vector x) {
  const auto [exponent, rest] = quick_logarithm<Bits>(x);
  return logarithm_where_normal(x, multiply_add(exponent, rest, all_lanes_of(std::numbers::log2e_v<float>)));
}
template <int Bits> inline float_vector quickly(functions::log10, float_vector x) {
  constexpr auto log10_of_2 = static_cast<float>(std::numbers::ln2 / std::numbers::ln10);
  const auto [exponent, rest] = quick_logarithm<Bits>(x);
  return logarithm_where_normal(
      x, multiply_add(rest * std::numbers::log10e_v<float>, exponent, all_lanes_of(log10_of_2)));
}
/// Of 1 + x, a float and what that leaves out, which is exact. The sign of the logarithm is that of x, zeros
/// included.
template <int Bits> inline float_vector quickly(functions::log1p, float_vector x) {
  constexpr float most = 0x1p127f;  // so that the reciprocal of the power of two is a float, or zero
  const float_vector one = all_lanes_of(1), held = smaller(all_lanes_of(most), x), sum = held + 1,
                     cut_off = smaller(one, held) - (sum - larger(one, held));
  auto [power, above] = parts_near_one(sum);
  const uint32_vector reciprocal =
      lanes_as<uint32_vector>(one) - (lanes_as<uint32_vector>(power) << detail::binary32::mantissa_bits);
  above = multiply_add(above, cut_off, lanes_as<float_vector>(reciprocal));
  const auto [exponent, rest] = quick_logarithm<Bits>({power, above});
  const float_vector size = multiply_add(rest, exponent, all_lanes_of(std::numbers::ln2_v<float>));
  const auto value =
      lanes_as<float_vector>(lanes_as<uint32_vector>(size) | (lanes_as<uint32_vector>(x) & ~magnitude_mask));
  const auto is_held = lanes_as<int32_vector>(held) == lanes_as<int32_vector>(x);
  return is_held ? logarithm_where_normal(sum, value) : all_lanes_of(std::numeric_limits<float>::infinity());
}

/// sin(x - halves pi) with the sign of this lane. Pi is three floats, none of which is negative, so that of
/// -0 it is -0; the first difference is exact.
template <int Bits>
inline float_vector quick_sine_of_rest(float_vector x, float_vector halves, uint32_vector is_negative) {
  static constexpr auto rest = quick_limits<Bits>::series_of_sin;
  constexpr double pi = std::numbers::pi, beyond = 0x1.1a62633145c07p-53;  // that double
  constexpr float first = approximation::cut_to_float(pi),
                  second = approximation::cut_to_float(pi - double(first)),
                  third = static_cast<float>(pi - double(first) - double(second) + beyond);
  float_vector r = multiply_add(x, halves, all_lanes_of(-first));
  r = multiply_add(r, halves, all_lanes_of(-second));
  r = multiply_add(r, halves, all_lanes_of(-third));
  const float_vector square = r * r;
  r = lanes_as<float_vector>(lanes_as<uint32_vector>(r) ^ (is_negative << 31));
  constexpr auto most = std::bit_cast<std::int32_t>(0x1p17f);  // so many multiples of pi are exact
  return where(lanes_as<int32_vector>(lanes_as<uint32_vector>(x) & magnitude_mask) <= most,
               r * multiply_add(all_lanes_of(1), square, polynomial(rest, square)));
}
template <int Bits> inline float_vector quickly(functions::sin, float_vector x) {
  const float_vector shifted =
      multiply_add(all_lanes_of(next_to_whole), x, all_lanes_of(std::numbers::inv_pi_v<float>));
  return quick_sine_of_rest<Bits>(x, shifted - next_to_whole, lanes_as<uint32_vector>(shifted));
}
/// cos(x) = -(-1)^n sin(x - (n + 1/2) pi)
template <int Bits> inline float_vector quickly(functions::cos, float_vector x) {
  constexpr float shift = next_to_whole + 1;
  const float_vector shifted =
      multiply_add(all_lanes_of(-0.5f), x, all_lanes_of(std::numbers::inv_pi_v<float>)) + shift;
  return quick_sine_of_rest<Bits>(x, (shifted - shift) + 0.5f, lanes_as<uint32_vector>(shifted));
}

/// y, but the least value of a function in lanes where that is NaN: a number of few bits, looked at again.
inline float_vector no_less(float_vector y, float least) { return larger(y, all_lanes_of(least)); }
/// What x has above zero; of -0 it is -0.
inline float_vector positive_part(float_vector x) { return larger(float_vector{}, x); }
inline float_vector magnitude_of(float_vector x) {
  return lanes_as<float_vector>(lanes_as<uint32_vector>(x) & magnitude_mask);
}

/// 2^(x + rest) as power * scale 2^-Shift, for -127.5 < x + Shift < 128.5 and a small rest.
template <int Bits, int Shift = 0> inline float_power quick_power_of_two(float_vector x, float_vector rest) {
  static constexpr auto series = quick_limits<Bits>::series_of_exp2m1;
  constexpr float shift = next_to_whole + detail::binary32::bias;
  const float_vector shifted = x + shift, r = (x - (shifted - shift)) + rest;
  return {multiply_add(all_lanes_of(1), polynomial(series, r), r),
          lanes_as<float_vector>((lanes_as<uint32_vector>(shifted) + std::uint32_t{Shift})
                                 << detail::binary32::mantissa_bits)};
}
/// e^(-x^2 / Divisor) times 2^Shift, as a power and a scale, of x^2 with twice the bits of a float.
template <int Bits, int Divisor, int Shift> inline float_power quick_power_of_square(float_vector x) {
  constexpr double factor = -std::numbers::log2e / Divisor;
  constexpr auto high = static_cast<float>(factor),
                 low = static_cast<float>(factor - static_cast<double>(high));
  const float_vector square = x * x, rest = multiply_add(-square, x, x), power = square * high,
                     rest_of_power = multiply_add(multiply_add(-power, square, all_lanes_of(high)), rest,
                                                  all_lanes_of(high));
  return quick_power_of_two<Bits, Shift>(power, multiply_add(rest_of_power, square, all_lanes_of(low)));
}
/// The share of a normal distribution above x >= 0, times e^(x^2 / 2).
template <int Bits> inline float_vector quick_scaled_tail(float_vector x) {
  using limits = quick_limits<Bits>;
  static constexpr auto series = limits::series_of_tail;
  const float_vector share = 1 / multiply_add(all_lanes_of(1), x, all_lanes_of(limits::scale_of_tail));
  return polynomial(series, share - limits::middle_of_tail);
}
/// What such powers are multiplied by so that a wide format's last ones are no subnormal floats.
template <int Bits> inline constexpr int shift_of_tail = quick_limits<Bits>::is_wide ? 64 : 0;
template <int Bits> inline constexpr float unshifted_tail = quick_limits<Bits>::is_wide ? 0x1p-64f : 1;

template <int Bits> inline float_vector quickly(functions::erf, float_vector x) {
  using limits = quick_limits<Bits>;
  static constexpr auto series = limits::series_of_erf;
  const float_vector a = between(-limits::largest_erf, x, limits::largest_erf);
  return no_less(a * polynomial(series, multiply_add(all_lanes_of(-limits::middle_of_erf), a, a)), -1);
}
/// 2 - erfc(-x) of negative numbers.
template <int Bits> inline float_vector quickly(functions::erfc, float_vector x) {
  using limits = quick_limits<Bits>;
  constexpr auto largest = static_cast<float>(limits::largest_tail / std::numbers::sqrt2);
  const float_vector a = magnitude_of(between(-limits::largest_erf, x, largest));
  const auto [power, scale] = quick_power_of_square<Bits, 1, shift_of_tail<Bits>>(a);
  const float_vector tail =
      quick_scaled_tail<Bits>(a * std::numbers::sqrt2_v<float>) * power * scale * (2 * unshifted_tail<Bits>);
  return no_less(x < 0 ? 2 - tail : tail, 0);
}
/// Above zero x less x times the share above it.
template <int Bits> inline float_vector quickly(functions::gelu, float_vector x) {
  using limits = quick_limits<Bits>;
  const float_vector a = smaller(all_lanes_of(limits::largest_tail), magnitude_of(x));
  const auto [power, scale] = quick_power_of_square<Bits, 2, shift_of_tail<Bits>>(a);
  const float_vector tail = quick_scaled_tail<Bits>(a) * power * scale;
  return no_less(multiply_add(positive_part(x), a * tail, all_lanes_of(-unshifted_tail<Bits>)), -1);
}
/// x / (1 + power * scale)
inline float_vector gated(float_vector x, const float_power& share) {
  return no_less(larger(all_lanes_of(-96), x) / multiply_add(all_lanes_of(1), share.power, share.scale), -1);
}
template <int Bits> inline float_vector quickly(functions::silu, float_vector x) {
  using limits = quick_limits<Bits>;
  constexpr float most = limits::end_of_gate * std::numbers::ln2_v<float>;
  return gated(x, quick_exponential<Bits>(between(limits::least_part, -x, most)));
}
/// x (a + b x^2) and what that is more than this float, in a Narrow range of x where b x^2 is not much more
/// than a, or in any.
struct float_cubic {
  float_vector value, rest;
};
template <bool Narrow> inline float_cubic cubic_with_rest(float_vector x, double a, double b) {
  const auto high_a = static_cast<float>(a), rest_of_a = static_cast<float>(a - double(high_a)),
             high_b = static_cast<float>(b), rest_of_b = static_cast<float>(b - double(high_b));
  const float_vector square = x * x, rest_of_square = multiply_add(-square, x, x);
  float_vector factor, cut_off;
  if constexpr (Narrow) {
    factor = multiply_add(all_lanes_of(high_a), square, all_lanes_of(high_b));
    cut_off = multiply_add(high_a - factor, square, all_lanes_of(high_b));
  } else {  // D. Knuth's sum of two numbers
    const float_vector third = uncontracted(square * high_b);
    factor = third + high_a;
    const float_vector added = factor - third;
    cut_off =
        (third - (factor - added)) + (high_a - added) + multiply_add(-third, square, all_lanes_of(high_b));
  }
  cut_off += multiply_add(multiply_add(all_lanes_of(rest_of_a), square, all_lanes_of(rest_of_b)),
                          rest_of_square, all_lanes_of(high_b));
  const float_vector value = x * factor;
  return {value, multiply_add(multiply_add(-value, x, factor), x, cut_off)};
}
/// By the power of two, with twice the bits of a float.
template <int Bits> inline float_vector quickly(functions::gelu_tanh, float_vector x) {
  using limits = quick_limits<Bits>;
  constexpr double first = -2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi * std::numbers::log2e;
  constexpr float least = limits::least_part * std::numbers::log2e_v<float>;
  const auto [power, rest] = cubic_with_rest<(Bits > 11)>(between(-16, x, 16), first, 0.044715 * first);
  return gated(x, quick_power_of_two<Bits>(between(least, power, limits::end_of_gate), rest));
}
/// What x has above zero, and log(1 + e^-|x|).
template <int Bits> inline float_vector quickly(functions::softplus, float_vector x) {
  using limits = quick_limits<Bits>;
  static constexpr auto series = limits::series_of_log1p;
  const auto [power, scale] =
      quick_exponential<Bits>(larger(all_lanes_of(limits::least_log), -magnitude_of(x)));
  const float_vector share = power * scale;
  return no_less(multiply_add(positive_part(x), share, polynomial(series, share)), 0);
}

// Where a first look is right although its value is near a number of few bits: of zero, and as these say.

template <int Bits> inline int32_vector is_right(functions::log, float_vector x) {
  return (x == 0) | (x == 1);
}
template <int Bits> inline int32_vector is_right(functions::log10, float_vector x) {
  return (x == 0) | (x == 1);
}
/// Whether numbers have so many significant bits at most.
template <int Bits> inline int32_vector has_bits(float_vector x) {
  constexpr std::uint32_t others = (std::uint32_t{1} << (detail::binary32::mantissa_bits + 1 - Bits)) - 1;
  return (lanes_as<uint32_vector>(x) & others) == 0;
}
template <int Bits> inline int32_vector is_right(functions::log2, float_vector x) {
  return (x == 0) | (has_bits<1>(x) & is_normal_positive(x));
}
/// Of powers of four.
template <int Bits> inline int32_vector is_right(functions::rsqrt, float_vector x) {
  return has_bits<1>(x) & has_bits<1>(quickly<Bits>(functions::rsqrt{}, x)) & is_normal_positive(x);
}
// Of small numbers the exact value is nearer to 1 than to its neighbours.
template <int Bits> inline int32_vector is_right(functions::erfc, float_vector x) {
  return magnitude_of(x) < 1.0f / (1 << (Bits + 2));
}
template <int Bits> inline int32_vector is_right(functions::cos, float_vector x) {
  return magnitude_of(x) < 1.0f / (1 << ((Bits + 1) / 2));
}
// Of small numbers of the format the exact value is so near to the number that it is rounded to this.
template <int Bits> inline int32_vector is_right(functions::log1p, float_vector x) {
  return (x == 0) | (has_bits<Bits - 1>(x) & (magnitude_of(x) < 1.0f / (1 << (Bits + 2))));
}
/// Of large numbers of the format the exact value is so near to the number that it is rounded to this.
template <int Bits, class Function>
requires(quick_end_of<Bits, Function> > 0) inline int32_vector is_right(Function, float_vector x) {
  return (x == 0) | (has_bits<Bits - 1>(x) & (x >= quick_end_of<Bits, Function>));
}
