// The bit layout of a binary floating-point format: every constant follows from E, M and the special values.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "../concepts.hpp"
#include "../config.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Sign bit, E exponent bits, M mantissa bits, most significant first.
///
/// A code with exponent field e > 0 is (-1)^s (1 + m / 2^M) 2^(e - bias); with e = 0 it is the subnormal
/// (-1)^s (m / 2^M) 2^min_exponent. `Specials` says which of the top codes are not numbers.
/// Source: IEEE 754-2019 section 3.4; for `fn`, Micikevicius et al., "FP8 formats for deep learning" (2022),
/// section 3.
template <int E, int M, specials Specials> struct layout {
  static constexpr int exponent_bits = E;
  static constexpr int mantissa_bits = M;
  static constexpr int width = 1 + E + M;
  static constexpr specials special_values = Specials;
  using bits_type = uint_at_least<width>;

  static constexpr bits_type ones(int count) { return static_cast<bits_type>((bits_type{1} << count) - 1); }

  static constexpr bits_type mantissa_mask = ones(M);
  static constexpr bits_type exponent_mask = static_cast<bits_type>(ones(E) << M);
  static constexpr bits_type magnitude_mask = ones(E + M);
  static constexpr bits_type sign_mask = static_cast<bits_type>(bits_type{1} << (E + M));
  static constexpr bits_type quiet_bit = static_cast<bits_type>(bits_type{1} << (M - 1));

  static constexpr bool has_infinity = Specials == specials::ieee;
  static constexpr bool has_nan = Specials != specials::none;
  static constexpr bool has_payload = Specials == specials::ieee;  // NaNs differ in sign and mantissa
  static constexpr bool has_negative_zero = Specials != specials::fnuz;

  static constexpr int bias = (1 << (E - 1)) - (Specials == specials::fnuz ? 0 : 1);

  static constexpr bits_type infinity = exponent_mask;  // where there is one
  static constexpr bits_type quiet_nan =                // where there is one
      Specials == specials::ieee ? static_cast<bits_type>(exponent_mask | quiet_bit)
      : Specials == specials::fn ? magnitude_mask
                                 : sign_mask;
  static constexpr bits_type max_finite =
      static_cast<bits_type>(Specials == specials::ieee ? exponent_mask - 1
                             : Specials == specials::fn ? magnitude_mask - 1
                                                        : magnitude_mask);
  static constexpr bits_type min_normal = static_cast<bits_type>(bits_type{1} << M);

  static constexpr int min_exponent = 1 - bias;  // of the smallest normal number
  static constexpr int max_exponent =
      static_cast<int>(max_finite >> M) - bias;         // of the largest finite number
  static constexpr int min_quantum = min_exponent - M;  // of the smallest subnormal

  static constexpr bool is_nan(bits_type bits) {
    const auto magnitude = static_cast<bits_type>(bits & magnitude_mask);
    if constexpr (Specials == specials::ieee) return magnitude > exponent_mask;
    if constexpr (Specials == specials::fn) return magnitude == magnitude_mask;
    if constexpr (Specials == specials::fnuz) return bits == sign_mask;
    return false;
  }
  static constexpr bool is_infinity(bits_type bits) {
    return has_infinity && static_cast<bits_type>(bits & magnitude_mask) == exponent_mask;
  }
  static constexpr bool is_finite(bits_type bits) { return !is_nan(bits) && !is_infinity(bits); }
};

using binary16 = layout<5, 10, specials::ieee>;
using bfloat16 = layout<8, 7, specials::ieee>;
using binary32 = layout<8, 23, specials::ieee>;
using binary64 = layout<11, 52, specials::ieee>;
/// The layout of a float or a double.
template <std::floating_point T> struct layout_of_built_in { using type = binary64; };
template <> struct layout_of_built_in<float> { using type = binary32; };
template <class T> using layout_of_built_in_t = typename layout_of_built_in<T>::type;

/// floor(n log10(2)) for 0 <= n < 10^4; log10(2) = 0.30102999...
constexpr int decimal_digits(int n) {
  return static_cast<int>(static_cast<std::int64_t>(n) * 30103 / 100000);
}

/// The bits of a double that is float's largest number: in block formats finite numbers beyond it count as
/// it.
inline constexpr std::uint64_t largest_float_bits =
    std::bit_cast<std::uint64_t>(double(std::numeric_limits<float>::max()));

/// A float without its sign, as an integer of the same order.
constexpr std::uint32_t magnitude_bits(float x) {
  return std::bit_cast<std::uint32_t>(x) & binary32::magnitude_mask;
}

/// Whether x is a finite number above 0. From its bits: a comparison may not tell a NaN, see
/// NARROW_COMPARES_NANS.
constexpr bool is_positive(float x) { return std::bit_cast<std::uint32_t>(x) - 1 < binary32::infinity - 1; }
constexpr bool is_positive(double x) { return std::bit_cast<std::uint64_t>(x) - 1 < binary64::infinity - 1; }

/// 2^exponent for -149 <= exponent <= 127, the range of float.
constexpr float power_of_two(int exponent) {
  constexpr int lowest = binary32::min_quantum;
  const int normal = exponent - binary32::min_exponent;
  return std::bit_cast<float>(normal >= 0 ? static_cast<std::uint32_t>(normal + 1) << binary32::mantissa_bits
                                          : std::uint32_t{1} << (exponent - lowest));
}

}  // namespace narrow::detail
