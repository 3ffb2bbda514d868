// Reductions of narrow coefficients: sum, trace, dot, squaredNorm, norm, row and column sums are wide and
// rounded once at the end; the comparison of matrices by isApprox.
//
// Eigen computes them through redux_impl (Core/Redux.h), row and column sums in the evaluator of
// PartialReduxExpr (Core/VectorwiseOp.h, Core/PartialReduxEvaluator.h), `dot` in 3.4 as a sum and in 5
// through default_inner_product_impl (Core/InnerProduct.h).
#pragma once

#include <array>

#include "../kernel/reduce.hpp"
#include "expressions/decided_conditions.hpp"
#include "expressions/line_values.hpp"
#include "expressions/piecewise_loops.hpp"
#include "products/dense.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// A vector in memory, whose numbers are as far from one another as its inner stride says.
template <class X>
concept vector_in_memory = direct_access<X> && bool(X::IsVectorAtCompileTime);

template <class L, class R> auto sum_of_any_products(const L& l, const R& r) {
  using T = typename L::Scalar;
  if constexpr (block_vectors<L, R>)
    if (float sum = 0; kernel::try_dot(block_line_of(l), block_line_of(r), sum)) return sum;
  if constexpr (vector_in_memory<L> && vector_in_memory<R> && few_in_integers<T> &&
                std::same_as<typename R::Scalar, T> && is_few(L::SizeAtCompileTime)) {
    std::int64_t sum = 0;
    for (Eigen::Index i = 0; i < L::SizeAtCompileTime; ++i)
      sum += std::int64_t{l.coeff(i).bits()} * r.coeff(i).bits();
    return accumulator_t<T>(sum);
  } else if constexpr (vector_in_memory<L> && vector_in_memory<R>) {
    return kernel::dot(l.data(), l.innerStride(), r.data(), r.innerStride(), l.size());
  } else if constexpr (matrices_of_one_order<L, R>) {
    if (without_gaps(l) && without_gaps(r)) return kernel::dot(l.data(), 1, r.data(), 1, l.size());
  }
  const operand<L, unstripped<L>> a(l);
  const operand<R, unstripped<R>> b(r);
  const bool aligned = a.view().rows == b.view().rows;
  return kernel::dot(a.view(), aligned ? b.view() : b.view().transposed());
}
/// Sum of the products of corresponding coefficients, in the accumulator of their formats; of a row and a
/// column too.
template <class L, class R> [[gnu::always_inline]] inline auto sum_of_products(const L& l, const R& r) {
  if constexpr (vectors_in_lanes<L, R>) {
    float sum = 0;
    const auto done = dot_in_lanes(l, r, sum);
    if constexpr (std::same_as<decltype(done), const std::true_type>) {
      return sum;
    } else {
      if (done) [[likely]]
        return sum;
      return sum_of_any_products(l, r);
    }
  } else {
    if constexpr (matrices_in_lanes<L, R>)
      if (float sum = 0; matrix_dot_in_lanes(l, r, sum)) [[likely]]
        return sum;
    return sum_of_any_products(l, r);
  }
}

/// Sum of coefficients that have to be computed, in pieces if that is possible, or else a portion at a time.
template <class X, class Values> auto sum_of_portions(const X& x, const Values& values) {
  std::array<coefficient_t<X>, 256> portion;
  std::size_t count = 0;
  decltype(kernel::sum(portion.data(), 1, 0)) total{};
  if constexpr (read_in_pieces<X>)
    if (for_pieces(x, [&](const piece_view& some) { total += kernel::sum(some.data(), 1, some.size()); }))
      return total;
  const auto add_portion = [&] {
    total += kernel::sum(portion.data(), 1, static_cast<kernel::index>(count));
    count = 0;
  };
  for (Eigen::Index j = 0; j < x.cols(); ++j)
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      if (count == portion.size()) add_portion();
      portion[count++] = values.coeff(i, j);
    }
  add_portion();
  return total;
}

/// Sum of all coefficients, of which `values` is the evaluator: float for floating formats, exact for
/// `fixed`.
template <class X, class Values>
[[gnu::always_inline]] inline auto wide_sum(const X& x, const Values& values) {
  if constexpr (direct_access<X>) {
    if constexpr (vectors_in_lanes<X>) {
      float sum = 0;
      if (vector_sum_in_lanes(x, sum)) [[likely]]
        return sum;
    }
    if constexpr (lane_expressions<X> && narrow_float<scalar_of<X>>) {
      // A kernel takes longer to begin, and adds up each line by itself, which takes long where these are
      // short.
      if (x.size() <= max_small_matrix || (x.innerSize() <= max_short_line && !without_gaps(x)))
        if (float total = 0; sum_in_lanes(x, total)) [[likely]]
          return total;
    }
    if constexpr (vector_in_memory<X>)
      return kernel::sum(x.data(), x.innerStride(), x.size());
    else
      return kernel::sum(view_of_direct(x));
  } else {
    if constexpr (lane_expressions<X> && narrow_float<scalar_of<X>>) {
      float total = 0;
      if (sum_in_lanes(x, total)) [[likely]]
        return total;
    }
    return sum_of_portions(x, values);
  }
}

/// The product of all coefficients, of which `values` is the evaluator, rounded to float in each
/// multiplication, in an order that differs between instruction sets.
template <class X, class Values> float wide_product(const X& x, const Values& values) {
  float product = 1;
  if constexpr (lane_expressions<X> && narrow_float<scalar_of<X>>)
    if (reduce_in_lanes(x, [&](const auto& program, const kernel::line_shape& shape) {
          return kernel::product_of(program, shape, product);
        }))
      return product;
  for (Eigen::Index j = 0; j < x.cols(); ++j)
    for (Eigen::Index i = 0; i < x.rows(); ++i) product *= static_cast<float>(values.coeff(i, j));
  return product;
}

template <class A, class B> void takes_product(const Eigen::internal::scalar_product_op<A, B>&);
template <class A, class B> void takes_product(const Eigen::internal::scalar_conj_product_op<A, B>&);
template <class Op>
concept product_functor = requires(const Op& op) {
  takes_product(op);
};

/// Products of two things in memory go to the dot kernel; products of fixed-point numbers always do, being
/// exact there.
template <class L, class R>
concept summed_as_dot = narrow_product<L, R> &&
    ((direct_access<L> && direct_access<R>) || (narrow_fixed<scalar_of<L>> && narrow_fixed<scalar_of<R>>) ||
     block_vectors<L, R>);

template <product_functor Op, class L, class R, class Values>
requires summed_as_dot<L, R>
[[gnu::always_inline]] inline auto wide_sum(const Eigen::CwiseBinaryOp<Op, L, R>& x, const Values&) {
  return sum_of_products(x.lhs(), x.rhs());
}
template <squares Op, class X, class Values>
requires summed_as_dot<X, X>
[[gnu::always_inline]] inline auto wide_sum(const Eigen::CwiseUnaryOp<Op, X>& x, const Values&) {
  return sum_of_products(x.nestedExpression(), x.nestedExpression());
}

/// Products of such vectors in blocks, which are floats to Eigen.
template <class X> inline constexpr bool is_product_of_blocks = false;
template <product_functor Op, class L, class R>
inline constexpr bool is_product_of_blocks<Eigen::CwiseBinaryOp<Op, L, R>> =
    block_vectors<std::remove_const_t<L>, std::remove_const_t<R>>;
template <squares Op, class X>
inline constexpr bool is_product_of_blocks<Eigen::CwiseUnaryOp<Op, X>> =
    block_vectors<std::remove_const_t<X>, std::remove_const_t<X>>;
template <class X>
concept product_of_blocks = is_product_of_blocks<X>;

template <class X> auto wide_sum(const X& x) { return wide_sum(x, Eigen::internal::evaluator<X>(x)); }

/// One row or column. Of an empty matrix the first: Eigen would add an offset to its null pointer.
template <Eigen::DirectionType Direction, class X> auto line_of(const X& x, Eigen::Index line) {
  return x.template subVector<Direction>(x.size() == 0 ? 0 : line);
}

/// One row or column of an expression, the squares of which are those of one of what is squared.
template <Eigen::DirectionType Direction, class X> auto summed_line(const X& x, Eigen::Index line) {
  return line_of<Direction>(x, line);
}
template <Eigen::DirectionType Direction, class S, class X>
auto summed_line(const Eigen::CwiseUnaryOp<Eigen::internal::scalar_abs2_op<S>, X>& x, Eigen::Index line) {
  return line_of<Direction>(x.nestedExpression(), line).cwiseAbs2();
}

/// Expressions of Eigen's floats with narrow ones in them, the sums of which are programs.
template <class X>
concept sums_floats_in_lanes = std::same_as<typename X::Scalar, float> && lane_expressions<X> &&
    reduced_in_lanes<X> && piecewise_t<X>::any_narrow;
template <class X>
concept summed_from_narrow = product_of_blocks<X> || sums_floats_in_lanes<X>;

/// A sum as a coefficient: float stays wide, an exact fixed-point sum is rounded to T.
template <class T, class Sum> auto sum_coefficient(const Sum& sum) {
  if constexpr (narrow_fixed<T>)
    return rounded_sum<T>(sum);
  else
    return sum;
}

/// The sums of the rows or columns of an expression of Scalars, each as a coefficient: float stays wide.
template <class Xpr, class Arg, class Scalar, Eigen::DirectionType Direction> class line_sums {
  // A product is computed once, wide; anything else is read where it is.
  static constexpr bool computed_first =
      (int(Eigen::internal::evaluator<Arg>::Flags) & Eigen::EvalBeforeNestingBit) != 0;
  using nested = std::conditional_t<computed_first, plain_like<widened_t<typename Arg::Scalar>, Arg>,
                                    typename Eigen::internal::ref_selector<Arg>::type>;
  static auto sum(const auto& x, Eigen::Index line) {
    return sum_coefficient<Scalar>(wide_sum(summed_line<Direction>(x, line)));
  }
  using value = decltype(sum(std::declval<const std::remove_cvref_t<nested>&>(), 0));

 public:
  using vector = plain_like<value, Xpr>;

  static vector of(const Xpr& xpr) {
    const nested x(xpr.nestedExpression());
    vector result(xpr.rows(), xpr.cols());
    if constexpr (std::same_as<value, float>)
      if (line_sums_in_lanes<Direction>(x, result.data())) return result;
    for (Eigen::Index line = 0; line < result.size(); ++line) result(line) = sum(x, line);
    return result;
  }
};

/// The coefficients of x as doubles.
template <class X> plain_like<double, X> as_doubles(const X& x) { return x.template cast<double>().matrix(); }

template <class Arg, narrow_scalar T, narrow_scalar S, int Direction>
struct line_values<Eigen::PartialReduxExpr<Arg, Eigen::internal::member_sum<T, S>, Direction>> {
  using type = line_sums<Eigen::PartialReduxExpr<Arg, Eigen::internal::member_sum<T, S>, Direction>, Arg, T,
                         Eigen::DirectionType(Direction)>;
};
/// In a program of lanes they are numbers that were computed before.
template <class Arg, class Member, int Direction>
requires computed_by_lines<Eigen::PartialReduxExpr<Arg, Member, Direction>> &&
    narrow_float<scalar_of<Eigen::PartialReduxExpr<Arg, Member, Direction>>>
struct lane_program<Eigen::PartialReduxExpr<Arg, Member, Direction>> : lane_numbers_of_any_order {
  using expression = Eigen::PartialReduxExpr<Arg, Member, Direction>;
  using vector = typename line_values_t<expression>::vector;
  using number = float;
  static constexpr bool computes_first = detail::computes_first<Arg>;
  template <traversal Order> static auto make(const expression& x) {
    constexpr bool along = (Order == by_columns) == (Direction == Eigen::Horizontal);
    return kernel::lane_held<vector>{line_values_t<expression>::of(x), along ? x.size() : 1};
  }
};

}  // namespace narrow::detail

namespace Eigen::internal {

/// A traversal that none of Eigen's redux_impl is for: their values are small enumerators.
inline constexpr int narrow_traversal = 0x6e61;

template <narrow::narrow_scalar T, class Evaluator> struct redux_traits<scalar_sum_op<T, T>, Evaluator> {
  using PacketType = T;
  enum { PacketSize = 1, Traversal = narrow_traversal, Unrolling = NoUnrolling };
};

template <narrow::narrow_scalar T, class Evaluator>
struct redux_impl<scalar_sum_op<T, T>, Evaluator, narrow_traversal, NoUnrolling> {
  template <class X>
  [[gnu::always_inline]] static T run(const Evaluator& values, const scalar_sum_op<T, T>&, const X& x) {
    return static_cast<T>(narrow::detail::sum_coefficient<T>(narrow::detail::wide_sum(x, values)));
  }
};

/// `prod()` of floating formats: wide and rounded once, as sums are.
template <narrow::narrow_float T, class Evaluator>
struct redux_traits<scalar_product_op<T, T>, Evaluator> : redux_traits<scalar_sum_op<T, T>, Evaluator> {};
template <narrow::narrow_float T, class Evaluator>
struct redux_impl<scalar_product_op<T, T>, Evaluator, narrow_traversal, NoUnrolling> {
  template <class X> static T run(const Evaluator& values, const scalar_product_op<T, T>&, const X& x) {
    return static_cast<T>(narrow::detail::wide_product(x, values));
  }
};

/// `hypotNorm()`: no square leaves the range of double, in which these are summed.
template <narrow::narrow_scalar T, class Evaluator>
struct redux_traits<scalar_hypot_op<T, T>, Evaluator> : redux_traits<scalar_sum_op<T, T>, Evaluator> {};
template <narrow::narrow_scalar T, class Evaluator>
struct redux_impl<scalar_hypot_op<T, T>, Evaluator, narrow_traversal, NoUnrolling> {
  template <class X> static T run(const Evaluator&, const scalar_hypot_op<T, T>&, const X& x) {
    return static_cast<T>(x.template cast<double>().norm());
  }
};

/// The sum of floats that are computed of narrow ones, as of `x.cast<float>()`; `dot` and `squaredNorm` of
/// vectors in blocks.
template <narrow::detail::summed_from_narrow X>
struct redux_traits<scalar_sum_op<float, float>, redux_evaluator<X>> {
  using PacketType = float;
  enum { PacketSize = 1, Traversal = narrow_traversal, Unrolling = NoUnrolling };
};
template <narrow::detail::summed_from_narrow X>
struct redux_impl<scalar_sum_op<float, float>, redux_evaluator<X>, narrow_traversal, NoUnrolling> {
  template <class Values>
  static float run(const Values& values, const scalar_sum_op<float, float>&, const X& x) {
    if constexpr (narrow::detail::product_of_blocks<X>) {
      return narrow::detail::wide_sum(x, values);
    } else {
      float sum = 0;
      if (narrow::detail::sum_in_lanes(x, sum)) return sum;
      for (Index j = 0; j < x.cols(); ++j)
        for (Index i = 0; i < x.rows(); ++i) sum += values.coeff(i, j);
      return sum;
    }
  }
};

/// `count()` of a comparison of narrow floats.
template <class Op, class Condition>
concept counts_in_lanes = narrow::detail::casts_to<Op, Index> && narrow::detail::lane_condition<Condition> &&
    narrow::detail::piecewise_t<Condition>::any_narrow;
template <class Op, class Condition>
requires counts_in_lanes<Op, Condition>
struct redux_traits<scalar_sum_op<Index, Index>, redux_evaluator<CwiseUnaryOp<Op, Condition>>> {
  using PacketType = Index;
  enum { PacketSize = 1, Traversal = narrow_traversal, Unrolling = NoUnrolling };
};
template <class Op, class Condition>
requires counts_in_lanes<Op, Condition>
struct redux_impl<scalar_sum_op<Index, Index>, redux_evaluator<CwiseUnaryOp<Op, Condition>>, narrow_traversal,
                  NoUnrolling> {
  template <class Values, class X>
  static Index run(const Values& values, const scalar_sum_op<Index, Index>&, const X& x) {
    Index count = 0;
    if (narrow::detail::count_in_lanes(x.nestedExpression(), count)) return count;
    for (Index j = 0; j < x.cols(); ++j)
      for (Index i = 0; i < x.rows(); ++i) count += values.coeff(i, j);
    return count;
  }
};

#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
/// `dot` in Eigen 5.
template <class L, class R, bool Conj>
requires narrow::detail::narrow_product<L, R>
struct default_inner_product_impl<L, R, Conj> {
  using result_type =
      typename ScalarBinaryOpTraits<typename traits<L>::Scalar, typename traits<R>::Scalar>::ReturnType;
  static result_type run(const MatrixBase<L>& a, const MatrixBase<R>& b) {
    eigen_assert(a.size() == b.size());
    return static_cast<result_type>(narrow::detail::sum_coefficient<result_type>(
        narrow::detail::sum_of_products(a.derived(), b.derived())));
  }
};
#endif

/// Sums and extremes of rows and columns. They are computed when one of them is asked for: a program of lanes
/// does not read them here.
template <class Arg, class Member, int Direction>
requires narrow::detail::computed_by_lines<PartialReduxExpr<Arg, Member, Direction>>
struct evaluator<PartialReduxExpr<Arg, Member, Direction>>
    : narrow::detail::expression_evaluator<PartialReduxExpr<Arg, Member, Direction>> {
  using XprType = PartialReduxExpr<Arg, Member, Direction>;
  using line_values = narrow::detail::line_values_t<XprType>;
  enum {
    CoeffReadCost = NumTraits<typename XprType::Scalar>::ReadCost,
    Flags = (int(traits<XprType>::Flags) & RowMajorBit) |
            (int(evaluator<Arg>::Flags) & HereditaryBits & ~RowMajorBit) | LinearAccessBit
  };

  explicit evaluator(const XprType& xpr) : xpr_(xpr) {}

  auto coeff(Index row, Index col) const { return values()(row, col); }
  auto coeff(Index index) const { return values()(index); }

 private:
  using vector = typename line_values::vector;

  const vector& values() const {
    if (!computed_) {
      values_ = line_values::of(xpr_);
      computed_ = true;
    }
    return values_;
  }

  const XprType xpr_;
  mutable vector values_;  // no std::optional: g++ 12 warns at -O3 that its memory may be uninitialised
  mutable bool computed_ = false;
};

// `isApprox`, `isMuchSmallerThan` (Core/Fuzzy.h): squares and their sums leave the range of a narrow format
// at once. Each coefficient is read several times.

template <narrow::detail::narrow_expression X, class Y> struct isApprox_selector<X, Y, false> {
  static bool run(const X& x, const Y& y, const typename X::RealScalar& precision) {
    return narrow::detail::as_doubles(x).isApprox(narrow::detail::as_doubles(y),
                                                  static_cast<double>(precision));
  }
};
template <narrow::detail::narrow_expression X, class Y>
struct isMuchSmallerThan_object_selector<X, Y, false> {
  static bool run(const X& x, const Y& y, const typename X::RealScalar& precision) {
    return narrow::detail::as_doubles(x).isMuchSmallerThan(narrow::detail::as_doubles(y),
                                                           static_cast<double>(precision));
  }
};
template <narrow::detail::narrow_expression X> struct isMuchSmallerThan_scalar_selector<X, false> {
  static bool run(const X& x, const typename X::RealScalar& y, const typename X::RealScalar& precision) {
    return narrow::detail::as_doubles(x).isMuchSmallerThan(static_cast<double>(y),
                                                           static_cast<double>(precision));
  }
};

}  // namespace Eigen::internal
