// Evaluates programs of lanes (see program.hpp) on vectors; included once in the namespace of an instruction
// set by simd/vector_kernels.inl. No include guard, on purpose.

template <class Op, class A, class Lanes>
[[gnu::always_inline]] inline auto at(const lane_unary<Op, A>& x, index i, Lanes lanes);
template <class Op, class A, class B, class Lanes>
[[gnu::always_inline]] inline auto at(const lane_binary<Op, A, B>& x, index i, Lanes lanes);
template <class C, class A, class B, class Lanes>
[[gnu::always_inline]] inline auto at(const lane_choice<C, A, B>& x, index i, Lanes lanes) {
  const int32_vector holds = at(x.condition, i, lanes);
  const auto a = at(x.a, i, lanes), b = at(x.b, i, lanes);
  return holds ? a : b;
}
template <class Op, class A, class Lanes>
[[gnu::always_inline]] inline auto at(const lane_unary<Op, A>& x, index i, Lanes lanes) {
  return apply(Op{}, at(x.a, i, lanes), lanes);
}
template <class Op, class A, class B, class Lanes>
[[gnu::always_inline]] inline auto at(const lane_binary<Op, A, B>& x, index i, Lanes lanes) {
  const auto a = at(x.a, i, lanes);
  const auto b = at(x.b, i, lanes);
  return apply(Op{}, a, b, lanes);
}

/// Stores the first few numbers of a vector.
template <class T, class Vector> inline void store_numbers(T* to, const Vector& x, first_lanes lanes) {
  if constexpr (sizeof(T) > sizeof(float)) {
    T some[lanes32];
    store_numbers<T>(some, x);
    std::copy_n(some, lanes.count, to);
  } else {
    detail::uint_at_least<8 * sizeof(T)> some[lanes32];
    store_numbers<T>(some, x);
    write_part(to, some, lanes.count * index{sizeof(T)});
  }
}
template <class T, class Vector, index Count>
requires(sizeof(T) <= sizeof(float)) inline void store_numbers(T* to, const Vector& x, so_many_lanes<Count>) {
  typename words_of<std::max(int{sizeof(T)} * lanes32, 16)>::type some = {};
  store_numbers<T>(&some, x);
  put_first_bytes<Count * index{sizeof(T)}>(reinterpret_cast<unsigned char*>(to), some);
}

/// The lanes of the last vector of a line of numbers, where not all are numbers.
inline first_lanes rest_of(index length) { return {length % lanes32}; }
template <index Length>
inline so_many_lanes<Length % lanes32> rest_of(std::integral_constant<index, Length>) {
  return {};
}

using code_table = std::array<std::uint8_t, 256>;

/// What a program that maps_codes gives for every code.
template <class Program, class T> [[gnu::noinline]] code_table mapped_codes(const Program& program) {
  static constexpr auto every = every_code<mapped_number_t<Program, T>>();
  const auto of_codes = on_line(codes_read<Program>::of(program, every.data()), 0);
  code_table table;
  for (std::size_t i = 0; i < table.size(); i += lanes32)
    store_numbers<T>(table.data() + i, at(of_codes, static_cast<index>(i), all_lanes{}));
  return table;
}
/// The same, computed when it is first asked for, which later calls raise no exceptions for.
template <class Program, class T> [[gnu::noinline]] const code_table& kept_codes(const Program& program) {
  static const code_table table = mapped_codes<Program, T>(program);
  return table;
}

/// Where a program maps_codes and has many numbers, they are looked up. False, and nothing is stored,
/// elsewhere.
template <class Program, class T>
[[gnu::noinline]] bool look_up_lines(const Program& program, T* to, index to_step, const line_shape& shape) {
  const auto from = codes_read<Program>::first(program);
  // Numbers that take as long as it takes to ask for the table, or to make it.
  constexpr index least = is_function<Program> ? 32 : 512;
  if (shape.lines * shape.length < least || !codes_read<Program>::same(program, from)) return false;
  const auto look_up = [&](const code_table& table) {
    for (index l = 0; l < shape.lines; ++l)
      look_up_codes(reinterpret_cast<const std::uint8_t*>(from.from + l * from.line_step),
                    reinterpret_cast<std::uint8_t*>(to + l * to_step), shape.length, table.data());
  };
  if constexpr (is_function<Program>) {
    look_up(kept_codes<Program, T>(program));
  } else {
    const detail::float_environment exceptions_kept;  // of codes that are not there
    look_up(mapped_codes<Program, T>(program));
  }
  return true;
}

/// How vectors of floats are stored as T: `one`, or, `in_twos`, `two` at a time. `is_there`: whether the
/// instruction set says it of this T.
template <class T> struct stored_as {
  static constexpr bool is_there = true, in_twos = !stores_nans<T> && !narrow_fixed<T>;
  template <class Vector> [[gnu::always_inline]] static void one(T* to, const Vector& x) {
    store_numbers<T>(to, x);
  }
  template <class Vector> [[gnu::always_inline]] static void two(T* to, const Vector& x, const Vector& y) {
    store_numbers<T>(to, x, y);
  }
};
/// Of floats that are no signalling NaNs nothing has to be made quiet.
struct stored_quiet {
  static constexpr bool in_twos = false;
  template <class Vector> [[gnu::always_inline]] static void one(float* to, const Vector& x) {
    std::memcpy(to, &x, sizeof x);
  }
};
/// How numbers of a line are stored as T.
template <class Line, class T>
using stored_of_line =
    std::conditional_t<std::same_as<T, float> && has_quiet_nans<Line>, stored_quiet, stored_as<T>>;

#include "alternating.inl"

#include "chosen_codes.inl"

#include "store.inl"

template <class T, class Code> inline void spread(const Code (&codes)[lanes32], T* to, index step) {
  NARROW_UNROLL for (index e = 0; e < lanes32; ++e) to[e * step] = std::bit_cast<T>(codes[e]);
}
template <class T, class Code>
inline void spread_some(const Code (&codes)[lanes32], T* to, index step, index count) {
  index e = 0;
  for (; e + 4 <= lanes32 && e + 4 <= count; e += 4)
    NARROW_UNROLL for (index i = 0; i < 4; ++i) to[(e + i) * step] = std::bit_cast<T>(codes[e + i]);
  for (; e < lanes32 && e < count; ++e) to[e * step] = std::bit_cast<T>(codes[e]);
}
template <class Program, class T>
NARROW_KERNEL void spread_lines(const Program& program, T* to, const line_steps& steps,
                                const line_shape& shape) {
  const auto [lines, length] = shape;
  const auto [line_step, step] = steps;
  detail::uint_at_least<8 * sizeof(T)> some[lanes32];
  for (index l = 0; l < lines; ++l) {
    const auto line = on_line(program, l);
    T* const first = to + l * line_step;
    index i = 0;
    for (; i + lanes32 <= length; i += lanes32) {
      store_numbers<T>(some, at(line, i, all_lanes{}));
      spread(some, first + i * step, step);
    }
    if (i == length) continue;
    store_numbers<T>(some, at(line, i, first_lanes{length - i}));
    spread_some(some, first + i * step, step, length - i);
  }
}

/// How many vectors of a line are added side by side, in the order of `dot_line` and `sum_line`.
inline constexpr index sum_ways = fp32_line::ways;

/// Adds the numbers of a line to the lanes.
template <class Line, class Length>
[[gnu::always_inline]] inline void add_line(const Line& line, Length length, float_vector& sum) {
  index i = 0;
  if (length >= sum_ways * lanes32) {
    float_vector sums[sum_ways] = {sum};
    for (; i + sum_ways * lanes32 <= length; i += sum_ways * lanes32) {
      NARROW_UNROLL for (index w = 0; w < sum_ways; ++w) sums[w] += at(line, i + w * lanes32, all_lanes{});
    }
    NARROW_UNROLL for (index w = 1; w < sum_ways; ++w) sums[0] += sums[w];
    sum = sums[0];
  }
  for (; i + lanes32 <= length; i += lanes32) sum += at(line, i, all_lanes{});
  if (i == length) return;
  const auto rest = rest_of(length);
  const float_vector some = at(line, i, rest);
  sum += are_numbers(rest) ? some : float_vector{};
}

template <class Program, class Shape>
NARROW_KERNEL float sum_lines(const Program& program, const Shape& shape) {
  const index lines = shape.lines;
  const auto length = shape.length;
  float_vector sum = {};
  for (index l = 0; l < lines; ++l) add_line(on_line(program, l), length, sum);
  return total_of_floats(sum);
}

/// The lanes of a sum of a line that is no longer than a vector, in the order of add_line.
template <class Line>
[[gnu::always_inline]] inline float_vector sum_of_vector(const Line& line, index length) {
  if (length == lanes32) return float_vector{} + at(line, 0, all_lanes{});
  const first_lanes some{length};
  return float_vector{} + (are_numbers(some) ? at(line, 0, some) : float_vector{});
}
/// The sums of lines of at most a vector each, at most Count of them from line l on.
template <int Count, class Program>
inline void sum_some_lines(const Program& program, float* to, index l, index count, index length) {
  float_vector sums[Count];
  for (index i = 0; i < Count; ++i)
    sums[i] = i < count ? sum_of_vector(on_line(program, l + i), length) : float_vector{};
  write(to + l, totals_of(sums), count);
}
template <class Program>
NARROW_KERNEL void sum_each_line(const Program& program, float* to, const line_shape& shape) {
  const auto [lines, length] = shape;  // which a store to `to` cannot change
  index l = 0;
  // Totals of as many lines as a vector has lanes are made together, and so those of fewer, but for the few
  // that take less time one by one.
  constexpr index half = lanes32 / 2, least = lanes32 / 4;
  for (; l + half < lines && length <= lanes32; l += lanes32)
    sum_some_lines<lanes32>(program, to, l, std::min<index>(lines - l, lanes32), length);
  if (l + least <= lines && length <= lanes32) {
    sum_some_lines<half>(program, to, l, lines - l, length);
    return;
  }
  for (; l < lines; ++l) {
    float_vector sum = {};
    add_line(on_line(program, l), length, sum);
    to[l] = total_of_floats(sum);
  }
}

/// The numbers of a line from place i on, as many as a vector has or `count`, if these are fewer.
template <class Line>
[[gnu::always_inline]] inline float_vector at_first(const Line& line, index i, index count) {
  return count < lanes32 ? at(line, i, first_lanes{count}) : at(line, i, all_lanes{});
}
/// Sums of numbers at places side by side on lines, Count vectors of them.
template <int Count> struct place_sums {
  float_vector sums[Count];

  void operator+=(const place_sums& others) {
    NARROW_UNROLL for (int v = 0; v < Count; ++v) sums[v] += others.sums[v];
  }
  template <class Line> [[gnu::always_inline]] void add(const Line& line, index i, index count) {
    if constexpr (Count == 1)
      sums[0] += at_first(line, i, count);
    else
      NARROW_UNROLL for (int v = 0; v < Count; ++v) sums[v] += at(line, i + v * lanes32, all_lanes{});
  }
};

/// Row sums of columns, for example, are those that add_line and total_of_floats give of a row as a line: its
/// numbers are at one place of so many lines. This is what a lane of add_line has of them, those of lines
/// `line`, line + lanes32, ..., for each of the places from i on.
template <int Count, class Program>
[[gnu::always_inline]] inline place_sums<Count> lane_at_places(const Program& program, index i, index count,
                                                               index line, index lines) {
  constexpr index block = sum_ways * lanes32;
  place_sums<Count> lane{};
  if (const index whole = lines / block * block; whole > 0) [[unlikely]] {
    for (index way = line, end = line + block; way < end; way += lanes32) {
      place_sums<Count> some{};
      for (index l = way; l < whole; l += block) some.add(on_line(program, l), i, count);
      lane += some;
    }
    line += whole;
  }
  for (; line < lines; line += lanes32) lane.add(on_line(program, line), i, count);
  return lane;
}
/// The sum of the lanes from `Lane` on, each Step after the one before, in the order of total_of_floats.
template <index Step, index Lane, int Count, class Program>
[[gnu::always_inline]] inline place_sums<Count> total_at_places(const Program& program, index i, index count,
                                                                index lines) {
  if constexpr (Step == lanes32) {
    return lane_at_places<Count>(program, i, count, Lane, lines);
  } else {
    auto total = total_at_places<2 * Step, Lane, Count>(program, i, count, lines);
    if (Lane + Step < lines) total += total_at_places<2 * Step, Lane + Step, Count>(program, i, count, lines);
    return total;
  }
}
template <class Program>
NARROW_KERNEL void sum_each_place(const Program& program, float* to, const line_shape& shape) {
  const auto [lines, length] = shape;
  constexpr int together = 2;
  index i = 0;
  for (; i + together * lanes32 <= length; i += together * lanes32) {
    const auto total = total_at_places<1, 0, together>(program, i, together * lanes32, lines);
    NARROW_UNROLL for (int v = 0; v < together; ++v) write(to + i + v * lanes32, total.sums[v], lanes32);
  }
  for (; i < length; i += lanes32) {
    const index count = std::min<index>(length - i, lanes32);
    write(to + i, total_at_places<1, 0, 1>(program, i, count, lines).sums[0], count);
  }
}

template <class Program, class T>
constexpr auto kernel_of(std::type_identity<spread_out_program<Program, T>>) {
  return spread_lines<Program, T>;
}
template <class Program, class Shape>
constexpr auto kernel_of(std::type_identity<summed_program<Program, Shape>>) {
  return sum_lines<Program, Shape>;
}
template <class Program> constexpr auto kernel_of(std::type_identity<sums_along_lines<Program>>) {
  return sum_each_line<Program>;
}
template <class Program> constexpr auto kernel_of(std::type_identity<sums_across_lines<Program>>) {
  return sum_each_place<Program>;
}
