// Operands of products that are packed once: expressions that look at a copy of a matrix and at its panels.
#pragma once

#include "dense.hpp"

namespace narrow::inline NARROW_ABI {

template <class T, int Options> class prepacked_expression;
template <class Matrix> class prepacked_tensor_expression;

}  // namespace narrow

namespace Eigen::internal {

template <class T, int Options>
struct traits<narrow::prepacked_expression<T, Options>>
    : traits<Map<const Matrix<T, Dynamic, Dynamic, Options>, 0, Stride<Dynamic, Dynamic>>> {};

template <class T, int Options>
struct evaluator<narrow::prepacked_expression<T, Options>>
    : mapbase_evaluator<narrow::prepacked_expression<T, Options>, Matrix<T, Dynamic, Dynamic, Options>> {
  using XprType = narrow::prepacked_expression<T, Options>;
  enum { Flags = int(traits<XprType>::Flags) & (int(RowMajorBit) | int(DirectAccessBit)), Alignment = 0 };

  explicit evaluator(const XprType& x)
      : mapbase_evaluator<XprType, Matrix<T, Dynamic, Dynamic, Options>>(x) {}
};

template <class M> struct traits<narrow::prepacked_tensor_expression<M>> : traits<M> {
  enum { Flags = int(traits<M>::Flags) & ~int(NestByRefBit) };
};

template <class M> struct evaluator<narrow::prepacked_tensor_expression<M>> : tensor_evaluator<M> {
  using XprType = narrow::prepacked_tensor_expression<M>;
  explicit evaluator(const XprType& x) : tensor_evaluator<M>(x.tensor()) {}
};

}  // namespace Eigen::internal

namespace narrow::inline NARROW_ABI {

/// A matrix that is packed once for all products with it, as a constant expression of Eigen: what
/// `prepacked(matrix)` gives. It holds a copy of the coefficients; see `prepacked_matrix` for the panels, for
/// copies, threads and instruction sets. Assignment replaces the whole matrix.
template <class T, int Options>
class prepacked_expression : public Eigen::MapBase<prepacked_expression<T, Options>> {
 public:
  /// For the library itself.
  using Base = Eigen::MapBase<prepacked_expression>;
  EIGEN_DENSE_PUBLIC_INTERFACE(prepacked_expression)
  /// For the library itself.
  using PointerType = typename Base::PointerType;

  /// The expression of a matrix that is packed once already.
  explicit prepacked_expression(const prepacked_matrix<T>& matrix)
      : Base(matrix.view().data, matrix.rows(), matrix.cols()), matrix_(matrix) {}
  prepacked_expression(const prepacked_expression&) = default;
  /// Stands for the other matrix from now on.
  prepacked_expression& operator=(const prepacked_expression& other) {
    if (this != &other) {  // Eigen's shapes of maps are constants
      std::destroy_at(this);
      std::construct_at(this, other);
    }
    return *this;
  }

  /// As of other matrices of Eigen.
  Eigen::Index innerStride() const { return Base::IsRowMajor ? strides().col_stride : strides().row_stride; }
  /// As of other matrices of Eigen.
  Eigen::Index outerStride() const { return Base::IsRowMajor ? strides().row_stride : strides().col_stride; }
  /// The copy and its panels.
  const prepacked_matrix<T>& matrix() const { return matrix_; }

 private:
  const matrix_view<const T>& strides() const { return matrix_.view(); }

  prepacked_matrix<T> matrix_;
};

/// A matrix of a block format that is packed once for all products with it, as a constant expression of
/// floats; see `prepacked_expression`. One of `dynamic_fixed` is only copied: its products are those of the
/// matrix itself.
template <class Matrix>
class prepacked_tensor_expression : public Eigen::MatrixBase<prepacked_tensor_expression<Matrix>> {
  using kept = detail::kept_tensor<typename Matrix::Tensor>;

 public:
  using Base = Eigen::MatrixBase<prepacked_tensor_expression>;
  EIGEN_DENSE_PUBLIC_INTERFACE(prepacked_tensor_expression)

  /// Holds a copy of the matrix.
  explicit prepacked_tensor_expression(const Matrix& matrix)
      : kept_(std::make_shared<const kept>(matrix.tensor())) {}
  prepacked_tensor_expression(const prepacked_tensor_expression&) = default;
  /// Stands for the other matrix from now on.
  prepacked_tensor_expression& operator=(const prepacked_tensor_expression& other) {
    kept_ = other.kept_;
    return *this;
  }

  Eigen::Index rows() const { return kept_->tensor.rows(); }
  Eigen::Index cols() const { return kept_->tensor.cols(); }
  const typename Matrix::Tensor& tensor() const { return kept_->tensor; }
  /// For the library itself.
  const kernel::panel_store* panels() const { return &kept_->panels; }
  std::size_t panel_bytes() const { return kept_->panels.bytes(); }

 private:
  std::shared_ptr<const kept> kept_;
};

namespace detail {

template <class M> struct tensor_access<prepacked_tensor_expression<M>> {
  using format = typename tensor_access<M>::format;
  static auto view(const prepacked_tensor_expression<M>& x) { return x.tensor().view(); }
};

template <class T, int Options> struct panels_below<prepacked_expression<T, Options>> {
  static const kernel::panel_store* of(const prepacked_expression<T, Options>& x) {
    return x.matrix().panels();
  }
};
template <class M> struct panels_below<prepacked_tensor_expression<M>> {
  static const kernel::panel_store* of(const prepacked_tensor_expression<M>& x) { return x.panels(); }
};
template <class X> struct panels_below<Eigen::Transpose<X>> {
  static const kernel::panel_store* of(const Eigen::Transpose<X>& x) {
    return panels_below<X>::of(x.nestedExpression());
  }
};

}  // namespace detail

/// A copy of a matrix for products that pack it once: Y = W * X, Y = X * W, Y.noalias() += W.transpose() * X
/// and whatever else Eigen makes of a constant matrix. The bits are those of the product of the matrix
/// itself, taken as one whose size is not known at compile time.
///
/// Shapes    any. An expression that is computed is kept as the numbers that products take of it: float for
///           floating formats.
/// Cost      see `narrow::prepacked`.
template <class X>
requires std::is_void_v<detail::format_below<X>>
[[nodiscard]] auto prepacked(const Eigen::DenseBase<X>& x) {
  constexpr int order = X::IsRowMajor ? Eigen::RowMajor : Eigen::ColMajor;
  using T = detail::coefficient_t<X>;
  const detail::operand<X, detail::unstripped<X>> matrix(x.derived());
  return prepacked_expression<T, order>(prepacked_matrix<T>(matrix.view()));
}
/// A copy of a matrix of a block format, likewise.
template <detail::tensor_format S, int R, int C, int O, int MR, int MC>
[[nodiscard]] auto prepacked(const Eigen::Matrix<S, R, C, O, MR, MC>& matrix) {
  return prepacked_tensor_expression<Eigen::Matrix<S, R, C, O, MR, MC>>(matrix);
}

}  // namespace narrow
