// Short ways to the same bits, for results rounded to nearest even: a conversion by integer arithmetic on the
// code of a normal number, and an operation on numbers of at most 11 significant bits by that of float.
#pragma once

#include "one_number.hpp"
#include "pack.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Numbers that are normal in the wider layout From and become normal ones of To, as magnitudes of their
/// codes.
template <class To, class From> struct rounding_of_normals {
  using word = typename From::bits_type;

  static constexpr int dropped_bits = From::mantissa_bits - To::mantissa_bits;
  static constexpr word half = word{1} << (dropped_bits - 1);  // of a unit in To's last place
  static constexpr word rebias = static_cast<word>(From::bias - To::bias) << To::mantissa_bits;
  /// The least normal number of To; with From's exponents, zero and subnormals are rounded as normal ones
  /// are.
  static constexpr int lowest_exponent = rebias == 0 ? 0 : To::min_exponent + From::bias;
  static constexpr word lowest = word{lowest_exponent} << From::mantissa_bits;
  /// Where rounding may leave the finite numbers.
  static constexpr word end = ((To::max_finite + rebias) << dropped_bits) + half;

  static constexpr bool has(word magnitude) { return magnitude - lowest < end - lowest; }
  /// Whether the number with this magnitude becomes a zero or a subnormal number of To, or its least normal
  /// one.
  static constexpr bool is_below(word magnitude) { return magnitude < lowest; }
  /// The code of such a number. A subnormal number of From is less than half of To's least one.
  static constexpr typename To::bits_type round_below(word code) {
    constexpr word one = word{1} << From::mantissa_bits;
    const word magnitude = code & From::magnitude_mask;
    const int shift = dropped_bits + lowest_exponent - static_cast<int>(magnitude >> From::mantissa_bits);
    if (shift > From::mantissa_bits + 1) return zero(code);
    const word significand = (magnitude & (one - 1)) | one;
    const word kept = (significand + (word{1} << (shift - 1)) - 1 + (significand >> shift & 1)) >> shift;
    return kept == 0 ? zero(code) : static_cast<typename To::bits_type>(sign(code) | kept);
  }
  /// The code, sign and all, of the number with this code of From. A carry out of the mantissa adds 1 to the
  /// exponent, as it must.
  static constexpr typename To::bits_type round(word code) {
    const word odd = code >> dropped_bits & 1;
    if constexpr (rebias == 0) {
      return static_cast<typename To::bits_type>((code + (half - 1) + odd) >> dropped_bits);
    } else {
      const word magnitude = ((code & From::magnitude_mask) + (half - 1) + odd) >> dropped_bits;
      return static_cast<typename To::bits_type>(sign(code) | (magnitude - rebias));
    }
  }

 private:
  static constexpr word sign(word code) { return code >> (From::width - To::width) & To::sign_mask; }
  static constexpr typename To::bits_type zero(word code) {
    return static_cast<typename To::bits_type>(To::has_negative_zero ? sign(code) : 0);
  }
};

constexpr bool is_zero(float x) { return magnitude_bits(x) == 0; }

/// IEEE 754-2019 binary16, between which and float processors with F16C convert.
template <class Layout> inline constexpr bool is_binary16 = std::same_as<Layout, binary16>;

/// What becomes a number of a format by nearest_code.
template <class T, class Round>
concept has_short_way = (std::same_as<T, float> || std::same_as<T, double> ||
                         std::integral<T>)&&std::same_as<Round, rounding::nearest_even>;

/// The code of the number of a format that is nearest to x, ties to even: by integer arithmetic.
template <class Layout, std::floating_point T, overflow_policy Overflow>
constexpr typename Layout::bits_type computed_nearest_code(T x, Overflow overflow) {
  using from = layout_of_built_in_t<T>;
  if constexpr (from::mantissa_bits > Layout::mantissa_bits) {
    using normals = rounding_of_normals<Layout, from>;
    const auto code = std::bit_cast<typename from::bits_type>(x);
    if (normals::has(code & from::magnitude_mask)) [[likely]]
      return normals::round(code);
    if (normals::is_below(code & from::magnitude_mask)) return normals::round_below(code);
  }
  return pack_code<Layout>(unpack(x), rounding::nearest_even{}, overflow);
}
/// The same where there is no short way: not inlined, and so in nobody's way.
template <class Layout, std::floating_point T, overflow_policy Overflow>
[[gnu::noinline, gnu::cold]] inline typename Layout::bits_type nearest_code_elsewhere(T x,
                                                                                      Overflow overflow) {
  return computed_nearest_code<Layout>(x, overflow);
}
/// The same; of a number that the compiler knows, by the compiler, which inlines no more than this.
template <class Layout, std::floating_point T, overflow_policy Overflow>
[[gnu::always_inline]] constexpr typename Layout::bits_type nearest_code(T x, Overflow overflow) {
  using from = layout_of_built_in_t<T>;
  if constexpr (from::mantissa_bits > Layout::mantissa_bits) {
    if (!std::is_constant_evaluated()) {
      using normals = rounding_of_normals<Layout, from>;
      const auto code = std::bit_cast<typename from::bits_type>(x);
      const auto magnitude = static_cast<typename from::bits_type>(code & from::magnitude_mask);
#if defined(__x86_64__)
      if constexpr (is_binary16<Layout> && std::same_as<T, float> && std::same_as<Overflow, overflow::ieee>) {
        if (__builtin_constant_p(x) && (code == 0 || normals::has(magnitude)))
          return code == 0 ? 0 : normals::round(code);
        if (converts_binary16()) [[likely]]
          return static_cast<typename Layout::bits_type>(to_binary16(x));
        return nearest_code_elsewhere<Layout>(x, overflow);
      }
#endif
      if (normals::has(magnitude)) [[likely]]
        return normals::round(code);
      if (__builtin_constant_p(magnitude) && normals::is_below(magnitude)) return normals::round_below(code);
      return nearest_code_elsewhere<Layout>(x, overflow);
    }
  }
  return computed_nearest_code<Layout>(x, overflow);
}

/// The same of an integer: of one that float holds by way of that.
template <class Layout, std::integral T, overflow_policy Overflow>
[[gnu::always_inline]] constexpr typename Layout::bits_type nearest_code(T x, Overflow overflow) {
  if (has_digits<binary32::mantissa_bits + 1>(x)) [[likely]] {
    const auto value = static_cast<float>(static_cast<std::int32_t>(x));
    if constexpr (Layout::mantissa_bits < binary32::mantissa_bits) {
      using normals = rounding_of_normals<Layout, binary32>;
      if constexpr (normals::rebias == 0) return normals::round(std::bit_cast<std::uint32_t>(value));
    }
    return nearest_code<Layout>(value, overflow);
  }
  return pack_code<Layout>(unpack(x), rounding::nearest_even{}, overflow);
}

/// A number that the compiler knows nothing about: under -ffast-math it takes a result for finite, and a
/// divisor for one whose reciprocal will do.
template <std::floating_point T> inline T opaque(T x) {
  asm("" : NARROW_FLOAT_OPERAND(x));
  return x;
}

/// Formats of which a single number becomes a float, or is rounded to, in a few instructions: binary16 by
/// those of the processor, bfloat16 by a shift.
template <class Layout> inline constexpr bool is_bfloat16 = std::same_as<Layout, bfloat16>;
template <class Layout> constexpr bool is_quick() {
#if defined(__x86_64__)
  return is_bfloat16<Layout> || is_binary16<Layout>;
#else
  return is_bfloat16<Layout>;
#endif
}
/// Whether the two functions below may be called.
template <class Layout> [[gnu::always_inline]] inline bool may_be_quick() {
#if defined(__x86_64__)
  if constexpr (is_binary16<Layout>) return converts_binary16();
#endif
  return true;
}
/// Whether the processor has operations on numbers of Layout themselves.
template <class Layout> [[gnu::always_inline]] inline bool computes_directly() {
  if constexpr (is_binary16<Layout>) return computes_binary16();
  return false;
}
/// The number with this code; of a signalling NaN such a one.
template <class Layout> [[gnu::always_inline]] inline float quick_value(typename Layout::bits_type code) {
  constexpr int dropped = binary32::mantissa_bits - Layout::mantissa_bits;
#if defined(__x86_64__)
  if constexpr (is_binary16<Layout>) {
    // A number that the compiler knows, it decodes.
    const std::uint32_t magnitude = code & std::uint32_t{Layout::magnitude_mask},
                        sign = (code & std::uint32_t{Layout::sign_mask}) << (binary32::width - Layout::width);
    constexpr auto rebias = static_cast<std::uint32_t>(binary32::bias - Layout::bias)
                            << binary32::mantissa_bits;
    const bool is_normal = magnitude - Layout::min_normal <= Layout::max_finite - Layout::min_normal;
    if (__builtin_constant_p(code) && (is_normal || magnitude == 0))
      return std::bit_cast<float>(sign | (is_normal ? (magnitude << dropped) + rebias : 0));
    return from_binary16(code);
  }
  if constexpr (is_bfloat16<Layout>)
    if (!__builtin_constant_p(code)) return from_bfloat16(code);
#endif
  return std::bit_cast<float>(std::uint32_t{code} << dropped);
}
/// The code of a number that is finite, to nearest even, or of infinity where that overflows.
template <class Layout> [[gnu::always_inline]] inline std::uint32_t quick_code(float x) {
#if defined(__x86_64__)
  if constexpr (is_binary16<Layout>) return to_binary16(x);
  if constexpr (is_bfloat16<Layout>)
    if (!__builtin_constant_p(x)) return to_bfloat16(x);
#endif
  return rounding_of_normals<Layout, binary32>::round(std::bit_cast<std::uint32_t>(x));
}
/// The root of a number as a float, rounded in whichever mode.
#if defined(__x86_64__)
inline constexpr bool has_quick_root = true;
[[gnu::always_inline]] inline float quick_root(float x) { return root_in_register(x); }
#else
inline constexpr bool has_quick_root = false;
float quick_root(float);
#endif
/// Whether a normal number lies half-way between two of Layout, which no root of one does: there it is the
/// rounding that brought a float, and anywhere else the float and the root are on the same side.
template <class Layout> [[gnu::always_inline]] inline bool is_half_way(float x) {
  constexpr std::uint32_t unit = 1u << (binary32::mantissa_bits - Layout::mantissa_bits);
  return (std::bit_cast<std::uint32_t>(x) & (unit - 1)) == unit / 2;
}

/// Floats which decide what a sum, a difference, a product or a quotient of two numbers of Layout is rounded
/// to, whatever the rounding mode and the flushing of the floating-point environment.
///
/// With p <= 11 significant bits of the 24 that a float has, its operation is exact or errs by less
/// than the distance of the exact result from the nearest point half-way between two numbers of p bits:
///   a + b   exact if the exponents are at most 12 apart; or else |b| is less than a quarter of a unit in the last place
///           of a, and by as much less as one of its own last place, which a float still has
///   a b     2 p bits, exact
///   a / b   x / y = m with x, y of p bits and m of p + 1 or |x - m y| >= 1 in units of their last places together, so
///           that |x / y - m| >= 2^-2p of the quotient's exponent: a unit of float's last place is half of it
/// (Figueroa, "When is double rounding innocuous?", 1995, has the condition 2 p + 2 <= 24 for rounding to
/// nearest.) Where the format has subnormals that float has not as normal numbers, they may have counted as
/// zero: a float some binades above them is the same either way.
template <class Layout> struct deciding_floats {
  static constexpr bool exist = 2 * (Layout::mantissa_bits + 1) + 2 <= binary32::mantissa_bits + 1;
  static constexpr bool may_flush = Layout::min_quantum < binary32::min_exponent;
  static constexpr std::uint32_t lowest =
      may_flush ? (Layout::mantissa_bits + 3u) << binary32::mantissa_bits : 1;

  /// Neither a zero, whose sign follows the rounding mode, nor an infinity or a NaN.
  static constexpr bool have(float x) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x) & binary32::magnitude_mask;
    return magnitude - lowest < binary32::infinity - lowest;
  }
};

/// Whether the nearest double below or above an exact value, or that value itself, decides what it is rounded
/// to in Layout. Numbers half-way between two of the format are doubles: so the value lies on the same side
/// of each of them as the double does, unless the double is one. Subnormal numbers of the format are left
/// out.
template <class Layout> constexpr bool is_decided_by_double(double x) {
  constexpr int dropped = binary64::mantissa_bits - Layout::mantissa_bits;
  constexpr std::uint64_t unit = std::uint64_t{1} << dropped,
                          lowest = static_cast<std::uint64_t>(Layout::min_exponent + binary64::bias)
                                   << binary64::mantissa_bits;
  const std::uint64_t magnitude = std::bit_cast<std::uint64_t>(x) & binary64::magnitude_mask;
  return magnitude - lowest < binary64::infinity - lowest && (magnitude & (unit - 1)) != unit / 2;
}

}  // namespace narrow::detail
