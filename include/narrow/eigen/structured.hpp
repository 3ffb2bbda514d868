// Triangular and self-adjoint views of narrow matrices: Eigen's own routines on wide copies, rounded once at
// the end.
#pragma once

#include "product.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// What a copy for Eigen's routines is made of: float, or double for `fixed`.
template <class T> struct shadow_scalar { using type = T; };
template <narrow_float T> struct shadow_scalar<T> { using type = float; };
template <narrow_fixed T> struct shadow_scalar<T> { using type = double; };

template <class... X>
using shadow_scalar_t = std::common_type_t<typename shadow_scalar<scalar_of<X>>::type...>;

/// The values of a dense expression in another type.
template <class Wide, class X> plain_like<Wide, X> copied(const X& x) {
  if constexpr (narrow_expression<X>)
    return x;
  else
    return x.template cast<Wide>();
}

/// A wide copy of a dense expression, or of what a triangular or self-adjoint view looks at, and the same
/// view of it.
template <class Wide, class X> struct shadow_of {
  explicit shadow_of(const X& x) : values(copied<Wide>(x)) {}
  const auto& view() const { return values; }
  const plain_like<Wide, X> values;
};
template <class Wide, class X, unsigned Mode> struct shadow_of<Wide, Eigen::TriangularView<X, Mode>> {
  explicit shadow_of(const Eigen::TriangularView<X, Mode>& x) : values(copied<Wide>(x.nestedExpression())) {}
  auto view() const { return values.template triangularView<Mode>(); }
  const plain_like<Wide, X> values;
};
template <class Wide, class X, unsigned Mode> struct shadow_of<Wide, Eigen::SelfAdjointView<X, Mode>> {
  explicit shadow_of(const Eigen::SelfAdjointView<X, Mode>& x) : values(copied<Wide>(x.nestedExpression())) {}
  auto view() const { return values.template selfadjointView<Mode>(); }
  const plain_like<Wide, X> values;
};

/// What Eigen's `generic_product_impl` offers, for a structured operand on either side.
template <class L, class R> struct structured_product_impl {
  using wide = shadow_scalar_t<L, R>;

  static auto product(const L& l, const R& r) {
    const shadow_of<wide, L> a(l);
    const shadow_of<wide, R> b(r);
    return plain_like<wide, Eigen::Product<L, R>>(a.view() * b.view());
  }
  template <class Dst> static void evalTo(Dst& dst, const L& l, const R& r) { dst = product(l, r); }
  template <class Dst> static void addTo(Dst& dst, const L& l, const R& r) { dst += product(l, r); }
  template <class Dst> static void subTo(Dst& dst, const L& l, const R& r) { dst -= product(l, r); }
  template <class Dst, class Factor>
  static void scaleAndAddTo(Dst& dst, const L& l, const R& r, const Factor& alpha) {
    dst += static_cast<wide>(factor_value(alpha)) * product(l, r);
  }
};

template <class L, class R>
concept some_narrow_expression = narrow_expression<L> || narrow_expression<R>;

/// Solves in place: `rhs` becomes inverse(triangle) rhs, or rhs inverse(triangle).
template <int Side, unsigned Mode, class L, class R> void solve_triangular(const L& triangle, R& rhs) {
  using wide = shadow_scalar_t<L, R>;
  const auto a = copied<wide>(triangle);
  auto x = copied<wide>(rhs);
  a.template triangularView<Mode>().template solveInPlace<Side>(x);
  rhs = x;
}

/// triangle(dst) = alpha values + beta triangle(dst), the rest of dst untouched.
template <unsigned Mode, class Dst, class Values>
void update_triangle(Dst& dst, const Values& values, double alpha, double beta) {
  using wide = typename Values::Scalar;
  const Values scaled = static_cast<wide>(alpha) * values;
  if (beta == 0)
    dst.template triangularView<Mode>() = scaled;
  else
    dst.template triangularView<Mode>() += scaled;
}

/// A dense matrix whose rows (Side OnTheLeft) or columns are multiplied by the numbers of a diagonal:
/// coefficient by coefficient, so wide for floating formats.
template <class Xpr, int Side, class Matrix, class Diagonal>
class diagonal_product_evaluator : public Eigen::internal::evaluator_base<Xpr> {
  using matrix_evaluator = Eigen::internal::evaluator<Matrix>;
  using diagonal_evaluator = Eigen::internal::evaluator<Diagonal>;

 public:
  using XprType = Xpr;
  using CoeffReturnType = typename Xpr::CoeffReturnType;
  enum {
    CoeffReadCost = int(matrix_evaluator::CoeffReadCost) + int(diagonal_evaluator::CoeffReadCost) +
                    int(Eigen::NumTraits<float>::MulCost),
    Flags = (int(matrix_evaluator::Flags) & Eigen::HereditaryBits) |
            (Xpr::IsVectorAtCompileTime ? int(Eigen::LinearAccessBit) : 0),
    Alignment = 0
  };

  auto coeff(Eigen::Index row, Eigen::Index col) const {
    using product = Eigen::internal::scalar_product_op<typename Matrix::Scalar, typename Diagonal::Scalar>;
    return apply_wide<typename Matrix::Scalar, typename Diagonal::Scalar>(
        product{}, matrix_.coeff(row, col), diagonal_.coeff(Side == Eigen::OnTheLeft ? row : col));
  }
  auto coeff(Eigen::Index index) const {
    return Xpr::RowsAtCompileTime == 1 ? coeff(Eigen::Index(0), index) : coeff(index, Eigen::Index(0));
  }

 protected:
  diagonal_product_evaluator(const Matrix& matrix, const Diagonal& diagonal)
      : matrix_(matrix), diagonal_(diagonal) {}

 private:
  const matrix_evaluator matrix_;
  const diagonal_evaluator diagonal_;
};

}  // namespace narrow::inline NARROW_ABI::detail

namespace Eigen::internal {

#define NARROW_STRUCTURED_PRODUCT(LhsShape, RhsShape)        \
  template <class L, class R, int Tag>                       \
  requires narrow::detail::some_narrow_expression<L, R>      \
  struct generic_product_impl<L, R, LhsShape, RhsShape, Tag> \
      : narrow::detail::structured_product_impl<L, R> {};
NARROW_STRUCTURED_PRODUCT(TriangularShape, DenseShape)
NARROW_STRUCTURED_PRODUCT(DenseShape, TriangularShape)
NARROW_STRUCTURED_PRODUCT(SelfAdjointShape, DenseShape)
NARROW_STRUCTURED_PRODUCT(DenseShape, SelfAdjointShape)
#undef NARROW_STRUCTURED_PRODUCT

template <class L, class R, int Options, int Tag>
requires narrow::detail::some_narrow_float<L, R>
struct product_evaluator<Product<L, R, Options>, Tag, DiagonalShape, DenseShape>
    : narrow::detail::diagonal_product_evaluator<Product<L, R, Options>, OnTheLeft, R,
                                                 typename L::DiagonalVectorType> {
  explicit product_evaluator(const Product<L, R, Options>& x)
      : narrow::detail::diagonal_product_evaluator<Product<L, R, Options>, OnTheLeft, R,
                                                   typename L::DiagonalVectorType>(x.rhs(),
                                                                                   x.lhs().diagonal()) {}
};
template <class L, class R, int Options, int Tag>
requires narrow::detail::some_narrow_float<L, R>
struct product_evaluator<Product<L, R, Options>, Tag, DenseShape, DiagonalShape>
    : narrow::detail::diagonal_product_evaluator<Product<L, R, Options>, OnTheRight, L,
                                                 typename R::DiagonalVectorType> {
  explicit product_evaluator(const Product<L, R, Options>& x)
      : narrow::detail::diagonal_product_evaluator<Product<L, R, Options>, OnTheRight, L,
                                                   typename R::DiagonalVectorType>(x.lhs(),
                                                                                   x.rhs().diagonal()) {}
};

#define NARROW_TRIANGULAR_SOLVER(Side_, Unrolling_, Vectors_)                  \
  requires narrow::detail::some_narrow_expression<L, R>                        \
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

namespace Eigen {  // where Eigen keeps these two

#define NARROW_TRIANGULAR_UPDATES(IsVector)                                                               \
  template <class M, class Other, int UpLo>                                                               \
  requires narrow::detail::some_narrow_expression<M, Other>                                               \
  struct selfadjoint_product_selector<M, Other, UpLo, IsVector> {                                         \
    static void run(M& m, const Other& other, const typename M::Scalar& alpha) {                          \
      using wide = narrow::detail::shadow_scalar_t<M, Other>;                                             \
      const Matrix<wide, Dynamic, Dynamic> u = other;                                                     \
      narrow::detail::update_triangle<UpLo>(m, Matrix<wide, Dynamic, Dynamic>(u * u.adjoint()),           \
                                            narrow::detail::factor_value(alpha), 1);                      \
    }                                                                                                     \
  };                                                                                                      \
  template <class M, class P, int UpLo>                                                                   \
  requires narrow::detail::some_narrow_expression<M, P>                                                   \
  struct general_product_to_triangular_selector<M, P, UpLo, IsVector> {                                   \
    static void run(M& m, const P& product, const typename M::Scalar& alpha, bool add) {                  \
      const narrow::detail::plain_like<narrow::detail::shadow_scalar_t<M, P>, P> values = product;        \
      narrow::detail::update_triangle<UpLo>(m, values, narrow::detail::factor_value(alpha), add ? 1 : 0); \
    }                                                                                                     \
  };
NARROW_TRIANGULAR_UPDATES(true)
NARROW_TRIANGULAR_UPDATES(false)
#undef NARROW_TRIANGULAR_UPDATES

}  // namespace Eigen
