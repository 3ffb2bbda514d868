// Contractions, sums, means and products of Eigen's unsupported tensors of narrow numbers: evaluated in
// float, of `fixed` in double, which is exact up to 53 bits, and rounded once, as an evaluator of the same
// expression of wide numbers gives them.
//
// Specialised is TensorEvaluator (unsupported/Eigen/CXX11/Tensor), which a program includes itself. Not for
// devices for which Eigen has evaluators of its own.
#pragma once

#include "../expression_traits.hpp"

namespace Eigen {

// Not declared by Eigen/Core.
template <class, class> struct TensorEvaluator;
template <class, class, class, class> class TensorContractionOp;
template <class, class, class, template <class> class> class TensorReductionOp;
template <class, class> class TensorConversionOp;
template <class, class> struct PacketType;
struct NoOpOutputKernel;
namespace internal {
template <class> struct SumReducer;
template <class> struct MeanReducer;
template <class> struct ProdReducer;
}  // namespace internal

}  // namespace Eigen

namespace narrow::inline NARROW_ABI::detail {

/// The tensor expression X with wide numbers.
template <class Wide, class X> using wide_tensor = const Eigen::TensorConversionOp<Wide, const X>;

/// How the numbers of a tensor are reduced to one, of wide numbers.
template <class Reducer, class Wide> struct wide_reducer {};
#define NARROW_WIDE_REDUCER(name)                                                              \
  template <narrow_scalar T, class Wide> struct wide_reducer<Eigen::internal::name<T>, Wide> { \
    using type = Eigen::internal::name<Wide>;                                                  \
  };
NARROW_WIDE_REDUCER(SumReducer)
NARROW_WIDE_REDUCER(MeanReducer)
NARROW_WIDE_REDUCER(ProdReducer)
#undef NARROW_WIDE_REDUCER

/// What an evaluator of the expression X has, from that of an expression of wide numbers. Base: the latter.
template <class X, class Base, class Device> struct rounding_evaluator : Base {
  using XprType = X;
  using Scalar = std::remove_const_t<typename X::Scalar>;
  using CoeffReturnType = Scalar;
  using PacketReturnType = typename Eigen::PacketType<Scalar, Device>::type;
  using EvaluatorPointerType = Scalar*;
  enum {
    IsAligned = false,
    PacketAccess = false,
    BlockAccess = false,
    PreferBlockAccess = false,
    RawAccess = false
  };

  using Base::Base;

  /// Into memory of Base's own, whatever memory there is for narrow numbers.
  bool evalSubExprsIfNeeded(EvaluatorPointerType) {
    Base::evalSubExprsIfNeeded(nullptr);
    return true;
  }
  template <class Index> Scalar coeff(Index i) const { return static_cast<Scalar>(Base::coeff(i)); }
  EvaluatorPointerType data() const { return nullptr; }
};

template <class X> using wide_of = routine_t<std::remove_const_t<typename X::Scalar>>;

template <class L, class R>
concept contracted_wide = narrow_scalar<std::remove_const_t<typename L::Scalar>> &&
    std::same_as<std::remove_const_t<typename L::Scalar>, std::remove_const_t<typename R::Scalar>>;

}  // namespace narrow::detail

namespace Eigen {

template <class Indices, class L, class R, class Device>
requires narrow::detail::contracted_wide<L, R>
struct TensorEvaluator<const TensorContractionOp<Indices, L, R, const NoOpOutputKernel>, Device>
    : narrow::detail::rounding_evaluator<
          TensorContractionOp<Indices, L, R, const NoOpOutputKernel>,
          TensorEvaluator<
              const TensorContractionOp<Indices, narrow::detail::wide_tensor<narrow::detail::wide_of<L>, L>,
                                        narrow::detail::wide_tensor<narrow::detail::wide_of<L>, R>,
                                        const NoOpOutputKernel>,
              Device>,
          Device> {
  using XprType = TensorContractionOp<Indices, L, R, const NoOpOutputKernel>;
  using wide = narrow::detail::wide_of<L>;
  using left = narrow::detail::wide_tensor<wide, L>;
  using right = narrow::detail::wide_tensor<wide, R>;

  TensorEvaluator(const XprType& op, const Device& device)
      : TensorEvaluator::rounding_evaluator(
            TensorContractionOp<Indices, left, right, const NoOpOutputKernel>(
                left(op.lhsExpression()), right(op.rhsExpression()), op.indices()),
            device) {}
};

template <class Op, class Dims, class X, template <class> class Pointer, class Device>
requires requires { typename narrow::detail::wide_reducer<Op, narrow::detail::wide_of<X>>::type; }
struct TensorEvaluator<const TensorReductionOp<Op, Dims, X, Pointer>, Device>
    : narrow::detail::rounding_evaluator<
          TensorReductionOp<Op, Dims, X, Pointer>,
          TensorEvaluator<const TensorReductionOp<
                              typename narrow::detail::wide_reducer<Op, narrow::detail::wide_of<X>>::type,
                              Dims, narrow::detail::wide_tensor<narrow::detail::wide_of<X>, X>, Pointer>,
                          Device>,
          Device> {
  using XprType = TensorReductionOp<Op, Dims, X, Pointer>;
  using wide = narrow::detail::wide_of<X>;
  using values = narrow::detail::wide_tensor<wide, X>;
  using reducer = typename narrow::detail::wide_reducer<Op, wide>::type;

  TensorEvaluator(const XprType& op, const Device& device)
      : TensorEvaluator::rounding_evaluator(
            TensorReductionOp<reducer, Dims, values, Pointer>(values(op.expression()), op.dims(), reducer()),
            device) {}
};

}  // namespace Eigen
