// Evaluates programs of lanes (see program.hpp) on vectors; included once in the namespace of an instruction
// set by simd/vector_kernels.inl. No include guard, on purpose.

template <class Op, class A, class Lanes> inline auto at(const lane_unary<Op, A>& x, index i, Lanes lanes);
template <class Op, class A, class B, class Lanes>
inline auto at(const lane_binary<Op, A, B>& x, index i, Lanes lanes);
template <class C, class A, class B, class Lanes>
inline auto at(const lane_choice<C, A, B>& x, index i, Lanes lanes) {
  const int32_vector holds = at(x.condition, i, lanes);
  const auto a = at(x.a, i, lanes), b = at(x.b, i, lanes);
  return holds ? a : b;
}
template <class Op, class A, class Lanes> inline auto at(const lane_unary<Op, A>& x, index i, Lanes lanes) {
  return apply(Op{}, at(x.a, i, lanes), lanes);
}
template <class Op, class A, class B, class Lanes>
inline auto at(const lane_binary<Op, A, B>& x, index i, Lanes lanes) {
  const auto a = at(x.a, i, lanes);
  const auto b = at(x.b, i, lanes);
  return apply(Op{}, a, b, lanes);
}

/// Stores the first few numbers of a vector.
template <class T, class Vector> inline void store_numbers(T* to, Vector x, first_lanes lanes) {
  detail::uint_at_least<8 * sizeof(T)> some[lanes32];
  store_numbers<T>(some, x);
  write_part(to, some, lanes.count * index{sizeof(T)});
}
template <class T, class Vector, index Count>
inline void store_numbers(T* to, Vector x, so_many_lanes<Count>) {
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

/// Whether a program maps codes of 8 bits to such codes and takes so long that looking them up is faster:
/// functions.
template <class Program, class T> inline constexpr bool maps_codes = false;
template <class Function, int Bits, class From, class T>
requires(sizeof(From) == 1 && sizeof(T) == 1 && narrow_float<From> &&
         narrow_float<
             T>) inline constexpr bool maps_codes<lane_unary<lane_function_before_rounding<Function, Bits>,
                                                             lane_numbers<From>>,
                                                  T> = true;

/// What such a program gives for every code: computed when it is first asked for, which later calls raise no
/// exceptions for. Places beyond the codes of a format are not asked for.
template <class Program, class T> [[gnu::noinline]] const std::array<std::uint8_t, 256>& table_of_codes() {
  static const std::array<std::uint8_t, 256> table = [] {
    using number = std::remove_cvref_t<decltype(*Program{}.a.from)>;
    std::array<number, 256> every{};
    for (std::size_t code = 0; code >> number::layout::width == 0; ++code)
      every[code] = number::from_bits(static_cast<std::uint8_t>(code));
    const Program program{{every.data(), 0}};
    std::array<std::uint8_t, 256> result{};
    for (std::size_t i = 0; i < every.size(); i += lanes32)
      store_numbers<T>(result.data() + i, at(program, static_cast<index>(i), all_lanes{}));
    return result;
  }();
  return table;
}

template <class Program, class T, class Shape>
NARROW_KERNEL void store_lines(const Program& program, T* to, index to_step, const Shape& shape) {
  const index lines = shape.lines;
  if constexpr (maps_codes<Program, T>) {
    constexpr index least = 32;  // numbers, which take as long as asking for the table does
    if (shape.length >= least) {
      const auto& table = table_of_codes<Program, T>();
      for (index l = 0; l < lines; ++l)
        look_up_codes(reinterpret_cast<const std::uint8_t*>(program.a.from + l * program.a.line_step),
                      reinterpret_cast<std::uint8_t*>(to + l * to_step), shape.length, table.data());
      return;
    }
  }
  const auto length = shape.length;  // which a store to `to` cannot change
  for (index l = 0; l < lines; ++l, to += to_step) {
    const auto line = on_line(program, l);
    index i = 0;
    for (; i + lanes32 <= length; i += lanes32) store_numbers<T>(to + i, at(line, i, all_lanes{}));
    if (i != length) store_numbers<T>(to + i, at(line, i, rest_of(length)), rest_of(length));
  }
}

template <class T, class Code> inline void spread(const Code* codes, T* to, index step, index count) {
  for (index e = 0; e < count; ++e) to[e * step] = std::bit_cast<T>(codes[e]);
}
template <class Program, class T>
NARROW_KERNEL void spread_lines(const Program& program, T* to, const line_steps& steps,
                                const line_shape& shape) {
  const auto [lines, length] = shape;
  const auto [line_step, step] = steps;
  detail::uint_at_least<8 * sizeof(T)> some[lanes32];
  for (index l = 0; l < lines; ++l, to += line_step) {
    const auto line = on_line(program, l);
    index i = 0;
    for (; i + lanes32 <= length; i += lanes32) {
      store_numbers<T>(some, at(line, i, all_lanes{}));
      spread(some, to + i * step, step, lanes32);
    }
    if (i == length) continue;
    store_numbers<T>(some, at(line, i, first_lanes{length - i}));
    spread(some, to + i * step, step, length - i);
  }
}

/// A line is added up in the order of `dot_line` and `sum_line`.
template <class Program, class Shape>
NARROW_KERNEL float sum_lines(const Program& program, const Shape& shape) {
  constexpr index ways = fp32_line::ways;
  const index lines = shape.lines;
  const auto length = shape.length;
  float_vector sum = {};
  for (index l = 0; l < lines; ++l) {
    const auto line = on_line(program, l);
    index i = 0;
    if (length >= ways * lanes32) {
      float_vector sums[ways] = {sum};
      for (; i + ways * lanes32 <= length; i += ways * lanes32) {
        NARROW_UNROLL for (index w = 0; w < ways; ++w) sums[w] += at(line, i + w * lanes32, all_lanes{});
      }
      NARROW_UNROLL for (index w = 1; w < ways; ++w) sums[0] += sums[w];
      sum = sums[0];
    }
    for (; i + lanes32 <= length; i += lanes32) sum += at(line, i, all_lanes{});
    if (i == length) continue;
    const auto rest = rest_of(length);
    const float_vector some = at(line, i, rest);
    sum += are_numbers(rest) ? some : float_vector{};
  }
  return total_of_floats(sum);
}

template <class Program, class T, class Shape>
constexpr auto kernel_of(std::type_identity<stored_program<Program, T, Shape>>) {
  return store_lines<Program, T, Shape>;
}
template <class Program, class T>
constexpr auto kernel_of(std::type_identity<spread_out_program<Program, T>>) {
  return spread_lines<Program, T>;
}
template <class Program, class Shape>
constexpr auto kernel_of(std::type_identity<summed_program<Program, Shape>>) {
  return sum_lines<Program, Shape>;
}
