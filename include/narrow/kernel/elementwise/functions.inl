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

/// Of the lanes that are not decided the function, one by one.
template <class Function, class Round, class Mask>
[[gnu::noinline, gnu::cold]] float_vector decide(float_vector x, float_vector y, const Mask* undecided) {
  float numbers[lanes32], results[lanes32];
  std::memcpy(numbers, &x, sizeof numbers);
  std::memcpy(results, &y, sizeof results);
  for (int l = 0; l < lanes32; ++l)
    if (undecided[l] != 0) results[l] = function_of<Function, Round>(numbers[l]);
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
inline float_vector apply(lane_function<Function, rounding::nearest_even>, float_vector x, Lanes) {
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
  return decide<Function, rounding::nearest_even>(x, least, chosen);
}

/// Numbers which as floats are subnormal, to multiples of the least of these, an odd one for those between
/// two. Which of them may be such a multiple?
inline int64_vector round_small_to_odd(double_vector& y) {
  static_assert(detail::binary32::min_quantum + detail::binary64::mantissa_bits == -97);
  constexpr double error = 1.0 / (std::int64_t{1} << function_error), magic = 0x1p-97;
  const auto sign = lanes_as<int64_vector>(y) & std::numeric_limits<std::int64_t>::min();
  const auto magnitude = lanes_as<double_vector>(lanes_as<int64_vector>(y) ^ sign);
  const double_vector sum = magnitude + magic, nearest = sum - magic, distance = nearest - magnitude;
  const int64_vector below = lanes_as<int64_vector>(sum) + (nearest > magnitude);  // a comparison gives -1
  y = lanes_as<double_vector>(lanes_as<int64_vector>(lanes_as<double_vector>(below | 1) - magic) | sign);
  return (distance <= magnitude * error) & (distance >= -magnitude * error);
}

/// Values of a function at x as floats, inexact ones to odd. Which of them are not decided?
inline int64_vector round_to_odd(double_vector x, double_vector y, half_float_vector& to) {
  using single = detail::binary32;
  constexpr int dropped = detail::binary64::mantissa_bits - single::mantissa_bits;
  constexpr std::int64_t unit = std::int64_t{1} << dropped,
                         margin = std::int64_t{1} << (detail::binary64::mantissa_bits - function_error);
  constexpr double largest = std::numeric_limits<float>::max(), beyond = largest * (1 + 0x1p-26);
  const double_vector kept = within(y, beyond);
  const auto code = lanes_as<int64_vector>(kept);
  int64_vector undecided = ((code + margin) & (unit - 1)) < 2 * margin;
  auto odd = lanes_as<double_vector>((code | unit) & -unit);
  const double smallest = std::numeric_limits<float>::min();
  const int64_vector is_small = (kept < smallest) & (kept > -smallest);
  if (any_of(is_small)) [[unlikely]] {
    double_vector small = kept;
    const int64_vector undecided_small = round_small_to_odd(small);
    odd = is_small ? small : odd;
    undecided = is_small ? undecided_small : undecided;
  }
  const int64_vector exact = x == 0, number = (x <= largest) & (x >= -largest);
  to = wider<half_float_vector>(exact ? y : odd);
  return (undecided & ~exact) | ~number;
}

template <class Function, class Lanes>
inline float_vector apply(lane_function<Function, rounding::to_odd>, float_vector x, Lanes) {
  half_float_vector y[2];
  int64_vector undecided[2];
  NARROW_UNROLL for (int h = 0; h < 2; ++h) {
    const auto wide = wider<double_vector>(half_lanes(x, h, half_of_lanes));
    undecided[h] = round_to_odd(wide, nearly(Function{}, wide), y[h]);
  }
  const float_vector result = joined(y[0], y[1], all_of_lanes);
  if (!any_of(undecided[0] | undecided[1])) [[likely]]
    return result;
  std::int64_t chosen[lanes32];
  std::memcpy(chosen, undecided, sizeof chosen);
  return decide<Function, rounding::to_odd>(x, result, chosen);
}
