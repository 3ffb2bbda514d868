// Functions of programs of lanes on vectors (see functions.hpp); included once in the namespace of an
// instruction set by simd/vector_kernels.inl. No include guard, on purpose.
//
// A function is computed in double with a known error. Where that decides what the exact value is rounded to,
// this is the result; the few lanes for which it does not go one by one to function_of, which knows more (A.
// Ziv, "Fast evaluation of elementary mathematical functions with correctly rounded last bit", 1991). So all
// instruction sets give the same bits.
// Of the floating-point exceptions, those of the roundings to float on either side of the exact value are
// raised.

inline double_vector multiply_add(double_vector sum, double_vector a, double_vector b) {
  using lanes = instructions::doubles;
  return reinterpret_cast<double_vector>(instructions::multiply_add(
      reinterpret_cast<lanes>(sum), reinterpret_cast<lanes>(a), reinterpret_cast<lanes>(b)));
}

/// c[0] + c[1] x + c[2] x^2 + ...
template <std::size_t Terms>
inline double_vector polynomial(const std::array<double, Terms>& c, double_vector x) {
  double_vector sum = c[Terms - 1] - double_vector{};
  NARROW_UNROLL for (int n = static_cast<int>(Terms) - 2; n >= 0; --n) sum =
      multiply_add(c[static_cast<std::size_t>(n)] - double_vector{}, sum, x);
  return sum;
}

/// e^x for |x| <= 128, as 2^(x / ln 2): the integer of the exponent is added to that of a double, and a
/// series gives the rest. The exponent errs by less than 2^-45.3, the first term that the series leaves out
/// is below 2^-47: together a relative error below 2^-45.
inline double_vector exponential_of(double_vector x) {
  static constexpr auto series = series_of_exp2<12>();
  const double_vector exponent = x * std::numbers::log2e,
                      shifted = exponent + 0x1.8p52;  // the integer in its lowest bits
  const double_vector power = polynomial(series, exponent - (shifted - 0x1.8p52));
  constexpr int mantissa_bits = detail::binary64::mantissa_bits;
  const auto scale = lanes_as<double_vector>((lanes_as<int64_vector>(shifted) << mantissa_bits) +
                                             (std::int64_t{detail::binary64::bias} << mantissa_bits));
  return power * scale;
}
inline double_vector within(double_vector x, double bound) {
  const double_vector most = bound - double_vector{};
  return x > most ? most : x < -most ? -most : x;
}

/// Beyond 128 every power of e is zero or infinite as a float.
inline double_vector nearly(detail::functions::exp, double_vector x) {
  return exponential_of(within(x, 128));
}

/// What a value between -1 and 1 may not seem to reach, at a distance from 1 that all of float's other
/// numbers have many times over.
constexpr double less_than_one = 1 - 0x1p-30;

inline double_vector nearly(detail::functions::logistic, double_vector x) {
  return within(1 / (1 + exponential_of(within(-x, 128))), less_than_one);
}

/// By its series near zero, where the first term left out is below 2^-47 of the first one; elsewhere as (e^2x
/// - 1) / (e^2x + 1), which has no more than 4 times the error of e^2x, and which beyond 64 is 1 or -1.
inline double_vector nearly(detail::functions::tanh, double_vector x) {
  static constexpr auto series = series_of_tanh<9>();
  constexpr double border = 0.25;
  const double_vector power = exponential_of(within(x, 64) * 2), elsewhere = (power - 1) / (power + 1),
                      near_zero = polynomial(series, x * x) * x;
  const int64_vector is_near = (x < border) & (x > -border);
  return is_near ? near_zero : within(elsewhere, less_than_one);
}

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

template <class Vector, int... L>
inline auto half_lanes(const Vector& x, int first, std::integer_sequence<int, L...>) {
  return first == 0 ? __builtin_shufflevector(x, x, L...)
                    : __builtin_shufflevector(x, x, (int{sizeof...(L)} + L)...);
}
inline constexpr auto half_of_lanes = std::make_integer_sequence<int, lanes32 / 2>{};
inline constexpr auto all_of_lanes = std::make_integer_sequence<int, lanes32>{};

inline constexpr int function_error = 41;  // relative, more than 2^-41 of any of these functions

template <class Function, class Lanes>
inline float_vector apply(lane_function<Function>, float_vector x, Lanes) {
  constexpr double error = 1.0 / (std::int64_t{1} << function_error);
  half_float_vector low[2], high[2];
  NARROW_UNROLL for (int h = 0; h < 2; ++h) {
    const double_vector y = nearly(Function{}, wider<double_vector>(half_lanes(x, h, half_of_lanes)));
    low[h] = wider<half_float_vector>(y * (1 - error));
    high[h] = wider<half_float_vector>(y * (1 + error));
  }
  const float_vector least = joined(low[0], low[1], all_of_lanes),
                     most = joined(high[0], high[1], all_of_lanes);
  const int32_vector undecided = lanes_as<int32_vector>(least) != lanes_as<int32_vector>(most);
  if (!any_of(undecided)) [[likely]]
    return least;
  std::int32_t chosen[lanes32];
  std::memcpy(chosen, &undecided, sizeof chosen);
  return decided(x, least, chosen, function_of<Function>);
}

/// Values of a function, as doubles that are floats, on the same side of all numbers with Bits significant
/// bits: those between two floats become the odd one. Which of them are not decided, or subnormal floats,
/// which have fewer bits? Below half of the least number of a format of 16 bits all are rounded to zero.
template <int Bits> inline int64_vector round_to_side(double_vector& y) {
  using wide = detail::binary64;
  constexpr std::int64_t spacing = std::int64_t{1} << (wide::mantissa_bits + 1 - Bits),
                         margin = std::int64_t{1} << (wide::mantissa_bits - function_error),
                         unit = std::int64_t{1} << (wide::mantissa_bits - detail::binary32::mantissa_bits);
  constexpr auto first_small = std::bit_cast<std::int64_t>(0x1p-135),
                 first_normal = std::bit_cast<std::int64_t>(double{std::numeric_limits<float>::min()});
  const auto code = lanes_as<int64_vector>(y);
  const int64_vector magnitude = code & std::numeric_limits<std::int64_t>::max();
  y = lanes_as<double_vector>((code | unit) & -unit);
  return (((code + margin) & (spacing - 1)) < 2 * margin) |
         ((magnitude >= first_small) & (magnitude < first_normal));
}

/// The function where floats do not tell for all lanes, of its values in double.
template <class Function, int Bits>
[[gnu::noinline]] float_vector on_side_of_ties(float_vector x, const double_vector (&values)[2]) {
  half_float_vector y[2];
  int64_vector undecided[2];
  NARROW_UNROLL for (int h = 0; h < 2; ++h) {
    const int64_vector not_exact =
        wider<double_vector>(half_lanes(x, h, half_of_lanes)) != 0;  // of zero it is
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

template <class Function, int Bits, class Lanes>
inline float_vector apply(lane_function_before_rounding<Function, Bits>, float_vector x, Lanes) {
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
