// Coefficient-wise expressions of narrow floats as programs of lanes (kernel/elementwise/program.hpp):
// computed in one loop from end to end, with the vectors of this processor.
//
// They give the numbers that evaluators.hpp gives coefficient by coefficient. Expressions with functions,
// with narrow numbers that do not lie one after the other, or rounded otherwise than to nearest even are
// computed in other ways.
#pragma once

#include "../../kernel/elementwise.hpp"
#include "piecewise.hpp"

namespace narrow::inline NARROW_ABI::detail {

template <class T>
concept lane_number = std::same_as<T, float> ||(narrow_float<T>&& kernel::has_coder<T>);

/// An expression as a program:
///
///   exists                  whether it can be one
///   is_condition            whether that gives conditions, as a comparison does, and not numbers
///   orders                  the storage orders of the matrices in it
///   required_orders         those of the matrices that are not copied if lines of another order are taken
///   adjacent(x)             whether the numbers of each of its lines lie one after the other
///   gapless(x)              whether its lines do, so that they are one
///   always_gapless          whether the compiler knows that they do
///   make<Order>(x)          the program, along lines of that order
template <class X> struct lane_program { static constexpr bool exists = false, is_condition = false; };

template <class X> using lane_program_t = lane_program<std::remove_cv_t<X>>;
/// The type of a program. (Those that make one hand it on without a name: a copy of it would be read by g++
/// in words of 128 bits right after it was written in words of 64, for which a processor has to wait.)
template <class X, traversal Order>
using lane_program_type = decltype(lane_program_t<X>::template make<Order>(std::declval<const X&>()));
template <class... X>
concept lane_expressions = ((lane_program_t<X>::exists && !lane_program_t<X>::is_condition) && ...);
template <class X>
concept lane_condition = lane_program_t<X>::is_condition;

/// What Eigen's functor of floats is in a program: void for most.
template <class Functor> struct lane_operation { using type = void; };
template <class Op> using lane_operation_t = typename lane_operation<typename wide_functor<Op>::type>::type;
template <class Op>
concept lane_functor = !std::is_void_v<lane_operation_t<Op>>;
#define NARROW_LANE_OPERATION(operation, ...) \
  template <> struct lane_operation<Eigen::internal::__VA_ARGS__> { using type = kernel::operation; };
NARROW_LANE_OPERATION(lane_sum, scalar_sum_op<float, float>)
NARROW_LANE_OPERATION(lane_difference, scalar_difference_op<float, float>)
NARROW_LANE_OPERATION(lane_product, scalar_product_op<float, float>)
NARROW_LANE_OPERATION(lane_quotient, scalar_quotient_op<float, float>)
NARROW_LANE_OPERATION(lane_smaller, scalar_min_op<float, float, Eigen::PropagateFast>)
NARROW_LANE_OPERATION(lane_larger, scalar_max_op<float, float, Eigen::PropagateFast>)
NARROW_LANE_OPERATION(lane_negative, scalar_opposite_op<float>)
NARROW_LANE_OPERATION(lane_absolute, scalar_abs_op<float>)
NARROW_LANE_OPERATION(lane_square, scalar_abs2_op<float>)
NARROW_LANE_OPERATION(lane_square, scalar_square_op<float>)
NARROW_LANE_OPERATION(lane_less, scalar_cmp_op<float, float, Eigen::internal::cmp_LT>)
NARROW_LANE_OPERATION(lane_not_greater, scalar_cmp_op<float, float, Eigen::internal::cmp_LE>)
NARROW_LANE_OPERATION(lane_equal, scalar_cmp_op<float, float, Eigen::internal::cmp_EQ>)
NARROW_LANE_OPERATION(lane_unequal, scalar_cmp_op<float, float, Eigen::internal::cmp_NEQ>)
#undef NARROW_LANE_OPERATION

/// Whether n numbers, at compile time, are so few that a loop over them is worth laying out, and that a copy
/// of them costs less than another way to compute.
constexpr bool is_few(int n) { return 1 <= n && n <= 64; }

/// A matrix of X's sizes for few numbers that are computed or copied before the program runs. Eigen wants
/// vectors in the order of their one line.
template <class T, class X, traversal Order>
using held_matrix = std::conditional_t<bool(X::IsVectorAtCompileTime), plain_like<T, X>,
                                       Eigen::Matrix<T, X::RowsAtCompileTime, X::ColsAtCompileTime,
                                                     Order == by_rows ? Eigen::RowMajor : Eigen::ColMajor>>;

/// Numbers in memory.
template <class X>
requires(direct_access<X>&& lane_number<typename X::Scalar>) struct lane_program<X> {
  using scalar = typename X::Scalar;
  static constexpr bool exists = true, is_condition = false, copies = is_few(X::SizeAtCompileTime);
  static constexpr int orders = storage_order_of<X>,
                       required_orders = copies && !X::IsVectorAtCompileTime ? 0 : orders;
  static bool adjacent(const X& x) {
    return (copies && never_adjacent<X>) || x.innerStride() == 1 || x.innerSize() <= 1;
  }
  static bool gapless(const X& x) { return without_gaps(x); }
  static constexpr bool always_gapless = always_without_gaps<X> || (copies && never_adjacent<X>);
  template <traversal Order> static auto make(const X& x) {
    if constexpr (copies && (never_adjacent<X> || Order != storage_order_of<X>)) {
      using held = held_matrix<scalar, X, Order>;
      return kernel::lane_held<held>{x, line_length_of<held>};
    } else {
      return kernel::lane_numbers<scalar>{x.data(), x.outerStride()};
    }
  }
};

/// `Identity()` of few numbers.
template <narrow_float T, class Plain>
requires(is_few(Plain::SizeAtCompileTime)) struct lane_program<
    Eigen::CwiseNullaryOp<Eigen::internal::scalar_identity_op<T>, Plain>> {
  using expression = Eigen::CwiseNullaryOp<Eigen::internal::scalar_identity_op<T>, Plain>;

  static constexpr bool exists = true, is_condition = false;
  static constexpr int orders = 0, required_orders = 0;
  static bool adjacent(const expression&) { return true; }
  static bool gapless(const expression&) { return true; }
  static constexpr bool always_gapless = true;
  template <traversal Order> static auto make(const expression&) {
    using held = held_matrix<float, Plain, Order>;
    constexpr int length = Order == by_rows ? Plain::ColsAtCompileTime : Plain::RowsAtCompileTime;
    return kernel::lane_held<held>{held::Identity(), length};
  }
};

template <float_or_rounded_to T, class Plain>
struct lane_program<Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<T>, Plain>> {
  using expression = Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<T>, Plain>;

  static constexpr bool exists = true, is_condition = false;
  static constexpr int orders = 0, required_orders = 0;
  static bool adjacent(const expression&) { return true; }
  static bool gapless(const expression&) { return true; }
  static constexpr bool always_gapless = true;
  template <traversal> static auto make(const expression& x) {
    return kernel::lane_constant{convert_coefficient<float>(x.functor().m_other)};
  }
};

/// What an expression of Operands has of all of them.
template <class... Operands> struct lane_operands {
  static constexpr bool exists = true, is_condition = false;
  static constexpr int orders = (0 | ... | int(lane_program_t<Operands>::orders)),
                       required_orders = (0 | ... | int(lane_program_t<Operands>::required_orders));
  static constexpr bool always_gapless = (lane_program_t<Operands>::always_gapless && ...);

 protected:
  static bool all_adjacent(const Operands&... x) { return (lane_program_t<Operands>::adjacent(x) && ...); }
  static bool all_gapless(const Operands&... x) { return (lane_program_t<Operands>::gapless(x) && ...); }
};

template <lane_functor Op, class Arg>
requires lane_expressions<Arg>
struct lane_program<Eigen::CwiseUnaryOp<Op, Arg>> : lane_operands<Arg> {
  using expression = Eigen::CwiseUnaryOp<Op, Arg>;
  static bool adjacent(const expression& x) { return lane_program::all_adjacent(x.nestedExpression()); }
  static bool gapless(const expression& x) { return lane_program::all_gapless(x.nestedExpression()); }
  template <traversal Order> static auto make(const expression& x) {
    return kernel::lane_unary<lane_operation_t<Op>, lane_program_type<Arg, Order>>{
        lane_program_t<Arg>::template make<Order>(x.nestedExpression())};
  }
};

template <lane_functor Op, class L, class R>
requires lane_expressions<L, R>
struct lane_program<Eigen::CwiseBinaryOp<Op, L, R>> : lane_operands<L, R> {
  using expression = Eigen::CwiseBinaryOp<Op, L, R>;
  static constexpr bool is_condition = compares_floats<typename wide_functor<Op>::type>;
  static bool adjacent(const expression& x) { return lane_program::all_adjacent(x.lhs(), x.rhs()); }
  static bool gapless(const expression& x) { return lane_program::all_gapless(x.lhs(), x.rhs()); }
  template <traversal Order> static auto make(const expression& x) {
    return kernel::lane_binary<lane_operation_t<Op>, lane_program_type<L, Order>,
                               lane_program_type<R, Order>>{lane_program_t<L>::template make<Order>(x.lhs()),
                                                            lane_program_t<R>::template make<Order>(x.rhs())};
  }
};

/// `condition.select(x, y)`.
template <class Condition, class X, class Y>
requires(
    lane_condition<Condition>&& lane_expressions<X, Y>) struct lane_program<Eigen::Select<Condition, X, Y>>
    : lane_operands<Condition, X, Y> {
  using expression = Eigen::Select<Condition, X, Y>;
  static bool adjacent(const expression& x) {
    return lane_program::all_adjacent(x.conditionMatrix(), x.thenMatrix(), x.elseMatrix());
  }
  static bool gapless(const expression& x) {
    return lane_program::all_gapless(x.conditionMatrix(), x.thenMatrix(), x.elseMatrix());
  }
  template <traversal Order> static auto make(const expression& x) {
    return kernel::lane_choice<lane_program_type<Condition, Order>, lane_program_type<X, Order>,
                               lane_program_type<Y, Order>>{
        lane_program_t<Condition>::template make<Order>(x.conditionMatrix()),
        lane_program_t<X>::template make<Order>(x.thenMatrix()),
        lane_program_t<Y>::template make<Order>(x.elseMatrix())};
  }
};

/// A condition as numbers, 1 where it holds.
template <class Op, class Condition>
requires(casts_bool<Op>&& lane_condition<Condition>) struct lane_program<Eigen::CwiseUnaryOp<Op, Condition>>
    : lane_operands<Condition> {
  using expression = Eigen::CwiseUnaryOp<Op, Condition>;
  static bool adjacent(const expression& x) { return lane_program::all_adjacent(x.nestedExpression()); }
  static bool gapless(const expression& x) { return lane_program::all_gapless(x.nestedExpression()); }
  template <traversal Order> static auto make(const expression& x) {
    return kernel::lane_choice<lane_program_type<Condition, Order>, kernel::lane_constant,
                               kernel::lane_constant>{
        lane_program_t<Condition>::template make<Order>(x.nestedExpression()), {1}, {0}};
  }
};

/// An expression with the coefficients of the one below it, in their places.
template <class X, class Below> struct lane_wrapper : lane_operands<Below> {
  static bool adjacent(const X& x) { return lane_wrapper::all_adjacent(x.nestedExpression()); }
  static bool gapless(const X& x) { return lane_wrapper::all_gapless(x.nestedExpression()); }
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
         lane_expressions<Arg>) struct lane_program<Eigen::ArrayWrapper<Arg>>
    : lane_wrapper<Eigen::ArrayWrapper<Arg>, Arg> {
};
template <class Arg>
requires(!direct_access<Eigen::MatrixWrapper<Arg>> &&
         lane_expressions<Arg>) struct lane_program<Eigen::MatrixWrapper<Arg>>
    : lane_wrapper<Eigen::MatrixWrapper<Arg>, Arg> {
};

/// `m.colwise() + v`, `m.rowwise() + v` for a vector in memory.
template <class V, int Rows, int Cols>
requires(broadcast<V, Rows, Cols>&& direct_access<V>&&
             lane_number<typename V::Scalar>) struct lane_program<Eigen::Replicate<V, Rows, Cols>> {
  using expression = Eigen::Replicate<V, Rows, Cols>;
  static constexpr traversal along = V::ColsAtCompileTime == 1 ? by_columns : by_rows;

  static constexpr bool exists = true, is_condition = false;
  static constexpr int orders = 0, required_orders = 0;
  static bool adjacent(const expression& x) { return lane_program_t<V>::adjacent(x.nestedExpression()); }
  static bool gapless(const expression&) { return false; }
  static constexpr bool always_gapless = false;
  template <traversal Order> static auto make(const expression& x) {
    const V& v = x.nestedExpression();
    if constexpr (Order == along)
      return kernel::lane_numbers<typename V::Scalar>{v.data(), 0};
    else
      return kernel::lane_number_per_line<typename V::Scalar>{v.data(), v.innerStride()};
  }
};

/// Whether X can be evaluated along lines of this order.
template <class X, traversal Order>
concept lane_program_along = lane_expressions<X> &&(lane_program_t<X>::required_orders & ~Order) == 0;

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

/// A destination that a program can write.
template <class Dst>
concept lane_destination = direct_access<Dst> && lane_number<typename Dst::Scalar> &&
    (std::same_as<typename Dst::Scalar, float> ||
     std::same_as<typename policy_of<typename Dst::Scalar>::type, rounding::nearest_even>);

template <class Combine, class Dst, class X>
concept assigned_in_lanes = lane_destination<Dst> && lane_program_along<X, storage_order_of<Dst>> &&
    (std::is_void_v<Combine> || lane_functor<Combine>);

/// dst = Combine(dst, x), or dst = x for void, after fit() has given dst its size. False, and nothing is
/// done, if that has to be computed in another way.
template <class Combine, class Dst, class X, class Fit>
requires assigned_in_lanes<Combine, Dst, X>
bool assign_in_lanes(Dst& dst, const X& x, const Fit& fit) {
  using program = lane_program_t<X>;
  using place = lane_program<Dst>;
  constexpr traversal order = storage_order_of<Dst>;
  if (!program::adjacent(x) || !place::adjacent(dst)) return false;
  const auto store_to = [&](auto& to, const auto& p) {
    return in_shape_along < place::always_gapless && program::always_gapless,
           order > (to, without_gaps(to) && program::gapless(x), [&](const auto& shape) {
             return kernel::store_program(p, to.data(), to.outerStride(), shape);
           });
  };
  // Whatever reads the old dst has done so, or is computed in place, before fit().
  const auto store = [&](const auto& p) {
    fit();
    if constexpr (place::copies && never_adjacent<Dst>) {
      held_matrix<typename Dst::Scalar, Dst, order> copy;
      store_to(copy, p);
      dst = copy;
    } else {
      store_to(dst, p);
    }
  };
  if constexpr (std::is_void_v<Combine>)
    store(program::template make<order>(x));
  else
    store(kernel::lane_binary<lane_operation_t<Combine>, lane_program_type<Dst, order>,
                              lane_program_type<X, order>>{place::template make<order>(dst),
                                                           program::template make<order>(x)});
  return true;
}

/// The numbers of a vector in memory, side by side: where they are, or, so few, in a copy.
template <class V> class adjacent_numbers {
  using scalar = typename V::Scalar;

 public:
  static constexpr Eigen::Index max_size = 256;

  explicit adjacent_numbers(const V& x) : from_(x.data()) {
    if (x.innerStride() == 1) return;
    for (Eigen::Index i = 0; i < x.size(); ++i) copy_[i] = x.data()[i * x.innerStride()];
    from_ = copy_;
  }
  adjacent_numbers(const adjacent_numbers&) = delete;
  adjacent_numbers& operator=(const adjacent_numbers&) = delete;

  using program_type = kernel::lane_numbers<scalar>;
  program_type program() const { return {from_, 0}; }

 private:
  const scalar* from_;
  scalar copy_[max_size];
};

template <class... V>
concept vectors_in_lanes = ((direct_access<V> && bool(V::IsVectorAtCompileTime) &&
                             lane_number<typename V::Scalar>)&&...) &&
                           some_narrow_float<V...>;

template <class V> auto vector_shape(const V& x) {
  if constexpr (is_few(V::SizeAtCompileTime))
    return kernel::fixed_shape<1, V::SizeAtCompileTime>{};
  else
    return kernel::one_line{x.size()};
}

/// The inner product of vectors that are short. False, if it has to be computed in another way.
template <class L, class R>
requires vectors_in_lanes<L, R>
bool dot_in_lanes(const L& l, const R& r, float& sum) {
  if (l.size() > adjacent_numbers<L>::max_size) return false;
  const adjacent_numbers<L> a(l);
  const adjacent_numbers<R> b(r);
  sum = kernel::sum_program(
      kernel::lane_binary<kernel::lane_product, typename adjacent_numbers<L>::program_type,
                          typename adjacent_numbers<R>::program_type>{a.program(), b.program()},
      vector_shape(l));
  return true;
}
/// The sum of a vector that is short.
template <class V>
requires vectors_in_lanes<V>
bool vector_sum_in_lanes(const V& x, float& sum) {
  if (x.size() > adjacent_numbers<V>::max_size) return false;
  const adjacent_numbers<V> numbers(x);
  sum = kernel::sum_program(numbers.program(), vector_shape(x));
  return true;
}

/// The sum of x. False, if it has to be computed in another way.
template <class X> [[gnu::always_inline]] inline bool sum_in_lanes(const X& x, float& sum) {
  constexpr traversal order = lane_program_t<X>::orders & by_rows ? by_rows : by_columns;
  if constexpr (lane_program_along<X, order>) {
    using program = lane_program_t<X>;
    if (!program::adjacent(x)) return false;
    sum = in_shape_along<program::always_gapless, order>(x, program::gapless(x), [&](const auto& shape) {
      return kernel::sum_program(program::template make<order>(x), shape);
    });
    return true;
  } else {
    return false;
  }
}

/// Whether the rows or columns of a computed expression are lines that a program can go along.
template <class X, Eigen::DirectionType Direction>
concept line_summed_in_lanes = narrow_float<scalar_of<X>> && !direct_access<X> && lane_program_along < X,
        Direction == Eigen::Vertical ? by_columns : by_rows > ;

/// The sum of one row or column of x. False, if it has to be computed in another way.
template <Eigen::DirectionType Direction, class X>
requires line_summed_in_lanes<X, Direction>
bool sum_line_in_lanes(const X& x, Eigen::Index line, float& sum) {
  using program = lane_program_t<X>;
  constexpr bool down = Direction == Eigen::Vertical;
  if (!program::adjacent(x)) return false;
  sum = kernel::sum_program(kernel::on_line(program::template make < down ? by_columns : by_rows > (x), line),
                            kernel::one_line{down ? x.rows() : x.cols()});
  return true;
}

}  // namespace narrow::detail
