// Sums of each of few lines of at most few::lanes numbers, as of the columns of a matrix of few rows,
// computed where they stand: the same bits as sum_line gives for each of them.
#pragma once

#include "few.hpp"

namespace narrow::inline NARROW_ABI::kernel::few {

/// So many lines, or fewer, are few: a kernel, which adds up as many at once as a vector has lanes, takes
/// about as long for more.
inline constexpr index most_lines = 16;

#if defined(__x86_64__)

/// The lanes whose total is the sum of line l, of Length numbers.
template <int Length, class Program>
[[gnu::always_inline]] inline floats addends_of_line(const Program& program, index l) {
  const floats x = at(program, l, 0, so_many<Length>{});
  return first_sum<Program, Length>(first_of<Length>(x, floats{}));
}
/// The totals of as many vectors as one has lanes, in the order of `total`.
[[gnu::always_inline]] inline floats totals(floats a, floats b, floats c, floats d) {
  const auto halves = [](floats x, floats y) NARROW_INLINED {
    return sum(__builtin_shufflevector(x, y, 0, 1, 4, 5), __builtin_shufflevector(x, y, 2, 3, 6, 7));
  };
  const floats of_ab = halves(a, b), of_cd = halves(c, d);
  return sum(__builtin_shufflevector(of_ab, of_cd, 0, 2, 4, 6),
             __builtin_shufflevector(of_ab, of_cd, 1, 3, 5, 7));
}
template <int Length, class Program>
[[gnu::always_inline]] inline void sum_lines_of(const Program& program, index lines, float* to) {
  static_assert(lanes == 4);
  const auto line = [&](index l)
                        NARROW_INLINED { return addends_of_line<Length>(program, std::min(l, lines - 1)); };
  index l = 0;
  for (; l + 1 < lines; l += lanes) {
    const floats a = line(l), b = line(l + 1), c = line(l + 2), sums = totals(a, b, c, line(l + 3));
    const index rest = lines - l;
    if (rest == 2) store<2>(to + l, sums);
    if (rest == 3) store<3>(to + l, sums);
    if (rest >= lanes) store<lanes>(to + l, sums);
  }
  if (l < lines) to[l] = total(line(l));
}
/// Whether these are few short lines, more than one.
constexpr bool are_few_lines(const line_shape& shape) {
  return shape.lines > 1 && shape.lines <= most_lines && shape.length > 1 && shape.length <= lanes;
}
template <class Program>
[[gnu::always_inline]] inline void sum_each_line(const Program& program, const line_shape& shape, float* to) {
  if (shape.length == 2) sum_lines_of<2>(program, shape.lines, to);
  if (shape.length == 3) sum_lines_of<3>(program, shape.lines, to);
  if (shape.length == 4) sum_lines_of<4>(program, shape.lines, to);
}

#else

// What the door names, and nothing calls.
bool are_few_lines(const line_shape&);
template <class Program> void sum_each_line(const Program&, const line_shape&, float*);

#endif

}  // namespace narrow::kernel::few
