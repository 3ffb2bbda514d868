// Triangular and self-adjoint views of narrow matrices: their products, solutions and updates are computed by
// Eigen's own routines on wide copies and rounded once at the end.
//
// Specialised are generic_product_impl (Core/ProductEvaluators.h), triangular_solver_selector
// (Core/SolveTriangular.h), selfadjoint_product_selector (Core/products/SelfadjointProduct.h) and
// general_product_to_triangular_selector (Core/products/GeneralMatrixMatrixTriangular.h), each with Eigen's
// own patterns of arguments.
#pragma once

#include "dense.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// The dense matrix that a triangular or self-adjoint view looks at; any other operand is its own.
template <class X> const X& matrix_below(const X& x) { return x; }
template <class X, unsigned Mode> const auto& matrix_below(const Eigen::TriangularView<X, Mode>& x) {
  return x.nestedExpression();
}
template <class X, unsigned Mode> const auto& matrix_below(const Eigen::SelfAdjointView<X, Mode>& x) {
  return x.nestedExpression();
}

/// `values` seen as x sees the matrix below it.
template <class X, class Values> const Values& seen_as(const X&, const Values& values) { return values; }
template <class X, unsigned Mode, class Values>
auto seen_as(const Eigen::TriangularView<X, Mode>&, const Values& values) {
  return values.template triangularView<Mode>();
}
template <class X, unsigned Mode, class Values>
auto seen_as(const Eigen::SelfAdjointView<X, Mode>&, const Values& values) {
  return values.template selfadjointView<Mode>();
}

/// The members of Eigen's `generic_product_impl` for a triangular or self-adjoint view on either side.
template <class L, class R> struct triangle_product_impl {
  using wide = routine_scalar_t<L, R>;

  static auto product(const L& l, const R& r) {
    const auto a = wide_copy<wide>(matrix_below(l));
    const auto b = wide_copy<wide>(matrix_below(r));
    return plain_like<wide, Eigen::Product<L, R>>(seen_as(l, a) * seen_as(r, b));
  }
  template <class Dst> static void evalTo(Dst& dst, const L& l, const R& r) { dst = product(l, r); }
  template <class Dst> static void addTo(Dst& dst, const L& l, const R& r) { dst += product(l, r); }
  template <class Dst> static void subTo(Dst& dst, const L& l, const R& r) { dst -= product(l, r); }
  template <class Dst, class Factor>
  static void scaleAndAddTo(Dst& dst, const L& l, const R& r, const Factor& alpha) {
    dst += static_cast<wide>(factor_value(alpha)) * product(l, r);
  }
};

/// Solves in place: `rhs` becomes inverse(triangle) rhs, or rhs inverse(triangle).
template <int Side, unsigned Mode, class L, class R> void solve_triangular(const L& triangle, R& rhs) {
  using wide = routine_scalar_t<L, R>;
  const auto a = wide_copy<wide>(triangle);
  auto x = wide_copy<wide>(rhs);
  a.template triangularView<Mode>().template solveInPlace<Side>(x);
  rhs = x;
}

/// triangle(dst) = alpha values + beta triangle(dst), the rest of dst untouched. Mode: Lower or Upper.
template <unsigned Mode, class Dst, class Values>
void update_triangle(Dst& dst, const Values& values, double alpha, double beta) {
  const auto factor = static_cast<typename Values::Scalar>(alpha);
  constexpr bool from_diagonal = (Mode == Eigen::Lower) != bool(Dst::IsRowMajor);  // or up to it, on a line
  for (Eigen::Index l = 0; l < dst.outerSize(); ++l) {
    const Eigen::Index first = from_diagonal ? l : 0, length = from_diagonal ? dst.innerSize() - l : l + 1;
    const auto part = [&](auto& m) {
      if constexpr (Dst::IsRowMajor)
        return m.row(l).segment(first, length);
      else
        return m.col(l).segment(first, length);
    };
    if (beta == 0)
      part(dst) = factor * part(values);
    else
      part(dst) += factor * part(values);
  }
}

}  // namespace narrow::detail

namespace Eigen::internal {

#define NARROW_TRIANGLE_PRODUCT(LhsShape, RhsShape) \
  template <class L, class R, int Tag>              \
  requires narrow::detail::some_narrow_factor<L, R> \
  struct generic_product_impl<L, R, LhsShape, RhsShape, Tag> : narrow::detail::triangle_product_impl<L, R> {};
NARROW_TRIANGLE_PRODUCT(TriangularShape, DenseShape)
NARROW_TRIANGLE_PRODUCT(DenseShape, TriangularShape)
NARROW_TRIANGLE_PRODUCT(SelfAdjointShape, DenseShape)
NARROW_TRIANGLE_PRODUCT(DenseShape, SelfAdjointShape)
#undef NARROW_TRIANGLE_PRODUCT

template <class L, class R, int Options, int Tag, class LhsShape, class RhsShape>
requires narrow::detail::narrow_triangle_product<L, R>
struct product_evaluator<Product<L, R, Options>, Tag, LhsShape, RhsShape>
    : narrow::detail::value_evaluator<narrow::detail::product_result<L, R>> {
  using XprType = Product<L, R, Options>;
  explicit product_evaluator(const XprType& x)
      : product_evaluator::value_evaluator(
            narrow::detail::triangle_product_impl<L, R>::product(x.lhs(), x.rhs())) {}
};

#define NARROW_TRIANGULAR_SOLVER(Side_, Unrolling_, Vectors_)                  \
  requires narrow::detail::some_narrow_factor<L, R>                            \
  struct triangular_solver_selector<L, R, Side_, Mode, Unrolling_, Vectors_> { \
    static void run(const L& triangle, R& rhs) {                               \
      narrow::detail::solve_triangular<Side_, Mode>(triangle, rhs);            \
    }                                                                          \
  };
template <class L, class R, int Side, int Mode>
NARROW_TRIANGULAR_SOLVER(Side, NoUnrolling, 1)
template <class L, class R, int Side, int Mode>
NARROW_TRIANGULAR_SOLVER(Side, NoUnrolling, Dynamic)
template <class L, class R, int Mode>
NARROW_TRIANGULAR_SOLVER(OnTheLeft, CompleteUnrolling, 1)
template <class L, class R, int Mode>
NARROW_TRIANGULAR_SOLVER(OnTheRight, CompleteUnrolling, 1)
#undef NARROW_TRIANGULAR_SOLVER

}  // namespace Eigen::internal

namespace Eigen {  // not internal: here Eigen keeps these two

#define NARROW_TRIANGULAR_UPDATES(IsVector)                                                               \
  template <class M, class Other, int UpLo>                                                               \
  requires narrow::detail::some_narrow_expression<M, Other>                                               \
  struct selfadjoint_product_selector<M, Other, UpLo, IsVector> {                                         \
    static void run(M& m, const Other& other, const typename M::Scalar& alpha) {                          \
      using wide = narrow::detail::routine_scalar_t<M, Other>;                                            \
      const Matrix<wide, Dynamic, Dynamic> square = other * other.transpose();                            \
      narrow::detail::update_triangle<UpLo>(m, square, narrow::detail::factor_value(alpha), 1);           \
    }                                                                                                     \
  };                                                                                                      \
  template <class M, class P, int UpLo>                                                                   \
  requires narrow::detail::some_narrow_expression<M, P>                                                   \
  struct general_product_to_triangular_selector<M, P, UpLo, IsVector> {                                   \
    static void run(M& m, const P& product, const typename M::Scalar& alpha, bool add) {                  \
      const narrow::detail::plain_like<narrow::detail::routine_scalar_t<M, P>, P> values = product;       \
      narrow::detail::update_triangle<UpLo>(m, values, narrow::detail::factor_value(alpha), add ? 1 : 0); \
    }                                                                                                     \
  };
NARROW_TRIANGULAR_UPDATES(true)
NARROW_TRIANGULAR_UPDATES(false)
#undef NARROW_TRIANGULAR_UPDATES

}  // namespace Eigen
