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
template <int Lines, int Length>
using lines_of_vectors = vectors<vectors_of(Length)>[static_cast<std::size_t>(Lines)];

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

/// alpha x + beta c, each operation rounded, for the first Count numbers of c.
template <int Count, class T>
[[gnu::always_inline]] inline floats scaled(floats x, float alpha, const T* c, float beta) {
  if (alpha != 1) x = product(all_of(alpha), x);
  if (beta != 0) x = sum(product(all_of(beta), numbers_at<Count>(c)), x);
  return x;
}

/// Two rows: a vector has two columns of C.
template <class Product, class A, class B, class C>
inline constexpr bool in_pairs = Product::rows == 2 && Product::cols % 2 == 0 &&
                                 Product::a_by_columns&& without_gaps(std::type_identity<C>{}, 2);

/// The columns of A twice, side by side.
template <int Depth, class A> [[gnu::always_inline]] inline void read_twice(const A& a, vectors<Depth>& to) {
  constexpr bool gapless = without_gaps(std::type_identity<A>{}, 2);
  for_each(std::make_integer_sequence<index, (Depth + 1) / 2>{}, [&](auto v) NARROW_INLINED {
    constexpr index p = 2 * v;
    if constexpr (gapless && p + 1 < Depth) {
      const floats two = numbers_at<lanes>(a.from + 2 * p);
      to[p] = __builtin_shufflevector(two, two, 0, 1, 0, 1);
      to[p + 1] = __builtin_shufflevector(two, two, 2, 3, 2, 3);
    } else {
      for_each(std::make_integer_sequence<index, std::min<index>(Depth - p, 2)>{},
               [&](auto more) NARROW_INLINED {
                 const floats one = numbers_at<2>(a.from + (p + more) * a.step);
                 to[p + more] = __builtin_shufflevector(one, one, 0, 1, 0, 1);
               });
    }
  });
}
template <class Product, class A, class B, class C>
[[gnu::always_inline]] inline void multiply_in_pairs(const A& a, const B& b, const C& c, float alpha,
                                                     float beta) {
  constexpr int depth = Product::depth, pairs = Product::cols / 2;
  constexpr bool b_by_columns = Product::b_by_columns;
  constexpr int b_lines = b_by_columns ? 2 * pairs : depth, b_length = b_by_columns ? depth : 2 * pairs;
  vectors<depth> left;
  read_twice<depth>(a, left);
  lines_of_vectors<b_lines, b_length> right;
  read_lines<b_lines, b_length>(b, right);

  vectors<pairs> results;
  for_each(std::make_integer_sequence<index, pairs>{}, [&](auto v) NARROW_INLINED {
    floats sum = {};
    for_each(std::make_integer_sequence<index, depth>{}, [&](auto p) NARROW_INLINED {
      constexpr index j = 2 * v, l = b_by_columns ? j : p, i = b_by_columns ? p : j;
      constexpr index next_l = b_by_columns ? j + 1 : p, next_i = b_by_columns ? p : j + 1;
      sum =
          multiply_add(sum, left[p],
                       two_of<i % lanes, next_i % lanes>(right[l][i / lanes], right[next_l][next_i / lanes]));
    });
    results[v] = scaled<lanes>(sum, alpha, std::as_const(c.from) + v * lanes, beta);
  });
  store_all<2 * Product::cols, true>(results, c.from, 0);
}

/// A column of C after the other.
template <class Product, class A, class B, class C>
[[gnu::always_inline]] inline void multiply_by_columns(const A& a, const B& b, const C& c, float alpha,
                                                       float beta) {
  constexpr int rows = Product::rows, depth = Product::depth, cols = Product::cols, parts = vectors_of(rows);
  constexpr bool b_by_columns = Product::b_by_columns;
  constexpr int b_lines = b_by_columns ? cols : depth, b_length = b_by_columns ? depth : cols;
  lines_of_vectors<depth, rows> left;
  if constexpr (Product::a_by_columns)
    read_lines<depth, rows>(a, left);
  else
    read_across<rows, depth>(a, left);
  lines_of_vectors<b_lines, b_length> right;
  read_lines<b_lines, b_length>(b, right);

  vectors<cols * parts> results;
  for_each(std::make_integer_sequence<index, cols * parts>{}, [&](auto v) NARROW_INLINED {
    constexpr index j = v / parts, part = v % parts;
    floats sum = {};
    for_each(std::make_integer_sequence<index, depth>{}, [&](auto p) NARROW_INLINED {
      constexpr index l = b_by_columns ? j : p, i = b_by_columns ? p : j;
      sum = multiply_add(sum, left[p][part], all_of<i % lanes>(right[l][i / lanes]));
    });
    results[v] =
        scaled<count_in(rows, part)>(sum, alpha, std::as_const(c.from) + j * c.step + part * lanes, beta);
  });
  store_all<rows, true>(results, c.from, c.step);
}

/// As multiply_small of an instruction set: all of A and B is read before anything is written.
template <class Product, class A, class B, class C>
[[gnu::always_inline]] inline void multiply(const A& a, const B& b, const C& c, float alpha, float beta) {
  if constexpr (in_pairs<Product, A, B, C>)
    multiply_in_pairs<Product>(a, b, c, alpha, beta);
  else
    multiply_by_columns<Product>(a, b, c, alpha, beta);
}

template <class Product, class A, class B, class C>
[[gnu::noinline, gnu::cold]] bool multiply_otherwise(A a, B b, C c, float alpha, float beta) {
  return dispatch::has_few_lanes() && detail::with_float_environment([&] {
           multiply<Product>(a, b, c, alpha, beta);
           return true;
         });
}

#else

// What the door names, and nothing calls.
template <class Product, class A, class B, class C> void multiply(const A&, const B&, const C&, float, float);
template <class Product, class A, class B, class C> bool multiply_otherwise(A, B, C, float, float);

#endif

}  // namespace narrow::kernel::few
