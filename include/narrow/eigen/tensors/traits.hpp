// Matrices in a block format as Eigen expressions: what Eigen reads of them. The scalar of such an expression
// is the number that its coefficients are read as, so that Eigen itself never makes a temporary of the narrow
// format.
#pragma once

#include "../../block/fixed_tensor.hpp"
#include "../../block/product.hpp"
#include "../scalar.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// What `Eigen::Matrix<S, ...>` keeps its coefficients in, for the formats S that are more than a scalar.
template <class S> struct tensor_of { using type = void; };
template <block_format S> struct tensor_of<S> {
  using type = block_tensor<S>;
  using value_type = float;
};

template <> struct tensor_of<dynamic_fixed> {
  using type = fixed_tensor;
  using value_type = double;
};

/// That of a matrix.
template <class M> struct tensor_of_matrix;
template <class S, int R, int C, int O, int MR, int MC>
struct tensor_of_matrix<Eigen::Matrix<S, R, C, O, MR, MC>> : tensor_of<S> {};

template <class S>
concept tensor_format = !std::is_void_v<typename tensor_of<S>::type>;

/// A writable matrix of a tensor format, or a part of one.
template <class X> inline constexpr bool is_tensor_part = false;
template <tensor_format S, int R, int C, int O, int MR, int MC>
inline constexpr bool is_tensor_part<Eigen::Matrix<S, R, C, O, MR, MC>> = true;
template <class X, int R, int C, bool P>
inline constexpr bool is_tensor_part<Eigen::Block<X, R, C, P>> = is_tensor_part<X>;
template <class X, int N> inline constexpr bool is_tensor_part<Eigen::VectorBlock<X, N>> = is_tensor_part<X>;

template <class X>
concept tensor_part = is_tensor_part<X>;

/// False, but not before there is a T: what a static_assert refuses.
template <class T> inline constexpr bool refused = false;

}  // namespace narrow::detail

namespace Eigen {

/// A single object of a block format is a float.
template <narrow::detail::tensor_format S>
struct NumTraits<S> : NumTraits<typename narrow::detail::tensor_of<S>::value_type> {};

// Beside an expression of floats, such an object is one more float.
template <narrow::detail::tensor_format S, narrow::builtin_arithmetic T, class Op>
struct ScalarBinaryOpTraits<S, T, Op>
    : ScalarBinaryOpTraits<typename narrow::detail::tensor_of<S>::value_type, T, Op> {};
template <narrow::builtin_arithmetic T, narrow::detail::tensor_format S, class Op>
struct ScalarBinaryOpTraits<T, S, Op>
    : ScalarBinaryOpTraits<T, typename narrow::detail::tensor_of<S>::value_type, Op> {};

namespace internal {

template <class Scalar, narrow::detail::tensor_format S> struct promote_scalar_arg<Scalar, S, true> {
  using type = typename narrow::detail::tensor_of<S>::value_type;
};
template <class Scalar, narrow::detail::tensor_format S> struct promote_scalar_arg<Scalar, S, false> {
  using type = Scalar;
};

/// Casting to a block format changes nothing until the result is stored in a matrix of it.
template <class From, narrow::detail::tensor_format S> struct scalar_cast_op<From, S> {
  using result_type = typename narrow::detail::tensor_of<S>::value_type;
  result_type operator()(const From& x) const { return static_cast<result_type>(x); }
};
template <class From, narrow::detail::tensor_format S> struct functor_traits<scalar_cast_op<From, S>> {
  enum { Cost = 1, PacketAccess = false };
};
#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
template <class From, narrow::detail::tensor_format S>
struct core_cast_op<From, S> : scalar_cast_op<From, S> {};
template <class From, narrow::detail::tensor_format S>
struct functor_traits<core_cast_op<From, S>> : functor_traits<scalar_cast_op<From, S>> {};
#endif

template <narrow::detail::tensor_format S, int R, int C, int O, int MR, int MC>
struct traits<Matrix<S, R, C, O, MR, MC>> {
  using Scalar = typename narrow::detail::tensor_of<S>::value_type;
  using StorageKind = Dense;
  using StorageIndex = Index;
  using XprKind = MatrixXpr;
  enum {
    RowsAtCompileTime = R,
    ColsAtCompileTime = C,
    MaxRowsAtCompileTime = MR,
    MaxColsAtCompileTime = MC,
    Options = O,
    Flags = NestByRefBit | ((O & RowMajor) != 0 ? RowMajorBit : 0)
  };
};

/// Reads the coefficients of a tensor as those of a matrix of type M.
template <class M> struct tensor_evaluator : evaluator_base<M> {
  using XprType = M;
  using CoeffReturnType = typename traits<M>::Scalar;
  enum {
    IsVector = traits<M>::RowsAtCompileTime == 1 || traits<M>::ColsAtCompileTime == 1,
    CoeffReadCost = 2 * NumTraits<CoeffReturnType>::ReadCost + NumTraits<CoeffReturnType>::MulCost,
    Flags = (int(traits<M>::Flags) & int(RowMajorBit)) | (IsVector ? int(LinearAccessBit) : 0),
    Alignment = 0
  };

  tensor_evaluator() = default;
  explicit tensor_evaluator(const typename narrow::detail::tensor_of_matrix<M>::type& tensor)
      : tensor_(&tensor) {}

  CoeffReturnType coeff(Index row, Index col) const { return (*tensor_)(row, col); }
  CoeffReturnType coeff(Index index) const {
    return traits<M>::RowsAtCompileTime == 1 ? coeff(Index(0), index) : coeff(index, Index(0));
  }

 private:
  const typename narrow::detail::tensor_of_matrix<M>::type* tensor_ = nullptr;
};

template <narrow::detail::tensor_format S, int R, int C, int O, int MR, int MC>
struct evaluator<Matrix<S, R, C, O, MR, MC>> : tensor_evaluator<Matrix<S, R, C, O, MR, MC>> {
  using XprType = Matrix<S, R, C, O, MR, MC>;
  evaluator() = default;
  explicit evaluator(const XprType& matrix) : tensor_evaluator<XprType>(matrix.tensor()) {}
};

}  // namespace internal
}  // namespace Eigen

namespace narrow::inline NARROW_ABI::detail {

/// A tensor below an expression that only picks and turns its elements, and the view that the expression is
/// of it.
template <class X> struct tensor_access { using format = void; };
template <class X> struct tensor_access<const X> : tensor_access<X> {};
template <tensor_format S, int R, int C, int O, int MR, int MC>
struct tensor_access<Eigen::Matrix<S, R, C, O, MR, MC>> {
  using format = S;
  static auto view(const Eigen::Matrix<S, R, C, O, MR, MC>& x) { return x.tensor().view(); }
};
template <class X> struct tensor_access<Eigen::Transpose<X>> {
  using format = typename tensor_access<X>::format;
  static auto view(const Eigen::Transpose<X>& x) {
    return tensor_access<X>::view(x.nestedExpression()).transposed();
  }
};
template <class X, int R, int C, bool P> struct tensor_access<Eigen::Block<X, R, C, P>> {
  using format = typename tensor_access<X>::format;
  static auto view(const Eigen::Block<X, R, C, P>& x) {
    return tensor_access<X>::view(x.nestedExpression()).block(x.startRow(), x.startCol(), x.rows(), x.cols());
  }
};
template <class X, int N>
struct tensor_access<Eigen::VectorBlock<X, N>> : tensor_access<typename Eigen::VectorBlock<X, N>::Base> {};

/// The format of the tensor below an expression; void if there is none.
template <class X> using format_below = typename tensor_access<X>::format;

}  // namespace narrow::detail
