// Programs of lanes (program.hpp) of at most few::max_numbers numbers, evaluated where they stand in the
// program that asks for them: the same bits as program.inl gives on every instruction set.
#pragma once

#include "../../simd/few_lanes.hpp"
#include "../../simd/jobs.hpp"
#include "portable.hpp"

namespace narrow::inline NARROW_ABI::kernel::few {

/// Whether a program is one that can be evaluated so.
template <class Program> inline constexpr bool evaluates = false;
template <class T> inline constexpr bool evaluates<lane_numbers<T>> = reads<T>;
template <class T> inline constexpr bool evaluates<lane_spread_numbers<T>> = reads<T>;
template <class T> inline constexpr bool evaluates<lane_line<T>> = reads<T>;
template <class T> inline constexpr bool evaluates<lane_number_per_line<T>> = reads<T>;
template <class Held> inline constexpr bool evaluates<lane_held<Held>> = reads<typename Held::Scalar>;
template <> inline constexpr bool evaluates<lane_constant> = reads<float>;
template <class T> inline constexpr bool evaluates<lane_single<T>> = reads<T>;

#if defined(__x86_64__)

/// The first Count lanes of a vector.
template <int Count> struct so_many {};

/// Numbers side by side, numbers a step apart, and a number in every lane.
template <int Count, class T> [[gnu::always_inline]] inline floats read(const T* from, so_many<Count>) {
  return numbers_at<Count>(from);
}
template <int Count, class T>
[[gnu::always_inline]] inline floats read(const T* from, index step, so_many<Count>) {
  return numbers_from<Count>(from, step);
}
template <int Count, class T> [[gnu::always_inline]] inline floats repeat(const T* from, so_many<Count>) {
  return all_of<0>(numbers_at<1>(from));
}

#define NARROW_FEW_APPLIED(operation, ...)                                                                  \
  template <class Lanes> [[gnu::always_inline]] inline floats apply(operation, floats a, floats b, Lanes) { \
    return __VA_ARGS__;                                                                                     \
  }
NARROW_FEW_APPLIED(lane_sum, sum(a, b))
NARROW_FEW_APPLIED(lane_difference, difference(a, b))
NARROW_FEW_APPLIED(lane_product, product(a, b))
NARROW_FEW_APPLIED(lane_smaller, smaller(b, a))
NARROW_FEW_APPLIED(lane_larger, larger(b, a))
NARROW_FEW_APPLIED(lane_less, less(a, b))
NARROW_FEW_APPLIED(lane_not_greater, not_greater(a, b))
NARROW_FEW_APPLIED(lane_equal, equal(a, b))
NARROW_FEW_APPLIED(lane_unequal, unequal(a, b))
NARROW_FEW_APPLIED(lane_and, both(a, b))
NARROW_FEW_APPLIED(lane_or, either(a, b))
#undef NARROW_FEW_APPLIED
// A spare lane divides what the first one divides: no exception is raised there that the numbers do not
// raise.
template <int Count>
[[gnu::always_inline]] inline floats apply(lane_quotient, floats a, floats b, so_many<Count>) {
  return quotient(first_again<Count>(a), first_again<Count>(b));
}
template <class Lanes> [[gnu::always_inline]] inline floats apply(lane_negative, floats a, Lanes) {
  return negative(a);
}
template <class Lanes> [[gnu::always_inline]] inline floats apply(lane_absolute, floats a, Lanes) {
  return absolute(a);
}
template <class Lanes> [[gnu::always_inline]] inline floats apply(lane_square, floats a, Lanes) {
  return product(a, a);
}
template <class T, class Lanes>
requires(stores<T> && sizeof(T) == 2) [[gnu::always_inline]] inline floats
    apply(lane_rounded<T>, floats a, Lanes) {
  const floats rounded = decoded<T>(reinterpret_cast<codes>(coded<T>(a)));
  if constexpr (coded_as_fp16<T>) return rounded;
  return chosen(unordered(a, a), a, rounded);
}
template <class Lanes> [[gnu::always_inline]] inline floats apply(lane_is_nan, floats a, Lanes) {
  return unordered(a, a);
}
template <class Lanes> [[gnu::always_inline]] inline floats apply(lane_is_finite, floats a, Lanes) {
  return finite(a);
}
template <class Lanes> [[gnu::always_inline]] inline floats apply(lane_not, floats a, Lanes) {
  return opposite(a);
}

template <class Op, class A>
inline constexpr bool evaluates<lane_unary<Op, A>> = evaluates<A>&& requires(floats a) {
  apply(Op{}, a, so_many<lanes>{});
};
template <class Op, class A, class B>
inline constexpr bool evaluates<lane_binary<Op, A, B>> = evaluates<A>&& evaluates<B>&& requires(floats a) {
  apply(Op{}, a, a, so_many<lanes>{});
};
template <class C, class A, class B>
inline constexpr bool evaluates<lane_choice<C, A, B>> = evaluates<C>&& evaluates<A>&& evaluates<B>;

/// Elements of line l from element i on, in the lanes of a vector.
template <class T, class Lanes>
[[gnu::always_inline]] inline auto at(const lane_numbers<T>& x, index l, index i, Lanes some) {
  return read(x.from + l * x.line_step + i, some);
}
template <class T, class Lanes>
[[gnu::always_inline]] inline auto at(const lane_line<T>& x, index, index i, Lanes some) {
  return read(x.from + i, some);
}
template <class T, class Lanes>
[[gnu::always_inline]] inline auto at(const lane_spread_numbers<T>& x, index l, index i, Lanes some) {
  return read(x.from + l * x.line_step + i * x.step, x.step, some);
}
template <class T, class Lanes>
[[gnu::always_inline]] inline auto at(const lane_number_per_line<T>& x, index l, index, Lanes some) {
  return repeat(x.from + l * x.line_step, some);
}
template <class Lanes>
[[gnu::always_inline]] inline auto at(const lane_constant& x, index, index, Lanes some) {
  return repeat(&x.value, some);
}
template <class T, class Lanes>
[[gnu::always_inline]] inline auto at(const lane_single<T>& x, index, index, Lanes some) {
  return repeat(&x.value, some);
}
template <class Held, class Lanes>
[[gnu::always_inline]] inline auto at(const lane_held<Held>& x, index l, index i, Lanes some) {
  return read(x.values.data() + l * x.line_step + i, some);
}
template <class Op, class A, class Lanes>
[[gnu::always_inline]] inline auto at(const lane_unary<Op, A>& x, index l, index i, Lanes some);
template <class Op, class A, class B, class Lanes>
[[gnu::always_inline]] inline auto at(const lane_binary<Op, A, B>& x, index l, index i, Lanes some);
template <class C, class A, class B, class Lanes>
[[gnu::always_inline]] inline auto at(const lane_choice<C, A, B>& x, index l, index i, Lanes some) {
  const auto condition = at(x.condition, l, i, some);
  const auto a = at(x.a, l, i, some);
  return chosen(condition, a, at(x.b, l, i, some));
}
template <class Op, class A, class Lanes>
[[gnu::always_inline]] inline auto at(const lane_unary<Op, A>& x, index l, index i, Lanes some) {
  return apply(Op{}, at(x.a, l, i, some), some);
}
template <class Op, class A, class B, class Lanes>
[[gnu::always_inline]] inline auto at(const lane_binary<Op, A, B>& x, index l, index i, Lanes some) {
  const auto a = at(x.a, l, i, some);
  return apply(Op{}, a, at(x.b, l, i, some), some);
}

/// How many numbers vector v of so many has.
constexpr int count_in(index length, index v) {
  return static_cast<int>(std::min<index>(length - v * lanes, lanes));
}

/// Stores vectors of lines of Length numbers; Quiet, which are no signalling NaNs.
template <index Length, bool Quiet, class T, std::size_t Vectors>
[[gnu::always_inline]] inline void store_all(floats (&x)[Vectors], T* to, index to_step) {
  constexpr index count = Vectors, in_line = vectors_of(Length);
  if constexpr (!Quiet || !std::same_as<T, float>) prepare_to_store<T>(x);
  for_each(std::make_integer_sequence<index, count>{}, [&](auto v) NARROW_INLINED {
    constexpr index l = v / in_line, part = v % in_line;
    constexpr auto is_whole = [](index p) { return count_in(Length, p) == lanes; };
    T* const place = to + l * to_step + part * lanes;
    if constexpr (part % 2 == 0 && part + 1 < in_line && is_whole(part + 1))
      store_two(place, x[v], x[v + 1]);
    else if constexpr (part % 2 == 0 || !is_whole(part))
      store<count_in(Length, part)>(place, x[v]);
  });
}

/// Whether the numbers of a program are results of operations that make NaNs quiet.
template <class Program> inline constexpr bool is_quiet = false;
template <class A> inline constexpr bool is_quiet<lane_unary<lane_square, A>> = true;
template <class A, class B> inline constexpr bool is_quiet<lane_binary<lane_sum, A, B>> = true;
template <class A, class B> inline constexpr bool is_quiet<lane_binary<lane_difference, A, B>> = true;
template <class A, class B> inline constexpr bool is_quiet<lane_binary<lane_product, A, B>> = true;
template <class A, class B> inline constexpr bool is_quiet<lane_binary<lane_quotient, A, B>> = true;

/// Computes a program's numbers, a line in some vectors.
template <class Program, index Lines, index Length, std::size_t Vectors>
[[gnu::always_inline]] inline void compute_lines(const Program& program, floats (&results)[Vectors],
                                                 const fixed_shape<Lines, Length>&) {
  for_each(std::make_integer_sequence<index, static_cast<index>(Vectors)>{}, [&](auto v) NARROW_INLINED {
    constexpr index in_line = vectors_of(Length), l = v / in_line, part = v % in_line;
    results[v] = at(program, l, part * lanes, so_many<count_in(Length, part)>{});
  });
}
/// Stores a program's numbers; all are computed before one is stored.
template <class Program, class T, index Lines, index Length>
[[gnu::always_inline]] inline void store_lines(const Program& program, T* to, index to_step,
                                               const fixed_shape<Lines, Length>& shape) {
  vectors<Lines * vectors_of(Length)> results;
  compute_lines(program, results, shape);
  store_all<Length, is_quiet<Program>>(results, to, to_step);
}
/// The same to elements that do not lie side by side.
template <class Program, class T, index Lines, index Length>
[[gnu::always_inline]] inline void store_lines(const Program& program, T* to, const line_steps& steps,
                                               const fixed_shape<Lines, Length>& shape) {
  constexpr index in_line = vectors_of(Length);
  vectors<Lines * in_line> results;
  compute_lines(program, results, shape);
  prepare_to_store<T>(results);
  for_each(std::make_integer_sequence<index, Lines * in_line>{}, [&](auto v) NARROW_INLINED {
    constexpr index l = v / in_line, part = v % in_line;
    store_apart<count_in(Length, part)>(to + l * steps.line + part * lanes * steps.element, steps.element,
                                        results[v]);
  });
}

// Sums are those of 16 lanes, or of two times 8, to each of which the numbers of its place are added, and of
// which then each is added to the one half a vector further. They begin with zero, which makes a difference
// only where all numbers are -0: it is added where no spare lane does that and numbers may be such.

/// Whether no number of a program is -0.
template <class Program> inline constexpr bool never_minus_zero = false;
template <class A> inline constexpr bool never_minus_zero<lane_unary<lane_square, A>> = true;
template <class A> inline constexpr bool never_minus_zero<lane_unary<lane_absolute, A>> = true;

template <class Program, int Count> [[gnu::always_inline]] inline floats first_sum(floats x) {
  if constexpr (Count < lanes || never_minus_zero<Program>)
    return x;
  else
    return sum(floats{}, x);
}
template <std::size_t Vectors> [[gnu::always_inline]] inline float total_of(const floats (&sums)[Vectors]) {
  floats all = sums[0];
  if constexpr (Vectors > 2) all = sum(all, sums[2]);
  if constexpr (Vectors > 1) all = sum(all, Vectors > 3 ? sum(sums[1], sums[Vectors - 1]) : sums[1]);
  return total(all);
}
template <class Program, index Lines, index Length>
[[gnu::always_inline]] inline float sum_lines(const Program& program, const fixed_shape<Lines, Length>&) {
  constexpr index in_line = vectors_of(Length);
  vectors<in_line> sums;
  for_each(std::make_integer_sequence<index, Lines * in_line>{}, [&](auto v) NARROW_INLINED {
    constexpr index l = v / in_line, part = v % in_line;
    constexpr int count = count_in(Length, part);
    const floats x = first_of<count>(at(program, l, part * lanes, so_many<count>{}), floats{});
    if constexpr (l > 0)
      sums[part] = sum(sums[part], x);
    else
      sums[part] = part == 0 ? first_sum<Program, count_in(Length, in_line - 1)>(x) : x;
  });
  return total_of(sums);
}
/// The elements of line 0 from element i on, which are fewer than a vector's, and spare ones.
template <class Program>
[[gnu::always_inline]] inline floats rest_at(const Program& program, index i, index count,
                                             floats spare = floats{}) {
  floats rest = spare;
  if (count == 1) rest = first_of<1>(at(program, 0, i, so_many<1>{}), spare);
  if (count == 2) rest = first_of<2>(at(program, 0, i, so_many<2>{}), spare);
  if (count == 3) rest = first_of<3>(at(program, 0, i, so_many<3>{}), spare);
  return rest;
}
template <class Program>
[[gnu::always_inline]] inline float sum_lines(const Program& program, const one_line& shape) {
  const auto length = static_cast<std::size_t>(shape.length);
  const auto whole = static_cast<index>(length / lanes), more = static_cast<index>(length % lanes);
  floats rest = {}, sums[max_numbers / lanes];
  if (more != 0) rest = rest_at(program, whole * lanes, more);
  for_each(std::make_integer_sequence<index, max_numbers / lanes>{}, [&](auto v) NARROW_INLINED {
    sums[v] = v < whole ? at(program, 0, v * lanes, so_many<lanes>{}) : v == whole ? rest : floats{};
  });
  sums[0] = first_sum<Program, lanes>(sums[0]);
  return total_of(sums);
}

/// The vectors of a line of few numbers; after these what Order keeps only where there is no other.
template <class Order, class Program>
[[gnu::always_inline]] inline void compute_line(const Program& program, index length,
                                                vectors<max_numbers / lanes>& x) {
  constexpr std::uint32_t sign = std::same_as<Order, lane_larger> ? detail::binary32::sign_mask : 0;
  const auto spare = reinterpret_cast<floats>(words{} + (detail::binary32::infinity | sign));
  const index whole = length / lanes, more = length % lanes;
  floats rest = spare;
  if (more != 0) rest = rest_at(program, whole * lanes, more, spare);
  for_each(std::make_integer_sequence<index, max_numbers / lanes>{}, [&](auto v) NARROW_INLINED {
    x[v] = v < whole ? at(program, 0, v * lanes, so_many<lanes>{}) : v == whole ? rest : spare;
  });
}
template <class Order>
[[gnu::always_inline]] inline float extreme_of_vectors(const vectors<max_numbers / lanes>& x) {
  const auto kept = [](floats a, floats b) NARROW_INLINED { return apply(Order{}, a, b, so_many<lanes>{}); };
  const floats nan = either(unordered(x[0], x[1]), unordered(x[2], x[3]));
  floats all = kept(kept(x[0], x[1]), kept(x[2], x[3]));
  if (any_of(nan)) [[unlikely]]
    return pinned(reinterpret_cast<floats>(words{} + detail::binary32::quiet_nan))[0];
  all = kept(all, __builtin_shufflevector(all, all, 2, 3, 2, 3));
  return pinned(kept(all, __builtin_shufflevector(all, all, 1, 1, 1, 1)))[0];
}
/// The one of a line of few numbers that Order keeps: NaN if any is, of zeros whichever.
template <class Order, class Program>
[[gnu::always_inline]] inline float extreme_of_line(const Program& program, index length) {
  vectors<max_numbers / lanes> x;
  compute_line<Order>(program, length, x);
  return extreme_of_vectors<Order>(x);
}
/// The same with the place of the first number that equals it, which is the length where there is NaN.
template <class Order, class Program>
[[gnu::always_inline]] inline placed_number find_extreme(const Program& program, index length) {
  vectors<max_numbers / lanes> x;
  compute_line<Order>(program, length, x);
  const float extreme = extreme_of_vectors<Order>(x);
  const floats wanted = all_of(extreme);
  unsigned places = 1u << length;
  for_each(std::make_integer_sequence<index, max_numbers / lanes>{}, [&](auto v) NARROW_INLINED {
    places |= static_cast<unsigned>(_mm_movemask_ps(equal(x[v], wanted))) << (v * lanes);
  });
  return {std::countr_zero(places), extreme};
}

/// Stores Count numbers of a line from element i on.
template <int Count, class Program, class T>
[[gnu::always_inline]] inline void store_some(const Program& program, T* to, index i) {
  floats x[] = {at(program, 0, i, so_many<Count>{})};
  store_all<Count, is_quiet<Program>>(x, to + i, 0);
}
/// Stores a program's numbers, few of them on one line. The last four, where there are as many, are computed
/// before one is stored, and stored after the others.
template <class Program, class T>
[[gnu::always_inline]] inline void store_lines(const Program& program, T* to, index, const one_line& shape) {
  const index length = shape.length;
  if (length < lanes) {
    if (length == 1) store_some<1>(program, to, 0);
    if (length == 2) store_some<2>(program, to, 0);
    if (length == 3) store_some<3>(program, to, 0);
    return;
  }
  floats last[] = {at(program, 0, length - lanes, so_many<lanes>{})};
  for (index i = 0; i + lanes < length; i += lanes) store_some<lanes>(program, to, i);
  store_all<lanes, is_quiet<Program>>(last, to + length - lanes, 0);
}

/// Stores Count numbers of a line from element i on to elements that do not lie side by side.
template <int Count, class Program, class T>
[[gnu::always_inline]] inline void spread_some(const Program& program, T* to, index step, index i) {
  floats x[] = {at(program, 0, i, so_many<Count>{})};
  prepare_to_store<T>(x);
  store_apart<Count>(to + i * step, step, x[0]);
}
template <class Program, class T>
[[gnu::always_inline]] inline void store_lines(const Program& program, T* to, const line_steps& steps,
                                               const one_line& shape) {
  const index length = shape.length, step = steps.element;
  index i = 0;
  for (; i + lanes <= length; i += lanes) spread_some<lanes>(program, to, step, i);
  if (length - i == 1) spread_some<1>(program, to, step, i);
  if (length - i == 2) spread_some<2>(program, to, step, i);
  if (length - i == 3) spread_some<3>(program, to, step, i);
}

/// Whether a condition holds of any of few numbers; false, if more than are looked at here decide.
template <class Program, index Lines, index Length>
[[gnu::always_inline]] inline bool decides_any(const Program& condition, const fixed_shape<Lines, Length>&,
                                               bool& holds) {
  constexpr index in_line = vectors_of(Length);
  holds = false;
  for_each(std::make_integer_sequence<index, Lines * in_line>{}, [&](auto v) NARROW_INLINED {
    constexpr index l = v / in_line, part = v % in_line;
    constexpr int count = count_in(Length, part);
    holds = holds || any_of(first_of<count>(at(condition, l, part * lanes, so_many<count>{}), floats{}));
  });
  return true;
}
template <class Program, class Shape>
[[gnu::always_inline]] inline bool decides_any(const Program& condition, const Shape& shape, bool& holds) {
  const bool few_on_line = shape.length <= max_numbers;
  const index count = few_on_line ? shape.length : lanes;
  index i = 0;
  for (holds = false; !holds && i + lanes <= count; i += lanes)
    holds = any_of(at(condition, 0, i, so_many<lanes>{}));
  holds = holds || any_of(rest_at(condition, i, count - i));
  return holds || (few_on_line && shape.lines == 1);
}

/// Whether these lines are few numbers.
template <index Lines, index Length> constexpr bool are_few(const fixed_shape<Lines, Length>&) {
  return Lines * Length <= max_numbers;
}
constexpr bool are_few(const one_line& shape) { return shape.length <= max_numbers; }

/// The same in any floating-point environment, and where nothing is computed so.
template <class Program, class T, class Steps, class Shape>
[[gnu::noinline, gnu::cold]] void store_otherwise(seldom_handed<Program> program, T* to, Steps steps,
                                                  Shape shape) {
  detail::with_float_environment([&] {
    if (dispatch::has_few_lanes())
      store_lines(program, to, steps, shape);
    else if constexpr (std::same_as<Steps, line_steps>)
      portable::spread_lines(program, to, steps, line_shape{shape.lines, shape.length});
    else
      portable::store_lines(program, to, steps, shape);
  });
}
template <class Program, class Shape>
[[gnu::noinline, gnu::cold]] float sum_otherwise(seldom_handed<Program> program, Shape shape) {
  return detail::with_float_environment([&] {
    return dispatch::has_few_lanes() ? sum_lines(program, shape) : portable::sum_lines(program, shape);
  });
}
template <class Program, class Shape>
[[gnu::noinline, gnu::cold]] bool find_otherwise(const Program& condition, const Shape& shape) {
  return detail::with_float_environment([&] {
    bool holds = false;
    if (dispatch::has_few_lanes())
      decides_any(condition, shape, holds);
    else
      holds = portable::find_on_lines(condition, line_shape{shape.lines, shape.length});
    return holds;
  });
}

#else

// What the door names, and nothing calls.
template <class Program, class T, class Steps, class Shape>
void store_lines(const Program&, T*, const Steps&, const Shape&);
template <class Program, class T, class Steps, class Shape>
void store_otherwise(seldom_handed<Program>, T*, Steps, Shape);
template <class Program, class Shape> float sum_lines(const Program&, const Shape&);
template <class Program, class Shape> float sum_otherwise(seldom_handed<Program>, Shape);
template <class Shape> bool are_few(const Shape&);
template <class Order, class Program> float extreme_of_line(const Program&, index);
template <class Order, class Program> placed_number find_extreme(const Program&, index);
template <class Program, class Shape> bool decides_any(const Program&, const Shape&, bool&);
template <class Program, class Shape> bool find_otherwise(const Program&, const Shape&);

#endif

/// Whether a program is evaluated here.
template <class Program, class T, class Shape> inline constexpr bool stores_program = false;
template <class Program, class T, index Lines, index Length>
inline constexpr bool stores_program<Program, T, fixed_shape<Lines, Length>> =
    evaluates<Program>&& stores<T>&& Lines* Length <= max_numbers;
/// The same of a line of at most so many numbers: more are stored sooner by a kernel.
inline constexpr index longest_stored = max_numbers - lanes;
template <class Program, class T, class Shape>
inline constexpr bool stores_line = std::same_as<Shape, one_line>&& evaluates<Program>&& stores<T>&&
    runs_everywhere<stored_program<Program, T, Shape>>;
/// The same of one whose results do not lie side by side.
template <class Program, class T, class Shape>
inline constexpr bool spreads_line = std::same_as<Shape, one_line>&& evaluates<Program>&& stores<T>&&
    runs_everywhere<spread_out_program<Program, T>>;
template <class Program, class Shape>
inline constexpr bool sums_program = stores_program<Program, float, Shape>;
template <class Program> inline constexpr bool sums_program<Program, one_line> = evaluates<Program>;

}  // namespace narrow::kernel::few
