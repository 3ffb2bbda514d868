// Matrices of complex narrow numbers, which are computed number by number, each operation rounded.
#pragma once

#include <complex>

#include "scalar.hpp"

namespace narrow::inline NARROW_ABI::detail {

template <class T> std::complex<T> rounded_parts(const std::complex<double>& z) {
  return {static_cast<T>(z.real()), static_cast<T>(z.imag())};
}
template <class T> std::complex<double> in_double(const std::complex<T>& z) {
  return {static_cast<double>(z.real()), static_cast<double>(z.imag())};
}

// A built-in number that is written beside complex ones is not rounded to their format first.
#define NARROW_WITH_LITERAL(operation)                                             \
  template <narrow_scalar T>                                                       \
  std::complex<T> operator operation(const literal& a, const std::complex<T>& z) { \
    return rounded_parts<T>(a.value operation in_double(z));                       \
  }                                                                                \
  template <narrow_scalar T>                                                       \
  std::complex<T> operator operation(const std::complex<T>& z, const literal& a) { \
    return rounded_parts<T>(in_double(z) operation a.value);                       \
  }
NARROW_WITH_LITERAL(+)
NARROW_WITH_LITERAL(-)
NARROW_WITH_LITERAL(*)
NARROW_WITH_LITERAL(/)
#undef NARROW_WITH_LITERAL
template <narrow_scalar T> bool operator==(const std::complex<T>& z, const literal& a) {
  return in_double(z) == a.value;
}

}  // namespace narrow::detail

namespace Eigen {

template <narrow::narrow_scalar T, class Op>
struct ScalarBinaryOpTraits<std::complex<T>, narrow::detail::literal, Op> {
  using ReturnType = std::complex<T>;
};
template <narrow::narrow_scalar T, class Op>
struct ScalarBinaryOpTraits<narrow::detail::literal, std::complex<T>, Op> {
  using ReturnType = std::complex<T>;
};
/// Complex numbers in float, as decompositions give them, can be stored as complex narrow ones; both parts
/// are rounded.
template <narrow::narrow_scalar T, std::floating_point Wide>
struct ScalarBinaryOpTraits<std::complex<T>, std::complex<Wide>,
                            internal::assign_op<std::complex<T>, std::complex<Wide>>> {
  using ReturnType = std::complex<T>;
};

}  // namespace Eigen
