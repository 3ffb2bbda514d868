// Programs of lanes without vectors, number by number: for processors of which no instruction set is known,
// and to compare the others with.
#pragma once

#include "../../format/operators.hpp"
#include "fixed.hpp"
#include "functions.hpp"
#include "softmax.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel::portable {

using detail::uncontracted;

inline float apply(lane_negative, float a) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) ^ detail::binary32::sign_mask);
}
inline float apply(lane_absolute, float a) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) & magnitude_mask);
}
inline float apply(lane_square, float a) { return uncontracted(a * a); }
inline float apply(lane_cube, float a) { return uncontracted(uncontracted(a * a) * a); }
inline float apply(lane_inverse, float a) { return 1 / a; }
inline float apply(lane_truncated, float a) { return std::trunc(a); }
inline float apply(lane_floor, float a) { return std::floor(a); }
inline float apply(lane_ceiling, float a) { return std::ceil(a); }
inline float apply(lane_nearest_away, float a) { return std::round(a); }
inline float apply(lane_nearest_even, float a) { return std::rint(a); }
inline float apply(lane_root, float a) { return detail::opaque(std::sqrt(a)); }
inline float apply(lane_sum, float a, float b) { return a + b; }
inline float apply(lane_difference, float a, float b) { return a - b; }
inline float apply(lane_product, float a, float b) { return uncontracted(a * b); }
inline float apply(lane_quotient, float a, float b) { return a / b; }
inline float apply(lane_power, float a, float b) { return power_of(a, b); }
inline float apply(lane_smaller, float a, float b) { return b < a ? b : a; }
inline float apply(lane_larger, float a, float b) { return a < b ? b : a; }
template <class T> inline float apply(lane_rounded<T>, float a) { return static_cast<float>(T(a)); }
template <class Function> inline float apply(lane_function<Function>, float a) {
  return function_of<Function>(a);
}
template <class Function, int Bits>
inline float apply(lane_function_before_rounding<Function, Bits>, float a) {
  return function_of<Function, rounding::to_odd>(a);
}
inline bool apply(lane_less, float a, float b) { return a < b; }
inline bool apply(lane_not_greater, float a, float b) { return a <= b; }
inline bool apply(lane_equal, float a, float b) { return a == b; }
inline bool apply(lane_unequal, float a, float b) { return a != b; }
inline bool apply(lane_is_nan, float a) { return detail::magnitude_bits(a) > detail::binary32::infinity; }
inline float apply(lane_sign, float a) {
  return apply(lane_is_nan{}, a) ? a : static_cast<float>(int{a > 0} - int{a < 0});
}
inline bool apply(lane_is_infinite, float a) {
  return detail::magnitude_bits(a) == detail::binary32::infinity;
}
inline bool apply(lane_is_finite, float a) { return detail::magnitude_bits(a) < detail::binary32::infinity; }
inline bool apply(lane_and, bool a, bool b) { return a && b; }
inline bool apply(lane_or, bool a, bool b) { return a || b; }
inline bool apply(lane_not, bool a) { return !a; }

/// A number as a float: one that is none rounded to odd, in a bit that no format of 16 bits has.
template <class T> inline float number(const T& x) {
  using layout = detail::binary32;
  if constexpr (std::same_as<T, double> || std::same_as<T, int>)
    return static_cast<float>(
        floating<layout::exponent_bits, layout::mantissa_bits, specials::ieee, rounding::to_odd>(x));
  else
    return static_cast<float>(x);
}
template <class T> inline float at(const lane_numbers<T>& x, index i) { return number(x.from[i]); }
template <class T> inline float at(const lane_spread_numbers<T>& x, index i) {
  return number(x.from[i * x.step]);
}
inline float at(const lane_constant& x, index) { return x.value; }
inline float at(const lane_one_at<float>& x, index i) { return i == x.place ? x.one : 0; }
template <class Op, class A> inline auto at(const lane_unary<Op, A>& x, index i);
template <class Op, class A, class B> inline auto at(const lane_binary<Op, A, B>& x, index i);
template <class C, class A, class B> inline float at(const lane_choice<C, A, B>& x, index i) {
  return at(x.condition, i) ? at(x.a, i) : at(x.b, i);
}
template <class Op, class A> inline auto at(const lane_unary<Op, A>& x, index i) {
  return apply(Op{}, at(x.a, i));
}
template <class Op, class A, class B> inline auto at(const lane_binary<Op, A, B>& x, index i) {
  return apply(Op{}, at(x.a, i), at(x.b, i));
}

inline float quiet(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const bool nan = (bits & magnitude_mask) > detail::binary32::infinity;
  return std::bit_cast<float>(nan ? bits | detail::binary32::quiet_bit : bits);
}

template <class T, class Number> [[gnu::always_inline]] inline void store_number(Number x, T& to) {
  if constexpr (std::same_as<T, float>)
    to = quiet(x);
  else
    to = static_cast<T>(x);
}
template <class Program, class T, class Shape>
NARROW_KERNEL void store_lines(const Program& program, T* to, index to_step, const Shape& shape) {
  const index lines = shape.lines, length = shape.length;
  for (index l = 0; l < lines; ++l) {
    const auto line = on_line(program, l);
    T* const to_line = to + l * to_step;
    for (index i = 0; i < length; ++i) store_number(at(line, i), to_line[i]);
  }
}
template <class Program, class T>
NARROW_KERNEL void spread_lines(const Program& program, T* to, const line_steps& steps,
                                const line_shape& shape) {
  const auto [lines, length] = shape;
  for (index l = 0; l < lines; ++l) {
    const auto line = on_line(program, l);
    T* const to_line = to + l * steps.line;
    for (index i = 0; i < length; ++i) store_number(at(line, i), to_line[i * steps.element]);
  }
}
template <class Program, class Shape>
NARROW_KERNEL float sum_lines(const Program& program, const Shape& shape) {
  const index lines = shape.lines, length = shape.length;
  float sum = 0;
  for (index l = 0; l < lines; ++l) {
    const auto line = on_line(program, l);
    for (index i = 0; i < length; ++i) sum += at(line, i);
  }
  return sum;
}
template <class Program> NARROW_KERNEL bool find_on_lines(const Program& program, const line_shape& shape) {
  const auto [lines, length] = shape;
  for (index l = 0; l < lines; ++l) {
    const auto line = on_line(program, l);
    for (index i = 0; i < length; ++i)
      if (at(line, i)) return true;
  }
  return false;
}

/// Whether a program is one of floats, which these kernels know.
template <class Program> inline constexpr bool has_kernel = false;
template <class T> inline constexpr bool has_kernel<lane_numbers<T>> = !narrow_fixed<T>;
template <class T> inline constexpr bool has_kernel<lane_spread_numbers<T>> = !narrow_fixed<T>;
template <class T> inline constexpr bool has_kernel<lane_line<T>> = !narrow_fixed<T>;
template <class T> inline constexpr bool has_kernel<lane_number_per_line<T>> = !narrow_fixed<T>;
template <class Held> inline constexpr bool has_kernel<lane_held<Held>> = true;
template <> inline constexpr bool has_kernel<lane_constant> = true;
template <> inline constexpr bool has_kernel<lane_identity<float>> = true;
template <class T> inline constexpr bool has_kernel<lane_single<T>> = true;
template <class Op, class A>
inline constexpr bool has_kernel<lane_unary<Op, A>> = has_kernel<A>&& requires(float a) {
  apply(Op{}, a);
};
template <class Op, class A, class B>
inline constexpr bool has_kernel<lane_binary<Op, A, B>> = has_kernel<A>&& has_kernel<B>&& requires(float a) {
  apply(Op{}, a, a);
};
template <class C, class A, class B>
inline constexpr bool has_kernel<lane_choice<C, A, B>> = has_kernel<C>&& has_kernel<A>&& has_kernel<B>;

template <class Program, class T, class Shape>
requires(has_kernel<Program>) constexpr auto kernel_of(
    std::type_identity<stored_program<Program, T, Shape>>) {
  return store_lines<Program, T, Shape>;
}
template <class Program, class T>
requires(has_kernel<Program>) constexpr auto kernel_of(std::type_identity<spread_out_program<Program, T>>) {
  return spread_lines<Program, T>;
}
template <class Program, class Shape>
requires(has_kernel<Program>) constexpr auto kernel_of(std::type_identity<summed_program<Program, Shape>>) {
  return sum_lines<Program, Shape>;
}
template <class Program>
requires(has_kernel<Program>) constexpr auto kernel_of(std::type_identity<found_anywhere<Program>>) {
  return find_on_lines<Program>;
}

/// No other kernels: what needs no vectors has them beside the rooms' drivers.
struct kernels {
  template <class Table> static constexpr void offer(Table& table) { NARROW_OFFER_JOB(table); }
};

}  // namespace narrow::kernel::portable

NARROW_STRICT_END
