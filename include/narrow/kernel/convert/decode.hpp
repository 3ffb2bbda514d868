// Lines of narrow numbers as what kernels compute with: floats, bf16, pairs of bf16, integers.
#pragma once

#include <algorithm>

#include "../../simd/dispatch.hpp"
#include "encoding.hpp"
#include "integers.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// Whether float has all numbers of a fixed-point format.
template <class T> inline constexpr bool is_float_with_unit = false;
template <narrow_fixed T>
inline constexpr bool is_float_with_unit<T> = std::same_as<typename T::carrier, float>;

/// The kernel that makes integers floats and multiplies them by a scale: here the unit in the last place.
template <class T> auto unit_kernel(kernel_set t) {
  using integer = typename T::bits_type;
  return integer_kernel<integer, &quantize_kernels<integer>::dequantize>(t);
}

// decode(t, from, stride, to, n): to[i] = from[i * stride] as an element of `to`, for i < n.

template <class T> void decode(kernel_set t, const T* from, index stride, float* to, index n) {
  if constexpr (std::same_as<T, float>)
    if (stride == 1) {
      std::copy_n(from, n, to);
      return;
    }
  if constexpr (has_coder<T> || is_float_with_unit<T>)
    if (stride != 1) {
      constexpr index max_piece = 256;
      T piece[max_piece];
      for (index first = 0, count; first < n; first += count) {
        count = std::min(max_piece, n - first);
        for (index i = 0; i < count; ++i) piece[i] = from[(first + i) * stride];
        decode(t, piece, 1, to + first, count);
      }
      return;
    }
  if constexpr (coded_as_fp16<T>) {
    if (const auto kernel = t.get<&kernel_table::fp16_to_float>()) return kernel(from, to, n);
  } else if constexpr (has_plain_sign<T>) {
    if (const auto kernel = t.get<coder<T>, &code_kernels::decode>()) {
      static constexpr decoding d = decoding_of<T>();
      return kernel(from, to, n, d);
    }
  } else if constexpr (is_float_with_unit<T>) {
    if (const auto kernel = unit_kernel<T>(t)) {
      constexpr float unit = 1.0f / static_cast<float>(std::uint64_t{1} << T::fraction_length);
      const strided_lines line{.n = n};
      return kernel(static_cast<const typename T::bits_type*>(static_cast<const void*>(from)), to, line,
                    block_runs::one(line), &unit);
    }
  }
  for (index i = 0; i < n; ++i) {
    if constexpr (coded_as_bf16<T>) {
      const std::uint32_t bits = std::uint32_t{from[i * stride].bits()} << 16;
      const bool nan = (bits & detail::binary32::magnitude_mask) > detail::binary32::infinity;
      to[i] = std::bit_cast<float>(bits | (nan ? detail::binary32::quiet_bit : 0));
    } else if constexpr (narrow_float<T> && sizeof(T) == 1)
      to[i] = decoded<T>[from[i * stride].bits()];
    else
      to[i] = static_cast<float>(from[i * stride]);
  }
}

/// As codes of bf16, of bf16 itself and of formats of 8 bits.
template <narrow_float T> void decode(kernel_set t, const T* from, index stride, std::uint16_t* to, index n) {
  if constexpr (sizeof(T) == 1 && has_plain_sign<T>)
    if (const auto kernel = t.get<&kernel_table::look_up8>(); kernel && stride == 1)
      return kernel(from, to, n, decoded_bf16<T>.data());
  for (index i = 0; i < n; ++i) {
    if constexpr (sizeof(T) == 1)
      to[i] = decoded_bf16<T>[from[i * stride].bits()];
    else
      to[i] = from[i * stride].bits();
  }
}

/// As two bf16 in a word, which add up to the number. Only where the instruction set has two_bf16_kernels.
template <narrow_float T> void decode(kernel_set t, const T* from, index stride, word* to, index n) {
  const auto split = t.get<&kernel_table::two_bf16, &two_bf16_kernels::split>();
  constexpr index max_piece = 256;
  float piece[max_piece];
  for (index first = 0, count; first < n; first += count) {
    count = std::min(max_piece, n - first);
    decode(t, from + first * stride, stride, piece, count);
    split(piece, to + first, count);
  }
}

template <class T, std::signed_integral Element>
void decode(kernel_set t, const T* from, index stride, Element* to, index n) {
  if constexpr (sizeof(T) == 1 && sizeof(Element) == 2)
    if (const auto widen = t.get<&kernel_table::packing, &packing_kernels::int8_to_int16>();
        widen && stride == 1)
      return widen(from, to, n);
  for (index i = 0; i < n; ++i) {
    if constexpr (narrow_fixed<T>)
      to[i] = from[i * stride].bits();
    else
      to[i] = from[i * stride];
  }
}

}  // namespace narrow::kernel

NARROW_STRICT_END
