// Functions of programs of lanes on vectors (see functions.hpp); included once in the namespace of an
// instruction set by simd/vector_kernels.inl. No include guard, on purpose.
//
// A function is computed in double with a known error. Where that decides what the exact value is rounded to,
// this is the result; the few lanes for which it does not go one by one to function_of, which knows on which
// side of a tie it lies (A. Ziv, "Fast evaluation of elementary mathematical functions with correctly rounded
// last bit", 1991). So all instruction sets give the same bits. Of the floating-point exceptions, those of
// the roundings to float on either side of the exact value are raised.

inline double_vector multiply_add(double_vector sum, double_vector a, double_vector b) {
  using lanes = instructions::doubles;
  return lanes_as<double_vector>(
      instructions::multiply_add(lanes_as<lanes>(sum), lanes_as<lanes>(a), lanes_as<lanes>(b)));
}

/// c[First] + c[First + Step] x + c[First + 2 Step] x^2 + ...: of many terms as those of even powers and x
/// times those of odd ones, both of x^2, so that fewer operations wait for one another.
template <std::size_t First = 0, std::size_t Step = 1, std::size_t Terms>
inline double_vector polynomial(const std::array<double, Terms>& c, double_vector x) {
  constexpr std::size_t last = First + (Terms - 1 - First) / Step * Step;
  if constexpr ((last - First) / Step + 1 > 6) {
    const double_vector square = x * x;
    return multiply_add(polynomial<First, 2 * Step>(c, square), polynomial<First + Step, 2 * Step>(c, square),
                        x);
  } else {
    double_vector sum = c[last] - double_vector{};
    NARROW_UNROLL for (std::size_t n = last; n > First; n -= Step) sum =
        multiply_add(c[n - Step] - double_vector{}, sum, x);
    return sum;
  }
}

/// e^x for |x| <= 128, as 2^(x / ln 2), in parts: the integer of the exponent is added to that of a double,
/// and a polynomial gives the rest. The exponent errs by less than 2^-45.3.
struct power_of_e {
  double_vector scale;          // the power of two of the integer
  double_vector rest;           // what is left of the exponent, between -1/2 and 1/2
  double_vector growth;         // (2^rest - 1) / rest
  int64_vector is_next_to_one;  // whether the integer is zero
};
inline power_of_e power_in_parts(double_vector x) {
  static constexpr auto coefficients = relative_growth_of_exp2<9>();
  const double_vector exponent = x * std::numbers::log2e,
                      shifted = exponent + 0x1.8p52;  // the integer in its lowest bits
  const double_vector whole = shifted - 0x1.8p52, rest = exponent - whole;
  constexpr int mantissa_bits = detail::binary64::mantissa_bits;
  const auto scale = lanes_as<double_vector>((lanes_as<int64_vector>(shifted) << mantissa_bits) +
                                             (std::int64_t{detail::binary64::bias} << mantissa_bits));
  return {scale, rest, polynomial(coefficients, rest), whole == 0};
}
/// Of 20 million floats the relative error was at most 2^-44.5.
inline double_vector exponential_of(double_vector x) {
  const auto [scale, rest, growth, is_next_to_one] = power_in_parts(x);
  return multiply_add(scale, rest * growth, scale);
}
/// e^x - 1, without the difference where that would be nearly nothing.
inline double_vector less_one(double_vector x) {
  const auto [scale, rest, growth, is_next_to_one] = power_in_parts(x);
  const double_vector above = rest * growth;
  return is_next_to_one ? above : multiply_add(scale - 1, above, scale);
}
/// x held to a range. NaN stays NaN: of two numbers that cannot be compared the second one is kept.
inline double_vector within(double_vector x, double bound) {
  return smaller(bound - double_vector{}, larger(-bound - double_vector{}, x));
}

/// Beyond 128 every power of e is zero or infinite as a float.
inline double_vector nearly(functions::exp, double_vector x) { return exponential_of(within(x, 128)); }

/// What a value between -1 and 1 may not seem to reach, at a distance from 1 that all of float's other
/// numbers have many times over.
constexpr double less_than_one = 1 - 0x1p-30;

inline double_vector nearly(functions::logistic, double_vector x) {
  return within(1 / (1 + exponential_of(within(-x, 128))), less_than_one);
}

/// As (e^2x - 1) / (e^2x + 1), which beyond 64 is 1 or -1.
inline double_vector nearly(functions::tanh, double_vector x) {
  const double_vector power = less_one(within(x, 64) * 2);
  return within(power / (power + 2), less_than_one);
}

/// x in the lanes where a condition holds; in the others NaN, which is never decided, so that they are
/// computed one by one.
inline double_vector where(int64_vector holds, double_vector x) {
  return holds ? x : std::numeric_limits<double>::quiet_NaN() - double_vector{};
}
inline int64_vector magnitude_of(double_vector x) {
  return lanes_as<int64_vector>(x) & std::numeric_limits<std::int64_t>::max();
}
inline constexpr auto infinite_code = std::bit_cast<std::int64_t>(std::numeric_limits<double>::infinity());

inline double_vector nearly(functions::expm1, double_vector x) {
  const double_vector power = less_one(within(x, 128)), least = -less_than_one - double_vector{};
  return least > power ? least : power;
}
/// As half of e^x - 1 and 1 - e^-x, for x >= 0.
inline double_vector nearly(functions::sinh, double_vector x) {
  const int64_vector size = magnitude_of(x), sign = lanes_as<int64_vector>(x) ^ size;
  const double_vector power = less_one(within(lanes_as<double_vector>(size), 128)),
                      value = (power + power / (power + 1)) * 0.5;
  return lanes_as<double_vector>(lanes_as<int64_vector>(value) ^ sign);
}
inline double_vector nearly(functions::cosh, double_vector x) {
  const double_vector power = exponential_of(within(x, 128));
  return (power + 1 / power) * 0.5;
}

/// 2 atanh(x) for |x| <= 3 - sqrt(8) = 0.172: the first term left out is below 2^-50 of the first one.
inline double_vector twice_atanh(double_vector x) {
  static constexpr auto series = series_of_atanh<9, 1>();
  return polynomial(series, x * x) * x * 2;
}
/// log(m 2^e) = 2 atanh((m - 1) / (m + 1)) + e log(2), with m between sqrt(1/2) and sqrt(2). Of zero,
/// negative numbers and infinity it is no number.
inline double_vector logarithm_of(double_vector x) {
  constexpr int mantissa_bits = detail::binary64::mantissa_bits;
  constexpr auto root = std::bit_cast<std::int64_t>(1 / std::numbers::sqrt2);
  const auto code = lanes_as<int64_vector>(x);
  const int64_vector exponent = (code - root) >> mantissa_bits;
  const auto mantissa = lanes_as<double_vector>(code - (exponent << mantissa_bits));
  const double_vector power =
      lanes_as<double_vector>(exponent + std::bit_cast<std::int64_t>(0x1.8p52)) - 0x1.8p52;
  const double_vector value =
      multiply_add(twice_atanh((mantissa - 1) / (mantissa + 1)), power, std::numbers::ln2 - double_vector{});
  return where((code > 0) & (code < infinite_code), value);
}
inline double_vector nearly(functions::log, double_vector x) { return logarithm_of(x); }
inline double_vector nearly(functions::log2, double_vector x) {
  return logarithm_of(x) * std::numbers::log2e;
}
inline double_vector nearly(functions::log10, double_vector x) {
  return logarithm_of(x) * std::numbers::log10e;
}
/// Near zero 2 atanh(x / (x + 2)), without the sum 1 + x, which is not exact.
inline double_vector nearly(functions::log1p, double_vector x) {
  constexpr double least = 1 / std::numbers::sqrt2 - 1, most = std::numbers::sqrt2 - 1;
  const int64_vector is_near = (x > least) & (x < most);
  return is_near ? twice_atanh(x / (x + 2)) : logarithm_of(x + 1);
}
inline double_vector nearly(functions::atanh, double_vector x) {
  constexpr double border = 3 - 2 * std::numbers::sqrt2;
  const int64_vector is_near = (x < border) & (x > -border);
  return (is_near ? twice_atanh(x) : logarithm_of((1 + x) / (1 - x))) * 0.5;
}

/// Above tan(3 pi / 8) pi / 2 less that of the reciprocal, above tan(pi / 8) pi / 4 and that of (x - 1) / (x
/// + 1): the first term that the series leaves out is below 2^-48 of the first one.
inline double_vector nearly(functions::atan, double_vector x) {
  static constexpr auto series = series_of_atanh<18, -1>();
  constexpr double border = std::numbers::sqrt2 - 1, quarter = std::numbers::pi / 4;
  const auto sign = lanes_as<int64_vector>(x) & std::numeric_limits<std::int64_t>::min();
  const auto size = lanes_as<double_vector>(lanes_as<int64_vector>(x) ^ sign);
  const int64_vector is_large = size > 1 / border, is_small = size < border;
  const double_vector none = {}, one = 1 - none;
  const double_vector reduced = (is_small   ? size
                                 : is_large ? -one
                                            : size - 1) /
                                (is_small   ? one
                                 : is_large ? size
                                            : size + 1),
                      offset = is_small   ? none
                               : is_large ? 2 * quarter - none
                                          : quarter - none;
  const double_vector value = offset + polynomial(series, reduced * reduced) * reduced;
  return lanes_as<double_vector>(lanes_as<int64_vector>(value) ^ sign);
}

inline double_vector square_root(double_vector x) {
  return lanes_as<double_vector>(instructions::square_root(lanes_as<instructions::doubles>(x)));
}
inline double_vector nearly(functions::rsqrt, double_vector x) { return 1 / square_root(x); }
/// The tangent of half an arc is the sine divided by 1 plus the cosine, which never is a division by zero.
inline double_vector nearly(functions::asin, double_vector x) {
  return where(magnitude_of(x) <= std::bit_cast<std::int64_t>(1.0),
               nearly(functions::atan{}, x / (1 + square_root((1 - x) * (1 + x)))) * 2);
}
inline double_vector nearly(functions::acos, double_vector x) {
  const auto size = lanes_as<double_vector>(magnitude_of(x));
  const double_vector arc = nearly(functions::atan{}, square_root((1 - size) * (1 + size)) / (1 + size)) * 2;
  return where(size <= 1, x < 0 ? std::numbers::pi - arc : arc);
}
/// log(x + sqrt(x^2 + 1)), of which log1p has what is more than 1.
inline double_vector nearly(functions::asinh, double_vector x) {
  const int64_vector size = magnitude_of(x), sign = lanes_as<int64_vector>(x) ^ size;
  const auto a = lanes_as<double_vector>(size);
  const double_vector square = a * a,
                      value = nearly(functions::log1p{}, a + square / (1 + square_root(square + 1)));
  return lanes_as<double_vector>(lanes_as<int64_vector>(value) ^ sign);
}
inline double_vector nearly(functions::acosh, double_vector x) {
  return where(x >= 1, nearly(functions::log1p{}, (x - 1) + square_root((x - 1) * (x + 1))));
}

/// sin and cos of x less the nearest multiple of pi / 2, which is subtracted in two parts of 106 bits
/// together: exactly enough for all floats of at most 2^20. The first terms left out are below 2^-48.
struct sine_and_cosine {
  double_vector sin, cos;
  int64_vector quarters;  // that were subtracted
};
inline sine_and_cosine reduced_sine_and_cosine(double_vector x) {
  static constexpr auto of_sin = series_of_exp<9, 1, -1>(), of_cos = series_of_exp<9, 0, -1>();
  // pi / 2, and what it is more than that double.
  constexpr double quarter = std::numbers::pi / 2, rest_of_quarter = 0x1.1a62633145c07p-54;
  const double_vector shifted = x * (1 / quarter) + 0x1.8p52, quarters = shifted - 0x1.8p52;
  const double_vector above = multiply_add(x, quarters, -quarter - double_vector{}),
                      r = multiply_add(above, quarters, -rest_of_quarter - double_vector{});
  return {polynomial(of_sin, r * r) * r, polynomial(of_cos, r * r), lanes_as<int64_vector>(shifted)};
}
inline int64_vector is_reduced(double_vector x) {
  return magnitude_of(x) <= std::bit_cast<std::int64_t>(0x1p20);
}
inline double_vector with_sign_of_half(double_vector x, int64_vector quarters) {
  return lanes_as<double_vector>(lanes_as<int64_vector>(x) ^ ((quarters & 2) << 62));
}
inline double_vector nearly(functions::sin, double_vector x) {
  const auto [sin, cos, quarters] = reduced_sine_and_cosine(x);
  const int64_vector is_odd = (quarters & 1) != 0;
  return where(is_reduced(x), with_sign_of_half(is_odd ? cos : sin, quarters));
}
inline double_vector nearly(functions::cos, double_vector x) {
  const auto [sin, cos, quarters] = reduced_sine_and_cosine(x);
  const int64_vector is_odd = (quarters & 1) != 0;
  return where(is_reduced(x), with_sign_of_half(is_odd ? sin : cos, quarters + (quarters & 1)));
}
inline double_vector nearly(functions::tan, double_vector x) {
  const auto [sin, cos, quarters] = reduced_sine_and_cosine(x);
  const int64_vector is_odd = (quarters & 1) != 0;
  return where(is_reduced(x), (is_odd ? -cos : sin) / (is_odd ? sin : cos));
}

/// A power of e in double has no more than 4 times the relative error of its argument there, which is below
/// 2^7; e^-x is less than a float beyond.
inline double_vector nearly(functions::silu, double_vector x) {
  const double_vector least = -128 - double_vector{};
  return (least > x ? least : x) / (1 + exponential_of(within(-x, 128)));
}
inline double_vector nearly(functions::gelu_tanh, double_vector x) {
  constexpr double twice_root = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const double_vector least = -16 - double_vector{}, a = within(x, 16);
  return (least > x ? least : x) /
         (1 + exponential_of(within(-twice_root * (a + 0.044715 * a * a * a), 128)));
}
inline double_vector nearly(functions::softplus, double_vector x) {
  const double_vector above = x > 0 ? x : double_vector{},
                      rest = exponential_of(within(-lanes_as<double_vector>(magnitude_of(x)), 128));
  return above + nearly(functions::log1p{}, rest);
}

/// Whether there is an overload of `nearly`. Functions without one are computed one by one where a first look
/// does not decide them.
template <class Function> inline constexpr bool has_values_in_double = requires(double_vector x) {
  nearly(Function{}, x);
};

/// Of the lanes that are not decided decide(x), one by one.
template <class Mask, class Decide>
[[gnu::noinline, gnu::cold]] float_vector decided(float_vector x, float_vector y, const Mask* undecided,
                                                  Decide decide) {
  float numbers[lanes32], results[lanes32];
  std::memcpy(numbers, &x, sizeof numbers);
  std::memcpy(results, &y, sizeof results);
  for (int l = 0; l < lanes32; ++l)
    if (undecided[l] != 0) results[l] = decide(numbers[l]);
  return vector_at<float_vector>(results);
}

inline constexpr auto all_of_lanes = std::make_integer_sequence<int, lanes32>{};

/// The numbers, and in spare lanes the usual one of the function.
template <class Function, class Lanes> inline float_vector usual_in_spare_lanes(float_vector x, Lanes lanes) {
  if constexpr (has_spare_lanes<Lanes>)
    return are_numbers(lanes) ? x : usual_argument<Function> - float_vector{};
  else
    return x;
}

inline constexpr int function_error = 41;  // relative, more than 2^-41 of any of these functions

template <class Function> [[gnu::noinline]] float_vector nearest_by_double(float_vector x) {
  constexpr double error = 1.0 / (std::int64_t{1} << function_error);
  half_float_vector low[2], high[2];
  NARROW_UNROLL for (int h = 0; h < 2; ++h) {
    const double_vector y = nearly(Function{}, wider<double_vector>(half_lanes(x, h, half_of_lanes)));
    low[h] = wider<half_float_vector>(y * (1 - error));
    high[h] = wider<half_float_vector>(y * (1 + error));
  }
  const float_vector least = joined(low[0], low[1], all_of_lanes),
                     most = joined(high[0], high[1], all_of_lanes);
  if (!any_unequal(least, most)) [[likely]]
    return least;
  const int32_vector undecided =
      is_nan(least) | (lanes_as<int32_vector>(least) != lanes_as<int32_vector>(most));
  std::int32_t chosen[lanes32];
  std::memcpy(chosen, &undecided, sizeof chosen);
  return decided(x, least, chosen, function_of<Function>);
}

template <class Function, class Lanes>
inline float_vector apply(lane_function<Function>, float_vector number, Lanes lanes) {
  const float_vector x = usual_in_spare_lanes<Function>(number, lanes);
  if constexpr (requires(float_vector y) { by_pairs(Function{}, x, y); }) {
    float_vector y;
    if (by_pairs(Function{}, x, y)) [[likely]]
      return y;
    return nearest_by_double<Function>(x);
  } else if constexpr (has_values_in_double<Function>) {
    return nearest_by_double<Function>(x);
  } else {
    const int32_vector every_lane = ~int32_vector{};
    std::int32_t chosen[lanes32];
    std::memcpy(chosen, &every_lane, sizeof chosen);
    return decided(x, x, chosen, function_of<Function>);
  }
}

/// Makes floats of the values of a function, still as doubles, with no number of Bits significant bits
/// between a float and its value: what lies between two floats becomes the one with an odd code. Tells the
/// lanes where this is not known, which are those near such a number, and those of subnormal floats, which
/// have fewer bits. (What is below 2^-135 becomes zero in every format of 16 bits.)
template <int Bits> inline int64_vector round_to_side(double_vector& y) {
  using wide = detail::binary64;
  constexpr std::int64_t spacing = std::int64_t{1} << (wide::mantissa_bits + 1 - Bits),
                         margin = std::int64_t{1} << (wide::mantissa_bits - function_error),
                         unit = std::int64_t{1} << (wide::mantissa_bits - detail::binary32::mantissa_bits);
  constexpr auto first_small = std::bit_cast<std::int64_t>(0x1p-135),
                 first_normal = std::bit_cast<std::int64_t>(double(std::numeric_limits<float>::min()));
  const auto code = lanes_as<int64_vector>(y);
  const int64_vector magnitude = magnitude_of(y);
  y = lanes_as<double_vector>((code | unit) & -unit);
  return (((code + margin) & (spacing - 1)) < 2 * margin) |
         ((magnitude >= first_small) & (magnitude < first_normal));
}

/// The function where its nearest float may lie on the other side of a tie, from its values in double. Of x =
/// 0 these are exact, or NaN.
template <class Function, int Bits>
[[gnu::noinline]] float_vector on_side_of_ties(float_vector x, const double_vector (&values)[2]) {
  half_float_vector y[2];
  int64_vector undecided[2];
  NARROW_UNROLL for (int h = 0; h < 2; ++h) {
    const int64_vector is_zero = wider<double_vector>(half_lanes(x, h, half_of_lanes)) == 0,
                       not_exact = ~is_zero | (magnitude_of(values[h]) > infinite_code);
    double_vector side = values[h];
    undecided[h] = round_to_side<Bits>(side) & not_exact;
    y[h] = wider<half_float_vector>(not_exact ? side : values[h]);
  }
  const float_vector result = joined(y[0], y[1], all_of_lanes);
  if (!any_of(undecided[0] | undecided[1])) [[likely]]
    return result;
  std::int64_t chosen[lanes32];
  std::memcpy(chosen, undecided, sizeof chosen);
  return decided(x, result, chosen, function_of<Function, rounding::to_odd>);
}

/// From its values in double. Inlined: as a function of its own it takes a tenth longer.
template <class Function, int Bits>
[[gnu::always_inline]] inline float_vector before_rounding_in_double(float_vector x) {
  constexpr std::int32_t spacing = std::int32_t{1} << (detail::binary32::mantissa_bits + 1 - Bits),
                         margin = 2;  // a nearest float is not as far as that from the exact value
  double_vector values[2];
  half_float_vector y[2];
  NARROW_UNROLL for (int h = 0; h < 2; ++h) {
    values[h] = nearly(Function{}, wider<double_vector>(half_lanes(x, h, half_of_lanes)));
    y[h] = wider<half_float_vector>(values[h]);
  }
  const float_vector result = joined(y[0], y[1], all_of_lanes);
  const int32_vector is_near = ((lanes_as<int32_vector>(result) + margin) & (spacing - 1)) <= 2 * margin;
  if (!any_of(is_near)) [[likely]]
    return result;
  return on_side_of_ties<Function, Bits>(x, values);
}

/// Whether a first look at zero is right.
template <class Function> inline constexpr bool is_right_of_zero = true;
template <> inline constexpr bool is_right_of_zero<functions::rsqrt> = false;

/// Of lanes that a first look has not decided, all but those of which it is right.
template <class Function, int Bits>
[[gnu::noinline]] float_vector looked_at_again(float_vector x, float_vector y, uint32_vector beyond) {
  int32_vector undecided = beyond == 0;
  if constexpr (requires { is_right<Bits>(Function{}, x); })
    undecided &= ~is_right<Bits>(Function{}, x);
  else
    undecided &= x != 0;
  if (!any_of(undecided)) return y;
  if constexpr (!has_values_in_double<Function>) {
    std::int32_t chosen[lanes32];
    std::memcpy(chosen, &undecided, sizeof chosen);
    return decided(x, y, chosen, function_of<Function, rounding::to_odd>);
  } else if constexpr (requires { is_right<Bits>(Function{}, x); }) {
    const float_vector again = undecided ? x : all_lanes_of(usual_argument<Function>);
    return undecided ? before_rounding_in_double<Function, Bits>(again) : y;
  } else {
    return before_rounding_in_double<Function, Bits>(x);
  }
}

template <class Function, int Bits, class Lanes>
inline float_vector apply(lane_function_before_rounding<Function, Bits>, float_vector number, Lanes lanes) {
  const float_vector x = usual_in_spare_lanes<Function>(number, lanes);
  if constexpr (requires { quickly<Bits>(Function{}, x); }) {
    constexpr std::uint32_t margin = quick_error<Bits, Function>,
                            spacing = std::uint32_t{1} << (detail::binary32::mantissa_bits + 1 - Bits);
    const float_vector y = quickly<Bits>(Function{}, x);
    const uint32_vector shifted = lanes_as<uint32_vector>(y) + margin,
                        beyond = uint32_vector{} + (spacing - 2 * margin);
    // Zeros, of which every matrix may have many, need no second look where the first one is right.
    const float_vector looked_at = is_right_of_zero<Function> ? x : all_lanes_of(1);
    if (!any_without(shifted, beyond, looked_at)) [[likely]]
      return y;
    return looked_at_again<Function, Bits>(x, y, shifted & beyond);
  } else {
    return before_rounding_in_double<Function, Bits>(x);
  }
}
