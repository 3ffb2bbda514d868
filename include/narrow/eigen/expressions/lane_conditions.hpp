// Conditions in programs of lanes: choosing between numbers, and as numbers.
#pragma once

#include "lane_programs.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// use(condition, x, y) for `condition.select(x, y)`: a type of its own in Eigen 3.4, and in 5 one of all
/// ternary operations.
template <class Select, class Use> decltype(auto) with_operands(const Select& select, const Use& use) {
#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
  return use(select.arg3(), select.arg1(), select.arg2());
#else
  return use(select.conditionMatrix(), select.thenMatrix(), select.elseMatrix());
#endif
}

/// `condition.select(x, y)`.
template <class Condition, class X, class Y>
requires(lane_condition<Condition>&& lane_expression<X>&&
             lane_expressions_of<lane_number_of<X>, Y>) struct lane_program<Eigen::Select<Condition, X, Y>>
    : lane_operands<Condition, X, Y> {
  using number = lane_number_of<X>;
  using expression = Eigen::Select<Condition, X, Y>;
  template <traversal Order> static bool gapless(const expression& select) {
    return with_operands(select, [](const Condition& condition, const X& x, const Y& y) {
      return lane_program::template all_gapless<Order>(condition, x, y);
    });
  }
  template <traversal Order> static auto make(const expression& select) {
    return with_operands(select, [](const Condition& condition, const X& x, const Y& y) {
      return kernel::lane_choice<lane_program_type<Condition, Order>, lane_program_type<X, Order>,
                                 lane_program_type<Y, Order>>{
          lane_program_t<Condition>::template make<Order>(condition),
          lane_program_t<X>::template make<Order>(x), lane_program_t<Y>::template make<Order>(y)};
    });
  }
};

/// A condition as numbers, 1 where it holds.
template <class Op, class Condition>
requires(casts_bool<Op>&& lane_condition<Condition>) struct lane_program<Eigen::CwiseUnaryOp<Op, Condition>>
    : lane_operands<Condition> {
  using number = float;
  using expression = Eigen::CwiseUnaryOp<Op, Condition>;
  template <traversal Order> static bool gapless(const expression& x) {
    return lane_program::template all_gapless<Order>(x.nestedExpression());
  }
  template <traversal Order> static auto make(const expression& x) {
    return kernel::lane_choice<lane_program_type<Condition, Order>, kernel::lane_constant,
                               kernel::lane_constant>{
        lane_program_t<Condition>::template make<Order>(x.nestedExpression()), {1}, {0}};
  }
};

}  // namespace narrow::detail
