// Lines of floats to other formats, by kernels.
#pragma once

#include <cstring>

#include "../../simd/dispatch.hpp"
#include "decode.hpp"
#include "line_rounding.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

// What encodes is false if there is no kernel for it, or something is NaN; then what `to` holds means
// nothing.

/// The codes of a tile of floats, to nearest even.
template <class T, class Overflow>
bool encode(kernel_set t, const float* from, const tile_shape& shape, T* to) {
  if constexpr (has_coder<T>) {
    if constexpr (coded_as_fp16<T> && std::same_as<Overflow, overflow::ieee>) {
      const auto kernel = t.get<&kernel_table::float_to_fp16>();
      if (kernel) kernel(from, shape, to);
      return kernel != nullptr;
    } else if (const auto kernel = t.get<coder<T>, &code_kernels::encode>()) {
      static constexpr encoding e = encoding_of<T, Overflow>();
      return kernel(from, shape, to, e);
    }
  }
  return false;
}

/// The same in another mode.
template <class T, class Overflow, class Round>
bool encode_in_mode(kernel_set t, const float* from, const tile_shape& shape, T* to) {
  if constexpr (has_coder<T>) {
    if (const auto kernel = t.get<coder<T>, &code_kernels::encode_in_mode>()) {
      static constexpr encoding e = encoding_of<T, Overflow>();
      static constexpr other_mode mode = mode_of<T, Overflow, Round>();
      return kernel(from, shape, to, e, mode);
    }
  }
  return false;
}

/// The codes of a line of floats, stochastically.
template <class T, class Overflow>
bool encode_stochastic(kernel_set t, const float* from, T* to, index n, const element_draws& draws) {
  if constexpr (has_coder<T>) {
    if (const auto kernel = t.get<coder<T>, &code_kernels::encode_stochastic>()) {
      static constexpr encoding e = encoding_of<T, Overflow>();
      return kernel(from, to, n, e, draws);
    }
  }
  return false;
}

/// The mantissas of a line of floats, rounded to nearest even, toward zero or stochastically.
template <class T, class Overflow, class Round>
bool encode_fixed([[maybe_unused]] kernel_set t, const float* from, T* to, index n,
                  const element_draws& draws) {
  if constexpr (narrow_fixed<T> && std::same_as<Overflow, overflow::saturate>) {
    using element = typename T::bits_type;
    if (const auto kernel = integer_encoder<element, Round>(t)) {
      constexpr double end = std::uint64_t{1} << (T::word_length - 1);
      constexpr double inverse = std::uint64_t{1} << T::fraction_length;
      const strided_lines line{.n = n};
      kernel(from, static_cast<element*>(static_cast<void*>(to)), line,
             {.lowest = -end, .highest = end - 1, .draws = draws}, block_runs::one(line), &inverse);
      return true;
    }
  }
  return false;
}

/// to[i] = from[i], rounded by the policy, number i under index first + i step. False, too, if these indices
/// have two keys.
template <class T, class Overflow, class Round>
bool encode_line(kernel_set t, const float* from, T* to, index n, const Round& round, std::uint64_t first,
                 std::uint64_t step = 1) {
  element_draws draws;
  if (!portable::line_rounding<Round>(round, first, step, n).describe(draws)) return false;
  if constexpr (narrow_fixed<T>)
    return encode_fixed<T, Overflow, Round>(t, from, to, n, draws);
  else if constexpr (std::same_as<Round, rounding::stochastic>)
    return encode_stochastic<T, Overflow>(t, from, to, n, draws);
  else if constexpr (std::same_as<Round, rounding::nearest_even>)
    return encode<T, Overflow>(t, from, tile_shape::line(n), to);
  else if constexpr (is_other_mode<Round>)
    return encode_in_mode<T, Overflow, Round>(t, from, tile_shape::line(n), to);
  else
    return false;
}

/// Whether a number of type From has a float that rounds to the same T: every narrow number that is one; a
/// double where T has two bits less than a float, and a tie in T is none of what was cut off.
template <class From, class T, class Round>
inline constexpr bool has_float_stand_in = std::same_as<From, float>;
template <narrow_scalar From, class T, class Round>
inline constexpr bool has_float_stand_in<From, T, Round> = std::same_as<typename From::carrier, float>;
template <narrow_float T>
inline constexpr bool has_float_stand_in<double, T, rounding::nearest_even> =
    T::layout::mantissa_bits + 2 <= detail::binary32::mantissa_bits&& T::layout::min_quantum >=
    detail::binary32::min_quantum + 2;
template <narrow_fixed T>
inline constexpr bool has_float_stand_in<double, T, rounding::nearest_even> =
    T::word_length + 2 <= std::numeric_limits<float>::digits;

inline const float* float_stand_ins(kernel_set, const float* from, index, float*) { return from; }
template <narrow_scalar From>
const float* float_stand_ins(kernel_set t, const From* from, index n, float* buffer) {
  decode(t, from, 1, buffer, n);
  return buffer;
}
/// Rounded to odd: toward zero, and where that is inexact the last bit is set. NaN stays one whatever its
/// comparisons give: converted, it is quiet, and the float before that is a NaN, too.
inline const float* float_stand_ins(kernel_set, const double* from, index n, float* buffer) {
  for (index i = 0; i < n; ++i) {
    const double x = from[i];
    const auto nearest = static_cast<float>(x);  // or infinite, before which there is the largest number
    const auto back = static_cast<double>(nearest);
    auto bits = std::bit_cast<std::int32_t>(nearest);
    bits -= (x < 0 ? back < x : back > x) ? 1 : 0;
    bits |= back != x ? 1 : 0;
    buffer[i] = std::bit_cast<float>(bits);
  }
  return buffer;
}

}  // namespace narrow::kernel

NARROW_STRICT_END
