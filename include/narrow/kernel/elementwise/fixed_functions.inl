// Functions and quotients of fixed-point numbers (see fixed.hpp), of formats that are scaled_in_lanes;
// included once in the namespace of an instruction set by simd/vector_kernels.inl. No include guard, on
// purpose.
//
// They are computed in double, as functions.inl has them, or where that tells enough in float, and rounded
// once from there. Where a number at which the rounding changes lies within the error, lanes are computed one
// by one.

/// Results beyond the range as one that is beyond it and is near no number at which the rounding changes. NaN
/// stays NaN.
template <class T> inline double_vector saturated(double_vector x) {
  return within(x, static_cast<double>(std::int32_t{1} << (T::word_length - 1)) + 0.25);
}
/// Numbers in two halves, rounded to integers that are mantissas of T.
template <class T> inline int32_vector rounded_mantissas(const double_vector (&x)[2]) {
  using round = typename T::round_policy;
  return in_range<T>(joined(
      __builtin_convertvector(rounded_integers<round>(x[0]) << 32 >> 32, half_int32_vector),
      __builtin_convertvector(rounded_integers<round>(x[1]) << 32 >> 32, half_int32_vector), all_of_lanes));
}
/// Whether numbers that err by less than 2^-20 are rounded as the exact ones are; not where they are NaN.
template <class Round> inline int64_vector is_decided(double_vector x) {
  constexpr double margin = 0x1p-20;
  const double_vector rest = x - ((x + 0x1.8p52) - 0x1.8p52);
  const auto distance = lanes_as<double_vector>(magnitude_of(rest));
  if constexpr (std::same_as<Round, rounding::nearest_even> || std::same_as<Round, rounding::nearest_away>)
    return distance <= 0.5 - margin;
  else
    return distance >= margin;
}

/// The value of an operation in double.
template <class Function> inline double_vector value_of(lane_function<Function>, double_vector x) {
  return nearly(Function{}, x);
}
/// Of negative numbers, as of what is no number, zero.
inline double_vector value_of(lane_root, double_vector x) { return square_root(larger(x, double_vector{})); }
template <class Op> inline constexpr bool has_value = requires(double_vector x) { value_of(Op{}, x); };
template <class Function>
inline constexpr bool has_value<lane_function<Function>> = has_values_in_double<Function>;

/// Results, but those that are not decided one by one.
template <class T, class Op>
[[gnu::noinline, gnu::cold]] int32_vector computed_one_by_one(Op op, int32_vector x, int32_vector results,
                                                              int32_vector decided) {
  for (int l = 0; l < lanes32; ++l)
    if (decided[l] == 0) results[l] = one_by_one<T>(op, x[l]);
  return results;
}
template <class T, class Op>
inline int32_vector rounded_where_decided(Op op, int32_vector x, const double_vector (&results)[2],
                                          const int64_vector (&decided)[2]) {
  const int32_vector rounded = rounded_mantissas<T>(results);
  if (!any_of(~(decided[0] & decided[1]))) [[likely]]
    return rounded;
  return computed_one_by_one<T>(op, x, rounded,
                                joined(__builtin_convertvector(decided[0], half_int32_vector),
                                       __builtin_convertvector(decided[1], half_int32_vector), all_of_lanes));
}
/// Of 1 in units of T.
template <class T>
inline constexpr double units_of_one = static_cast<double>(std::uint32_t{1} << T::fraction_length);

/// An operation of mantissas of T, which are these floats.
template <class T, class Op>
[[gnu::noinline]] int32_vector fixed_function(int32_vector mantissas, float_vector numbers) {
  if constexpr (!has_value<Op>) {
    return computed_one_by_one<T>(Op{}, mantissas, mantissas, int32_vector{});
  } else {
    double_vector results[2];
    int64_vector decided[2];
    NARROW_UNROLL for (int h = 0; h < 2; ++h) {
      const auto x = wider<double_vector>(half_lanes(numbers, h, half_of_lanes));
      results[h] = saturated<T>(value_of(Op{}, x) * units_of_one<T>);
      decided[h] = is_decided<typename T::round_policy>(results[h]);
    }
    return rounded_where_decided<T>(Op{}, mantissas, results, decided);
  }
}

/// Functions of floats for ties of so many bits, as fp16 has them: these are all ties of mantissas up to
/// 2^(quick_bits - 1).
inline constexpr int quick_bits = detail::binary16::mantissa_bits + 2;
template <class Function> inline constexpr bool has_quick_value = requires(float_vector x) {
  quickly<quick_bits>(Function{}, x);
};
template <class T, class Function, class Lanes>
inline int32_vector apply(lane_fixed<lane_function<Function>, T>, int32_vector x, Lanes lanes) {
  const float_vector numbers = usual_in_spare_lanes<Function>(apply(lane_value<T>{}, x, lanes), lanes);
  if constexpr (has_quick_value<Function> && std::same_as<typename T::round_policy, rounding::nearest_even>) {
    constexpr auto unit = static_cast<float>(units_of_one<T>),
                   end = static_cast<float>(1 << (quick_bits - 1));
    const float_vector value =
        apply(lane_function_before_rounding<Function, quick_bits>{}, numbers, lanes) * unit;
    const int32_vector is_large =
        (lanes_as<int32_vector>(value) & std::int32_t{magnitude_mask}) >= std::bit_cast<std::int32_t>(end);
    if (!any_of(is_large)) [[likely]]
      return in_range<T>(lanes_as<int32_vector>(value + next_to_whole) -
                         std::bit_cast<std::int32_t>(next_to_whole));
  }
  return fixed_function<T, lane_function<Function>>(x, numbers);
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_root, T>, int32_vector x, Lanes lanes) {
  return fixed_function<T, lane_root>(x, apply(lane_value<T>{}, x, lanes));
}

/// Whether a quotient of numbers, in units of the last place, is rounded from its float as it is from the
/// exact one: what is not half-way between two numbers, or one, is 2^-WL from all of these at least, and the
/// float errs by less than 2^(WL - 25) where it is in the range.
template <class T> inline constexpr bool divided_in_floats = 2 * T::word_length < 25;

/// Rounded from double otherwise, as a quotient of so few bits is half-way between two numbers where its
/// double is. By zero the largest number of the sign, and 0 / 0, which is no number, is zero.
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_quotient, T>, int32_vector a, int32_vector b, Lanes) {
  constexpr std::int32_t beyond = std::int32_t{1} << (T::word_length - 1);
  const int32_vector by_zero = b == 0;
  const float_vector above = __builtin_convertvector(a, float_vector),
                     below = __builtin_convertvector(by_zero ? int32_vector{} + 1 : b, float_vector);
  const int32_vector largest = in_range<T>((a > 0 ? int32_vector{} + beyond : int32_vector{}) +
                                           (a < 0 ? int32_vector{} - beyond : int32_vector{}));
  if constexpr (divided_in_floats<T>) {
    constexpr float end = beyond + 0.25f;
    const float_vector quotient = above * static_cast<float>(units_of_one<T>) / below;
    const int32_vector rounded = rounded_integers<typename T::round_policy>(between(-end, quotient, end));
    return by_zero ? largest : in_range<T>(rounded);
  }
  double_vector results[2];
  NARROW_UNROLL for (int h = 0; h < 2; ++h) {
    results[h] = saturated<T>(wider<double_vector>(half_lanes(above, h, half_of_lanes)) * units_of_one<T> /
                              wider<double_vector>(half_lanes(below, h, half_of_lanes)));
  }
  return by_zero ? largest : rounded_mantissas<T>(results);
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_inverse, T>, int32_vector x, Lanes lanes) {
  return apply(lane_fixed<lane_quotient, T>{}, one_of<T> - int32_vector{}, x, lanes);
}

template <class Lanes> inline lane_dividend at(const lane_dividend& x, index, Lanes) { return x; }
template <class Lanes> inline lane_divisor at(const lane_divisor& x, index, Lanes) { return x; }

/// Quotients, saturated, and whether they are exact or rounded as the exact ones are.
template <class T>
inline int64_vector divide(double_vector above, double_vector below, double_vector& quotient) {
  const double_vector exact = above / below;
  const double_vector rest = lanes_as<double_vector>(instructions::multiply_add(
      lanes_as<instructions::doubles>(above), lanes_as<instructions::doubles>(-exact),
      lanes_as<instructions::doubles>(below)));
  quotient = saturated<T>(exact);
  return (rest == 0) | is_decided<typename T::round_policy>(quotient);
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_quotient, T>, const lane_divisor& divisor, int32_vector x, Lanes) {
  const auto numbers = __builtin_convertvector(x, float_vector);
  double_vector results[2];
  int64_vector decided[2];
  NARROW_UNROLL for (int h = 0; h < 2; ++h) decided[h] =
      divide<T>(wider<double_vector>(half_lanes(numbers, h, half_of_lanes)), divisor.value - double_vector{},
                results[h]);
  return rounded_where_decided<T>(divisor, x, results, decided);
}
inline int32_vector one_in_spare_lanes(int32_vector x, all_lanes) { return x; }
template <class Lanes> inline int32_vector one_in_spare_lanes(int32_vector x, Lanes lanes) {
  return are_numbers(lanes) ? x : 1 - int32_vector{};
}
/// By zeros one by one.
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_quotient, T>, const lane_dividend& dividend, int32_vector x,
                          Lanes lanes) {
  const auto numbers = __builtin_convertvector(one_in_spare_lanes(x, lanes), float_vector);
  constexpr double units = units_of_one<T> * units_of_one<T>;
  const double_vector above = dividend.value * units - double_vector{};
  double_vector results[2];
  int64_vector decided[2];
  NARROW_UNROLL for (int h = 0; h < 2; ++h) {
    const auto below = wider<double_vector>(half_lanes(numbers, h, half_of_lanes));
    const int64_vector is_zero = below == 0;
    decided[h] = divide<T>(above, is_zero ? 1 - double_vector{} : below, results[h]) & ~is_zero;
  }
  return rounded_where_decided<T>(dividend, x, results, decided);
}
