// Every product of dense matrices with a narrow operand, caught where Eigen dispatches it and sent to the
// kernels.
//
// Eigen's dispatch structs are specialised with exactly Eigen's own patterns plus a constraint, so that these
// win: generic_product_impl, product_evaluator and assignment_from_xpr_op_product (Core/ProductEvaluators.h),
// Assignment (Core/AssignEvaluator.h), dense_product_base (Core/Product.h). All six tags that product_type
// (Core/GeneralProduct.h) gives to shapes and sizes, differently in 3.4 and 5, lead to the same code.
#pragma once

#include <utility>

#include "../../kernel/product.hpp"
#include "../tensors/product.hpp"
#include "compact.hpp"
#include "extent.hpp"
#include "outer.hpp"
#include "small.hpp"

namespace Eigen::internal {
// Of views of sparse matrices; Eigen/Core does not declare them.
struct SparseTriangularShape;
struct SparseSelfAdjointShape;
}  // namespace Eigen::internal

namespace narrow::inline NARROW_ABI::detail {

template <class L, class R>
concept narrow_product =
    (dense_expression<L> && dense_expression<R> && some_narrow_factor<L, R>) || tensor_product<L, R>;

/// A triangular or self-adjoint view, of which one triangle is read.
template <class X>
concept triangle_view =
    std::same_as<shape_of<X>, Eigen::TriangularShape> || std::same_as<shape_of<X>, Eigen::SelfAdjointShape>;

/// A triangular or self-adjoint view times a dense matrix, or the other way round.
template <class L, class R>
concept narrow_triangle_product = ((triangle_view<L> && dense_expression<R>) ||
                                   (dense_expression<L> && triangle_view<R>)) &&
                                  some_narrow_factor<L, R>;

template <class X>
concept sparse_view = std::same_as<shape_of<X>, Eigen::internal::SparseTriangularShape> ||
    std::same_as<shape_of<X>, Eigen::internal::SparseSelfAdjointShape>;
template <class X>
concept sparse_expression = std::same_as<shape_of<X>, Eigen::SparseShape> || sparse_view<X>;

/// A sparse matrix times a dense one, or the other way round, of which the result is dense.
template <class L, class R>
concept narrow_sparse_product = ((sparse_expression<L> && dense_expression<R>) ||
                                 (dense_expression<L> && sparse_expression<R>)) &&
                                some_narrow_factor<L, R>&& dense_expression<Eigen::Product<L, R>>;

/// The products whose `generic_product_impl` is ours: the destination may share memory with the operands, and
/// `evalTo` gives it its size.
template <class L, class R>
concept product_of_ours =
    narrow_product<L, R> || narrow_triangle_product<L, R> || narrow_sparse_product<L, R>;

/// An operand of a product as the kernels see it: memory, or the wide value of an expression, times a factor.
template <class X, class Strip = stripped<X>> class operand {
  using inner = typename Strip::type;
  static constexpr bool in_place = direct_access<inner>;
  using scalar = coefficient_t<inner>;
  using plain = dynamic_like<scalar, inner>;

 public:
  explicit operand(const X& x) : factor_(Strip::factor(x)) {
    const inner& expression = Strip::expression(x);
    if constexpr (in_place) {
      view_ = view_of_direct(expression);
      panels_ = panels_below<inner>::of(expression);
    } else {
      copy_ = expression;
      view_ = view_of_direct(std::as_const(copy_));
    }
  }
  operand(const operand&) = delete;
  operand& operator=(const operand&) = delete;

  const matrix_view<const scalar>& view() const { return view_; }
  double factor() const { return factor_; }
  const kernel::panel_store* panels() const { return panels_; }

  /// Makes a copy where writing to `written` would change the operand.
  void protect_from(const extent& written) {
    if (!extent(view_).overlaps(written)) return;
    plain copy(view_.rows, view_.cols);
    for (Eigen::Index j = 0; j < view_.cols; ++j)
      for (Eigen::Index i = 0; i < view_.rows; ++i) copy(i, j) = view_(i, j);
    copy_.swap(copy);
    view_ = view_of_direct(std::as_const(copy_));
    panels_ = nullptr;
  }

 private:
  double factor_;
  matrix_view<const scalar> view_;
  const kernel::panel_store* panels_ = nullptr;
  plain copy_;
};

/// The two operands of a product, which alpha A B + beta C is computed from.
template <class L, class R> class factors {
 public:
  factors(const L& l, const R& r) : a_(l), b_(r) {}

  void protect_from(const extent& written) {
    a_.protect_from(written);
    b_.protect_from(written);
  }
  template <class To> void multiply(const matrix_view<To>& c, double alpha, double beta) const {
    kernel::gemm_lightly(a_.view(), b_.view(), c, alpha * a_.factor() * b_.factor(), beta,
                         typename policy_of<To>::type{}, {a_.panels(), b_.panels()});
  }

 private:
  operand<L> a_;
  operand<R> b_;
};
template <class L, class R>
requires tensor_product<L, R>
class factors<L, R> : public tensor_factors<L, R> {
 public:
  using tensor_factors<L, R>::tensor_factors;
  void protect_from(const extent&) {}  // no matrix that can be written shares memory with a tensor
};

/// dst = alpha l r + beta dst, one rounding per coefficient. dst may share memory with the operands; where
/// beta is 0 it takes the size of the product, after which l and r, if they look at dst, no longer have
/// theirs.
template <class Dst, class L, class R>
void multiply_any(Dst& dst, const L& l, const R& r, double alpha, double beta) {
  factors<L, R> product(l, r);
  using To = typename Dst::Scalar;
  const Eigen::Index rows = l.rows(), cols = r.cols();
  const auto fit = [&] {
    if (beta == 0 && (dst.rows() != rows || dst.cols() != cols)) dst.resize(rows, cols);
    eigen_assert(dst.rows() == rows && dst.cols() == cols);
  };
  if constexpr (direct_access<Dst>) {
    product.protect_from(extent(view_of_direct(dst)));
    fit();
    product.multiply(view_of_direct(dst), alpha, beta);
  } else {
    fit();
    Eigen::Matrix<To, Eigen::Dynamic, Eigen::Dynamic> whole(dst.rows(), dst.cols());
    if (beta != 0) whole = dst;
    product.multiply(view_of_direct(whole), alpha, beta);
    dst = whole;
  }
}

/// What an operand that is no matrix in memory is computed as before it is multiplied; itself if it is one.
template <class X>
using value_in_memory =
    std::conditional_t<direct_access<typename stripped<X>::type>, X,
                       dynamic_like<coefficient_t<typename stripped<X>::type>, typename stripped<X>::type>>;
template <class L, class R>
inline constexpr bool are_in_memory =
    std::same_as<value_in_memory<L>, L>&& std::same_as<value_in_memory<R>, R>;

template <class Dst, class L, class R>
void multiply_values(Dst& dst, const L& l, const R& r, double alpha, double beta);

/// The same as multiply_any by the quickest way that there is.
template <class Dst, class L, class R>
void multiply_quickly(Dst& dst, const L& l, const R& r, double alpha, double beta) {
  if constexpr (outer_product<Dst, L, R>)
    if (multiply_outer(dst, l, r, alpha, beta)) return;
  if constexpr (compact_product<Dst, L, R>)
    if (multiply_compact(dst, l, r, alpha, beta)) return;
  if constexpr (!are_in_memory<L, R> && !tensor_product<L, R> &&
                compact_product<Dst, value_in_memory<L>, value_in_memory<R>>)
    multiply_values(dst, l, r, alpha, beta);
  else
    multiply_any(dst, l, r, alpha, beta);
}
/// The same; few numbers are multiplied where the product stands, for which that is to be short.
template <class Dst, class L, class R>
[[gnu::always_inline]] inline void multiply(Dst& dst, const L& l, const R& r, double alpha, double beta) {
  if constexpr (small_float_product<Dst, L, R> || small_fixed_product<Dst, L, R>) {
    if (!multiply_small(dst, l, r, alpha, beta)) [[unlikely]]
      multiply_any(dst, l, r, alpha, beta);
  } else {
    multiply_quickly(dst, l, r, alpha, beta);
  }
}

/// The same for operands of which one is no matrix in memory.
template <class Dst, class L, class R>
void multiply_values(Dst& dst, const L& l, const R& r, double alpha, double beta) {
  if constexpr (!std::same_as<value_in_memory<L>, L>) {
    const value_in_memory<L> values = stripped<L>::expression(l);
    multiply(dst, values, r, alpha * stripped<L>::factor(l), beta);
  } else {
    const value_in_memory<R> values = stripped<R>::expression(r);
    multiply(dst, l, values, alpha * stripped<R>::factor(r), beta);
  }
}

/// The members of Eigen's `generic_product_impl` (Core/ProductEvaluators.h).
template <class L, class R> struct product_impl {
  template <class Dst> static void evalTo(Dst& dst, const L& l, const R& r) { multiply(dst, l, r, 1, 0); }
  template <class Dst> static void addTo(Dst& dst, const L& l, const R& r) { multiply(dst, l, r, 1, 1); }
  template <class Dst> static void subTo(Dst& dst, const L& l, const R& r) { multiply(dst, l, r, -1, 1); }
  template <class Dst, class Factor>
  static void scaleAndAddTo(Dst& dst, const L& l, const R& r, const Factor& alpha) {
    multiply(dst, l, r, factor_value(alpha), 1);
  }
};

/// The type in which a sum of Scalar is gathered before it becomes a To: wide for floating formats, and for
/// `fixed` where To is a built-in type.
template <class To, class Scalar>
using on_the_way_to =
    std::conditional_t<narrow_fixed<Scalar> && !narrow_scalar<To>, double, widened_t<Scalar>>;

template <class Op> inline constexpr bool is_difference = false;
template <class A, class B>
inline constexpr bool is_difference<Eigen::internal::scalar_difference_op<A, B>> = true;

template <class T> struct held_value { T value; };

/// An expression inside a larger one, computed whole into a Result before its coefficients are read.
template <class Result>
class value_evaluator : held_value<const Result>, public Eigen::internal::evaluator<Result> {
  using base = Eigen::internal::evaluator<Result>;

 public:
  enum {
    Flags = (int(base::Flags) & ~(Eigen::PacketAccessBit | Eigen::LvalueBit | Eigen::DirectAccessBit)) |
            Eigen::EvalBeforeNestingBit
  };

 protected:
  template <class X>
  explicit value_evaluator(X&& x) : held_value<const Result>{Result(std::forward<X>(x))}, base(this->value) {}
};

/// A product inside a larger expression: wide for floating formats, rounded once for `fixed`.
template <class L, class R>
using product_result = plain_like<widened_t<typename Eigen::Product<L, R>::Scalar>, Eigen::Product<L, R>>;

/// A row by a column of numbers in memory, whose product is one float, and which are more than small ones or
/// of which only the program that runs knows how many they are.
template <class Result, class L, class R>
concept inner_product =
    int(L::RowsAtCompileTime) == 1 && int(R::ColsAtCompileTime) == 1 &&
    direct_access<L>&& direct_access<R>&& narrow_float<scalar_of<L>>&& narrow_float<scalar_of<R>> &&
    !small_float_product<Result, L, R>;

template <class L, class R, class Result = product_result<L, R>>
[[gnu::always_inline]] inline Result product_value(const L& l, const R& r) {
  Result result(l.rows(), r.cols());
  if constexpr (inner_product<Result, L, R>)  // at once: to plan a product takes longer than most of these
    result(0, 0) = kernel::dot(l.data(), l.colStride(), r.data(), r.rowStride(), l.cols());
  else
    multiply(result, l, r, 1, 0);
  return result;
}
/// A product in a small one.
template <class L, class R, int Options>
requires(narrow_product<L, R>&& Options !=
         Eigen::LazyProduct) struct small_values<Eigen::Product<L, R, Options>> {
  [[gnu::always_inline]] static auto of(const Eigen::Product<L, R, Options>& x) {
    return product_value(x.lhs(), x.rhs());
  }
};

/// A product in a program of lanes: computed before the program runs, in the order of its lines.
template <class L, class R, int Options>
requires(narrow_product<L, R>&& std::same_as<typename product_result<L, R>::Scalar, float>&& Options !=
         Eigen::LazyProduct) struct lane_program<Eigen::Product<L, R, Options>> : lane_numbers_of_any_order {
  using expression = Eigen::Product<L, R, Options>;
  using number = float;
  static constexpr bool computes_first = true;
  template <traversal Order> static auto make(const expression& x) {
    using held = held_like<float, expression, Order>;
    return kernel::lane_held<held>{product_value<L, R, held>(x.lhs(), x.rhs()),
                                   Order == by_rows ? x.cols() : x.rows()};
  }
};

}  // namespace narrow::detail

namespace Eigen::internal {

#define NARROW_PRODUCT_TAG(Tag)                 \
  template <class L, class R>                   \
  requires narrow::detail::narrow_product<L, R> \
  struct generic_product_impl<L, R, DenseShape, DenseShape, Tag> : narrow::detail::product_impl<L, R> {};
NARROW_PRODUCT_TAG(InnerProduct)
NARROW_PRODUCT_TAG(OuterProduct)
NARROW_PRODUCT_TAG(GemvProduct)
NARROW_PRODUCT_TAG(GemmProduct)
NARROW_PRODUCT_TAG(CoeffBasedProductMode)
NARROW_PRODUCT_TAG(LazyCoeffBasedProductMode)
#undef NARROW_PRODUCT_TAG

/// An inner product stands for its one coefficient: where a built-in number is wanted, too, and there it is
/// not rounded to a floating format, as in assignments to float matrices.
template <class L, class R, int Options>
requires narrow::detail::narrow_product<L, R> &&
    narrow::narrow_scalar<typename traits<Product<L, R, Options>>::Scalar>
class dense_product_base<L, R, Options, InnerProduct> : public dense_xpr_base<Product<L, R, Options>>::type {
 public:
  using Scalar = typename traits<Product<L, R, Options>>::Scalar;
  operator Scalar() const { return static_cast<Scalar>(coefficient()); }
  operator narrow::carrier_t<Scalar>() const { return static_cast<narrow::carrier_t<Scalar>>(coefficient()); }

 private:
  auto coefficient() const { return evaluator<Product<L, R, Options>>(this->derived()).coeff(0, 0); }
};

template <class L, class R, int Options, int Tag>
requires narrow::detail::narrow_product<L, R>
struct product_evaluator<Product<L, R, Options>, Tag, DenseShape, DenseShape>
    : narrow::detail::value_evaluator<narrow::detail::product_result<L, R>> {
  using XprType = Product<L, R, Options>;
  explicit product_evaluator(const XprType& xpr)
      : product_evaluator::value_evaluator(narrow::detail::product_value(xpr.lhs(), xpr.rhs())) {}
};

/// A product of which single coefficients are asked for: each is an inner product of its own.
template <class L, class R, int Tag>
requires(narrow::detail::narrow_product<L, R> &&
         !narrow::detail::tensor_product<L, R>) struct product_evaluator<Product<L, R, LazyProduct>, Tag,
                                                                         DenseShape, DenseShape>
    : evaluator_base<Product<L, R, LazyProduct>> {
  using XprType = Product<L, R, LazyProduct>;
  using Scalar = typename XprType::Scalar;
  using CoeffReturnType = typename XprType::CoeffReturnType;
  enum {
    CoeffReadCost = HugeCost,
    RowMajor = traits<XprType>::Flags & RowMajorBit,
    Flags = RowMajor | (XprType::IsVectorAtCompileTime ? LinearAccessBit : 0),
    Alignment = 0
  };

  explicit product_evaluator(const XprType& xpr) : a_(xpr.lhs()), b_(xpr.rhs()) {}

  auto coeff(Index row, Index col) const {
    using wide = narrow::detail::widened_t<Scalar>;
    const auto a = a_.view().row(row);
    const auto b = b_.view().col(col);
    const double factor = a_.factor() * b_.factor();
    if constexpr (std::same_as<wide, float>)
      if (factor == 1) return narrow::kernel::dot(a.data, a.col_stride, b.data, b.row_stride, a.cols);
    wide result{};
    narrow::kernel::gemm(a, b, narrow::matrix_view<wide>{&result, 1, 1, 1, 1}, factor, 0,
                         typename narrow::detail::policy_of<wide>::type{});
    return result;
  }
  auto coeff(Index index) const {
    return XprType::RowsAtCompileTime == 1 ? coeff(Index(0), index) : coeff(index, Index(0));
  }

 private:
  narrow::detail::operand<L> a_;
  narrow::detail::operand<R> b_;
};

// evaluator_assume_aliasing is false, so that Eigen makes no temporary: `multiply` looks whether the memory
// is shared, and inside a larger expression the product is complete before anything is stored.

template <class L, class R>
requires narrow::detail::product_of_ours<L, R>
struct evaluator_assume_aliasing<Product<L, R, DefaultProduct>> : std::false_type {
};
template <class L, class R, class T, class S, class Plain>
requires narrow::detail::narrow_product<L, R>
struct evaluator_assume_aliasing<
    CwiseBinaryOp<scalar_product_op<T, S>, const CwiseNullaryOp<scalar_constant_op<T>, Plain>,
                  const Product<L, R, DefaultProduct>>> : std::false_type {
};

#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
#define NARROW_ENABLE_IF(condition) std::enable_if_t<condition>
#else
#define NARROW_ENABLE_IF(condition) typename enable_if<condition>::type
#endif
#define NARROW_PRODUCT_ASSIGNMENT(Functor, member)                                                      \
  template <class Dst, class L, class R, int Options, class T>                                          \
  requires narrow::detail::product_of_ours<L, R>                                                        \
  struct Assignment<Dst, Product<L, R, Options>, Functor<T, T>, Dense2Dense,                            \
                    NARROW_ENABLE_IF((Options == DefaultProduct || Options == AliasFreeProduct))> {     \
    static void run(Dst& dst, const Product<L, R, Options>& src, const Functor<T, T>&) {                \
      generic_product_impl<L, R>::member(dst, src.lhs(), src.rhs());                                    \
    }                                                                                                   \
  };                                                                                                    \
  template <class Dst, class L, class R, int Options, class To, class From>                             \
  requires(narrow::detail::product_of_ours<L, R> &&                                                     \
           (Options == LazyProduct ||                                                                   \
            !std::same_as<To, From>)) struct Assignment<Dst, Product<L, R, Options>, Functor<To, From>, \
                                                        Dense2Dense> {                                  \
    static void run(Dst& dst, const Product<L, R, Options>& src, const Functor<To, From>&) {            \
      generic_product_impl<L, R>::member(dst, src.lhs(), src.rhs());                                    \
    }                                                                                                   \
  };
NARROW_PRODUCT_ASSIGNMENT(assign_op, evalTo)
NARROW_PRODUCT_ASSIGNMENT(add_assign_op, addTo)
NARROW_PRODUCT_ASSIGNMENT(sub_assign_op, subTo)
#undef NARROW_PRODUCT_ASSIGNMENT
#undef NARROW_ENABLE_IF

// `dst = x + A * B`: Eigen makes a narrow copy for fear of aliasing, stores x there and adds the product,
// which rounds up to three times. Here the copy is wide.

#define NARROW_PRODUCT_ADDED(op)                                                                             \
  template <class Other, class L, class R>                                                                   \
  requires narrow::detail::product_of_ours<L, R>                                                             \
  struct evaluator_assume_aliasing<                                                                          \
      CwiseBinaryOp<op<typename Other::Scalar, typename Product<L, R, DefaultProduct>::Scalar>, const Other, \
                    const Product<L, R, DefaultProduct>>,                                                    \
      DenseShape> : std::false_type {};
NARROW_PRODUCT_ADDED(scalar_sum_op)
NARROW_PRODUCT_ADDED(scalar_difference_op)
#undef NARROW_PRODUCT_ADDED

template <class Dst, class Other, class L, class R, int Options, class Func1, class Func2>
requires narrow::detail::product_of_ours<L, R>
struct assignment_from_xpr_op_product<Dst, Other, Product<L, R, Options>, Func1, Func2> {
  template <class Op, class Functor>
  static void run(Dst& dst, const CwiseBinaryOp<Op, const Other, const Product<L, R, Options>>& src,
                  const Functor& functor) {
    using Src = CwiseBinaryOp<Op, const Other, const Product<L, R, Options>>;
    if constexpr (narrow::detail::is_few(Src::SizeAtCompileTime) && narrow::detail::lane_expressions<Src>)
      return call_dense_assignment_loop(dst, src, functor);
    narrow::detail::plain_like<narrow::detail::on_the_way_to<typename Dst::Scalar, typename Src::Scalar>, Src>
        values = src.lhs();
    if constexpr (narrow::detail::is_difference<Op>)
      generic_product_impl<L, R>::subTo(values, src.rhs().lhs(), src.rhs().rhs());
    else
      generic_product_impl<L, R>::addTo(values, src.rhs().lhs(), src.rhs().rhs());
    call_dense_assignment_loop(dst, values, functor);
  }
};

}  // namespace Eigen::internal
