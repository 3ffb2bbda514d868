// Programs of lanes that end in an extreme, a product, a place or a count (see program.hpp); included once in
// the namespace of an instruction set by simd/vector_kernels.inl. No include guard, on purpose.

/// The number that Order keeps only where there is no other.
template <class Order>
inline constexpr float last_choice = std::bit_cast<float>(nonfinite_bits |
                                                          (std::same_as<Order, lane_larger> ? 1u << 31 : 0u));

/// In each lane, what Order keeps of the numbers taken; where one of them was NaN, only that.
template <class Order> struct lane_extremes {
  float_vector kept = last_choice<Order> - float_vector{};
  int32_vector most = {};

  void take(const float_vector& x) {
    kept = apply(Order{}, kept, x, all_lanes{});
    raise_to_magnitudes(lanes_as<uint32_vector>(x), most);
  }
  void take(const float_vector& x, first_lanes lanes) { take(are_numbers(lanes) ? x : kept); }
  void take(const lane_extremes& others) {
    kept = apply(Order{}, kept, others.kept, all_lanes{});
    most = most > others.most ? most : others.most;
  }
  int32_vector had_nan() const { return most > nonfinite_bits; }
  float_vector results() const {
    return had_nan() ? float_vector{} + std::numeric_limits<float>::quiet_NaN() : kept;
  }
};

template <class Order> inline float extreme_of_lanes(const lane_extremes<Order>& lanes) {
  if (any_of(lanes.had_nan())) [[unlikely]]
    return std::numeric_limits<float>::quiet_NaN();
  using one = std::conditional_t<std::same_as<Order, lane_larger>, larger_one, smaller_one>;
  return folded(one{}, lanes.kept);
}

/// In each lane, the product of the numbers taken.
struct lane_factors {
  float_vector product = float_vector{} + 1;

  void take(const float_vector& x) { product = product * x; }
  void take(const float_vector& x, first_lanes lanes) { take(are_numbers(lanes) ? x : float_vector{} + 1); }
  void take(const lane_factors& others) { take(others.product); }
};
template <class Line, class Taken> inline void take_line(const Line& line, index length, Taken& to) {
  constexpr index ways = 4;  // a comparison or a product takes up to four cycles
  index i = 0;
  if (length >= ways * lanes32) {
    const Taken none;
    Taken some[] = {to, none, none, none};
    static_assert(std::size(some) == ways);
    for (; i + ways * lanes32 <= length; i += ways * lanes32) {
      NARROW_UNROLL for (index w = 0; w < ways; ++w) some[w].take(at(line, i + w * lanes32, all_lanes{}));
    }
    NARROW_UNROLL for (index w = 1; w < ways; ++w) some[0].take(some[w]);
    to = some[0];
  }
  for (; i + lanes32 <= length; i += lanes32) to.take(at(line, i, all_lanes{}));
  if (i == length) return;
  const first_lanes rest{length - i};
  to.take(at(line, i, rest), rest);
}

/// The numbers of a line that is no longer than a vector; after them what Order keeps only where there is no
/// other.
template <class Order, class Line>
[[gnu::always_inline]] inline float_vector only_vector(const Line& line, index length) {
  if (length == lanes32) return at(line, 0, all_lanes{});
  const first_lanes numbers{length};
  return are_numbers(numbers) ? at(line, 0, numbers) : last_choice<Order> - float_vector{};
}
template <class Program, class Order>
[[gnu::noinline]] float extreme_of_long_lines(const Program& program, const line_shape& shape) {
  lane_extremes<Order> extremes;
  for (index l = 0; l < shape.lines; ++l) take_line(on_line(program, l), shape.length, extremes);
  return extreme_of_lanes(extremes);
}
template <class Program, class Order>
NARROW_KERNEL float extreme_of_lines(const Program& program, const line_shape& shape) {
  const auto [lines, length] = shape;
  if (length > lanes32) [[unlikely]]
    return extreme_of_long_lines<Program, Order>(program, shape);
  lane_extremes<Order> extremes;
  for (index l = 0; l < lines; ++l) extremes.take(only_vector<Order>(on_line(program, l), length));
  return extreme_of_lanes(extremes);
}

template <class Program> NARROW_KERNEL float multiply_lines(const Program& program, const line_shape& shape) {
  lane_factors factors;
  for (index l = 0; l < shape.lines; ++l) take_line(on_line(program, l), shape.length, factors);
  return folded(multiplied{}, factors.product);
}

template <class Program, class Order>
NARROW_KERNEL void extreme_of_each_line(const Program& program, float* to, const line_shape& shape) {
  const auto [lines, length] = shape;  // which a store to `to` cannot change
  for (index l = 0; l < lines; ++l) {
    lane_extremes<Order> extremes;
    take_line(on_line(program, l), length, extremes);
    to[l] = extreme_of_lanes(extremes);
  }
}

template <class Program, class Order>
NARROW_KERNEL void extremes_of_places(const Program& program, float* to, const line_shape& shape) {
  constexpr index ways = 4;  // as many vectors of a line as lie side by side in memory
  const auto [lines, length] = shape;
  index i = 0;
  for (; i + ways * lanes32 <= length; i += ways * lanes32) {
    const lane_extremes<Order> none;
    lane_extremes<Order> some[] = {none, none, none, none};  // as initialised in a loop they stay in memory
    static_assert(std::size(some) == ways);
    for (index l = 0; l < lines; ++l) {
      const auto line = on_line(program, l);
      NARROW_UNROLL for (index w = 0; w < ways; ++w) some[w].take(at(line, i + w * lanes32, all_lanes{}));
    }
    NARROW_UNROLL for (index w = 0; w < ways; ++w) write(to + i + w * lanes32, some[w].results(), lanes32);
  }
  for (; i < length; i += lanes32) {
    const lane_extremes<Order> none;
    lane_extremes<Order> some[] = {none, none, none, none};  // each of every fourth line
    const index count = std::min<index>(length - i, lanes32);
    index l = 0;
    for (; l + ways <= lines; l += ways) {
      NARROW_UNROLL for (index w = 0; w < ways; ++w) some[w].take(
          at_first(on_line(program, l + w), i, count));
    }
    for (; l < lines; ++l) some[0].take(at_first(on_line(program, l), i, count));
    NARROW_UNROLL for (index w = 1; w < ways; ++w) some[0].take(some[w]);
    write(to + i, some[0].results(), count);
  }
}

/// The first lane that holds, or lanes32.
template <class Instructions = instructions> inline index first_of(int32_vector holds) {
  if constexpr (requires(typename Instructions::integers x) { Instructions::first_lane(x); })
    return Instructions::first_lane(reinterpret_cast<typename Instructions::integers>(holds));
  else
    return folded(smaller_one{}, holds ? places_of_lanes() : int32_vector{} + lanes32);
}

template <class Line> NARROW_KERNEL index find_number(const Line& line, float number, index length) {
  const float_vector wanted = number - float_vector{};
  index i = 0;
  for (; i + lanes32 <= length; i += lanes32) {
    const int32_vector equal = at(line, i, all_lanes{}) == wanted;
    if (any_of(equal)) return i + first_of(equal);
  }
  if (i == length) return length;
  const first_lanes rest{length - i};
  const int32_vector equal = (at(line, i, rest) == wanted) & are_numbers(rest);
  return any_of(equal) ? i + first_of(equal) : length;
}

template <class Line, class Order> NARROW_KERNEL float find_extreme_number(const Line& line, index length) {
  if (length > lanes32) [[unlikely]]
    return extreme_of_long_lines<Line, Order>(line, line_shape{1, length});
  lane_extremes<Order> extremes;
  extremes.take(only_vector<Order>(on_line(line, 0), length));
  return extreme_of_lanes(extremes);
}
template <class Line, class Order>
[[gnu::noinline]] placed_number find_in_long_line(const Line& line, index length) {
  const float extreme = extreme_of_long_lines<Line, Order>(line, line_shape{1, length});
  return {find_number(on_line(line, 0), extreme, length), extreme};
}
template <class Line, class Order> NARROW_KERNEL placed_number find_extreme(const Line& line, index length) {
  if (length > lanes32) [[unlikely]]
    return find_in_long_line<Line, Order>(line, length);
  const float_vector x = only_vector<Order>(on_line(line, 0), length);
  lane_extremes<Order> extremes;
  extremes.take(x);
  const float extreme = extreme_of_lanes(extremes);
  return {std::min(first_of(x == extreme), length), extreme};
}

template <class Program> NARROW_KERNEL index count_lines(const Program& program, const line_shape& shape) {
  constexpr index block = index{1} << 30;  // so many a lane of 32 bits can count
  index count = 0;
  for (index l = 0; l < shape.lines; ++l) {
    const auto line = on_line(program, l);
    for (index first = 0; first < shape.length; first += block) {
      const index end = std::min(first + block, shape.length);
      int32_vector holding = {};
      index i = first;
      for (; i + lanes32 <= end; i += lanes32) holding -= at(line, i, all_lanes{});
      if (i < end) {
        const first_lanes rest{end - i};
        holding -= at(line, i, rest) & are_numbers(rest);
      }
      for (index lane = 0; lane < lanes32; ++lane) count += holding[lane];
    }
  }
  return count;
}
/// Numbers are read no further than to the few vectors one after the other in which there is one.
template <class Program> NARROW_KERNEL bool find_on_lines(const Program& program, const line_shape& shape) {
  constexpr index together = 4;
  const auto [lines, length] = shape;
  for (index l = 0; l < lines; ++l) {
    const auto line = on_line(program, l);
    index i = 0;
    for (; i + together * lanes32 <= length; i += together * lanes32) {
      int32_vector holding = {};
      NARROW_UNROLL for (index v = 0; v < together; ++v) holding |= at(line, i + v * lanes32, all_lanes{});
      if (any_of(holding)) return true;
    }
    for (; i + lanes32 <= length; i += lanes32)
      if (any_of(at(line, i, all_lanes{}))) return true;
    if (i == length) continue;
    const first_lanes rest{length - i};
    if (any_of(at(line, i, rest) & are_numbers(rest))) return true;
  }
  return false;
}

template <class Program> constexpr auto kernel_of(std::type_identity<multiplied_program<Program>>) {
  return multiply_lines<Program>;
}
template <class Program, class Order>
constexpr auto kernel_of(std::type_identity<extreme_of_program<Program, Order>>) {
  return extreme_of_lines<Program, Order>;
}
template <class Program, class Order>
constexpr auto kernel_of(std::type_identity<extremes_along_lines<Program, Order>>) {
  return extreme_of_each_line<Program, Order>;
}
template <class Program, class Order>
constexpr auto kernel_of(std::type_identity<extremes_across_lines<Program, Order>>) {
  return extremes_of_places<Program, Order>;
}
template <class Line> constexpr auto kernel_of(std::type_identity<found_on_line<Line>>) {
  return find_number<Line>;
}
template <class Line, class Order>
constexpr auto kernel_of(std::type_identity<extreme_of_line<Line, Order>>) {
  return find_extreme_number<Line, Order>;
}
template <class Line, class Order>
constexpr auto kernel_of(std::type_identity<extreme_found_on_line<Line, Order>>) {
  return find_extreme<Line, Order>;
}
template <class Program> constexpr auto kernel_of(std::type_identity<counted_program<Program>>) {
  return count_lines<Program>;
}
template <class Program> constexpr auto kernel_of(std::type_identity<found_anywhere<Program>>) {
  return find_on_lines<Program>;
}
