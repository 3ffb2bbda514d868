// Functions of programs of lanes on vectors (see functions.hpp); included once in the namespace of an
// instruction set by simd/vector_kernels.inl. No include guard, on purpose.
//
// A function is computed in double with a known error. If all that the exact value may be is rounded to the
// same float, that is the result; the few lanes for which it is not go one by one to the C library's function
// in double (A. Ziv, "Fast evaluation of elementary mathematical functions with correctly rounded last bit",
// 1991). So all instruction sets give the same bits.
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
inline double_vector nearly(exponential, double_vector x) { return exponential_of(within(x, 128)); }

inline double_vector nearly(logistic, double_vector x) { return 1 / (1 + exponential_of(within(-x, 128))); }

/// By its series near zero, where the first term left out is below 2^-47 of the first one; elsewhere as (e^2x
/// - 1) / (e^2x + 1), which has no more than 4 times the error of e^2x, and which beyond 64 is 1 or -1 as a
/// float.
inline double_vector nearly(hyperbolic_tangent, double_vector x) {
  static constexpr auto series = series_of_tanh<9>();
  constexpr double border = 0.25;
  const double_vector power = exponential_of(within(x, 64) * 2), elsewhere = (power - 1) / (power + 1),
                      near_zero = polynomial(series, x * x) * x;
  const int64_vector is_near = (x < border) & (x > -border);
  return is_near ? near_zero : elsewhere;
}

/// Of the lanes that are not decided the function, one by one.
template <class Function>
[[gnu::noinline, gnu::cold]] void decide(const float* x, const std::int32_t* undecided, float* y) {
  for (int l = 0; l < lanes32; ++l)
    if (undecided[l] != 0) y[l] = function_of<Function>(x[l]);
}

template <class Vector, int... L>
inline auto half_lanes(const Vector& x, int first, std::integer_sequence<int, L...>) {
  return first == 0 ? __builtin_shufflevector(x, x, L...)
                    : __builtin_shufflevector(x, x, (int{sizeof...(L)} + L)...);
}

template <class Function, class Lanes>
inline float_vector apply(lane_function<Function>, float_vector x, Lanes) {
  constexpr double error = 0x1p-41;  // more than a function has
  constexpr auto half = std::make_integer_sequence<int, lanes32 / 2>{};
  constexpr auto all = std::make_integer_sequence<int, lanes32>{};
  half_float_vector low[2], high[2];
  NARROW_UNROLL for (int h = 0; h < 2; ++h) {
    const double_vector y = nearly(Function{}, wider<double_vector>(half_lanes(x, h, half)));
    low[h] = wider<half_float_vector>(y * (1 - error));
    high[h] = wider<half_float_vector>(y * (1 + error));
  }
  const float_vector least = joined(low[0], low[1], all), most = joined(high[0], high[1], all);
  const int32_vector undecided = lanes_as<int32_vector>(least) != lanes_as<int32_vector>(most);
  if (!any_of(undecided)) [[likely]]
    return least;
  float numbers[lanes32], results[lanes32];
  std::int32_t chosen[lanes32];
  std::memcpy(numbers, &x, sizeof numbers);
  std::memcpy(results, &least, sizeof results);
  std::memcpy(chosen, &undecided, sizeof chosen);
  decide<Function>(numbers, chosen, results);
  return vector_at<float_vector>(results);
}
