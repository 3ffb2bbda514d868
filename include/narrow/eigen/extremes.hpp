// maxCoeff and minCoeff of narrow numbers, of a whole matrix, with the place of the extreme, of rows and of
// columns, and what is made of them, as lpNorm<Infinity>().
//
// Eigen computes them through redux_impl (Core/Redux.h), with a place through a visitor (Core/Visitor.h),
// those of rows and columns in the evaluator of PartialReduxExpr (Core/PartialReduxEvaluator.h). Here they
// are what Eigen finds coefficient by coefficient, column by column: of zeros the first, and of NaNs what
// the functor or the visitor makes of them in this order.
#pragma once

#include "reductions.hpp"

namespace narrow::inline NARROW_ABI::detail {

template <template <class, class, int> class Op>
using lane_order_of = typename lane_operation<Op<float, float, Eigen::PropagateFast>>::type;

/// What Order keeps of the coefficients of x: NaN if one is NaN, or if it has to be computed in another way;
/// of zeros whichever.
template <class Order, class X> [[gnu::always_inline]] inline float extreme_in_lanes(const X& x) {
  if constexpr (lane_expressions<X> && reduced_in_lanes<X>)
    return kernel::extreme_of<Order, lane_program_type<X, lane_order<X>>>(
        lane_program_t<X>::template make<lane_order<X>>(x), reduced_shape(x));
  else
    return std::numeric_limits<float>::quiet_NaN();
}

/// The same of each row or column; none of these is empty.
template <class Order, Eigen::DirectionType Direction, class X>
bool line_extremes_in_lanes(const X& x, float* extremes) {
  constexpr bool along = (Direction == Eigen::Vertical) == (lane_order<X> == by_columns);
  using program = lane_program_t<X>;
  if (x.size() == 0) return false;
  if constexpr (along)
    return kernel::extremes_of_lines<Order>(program::template make<lane_order<X>>(x), lines_of(x), extremes);
  else
    return kernel::extremes_across<Order>(program::template make<lane_order<X>>(x), lines_of(x), extremes);
}

/// Floating formats, and fixed-point ones whose numbers are floats.
template <class T>
concept reduced_by_float = narrow_float<T> ||(narrow_fixed<T>&& std::same_as<typename T::carrier, float>);

/// By its bits, also under -ffast-math.
inline bool is_nan_code(float x) {
  return (std::bit_cast<std::uint32_t>(x) & binary32::magnitude_mask) > binary32::infinity;
}
/// Whether an extreme is the one of its coefficients in whatever order these are taken.
template <class T> bool depends_on_order(float extreme) {
  if constexpr (narrow_scalar<T>)
    if (!T::layout::has_negative_zero) return is_nan_code(extreme);
  return is_nan_code(extreme) || is_zero(extreme);
}

/// Whether none of many does, as mostly; false where that is not known.
inline bool all_are_decided(const float* extremes, Eigen::Index count) {
  using namespace kernel;
  using magnitudes = lane_unary<lane_absolute, lane_numbers<float>>;
  const lane_binary<lane_less, lane_constant, magnitudes> is_decided{{0}, {{extremes, 0}}};
  index decided = 0;
  return count_program(is_decided, line_shape{1, count}, decided) && decided == count;
}

/// So few numbers that they are compared sooner than a kernel is called.
template <class X>
inline constexpr bool has_few_numbers = 1 <= int(X::SizeAtCompileTime) &&
                                        int(X::SizeAtCompileTime) <= kernel::few::max_numbers;

/// The same of few numbers, one by one.
template <class T, template <class, class, int> class Op, int NaNs, class X> T extreme_of_few(const X& x) {
  plain_like<float, X> numbers;
  numbers = x.template cast<float>();
  float kept = numbers(0, 0);
  for (Eigen::Index j = 0; j < numbers.cols(); ++j)
    for (Eigen::Index i = j == 0 ? 1 : 0; i < numbers.rows(); ++i)
      kept = Op<float, float, NaNs>{}(kept, numbers(i, j));
  return T(kept);
}

/// Vectors that are one line of a program.
template <class X>
concept one_line_in_lanes = lane_expressions<X> && reduced_in_lanes<X> &&
    (lane_order<X> == by_columns ? int(X::ColsAtCompileTime) == 1 : int(X::RowsAtCompileTime) == 1);
template <class X> using line_program_type = kernel::line_of<lane_program_type<X, lane_order<X>>>;

/// The first coefficient that is what Order keeps (see kernel::extreme_found_on_line).
template <class Order, class X>
[[gnu::always_inline]] inline kernel::placed_number placed_extreme(const X& x) {
  const auto program = lane_program_t<X>::template make<lane_order<X>>(x);
  return kernel::find_extreme_on_line<Order, line_program_type<X>>(kernel::as_line(program), x.size());
}

/// An expression for a function that is not inlined: a copy of it, so that it does not have to be in memory
/// where that is not called.
template <class X> using handed_expression = typename Eigen::internal::ref_selector<X>::type;

/// The largest or smallest coefficient one after the other, where `extreme` depends on their order.
template <class T, template <class, class, int> class Op, int NaNs, class X>
[[gnu::noinline]] T extreme_in_order(handed_expression<X> x, float extreme) {
  const Eigen::internal::evaluator<X> values(x);
  if constexpr (one_line_in_lanes<X>)
    if (extreme == 0) {
      const Eigen::Index first = placed_extreme<lane_order_of<Op>>(x).place;
      if (first < x.size()) return T(values.coeff(first));
    }
  auto kept = static_cast<float>(values.coeff(0, 0));
  for (Eigen::Index j = 0; j < x.cols(); ++j)
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      const auto next = static_cast<float>(values.coeff(i, j));
      if (extreme == 0 && next == 0) return T(next);
      kept = Op<float, float, NaNs>{}(kept, next);
    }
  return T(kept);
}

/// The largest or smallest coefficient, whichever Op<..., NaNs> keeps of two.
template <class T, template <class, class, int> class Op, int NaNs, class X>
[[gnu::always_inline]] inline T extreme(const X& x) {
  using order = lane_order_of<Op>;
  float kept = std::numeric_limits<float>::quiet_NaN();
  if constexpr (has_few_numbers<X> && lane_expressions<X> && narrow_float<scalar_of<X>> &&
                !computes_first<X>) {
    return extreme_of_few<T, Op, NaNs>(x);
  } else if constexpr (one_line_in_lanes<X>) {
    const auto program = lane_program_t<X>::template make<lane_order<X>>(x);
    kept = kernel::extreme_on_line<order, line_program_type<X>>(kernel::as_line(program), x.size());
  } else if constexpr (lane_expressions<X> && reduced_in_lanes<X>) {
    kept = extreme_in_lanes<order>(x);
  } else if constexpr (read_in_pieces<X>) {
    using keep = Op<float, float, Eigen::PropagateNaN>;
    kept = static_cast<float>(Eigen::internal::evaluator<X>(x).coeff(0, 0));
    if (!for_pieces(x, [&](const piece_view& some) { kept = keep{}(kept, some.redux(keep{})); }))
      kept = std::numeric_limits<float>::quiet_NaN();
  }
  if (!depends_on_order<T>(kept)) [[likely]]
    return T(kept);
  return extreme_in_order<T, Op, NaNs, X>(x, kept);
}

/// The same of fixed-point numbers, all of which are floats.
template <class T, template <class, class, int> class Op, int NaNs, class Values, class X>
T extreme_of_fixed(const Values& values, const X& x) {
  if constexpr (!has_few_numbers<X>)
    if (const float kept = extreme_in_lanes<lane_order_of<Op>>(x.template cast<float>()); !is_nan_code(kept))
      return T(kept);
  T found = values.coeff(0, 0);
  for (Eigen::Index j = 0; j < x.cols(); ++j)
    for (Eigen::Index i = 0; i < x.rows(); ++i) found = Op<T, T, NaNs>{}(found, values.coeff(i, j));
  return found;
}

/// The extremes of rows or columns, each rounded to T, which are computed together where that is possible.
template <class Xpr, template <class, class, int> class Op, Eigen::DirectionType Direction>
struct line_extremes {
  using T = typename Xpr::Scalar;
  using vector = plain_like<T, Xpr>;

  static vector of(const Xpr& xpr) {
    const auto& x = xpr.nestedExpression();
    vector result(xpr.rows(), xpr.cols());
    plain_like<float, Xpr> extremes(xpr.rows(), xpr.cols());
    const bool found = line_extremes_in_lanes<lane_order_of<Op>, Direction>(x, extremes.data());
    if (found) result = extremes.template cast<T>();
    if (found && all_are_decided(extremes.data(), extremes.size())) return result;
    for (Eigen::Index line = 0; line < result.size(); ++line)
      if (!found || depends_on_order<T>(extremes(line)))
        result(line) = xpr.functor()(x.template subVector<Direction>(line));
    return result;
  }
};
#define NARROW_LINE_EXTREMES(Op, member)                                                               \
  template <class Arg, narrow_float T, class S, int Direction>                                         \
  requires lane_expressions<Arg>                                                                       \
  struct line_values<Eigen::PartialReduxExpr<Arg, Eigen::internal::member<T, S>, Direction>> {         \
    using type = line_extremes<Eigen::PartialReduxExpr<Arg, Eigen::internal::member<T, S>, Direction>, \
                               Eigen::internal::Op, Eigen::DirectionType(Direction)>;                  \
  };
NARROW_LINE_EXTREMES(scalar_max_op, member_maxCoeff)
NARROW_LINE_EXTREMES(scalar_min_op, member_minCoeff)
#undef NARROW_LINE_EXTREMES

/// The first coefficient, counted column by column, that equals a number; those of a program are its
/// numbers. False, if there is none.
template <traversal Order, class Program>
bool first_place(const Program& program, const kernel::line_shape& shape, float number, position& first) {
  if constexpr (Order == by_columns) {
    for (kernel::index col = 0, row; col < shape.lines; ++col)
      if (kernel::find_on_line(kernel::on_line(program, col), number, shape.length, row) &&
          row < shape.length) {
        first.row = row;
        first.col = col;
        return true;
      }
    return false;
  } else {
    first.col = shape.length;
    for (kernel::index row = 0, col; row < shape.lines && first.col > 0; ++row)
      if (kernel::find_on_line(kernel::on_line(program, row), number, first.col, col) && col < first.col) {
        first.row = row;
        first.col = col;
      }
    return first.col < shape.length;
  }
}

/// An expression the places in which can be found in lanes, and its program, each number of which is rounded
/// to its scalar.
template <class X>
concept places_in_lanes = lane_expressions<X> && reduced_in_lanes<X> &&
    (direct_access<X> || rounds_in_lanes<typename X::Scalar>);
template <class X> [[gnu::always_inline]] inline auto rounded_program(const X& x) {
  using program = lane_program_t<X>;
  constexpr traversal order = lane_order<X>;
  if constexpr (direct_access<X>)
    return program::template make<order>(x);
  else
    return kernel::lane_unary<kernel::lane_rounded<typename X::Scalar>, lane_program_type<X, order>>{
        program::template make<order>(x)};
}

/// Where what Order keeps of the coefficients, each rounded to the scalar of x, lies first. False, if that
/// has to be found in another way, as where there are NaNs.
template <class Order, places_in_lanes X> bool place_in_lanes(const X& x, position& place) {
  if constexpr (one_line_in_lanes<X>) {
    using line = kernel::line_of<decltype(rounded_program(x))>;
    const Eigen::Index i =
        kernel::find_extreme_on_line<Order, line>(kernel::as_line(rounded_program(x)), x.size()).place;
    place = lane_order<X> == by_columns ? position{i, 0} : position{0, i};
    return i < x.size();
  } else {
    const auto program = rounded_program(x);
    using program_type = std::remove_const_t<decltype(program)>;
    const float extreme = kernel::extreme_of<Order, program_type>(program, lines_of(x));
    return !is_nan_code(extreme) && first_place<lane_order<X>>(program, lines_of(x), extreme, place);
  }
}

/// A coefficient and its place on the line, which is the length where they have to be found in another way:
/// of zeros it takes more to tell their signs.
template <class T> struct placed_coefficient {
  Eigen::Index place;
  T value;
};
/// The first number on a line of a program that is what Order keeps. Not inlined, so that what asks for it
/// stays small enough to be inlined itself.
template <class T, class Order, class Line>
[[gnu::noinline]] placed_coefficient<T> extreme_coefficient(kernel::handed_line<Line> line,
                                                            Eigen::Index length) {
  const auto found = kernel::find_extreme_on_line<Order, Line>(line, length);
  return {found.number == 0 ? length : found.place, T(found.number)};
}

}  // namespace narrow::detail

namespace Eigen::internal {

#define NARROW_EXTREME(Op)                                                                               \
  template <narrow::detail::reduced_by_float T, int NaNs, class Evaluator>                               \
  struct redux_traits<Op<T, T, NaNs>, Evaluator> : redux_traits<scalar_sum_op<T, T>, Evaluator> {};      \
  template <narrow::detail::reduced_by_float T, int NaNs, class Evaluator>                               \
  struct redux_impl<Op<T, T, NaNs>, Evaluator, narrow_traversal, NoUnrolling> {                          \
    template <class X> static T run(const Evaluator& values, const Op<T, T, NaNs>&, const X& x) {        \
      if constexpr (narrow::narrow_fixed<T>)                                                             \
        return narrow::detail::extreme_of_fixed<T, Op, NaNs>(values, x);                                 \
      else                                                                                               \
        return narrow::detail::extreme<T, Op, NaNs>(x);                                                  \
    }                                                                                                    \
  };                                                                                                     \
  template <narrow::detail::sums_floats_in_lanes X, int NaNs>                                            \
  struct redux_traits<Op<float, float, NaNs>, redux_evaluator<X>>                                        \
      : redux_traits<scalar_sum_op<float, float>, redux_evaluator<X>> {};                                \
  template <narrow::detail::sums_floats_in_lanes X, int NaNs>                                            \
  struct redux_impl<Op<float, float, NaNs>, redux_evaluator<X>, narrow_traversal, NoUnrolling> {         \
    template <class Values> static float run(const Values&, const Op<float, float, NaNs>&, const X& x) { \
      return narrow::detail::extreme<float, Op, NaNs>(x);                                                \
    }                                                                                                    \
  };
NARROW_EXTREME(scalar_max_op)
NARROW_EXTREME(scalar_min_op)
#undef NARROW_EXTREME

#if !EIGEN_VERSION_AT_LEAST(4, 0, 0)
/// Knows its expression.
template <class X>
requires(narrow::narrow_float<typename X::Scalar>&& narrow::detail::lane_expressions<X>&&
             narrow::detail::reduced_in_lanes<X>) class visitor_evaluator<X> : public evaluator<X> {
 public:
  using Scalar = typename X::Scalar;
  using CoeffReturnType = typename X::CoeffReturnType;
  static constexpr int RowsAtCompileTime = X::RowsAtCompileTime;

  explicit visitor_evaluator(const X& x) : evaluator<X>(x), x_(x) {}
  const X& expression() const { return x_; }
  Index rows() const { return x_.rows(); }
  Index cols() const { return x_.cols(); }
  Index size() const { return x_.size(); }
  CoeffReturnType coeff(Index row, Index col) const { return evaluator<X>::coeff(row, col); }

 private:
  const X& x_;
};

/// The same, of which Eigen's own visitor_impl takes coefficients one by one.
template <class X> struct visited_coefficients : visitor_evaluator<X> {
  using visitor_evaluator<X>::visitor_evaluator;

  template <class Order, class Visitor>
  [[gnu::noinline]] static void visit(narrow::detail::handed_expression<X> x, Visitor& visitor) {
    const visited_coefficients values(x);
    if (narrow::detail::position first{}; narrow::detail::place_in_lanes<Order>(x, first))
      visitor.init(values.coeff(first.row, first.col), first.row, first.col);
    else
      visitor_impl<Visitor, visited_coefficients, Dynamic>::run(values, visitor);
  }
};
template <class Order, class X, class Visitor>
[[gnu::always_inline]] inline void visit_extreme(const X& x, Visitor& visitor) {
  using namespace narrow::detail;
  if constexpr (one_line_in_lanes<X>) {
    using line = narrow::kernel::line_of<decltype(rounded_program(x))>;
    const auto found = extreme_coefficient<typename X::Scalar, Order, line>(
        narrow::kernel::as_line(rounded_program(x)), x.size());
    if (found.place < x.size()) [[likely]] {
      visitor.res = found.value;
      (lane_order<X> == by_columns ? visitor.row : visitor.col) = found.place;
      (lane_order<X> == by_columns ? visitor.col : visitor.row) = 0;
      return;
    }
  }
  visited_coefficients<X>::template visit<Order>(x, visitor);
}

#define NARROW_PLACE(visitor, Op)                                                                         \
  template <narrow::detail::places_in_lanes X, int NaNs>                                                  \
  requires requires(const visitor_evaluator<X>& values) { values.expression(); }                          \
  struct visitor_impl<visitor<X, NaNs>, visitor_evaluator<X>, Dynamic> {                                  \
    [[gnu::always_inline]] static void run(const visitor_evaluator<X>& values, visitor<X, NaNs>& visit) { \
      visit_extreme<narrow::detail::lane_order_of<Op>>(values.expression(), visit);                       \
    }                                                                                                     \
  };
NARROW_PLACE(max_coeff_visitor, scalar_max_op)
NARROW_PLACE(min_coeff_visitor, scalar_min_op)
#undef NARROW_PLACE
#endif

}  // namespace Eigen::internal
