// Programs of lanes over fixed-point numbers (see fixed.hpp); included once in the namespace of an
// instruction set by simd/vector_kernels.inl. No include guard, on purpose.

/// Mantissas in memory.
template <narrow_fixed T> inline int32_vector mantissas(const void* from) {
  return lanes_as<int32_vector>(instructions::load_signed<sizeof(T)>(from));
}
template <narrow_fixed T> inline void store_numbers(void* to, const int32_vector& x) {
  store_lower<sizeof(T)>(to, x);
}

template <narrow_fixed T> inline int32_vector at(const lane_numbers<T>& x, index i, all_lanes) {
  return mantissas<T>(x.from + i);
}
template <narrow_fixed T> inline int32_vector at(const lane_numbers<T>& x, index i, first_lanes lanes) {
  detail::uint_at_least<8 * sizeof(T)> some[lanes32];
  read_part(some, x.from + i, lanes.count * index{sizeof(T)});
  return mantissas<T>(some);
}
template <narrow_fixed T> inline int32_vector at(const lane_spread_numbers<T>& x, index i, all_lanes) {
  const T* const from = x.from + i * x.step;
  if (x.step == 1) return mantissas<T>(from);
  const auto some = gathered(from, x.step, std::make_integer_sequence<int, lanes32>{});
  return mantissas<T>(&some);
}
template <narrow_fixed T>
inline int32_vector at(const lane_spread_numbers<T>& x, index i, first_lanes lanes) {
  const auto some = gathered(x.from + i * x.step, x.step, lanes);
  return mantissas<T>(&some);
}
template <class Lanes> inline int32_vector at(const lane_mantissa& x, index, Lanes) {
  return x.value - int32_vector{};
}
template <class Lanes> inline lane_factor at(const lane_factor& x, index, Lanes) { return x; }
template <class Lanes> inline lane_addend at(const lane_addend& x, index, Lanes) { return x; }

/// What T makes of results, which are integers.
template <class T> inline int32_vector in_range(int32_vector x) {
  if constexpr (std::same_as<typename T::overflow_policy, overflow::saturate>) {
    constexpr std::int32_t most = (std::int32_t{1} << (T::word_length - 1)) - 1, least = -1 - most;
    return smaller(larger(x, int32_vector{} + least), int32_vector{} + most);
  } else {
    constexpr int above = 32 - T::word_length;
    return lanes_as<int32_vector>(lanes_as<uint32_vector>(x) << above) >> above;
  }
}

/// x 2^-places, rounded to an integer; x and a unit more are less than 2^31.
template <class Round> inline int32_vector rounded_shift(int32_vector x, int places) {
  const std::int32_t unit = std::int32_t{1} << places, half = unit / 2;
  if constexpr (std::same_as<Round, rounding::nearest_even>)
    return places == 0 ? x : (x + (half - 1) + ((x >> places) & 1)) >> places;
  else if constexpr (std::same_as<Round, rounding::nearest_away>)
    return places == 0 ? x : (x + half + (x >> 31)) >> places;
  else if constexpr (std::same_as<Round, rounding::toward_zero>)
    return (x + ((x >> 31) & (unit - 1))) >> places;
  else if constexpr (std::same_as<Round, rounding::upward>)
    return (x + (unit - 1)) >> places;
  else if constexpr (std::same_as<Round, rounding::downward>)
    return x >> places;
  else
    return (x >> places) | (((x & (unit - 1)) != 0) & 1);
}

using uint64_vector [[gnu::vector_size(vector_bytes)]] = std::uint64_t;

/// Numbers rounded to integers: doubles below 2^31, of which they are the lower half of each lane, or floats
/// below 2^22.
template <class Round, class Vector> inline auto rounded_integers(Vector x) {
  static_assert(has_lane_rounding<Round>);
  constexpr bool are_floats = std::same_as<Vector, float_vector>;
  using whole_numbers = std::conditional_t<are_floats, int32_vector, int64_vector>;
  constexpr std::conditional_t<are_floats, float, double> shift = are_floats ? 0x1.8p23 : 0x1.8p52;
  const Vector sum = x + shift;
  auto result = lanes_as<whole_numbers>(sum);  // the nearest ones, in the lower bits
  if constexpr (are_floats) result -= std::bit_cast<std::int32_t>(float{shift});
  if constexpr (!std::same_as<Round, rounding::nearest_even>) {
    const Vector rest = x - (sum - shift);  // from -1/2 to 1/2
    const whole_numbers above = rest > 0, below = rest < 0, negative = x < 0, odd = -(result & 1);
    if constexpr (std::same_as<Round, rounding::nearest_away>)
      result += ((rest == -0.5) & negative) - ((rest == 0.5) & ~negative);
    else if constexpr (std::same_as<Round, rounding::toward_zero>)
      result += (below & ~negative) - (above & negative);
    else if constexpr (std::same_as<Round, rounding::upward>)
      result -= above;
    else if constexpr (std::same_as<Round, rounding::downward>)
      result += below;
    else
      result += (below & ~odd) - (above & ~odd);
  }
  return result;
}

/// A product of a number and a factor, rounded to odd in its last digit where it has more digits than a
/// double, so that rounding to an integer afterwards gives what one rounding gives.
inline double_vector product_to_odd(double_vector x, double factor) {
  const double_vector by = factor - double_vector{}, product = uncontracted(x * by);
  const double_vector rest = lanes_as<double_vector>(
      instructions::multiply_add(lanes_as<instructions::doubles>(-product),
                                 lanes_as<instructions::doubles>(x), lanes_as<instructions::doubles>(by)));
  const int64_vector inexact = rest != 0, bits = lanes_as<int64_vector>(product),
                     beyond = inexact & ((lanes_as<int64_vector>(rest) ^ bits) >> 63);
  return lanes_as<double_vector>((bits + beyond) | (inexact & 1));
}

template <class Round> inline int64_vector rounded_product(double_vector x, const lane_factor& factor) {
  if (factor.fits) [[likely]]
    return rounded_integers<Round>(uncontracted(x * factor.value));
  return rounded_integers<Round>(product_to_odd(x, factor.value));
}
/// In double, the lanes of even places and those of odd ones. Behind a sign and the exponent of 2^52 stands
/// an integer as it is.
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_product, T>, const lane_factor& factor, int32_vector x, Lanes) {
  using round = typename T::round_policy;
  if (factor.digits != 0) return in_range<T>(rounded_shift<round>(x * factor.digits, factor.places));
  constexpr std::uint64_t lower = ~std::uint32_t{0}, exponent = std::bit_cast<std::uint64_t>(0x1p52);
  const uint64_vector from_least = lanes_as<uint64_vector>(lanes_as<uint32_vector>(x) ^ 0x8000'0000u),
                      even = (from_least & lower) | exponent, odd = (from_least >> 32) | exponent;
  constexpr double least = 0x1p52 + 0x1p31;
  const auto a = lanes_as<uint64_vector>(
                 rounded_product<round>(lanes_as<double_vector>(even) - least, factor)),
             b = lanes_as<uint64_vector>(
                 rounded_product<round>(lanes_as<double_vector>(odd) - least, factor));
  return in_range<T>(lanes_as<int32_vector>((a & lower) | (b << 32)));
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_sum, T>, const lane_addend& addend, int32_vector x, Lanes) {
  constexpr int places = lane_addend::fraction_bits;
  const int32_vector numbers = x & addend.mask;
  if (addend.parts % (1 << places) == 0) return in_range<T>(numbers + (addend.parts >> places));
  return in_range<T>(rounded_shift<typename T::round_policy>(numbers * (1 << places) + addend.parts, places));
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_difference, T>, const lane_addend& addend, int32_vector x,
                          Lanes lanes) {
  return apply(lane_fixed<lane_sum, T>{}, addend, -x, lanes);
}

/// a + b or a - b, which has a bit more than the numbers.
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_sum, T>, int32_vector a, int32_vector b, Lanes) {
  return in_range<T>(a + b);
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_difference, T>, int32_vector a, int32_vector b, Lanes) {
  return in_range<T>(a - b);
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_product, T>, int32_vector a, int32_vector b, Lanes) {
  return in_range<T>(rounded_shift<typename T::round_policy>(a * b, T::fraction_length));
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_square, T>, int32_vector a, Lanes lanes) {
  return apply(lane_fixed<lane_product, T>{}, a, a, lanes);
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_cube, T>, int32_vector a, Lanes lanes) {
  const int32_vector square = apply(lane_fixed<lane_square, T>{}, a, lanes);
  return apply(lane_fixed<lane_product, T>{}, square, a, lanes);
}
/// The integers of numbers, rounded as this says.
template <class Round, class T> inline int32_vector rounded_to_whole(int32_vector a) {
  return in_range<T>(rounded_shift<Round>(a, T::fraction_length) * (1 << T::fraction_length));
}
template <class T, class Lanes> inline int32_vector apply(lane_fixed<lane_floor, T>, int32_vector a, Lanes) {
  return rounded_to_whole<rounding::downward, T>(a);
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_ceiling, T>, int32_vector a, Lanes) {
  return rounded_to_whole<rounding::upward, T>(a);
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_nearest_away, T>, int32_vector a, Lanes) {
  return rounded_to_whole<rounding::nearest_away, T>(a);
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_nearest_even, T>, int32_vector a, Lanes) {
  return rounded_to_whole<rounding::nearest_even, T>(a);
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_negative, T>, int32_vector a, Lanes) {
  return in_range<T>(-a);
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_absolute, T>, int32_vector a, Lanes) {
  return in_range<T>(a < 0 ? -a : a);
}
/// A mantissa as a float, which has as many digits.
template <class T, class Lanes> inline float_vector apply(lane_value<T>, int32_vector a, Lanes) {
  constexpr float unit = 1 / static_cast<float>(std::uint32_t{1} << T::fraction_length);
  return __builtin_convertvector(a, float_vector) * unit;
}

// Comparisons and extremes are those of integers.
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_smaller, T>, int32_vector a, int32_vector b, Lanes) {
  return smaller(a, b);
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_larger, T>, int32_vector a, int32_vector b, Lanes) {
  return larger(a, b);
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_less, T>, int32_vector a, int32_vector b, Lanes) {
  return a < b;
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_not_greater, T>, int32_vector a, int32_vector b, Lanes) {
  return a <= b;
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_equal, T>, int32_vector a, int32_vector b, Lanes) {
  return a == b;
}
template <class T, class Lanes>
inline int32_vector apply(lane_fixed<lane_unequal, T>, int32_vector a, int32_vector b, Lanes) {
  return a != b;
}
