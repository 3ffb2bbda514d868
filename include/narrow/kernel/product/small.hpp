// Products of small matrices whose sizes are known when the program is compiled: one call, and nothing is
// looked up, packed or allocated.
#pragma once

#include "../elementwise/program.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

enum class line_order { columns, rows };

/// Not known when the program is compiled.
inline constexpr index any_step = -1;

/// How numbers of T lie: those of a column, or of a row, side by side, and Step numbers from one column, or
/// row, to the next.
template <class T, line_order Order, index Step = any_step> struct small_matrix {
  using scalar = T;
  static constexpr line_order order = Order;
  static constexpr index step = Step;

  T* from;
};
template <class T, line_order Order> struct small_matrix<T, Order, any_step> {
  using scalar = T;
  static constexpr line_order order = Order;

  T* from;
  index step;
};

constexpr line_order other(line_order order) {
  return order == line_order::columns ? line_order::rows : line_order::columns;
}
template <class T, line_order Order, index Step>
constexpr auto transposed(const small_matrix<T, Order, Step>& m) {
  if constexpr (Step == any_step)
    return small_matrix<T, other(Order)>{m.from, m.step};
  else
    return small_matrix<T, other(Order), Step>{m.from};
}

/// Whether M's numbers follow one another without gaps where there are so many to a line.
template <class T, line_order Order, index Step>
constexpr bool without_gaps(std::type_identity<small_matrix<T, Order, Step>>, index length) {
  return Step == length;
}

/// C = alpha A B + beta C for A (Rows, Depth) and B (Depth, Cols), each a small_matrix; C lies by columns,
/// and may share memory with A and B. Products are added in ascending order, in float; then as in every
/// product each operation is rounded to float, and the result to C's format. C is not read where beta is 0.
template <class A, class B, class C, int Rows, int Depth, int Cols> struct small_product {
  using function = void(A, B, C, float alpha, float beta);
  static constexpr int rows = Rows, depth = Depth, cols = Cols;
  static constexpr bool a_by_columns = A::order == line_order::columns,
                        b_by_columns = B::order == line_order::columns,
                        without_gaps =
                            kernel::without_gaps(std::type_identity<A>{}, a_by_columns ? Rows : Depth) &&
                            kernel::without_gaps(std::type_identity<B>{}, b_by_columns ? Depth : Cols) &&
                            kernel::without_gaps(std::type_identity<C>{}, Rows);
};

}  // namespace narrow::kernel

NARROW_STRICT_END
