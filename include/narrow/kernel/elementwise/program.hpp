// Programs of lanes: a coefficient-wise expression as a tree of nodes, which one loop of the instruction set
// in use evaluates whole (program.inl), so that nothing goes through memory between its loads and its store.
//
// A program is evaluated along lines, which are columns or rows. It computes in float: each operation is
// rounded to nearest, none is contracted with another, so that all instruction sets give the same bits. Of
// fixed-point numbers it computes with the mantissas (fixed.hpp).
#pragma once

#include <cmath>

#include "../convert/encoding.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

// Leaves.

/// Element i of line l is from[l * line_step + i]; T is float, a format with has_coder or a fixed-point one,
/// or, of numbers that are rounded to a format of at most 16 bits next, an integer of at most 32 bits or
/// double.
template <class T> struct lane_numbers {
  const T* from;
  index line_step;
};
/// Element i of every line is from[i].
template <class T> struct lane_line { const T* from; };
/// Element i of line l is from[l * line_step + i * step].
template <class T> struct lane_spread_numbers {
  const T* from;
  index line_step, step;
};
/// All elements of line l are from[l * line_step].
template <class T> struct lane_number_per_line {
  const T* from;
  index line_step;
};
struct lane_constant {
  float value;
};
/// The same as a number of T, which is made a float where the program is evaluated.
template <class T> struct lane_single { T value; };
/// Element l of line l is `one`, as a float or a mantissa, and all others are zero.
template <class Number> struct lane_identity { Number one; };
/// Numbers that the program holds, in a container with data(): element i of line l is at l * line_step + i.
template <class Held> struct lane_held {
  Held values;
  index line_step;
};

/// All elements of line l are the one at l.
template <class Held> struct lane_held_per_line { Held values; };

// Operations on one or two numbers; what they mean stands in floats.inl. A comparison or a test has the
// condition of a choice for its result.

struct lane_negative {};
struct lane_absolute {};
struct lane_square {};
struct lane_cube {};     // (x x) x
struct lane_inverse {};  // 1 / x
struct lane_root {};     // the square root
struct lane_sign {};     // 1, 0 or -1; NaN stays
// The integer toward zero, below, above, or the nearest one, of two the one further from zero or the even
// one.
struct lane_truncated {};
struct lane_floor {};
struct lane_ceiling {};
struct lane_nearest_away {};
struct lane_nearest_even {};
template <class T> struct lane_rounded {};  // to the nearest number of T, ties to even
struct lane_sum {};
struct lane_difference {};
struct lane_product {};
struct lane_quotient {};
struct lane_power {};    // a^b, as std::pow gives it
struct lane_smaller {};  // b < a ? b : a
struct lane_larger {};   // a < b ? b : a
struct lane_less {};
struct lane_not_greater {};
struct lane_equal {};
struct lane_unequal {};
struct lane_is_nan {};
struct lane_is_infinite {};
struct lane_is_finite {};
// On conditions.
struct lane_and {};
struct lane_or {};
struct lane_not {};

template <class Op, class A> struct lane_unary { A a; };
template <class Op, class A, class B> struct lane_binary {
  A a;
  B b;
};
/// condition ? a : b.
template <class Condition, class A, class B> struct lane_choice {
  Condition condition;
  A a;
  B b;
};

/// The element at this place is `one`, and all others are zero.
template <class Number> struct lane_one_at {
  Number one;
  index place;
};

/// What is left of a program on line l: its numbers are those of line 0, and those of the line are constants.
template <class Held> auto on_line(const lane_held<Held>& x, index l) {
  using number = std::remove_cvref_t<decltype(*x.values.data())>;
  return lane_numbers<number>{x.values.data() + l * x.line_step, 0};
}
template <class Held> lane_constant on_line(const lane_held_per_line<Held>& x, index l) {
  return {static_cast<float>(x.values.data()[l])};
}
template <class T> lane_numbers<T> on_line(const lane_numbers<T>& x, index l) {
  return {x.from + l * x.line_step, 0};
}
template <class T> lane_numbers<T> on_line(const lane_line<T>& x, index) { return {x.from, 0}; }
template <class T> lane_spread_numbers<T> on_line(const lane_spread_numbers<T>& x, index l) {
  return {x.from + l * x.line_step, 0, x.step};
}
template <class T> lane_constant on_line(const lane_number_per_line<T>& x, index l) {
  return {static_cast<float>(x.from[l * x.line_step])};
}
inline lane_constant on_line(const lane_constant& x, index) { return x; }
template <class Number> lane_one_at<Number> on_line(const lane_identity<Number>& x, index l) {
  return {x.one, l};
}
template <class T> lane_constant on_line(const lane_single<T>& x, index) {
  return {static_cast<float>(x.value)};
}
template <class Op, class A> auto on_line(const lane_unary<Op, A>& x, index l) {
  return lane_unary<Op, decltype(on_line(x.a, l))>{on_line(x.a, l)};
}
template <class Op, class A, class B> auto on_line(const lane_binary<Op, A, B>& x, index l) {
  return lane_binary<Op, decltype(on_line(x.a, l)), decltype(on_line(x.b, l))>{on_line(x.a, l),
                                                                               on_line(x.b, l)};
}
template <class C, class A, class B> auto on_line(const lane_choice<C, A, B>& x, index l) {
  return lane_choice<decltype(on_line(x.condition, l)), decltype(on_line(x.a, l)), decltype(on_line(x.b, l))>{
      on_line(x.condition, l), on_line(x.a, l), on_line(x.b, l)};
}

/// A program of one line, without what tells one line from another; itself, where that is the same: a copy
/// may be made in memory, where a processor waits for it.
template <class Program> [[gnu::always_inline]] inline const Program& as_line(const Program& x) { return x; }
template <class T> [[gnu::always_inline]] inline lane_line<T> as_line(const lane_numbers<T>& x) {
  return {x.from};
}
/// Of numbers that a program holds, where they are: it has to last as long.
template <class Held> [[gnu::always_inline]] inline auto as_line(const lane_held<Held>& x) {
  return lane_line<std::remove_cvref_t<decltype(*x.values.data())>>{x.values.data()};
}
template <class Op, class A> [[gnu::always_inline]] inline decltype(auto) as_line(const lane_unary<Op, A>& x);
template <class Op, class A, class B>
[[gnu::always_inline]] inline decltype(auto) as_line(const lane_binary<Op, A, B>& x);
template <class Program>
using line_of = std::remove_cvref_t<decltype(as_line(std::declval<const Program&>()))>;
template <class Op, class A> inline decltype(auto) as_line(const lane_unary<Op, A>& x) {
  if constexpr (std::same_as<line_of<A>, A>)
    return (x);
  else
    return lane_unary<Op, line_of<A>>{as_line(x.a)};
}
template <class Op, class A, class B> inline decltype(auto) as_line(const lane_binary<Op, A, B>& x) {
  if constexpr (std::same_as<line_of<A>, A> && std::same_as<line_of<B>, B>)
    return (x);
  else
    return lane_binary<Op, line_of<A>, line_of<B>>{as_line(x.a), as_line(x.b)};
}
/// How such a program is handed to a function that is not inlined: two words in registers, and more by
/// reference, since a copy of them would be read in words of 128 bits right after it was written in words of
/// 64, for which a processor has to wait.
template <class Program>
using handed_line = std::conditional_t<sizeof(Program) <= 2 * sizeof(void*), Program, const Program&>;

/// Powers of floats, of which squares are the most common.
inline float power_of(float a, float b) { return b == 2 ? detail::uncontracted(a * a) : std::pow(a, b); }

/// A program on one line, from an element on.
template <class T> lane_numbers<T> from_element(const lane_numbers<T>& x, index i) { return {x.from + i, 0}; }
template <class T> lane_spread_numbers<T> from_element(const lane_spread_numbers<T>& x, index i) {
  return {x.from + i * x.step, 0, x.step};
}
inline lane_constant from_element(const lane_constant& x, index) { return x; }
template <class Number> lane_one_at<Number> from_element(const lane_one_at<Number>& x, index i) {
  return {x.one, x.place - i};
}
template <class Op, class A> auto from_element(const lane_unary<Op, A>& x, index i) {
  return lane_unary<Op, decltype(from_element(x.a, i))>{from_element(x.a, i)};
}
template <class Op, class A, class B> auto from_element(const lane_binary<Op, A, B>& x, index i) {
  return lane_binary<Op, decltype(from_element(x.a, i)), decltype(from_element(x.b, i))>{
      from_element(x.a, i), from_element(x.b, i)};
}
template <class C, class A, class B> auto from_element(const lane_choice<C, A, B>& x, index i) {
  return lane_choice<decltype(from_element(x.condition, i)), decltype(from_element(x.a, i)),
                     decltype(from_element(x.b, i))>{from_element(x.condition, i), from_element(x.a, i),
                                                     from_element(x.b, i)};
}

/// Whether no number of a part of a program is a signalling NaN: what arithmetic gives, and fp16, which are
/// decoded by an instruction.
template <class Part> inline constexpr bool has_quiet_nans = false;
template <class T>
requires coded_as_fp16<T>
inline constexpr bool has_quiet_nans<lane_numbers<T>> = true;
template <class A> inline constexpr bool has_quiet_nans<lane_unary<lane_negative, A>> = has_quiet_nans<A>;
template <class A> inline constexpr bool has_quiet_nans<lane_unary<lane_absolute, A>> = has_quiet_nans<A>;
template <class A> inline constexpr bool has_quiet_nans<lane_unary<lane_square, A>> = true;
template <class A> inline constexpr bool has_quiet_nans<lane_unary<lane_root, A>> = true;
template <class A, class B> inline constexpr bool has_quiet_nans<lane_binary<lane_sum, A, B>> = true;
template <class A, class B> inline constexpr bool has_quiet_nans<lane_binary<lane_difference, A, B>> = true;
template <class A, class B> inline constexpr bool has_quiet_nans<lane_binary<lane_product, A, B>> = true;
template <class A, class B> inline constexpr bool has_quiet_nans<lane_binary<lane_quotient, A, B>> = true;

/// So many lines of so many elements.
struct line_shape {
  index lines, length;
};
/// The same of a vector, which needs no loop over lines.
struct one_line {
  static constexpr std::integral_constant<index, 1> lines{};
  index length;
};
/// The same of few elements, all of it known when the program is compiled: no loop is left.
template <index Lines, index Length> struct fixed_shape {
  static constexpr std::integral_constant<index, Lines> lines{};
  static constexpr std::integral_constant<index, Length> length{};
};

// What is done with the numbers that a program gives; `function` is a kernel's.

/// Stores them, each rounded to T: element i of line l at to[l * to_step + i]. A T that is not float is
/// rounded to nearest even; as an int, without what follows the point. Conditions are stored as bool.
template <class Program, class T, class Shape> struct stored_program {
  using function = void(const Program&, T* to, index to_step, const Shape&);
};
/// The same, element i of line l at to[l * steps.line + i * steps.element].
template <class Program, class T> struct spread_out_program {
  using function = void(const Program&, T* to, const line_steps&, const line_shape&);
};
/// Adds them up, in float.
template <class Program, class Shape> struct summed_program {
  using function = float(const Program&, const Shape&);
};
/// Multiplies them, in float.
template <class Program> struct multiplied_program {
  using function = float(const Program&, const line_shape&);
};
/// Adds up those of each line, in the same order, to to[line].
template <class Program> struct sums_along_lines {
  using function = void(const Program&, float* to, const line_shape&);
};
/// Those that have the same place on all lines, in the order in which they would be on a line, to to[place].
template <class Program> struct sums_across_lines {
  using function = void(const Program&, float* to, const line_shape&);
};
/// The one of them that Order keeps, lane_smaller or lane_larger: NaN if any is, of zeros whichever.
template <class Program, class Order> struct extreme_of_program {
  using function = float(const Program&, const line_shape&);
};
/// The one of each line, at to[line].
template <class Program, class Order> struct extremes_along_lines {
  using function = void(const Program&, float* to, const line_shape&);
};
/// The one of the elements that have the same place on all lines, at to[place].
template <class Program, class Order> struct extremes_across_lines {
  using function = void(const Program&, float* to, const line_shape&);
};
/// The place of the first number on a line that equals another, or the length of the line.
template <class Line> struct found_on_line {
  using function = index(const Line&, float number, index length);
};
/// The one of one line.
template <class Line, class Order> struct extreme_of_line {
  using function = float(const Line&, index length);
};
/// A number and its place on a line.
struct placed_number {
  index place;
  float number;
};
/// The first number on one line that is what Order keeps; where there is NaN, its place is the length of the
/// line.
template <class Line, class Order> struct extreme_found_on_line {
  using function = placed_number(const Line&, index length);
};
/// How many of the conditions that a program gives hold.
template <class Program> struct counted_program {
  using function = index(const Program&, const line_shape&);
};
/// Whether any of them holds.
template <class Program> struct found_anywhere { using function = bool(const Program&, const line_shape&); };

}  // namespace narrow::kernel

NARROW_STRICT_END
