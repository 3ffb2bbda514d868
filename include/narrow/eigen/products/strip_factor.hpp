// An operand of a product without its scalar factors and signs: these move into the one factor that the
// product has, so that they are never rounded to the narrow type.
#pragma once

#include "../expressions/views.hpp"
#include "../tensors/traits.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// An expression as it is, times 1.
template <class X> struct unstripped {
  using type = X;
  static const type& expression(const X& x) { return x; }
  static double factor(const X&) { return 1; }
};

/// An expression as the expression below its factors, and the product of these.
template <class X> struct stripped : unstripped<X> {};
template <class X> struct stripped<const X> : stripped<X> {};

inline double factor_value(const literal& x) { return x.value; }
template <class T> double factor_value(const T& x) { return static_cast<double>(x); }

template <class T, class Plain>
using constant_expression = const Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<T>, Plain>;
template <class T, class Plain> double factor_of(constant_expression<T, Plain>& x) {
  return factor_value(x.functor().m_other);
}

template <class T, class S, class Plain, class X>
struct stripped<
    Eigen::CwiseBinaryOp<Eigen::internal::scalar_product_op<T, S>, constant_expression<T, Plain>, X>> {
  using type = typename stripped<X>::type;
  static const type& expression(const auto& x) { return stripped<X>::expression(x.rhs()); }
  static double factor(const auto& x) { return factor_of(x.lhs()) * stripped<X>::factor(x.rhs()); }
};
template <class T, class S, class Plain, class X>
struct stripped<
    Eigen::CwiseBinaryOp<Eigen::internal::scalar_product_op<S, T>, X, constant_expression<T, Plain>>> {
  using type = typename stripped<X>::type;
  static const type& expression(const auto& x) { return stripped<X>::expression(x.lhs()); }
  static double factor(const auto& x) { return factor_of(x.rhs()) * stripped<X>::factor(x.lhs()); }
};
template <class S, class X> struct stripped<Eigen::CwiseUnaryOp<Eigen::internal::scalar_opposite_op<S>, X>> {
  using type = typename stripped<X>::type;
  static const type& expression(const auto& x) { return stripped<X>::expression(x.nestedExpression()); }
  static double factor(const auto& x) { return -stripped<X>::factor(x.nestedExpression()); }
};

/// The format of the tensor that an operand is, times a factor; void if it is none.
template <class X> using stripped_format = format_below<typename stripped<X>::type>;

/// The panels that an expression keeps for products (see `prepacked`); null for all others.
template <class X> struct panels_below {
  static const kernel::panel_store* of(const X&) { return nullptr; }
};
template <class X> struct panels_below<const X> : panels_below<X> {};

}  // namespace narrow::detail
