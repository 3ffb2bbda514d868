// Conditions of narrow floats that are read one after the other: `all()`, `any()`, and what Eigen makes of
// them, as `allFinite()`.
//
// Eigen reads each coefficient of an evaluator until one decides (Core/BooleanRedux.h). Mostly none does, or
// one of the first: an evaluator that has been asked for those counts in a program of lanes how many hold,
// and where these are all or none computes no other.
#pragma once

#include "lane_reductions.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// So many are read before all are counted.
inline constexpr Eigen::Index least_counted = 16;

/// A comparison or a test of coefficients that may be many.
template <class Op, class Xpr>
concept counted_condition = compares<Op> && lane_condition<Xpr> && reduced_in_lanes<Xpr> &&
    (Xpr::MaxSizeAtCompileTime == Eigen::Dynamic || Xpr::MaxSizeAtCompileTime > least_counted);

/// Evaluator is the one that computes the coefficients of Xpr.
template <class Xpr, class Evaluator> class counted_evaluator : public Evaluator {
 public:
  explicit counted_evaluator(const Xpr& x)
      : Evaluator(x), x_(x), last_of_first_(std::min(x.rows(), least_counted) - 1) {}

  bool coeff(Eigen::Index row, Eigen::Index col) const {
    if (row == last_of_first_ && col == 0) count();
    return are_same_ ? hold_ : bool(Evaluator::coeff(row, col));
  }
  bool coeff(Eigen::Index index) const {
    if (index == last_of_first_) count();
    return are_same_ ? hold_ : bool(Evaluator::coeff(index));
  }

 private:
  void count() const {
    Eigen::Index holding = 0;
    if (are_same_ || x_.size() <= least_counted || !count_in_lanes(x_, holding)) return;
    hold_ = holding != 0;
    are_same_ = holding == 0 || holding == x_.size();
  }

  const Xpr& x_;
  const Eigen::Index last_of_first_;  // in the first column
  mutable bool are_same_ = false, hold_ = false;
};

template <class Op, class Lhs, class Rhs>
struct comparison_evaluator : functor_evaluator<Eigen::CwiseBinaryOp<Op, Lhs, Rhs>, Op, Lhs, Rhs> {
  explicit comparison_evaluator(const Eigen::CwiseBinaryOp<Op, Lhs, Rhs>& x)
      : comparison_evaluator::functor_evaluator(x.functor(), x.lhs(), x.rhs()) {}
};

}  // namespace narrow::detail

namespace Eigen::internal {

template <class Op, class Lhs, class Rhs>
requires narrow::detail::some_narrow_float<Lhs, Rhs> &&
    narrow::detail::counted_condition<Op, CwiseBinaryOp<Op, Lhs, Rhs>>
struct binary_evaluator<CwiseBinaryOp<Op, Lhs, Rhs>, IndexBased, IndexBased>
    : narrow::detail::counted_evaluator<CwiseBinaryOp<Op, Lhs, Rhs>,
                                        narrow::detail::comparison_evaluator<Op, Lhs, Rhs>> {
  using binary_evaluator::counted_evaluator::counted_evaluator;
};

template <class Op, class Arg>
requires narrow::detail::some_narrow_float<Arg> &&
    narrow::detail::counted_condition<Op, CwiseUnaryOp<Op, Arg>>
struct unary_evaluator<CwiseUnaryOp<Op, Arg>, IndexBased>
    : narrow::detail::counted_evaluator<CwiseUnaryOp<Op, Arg>,
                                        narrow::detail::unary_functor_evaluator<Op, Arg>> {
  using unary_evaluator::counted_evaluator::counted_evaluator;
};

}  // namespace Eigen::internal
