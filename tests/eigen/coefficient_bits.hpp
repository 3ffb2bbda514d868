// Coefficients of matrices compared as bits.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace test {

/// The bits of a float or of a narrow number.
template <class T> std::uint32_t bits_of(const T& x) {
  if constexpr (std::same_as<T, float>)
    return std::bit_cast<std::uint32_t>(x);
  else
    return static_cast<std::uint32_t>(x.bits());
}

/// Whether two coefficients have the same bits; NaN is NaN.
template <class T> bool same(const T& a, const T& b) {
  return bits_of(a) == bits_of(b) || (a != a && b != b);
}

}  // namespace test
