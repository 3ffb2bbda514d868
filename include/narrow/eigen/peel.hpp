// What lies under an operand of a product.
#pragma once

#include "tensor_traits.hpp"
#include "views.hpp"

namespace narrow::inline NARROW_ABI::detail {

// Signs and scalar factors move into the product's one factor, so that they are
// never rounded to the narrow type.

template <class X> struct unpeeled {
  using type = X;
  static const type& expression(const X& x) { return x; }
  static double factor(const X&) { return 1; }
};
template <class X> struct peeled : unpeeled<X> {};
template <class X> struct peeled<const X> : peeled<X> {};

inline double factor_value(const literal& x) { return x.value; }
template <class T> double factor_value(const T& x) { return static_cast<double>(x); }

template <class T, class S, class Plain, class X>
struct peeled<
    Eigen::CwiseBinaryOp<Eigen::internal::scalar_product_op<T, S>,
                         const Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<T>, Plain>, X>> {
  using type = typename peeled<X>::type;
  static const type& expression(const auto& x) { return peeled<X>::expression(x.rhs()); }
  static double factor(const auto& x) {
    return factor_value(x.lhs().functor().m_other) * peeled<X>::factor(x.rhs());
  }
};
template <class T, class S, class Plain, class X>
struct peeled<
    Eigen::CwiseBinaryOp<Eigen::internal::scalar_product_op<S, T>, X,
                         const Eigen::CwiseNullaryOp<Eigen::internal::scalar_constant_op<T>, Plain>>> {
  using type = typename peeled<X>::type;
  static const type& expression(const auto& x) { return peeled<X>::expression(x.lhs()); }
  static double factor(const auto& x) {
    return factor_value(x.rhs().functor().m_other) * peeled<X>::factor(x.lhs());
  }
};
template <class S, class X> struct peeled<Eigen::CwiseUnaryOp<Eigen::internal::scalar_opposite_op<S>, X>> {
  using type = typename peeled<X>::type;
  static const type& expression(const auto& x) { return peeled<X>::expression(x.nestedExpression()); }
  static double factor(const auto& x) { return -peeled<X>::factor(x.nestedExpression()); }
};

/// The format of the tensor that an operand is, times a factor; void if it is none.
template <class X> using peeled_format = format_below<typename peeled<X>::type>;

/// The view of an expression that lies in memory.
template <class X> auto view_of_direct(X& x) {
  const Eigen::Index inner = x.innerStride(), outer = x.outerStride();
  return matrix_view<std::remove_pointer_t<decltype(x.data())>>{
      x.data(), x.rows(), x.cols(), X::IsRowMajor ? outer : inner, X::IsRowMajor ? inner : outer};
}

}  // namespace narrow::inline NARROW_ABI::detail
