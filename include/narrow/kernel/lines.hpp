// Lines of numbers from one format to another by the kernels of the instruction set in use.
#pragma once

#include "isa.hpp"
#include "packing.hpp"
#include "quantize.hpp"

NARROW_STRICT_BEGIN

namespace narrow::kernel {

/// to[i] = from[i], rounded to nearest even. False if there is no kernel for it, or something is NaN; then
/// what `to` holds means nothing.
template <class T, class Overflow> bool encode(const float* from, T* to, index n) {
  if constexpr (narrow_float<T> && sizeof(T) <= 2) {
    kernel_set t = dispatch::instance().kernels();
    if constexpr (coded_as_fp16<T> && std::same_as<Overflow, overflow::ieee>) {
      const auto kernel = t.get<&kernel_table::float_to_fp16>();
      if (kernel) kernel(from, to, n);
      return kernel != nullptr;
    } else if (const auto kernel =
                   t.get < sizeof(T) == 1 ? &kernel_table::encode8 : &kernel_table::encode16 > ()) {
      static constexpr encoding e = encoding_of<T, Overflow>();
      return kernel(from, to, n, e);
    }
  }
  return false;
}

/// The same, stochastically: number i under index first + i. False, too, if these indices have two keys.
template <class T, class Overflow>
bool encode_stochastic(const float* from, T* to, index n, std::uint64_t seed, std::uint64_t first) {
  if constexpr (narrow_float<T> && sizeof(T) <= 2) {
    kernel_set t = dispatch::instance().kernels();
    const auto kernel =
        t.get < sizeof(T) == 1 ? &kernel_table::encode8_stochastic : &kernel_table::encode16_stochastic > ();
    if (kernel && first >> 32 == (first + static_cast<std::uint64_t>(n)) >> 32) {
      static constexpr encoding e = encoding_of<T, Overflow>();
      return kernel(from, to, n, e, detail::random_key(seed, first), static_cast<std::uint32_t>(first));
    }
  }
  return false;
}

/// to[i] = from[i], rounded by the policy, number i under index first + i. False if there is no kernel for
/// it; then what `to` holds means nothing.
template <class T, class Overflow, class Round>
bool encode_fixed(const float* from, T* to, index n, const Round& round, std::uint64_t first) {
  if constexpr (narrow_fixed<T> && std::same_as<Overflow, overflow::saturate>) {
    using element = typename T::bits_type;
    if (const auto kernel = portable::line_kernel<element, Round>()) {
      constexpr double end = std::uint64_t{1} << (T::word_length - 1);
      quantization how{.inverse = static_cast<double>(std::uint64_t{1} << T::fraction_length),
                       .lowest = -end,
                       .highest = end - 1};
      const portable::line_rounding<Round> line(round, first, 1, n);
      if (!line.describe(how.draws)) return false;
      kernel(from, static_cast<element*>(static_cast<void*>(to)), {.n = n}, how);
      return true;
    }
  }
  return false;
}

/// The same for all formats and policies.
template <class T, class Overflow, class Round>
bool encode_line(const float* from, T* to, index n, const Round& round, std::uint64_t first) {
  if constexpr (narrow_fixed<T>)
    return encode_fixed<T, Overflow>(from, to, n, round, first);
  else if constexpr (std::same_as<Round, rounding::stochastic>)
    return encode_stochastic<T, Overflow>(from, to, n, round.seed(), round.offset() + first);
  else if constexpr (std::same_as<Round, rounding::nearest_even>)
    return encode<T, Overflow>(from, to, n);
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

inline const float* float_stand_ins(const float* from, index, float*) { return from; }
template <narrow_scalar From> const float* float_stand_ins(const From* from, index n, float* buffer) {
  decode(dispatch::instance().kernels(), from, 1, buffer, n);
  return buffer;
}
/// Rounded to odd: toward zero, and where that is inexact the last bit is set.
NARROW_KERNEL inline const float* float_stand_ins(const double* from, index n, float* buffer) {
  constexpr double largest = std::numeric_limits<float>::max();
  for (index i = 0; i < n; ++i) {
    const double x = from[i];
    double held = x > largest ? largest : x;
    held = held < -largest ? -largest : held;
    const auto nearest = static_cast<float>(held);
    const double back = nearest;
    auto bits = std::bit_cast<std::int32_t>(nearest);
    bits -= (held < 0 ? back < held : back > held) ? 1 : 0;
    bits |= back != held ? 1 : 0;
    buffer[i] = std::bit_cast<float>(bits);
  }
  return buffer;
}

}  // namespace narrow::kernel

NARROW_STRICT_END
