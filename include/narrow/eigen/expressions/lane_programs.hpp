// Coefficient-wise expressions of narrow numbers as programs of lanes (kernel/elementwise/program.hpp):
// computed in one loop from end to end, with the vectors of this processor.
//
// They give the numbers that evaluators.hpp gives coefficient by coefficient. Expressions with functions that
// wide_functors.hpp does not list, or floats rounded otherwise than to nearest even, are computed in other
// ways.
#pragma once

#include "../../kernel/elementwise.hpp"
#include "piecewise.hpp"

namespace narrow::inline NARROW_ABI::detail {

template <class T>
concept lane_number = std::same_as<T, float> ||(narrow_float<T>&& kernel::has_coder<T>);
/// Fixed-point formats that programs compute with: all that leave a bit for a sum.
template <class T>
concept lane_fixed_number =
    narrow_fixed<T> && T::word_length < max_word_length&& kernel::has_lane_rounding<typename T::round_policy>;

/// An expression as a program:
///
///   number                  what it gives: float, a fixed-point format, bool for conditions; void for none
///   orders                  the storage orders of the matrices in it
///   gapless<Order>(x)       whether its lines of that order lie one after the other, so that they are one
///   always_gapless<Order>   whether the compiler knows that they do
///   make<Order>(x)          the program, along lines of that order
///   computes_first          there and true where that computes a product, which the program then reads
///   dequantizes             there and true where that makes floats of a tensor, which the program then reads
template <class X> struct lane_program { using number = void; };

template <class X> using lane_program_t = lane_program<std::remove_cv_t<X>>;
/// The type of a program. (Those that make one hand it on without a name: a copy of it would be read by g++
/// in words of 128 bits right after it was written in words of 64, for which a processor has to wait.)
template <class X, traversal Order>
using lane_program_type = decltype(lane_program_t<X>::template make<Order>(std::declval<const X&>()));
template <class X> using lane_number_of = typename lane_program_t<X>::number;
template <class Number, class... X>
concept lane_expressions_of = (std::same_as<lane_number_of<X>, Number> && ...);
template <class... X>
concept lane_expressions = lane_expressions_of<float, X...>;
template <class X>
concept lane_condition = lane_expressions_of<bool, X>;
template <class X>
concept lane_expression = !std::is_void_v<lane_number_of<X>>;

template <class X>
concept computes_first = requires {
  requires lane_program_t<X>::computes_first;
};
template <class X>
concept dequantizes = requires {
  requires lane_program_t<X>::dequantizes;
};
/// So many floats of a tensor stay in the caches until a program reads them.
inline constexpr Eigen::Index max_dequantized = Eigen::Index{1} << 18;
/// An expression whose reductions are programs. Eigen makes an evaluator of it before that, in which a
/// product within it is computed already.
template <class X>
concept reduced_in_lanes = lane_expression<X> && !computes_first<X>;

/// Whether an operation on numbers of a fixed-point format is computed in lanes.
template <class Op, class T> inline constexpr bool has_fixed_lanes = !std::is_void_v<Op>;
#define NARROW_FIXED_LANES(where, operation) \
  template <class T> inline constexpr bool has_fixed_lanes<kernel::operation, T> = kernel::where<T>;
NARROW_FIXED_LANES(multiplied_in_lanes, lane_product)
NARROW_FIXED_LANES(multiplied_in_lanes, lane_square)
NARROW_FIXED_LANES(multiplied_in_lanes, lane_cube)
NARROW_FIXED_LANES(multiplied_in_lanes, lane_floor)
NARROW_FIXED_LANES(multiplied_in_lanes, lane_ceiling)
NARROW_FIXED_LANES(multiplied_in_lanes, lane_nearest_away)
NARROW_FIXED_LANES(multiplied_in_lanes, lane_nearest_even)
NARROW_FIXED_LANES(scaled_in_lanes, lane_quotient)
NARROW_FIXED_LANES(scaled_in_lanes, lane_inverse)
NARROW_FIXED_LANES(scaled_in_lanes, lane_root)
#undef NARROW_FIXED_LANES
template <class Function, class T>
inline constexpr bool has_fixed_lanes<kernel::lane_function<Function>, T> = kernel::scaled_in_lanes<T>;

/// An operation on floats as one on numbers of a fixed-point format; void where that is not computed in
/// lanes.
template <class Op, class T>
using fixed_operation = std::conditional_t<has_fixed_lanes<Op, T>, kernel::lane_fixed<Op, T>, void>;

/// An operation and the type of its operands; void where there is none.
template <class Op, class Number> struct operation_on { using type = void; };
template <class Op> struct operation_on<Op, float> {
  using type = Op;
  using operand = float;
};
template <class Op> struct operation_on<Op, bool> {
  using type = Op;
  using operand = bool;
};
template <class Op, lane_fixed_number T> struct operation_on<Op, T> {
  using type = fixed_operation<Op, T>;
  using operand = T;
};

/// What Eigen's functor of wide numbers is in a program, as an operation_on; for most there is none.
template <class Functor> struct lane_operation { using type = void; };
#define NARROW_LANE_OPERATION(operation, ...) \
  template <class T>                          \
  struct lane_operation<Eigen::internal::__VA_ARGS__> : operation_on<kernel::operation, T> {};
NARROW_LANE_OPERATION(lane_sum, scalar_sum_op<T, T>)
NARROW_LANE_OPERATION(lane_difference, scalar_difference_op<T, T>)
NARROW_LANE_OPERATION(lane_product, scalar_product_op<T, T>)
NARROW_LANE_OPERATION(lane_quotient, scalar_quotient_op<T, T>)
NARROW_LANE_OPERATION(lane_smaller, scalar_min_op<T, T, Eigen::PropagateFast>)
NARROW_LANE_OPERATION(lane_larger, scalar_max_op<T, T, Eigen::PropagateFast>)
NARROW_LANE_OPERATION(lane_negative, scalar_opposite_op<T>)
NARROW_LANE_OPERATION(lane_absolute, scalar_abs_op<T>)
NARROW_LANE_OPERATION(lane_square, scalar_abs2_op<T>)
NARROW_LANE_OPERATION(lane_square, scalar_square_op<T>)
NARROW_LANE_OPERATION(lane_root, scalar_sqrt_op<T>)
NARROW_LANE_OPERATION(lane_inverse, scalar_inverse_op<T>)
NARROW_LANE_OPERATION(lane_cube, scalar_cube_op<T>)
NARROW_LANE_OPERATION(lane_floor, scalar_floor_op<T>)
NARROW_LANE_OPERATION(lane_ceiling, scalar_ceil_op<T>)
NARROW_LANE_OPERATION(lane_nearest_away, scalar_round_op<T>)
NARROW_LANE_OPERATION(lane_nearest_even, scalar_rint_op<T>)
NARROW_LANE_OPERATION(lane_less, scalar_cmp_op<T, T, Eigen::internal::cmp_LT>)
NARROW_LANE_OPERATION(lane_not_greater, scalar_cmp_op<T, T, Eigen::internal::cmp_LE>)
NARROW_LANE_OPERATION(lane_equal, scalar_cmp_op<T, T, Eigen::internal::cmp_EQ>)
NARROW_LANE_OPERATION(lane_unequal, scalar_cmp_op<T, T, Eigen::internal::cmp_NEQ>)
#undef NARROW_LANE_OPERATION
// On floats or conditions only.
#define NARROW_LANE_OPERATION_ON(operand, operation, ...) \
  template <>                                             \
  struct lane_operation<Eigen::internal::__VA_ARGS__> : operation_on<kernel::operation, operand> {};
NARROW_LANE_OPERATION_ON(float, lane_power, scalar_pow_op<float, float>)
NARROW_LANE_OPERATION_ON(float, lane_is_nan, scalar_isnan_op<float>)
NARROW_LANE_OPERATION_ON(float, lane_is_infinite, scalar_isinf_op<float>)
NARROW_LANE_OPERATION_ON(float, lane_is_finite, scalar_isfinite_op<float>)
NARROW_LANE_OPERATION_ON(bool, lane_not, scalar_boolean_not_op<bool>)
#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
NARROW_LANE_OPERATION_ON(float, lane_truncated, scalar_trunc_op<float>)
NARROW_LANE_OPERATION_ON(bool, lane_and, scalar_boolean_and_op<bool>)
NARROW_LANE_OPERATION_ON(bool, lane_or, scalar_boolean_or_op<bool>)
#else
NARROW_LANE_OPERATION_ON(float, lane_sign, scalar_sign_op<float>)
NARROW_LANE_OPERATION_ON(bool, lane_and, scalar_boolean_and_op)
NARROW_LANE_OPERATION_ON(bool, lane_or, scalar_boolean_or_op)
#endif
#undef NARROW_LANE_OPERATION_ON
template <class Functor>
requires(!std::is_void_v<typename lane_function_of<Functor>::type>) struct lane_operation<Functor>
    : operation_on<typename lane_function_of<Functor>::type, float> {
};
template <class Functor>
requires kernel::has_lanes<typename fixed_function<Functor>::type>
struct lane_operation<Functor> : operation_on<kernel::lane_function<typename fixed_function<Functor>::type>,
                                              typename fixed_function<Functor>::number> {
};

template <class Op> using lane_operation_of = lane_operation<typename wide_functor<Op>::type>;
template <class Op> using lane_operation_t = typename lane_operation_of<Op>::type;
template <class Op>
concept lane_functor = !std::is_void_v<lane_operation_t<Op>>;
/// Whether these expressions are operands for it.
template <class Op, class... X>
concept lane_operation_on =
    lane_functor<Op> && lane_expressions_of<typename lane_operation_of<Op>::operand, X...>;

/// Numbers in memory; Step, those from one to the next on a line, may be known at compile time.
template <int Step, class T> auto lane_leaf(const T* from, Eigen::Index line_step, Eigen::Index step) {
  // In a register of its own: g++ would read it out of an expression with the number beside it, as one vector
  // right after they were written as two words, for which a processor has to wait.
  asm("" : "+r"(from));
  if constexpr (Step == 1)
    return kernel::lane_numbers<T>{from, line_step};
  else
    return kernel::lane_spread_numbers<T>{from, line_step, step};
}
/// The leaf of a program for the numbers of X, which are in memory; members as of lane_program.
template <class X> struct lane_memory {
  static constexpr traversal orders = storage_order_of<X>;
  template <traversal Order> static bool gapless(const X& x) { return Order == orders && without_gaps(x); }
  template <traversal Order> static constexpr bool always_gapless = Order == orders&& always_without_gaps<X>;
  template <traversal Order> static auto make(const X& x) {
    if constexpr (Order == orders)
      return lane_leaf<X::InnerStrideAtCompileTime>(x.data(), x.outerStride(), x.innerStride());
    else
      return lane_leaf<Eigen::Dynamic>(x.data(), x.innerStride(), x.outerStride());
  }
};
template <class X>
requires(direct_access<X> &&
         (lane_number<typename X::Scalar> || lane_fixed_number<typename X::Scalar>)) struct lane_program<X>
    : lane_memory<X> {
  using number = widened_t<typename X::Scalar>;
};

/// Whether n numbers, at compile time, are so few that a loop over them is worth laying out.
constexpr bool is_few(int n) { return 1 <= n && n <= 64; }

/// A matrix of the shape of X that a program holds. Eigen wants vectors in the order of their one line.
template <class T, class X, traversal Order>
using held_like = std::conditional_t<bool(X::IsVectorAtCompileTime), plain_like<T, X>,
                                     Eigen::Matrix<T, X::RowsAtCompileTime, X::ColsAtCompileTime,
                                                   Order == by_rows ? Eigen::RowMajor : Eigen::ColMajor,
                                                   X::MaxRowsAtCompileTime, X::MaxColsAtCompileTime>>;

/// What numbers have that lie in no matrix of the user's: lines of either order, without gaps.
struct lane_numbers_of_any_order {
  static constexpr int orders = 0;
  template <traversal> static bool gapless(const auto&) { return true; }
  template <traversal> static constexpr bool always_gapless = true;
};

/// The same of numbers that depend on the line.
struct lane_identity_matrix {
  static constexpr int orders = 0;
  template <traversal> static bool gapless(const auto&) { return false; }
  template <traversal> static constexpr bool always_gapless = false;
};

/// `Identity()` of few numbers.
template <narrow_float T, class Plain>
requires(is_few(Plain::SizeAtCompileTime)) struct lane_program<
    Eigen::CwiseNullaryOp<Eigen::internal::scalar_identity_op<T>, Plain>> : lane_numbers_of_any_order {
  using expression = Eigen::CwiseNullaryOp<Eigen::internal::scalar_identity_op<T>, Plain>;
  using number = float;
  template <traversal Order> static auto make(const expression& x) {
    using held = held_like<float, Plain, Order>;
    return kernel::lane_held<held>{held::Identity(), Order == by_rows ? x.cols() : x.rows()};
  }
};

/// `Identity()` of more.
template <float_or_rounded_to T, class Plain>
requires(!is_few(Plain::SizeAtCompileTime)) struct lane_program<
    Eigen::CwiseNullaryOp<Eigen::internal::scalar_identity_op<T>, Plain>> : lane_identity_matrix {
  using number = float;
  template <traversal> static kernel::lane_identity<float> make(const auto&) {
    return {convert_coefficient<float>(T(1))};
  }
};

template <float_or_rounded_to T, class Plain>
struct lane_program<Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<T>, Plain>>
    : lane_numbers_of_any_order {
  using expression = Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<T>, Plain>;

  using number = float;
  template <traversal> static auto make(const expression& x) {
    if constexpr (lane_number<T> && narrow_float<T>)
      return kernel::lane_single<T>{x.functor().m_other};
    else
      return kernel::lane_constant{convert_coefficient<float>(x.functor().m_other)};
  }
};

/// What an expression of Operands has of all of them.
template <class... Operands> struct lane_operands {
  static constexpr int orders = (0 | ... | int(lane_program_t<Operands>::orders));
  template <traversal Order>
  static constexpr bool always_gapless = (lane_program_t<Operands>::template always_gapless<Order> && ...);
  static constexpr bool computes_first = (detail::computes_first<Operands> || ...),
                        dequantizes = (detail::dequantizes<Operands> || ...);

 protected:
  template <traversal Order> static bool all_gapless(const Operands&... x) {
    return (lane_program_t<Operands>::template gapless<Order>(x) && ...);
  }
};

/// Whether a functor of numbers gives conditions.
template <class Op> inline constexpr bool compares = false;
template <class T, Eigen::internal::ComparisonName Comparison>
inline constexpr bool compares<Eigen::internal::scalar_cmp_op<T, T, Comparison>> = true;
#if !EIGEN_VERSION_AT_LEAST(4, 0, 0)
template <class T> inline constexpr bool compares<Eigen::numext::equal_to<T>> = true;
template <class T> inline constexpr bool compares<Eigen::numext::not_equal_to<T>> = true;
#endif
template <class T> inline constexpr bool compares<Eigen::internal::scalar_isnan_op<T>> = true;
template <class T> inline constexpr bool compares<Eigen::internal::scalar_isinf_op<T>> = true;
template <class T> inline constexpr bool compares<Eigen::internal::scalar_isfinite_op<T>> = true;

template <class Op, class Arg>
requires lane_operation_on<Op, Arg>
struct lane_program<Eigen::CwiseUnaryOp<Op, Arg>> : lane_operands<Arg> {
  using number = std::conditional_t<compares<Op>, bool, lane_number_of<Arg>>;
  using expression = Eigen::CwiseUnaryOp<Op, Arg>;
  template <traversal Order> static bool gapless(const expression& x) {
    return lane_program::template all_gapless<Order>(x.nestedExpression());
  }
  template <traversal Order> static auto make(const expression& x) {
    return kernel::lane_unary<lane_operation_t<Op>, lane_program_type<Arg, Order>>{
        lane_program_t<Arg>::template make<Order>(x.nestedExpression())};
  }
};

template <class Op, class L, class R>
requires lane_operation_on<Op, L, R>
struct lane_program<Eigen::CwiseBinaryOp<Op, L, R>> : lane_operands<L, R> {
  using number = std::conditional_t<compares<Op>, bool, lane_number_of<L>>;
  using expression = Eigen::CwiseBinaryOp<Op, L, R>;
  template <traversal Order> static bool gapless(const expression& x) {
    return lane_program::template all_gapless<Order>(x.lhs(), x.rhs());
  }
  template <traversal Order> static auto make(const expression& x) {
    return kernel::lane_binary<lane_operation_t<Op>, lane_program_type<L, Order>,
                               lane_program_type<R, Order>>{lane_program_t<L>::template make<Order>(x.lhs()),
                                                            lane_program_t<R>::template make<Order>(x.rhs())};
  }
};

/// An expression with the coefficients of the one below it, in their places.
template <class X, class Below> struct lane_wrapper : lane_operands<Below> {
  using number = lane_number_of<Below>;
  template <traversal Order> static bool gapless(const X& x) {
    return lane_wrapper::template all_gapless<Order>(x.nestedExpression());
  }
  template <traversal Order> static auto make(const X& x) {
    return lane_program_t<Below>::template make<Order>(x.nestedExpression());
  }
};
template <casts_to<float> Op, class Arg>
requires lane_expressions<Arg>
struct lane_program<Eigen::CwiseUnaryOp<Op, Arg>> : lane_wrapper<Eigen::CwiseUnaryOp<Op, Arg>, Arg> {
};
template <class Arg>
requires(!direct_access<Eigen::ArrayWrapper<Arg>> &&
         lane_expression<Arg>) struct lane_program<Eigen::ArrayWrapper<Arg>>
    : lane_wrapper<Eigen::ArrayWrapper<Arg>, Arg> {
};
template <class Arg>
requires(!direct_access<Eigen::MatrixWrapper<Arg>> &&
         lane_expression<Arg>) struct lane_program<Eigen::MatrixWrapper<Arg>>
    : lane_wrapper<Eigen::MatrixWrapper<Arg>, Arg> {
};

/// use(shape of x along lines of Order): one line where that is joined, which the compiler knows if
/// AlwaysJoined.
template <bool AlwaysJoined, traversal Order, class X, class Use>
[[gnu::always_inline]] inline decltype(auto) in_shape_along(const X& x, bool joined, const Use& use) {
  constexpr bool by_column = Order == by_columns;
  constexpr int length = by_column ? X::RowsAtCompileTime : X::ColsAtCompileTime, size = X::SizeAtCompileTime;
  if constexpr (is_few(size)) {
    return use(kernel::fixed_shape < AlwaysJoined ? 1 : size / length, AlwaysJoined ? size : length > {});
  } else if constexpr (size == length && bool(X::IsVectorAtCompileTime)) {
    return use(kernel::one_line{x.size()});
  } else {
    const Eigen::Index rows = x.rows(), cols = x.cols();
    return use(joined ? kernel::line_shape{1, x.size()}
                      : kernel::line_shape{by_column ? cols : rows, by_column ? rows : cols});
  }
}

/// A type that programs round floats to.
template <class T>
concept rounds_in_lanes = lane_number<T> &&
    (std::same_as<T, float> || std::same_as<typename policy_of<T>::type, rounding::nearest_even>);

/// A destination that a program can write.
template <class Dst>
concept lane_destination = direct_access<Dst> &&
    (rounds_in_lanes<typename Dst::Scalar> || lane_fixed_number<typename Dst::Scalar>);

/// Whether dst = x is codes that lie across the lines of dst, which only move.
template <class Dst, class X>
concept moves_across_lines =
    direct_access<X> && std::same_as<typename Dst::Scalar, typename X::Scalar> && storage_order_of<Dst>
!= storage_order_of<X>;

/// What Combine, a functor of floats, is in a program that gives numbers of this type.
template <class Combine, class Number> struct lane_combination { using type = lane_operation_t<Combine>; };
template <class Combine, lane_fixed_number T> struct lane_combination<Combine, T> {
  using type = fixed_operation<lane_operation_t<Combine>, T>;
};
template <class Combine, class Number>
using lane_combination_t = typename lane_combination<Combine, Number>::type;

template <class Combine, class Dst, class X>
concept assigned_in_lanes = lane_destination<Dst> &&
    lane_expressions_of<widened_t<typename Dst::Scalar>, X> &&
    (std::is_void_v<Combine>
         ? !moves_across_lines<Dst, X> && !(narrow_fixed<typename Dst::Scalar> && direct_access<X>)
         : !std::is_void_v<lane_combination_t<Combine, lane_number_of<X>>>);

/// Whether lines of Dst that follow one another are stored as one. Lines of three numbers are not: the next
/// that reads them may be an expression of single columns, which the processor hands on what was stored in
/// the same parts.
template <class Dst> inline constexpr bool stored_together = line_length_of<Dst> != 3;

/// assign_in_lanes, of as many numbers as there may be.
template <class Combine, class Dst, class X, class Fit>
[[gnu::always_inline]] inline auto assign_program(Dst& dst, const X& x, const Fit& fit) {
  constexpr traversal order = storage_order_of<Dst>;
  using program = lane_program_t<X>;
  using place = lane_program<Dst>;
  // What reads the old dst before the program runs has read it in making the program.
  const auto store = [&](const auto& p) __attribute__((always_inline)) {
    fit();
    const bool one_line = place::template gapless<order>(dst) && program::template gapless<order>(x);
    if constexpr (Dst::InnerStrideAtCompileTime == 1)
      return in_shape_along < stored_together<Dst> && place::template always_gapless<order> &&
                 program::template always_gapless<order>,
             order > (
                         dst, one_line, [&](const auto& shape) __attribute__((always_inline)) {
                           return kernel::store_program(p, dst.data(), dst.outerStride(), shape);
                         });
    else
      return in_shape_along<false, order>(
          dst, one_line, [&](const auto& shape) __attribute__((always_inline)) {
            return kernel::spread_program(p, dst.data(),
                                          kernel::line_steps{dst.outerStride(), dst.innerStride()}, shape);
          });
  };
  if constexpr (std::is_void_v<Combine>)
    return store(program::template make<order>(x));
  else
    return store(kernel::lane_binary<lane_combination_t<Combine, lane_number_of<X>>,
                                     lane_program_type<Dst, order>, lane_program_type<X, order>>{
        place::template make<order>(dst), program::template make<order>(x)});
}

/// dst = Combine(dst, x), or dst = x for void, after fit() has given dst its size. False, and nothing is
/// stored, if that has to be computed in another way (see store_program).
template <class Combine, class Dst, class X, class Fit>
requires assigned_in_lanes<Combine, Dst, X>
[[gnu::always_inline]] inline auto assign_in_lanes(Dst& dst, const X& x, const Fit& fit) {
  if constexpr (dequantizes<X>)
    return x.size() <= max_dequantized && assign_program<Combine>(dst, x, fit);
  else
    return assign_program<Combine>(dst, x, fit);
}

}  // namespace narrow::detail
