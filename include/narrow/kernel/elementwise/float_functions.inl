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
  return reinterpret_cast<float_vector>(instructions::multiply_add(
      reinterpret_cast<lanes>(sum), reinterpret_cast<lanes>(a), reinterpret_cast<lanes>(b)));
}
inline float_vector all_lanes_of(float x) { return x - float_vector{}; }

template <std::size_t Terms>
inline float_vector polynomial(const std::array<float, Terms>& c, float_vector x) {
  float_vector sum = all_lanes_of(c[Terms - 1]);
  NARROW_UNROLL for (int n = static_cast<int>(Terms) - 2; n >= 0; --n) sum =
      multiply_add(all_lanes_of(c[static_cast<std::size_t>(n)]), sum, x);
  return sum;
}

/// x between two bounds. NaN stays NaN: of two numbers that cannot be compared the second one is kept.
inline float_vector between(float least, float_vector x, float most) {
  return smaller(all_lanes_of(most), larger(all_lanes_of(least), x));
}

/// e^x as power * scale.
struct float_power {
  float_vector power, scale;
};
/// For -127.5 < x / log(2) < 128.5, beyond which scale is zero or infinite.
template <int Bits> inline float_power quick_exponential(float_vector x) {
  using limits = quick_limits<Bits>;
  static constexpr auto rest = limits::series_of_expm1;
  constexpr float shift = 0x1.8p23f + detail::binary32::bias;  // the exponent of a float in the lowest bits
  constexpr auto ln2 = static_cast<float>(std::numbers::ln2);
  const float_vector shifted =
                         multiply_add(all_lanes_of(shift), x, all_lanes_of(std::numbers::log2e_v<float>)),
                     whole = shifted - shift;
  float_vector r = multiply_add(x, whole, all_lanes_of(-ln2));
  if constexpr (limits::is_wide)
    r = multiply_add(r, whole, all_lanes_of(static_cast<float>(ln2 - std::numbers::ln2)));
  return {multiply_add(all_lanes_of(1), polynomial(rest, r), r),
          lanes_as<float_vector>(lanes_as<uint32_vector>(shifted) << detail::binary32::mantissa_bits)};
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
template <int Bits> inline float_vector quickly(functions::rsqrt, float_vector x) {
  return 1 /
         reinterpret_cast<float_vector>(instructions::square_root(reinterpret_cast<instructions::floats>(x)));
}
