// Piecewise evaluation: coefficient-wise expressions computed some hundred coefficients at a time. The
// kernels turn narrow numbers into floats, and what follows is Eigen's own arithmetic on arrays of floats.
//
// It gives the numbers that evaluators.hpp gives coefficient by coefficient: an operation that Eigen's
// packets compute otherwise than its scalar code does is not computed in packets.
#pragma once

#include <bit>

#include "../../kernel/convert.hpp"
#include "evaluators.hpp"
#include "packet_functors.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Coefficients of a piece: their buffers, one for each narrow matrix, stay in the first-level cache.
inline constexpr Eigen::Index piece_size = 256;
/// Below this size the coefficients are computed sooner than the kernels are found.
inline constexpr Eigen::Index min_piecewise_size = 32;

using piece = Eigen::Array<float, Eigen::Dynamic, 1>;
using piece_view = Eigen::Map<const piece>;
struct piece_buffer {
  alignas(64) float values[piece_size];
};

/// Which lines are taken one after the other, columns or rows; as bits, for the storage orders of the
/// matrices in an expression.
enum traversal : int { by_columns = 1, by_rows = 2 };

template <class X> inline constexpr traversal storage_order_of = X::IsRowMajor ? by_rows : by_columns;

/// Coefficients of one line, from one of them on.
template <class T> struct strided {
  T* from;
  Eigen::Index step;
};
template <class T>
strided<T> line_from(const matrix_view<T>& m, traversal order, Eigen::Index line, Eigen::Index first) {
  const bool down = order == by_columns;
  const Eigen::Index step = down ? m.row_stride : m.col_stride;
  return {m.data + line * (down ? m.col_stride : m.row_stride) + first * step, step};
}

/// The first n numbers of a line next to each other: where they are, or in `gathered`.
template <class T> const T* contiguous(const strided<const T>& line, Eigen::Index n, T* gathered) {
  if (line.step == 1) return line.from;
  for (Eigen::Index i = 0; i < n; ++i) gathered[i] = line.from[i * line.step];
  return gathered;
}

/// An expression that can be computed in pieces, made from that expression:
///
///   orders       the storage orders of the matrices in it
///   any_narrow   whether one of these is narrow
///   gapless(order)   whether its lines follow one another in memory, so that they are one
///   value        float, or bool where it is a comparison
///   get(order, line, first, n)   an Eigen expression of n values of a line, which holds until the next call
///
/// n is at most piece_size. For all other expressions there is only this template.
template <class X> struct piecewise { using value = void; };

template <class X> using piecewise_t = piecewise<std::remove_cv_t<X>>;
template <class X> using value_in_pieces = typename piecewise_t<X>::value;
template <class X>
concept piecewise_expression = std::same_as < value_in_pieces<X>,
float > ;
template <class X>
concept piecewise_comparison = std::same_as < value_in_pieces<X>,
bool > ;

/// A matrix in memory whose numbers are floats or become floats exactly.
template <class X>
requires(direct_access<X>&& std::same_as<carried_t<typename X::Scalar>, float>) class piecewise<X> {
  using scalar = typename X::Scalar;

 public:
  using value = float;
  static constexpr int orders = storage_order_of<X>;
  static constexpr bool any_narrow = narrow_scalar<scalar>;

  explicit piecewise(const X& x) : view_(view_of_direct(x)), gapless_(without_gaps(x)) {}

  bool gapless(traversal order) const { return order == orders && gapless_; }
  piece_view get(traversal order, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    const scalar* const from = contiguous(line_from(view_, order, line, first), n, gathered_);
    if constexpr (any_narrow) {
      convert(from, buffer_.values, static_cast<std::size_t>(n), rounding::nearest_even{});
      return {buffer_.values, n};
    } else {
      return {from, n};
    }
  }

 private:
  struct nothing {};

  matrix_view<const scalar> view_;
  bool gapless_;
  scalar gathered_[piece_size];
  [[no_unique_address]] std::conditional_t<any_narrow, piece_buffer, nothing> buffer_;
};

/// One number for all coefficients.
template <float_or_rounded_to T, class Plain>
class piecewise<Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<T>, Plain>> {
  using expression = Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<T>, Plain>;

 public:
  using value = float;
  static constexpr int orders = 0;
  static constexpr bool any_narrow = false;

  explicit piecewise(const expression& x) : value_(convert_coefficient<float>(x.functor().m_other)) {}
  static bool gapless(traversal) { return true; }
  auto get(traversal, Eigen::Index, Eigen::Index, Eigen::Index n) const { return piece::Constant(n, value_); }

 private:
  float value_;
};

/// The operands of an operation that gives floats, each of them computed in pieces.
template <class... Operands> class piecewise_operands {
 public:
  using value = float;
  static constexpr int orders = (0 | ... | int(Operands::orders));
  static constexpr bool any_narrow = (false || ... || Operands::any_narrow);

  template <class... X> explicit piecewise_operands(const X&... x) : operands_(x...) {}
  bool gapless(traversal order) const {
    return operands_.apply([&](const auto&... x) { return (x.gapless(order) && ...); });
  }

 protected:
  operand_list<Operands...> operands_;
};

/// Functor(operands...), coefficient by coefficient.
template <class Functor, class... Operands>
class piecewise_operation : public piecewise_operands<Operands...> {
 public:
  using piecewise_operation::piecewise_operands::piecewise_operands;
  using value = decltype(std::declval<const Functor&>()(std::declval<typename Operands::value>()...));

  auto get(traversal order, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    const auto x = this->operands_.first.get(order, line, first, n);
    if constexpr (sizeof...(Operands) == 1) {
      return Eigen::CwiseUnaryOp<Functor, decltype(x)>(x);
    } else {
      const auto y = this->operands_.more.first.get(order, line, first, n);
      return Eigen::CwiseBinaryOp<Functor, decltype(x), decltype(y)>(x, y);
    }
  }
};

/// An expression with the coefficients of the one below it, in their places.
template <piecewise_expression X> struct piecewise_wrapper : piecewise_t<X> {
  explicit piecewise_wrapper(const auto& x) : piecewise_t<X>(x.nestedExpression()) {}
};

template <class Op, class Wide = typename wide_functor<Op>::type>
using float_functor = typename functor_in_pieces<Wide>::type;

template <class To, class From> void takes_cast(const Eigen::internal::scalar_cast_op<From, To>&);
template <class Op, class To>
concept casts_to = requires(const Op& op) {
  takes_cast<To>(op);
};

/// A functor of Eigen that makes a float of so many floats or compares them, and is no cast: a user's own
/// functor is computed coefficient by coefficient.
template <class Op, class... Float>
concept piecewise_functor = std::is_empty_v<typename wide_functor<Op>::type> && !casts_to<Op, float> &&
                            (compares_floats<typename wide_functor<Op>::type> ||
                             requires(const typename wide_functor<Op>::type& wide, const Float&... x) {
                               { wide(x...) } -> std::same_as<float>;
                             });
template <piecewise_functor<float> Op, piecewise_expression Arg>
struct piecewise<Eigen::CwiseUnaryOp<Op, Arg>> : piecewise_operation<float_functor<Op>, piecewise_t<Arg>> {
  explicit piecewise(const Eigen::CwiseUnaryOp<Op, Arg>& x)
      : piecewise::piecewise_operation(x.nestedExpression()) {}
};

/// A function of floats as an operation of a program; void for other functors.
template <class Wide> struct lane_function_of { using type = void; };
template <class Function> struct lane_function_of<rounded_function<Function>> {
  using type = kernel::lane_function<Function>;
};
template <class Function, int Bits>
requires kernel::has_lanes<Function>
struct lane_function_of<function_before_rounding<Function, Bits>> {
  using type = kernel::lane_function_before_rounding<Function, Bits>;
};
template <class Op>
using lane_function_of_t = typename lane_function_of<typename wide_functor<Op>::type>::type;

/// A function, which is computed in lanes.
template <piecewise_functor<float> Op, piecewise_expression Arg>
requires(!std::is_void_v<lane_function_of_t<Op>>) class piecewise<Eigen::CwiseUnaryOp<Op, Arg>>
    : public piecewise_operands<piecewise_t<Arg>> {
 public:
  explicit piecewise(const Eigen::CwiseUnaryOp<Op, Arg>& x)
      : piecewise::piecewise_operands(x.nestedExpression()) {}

  piece_view get(traversal order, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    using program = kernel::lane_unary<lane_function_of_t<Op>, kernel::lane_numbers<float>>;
    Eigen::Map<piece>(values_.values, n) = this->operands_.first.get(order, line, first, n);
    kernel::store_program(program{{values_.values, 0}}, values_.values, n, kernel::one_line{n});
    return {values_.values, n};
  }

 private:
  piece_buffer values_;
};
template <piecewise_functor<float, float> Op, piecewise_expression L, piecewise_expression R>
struct piecewise<Eigen::CwiseBinaryOp<Op, L, R>>
    : piecewise_operation<float_functor<Op>, piecewise_t<L>, piecewise_t<R>> {
  explicit piecewise(const Eigen::CwiseBinaryOp<Op, L, R>& x)
      : piecewise::piecewise_operation(x.lhs(), x.rhs()) {}
};

template <casts_to<float> Op, piecewise_expression Arg>
struct piecewise<Eigen::CwiseUnaryOp<Op, Arg>> : piecewise_wrapper<Arg> {
  using piecewise_wrapper<Arg>::piecewise_wrapper;
};
template <piecewise_expression Arg>
requires(!direct_access<Eigen::ArrayWrapper<Arg>>) struct piecewise<Eigen::ArrayWrapper<Arg>>
    : piecewise_wrapper<Arg> {
  using piecewise_wrapper<Arg>::piecewise_wrapper;
};
template <piecewise_expression Arg>
requires(!direct_access<Eigen::MatrixWrapper<Arg>>) struct piecewise<Eigen::MatrixWrapper<Arg>>
    : piecewise_wrapper<Arg> {
  using piecewise_wrapper<Arg>::piecewise_wrapper;
};

/// The numbers of a vector: in memory as they are, others computed once.
template <class V> class piecewise_vector {
 public:
  static constexpr bool any_narrow = narrow_scalar<typename V::Scalar>;

  explicit piecewise_vector(const V& x) : computed_(x) {}
  piece_view get(Eigen::Index first, Eigen::Index n) const { return {computed_.data() + first, n}; }

 private:
  plain_like<float, V> computed_;
};
template <class V>
requires(piecewise_expression<V>&& direct_access<V>) class piecewise_vector<V> : piecewise_t<V> {
 public:
  static constexpr bool any_narrow = piecewise_t<V>::any_narrow;

  using piecewise_t<V>::piecewise_t;
  piece_view get(Eigen::Index first, Eigen::Index n) {
    return piecewise_t<V>::get(storage_order_of<V>, 0, first, n);
  }
};

/// A matrix of which each line of LineOrder is the vector V. A line of the other order has one of the numbers
/// of V throughout.
template <class V, traversal LineOrder> class repeated_vector {
 public:
  using value = float;
  static constexpr int orders = 0;
  static constexpr bool any_narrow = piecewise_vector<V>::any_narrow;

  explicit repeated_vector(const V& x) : vector_(x) {}
  static bool gapless(traversal) { return false; }

  piece_view get(traversal order, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    if (order == LineOrder) return vector_.get(first, n);
    std::fill_n(repeated_.values, n, vector_.get(line, 1)(0));
    return {repeated_.values, n};
  }

 private:
  piecewise_vector<V> vector_;
  piece_buffer repeated_;
};

template <class V, int Rows, int Cols>
concept broadcast_shape = (V::ColsAtCompileTime == 1 && Rows == 1) ||
                          (V::RowsAtCompileTime == 1 && Cols == 1);
/// The lines that are V each. One number is a column beside others, a row above others.
template <class V, int Rows>
inline constexpr traversal broadcast_lines = V::ColsAtCompileTime == 1 && Rows == 1 ? by_columns : by_rows;
template <class V, int Rows, int Cols>
concept broadcast = narrow_or_float<V> && broadcast_shape<V, Rows, Cols>;
template <class V, int Rows> using broadcast_vector = repeated_vector<V, broadcast_lines<V, Rows>>;

/// `m.colwise() + v`, `m.rowwise() + v`.
template <class V, int Rows, int Cols>
requires broadcast<V, Rows, Cols>
struct piecewise<Eigen::Replicate<V, Rows, Cols>> : broadcast_vector<V, Rows> {
  explicit piecewise(const Eigen::Replicate<V, Rows, Cols>& x)
      : broadcast_vector<V, Rows>(x.nestedExpression()) {}
};

/// A matrix times a diagonal, on either side.
template <class L, class R>
concept piecewise_diagonal_product = (diagonal_expression<L> != diagonal_expression<R>)&&requires {
  requires piecewise_expression<typename diagonal_product<L, R>::matrix_type>;
  requires piecewise_expression<typename diagonal_product<L, R>::diagonal_type>;
};
template <class L, class R, class Parts = diagonal_product<L, R>>
using scaled_lines = piecewise_operation<
    Eigen::internal::scalar_product_op<float, float>, piecewise_t<typename Parts::matrix_type>,
    repeated_vector<typename Parts::diagonal_type, Parts::on_the_left ? by_columns : by_rows>>;
template <class L, class R, int Options>
requires piecewise_diagonal_product<L, R>
struct piecewise<Eigen::Product<L, R, Options>> : scaled_lines<L, R> {
  explicit piecewise(const Eigen::Product<L, R, Options>& x)
      : scaled_lines<L, R>(diagonal_product<L, R>::matrix(x.lhs(), x.rhs()),
                           diagonal_product<L, R>::diagonal(x.lhs(), x.rhs())) {}
};

/// A matrix read from the other end of its rows, its columns or both.
template <piecewise_expression X, int Direction>
class piecewise<Eigen::Reverse<X, Direction>> : public piecewise_operands<piecewise_t<X>> {
 public:
  explicit piecewise(const Eigen::Reverse<X, Direction>& x)
      : piecewise::piecewise_operands(x.nestedExpression()), rows_(x.rows()), cols_(x.cols()) {}
  static bool gapless(traversal) { return false; }

  piece_view get(traversal order, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    constexpr bool of_rows = Direction != Eigen::Horizontal, of_cols = Direction != Eigen::Vertical;
    const bool across = order == by_columns ? of_cols : of_rows,
               along = order == by_columns ? of_rows : of_cols;
    const Eigen::Index lines = order == by_columns ? cols_ : rows_,
                       length = order == by_columns ? rows_ : cols_;
    const auto values = this->operands_.first.get(order, across ? lines - 1 - line : line,
                                                  along ? length - first - n : first, n);
    Eigen::Map<piece> result(reversed_.values, n);
    if (along)
      result = values.reverse();
    else
      result = values;
    return {reversed_.values, n};
  }

 private:
  Eigen::Index rows_, cols_;
  piece_buffer reversed_;
};

template <class Op> inline constexpr bool casts_bool = false;
template <float_or_rounded_to T>
inline constexpr bool casts_bool<Eigen::internal::scalar_cast_op<bool, T>> = true;

/// A comparison as numbers, 1 where it holds.
template <class Op, piecewise_comparison Condition>
requires casts_bool<Op>
struct piecewise<Eigen::CwiseUnaryOp<Op, Condition>>
    : piecewise_operation<Eigen::internal::scalar_cast_op<bool, float>, piecewise_t<Condition>> {
  explicit piecewise(const Eigen::CwiseUnaryOp<Op, Condition>& x)
      : piecewise::piecewise_operation(x.nestedExpression()) {}
};

/// `condition.select(x, y)`.
template <class Condition, class Then, class Else>
class piecewise_selection
    : public piecewise_operands<piecewise_t<Condition>, piecewise_t<Then>, piecewise_t<Else>> {
 public:
  using piecewise_selection::piecewise_operands::piecewise_operands;

  piece_view get(traversal order, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    bool chosen[piece_size];
    float values[piece_size];
    auto& condition = this->operands_.first;
    auto& x = this->operands_.more.first;
    auto& y = this->operands_.more.more.first;
    Eigen::Map<Eigen::Array<bool, Eigen::Dynamic, 1>>(chosen, n) = condition.get(order, line, first, n);
    Eigen::Map<piece>(values, n) = x.get(order, line, first, n);
    Eigen::Map<piece>(result_.values, n) = y.get(order, line, first, n);
    for (Eigen::Index i = 0; i < n; ++i) {  // without a branch, which data would mislead
      const auto mask = -std::uint32_t{chosen[i]};
      const auto yes = std::bit_cast<std::uint32_t>(values[i]),
                 no = std::bit_cast<std::uint32_t>(result_.values[i]);
      result_.values[i] = std::bit_cast<float>((yes & mask) | (no & ~mask));
    }
    return {result_.values, n};
  }

 private:
  piece_buffer result_;
};

#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
template <class T, class E, class C, piecewise_expression Then, piecewise_expression Else,
          piecewise_comparison Condition>
struct piecewise<
    Eigen::CwiseTernaryOp<Eigen::internal::scalar_boolean_select_op<T, E, C>, Then, Else, Condition>>
    : piecewise_selection<Condition, Then, Else> {
  explicit piecewise(const auto& x) : piecewise::piecewise_selection(x.arg3(), x.arg1(), x.arg2()) {}
};
#else
template <piecewise_comparison Condition, piecewise_expression Then, piecewise_expression Else>
struct piecewise<Eigen::Select<Condition, Then, Else>> : piecewise_selection<Condition, Then, Else> {
  explicit piecewise(const Eigen::Select<Condition, Then, Else>& x)
      : piecewise::piecewise_selection(x.conditionMatrix(), x.thenMatrix(), x.elseMatrix()) {}
};
#endif

}  // namespace narrow::detail

namespace Eigen::internal {
template <class Op> struct functor_traits<narrow::detail::without_packets<Op>> {
  enum { Cost = functor_traits<Op>::Cost, PacketAccess = false };
};
}  // namespace Eigen::internal
