// Products of small matrices whose sizes are known when the program is compiled: one call, and nothing is
// looked up, packed or allocated.
#pragma once

#include "../elementwise/program.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

enum class line_order { columns, rows };

/// How numbers of T lie: those of a column, or of a row, side by side.
template <class T, line_order Order> struct small_matrix {
  using scalar = T;
  static constexpr line_order order = Order;

  T* from;
  index step;  // from one column, or row, to the next

  small_matrix<T, Order == line_order::columns ? line_order::rows : line_order::columns> transposed() const {
    return {from, step};
  }
};

/// C = alpha A B + beta C for A (Rows, Depth) and B (Depth, Cols), each a small_matrix; C lies by columns,
/// and may share memory with A and B. Products are added in ascending order, in float; then as in every
/// product each operation is rounded to float, and the result to C's format. C is not read where beta is 0.
template <class A, class B, class C, int Rows, int Depth, int Cols> struct small_product {
  using function = void(const A&, const B&, const C&, float alpha, float beta);
  static constexpr int rows = Rows, depth = Depth, cols = Cols;
};

}  // namespace narrow::kernel

NARROW_STRICT_END
