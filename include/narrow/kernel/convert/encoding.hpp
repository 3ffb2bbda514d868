// What the kernels that convert codes need to know of a format.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "../../format/operators.hpp"
#include "../../runtime/environment.hpp"
#include "../../simd/kernel_table.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// Codes of T are those of floating<E, M>.
template <class T, int E, int M> inline constexpr bool coded_as = false;
template <int E, int M, class Round, class Overflow>
inline constexpr bool coded_as<floating<E, M, specials::ieee, Round, Overflow>, E, M> = true;
template <class T> inline constexpr bool coded_as_fp16 = coded_as<T, 5, 10>;
template <class T> inline constexpr bool coded_as_bf16 = coded_as<T, 8, 7>;

/// Whether there are kernels for the codes of T: not where they are those of float.
template <class T> inline constexpr bool has_coder = false;
template <narrow_float T>
inline constexpr bool has_coder<T> = (T::layout::mantissa_bits < detail::binary32::mantissa_bits);

/// Formats with coders whose upper bit is the sign of every number, zeros too.
template <class T> inline constexpr bool has_plain_sign = false;
template <class T>
requires has_coder<T>
inline constexpr bool has_plain_sign<T> = T::layout::has_negative_zero;

/// The member for codes of this size.
template <class T>
inline constexpr auto coder = sizeof(T) == 1   ? &kernel_table::codes8
                              : sizeof(T) == 2 ? &kernel_table::codes16
                                               : &kernel_table::codes32;

/// The values of all codes of an 8-bit format.
template <class T>
inline constexpr auto decoded = [] {
  std::array<float, 256> values{};
  for (unsigned code = 0; code < values.size(); ++code)
    values[code] = static_cast<float>(T::from_bits(static_cast<typename T::bits_type>(code)));
  return values;
}();
/// The values of all codes of an 8-bit format as bf16, which holds them exactly.
template <class T>
inline constexpr auto decoded_bf16 = [] {
  std::array<std::uint16_t, 256> values{};
  for (unsigned code = 0; code < values.size(); ++code)
    values[code] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(decoded<T>[code]) >> 16);
  return values;
}();

/// Whether numbers of T, of 8 bits, are decoded as fp16: their fields fit in its own, and what an exponent
/// field of ones means there has no finite numbers.
template <class T> inline constexpr bool has_fields_of_fp16 = false;
template <narrow_float T>
requires(sizeof(T) == 1) inline constexpr bool has_fields_of_fp16<T> =
    T::layout::exponent_bits < detail::binary16::exponent_bits || coded_as<T, 5, 2>;

template <class T> constexpr fp16_fields fp16_fields_of() {
  if constexpr (!has_fields_of_fp16<T>) {
    return {};
  } else {
    using layout = typename T::layout;
    using half = detail::binary16;
    constexpr int up = half::mantissa_bits - layout::mantissa_bits;
    constexpr int first_special = (layout::max_finite + 1) << up;
    return {.unused_bits = 8 - layout::width,
            .lacking_bits = half::exponent_bits - layout::exponent_bits,
            .mask = static_cast<std::uint16_t>(half::sign_mask | layout::magnitude_mask << up),
            .last_finite = static_cast<std::int16_t>(first_special - 1),
            .special_bits =
                layout::max_finite == layout::magnitude_mask
                    ? std::uint16_t{0}
                    : static_cast<std::uint16_t>(first_special ^
                                                 (layout::has_payload ? half::infinity : half::quiet_nan)),
            .factor = detail::power_of_two(half::bias - layout::bias)};
  }
}

/// What a format's `decode` needs to know of it.
template <narrow_float T> constexpr decoding decoding_of() {
  using layout = typename T::layout;
  using single = detail::binary32;
  return {.dropped_bits = single::mantissa_bits - layout::mantissa_bits,
          .sign_shift = layout::exponent_bits + layout::mantissa_bits,
          .factor = detail::power_of_two(single::bias - layout::bias),
          .magnitude_mask = layout::magnitude_mask,
          .max_code = layout::max_finite,
          .infinity = layout::has_infinity ? std::uint32_t{layout::infinity} : ~std::uint32_t{0},
          .payload_mask = layout::has_payload ? std::uint32_t{single::mantissa_mask} : 0,
          .as_bf16 =
              [] {
                if constexpr (sizeof(T) == 1)
                  return decoded_bf16<T>.data();
                else
                  return nullptr;
              }(),
          .as_fp16 = fp16_fields_of<T>()};
}

/// What a format's `encode` needs to know of it.
template <narrow_float T, class Overflow> constexpr encoding encoding_of() {
  using layout = typename T::layout;
  using single = detail::binary32;
  const auto code_of = [](float x) -> std::uint32_t {
    return narrow_cast<T>(x, rounding::nearest_even{}, Overflow{}).bits();
  };
  constexpr int dropped = single::mantissa_bits - layout::mantissa_bits;
  // Adding it to a number below the normal ones leaves a multiple of the smallest one in the last bit.
  constexpr int magic_exponent = layout::min_quantum + single::mantissa_bits;
  constexpr std::uint32_t last_code = code_of(std::numeric_limits<float>::max());
  static_assert(last_code - layout::max_finite <= 1);
  constexpr auto rebias = static_cast<std::uint32_t>(single::bias - layout::bias) << layout::mantissa_bits;
  return {.dropped_bits = dropped,
          .half = std::uint32_t{1} << (dropped - 1),
          .rebias = rebias,
          .min_normal = static_cast<std::uint32_t>(layout::min_exponent + single::bias)
                        << single::mantissa_bits,
          .magic = detail::power_of_two(magic_exponent),
          .last_code = last_code,
          .last_bits = layout::exponent_bits < single::exponent_bits ? (last_code + rebias) << dropped : 0,
          .sign_shift = layout::exponent_bits + layout::mantissa_bits,
          .zero_sign = code_of(-0.0f),
          .is_upper_half = dropped == 16 && layout::exponent_bits == 8 &&
                           code_of(std::numeric_limits<float>::infinity()) == layout::max_finite + 1};
}

/// Modes that kernels round in, besides to nearest even and stochastically.
template <class Round>
inline constexpr bool is_other_mode =
    std::same_as<Round, rounding::nearest_away> || std::same_as<Round, rounding::toward_zero> ||
    std::same_as<Round, rounding::upward> || std::same_as<Round, rounding::downward> ||
    std::same_as<Round, rounding::to_odd>;

/// What `encode` needs to know of such a mode.
template <narrow_float T, class Overflow, class Round>
requires is_other_mode<Round>
constexpr other_mode mode_of() {
  using layout = typename T::layout;
  constexpr std::uint32_t all = ~std::uint32_t{0};
  // Where there is no -0 its code is NaN's, which has no magnitude. None of these numbers becomes a zero.
  const auto magnitude_of = [](float x) -> std::uint32_t {
    const std::uint32_t code = narrow_cast<T>(x, Round{}, Overflow{}).bits(),
                        magnitude = code & layout::magnitude_mask;
    return magnitude != 0 ? magnitude : code;
  };
  constexpr float most = std::numeric_limits<float>::max();
  return {.half_unit = std::same_as<Round, rounding::nearest_away> ? all : 0,
          .unit_if_positive = std::same_as<Round, rounding::upward> ? all : 0,
          .unit_if_negative = std::same_as<Round, rounding::downward> ? all : 0,
          .sticky = std::same_as<Round, rounding::to_odd>,
          .last_positive = magnitude_of(most),
          .last_negative = magnitude_of(-most),
          .infinity = magnitude_of(std::numeric_limits<float>::infinity())};
}

}  // namespace narrow::kernel

NARROW_STRICT_END
