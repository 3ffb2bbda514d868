// Arrays of numbers from one format to another, piece by piece.
#pragma once

#include <array>

#include "../../format/operators.hpp"
#include "encode.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::detail {

/// The nearest integer, ties to even; the nearest one that T has, and for NaN 0.
template <std::integral T, class From> T nearest_integer(const From& x) {
  const auto number = unpack(x);
  using limits = std::numeric_limits<T>;
  const bool negative = number.of == sign::negative;
  if (number.what == kind::nan || number.what == kind::zero) return 0;
  if (number.what == kind::infinite || number.leading() >= limits::digits)
    return negative ? limits::min() : limits::max();
  const auto magnitude = round_to_multiple(number, 0, rounding::nearest_even{});
  constexpr auto max_positive = static_cast<std::uint64_t>(limits::max());
  if (negative) {
    const auto max_negative = limits::is_signed ? max_positive + 1 : 0;
    return magnitude >= max_negative ? limits::min() : static_cast<T>(-static_cast<std::int64_t>(magnitude));
  }
  return magnitude >= max_positive ? limits::max() : static_cast<T>(magnitude);
}

}  // namespace narrow::detail

namespace narrow::inline NARROW_ABI::kernel {

/// Element i into a narrow format, under index first + i step.
template <class From, narrow_scalar To, rounding_policy Round>
void convert_each(const From* from, To* to, std::size_t n, const Round& round, std::uint64_t first,
                  std::uint64_t step) {
  for (std::size_t i = 0; i < n; ++i) to[i] = narrow_cast<To>(from[i], at_element(round, first + i * step));
}

/// Through floats that are rounded to the same numbers; `from` and `to` are not the same memory.
template <class From, narrow_scalar To, rounding_policy Round>
void convert_through_floats(kernel_set t, const From* from, To* to, std::size_t n, const Round& round,
                            std::uint64_t first, std::uint64_t step) {
  constexpr std::size_t piece = 2048;  // which is converted one by one where there is a NaN
  std::array<float, std::same_as<From, float> ? 1 : piece> buffer;
  for (std::size_t i = 0; i < n; i += piece) {
    const std::size_t count = std::min(piece, n - i);
    const float* const floats = float_stand_ins(t, from + i, static_cast<index>(count), buffer.data());
    if (!encode_line<To, typename To::overflow_policy>(t, floats, to + i, static_cast<index>(count), round,
                                                       first + i * step, step))
      convert_each(from + i, to + i, count, round, first + i * step, step);
  }
}

/// Into a built-in type, to nearest even.
template <class From, builtin_arithmetic To>
void convert_to_builtin([[maybe_unused]] kernel_set t, const From* from, To* to, std::size_t n) {
  if constexpr (std::same_as<To, float> && !std::same_as<From, float>) {
    decode(t, from, 1, to, static_cast<index>(n));
  } else if constexpr (std::integral<To> && !std::same_as<To, bool>) {
    for (std::size_t i = 0; i < n; ++i) to[i] = detail::nearest_integer<To>(from[i]);
  } else {
    for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
  }
}

}  // namespace narrow::kernel

NARROW_STRICT_END
