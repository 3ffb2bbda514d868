// Expressions of fixed-point numbers as programs of lanes (kernel/elementwise/fixed.hpp). Each operation
// gives the number that the operator of that format gives; numbers of 32 bits, products and quotients of more
// than 16 bits, and factors, quotients and functions of numbers that wrap are computed in other ways.
#pragma once

#include "lane_broadcasts.hpp"
#include "lane_conditions.hpp"

namespace narrow::inline NARROW_ABI::detail {

template <lane_fixed_number T, class Plain>
struct lane_program<Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<T>, Plain>>
    : lane_numbers_of_any_order {
  using expression = Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<T>, Plain>;
  using number = T;
  template <traversal> static auto make(const expression& x) {
    return kernel::lane_mantissa{x.functor().m_other.bits()};
  }
};

template <lane_fixed_number T, class Plain>
struct lane_program<Eigen::CwiseNullaryOp<Eigen::internal::scalar_identity_op<T>, Plain>>
    : lane_identity_matrix {
  using number = T;
  template <traversal> static kernel::lane_identity<std::int32_t> make(const auto&) { return {T(1).bits()}; }
};

/// A fixed-point number as a float that has its value.
template <casts_to<float> Op, class Arg>
requires(lane_fixed_number<lane_number_of<Arg>>&& std::same_as<
         typename lane_number_of<Arg>::carrier, float>) struct lane_program<Eigen::CwiseUnaryOp<Op, Arg>>
    : lane_operands<Arg> {
  using expression = Eigen::CwiseUnaryOp<Op, Arg>;
  using number = float;
  template <traversal Order> static bool gapless(const expression& x) {
    return lane_program::template all_gapless<Order>(x.nestedExpression());
  }
  template <traversal Order> static auto make(const expression& x) {
    return kernel::lane_unary<kernel::lane_value<lane_number_of<Arg>>, lane_program_type<Arg, Order>>{
        lane_program_t<Arg>::template make<Order>(x.nestedExpression())};
  }
};

/// Whether a program makes floats of fixed-point numbers.
template <class Part> inline constexpr bool reads_fixed = false;
template <class Op, class A> inline constexpr bool reads_fixed<kernel::lane_unary<Op, A>> = reads_fixed<A>;
template <class T, class A>
inline constexpr bool reads_fixed<kernel::lane_unary<kernel::lane_value<T>, A>> = true;
template <class Op, class A, class B>
inline constexpr bool reads_fixed<kernel::lane_binary<Op, A, B>> = reads_fixed<A> || reads_fixed<B>;
template <class C, class A, class B>
inline constexpr bool reads_fixed<kernel::lane_choice<C, A, B>> =
    reads_fixed<C> || reads_fixed<A> || reads_fixed<B>;

// A number written beside a matrix enters the operation as it is. In lanes it is a factor or an addend.

template <class T> struct lane_scaling {
  using operation = kernel::lane_fixed<kernel::lane_product, T>;
  static kernel::lane_factor operand(double x) { return kernel::factor_of<T>(x); }
};
template <class T> struct lane_shift {
  using operation = kernel::lane_fixed<kernel::lane_sum, T>;
  static kernel::lane_addend operand(double x) { return kernel::addend_of<T>(x); }
};
template <class T> struct lane_shift_back {
  using operation = kernel::lane_fixed<kernel::lane_sum, T>;
  static kernel::lane_addend operand(double x) { return kernel::addend_of<T>(-x); }
};
template <class T> struct lane_distance {
  using operation = kernel::lane_fixed<kernel::lane_difference, T>;
  static kernel::lane_addend operand(double x) { return kernel::addend_of<T>(x); }
};

// Numbers divided by x, and x by numbers.
template <class T> struct lane_division {
  using operation = kernel::lane_fixed<kernel::lane_quotient, T>;
  static kernel::lane_divisor operand(double x) { return {x}; }
};
template <class T> struct lane_division_of {
  using operation = kernel::lane_fixed<kernel::lane_quotient, T>;
  static kernel::lane_dividend operand(double x) { return {x}; }
};

/// What Eigen's functor of a literal and of numbers of T is.
template <class Functor> struct literal_operation { using type = void; };
#define NARROW_LITERAL_OPERATION(operation, ...) \
  template <class T> struct literal_operation<Eigen::internal::__VA_ARGS__> { using type = operation<T>; };
NARROW_LITERAL_OPERATION(lane_scaling, scalar_product_op<literal, T>)
NARROW_LITERAL_OPERATION(lane_scaling, scalar_product_op<T, literal>)
NARROW_LITERAL_OPERATION(lane_shift, scalar_sum_op<literal, T>)
NARROW_LITERAL_OPERATION(lane_shift, scalar_sum_op<T, literal>)
NARROW_LITERAL_OPERATION(lane_shift_back, scalar_difference_op<T, literal>)
NARROW_LITERAL_OPERATION(lane_distance, scalar_difference_op<literal, T>)
NARROW_LITERAL_OPERATION(lane_division, scalar_quotient_op<T, literal>)
NARROW_LITERAL_OPERATION(lane_division_of, scalar_quotient_op<literal, T>)
#undef NARROW_LITERAL_OPERATION

template <class X> inline constexpr bool is_literal = false;
template <class Plain>
inline constexpr bool is_literal<Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<literal>, Plain>> =
    true;

/// A literal and numbers, in either order.
template <class L, class R> struct literal_operands {
  static constexpr bool is_first = is_literal<std::remove_cv_t<L>>;
  using numbers = std::conditional_t<is_first, R, L>;
  static const numbers& numbers_of(const L& l, const R& r) { return std::get<is_first>(std::tie(l, r)); }
  static double literal_of(const L& l, const R& r) {
    return std::get<!is_first>(std::tie(l, r)).functor().m_other.value;
  }
};
template <class Op, class L, class R>
concept lane_operation_with_literal =
    !std::is_void_v<typename literal_operation<Op>::type> &&
    is_literal<std::remove_cv_t<L>> != is_literal<std::remove_cv_t<R>> &&
    kernel::scaled_in_lanes<lane_number_of<typename literal_operands<L, R>::numbers>>;

template <class Op, class L, class R>
requires lane_operation_with_literal<Op, L, R>
struct lane_program<Eigen::CwiseBinaryOp<Op, L, R>>
    : lane_operands<typename literal_operands<L, R>::numbers> {
  using expression = Eigen::CwiseBinaryOp<Op, L, R>;
  using operands = literal_operands<L, R>;
  using numbers = typename operands::numbers;
  using applied = typename literal_operation<Op>::type;
  using number = lane_number_of<numbers>;
  template <traversal Order> static bool gapless(const expression& x) {
    return lane_program::template all_gapless<Order>(operands::numbers_of(x.lhs(), x.rhs()));
  }
  template <traversal Order> static auto make(const expression& x) {
    return kernel::lane_binary<typename applied::operation, decltype(applied::operand(0)),
                               lane_program_type<numbers, Order>>{
        applied::operand(operands::literal_of(x.lhs(), x.rhs())),
        lane_program_t<numbers>::template make<Order>(operands::numbers_of(x.lhs(), x.rhs()))};
  }
};

}  // namespace narrow::detail
