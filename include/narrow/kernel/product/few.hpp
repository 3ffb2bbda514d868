// Products of small matrices (small.hpp) of at most few::max_numbers numbers each, computed where they stand
// in the program that asks for them: the same bits as small.inl gives.
#pragma once

#include "../elementwise/few.hpp"
#include "small.hpp"

namespace narrow::inline NARROW_ABI::kernel::few {

template <class Product> inline constexpr bool multiplies = false;

#if defined(__x86_64__)

template <class A, class B, class C, int Rows, int Depth, int Cols>
inline constexpr bool multiplies<small_product<A, B, C, Rows, Depth, Cols>> =
    reads<std::remove_const_t<typename A::scalar>>&& reads<std::remove_const_t<typename B::scalar>>&&
        stores<typename C::scalar>&& Rows* Depth <= max_numbers&& Depth* Cols <= max_numbers&& Rows* Cols <=
    max_numbers;

/// Lines of Length numbers each, in the order in which they lie, in vectors.
template <int Lines, int Length> using lines_of_vectors = floats[Lines][vectors_of(Length)];

template <int Lines, int Length, class M>
[[gnu::always_inline]] inline void read_lines(const M& m, lines_of_vectors<Lines, Length>& to) {
  constexpr int in_line = vectors_of(Length);
  for_each(std::make_integer_sequence<index, Lines * in_line>{}, [&](auto v) NARROW_INLINED {
    constexpr index l = v / in_line, part = v % in_line;
    to[l][part] = numbers_at<count_in(Length, part)>(m.from + l * m.step + part * lanes);
  });
}
/// The lines of the transpose of Lines lines of Length numbers each.
template <int Lines, int Length, class M>
[[gnu::always_inline]] inline void read_across(const M& m, lines_of_vectors<Length, Lines>& to) {
  if constexpr (Lines <= lanes && Length <= lanes && Lines > 1 && Length > 1) {
    floats from[lanes][1] = {};
    read_lines<Lines, Length>(m, reinterpret_cast<lines_of_vectors<Lines, Length>&>(from));
    const auto low = [](floats a, floats b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); };
    const auto high = [](floats a, floats b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); };
    const floats a = low(from[0][0], from[1][0]), b = low(from[2][0], from[3][0]);
    to[0][0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    to[1][0] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    if constexpr (Length > 2) {
      const floats c = high(from[0][0], from[1][0]), d = high(from[2][0], from[3][0]);
      to[2][0] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
      if constexpr (Length > 3) to[3][0] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
    }
  } else {
    constexpr int in_line = vectors_of(Lines);
    for_each(std::make_integer_sequence<index, Length * in_line>{}, [&](auto v) NARROW_INLINED {
      constexpr index l = v / in_line, part = v % in_line;
      to[l][part] = numbers_from<count_in(Lines, part)>(m.from + l + part * lanes * m.step, m.step);
    });
  }
}

/// As multiply_small of an instruction set: all of A and B is read before anything is written.
template <class Product, class A, class B, class C>
[[gnu::always_inline]] inline void multiply(const A& a, const B& b, const C& c, float alpha, float beta) {
  constexpr int rows = Product::rows, depth = Product::depth, cols = Product::cols,
                parts = vectors_of(rows);
  constexpr bool b_by_columns = Product::b_by_columns;
  constexpr int b_lines = b_by_columns ? cols : depth, b_length = b_by_columns ? depth : cols;
  lines_of_vectors<depth, rows> left;
  if constexpr (Product::a_by_columns)
    read_lines<depth, rows>(a, left);
  else
    read_across<rows, depth>(a, left);
  lines_of_vectors<b_lines, b_length> right;
  read_lines<b_lines, b_length>(b, right);

  floats results[cols * parts];
  for_each(std::make_integer_sequence<index, cols * parts>{}, [&](auto v) NARROW_INLINED {
    constexpr index j = v / parts, part = v % parts;
    floats sum = {};
    for_each(std::make_integer_sequence<index, depth>{}, [&](auto p) NARROW_INLINED {
      constexpr index l = b_by_columns ? j : p, i = b_by_columns ? p : j;
      sum = multiply_add(sum, left[p][part], all_of<i % lanes>(right[l][i / lanes]));
    });
    if (alpha != 1) sum = product(all_of(alpha), sum);
    if (beta != 0)
      sum = few::sum(product(all_of(beta), numbers_at<count_in(rows, part)>(std::as_const(c.from) + j * c.step + part * lanes)), sum);
    results[v] = sum;
  });
  store_all<rows>(results, c.from, c.step);
}

template <class Product, class A, class B, class C>
[[gnu::noinline, gnu::cold]] bool multiply_otherwise(A a, B b, C c, float alpha, float beta) {
  return dispatch::has_few_lanes() && detail::with_float_environment([&] {
    multiply<Product>(a, b, c, alpha, beta);
    return true;
  });
}

#endif

}  // namespace narrow::kernel::few
