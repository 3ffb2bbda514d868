// Mathematical functions of narrow scalars, found by argument-dependent lookup as those of the built-in types
// are.
#pragma once

#include "format/functions.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {
/// Classification by bits, which -ffast-math cannot remove.
constexpr bool is_nan(float x) { return binary32::is_nan(std::bit_cast<std::uint32_t>(x)); }
constexpr bool is_nan(double x) { return binary64::is_nan(std::bit_cast<std::uint64_t>(x)); }
constexpr bool is_finite(float x) { return binary32::is_finite(std::bit_cast<std::uint32_t>(x)); }
constexpr bool is_finite(double x) { return binary64::is_finite(std::bit_cast<std::uint64_t>(x)); }

template <class T> constexpr bool is_number(T x) { return unpack(x).what != kind::nan; }

/// a, but b where b is to be `preferred` or a is NaN and b is not.
template <class Result, class A, class B> constexpr Result chosen_number(bool preferred, A a, B b) {
  return preferred || (!is_number(a) && is_number(b)) ? static_cast<Result>(b) : static_cast<Result>(a);
}
}  // namespace detail

/// Whether x is NaN, from its bits: under -ffast-math, too.
template <narrow_scalar T> constexpr bool isnan(T x) noexcept {
  if constexpr (narrow_float<T>) return T::layout::is_nan(x.bits());
  return false;
}
/// Whether x is an infinity, from its bits: under -ffast-math, too.
template <narrow_scalar T> constexpr bool isinf(T x) noexcept {
  if constexpr (narrow_float<T>) return T::layout::is_infinity(x.bits());
  return false;
}
/// Whether x is neither NaN nor an infinity, from its bits: under -ffast-math, too.
template <narrow_scalar T> constexpr bool isfinite(T x) noexcept { return !isnan(x) && !isinf(x); }
/// Whether x is finite, and neither zero nor subnormal.
template <narrow_scalar T> constexpr bool isnormal(T x) noexcept {
  if constexpr (narrow_float<T>)
    return isfinite(x) && (x.bits() & T::layout::magnitude_mask) >= T::layout::min_normal;
  return x.bits() != 0;
}
/// Whether the sign is negative, that of a zero or NaN, too.
template <narrow_scalar T> constexpr bool signbit(T x) noexcept {
  if constexpr (narrow_float<T>)
    return (x.bits() & T::layout::sign_mask) != 0;
  else
    return x.bits() < 0;
}

/// |x|, exact; the most negative number of a fixed format saturates or wraps.
template <narrow_scalar T> constexpr T abs(T x) noexcept(noexcept(-x)) {
  if constexpr (narrow_float<T>) {
    if (!T::layout::has_negative_zero && isnan(x)) return x;  // fnuz: the sign bit is part of the NaN
  }
  return signbit(x) ? -x : x;
}
/// |x|, as `abs` gives it.
template <narrow_scalar T> constexpr T fabs(T x) noexcept(noexcept(-x)) { return abs(x); }

/// The number of the format that is next to x in the direction of y, an infinity among them; y where the two
/// are equal, NaN where one is. (std::nextafter takes the built-in type, and rounds back to x.)
template <narrow_scalar T> constexpr T nextafter(T x, T y) noexcept {
  using bits = typename T::bits_type;
  if constexpr (narrow_fixed<T>) {
    return T::from_bits(static_cast<bits>(x.bits() + (x < y) - (y < x)));
  } else {
    if (isnan(x)) return x;
    if (isnan(y) || x == y) return y;
    const bool up = x < y;
    if (x == T(0)) return up ? std::numeric_limits<T>::denorm_min() : -std::numeric_limits<T>::denorm_min();
    const auto next = static_cast<bits>(up != signbit(x) ? x.bits() + 1 : x.bits() - 1);
    return T::layout::has_negative_zero || next != T::layout::sign_mask ? T::from_bits(next) : T(0);
  }
}

namespace detail {
template <narrow_scalar T> constexpr T thorough_root(T x) noexcept(T::cannot_throw) {
  // The root of a double is on the same side of every number half-way between two of T's as the exact one,
  // which is none of them, whatever the rounding mode.
  if constexpr (computed_in_float<T>)
    if (!std::is_constant_evaluated() && (x.bits() & T::layout::sign_mask) == 0 &&
        deciding_floats<typename T::layout>::have(x)) [[likely]]
      return T(opaque(std::sqrt(static_cast<double>(static_cast<float>(x)))));
  if constexpr (narrow_fixed<T> && rounds_to_nearest_even<T>)
    if (!std::is_constant_evaluated() && x.bits() >= 0)
      return rounded_fixed<T>(nearest_root(x.bits() * (std::int64_t{1} << T::fraction_length)), 0);
  return rounded<T>(square_root(unpack(x)));
}
template <narrow_float T>
[[gnu::noinline]] constexpr T thorough_fma(T a, T b, T c) noexcept(T::cannot_throw) {
  const typename T::round_policy round{};
  return T(add(multiply(unpack(a), unpack(b)), unpack(c), sign_of_zero_sum(round)), round,
           typename T::overflow_policy{});
}
/// The same by way of double, where the product is exact and only the sum is rounded.
template <narrow_float T>
requires computed_in_float<T>
[[gnu::always_inline]] inline T quick_fma(T a, T b, T c) noexcept(T::cannot_throw) {
  using layout = typename T::layout;
  if constexpr (has_quick_operators<T>)
    if (computes_directly<layout>()) {
      const std::uint32_t code = binary16_fma(a.bits(), b.bits(), c.bits());
      return is_binary16_nan(code) ? thorough_fma(a, b, c)
                                   : T::from_bits(static_cast<typename T::bits_type>(code));
    }
  const double x = opaque(opaque(double_of(a) * double_of(b)) + double_of(c));
  return is_decided_by_double<layout>(x) ? T(x) : thorough_fma(a, b, c);
}
template <class T> [[gnu::noinline]] constexpr T root_elsewhere(T x) noexcept(T::cannot_throw) {
  return thorough_root(x);
}
}  // namespace detail

/// The square root, rounded once. Negative numbers give NaN (`fixed`: 0), -0 gives -0.
template <narrow_scalar T> [[gnu::always_inline]] constexpr T sqrt(T x) noexcept(T::cannot_throw) {
  if constexpr (detail::has_quick_operators<T> && detail::has_quick_root) {
    using layout = typename T::layout;
    if (!std::is_constant_evaluated() && detail::computes_directly<layout>()) {
      if (x.bits() <= layout::infinity) [[likely]]
        return T::from_bits(static_cast<typename T::bits_type>(detail::binary16_root(x.bits())));
    } else if (!std::is_constant_evaluated() && detail::may_be_quick<layout>()) [[likely]] {
      const float value = detail::quick_value<layout>(x.bits());
      const float root = detail::opaque(detail::quick_root(value));
      if ((x.bits() & layout::sign_mask) == 0 && detail::deciding_floats<layout>::have(value) &&
          !detail::is_half_way<layout>(root)) [[likely]]
        return T::from_bits(static_cast<typename T::bits_type>(detail::quick_code<layout>(root)));
    }
    return detail::root_elsewhere(x);
  } else {
    return detail::thorough_root(x);
  }
}

/// a * b + c, rounded once.
template <narrow_fixed T> constexpr T fma(T a, T b, T c) noexcept(T::cannot_throw) {
  const std::int64_t unit = std::int64_t{1} << T::fraction_length;
  return detail::rounded_fixed<T>(std::int64_t{a.bits()} * b.bits() + unit * c.bits(), T::fraction_length);
}
template <narrow_float T> constexpr T fma(T a, T b, T c) noexcept(T::cannot_throw) {
  if constexpr (detail::computed_in_float<T>)
    if (!std::is_constant_evaluated()) return detail::quick_fma(a, b, c);
  return detail::thorough_fma(a, b, c);
}

/// The smaller number; a, where they are equal or one is NaN, as in std::min. By reference and constrained,
/// so that it wins over std::min wherever both are visible.
template <narrow_scalar T> constexpr const T& min(const T& a, const T& b) noexcept { return b < a ? b : a; }
/// The larger number; a, where they are equal or one is NaN, as in std::max.
template <narrow_scalar T> constexpr const T& max(const T& a, const T& b) noexcept { return a < b ? b : a; }

/// Functions of real numbers: the exact value, rounded once, for formats of at most 16 bits and every
/// rounding mode but the stochastic one, which rounds a double; of formats with more bits the value is that
/// of a double that errs by a few units in its last place. Overflow, underflow and poles are as in <cmath>
/// (C11, annex F). 4 to 15 ns on a Xeon, most of it the function in float; where that does not decide, for
/// `fixed` and for other rounding than to nearest even 8 to 30, in double.
///   rsqrt      1 / sqrt(x); of -0 minus infinity (IEEE 754-2019 section 9.2.1)
///   logistic   1 / (1 + e^-x)
///   softplus   log(1 + e^x) (Dugas et al., "Incorporating second-order functional knowledge", 2000)
///   silu       x logistic(x) (Elfwing et al., "Sigmoid-weighted linear units", 2017)
///   gelu       x Phi(x), of the normal distribution (Hendrycks and Gimpel, "Gaussian error linear units", 2016)
///   gelu_tanh  x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), which that paper has for it, too
#define NARROW_FUNCTION(name)                                        \
  template <narrow_scalar T> T name(T x) noexcept(T::cannot_throw) { \
    return detail::function_of<detail::functions::name>(x);          \
  }
NARROW_ELEMENTARY_FUNCTIONS(NARROW_FUNCTION)
NARROW_FUNCTION(exp2)
NARROW_FUNCTION(cbrt)
NARROW_FUNCTION(erf)
NARROW_FUNCTION(erfc)
NARROW_FUNCTION(lgamma)
NARROW_FUNCTION(tgamma)
NARROW_FUNCTION(softplus)
NARROW_FUNCTION(silu)
NARROW_FUNCTION(gelu)
NARROW_FUNCTION(gelu_tanh)
#undef NARROW_FUNCTION

namespace detail {
/// The whole number `near` x; a zero with the sign of x, of which -ffast-math lets a compiler give any.
template <narrow_scalar T> constexpr T whole_number(T x, T near) {
  if constexpr (narrow_float<T>)
    if (T::layout::has_negative_zero && (near.bits() & T::layout::magnitude_mask) == 0)
      return T::from_bits(static_cast<typename T::bits_type>(x.bits() & T::layout::sign_mask));
  return near;
}
/// The whole number nearest to x, ties to even, whatever the rounding mode: each operation is exact.
template <std::floating_point Real> Real nearest_whole(Real x) {
  if (!(std::fabs(x) < 1 / std::numeric_limits<Real>::epsilon()))
    return x;  // a whole number, infinity or NaN
  const Real below = std::floor(x), rest = x - below, half = below / 2;
  return rest > Real(0.5) || (rest == Real(0.5) && std::floor(half) != half) ? below + 1 : below;
}
/// A built-in type in which whole numbers near those of T are found: of their subnormal ones none is lost on
/// the way, even where those of float are flushed.
template <class T> struct whole_numbers { using type = carrier_t<T>; };
template <narrow_float T>
requires(deciding_floats<typename T::layout>::may_flush) struct whole_numbers<T> {
  using type = double;
};
}  // namespace detail

/// Whole numbers near x, rounded once more where the format has no such number; of rint and nearbyint the
/// nearest one, ties to even.
#define NARROW_WHOLE(name, function)                                                    \
  template <narrow_scalar T> T name(T x) noexcept(T::cannot_throw) {                    \
    using wide = typename detail::whole_numbers<T>::type;                               \
    return detail::whole_number(x, static_cast<T>(function(detail::widened<wide>(x)))); \
  }
NARROW_WHOLE(floor, std::floor)
NARROW_WHOLE(ceil, std::ceil)
NARROW_WHOLE(trunc, std::trunc)
NARROW_WHOLE(round, std::round)
NARROW_WHOLE(rint, detail::nearest_whole)
NARROW_WHOLE(nearbyint, detail::nearest_whole)
#undef NARROW_WHOLE

namespace detail {
/// x^y, of which a square is a product.
template <narrow_scalar T, class A, class B> T power_of(A x, B y) {
  if constexpr (std::same_as<A, T>)
    if (y == 2) return x * x;
  return value_rounded_once<functions::pow, T>(x, y);
}
template <class T> constexpr bool is_negative(T x) {
  if constexpr (narrow_scalar<T>)
    return signbit(x);
  else if constexpr (std::same_as<T, literal>)
    return is_negative(x.value);
  else if constexpr (std::floating_point<T>)
    return std::signbit(x);
  else
    return x < T{};
}
/// The size of x with this sign.
template <narrow_scalar T, class X> constexpr T with_sign(X x, bool negative) {
  if constexpr (std::same_as<T, X>)
    return signbit(x) == negative ? x : -x;
  else
    return T(std::copysign(widened<double>(x), negative ? -1 : 1));
}
}  // namespace detail

/// Functions of two arguments give the type of their sum: of one narrow and one built-in argument, say.
/// hypot, atan2 and pow, of narrow numbers and integers, are rounded as the functions of one argument are,
/// but for pow where it comes within 2^-46 of a number of the format, or of the middle of two, without being
/// that: a directed mode then may take the neighbour (if powers lie at random, of fewer than one pair in
/// 2^30).
#define NARROW_BINARY(name, narrow_result)                                                       \
  template <class A, class B>                                                                    \
  requires detail::mixable<A, B> detail::mixed_t<A, B> name(A a, B b)                            \
  noexcept(detail::cannot_throw<detail::mixed_t<A, B>>) {                                        \
    using result = detail::mixed_t<A, B>;                                                        \
    using wide = std::conditional_t<std::same_as<result, long double>, long double, double>;     \
    if constexpr (narrow_scalar<result>)                                                         \
      return narrow_result;                                                                      \
    else                                                                                         \
      return static_cast<result>(std::name(detail::widened<wide>(a), detail::widened<wide>(b))); \
  }
#define NARROW_FUNCTION(name) \
  NARROW_BINARY(name, (detail::value_rounded_once<detail::functions::name, result>(a, b)))
#define NARROW_EXACT(name) \
  NARROW_BINARY(name, static_cast<result>(std::name(detail::widened<wide>(a), detail::widened<wide>(b))))
NARROW_BINARY(pow, detail::power_of<result>(a, b))
NARROW_FUNCTION(atan2)
NARROW_FUNCTION(hypot)
NARROW_EXACT(fmod)
NARROW_EXACT(remainder)
NARROW_BINARY(copysign, detail::with_sign<result>(a, detail::is_negative(b)))
#undef NARROW_EXACT
#undef NARROW_FUNCTION
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
