// Transposes, blocks, diagonals, ... of computed narrow floats: these views hand on a coefficient as wide as
// it is, where Eigen's own evaluators would round it to the scalar that the expression names.
#pragma once

#include "evaluators.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Whether a view keeps the number of a coefficient when they are counted through in storage order.
template <class View> inline constexpr bool keeps_count = false;
template <class X> inline constexpr bool keeps_count<Eigen::Transpose<X>> = true;
template <class X> inline constexpr bool keeps_count<Eigen::ArrayWrapper<X>> = true;
template <class X> inline constexpr bool keeps_count<Eigen::MatrixWrapper<X>> = true;

// below(view, row, col): where, in the expression below a view, the view's coefficient (row, col) lies.

template <class X> position below(const Eigen::Transpose<X>&, Eigen::Index row, Eigen::Index col) {
  return {col, row};
}
template <class View>
requires keeps_count<View> position below(const View&, Eigen::Index row, Eigen::Index col) {
  return {row, col};
}
template <class X, int Rows, int Cols, bool InnerPanel>
position below(const Eigen::Block<X, Rows, Cols, InnerPanel>& view, Eigen::Index row, Eigen::Index col) {
  return {view.startRow() + row, view.startCol() + col};
}
template <class X, int I> position below(const Eigen::Diagonal<X, I>& view, Eigen::Index row, Eigen::Index) {
  const Eigen::Index above = view.index();
  return {row + std::max<Eigen::Index>(0, -above), row + std::max<Eigen::Index>(0, above)};
}
template <class X, int Direction>
position below(const Eigen::Reverse<X, Direction>& view, Eigen::Index row, Eigen::Index col) {
  return {Direction == Eigen::Horizontal ? row : view.rows() - 1 - row,
          Direction == Eigen::Vertical ? col : view.cols() - 1 - col};
}

template <class X, int Rows, int Cols, int Order>
position below(const Eigen::Reshaped<X, Rows, Cols, Order>& view, Eigen::Index row, Eigen::Index col) {
  const X& x = view.nestedExpression();
  if constexpr (Order == Eigen::RowMajor) {
    const Eigen::Index count = row * view.cols() + col;
    return {count / x.cols(), count % x.cols()};
  } else {
    const Eigen::Index count = col * view.rows() + row;
    return {count % x.rows(), count / x.rows()};
  }
}
/// Number k of these, in whatever type they are counted.
template <class Indices> Eigen::Index chosen_index(const Indices& indices, Eigen::Index k) {
  if constexpr (requires { typename Indices::size_type; })
    return static_cast<Eigen::Index>(indices[static_cast<typename Indices::size_type>(k)]);
  else
    return static_cast<Eigen::Index>(indices[k]);
}
template <class X, class RowIndices, class ColIndices>
position below(const Eigen::IndexedView<X, RowIndices, ColIndices>& view, Eigen::Index row,
               Eigen::Index col) {
  return {chosen_index(view.rowIndices(), row), chosen_index(view.colIndices(), col)};
}

template <class View> struct view_evaluator : expression_evaluator<View> {
  using Nested = Eigen::internal::evaluator<
      std::remove_cvref_t<decltype(std::declval<const View&>().nestedExpression())>>;
  enum {
    CoeffReadCost = Nested::CoeffReadCost,
    Linear = keeps_count<View>             ? int(Nested::Flags) & Eigen::LinearAccessBit
             : View::IsVectorAtCompileTime ? int(Eigen::LinearAccessBit)
                                           : 0,
    Flags = (int(Nested::Flags) & Eigen::HereditaryBits & ~Eigen::RowMajorBit) |
            (int(Eigen::internal::traits<View>::Flags) & Eigen::RowMajorBit) | Linear
  };

  explicit view_evaluator(const View& view) : view_(view), nested_(view.nestedExpression()) {}

  auto coeff(Eigen::Index row, Eigen::Index col) const {
    const position p = below(view_, row, col);
    return nested_.coeff(p.row, p.col);
  }
  auto coeff(Eigen::Index index) const {
    if constexpr (keeps_count<View>) {
      return nested_.coeff(index);
    } else {
      const position p = position_in_vector<View>(index);
      return coeff(p.row, p.col);
    }
  }

 private:
  const View view_;
  const Nested nested_;
};

}  // namespace narrow::detail

namespace Eigen::internal {

// Eigen's names and arguments of these evaluators (Core/CoreEvaluators.h, Core/Reshaped.h) differ; some have
// the kind of access, IndexBased, for their second argument.
#define NARROW_COMMA ,
#define NARROW_VIEW_EVALUATOR(evaluator, index_based, ...)                                  \
  requires narrow::detail::computed_narrow_float<X>                                         \
  struct evaluator<__VA_ARGS__ index_based> : narrow::detail::view_evaluator<__VA_ARGS__> { \
    using narrow::detail::view_evaluator<__VA_ARGS__>::view_evaluator;                      \
  };
template <class X>
NARROW_VIEW_EVALUATOR(unary_evaluator, NARROW_COMMA IndexBased, Transpose<X>)
template <class X>
NARROW_VIEW_EVALUATOR(unary_evaluator, , ArrayWrapper<X>)
template <class X>
NARROW_VIEW_EVALUATOR(unary_evaluator, , MatrixWrapper<X>)
template <class X, int Direction>
NARROW_VIEW_EVALUATOR(unary_evaluator, , Reverse<X, Direction>)
template <class X, class Rows, class Cols>
NARROW_VIEW_EVALUATOR(unary_evaluator, NARROW_COMMA IndexBased, IndexedView<X, Rows, Cols>)
template <class X, int I>
NARROW_VIEW_EVALUATOR(evaluator, , Diagonal<X, I>)
template <class X, int Rows, int Cols, int Order>
NARROW_VIEW_EVALUATOR(evaluator, , Reshaped<X, Rows, Cols, Order>)
// For a Block the evaluator is specialised, not the unary_evaluator that it derives from: Eigen's evaluator
// of a block of whole rows or columns says that one index reaches each coefficient, counted in the expression
// below the block, which view_evaluator does not do.
template <class X, int Rows, int Cols, bool InnerPanel>
NARROW_VIEW_EVALUATOR(evaluator, , Block<X, Rows, Cols, InnerPanel>)
#undef NARROW_VIEW_EVALUATOR
#undef NARROW_COMMA

/// `x.replicate(...)`: x is computed once.
template <class X, int RowFactor, int ColFactor>
requires narrow::detail::computed_narrow_float<X>
struct unary_evaluator<Replicate<X, RowFactor, ColFactor>>
    : narrow::detail::expression_evaluator<Replicate<X, RowFactor, ColFactor>> {
  using XprType = Replicate<X, RowFactor, ColFactor>;
  enum {
    CoeffReadCost = NumTraits<float>::ReadCost,
    Flags = (int(traits<XprType>::Flags) & RowMajorBit) |
            (XprType::IsVectorAtCompileTime ? int(LinearAccessBit) : 0)
  };

  explicit unary_evaluator(const XprType& xpr) : values_(xpr.nestedExpression()) {}

  auto coeff(Index row, Index col) const { return values_(row % values_.rows(), col % values_.cols()); }
  auto coeff(Index index) const { return values_(index % values_.size()); }

 private:
  const narrow::detail::plain_like<narrow::detail::coefficient_t<X>, X> values_;
};

}  // namespace Eigen::internal
