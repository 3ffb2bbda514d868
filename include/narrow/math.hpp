// Mathematical functions of narrow scalars, found by argument-dependent lookup as those of the built-in types
// are.
#pragma once

#include <cmath>

#include "format/limits.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {
/// Classification by bits, which -ffast-math cannot remove.
constexpr bool is_nan(float x) { return binary32::is_nan(std::bit_cast<std::uint32_t>(x)); }
constexpr bool is_nan(double x) { return binary64::is_nan(std::bit_cast<std::uint64_t>(x)); }
constexpr bool is_finite(float x) { return binary32::is_finite(std::bit_cast<std::uint32_t>(x)); }
constexpr bool is_finite(double x) { return binary64::is_finite(std::bit_cast<std::uint64_t>(x)); }

template <class T> constexpr bool is_number(T x) { return unpack(x).what != kind::nan; }

/// The value of a number in double or long double. By way of its bits: where the processor flushes
/// subnormals, a bf16 that is one would be lost on the way through float.
template <std::floating_point Wide, narrow_scalar T> constexpr Wide widened(T x) {
  return nearest<double>(unpack(x));
}
template <std::floating_point Wide, arithmetic_operand T> constexpr Wide widened(T x) {
  return static_cast<Wide>(x);
}
template <std::floating_point Wide> constexpr Wide widened(literal x) { return x.value; }

/// a, but b where b is to be `preferred` or a is NaN and b is not.
template <class Result, class A, class B> constexpr Result chosen_number(bool preferred, A a, B b) {
  return preferred || (!is_number(a) && is_number(b)) ? static_cast<Result>(b) : static_cast<Result>(a);
}

template <narrow_scalar T, class Word> constexpr T rounded(const unpacked<Word>& x) {
  return T(x, typename T::round_policy{}, typename T::overflow_policy{});
}
}  // namespace detail

template <narrow_scalar T> constexpr bool isnan(T x) noexcept {
  if constexpr (narrow_float<T>) return T::layout::is_nan(x.bits());
  return false;
}
template <narrow_scalar T> constexpr bool isinf(T x) noexcept {
  if constexpr (narrow_float<T>) return T::layout::is_infinity(x.bits());
  return false;
}
template <narrow_scalar T> constexpr bool isfinite(T x) noexcept { return !isnan(x) && !isinf(x); }
/// Whether x is finite, and neither zero nor subnormal.
template <narrow_scalar T> constexpr bool isnormal(T x) noexcept {
  if constexpr (narrow_float<T>)
    return isfinite(x) && (x.bits() & T::layout::magnitude_mask) >= T::layout::min_normal;
  return x.bits() != 0;
}
template <narrow_scalar T> constexpr bool signbit(T x) noexcept { return unpack(x).of == sign::negative; }

/// |x|, exact; the most negative number of a fixed format saturates or wraps.
template <narrow_scalar T> constexpr T abs(T x) noexcept(noexcept(-x)) {
  if constexpr (narrow_float<T>) {
    if (!T::layout::has_negative_zero && isnan(x)) return x;  // fnuz: the sign bit is part of the NaN
  }
  return signbit(x) ? -x : x;
}
template <narrow_scalar T> constexpr T fabs(T x) noexcept(noexcept(-x)) { return abs(x); }

/// The square root, rounded once. Negative numbers give NaN (`fixed`: 0), -0 gives -0.
template <narrow_scalar T> constexpr T sqrt(T x) noexcept(T::cannot_throw) {
  // The root of a double is on the same side of every number half-way between two of T's as the exact one,
  // which is none of them, whatever the rounding mode.
  if constexpr (detail::computed_in_float<T>)
    if (!std::is_constant_evaluated() && (x.bits() & T::layout::sign_mask) == 0 &&
        detail::deciding_floats<typename T::layout>::have(x)) [[likely]]
      return T(detail::opaque(std::sqrt(static_cast<double>(static_cast<float>(x)))));
  return detail::rounded<T>(detail::square_root(unpack(x)));
}

/// a * b + c, rounded once.
template <narrow_fixed T> constexpr T fma(T a, T b, T c) noexcept(T::cannot_throw) {
  const std::int64_t unit = std::int64_t{1} << T::fraction_length;
  return detail::rounded_fixed<T>(std::int64_t{a.bits()} * b.bits() + unit * c.bits(), T::fraction_length);
}
template <narrow_float T> constexpr T fma(T a, T b, T c) noexcept(T::cannot_throw) {
  const typename T::round_policy round{};
  const auto exact =
      detail::add(detail::multiply(unpack(a), unpack(b)), unpack(c), detail::sign_of_zero_sum(round));
  return T(exact, round, typename T::overflow_policy{});
}

// By reference and constrained, so that these win over std::min and std::max wherever both are visible.
template <narrow_scalar T> constexpr const T& min(const T& a, const T& b) noexcept { return b < a ? b : a; }
template <narrow_scalar T> constexpr const T& max(const T& a, const T& b) noexcept { return a < b ? b : a; }

/// The functions of <cmath> compute in double and round the result once more: wrong only where the double is
/// within its own error of a point at which the rounding changes.
#define NARROW_UNARY(function)                                           \
  template <narrow_scalar T> T function(T x) noexcept(T::cannot_throw) { \
    return static_cast<T>(std::function(detail::widened<double>(x)));    \
  }
NARROW_UNARY(exp)
NARROW_UNARY(exp2)
NARROW_UNARY(expm1)
NARROW_UNARY(log)
NARROW_UNARY(log2)
NARROW_UNARY(log10)
NARROW_UNARY(log1p)
NARROW_UNARY(cbrt)
NARROW_UNARY(sin)
NARROW_UNARY(cos)
NARROW_UNARY(tan)
NARROW_UNARY(asin)
NARROW_UNARY(acos)
NARROW_UNARY(atan)
NARROW_UNARY(sinh)
NARROW_UNARY(cosh)
NARROW_UNARY(tanh)
NARROW_UNARY(asinh)
NARROW_UNARY(acosh)
NARROW_UNARY(atanh)
NARROW_UNARY(erf)
NARROW_UNARY(erfc)
NARROW_UNARY(lgamma)
NARROW_UNARY(tgamma)
NARROW_UNARY(floor)
NARROW_UNARY(ceil)
NARROW_UNARY(trunc)
NARROW_UNARY(round)
NARROW_UNARY(rint)
NARROW_UNARY(nearbyint)
#undef NARROW_UNARY

/// Functions of two arguments give the type of their sum: of one narrow and one built-in argument, say.
#define NARROW_BINARY(function)                                                                    \
  template <class A, class B>                                                                      \
  requires detail::mixable<A, B> detail::mixed_t<A, B> function(A a, B b)                          \
  noexcept(detail::cannot_throw<detail::mixed_t<A, B>>) {                                          \
    using result = detail::mixed_t<A, B>;                                                          \
    using wide = std::conditional_t<std::same_as<result, long double>, long double, double>;       \
    return static_cast<result>(std::function(detail::widened<wide>(a), detail::widened<wide>(b))); \
  }
NARROW_BINARY(pow)
NARROW_BINARY(atan2)
NARROW_BINARY(hypot)
NARROW_BINARY(fmod)
NARROW_BINARY(remainder)
NARROW_BINARY(copysign)
#undef NARROW_BINARY

/// The smaller number; where one argument is NaN, the other one (also under -ffast-math, where std::fmin
/// forgets).
template <class A, class B>
requires detail::mixable<A, B>
constexpr detail::mixed_t<A, B> fmin(A a, B b) noexcept(detail::cannot_throw<detail::mixed_t<A, B>>) {
  return detail::chosen_number<detail::mixed_t<A, B>>(b < a, a, b);
}
/// The larger number; where one argument is NaN, the other one.
template <class A, class B>
requires detail::mixable<A, B>
constexpr detail::mixed_t<A, B> fmax(A a, B b) noexcept(detail::cannot_throw<detail::mixed_t<A, B>>) {
  return detail::chosen_number<detail::mixed_t<A, B>>(a < b, a, b);
}

}  // namespace narrow
