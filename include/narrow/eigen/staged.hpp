// How coefficient-wise expressions are computed piece by piece, for those that can be: the kernels turn
// narrow numbers into floats, and what follows is Eigen's own arithmetic on arrays of floats. The same
// numbers as coefficient by coefficient: what a packet would compute otherwise is not computed in packets.
#pragma once

#include <bit>

#include "evaluate.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Coefficients of a piece: their buffers, one for each narrow matrix, stay in the nearest cache.
inline constexpr Eigen::Index piece_size = 256;
/// Below this size an assignment is done before the kernels have been found.
inline constexpr Eigen::Index smallest_staged = 32;
/// Below it a line costs more for being called than for its coefficients.
inline constexpr Eigen::Index short_line = 32;

using piece = Eigen::Array<float, Eigen::Dynamic, 1>;
using piece_view = Eigen::Map<const piece>;
struct piece_buffer {
  alignas(64) float values[piece_size];
};

/// Which lines are taken one after the other, columns or rows; bits, for the storage orders of an
/// expression's matrices.
enum traversal : int { by_columns = 1, by_rows = 2 };

/// How an expression is computed piece by piece, for those that can be:
///
///   orders, any_narrow     of its matrices
///   gapless(order)         whether its lines follow one another in memory, so that they are one
///   get(order, line, first, n)  an expression of n floats of a line; it holds until the next call
template <class X> struct staged { using absent = void; };

template <class X>
concept stageable = !requires {
  typename staged<std::remove_cv_t<X>>::absent;
};
template <class X> using staged_t = staged<std::remove_cv_t<X>>;

template <class X>
concept narrow_or_float = narrow_float<typename X::Scalar> || std::same_as<typename X::Scalar, float>;

/// Where the lines of a matrix lie in memory, in either order.
template <class X> class matrix_lines {
 public:
  static constexpr traversal orders = X::IsRowMajor ? by_rows : by_columns;

  explicit matrix_lines(X& x) : data_(x.data()), inner_(x.innerStride()), outer_(x.outerStride()) {
    gapless_ = inner_ == 1 && (outer_ == x.innerSize() || x.outerSize() == 1);
  }
  bool gapless(traversal order) const { return order == orders && gapless_; }
  /// From one coefficient of a line to the next.
  Eigen::Index step(traversal order) const { return order == orders ? inner_ : outer_; }
  auto* at(traversal order, Eigen::Index line, Eigen::Index first) const {
    return data_ + line * (order == orders ? outer_ : inner_) + first * step(order);
  }

 private:
  decltype(std::declval<X&>().data()) data_;
  Eigen::Index inner_, outer_;
  bool gapless_;
};

/// A matrix in memory whose numbers floats hold.
template <class X>
requires(direct_access<X>&& std::same_as<carried_t<typename X::Scalar>, float>) class staged<X>
    : public matrix_lines<const X> {
 public:
  static constexpr bool any_narrow = narrow_scalar<typename X::Scalar>;

  using matrix_lines<const X>::matrix_lines;

  piece_view get(traversal order, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    const auto* from = this->at(order, line, first);
    const Eigen::Index step = this->step(order);
    if (step != 1) {
      for (Eigen::Index i = 0; i < n; ++i) gathered_[i] = from[i * step];
      from = gathered_;
    }
    if constexpr (any_narrow) {
      convert(from, buffer_.values, static_cast<std::size_t>(n), rounding::nearest_even{});
      return {buffer_.values, n};
    } else {
      return {from, n};
    }
  }

 private:
  struct nothing {};

  typename X::Scalar gathered_[piece_size];
  [[no_unique_address]] std::conditional_t<any_narrow, piece_buffer, nothing> buffer_;
};

template <class T>
concept float_or_rounded_to = narrow_float<T> || std::same_as<T, float> || std::same_as<T, literal>;

/// The same number for all coefficients.
template <float_or_rounded_to T, class Plain>
class staged<Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<T>, Plain>> {
  using expression = Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<T>, Plain>;

 public:
  static constexpr int orders = 0;
  static constexpr bool any_narrow = false;

  explicit staged(const expression& x) : value_(convert_coefficient<float>(x.functor().m_other)) {}
  static bool gapless(traversal) { return true; }
  auto get(traversal, Eigen::Index, Eigen::Index, Eigen::Index n) const { return piece::Constant(n, value_); }

 private:
  float value_;
};

/// Operations that give the same in a packet of floats.
template <class Op> inline constexpr bool exact_in_packets = false;
template <> inline constexpr bool exact_in_packets<Eigen::internal::scalar_sum_op<float, float>> = true;
template <>
inline constexpr bool exact_in_packets<Eigen::internal::scalar_difference_op<float, float>> = true;
template <> inline constexpr bool exact_in_packets<Eigen::internal::scalar_product_op<float, float>> = true;
template <> inline constexpr bool exact_in_packets<Eigen::internal::scalar_quotient_op<float, float>> = true;
template <> inline constexpr bool exact_in_packets<Eigen::internal::scalar_opposite_op<float>> = true;
template <> inline constexpr bool exact_in_packets<Eigen::internal::scalar_abs_op<float>> = true;
template <> inline constexpr bool exact_in_packets<Eigen::internal::scalar_square_op<float>> = true;
template <> inline constexpr bool exact_in_packets<Eigen::internal::scalar_abs2_op<float>> = true;
template <int NaNs>
inline constexpr bool exact_in_packets<Eigen::internal::scalar_max_op<float, float, NaNs>> = true;
template <int NaNs>
inline constexpr bool exact_in_packets<Eigen::internal::scalar_min_op<float, float, NaNs>> = true;

/// Another operation, never in a packet.
template <class Op> struct one_by_one {
  template <class... Float> float operator()(const Float&... x) const { return Op{}(x...); }
};

template <class To, class From> void takes_cast(const Eigen::internal::scalar_cast_op<From, To>&);
template <class Op, class To>
concept casts_to = requires(const Op& op) {
  takes_cast<To>(op);
};

/// A float from so many of them, by a functor that no user wrote.
template <class Op, class... Float>
concept staged_functor = std::is_empty_v<typename wide_functor<Op>::type> && !casts_to<Op, float> &&
                         requires(const typename wide_functor<Op>::type& wide, const Float&... x) {
  { wide(x...) } -> std::same_as<float>;
};
template <class Op, class Wide = typename wide_functor<Op>::type>
using staged_operation = std::conditional_t<exact_in_packets<Wide>, Wide, one_by_one<Wide>>;

template <class Op> inline constexpr bool compares_floats = false;
template <Eigen::internal::ComparisonName Comparison>
inline constexpr bool compares_floats<Eigen::internal::scalar_cmp_op<float, float, Comparison>> = true;

template <class Op>
concept staged_comparison = compares_floats<typename wide_functor<Op>::type>;

/// Wide(left, right), coefficient by coefficient.
template <class Wide, class L, class R> class staged_pair {
 public:
  static constexpr int orders = staged_t<L>::orders | staged_t<R>::orders;
  static constexpr bool any_narrow = staged_t<L>::any_narrow || staged_t<R>::any_narrow;

  template <class X> explicit staged_pair(const X& x) : lhs_(x.lhs()), rhs_(x.rhs()) {}
  bool gapless(traversal order) const { return lhs_.gapless(order) && rhs_.gapless(order); }

  auto get(traversal order, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    const auto l = lhs_.get(order, line, first, n);
    const auto r = rhs_.get(order, line, first, n);
    return Eigen::CwiseBinaryOp<Wide, decltype(l), decltype(r)>(l, r);
  }

 private:
  staged_t<L> lhs_;
  staged_t<R> rhs_;
};

template <staged_functor<float, float> Op, stageable L, stageable R>
class staged<Eigen::CwiseBinaryOp<Op, L, R>> : public staged_pair<staged_operation<Op>, L, R> {
  using staged_pair<staged_operation<Op>, L, R>::staged_pair;
};

template <staged_functor<float> Op, stageable Arg> class staged<Eigen::CwiseUnaryOp<Op, Arg>> {
 public:
  static constexpr int orders = staged_t<Arg>::orders;
  static constexpr bool any_narrow = staged_t<Arg>::any_narrow;

  explicit staged(const Eigen::CwiseUnaryOp<Op, Arg>& x) : arg_(x.nestedExpression()) {}
  bool gapless(traversal order) const { return arg_.gapless(order); }

  auto get(traversal order, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    const auto arg = arg_.get(order, line, first, n);
    return Eigen::CwiseUnaryOp<staged_operation<Op>, decltype(arg)>(arg);
  }

 private:
  staged_t<Arg> arg_;
};

/// The numbers of a vector: in memory as they are, others computed once.
template <class V> class staged_vector_values {
 public:
  static constexpr bool any_narrow = narrow_scalar<typename V::Scalar>;

  explicit staged_vector_values(const V& x) : computed_(x) {}
  piece_view get(Eigen::Index first, Eigen::Index n) const { return {computed_.data() + first, n}; }

 private:
  plain_like<float, V> computed_;
};
template <class V>
requires(stageable<V>&& direct_access<V>) class staged_vector_values<V> : staged_t<V> {
 public:
  static constexpr bool any_narrow = staged_t<V>::any_narrow;

  using staged_t<V>::staged_t;
  piece_view get(Eigen::Index first, Eigen::Index n) {
    return staged_t<V>::get(staged_t<V>::orders, 0, first, n);
  }
};

/// A vector that stands for all lines of an order, of which each is the vector; of the other order each is
/// one of its numbers.
template <class V, traversal LineOrder> class staged_vector {
 public:
  static constexpr bool any_narrow = staged_vector_values<V>::any_narrow;

  explicit staged_vector(const V& x) : vector_(x) {}

  piece_view get(traversal order, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    if (order == LineOrder) return vector_.get(first, n);
    std::fill_n(repeated_.values, n, vector_.get(line, 1)(0));
    return {repeated_.values, n};
  }

 private:
  staged_vector_values<V> vector_;
  piece_buffer repeated_;
};

template <class V, int Rows, int Cols>
concept broadcast = narrow_or_float<V> &&
    ((V::ColsAtCompileTime == 1 && Rows == 1) || (V::RowsAtCompileTime == 1 && Cols == 1));

/// `m.colwise() + v`, `m.rowwise() + v`.
template <class V, int Rows, int Cols>
requires broadcast<V, Rows, Cols>
class staged<Eigen::Replicate<V, Rows, Cols>>
    : public staged_vector<V, V::ColsAtCompileTime == 1 ? by_columns : by_rows> {
 public:
  static constexpr int orders = 0;

  explicit staged(const Eigen::Replicate<V, Rows, Cols>& x)
      : staged_vector < V,
  V::ColsAtCompileTime == 1 ? by_columns : by_rows > (x.nestedExpression()) {}
  static bool gapless(traversal) { return false; }
};

/// A matrix times a diagonal.
template <class M, class V, traversal LineOrder> class staged_diagonal_product {
 public:
  static constexpr int orders = staged_t<M>::orders;
  static constexpr bool any_narrow = staged_t<M>::any_narrow || staged_t<V>::any_narrow;

  staged_diagonal_product(const M& m, const V& diagonal) : matrix_(m), diagonal_(diagonal) {}
  static bool gapless(traversal) { return false; }

  auto get(traversal order, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    using product = Eigen::internal::scalar_product_op<float, float>;
    const auto m = matrix_.get(order, line, first, n);
    const auto d = diagonal_.get(order, line, first, n);
    return Eigen::CwiseBinaryOp<product, decltype(m), decltype(d)>(m, d);
  }

 private:
  staged_t<M> matrix_;
  staged_vector<V, LineOrder> diagonal_;
};
template <class D>
concept staged_diagonal = requires(const D& d) {
  requires std::same_as<typename Eigen::internal::evaluator_traits<D>::Shape, Eigen::DiagonalShape>;
  requires stageable<std::remove_cvref_t<decltype(d.diagonal())>>;
};
template <class D> using diagonal_of = std::remove_cvref_t<decltype(std::declval<const D&>().diagonal())>;

template <staged_diagonal D, stageable M, int Options>
class staged<Eigen::Product<D, M, Options>> : public staged_diagonal_product<M, diagonal_of<D>, by_columns> {
 public:
  explicit staged(const Eigen::Product<D, M, Options>& x)
      : staged_diagonal_product<M, diagonal_of<D>, by_columns>(x.rhs(), x.lhs().diagonal()) {}
};
template <stageable M, staged_diagonal D, int Options>
class staged<Eigen::Product<M, D, Options>> : public staged_diagonal_product<M, diagonal_of<D>, by_rows> {
 public:
  explicit staged(const Eigen::Product<M, D, Options>& x)
      : staged_diagonal_product<M, diagonal_of<D>, by_rows>(x.lhs(), x.rhs().diagonal()) {}
};

// What changes nothing: floats as floats, arrays as matrices.
template <casts_to<float> Op, stageable Arg>
class staged<Eigen::CwiseUnaryOp<Op, Arg>> : public staged_t<Arg> {
 public:
  explicit staged(const Eigen::CwiseUnaryOp<Op, Arg>& x) : staged_t<Arg>(x.nestedExpression()) {}
};
template <stageable Arg>
requires(!direct_access<Eigen::ArrayWrapper<Arg>>) class staged<Eigen::ArrayWrapper<Arg>>
    : public staged_t<Arg> {
 public:
  explicit staged(const Eigen::ArrayWrapper<Arg>& x) : staged_t<Arg>(x.nestedExpression()) {}
};
template <stageable Arg>
requires(!direct_access<Eigen::MatrixWrapper<Arg>>) class staged<Eigen::MatrixWrapper<Arg>>
    : public staged_t<Arg> {
 public:
  explicit staged(const Eigen::MatrixWrapper<Arg>& x) : staged_t<Arg>(x.nestedExpression()) {}
};

/// From the other end of its rows, its columns or both.
template <stageable X, int Direction> class staged<Eigen::Reverse<X, Direction>> {
 public:
  static constexpr int orders = staged_t<X>::orders;
  static constexpr bool any_narrow = staged_t<X>::any_narrow;

  explicit staged(const Eigen::Reverse<X, Direction>& x)
      : values_(x.nestedExpression()), rows_(x.rows()), cols_(x.cols()) {}
  static bool gapless(traversal) { return false; }

  piece_view get(traversal order, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    constexpr bool of_rows = Direction != Eigen::Horizontal, of_cols = Direction != Eigen::Vertical;
    const bool across = order == by_columns ? of_cols : of_rows,
               along = order == by_columns ? of_rows : of_cols;
    const Eigen::Index lines = order == by_columns ? cols_ : rows_,
                       length = order == by_columns ? rows_ : cols_;
    const auto values =
        values_.get(order, across ? lines - 1 - line : line, along ? length - first - n : first, n);
    Eigen::Map<piece> result(reversed_.values, n);
    if (along)
      result = values.reverse();
    else
      result = values;
    return {reversed_.values, n};
  }

 private:
  staged_t<X> values_;
  Eigen::Index rows_, cols_;
  piece_buffer reversed_;
};

/// A comparison, as the condition of `select`.
template <class X> struct staged_condition { using absent = void; };
template <staged_comparison Op, stageable L, stageable R>
class staged_condition<Eigen::CwiseBinaryOp<Op, L, R>>
    : public staged_pair<typename wide_functor<Op>::type, L, R> {
  using staged_pair<typename wide_functor<Op>::type, L, R>::staged_pair;
};

template <class X>
concept stageable_condition = !requires {
  typename staged_condition<std::remove_cv_t<X>>::absent;
};

template <class Op> inline constexpr bool casts_truth = false;
template <float_or_rounded_to T>
inline constexpr bool casts_truth<Eigen::internal::scalar_cast_op<bool, T>> = true;

/// A comparison as numbers, 1 where it holds.
template <class Op, stageable_condition Condition>
requires casts_truth<Op>
class staged<Eigen::CwiseUnaryOp<Op, Condition>> : public staged_condition<std::remove_cv_t<Condition>> {
  using condition = staged_condition<std::remove_cv_t<Condition>>;

 public:
  explicit staged(const Eigen::CwiseUnaryOp<Op, Condition>& x) : condition(x.nestedExpression()) {}

  auto get(traversal order, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    const auto holds = condition::get(order, line, first, n);
    return Eigen::CwiseUnaryOp<Eigen::internal::scalar_cast_op<bool, float>, decltype(holds)>(holds);
  }
};

/// `condition.select(x, y)`.
template <class Condition, class Then, class Else> class staged_selection {
  using condition = staged_condition<std::remove_cv_t<Condition>>;

 public:
  static constexpr int orders = condition::orders | staged_t<Then>::orders | staged_t<Else>::orders;
  static constexpr bool any_narrow =
      condition::any_narrow || staged_t<Then>::any_narrow || staged_t<Else>::any_narrow;

  staged_selection(const Condition& c, const Then& x, const Else& y) : condition_(c), then_(x), else_(y) {}
  bool gapless(traversal order) const {
    return condition_.gapless(order) && then_.gapless(order) && else_.gapless(order);
  }

  piece_view get(traversal order, Eigen::Index line, Eigen::Index first, Eigen::Index n) {
    bool chosen[piece_size];
    float values[piece_size];
    Eigen::Map<Eigen::Array<bool, Eigen::Dynamic, 1>>(chosen, n) = condition_.get(order, line, first, n);
    Eigen::Map<piece>(values, n) = then_.get(order, line, first, n);
    Eigen::Map<piece>(result_.values, n) = else_.get(order, line, first, n);
    for (Eigen::Index i = 0; i < n; ++i) {  // without a branch, which data would mislead
      const auto mask = -std::uint32_t{chosen[i]};
      const auto x = std::bit_cast<std::uint32_t>(values[i]),
                 y = std::bit_cast<std::uint32_t>(result_.values[i]);
      result_.values[i] = std::bit_cast<float>((x & mask) | (y & ~mask));
    }
    return {result_.values, n};
  }

 private:
  condition condition_;
  staged_t<Then> then_;
  staged_t<Else> else_;
  piece_buffer result_;
};

#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
template <class T, class E, class C, stageable Then, stageable Else, stageable_condition Condition>
class staged<Eigen::CwiseTernaryOp<Eigen::internal::scalar_boolean_select_op<T, E, C>, Then, Else, Condition>>
    : public staged_selection<Condition, Then, Else> {
 public:
  explicit staged(const auto& x) : staged_selection<Condition, Then, Else>(x.arg3(), x.arg1(), x.arg2()) {}
};
#else
template <stageable_condition Condition, stageable Then, stageable Else>
class staged<Eigen::Select<Condition, Then, Else>> : public staged_selection<Condition, Then, Else> {
 public:
  explicit staged(const Eigen::Select<Condition, Then, Else>& x)
      : staged_selection<Condition, Then, Else>(x.conditionMatrix(), x.thenMatrix(), x.elseMatrix()) {}
};
#endif

}  // namespace narrow::inline NARROW_ABI::detail

namespace Eigen::internal {
template <class Op> struct functor_traits<narrow::detail::one_by_one<Op>> {
  enum { Cost = functor_traits<Op>::Cost, PacketAccess = false };
};
}  // namespace Eigen::internal
