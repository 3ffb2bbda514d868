// `any()` and `all()` of conditions of narrow floats, and what Eigen makes of them: `hasNaN()`,
// `allFinite()`.
//
// Eigen computes a coefficient after the other until one decides (Core/BooleanRedux.h), in a member that
// nothing can be put in the place of. So these are members of the expressions themselves, which hide it.
#pragma once

#include "lane_reductions.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// A comparison of narrow floats, a test of them, or conditions of such combined.
template <class Op, class... X>
concept condition_of_narrow = (compares<Op> && some_narrow_float<X...>) ||
                              (lane_expressions_of<bool, X...> && (piecewise_t<X>::any_narrow || ...));

/// Few of a fixed size are compared one by one where that is sooner done, and where the compiler does not
/// take them for finite.
template <class X>
concept decided_in_lanes = lane_condition<X> && reduced_in_lanes<X> &&
    (!is_few(X::SizeAtCompileTime) || NARROW_COMPARES_NANS == 0 ||
     kernel::few::evaluates<lane_program_type<X, lane_order<X>>>);

/// What stands between X and the base that Eigen gives it.
template <class X> class decided_condition : public Eigen::internal::generic_xpr_base<X>::type {
 public:
  using Base = typename Eigen::internal::generic_xpr_base<X>::type;

  bool any() const {
    bool holds = false;
    return decide<false>(holds) ? holds : Base::any();
  }
  bool all() const {
    bool fails = false;
    return decide<true>(fails) ? !fails : Base::all();
  }

 private:
  /// Whether the condition, or its Opposite, holds of any coefficient. False, if that has to be computed in
  /// another way.
  template <bool Opposite> bool decide(bool& holds) const {
    if constexpr (decided_in_lanes<X>) {
      constexpr traversal order = lane_order<X>;
      using program = lane_program_t<X>;
      using opposite = kernel::lane_unary<kernel::lane_not, lane_program_type<X, order>>;
      const X& x = this->derived();
      if (x.size() == 0) return false;
      return in_shape_along<program::template always_gapless<order>, order>(
          x, program::template gapless<order>(x), [&](const auto& shape) {
            // Made where they are, since one that holds floats is not copied.
            if constexpr (Opposite)
              return kernel::find_any(opposite{program::template make<order>(x)}, shape, holds);
            else
              return kernel::find_any(program::template make<order>(x), shape, holds);
          });
    } else {
      return false;
    }
  }
};

}  // namespace narrow::detail

namespace Eigen {

template <class Op, class Lhs, class Rhs>
requires narrow::detail::condition_of_narrow<Op, Lhs, Rhs>
class CwiseBinaryOpImpl<Op, Lhs, Rhs, Dense>
    : public narrow::detail::decided_condition<CwiseBinaryOp<Op, Lhs, Rhs>> {
};
template <class Op, class Arg>
requires narrow::detail::condition_of_narrow<Op, Arg>
class CwiseUnaryOpImpl<Op, Arg, Dense> : public narrow::detail::decided_condition<CwiseUnaryOp<Op, Arg>> {
};

}  // namespace Eigen
