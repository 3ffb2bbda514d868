// Eigen's unsupported tensors of narrow numbers: contractions, convolutions, sums, means and products,
// running ones too, are evaluated in float, of `fixed` in double, which is exact up to 53 bits, and rounded
// once, as an evaluator of the same expression of wide numbers gives them. Random numbers are those of float
// (double), rounded.
//
// Specialised are TensorEvaluator, UniformRandomGenerator and NormalRandomGenerator
// (unsupported/Eigen/CXX11/Tensor), which a program includes itself. Not for devices for which Eigen has
// evaluators of its own.
#pragma once

#include <cstdint>

#include "expression_traits.hpp"

namespace Eigen {

// Not declared by Eigen/Core.
template <class, class> struct TensorEvaluator;
template <class, class, class, class> class TensorContractionOp;
template <class, class, class> class TensorConvolutionOp;
template <class, class, class, template <class> class> class TensorReductionOp;
template <class, class> class TensorScanOp;
template <class, class> class TensorTraceOp;
template <class, class> class TensorConversionOp;
template <class, class> struct PacketType;
struct NoOpOutputKernel;
namespace internal {
template <class> struct SumReducer;
template <class> struct MeanReducer;
template <class> struct ProdReducer;
template <class> class UniformRandomGenerator;
template <class> class NormalRandomGenerator;
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

/// The reducer Op of the tensor expression X, of wide numbers.
template <class Op, class X> using wide_reducer_of = typename wide_reducer<Op, wide_of<X>>::type;

/// Random numbers of T, from Eigen's generator of floats: each rounded by Round.
template <class T, class Generator, class Round> class rounding_generator {
 public:
  static constexpr bool PacketAccess = false;  // Eigen's name

  explicit rounding_generator(std::uint64_t seed = 0) : wide_(seed) {}
  T operator()(auto index) const { return narrow_cast<T>(wide_(index), Round{}); }

 private:
  Generator wide_;
};

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

template <class Indices, class L, class R, class Device>
requires narrow::detail::contracted_wide<L, R>
struct TensorEvaluator<const TensorConvolutionOp<Indices, L, R>, Device>
    : narrow::detail::rounding_evaluator<
          TensorConvolutionOp<Indices, L, R>,
          TensorEvaluator<
              const TensorConvolutionOp<Indices, narrow::detail::wide_tensor<narrow::detail::wide_of<L>, L>,
                                        narrow::detail::wide_tensor<narrow::detail::wide_of<L>, R>>,
              Device>,
          Device> {
  using XprType = TensorConvolutionOp<Indices, L, R>;
  using wide = narrow::detail::wide_of<L>;
  using input = narrow::detail::wide_tensor<wide, L>;
  using kernel = narrow::detail::wide_tensor<wide, R>;

  TensorEvaluator(const XprType& op, const Device& device)
      : TensorEvaluator::rounding_evaluator(
            TensorConvolutionOp<Indices, input, kernel>(input(op.inputExpression()),
                                                        kernel(op.kernelExpression()), op.indices()),
            device) {}
};

template <class Op, class Dims, class X, template <class> class Pointer, class Device>
requires requires { typename narrow::detail::wide_reducer_of<Op, X>; }
struct TensorEvaluator<const TensorReductionOp<Op, Dims, X, Pointer>, Device>
    : narrow::detail::rounding_evaluator<
          TensorReductionOp<Op, Dims, X, Pointer>,
          TensorEvaluator<
              const TensorReductionOp<narrow::detail::wide_reducer_of<Op, X>, Dims,
                                      narrow::detail::wide_tensor<narrow::detail::wide_of<X>, X>, Pointer>,
              Device>,
          Device> {
  using XprType = TensorReductionOp<Op, Dims, X, Pointer>;
  using reducer = narrow::detail::wide_reducer_of<Op, X>;
  using values = narrow::detail::wide_tensor<narrow::detail::wide_of<X>, X>;

  TensorEvaluator(const XprType& op, const Device& device)
      : TensorEvaluator::rounding_evaluator(
            TensorReductionOp<reducer, Dims, values, Pointer>(values(op.expression()), op.dims(), reducer()),
            device) {}
};

template <class Op, class X, class Device>
requires requires { typename narrow::detail::wide_reducer_of<Op, X>; }
struct TensorEvaluator<const TensorScanOp<Op, X>, Device>
    : narrow::detail::rounding_evaluator<
          TensorScanOp<Op, X>,
          TensorEvaluator<const TensorScanOp<narrow::detail::wide_reducer_of<Op, X>,
                                             narrow::detail::wide_tensor<narrow::detail::wide_of<X>, X>>,
                          Device>,
          Device> {
  using XprType = TensorScanOp<Op, X>;
  using reducer = narrow::detail::wide_reducer_of<Op, X>;
  using values = narrow::detail::wide_tensor<narrow::detail::wide_of<X>, X>;

  TensorEvaluator(const XprType& op, const Device& device)
      : TensorEvaluator::rounding_evaluator(
            TensorScanOp<reducer, values>(values(op.expression()), op.axis(), op.exclusive()), device) {}
};

template <class Dims, class X, class Device>
requires narrow::narrow_scalar<std::remove_const_t<typename X::Scalar>>
struct TensorEvaluator<const TensorTraceOp<Dims, X>, Device>
    : narrow::detail::rounding_evaluator<
          TensorTraceOp<Dims, X>,
          TensorEvaluator<
              const TensorTraceOp<Dims, narrow::detail::wide_tensor<narrow::detail::wide_of<X>, X>>, Device>,
          Device> {
  using XprType = TensorTraceOp<Dims, X>;
  using values = narrow::detail::wide_tensor<narrow::detail::wide_of<X>, X>;

  TensorEvaluator(const XprType& op, const Device& device)
      : TensorEvaluator::rounding_evaluator(TensorTraceOp<Dims, values>(values(op.expression()), op.dims()),
                                            device) {}
};

namespace internal {

/// Uniform in [0, 1): rounded toward zero, since 1 is none of its numbers.
template <narrow::narrow_scalar T>
class UniformRandomGenerator<T>
    : public narrow::detail::rounding_generator<T, UniformRandomGenerator<narrow::detail::routine_t<T>>,
                                                narrow::rounding::toward_zero> {
  using UniformRandomGenerator::rounding_generator::rounding_generator;
};

/// Of mean 0 and standard deviation 1.
template <narrow::narrow_scalar T>
class NormalRandomGenerator<T>
    : public narrow::detail::rounding_generator<T, NormalRandomGenerator<narrow::detail::routine_t<T>>,
                                                narrow::rounding::nearest_even> {
  using NormalRandomGenerator::rounding_generator::rounding_generator;
};

}  // namespace internal

}  // namespace Eigen
