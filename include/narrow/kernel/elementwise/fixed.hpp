// Programs of lanes over fixed-point numbers: vectors of their mantissas, integers of 32 bits. Each operation
// gives the numbers of the format, rounded once, as the operators in format/operators.hpp do.
#pragma once

#include <algorithm>
#include <cmath>

#include "../../math.hpp"
#include "functions.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// The mantissa of one number for all elements.
struct lane_mantissa {
  std::int32_t value;
};
inline lane_mantissa on_line(const lane_mantissa& x, index) { return x; }
template <narrow_fixed T> lane_mantissa on_line(const lane_number_per_line<T>& x, index l) {
  return {x.from[l * x.line_step].bits()};
}

/// Op, an operation of program.hpp, on numbers of T, or on one and a factor or an addend.
template <class Op, narrow_fixed T> struct lane_fixed {};
/// The mantissa of 1 in T, or of the largest number where there is none.
template <narrow_fixed T> inline constexpr std::int32_t one_of = T(1).bits();
/// The number as a float.
template <narrow_fixed T> struct lane_value {};

/// A number that is divided by numbers, or that they are divided by, not rounded to their format.
struct lane_dividend {
  double value;
};
struct lane_divisor {
  double value;
};
inline lane_dividend on_line(const lane_dividend& x, index) { return x; }
inline lane_divisor on_line(const lane_divisor& x, index) { return x; }

/// What an operation of one number gives, one at a time, as mantissas.
template <narrow_fixed T, class Function>
NARROW_KERNEL std::int32_t one_by_one(lane_function<Function>, std::int32_t mantissa) {
  return detail::function_of<Function>(T::from_bits(static_cast<typename T::bits_type>(mantissa))).bits();
}
template <narrow_fixed T> NARROW_KERNEL std::int32_t one_by_one(lane_root, std::int32_t mantissa) {
  return sqrt(T::from_bits(static_cast<typename T::bits_type>(mantissa))).bits();
}
template <narrow_fixed T> NARROW_KERNEL std::int32_t one_by_one(lane_dividend x, std::int32_t mantissa) {
  return T(detail::literal(x.value) / T::from_bits(static_cast<typename T::bits_type>(mantissa))).bits();
}
template <narrow_fixed T> NARROW_KERNEL std::int32_t one_by_one(lane_divisor x, std::int32_t mantissa) {
  return T(T::from_bits(static_cast<typename T::bits_type>(mantissa)) / detail::literal(x.value)).bits();
}

/// Modes in which results are rounded in lanes.
template <class Round>
inline constexpr bool has_lane_rounding = std::same_as<Round, rounding::nearest_even> || is_other_mode<Round>;

/// Formats whose products, too, are computed in lanes: those of mantissas have less than 32 bits.
template <class T> inline constexpr bool multiplied_in_lanes = false;
template <narrow_fixed T>
requires(T::word_length <= 16) inline constexpr bool multiplied_in_lanes<T> = true;
/// Formats that are so multiplied by any factor, divided, and what functions are rounded to: of a wrapping
/// result the last digits count.
template <class T> inline constexpr bool scaled_in_lanes = false;
template <narrow_fixed T>
requires(multiplied_in_lanes<T>&& std::same_as<
         typename T::overflow_policy, overflow::saturate>) inline constexpr bool scaled_in_lanes<T> = true;

/// A number by which mantissas are multiplied, not rounded to their format.
struct lane_factor {
  double value;
  std::int32_t digits;  // value = digits 2^-places, where that is short: products then fit 30 bits; or zero
  int places;
  bool fits;  // its product with a mantissa has no more digits than a double
};
inline lane_factor on_line(const lane_factor& x, index) { return x; }

/// x with a magnitude from `least` to `most`, or zero; it is told by its bits, which flush-to-zero does not
/// change.
inline double within_magnitudes(double x, double least, double most) {
  const auto bits = std::bit_cast<std::uint64_t>(x) & ~detail::binary64::sign_mask;
  if (bits == 0 || detail::binary64::is_nan(bits)) return 0;
  return std::copysign(std::clamp(std::bit_cast<double>(bits), least, most), x);
}

/// The factor for numbers of T that saturate; as NaN they are 0. One of 2^(WL - 1), which carries every
/// number but 0 out of the range, stands for all beyond it, and one so small that every product is below half
/// a unit.
template <narrow_fixed T> lane_factor factor_of(double factor) {
  constexpr int wl = T::word_length;
  const double value = within_magnitudes(factor, std::ldexp(1.0, -wl - 2), std::ldexp(1.0, wl - 1));
  if (value == 0) return {0, 0, 0, true};
  // |value| = digits 2^-places with odd digits, or none behind the point.
  using layout = detail::binary64;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t significand = (bits & layout::mantissa_mask) | layout::min_normal;
  const auto exponent = static_cast<int>((bits & layout::exponent_mask) >> layout::mantissa_bits);
  const int last_place = layout::mantissa_bits + layout::bias - exponent,
            zeros = std::min(std::countr_zero(significand), last_place), places = last_place - zeros;
  const std::uint64_t digits = significand >> zeros;
  const bool fits = std::countr_zero(significand) >= wl - 1;
  if (places > 30 || digits > std::uint64_t{1} << (30 - wl)) return {value, 0, 0, fits};
  return {value, static_cast<std::int32_t>(digits) * (value < 0 ? -1 : 1), places, fits};
}

/// A number that is added to mantissas, not rounded to their format.
struct lane_addend {
  static constexpr int fraction_bits = 8;

  std::int32_t parts;  // units of 2^-fraction_bits of a mantissa, rounded to odd
  std::int32_t mask;   // of the mantissa: 0 where the sum is NaN, which is stored as 0
};
inline lane_addend on_line(const lane_addend& x, index) { return x; }

/// The addend for numbers of T that saturate. One that carries every number out of the range stands for all
/// such; of digits behind the point it only counts whether they are less than half a unit, half or more.
template <narrow_fixed T> lane_addend addend_of(double addend) {
  if (detail::binary64::is_nan(std::bit_cast<std::uint64_t>(addend))) return {0, 0};
  constexpr int shift = T::fraction_length + lane_addend::fraction_bits;
  const double least = std::ldexp(1.0, -shift - 1),
               most = std::ldexp(1.0, T::word_length + 1 - T::fraction_length);
  const double parts = std::ldexp(within_magnitudes(addend, least, most), shift), floor = std::floor(parts);
  return {static_cast<std::int32_t>(floor) | (floor != parts ? 1 : 0), -1};
}

}  // namespace narrow::kernel

NARROW_STRICT_END
