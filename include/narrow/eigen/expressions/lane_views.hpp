// Programs of lanes that read what a view shows in another order: transposes and reverses.
#pragma once

#include "lane_programs.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// The transpose of an expression that is computed: along its columns where lines are rows.
template <class X>
requires(!direct_access<Eigen::Transpose<X>> && lane_expression<X>) struct lane_program<Eigen::Transpose<X>> {
  using below = lane_program_t<X>;
  static constexpr traversal other(int order) { return order == by_columns ? by_rows : by_columns; }

  using number = lane_number_of<X>;
  static constexpr int orders =
      below::orders == 0 || below::orders == (by_columns | by_rows) ? below::orders : other(below::orders);
  static constexpr bool computes_first = detail::computes_first<X>, dequantizes = detail::dequantizes<X>;
  template <traversal Order> static bool gapless(const Eigen::Transpose<X>& x) {
    return below::template gapless<other(Order)>(x.nestedExpression());
  }
  template <traversal Order>
  static constexpr bool always_gapless = below::template always_gapless<other(Order)>;
  template <traversal Order> static auto make(const Eigen::Transpose<X>& x) {
    return below::template make<other(Order)>(x.nestedExpression());
  }
};

/// A matrix in memory from its last row, or column, or both, to its first one.
template <class X, int Direction>
requires(
    direct_access<X>&& lane_number<typename X::Scalar>) struct lane_program<Eigen::Reverse<X, Direction>> {
  static constexpr bool turns_rows = Direction != Eigen::Horizontal,
                        turns_cols = Direction != Eigen::Vertical;

  using number = float;
  static constexpr traversal orders = storage_order_of<X>;
  template <traversal> static bool gapless(const Eigen::Reverse<X, Direction>&) { return false; }
  template <traversal> static constexpr bool always_gapless = false;
  template <traversal Order> static auto make(const Eigen::Reverse<X, Direction>& reverse) {
    const X& x = reverse.nestedExpression();
    const matrix_view<const typename X::Scalar> m = view_of_direct(x);
    const auto* const first =
        x.size() == 0 ? m.data : &m(turns_rows ? m.rows - 1 : 0, turns_cols ? m.cols - 1 : 0);
    const Eigen::Index row_step = turns_rows ? -m.row_stride : m.row_stride,
                       col_step = turns_cols ? -m.col_stride : m.col_stride;
    constexpr bool keeps_lines = Order == orders && !(Order == by_columns ? turns_rows : turns_cols);
    return lane_leaf < keeps_lines ? int(X::InnerStrideAtCompileTime)
                                   : Eigen::Dynamic > (first, Order == by_columns ? col_step : row_step,
                                                       Order == by_columns ? row_step : col_step);
  }
};

}  // namespace narrow::detail
