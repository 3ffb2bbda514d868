// The loop that evaluates a program of lanes and stores its numbers; included in the namespace of an
// instruction set after `stored_of_line`, which says how: by program.inl, and by instruction sets that have
// their own. No include guard, on purpose.

/// Where the last whole vector of lines begins that end within one; else their length.
///
/// It is computed before any is stored, and stored after the others, whose numbers are not changed by that: a
/// store with a mask would let the next line, whose numbers follow, wait for it.
template <class Length> [[gnu::always_inline]] inline index last_vector_of(Length length) {
  constexpr bool is_constant = !std::same_as<Length, index>;
  return !is_constant && length > lanes32 && length % lanes32 != 0 ? length - lanes32 : index{length};
}
/// Length: an index, or a constant; `end` is the last_vector_of it.
template <class Line, class T, class Length>
[[gnu::always_inline]] inline void store_line(const Line& line, T* to, Length length, index end) {
  if constexpr (chooses_codes<Line, T>) return store_chosen(line, to, length, end);
  using stored = stored_of_line<Line, T>;
  const bool ends_whole = end != length;
  index i = 0;
  decltype(at(line, 0, all_lanes{})) last = {};
  if (ends_whole) last = at(line, end, all_lanes{});
  if constexpr (takes_twos<Line, T>)
    i = store_line_of_twos(line, to, length);
  else if constexpr (stored::in_twos)
    for (; i + 2 * lanes32 <= length; i += 2 * lanes32)
      stored::two(to + i, at(line, i, all_lanes{}), at(line, i + lanes32, all_lanes{}));
  for (; i + lanes32 <= length; i += lanes32) stored::one(to + i, at(line, i, all_lanes{}));
  if (ends_whole)
    stored::one(to + end, last);
  else if (i != length)
    store_numbers<T>(to + i, at(line, i, rest_of(length)), rest_of(length));
}

/// Lines without gaps, as many at a time as can be laid out.
template <class Program, class T>
[[gnu::noinline]] void store_joined(const Program& program, T* to, index lines, index length) {
  joined_lines<Program> joined;
  const index most = max_laid_out / length;
  for (index l = 0, count; l < lines; l += count) {
    count = std::min(most, lines - l);
    const index all = count * length;
    store_line(joined.of(program, l, count, length), to + l * length, all, last_vector_of(all));
  }
}

/// Whether so many lines of such a length take less time joined. Lines of a vector and a half repay it where
/// they are many (Zen 5).
inline bool joins_lines_of(index length, index lines) {
  constexpr index many = 64;
  return length < lanes32 || (length <= std::min<index>(longest_short, 3 * lanes32 / 2) && lines >= many);
}
template <class Program, class T, class Shape>
NARROW_KERNEL void store_lines(const Program& program, T* to, index to_step, const Shape& shape) {
  const index lines = shape.lines;
  if constexpr (maps_codes<Program, T> && (is_function<Program> || has_quick_tables<T>))
    if (look_up_lines(program, to, to_step, line_shape{lines, shape.length})) return;
  const auto length = shape.length;  // which a store to `to` cannot change
  if constexpr (joins_short_lines<Program> && std::same_as<Shape, line_shape>)
    if (lines > 1 && 0 < length && joins_lines_of(length, lines) && to_step == length &&
        joined_lines<Program>::fits(program, {to, to + lines * length, length}, lines))
      return store_joined(program, to, lines, length);
  const index end = last_vector_of(length);
  for (index l = 0; l < lines; ++l) store_line(on_line(program, l), to + l * to_step, length, end);
}
template <class Program, class T, class Shape>
requires(stored_as<T>::is_there) constexpr auto kernel_of(
    std::type_identity<stored_program<Program, T, Shape>>) {
  return store_lines<Program, T, Shape>;
}
