// Coefficient-wise expressions of floating formats: computed in float, rounded once where they are stored.
//
// Eigen's evaluators (Core/CoreEvaluators.h) hand a coefficient from one operation to the next. Those of this
// file and of views.hpp hand on a float where the scalar of the expression is a narrow float, and the
// assignment functors, which every way of storing ends in, round it. Operations on `fixed` keep Eigen's
// evaluators: each gives a fixed-point number.
#pragma once

#include <algorithm>
#include <tuple>

#include "wide_functors.hpp"

namespace narrow::inline NARROW_ABI::detail {

struct position {
  Eigen::Index row, col;
};

/// Where the coefficient lies that a vector has at an index; Xpr is a row or a column at compile time.
template <class Xpr> constexpr position position_in_vector(Eigen::Index index) {
  return Xpr::RowsAtCompileTime == 1 ? position{0, index} : position{index, 0};
}

/// What Eigen expects every evaluator to name; a derived class has CoeffReadCost, Flags and `coeff`.
template <class Xpr> struct expression_evaluator : Eigen::internal::evaluator_base<Xpr> {
  using XprType = Xpr;
  using CoeffReturnType = typename Xpr::CoeffReturnType;
};

/// The operands of an operation, each made from its expression, the last one first. (A std::tuple could be
/// made in many other ways, each of which a compiler considers for each expression.)
template <class First, class... More> struct operand_list {
  operand_list<More...> more;
  First first;

  explicit operand_list(const auto& x, const auto&... others) : more(others...), first(x) {}
  /// use(operands...)
  template <class Use, class... Before> auto apply(const Use& use, const Before&... before) const {
    return more.apply(use, before..., first);
  }
};
template <class Last> struct operand_list<Last> {
  Last first;

  explicit operand_list(const auto& x) : first(x) {}
  template <class Use, class... Before> auto apply(const Use& use, const Before&... before) const {
    return use(before..., first);
  }
};

/// Op(args...), coefficient by coefficient, in the storage order of the first of them.
template <class Xpr, class Op, class First, class... More>
struct functor_evaluator : expression_evaluator<Xpr> {
  template <class X> using evaluator = Eigen::internal::evaluator<X>;
  static constexpr int first_flags = evaluator<First>::Flags;
  static constexpr bool same_order =
      ((((int(evaluator<More>::Flags) ^ first_flags) & Eigen::RowMajorBit) == 0) && ...);
  enum {
    OwnCost = int(Eigen::internal::functor_traits<Op>::Cost) + int(evaluator<First>::CoeffReadCost),
    CoeffReadCost = (OwnCost + ... + int(evaluator<More>::CoeffReadCost)),
    Linear = (first_flags & ... & int(evaluator<More>::Flags)) & (same_order ? Eigen::LinearAccessBit : 0),
    Flags =
        ((first_flags | ... | int(evaluator<More>::Flags)) & Eigen::HereditaryBits & ~Eigen::RowMajorBit) |
        Linear | (first_flags & Eigen::RowMajorBit)
  };

  functor_evaluator(const Op& functor, const First& first, const More&... more)
      : functor_(functor), args_(first, more...) {}

  auto coeff(Eigen::Index row, Eigen::Index col) const {
    return apply([&](const auto& arg) { return arg.coeff(row, col); });
  }
  auto coeff(Eigen::Index index) const {
    return apply([&](const auto& arg) { return arg.coeff(index); });
  }

 private:
  template <class Read> auto apply(const Read& read) const {
    return args_.apply([&](const auto&... arg) {
      return apply_wide<typename First::Scalar, typename More::Scalar...>(functor_, read(arg)...);
    });
  }

  const Op functor_;
  const operand_list<evaluator<First>, evaluator<More>...> args_;
};
template <class Op, class Arg>
struct unary_functor_evaluator : functor_evaluator<Eigen::CwiseUnaryOp<Op, Arg>, Op, Arg> {
  explicit unary_functor_evaluator(const Eigen::CwiseUnaryOp<Op, Arg>& x)
      : unary_functor_evaluator::functor_evaluator(x.functor(), x.nestedExpression()) {}
};

/// `condition.select(x, y)`.
template <class Select, class Condition, class Then, class Else>
struct select_evaluator : expression_evaluator<Select> {
  template <class X> using evaluator = Eigen::internal::evaluator<X>;
  enum {
    CoeffReadCost = int(evaluator<Condition>::CoeffReadCost) +
                    std::max(int(evaluator<Then>::CoeffReadCost), int(evaluator<Else>::CoeffReadCost)),
    Flags = int(evaluator<Then>::Flags) & Eigen::HereditaryBits
  };

  select_evaluator(const Condition& condition, const Then& x, const Else& y)
      : condition_(condition), then_(x), else_(y) {}

  auto coeff(Eigen::Index row, Eigen::Index col) const {
    using wide = std::common_type_t<widened_t<typename Then::Scalar>, widened_t<typename Else::Scalar>>;
    return condition_.coeff(row, col) != 0 ? convert_coefficient<wide>(then_.coeff(row, col))
                                           : convert_coefficient<wide>(else_.coeff(row, col));
  }

 private:
  const evaluator<Condition> condition_;
  const evaluator<Then> then_;
  const evaluator<Else> else_;
};

/// A product of a dense matrix and a diagonal, on whichever side: the matrix and the vector of the diagonal.
template <class L, class R> struct diagonal_product {
  static constexpr bool on_the_left = diagonal_expression<L>;
  using matrix_type = std::conditional_t<on_the_left, R, L>;
  using diagonal_type =
      std::remove_cvref_t<decltype(std::declval<const std::conditional_t<on_the_left, L, R>&>().diagonal())>;

  static const matrix_type& matrix(const L& l, const R& r) { return std::get<on_the_left>(std::tie(l, r)); }
  static const diagonal_type& diagonal(const L& l, const R& r) {
    return std::get<!on_the_left>(std::tie(l, r)).diagonal();
  }
};

/// A dense matrix whose rows or columns are multiplied by the numbers of a diagonal: coefficient by
/// coefficient, so wide for floating formats.
template <class L, class R, int Options>
class diagonal_product_evaluator : public expression_evaluator<Eigen::Product<L, R, Options>> {
  using Xpr = Eigen::Product<L, R, Options>;
  using parts = diagonal_product<L, R>;
  using matrix_evaluator = Eigen::internal::evaluator<typename parts::matrix_type>;
  using diagonal_evaluator = Eigen::internal::evaluator<typename parts::diagonal_type>;

 public:
  enum {
    CoeffReadCost = int(matrix_evaluator::CoeffReadCost) + int(diagonal_evaluator::CoeffReadCost) +
                    int(Eigen::NumTraits<float>::MulCost),
    Flags = (int(matrix_evaluator::Flags) & Eigen::HereditaryBits) |
            (Xpr::IsVectorAtCompileTime ? int(Eigen::LinearAccessBit) : 0)
  };

  explicit diagonal_product_evaluator(const Xpr& x)
      : matrix_(parts::matrix(x.lhs(), x.rhs())), diagonal_(parts::diagonal(x.lhs(), x.rhs())) {}

  auto coeff(Eigen::Index row, Eigen::Index col) const {
    using m = typename parts::matrix_type::Scalar;
    using d = typename parts::diagonal_type::Scalar;
    const position p = position_in_vector<typename parts::diagonal_type>(parts::on_the_left ? row : col);
    return apply_wide<m, d>(Eigen::internal::scalar_product_op<m, d>{}, matrix_.coeff(row, col),
                            diagonal_.coeff(p.row, p.col));
  }
  auto coeff(Eigen::Index index) const {
    const position p = position_in_vector<Xpr>(index);
    return coeff(p.row, p.col);
  }

 private:
  const matrix_evaluator matrix_;
  const diagonal_evaluator diagonal_;
};

}  // namespace narrow::detail

// Eigen's own templates are specialised with its own patterns of arguments and a constraint, which is why
// these win: unary_evaluator, binary_evaluator, ternary_evaluator (Core/CoreEvaluators.h), evaluator<Select>
// (Core/Select.h, 3.4), product_evaluator (Core/ProductEvaluators.h).
namespace Eigen::internal {

template <class Op, class Lhs, class Rhs>
requires narrow::detail::some_narrow_float<Lhs, Rhs>
struct binary_evaluator<CwiseBinaryOp<Op, Lhs, Rhs>, IndexBased, IndexBased>
    : narrow::detail::functor_evaluator<CwiseBinaryOp<Op, Lhs, Rhs>, Op, Lhs, Rhs> {
  explicit binary_evaluator(const CwiseBinaryOp<Op, Lhs, Rhs>& x)
      : binary_evaluator::functor_evaluator(x.functor(), x.lhs(), x.rhs()) {}
};

template <class Op, class Arg>
requires narrow::detail::some_narrow_float<Arg>
struct unary_evaluator<CwiseUnaryOp<Op, Arg>, IndexBased> : narrow::detail::unary_functor_evaluator<Op, Arg> {
  using narrow::detail::unary_functor_evaluator<Op, Arg>::unary_functor_evaluator;
};

template <class L, class R, int Options, int Tag>
requires narrow::detail::some_narrow_float<L, R>
struct product_evaluator<Product<L, R, Options>, Tag, DiagonalShape, DenseShape>
    : narrow::detail::diagonal_product_evaluator<L, R, Options> {
  using product_evaluator::diagonal_product_evaluator::diagonal_product_evaluator;
};
template <class L, class R, int Options, int Tag>
requires narrow::detail::some_narrow_float<L, R>
struct product_evaluator<Product<L, R, Options>, Tag, DenseShape, DiagonalShape>
    : narrow::detail::diagonal_product_evaluator<L, R, Options> {
  using product_evaluator::diagonal_product_evaluator::diagonal_product_evaluator;
};

#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
template <class From, class To, class Arg>
requires narrow::detail::some_narrow_float<Arg>
struct unary_evaluator<CwiseUnaryOp<core_cast_op<From, To>, Arg>, IndexBased>
    : narrow::detail::unary_functor_evaluator<core_cast_op<From, To>, Arg> {
  using narrow::detail::unary_functor_evaluator<core_cast_op<From, To>, Arg>::unary_functor_evaluator;
};

template <class T, class E, class C, class Then, class Else, class Condition>
requires narrow::detail::some_narrow_float<Then, Else>
struct ternary_evaluator<CwiseTernaryOp<scalar_boolean_select_op<T, E, C>, Then, Else, Condition>, IndexBased,
                         IndexBased>
    : narrow::detail::select_evaluator<
          CwiseTernaryOp<scalar_boolean_select_op<T, E, C>, Then, Else, Condition>, Condition, Then, Else> {
  explicit ternary_evaluator(const auto& x)
      : ternary_evaluator::select_evaluator(x.arg3(), x.arg1(), x.arg2()) {}
};
#else
template <class Condition, class Then, class Else>
requires narrow::detail::some_narrow_float<Then, Else>
struct evaluator<Select<Condition, Then, Else>>
    : narrow::detail::select_evaluator<Select<Condition, Then, Else>, Condition, Then, Else> {
  explicit evaluator(const Select<Condition, Then, Else>& x)
      : evaluator::select_evaluator(x.conditionMatrix(), x.thenMatrix(), x.elseMatrix()) {}
};
#endif

}  // namespace Eigen::internal
