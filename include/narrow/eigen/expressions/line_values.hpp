// What is computed of whole rows or columns, Eigen's PartialReduxExpr, all of it together.
#pragma once

#include "../tensors/matrix.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// What the numbers of a PartialReduxExpr are computed by, all of them together: a class with a `vector` of
/// them and of(expression). Void for those that Eigen computes one by one.
template <class X> struct line_values { using type = void; };

/// Of a matrix in blocks: what Eigen makes of all of its floats, which are sooner read together.
template <class Xpr, class Arg, class Member, int Direction> struct lines_of_floats {
  using vector = plain_like<typename Xpr::Scalar, Xpr>;
  static vector of(const Xpr& xpr) {
    using plain = dynamic_like<float, Arg>;
    const plain floats = xpr.nestedExpression();
    return Eigen::PartialReduxExpr<const plain, Member, Direction>(floats, xpr.functor());
  }
};
template <class Arg, class Member, int Direction>
requires block_format<format_below<Arg>>
struct line_values<Eigen::PartialReduxExpr<Arg, Member, Direction>> {
  using type = lines_of_floats<Eigen::PartialReduxExpr<Arg, Member, Direction>, std::remove_const_t<Arg>,
                               Member, Direction>;
};

template <class X> using line_values_t = typename line_values<X>::type;
template <class X>
concept computed_by_lines = !std::is_void_v<line_values_t<X>>;

}  // namespace narrow::detail
