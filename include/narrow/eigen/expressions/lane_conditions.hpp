// Conditions in programs of lanes: joined by `&&`, `||` and `!`, choosing between numbers, and as numbers.
#pragma once

#include "lane_programs.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// What Eigen's functor of conditions is in a program.
template <class Op> struct condition_operation { using type = void; };
#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
template <> struct condition_operation<Eigen::internal::scalar_boolean_and_op<bool>> {
  using type = kernel::lane_and;
};
template <> struct condition_operation<Eigen::internal::scalar_boolean_or_op<bool>> {
  using type = kernel::lane_or;
};
#else
template <> struct condition_operation<Eigen::internal::scalar_boolean_and_op> {
  using type = kernel::lane_and;
};
template <> struct condition_operation<Eigen::internal::scalar_boolean_or_op> {
  using type = kernel::lane_or;
};
#endif
template <> struct condition_operation<Eigen::internal::scalar_boolean_not_op<bool>> {
  using type = kernel::lane_not;
};
template <class Op, class... X>
concept joins_conditions =
    !std::is_void_v<typename condition_operation<Op>::type> && (lane_condition<X> && ...);

template <class Op, class L, class R>
requires joins_conditions<Op, L, R>
struct lane_program<Eigen::CwiseBinaryOp<Op, L, R>> : lane_operands<L, R> {
  using number = bool;
  using expression = Eigen::CwiseBinaryOp<Op, L, R>;
  template <traversal Order> static bool gapless(const expression& x) {
    return lane_program::template all_gapless<Order>(x.lhs(), x.rhs());
  }
  template <traversal Order> static auto make(const expression& x) {
    return kernel::lane_binary<typename condition_operation<Op>::type, lane_program_type<L, Order>,
                               lane_program_type<R, Order>>{lane_program_t<L>::template make<Order>(x.lhs()),
                                                            lane_program_t<R>::template make<Order>(x.rhs())};
  }
};
template <class Op, class X>
requires joins_conditions<Op, X>
struct lane_program<Eigen::CwiseUnaryOp<Op, X>> : lane_operands<X> {
  using number = bool;
  using expression = Eigen::CwiseUnaryOp<Op, X>;
  template <traversal Order> static bool gapless(const expression& x) {
    return lane_program::template all_gapless<Order>(x.nestedExpression());
  }
  template <traversal Order> static auto make(const expression& x) {
    return kernel::lane_unary<typename condition_operation<Op>::type, lane_program_type<X, Order>>{
        lane_program_t<X>::template make<Order>(x.nestedExpression())};
  }
};

// The operands of `condition.select(x, y)`, a type of its own in Eigen 3.4 and one of all ternary operations
// in 5.
template <class Select> const auto& condition_of(const Select& x) {
#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
  return x.arg3();
#else
  return x.conditionMatrix();
#endif
}
template <class Select> const auto& chosen_where_it_holds(const Select& x) {
#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
  return x.arg1();
#else
  return x.thenMatrix();
#endif
}
template <class Select> const auto& chosen_elsewhere(const Select& x) {
#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
  return x.arg2();
#else
  return x.elseMatrix();
#endif
}

/// `condition.select(x, y)`.
template <class Condition, class X, class Y>
requires(lane_condition<Condition>&& lane_expression<X>&&
             lane_expressions_of<lane_number_of<X>, Y>) struct lane_program<Eigen::Select<Condition, X, Y>>
    : lane_operands<Condition, X, Y> {
  using number = lane_number_of<X>;
  using expression = Eigen::Select<Condition, X, Y>;
  template <traversal Order> static bool gapless(const expression& x) {
    return lane_program::template all_gapless<Order>(condition_of(x), chosen_where_it_holds(x),
                                                     chosen_elsewhere(x));
  }
  template <traversal Order> static auto make(const expression& x) {
    return kernel::lane_choice<lane_program_type<Condition, Order>, lane_program_type<X, Order>,
                               lane_program_type<Y, Order>>{
        lane_program_t<Condition>::template make<Order>(condition_of(x)),
        lane_program_t<X>::template make<Order>(chosen_where_it_holds(x)),
        lane_program_t<Y>::template make<Order>(chosen_elsewhere(x))};
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
