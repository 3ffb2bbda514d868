// Functions as sums of two floats, which mostly tell the float nearest to the exact value in half the time
// that doubles take; included once in the namespace of an instruction set by simd/vector_kernels.inl. No
// include guard, on purpose.
//
// by_pairs(function, x, y) gives the nearest floats, or false where that is not known of all lanes; then
// functions.inl looks again.

struct float_pair {
  float_vector high, low;
};
/// The float nearest to a number that is less than `error` from a pair; false where there may be another one.
inline bool round_pairs(const float_pair& x, const float_vector& error, float_vector& y) {
  y = x.high + (x.low - error);
  return !any_unequal(y, x.high + (x.low + error));
}
/// 1 / (1 + x), where x is not negative and x.low is less than 2^-8 of it.
inline float_pair share_of_one(const float_pair& x) {
  const float_vector sum = x.high + 1, added = sum - 1,  // D. Knuth's sum of two numbers
      cut_off = (1 - (sum - added)) + (x.high - added) + x.low;
  const float_vector share = 1 / sum,
                     rest = multiply_add(multiply_add(all_lanes_of(1), -share, sum), -share, cut_off);
  // 1 / (1 - rest) is 1 + rest + rest^2 + rest^3 and what is below 2^-32.
  return {share, share * multiply_add(rest, rest, multiply_add(rest, rest, rest))};
}

/// e^x as the product of a power of two, 2^(k / lanes) with k from 0 to lanes - 1, and e^r, where r is at
/// most half such a step away from zero. The second factor is looked up, as a pair; the third one is 1 + r +
/// r^2 times a polynomial. `power` is the product of these two, and errs by less than `error_of_exponential`
/// times 2^(k / lanes); for |x| < 88.8. (With AVX2 and AVX-512 no e^x of a float was rounded to another one
/// than the nearest.)
struct float_pair_power {
  float_pair power;        // high is between 0.98 and 2
  uint32_vector exponent;  // of the power of two, in its place in a float's code: what a code is added to
};
inline float_pair_power exponential_in_two(float_vector x) {
  using between = powers_of_two_between<lanes32>;
  static constexpr auto rest_of_exp = between::rest;
  const float_vector shifted = multiply_add(all_lanes_of(next_to_whole), x,
                                            all_lanes_of(lanes32 * std::numbers::log2e_v<float>)),
                     steps = shifted - next_to_whole;
  // Exact: the product, and x where there is one, are multiples of the last bit of a float of half a step.
  const float_vector r = multiply_add(x, steps, all_lanes_of(-between::step.high));
  const float_vector square = multiply_add(all_lanes_of(0x1p-100f), r, r);  // never a subnormal number
  const float_vector beyond_r = polynomial(rest_of_exp, r), cut_step = steps * -between::step.low;
  const float_vector rest =
      multiply_add(multiply_add(cut_step, cut_step, multiply_add(r, square, beyond_r)), square, beyond_r);
  const auto places = reinterpret_cast<instructions::integers>(shifted);
  const auto high = lanes_as<float_vector>(instructions::permuted(
                 vector_at<instructions::floats>(between::powers.high.data()), places)),
             low = lanes_as<float_vector>(
                 instructions::permuted(vector_at<instructions::floats>(between::powers.low.data()), places));
  const float_vector power = multiply_add(high, high, r), cut_off = multiply_add(high - power, high, r);
  constexpr int mantissa_bits = detail::binary32::mantissa_bits,
                up = mantissa_bits - std::countr_zero(std::uint32_t{lanes32});
  return {{power, multiply_add(cut_off, high, rest) + multiply_add(low, low, r)},
          (lanes_as<uint32_vector>(shifted) << up) & ~((std::uint32_t{1} << mantissa_bits) - 1)};
}
/// What is rounded beside the larger number of a pair is of the size of r^2.
inline constexpr float error_of_exponential = 0x1p-26f / (lanes32 * lanes32);

inline bool by_pairs(functions::exp, const float_vector& x, float_vector& y) {
  constexpr float least = -87.3f, most = 88.7f;  // where it is a normal float
  const float_vector held = between(least, x, most);
  const auto [power, exponent] = exponential_in_two(held);
  const bool decided = round_pairs(power, all_lanes_of(2 * error_of_exponential), y);
  y = lanes_as<float_vector>(lanes_as<uint32_vector>(y) + exponent);
  return decided && !any_unequal(held, x);
}
/// 1 / (1 + e^-x)
inline bool by_pairs(functions::logistic, const float_vector& x, float_vector& y) {
  constexpr float least = -60, most = 40;  // far from subnormal floats, and so that it is 1 beyond
  const float_vector below = smaller(all_lanes_of(most), x), held = larger(all_lanes_of(least), below);
  const auto [power, exponent] = exponential_in_two(-held);
  const auto scale = lanes_as<float_vector>(exponent + std::bit_cast<std::uint32_t>(1.0f));
  const float_pair share = share_of_one({power.high * scale, power.low * scale});
  return round_pairs(share, share.high * (2 * error_of_exponential), y) && !any_unequal(held, below);
}
/// By a step of Newton's method from the float; x times it is taken in two floats, neither of them subnormal.
inline bool by_pairs(functions::rsqrt, const float_vector& x, float_vector& y) {
  using limits = std::numeric_limits<float>;
  constexpr float error = 0x1p-40f;  // relative, more than three times the product of what either is off by
  const float_vector held = between(limits::min(), x, limits::max());
  const auto root = lanes_as<float_vector>(
      instructions::quick_reciprocal_root(reinterpret_cast<instructions::floats>(held)));
  const float_vector product = held * root, cut_off = multiply_add(-product, held, root),
                     rest = multiply_add(multiply_add(all_lanes_of(1), -product, root), -cut_off, root);
  return round_pairs({root, root * rest * 0.5f}, root * error, y) && !any_unequal(held, x);
}
