// Casts in programs of lanes: to a narrow format, in the middle of an expression too, from floats, integers
// and doubles; and of what an expression gives to integers, doubles and conditions.
#pragma once

#include "lane_conditions.hpp"
#include "lane_views.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Numbers in memory that become narrow ones. (Those of more bits than an int are converted one by one.)
template <class T>
concept cast_to_lanes = std::same_as<T, double> || std::same_as<T, int> || std::same_as<T, short> ||
    std::same_as<T, unsigned short> || std::same_as<T, signed char> || std::same_as<T, unsigned char>;
/// A format that they, and floats, are rounded to once.
template <class T>
concept rounded_in_lanes = narrow_float<T> && rounds_in_lanes<T> && T::layout::width <= 16;

/// `x.cast<T>()` for an expression of floats.
template <rounded_in_lanes T>
struct lane_operation<Eigen::internal::scalar_cast_op<float, T>>
    : operation_on<kernel::lane_rounded<T>, float> {};

/// `m.cast<T>()` for integers or doubles in memory.
template <class Op, class Arg>
concept casts_memory_to_narrow = rounded_in_lanes<scalar_of<Eigen::CwiseUnaryOp<Op, Arg>>> &&
    casts_to<Op, scalar_of<Eigen::CwiseUnaryOp<Op, Arg>>> && direct_access<Arg> &&
    cast_to_lanes<scalar_of<Arg>>;
template <class Op, class Arg>
requires casts_memory_to_narrow<Op, Arg>
struct lane_program<Eigen::CwiseUnaryOp<Op, Arg>> {
  using number = float;
  using expression = Eigen::CwiseUnaryOp<Op, Arg>;
  using memory = lane_memory<Arg>;
  static constexpr traversal orders = memory::orders;
  template <traversal Order> static bool gapless(const expression& x) {
    return memory::template gapless<Order>(x.nestedExpression());
  }
  template <traversal Order> static constexpr bool always_gapless = memory::template always_gapless<Order>;
  template <traversal Order> static auto make(const expression& x) {
    using T = scalar_of<expression>;
    using leaf = decltype(memory::template make<Order>(x.nestedExpression()));
    constexpr bool is_exact = std::integral<scalar_of<Arg>> &&
                              T::layout::mantissa_bits + 1 >= std::numeric_limits<scalar_of<Arg>>::digits &&
                              T::layout::exponent_bits > 4;  // no integer of so few bits is too large
    if constexpr (is_exact)
      return memory::template make<Order>(x.nestedExpression());
    else
      return kernel::lane_unary<kernel::lane_rounded<T>, leaf>{
          memory::template make<Order>(x.nestedExpression())};
  }
};

/// What is stored of a program's numbers without a rounding to a format: the expression that is cast to T, or
/// that gives conditions.
template <class T, class X> struct stored_without_rounding { using type = void; };
template <class T, casts_to<T> Op, class X>
requires((std::same_as<T, int> || std::same_as<T, double>)&&narrow_float<scalar_of<X>>&&
             lane_expressions<X>) struct stored_without_rounding<T, Eigen::CwiseUnaryOp<Op, X>> {
  using type = X;
  static const X& of(const Eigen::CwiseUnaryOp<Op, X>& x) { return x.nestedExpression(); }
};
template <lane_condition X>
requires piecewise_t<X>::any_narrow struct stored_without_rounding<bool, X> {
  using type = X;
  static const X& of(const X& x) { return x; }
};
template <class Dst, class Src, class Functor>
concept stores_without_rounding =
    direct_access<Dst> && Dst::InnerStrideAtCompileTime == 1 &&
    std::same_as<Functor, Eigen::internal::assign_op<typename Dst::Scalar, typename Dst::Scalar>> &&
    !std::is_void_v<typename stored_without_rounding<typename Dst::Scalar, Src>::type>;

/// dst = src, after fit() has given dst its size. False, and nothing is stored, if that has to be computed in
/// another way.
template <class Dst, class Src, class Fit>
auto store_without_rounding(Dst& dst, const Src& src, const Fit& fit) {
  using source = stored_without_rounding<typename Dst::Scalar, Src>;
  using program = lane_program_t<typename source::type>;
  constexpr traversal order = storage_order_of<Dst>;
  const auto& x = source::of(src);
  const auto p = program::template make<order>(x);
  fit();
  const bool is_line = without_gaps(dst) && program::template gapless<order>(x);
  return kernel::store_program(
      p, dst.data(), dst.outerStride(),
      is_line ? kernel::line_shape{1, dst.size()} : kernel::line_shape{dst.outerSize(), dst.innerSize()});
}

}  // namespace narrow::detail
