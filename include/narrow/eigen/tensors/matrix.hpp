// Eigen::Matrix of a block format: the tensor itself, as a matrix of floats to everything that reads it.
#pragma once

#include "assign.hpp"

namespace Eigen {

/// A matrix in a block format or in fixed point chosen at run time.
///
/// Reads as an expression of float (`dynamic_fixed`: double): any expression can be assigned to it, which
/// quantises, and every expression can contain it. Products with it run on the stored integers; see
/// `narrow::gemm`. Fixed sizes work too; the coefficients are always on the heap. An element, row, column or
/// block that is written is rounded into the present scale; see `narrow::block_tensor`.
template <narrow::detail::tensor_format S, int R, int C, int O, int MR, int MC>
class Matrix<S, R, C, O, MR, MC> : public narrow::detail::tensor_expression<Matrix<S, R, C, O, MR, MC>> {
  using expression = narrow::detail::tensor_expression<Matrix>;

 public:
  /// For the library itself.
  using Tensor = typename narrow::detail::tensor_of<S>::type;
  using Base = typename expression::Base;
  /// For the library itself.
  using PlainObject = typename expression::PlainObject;
  EIGEN_DENSE_PUBLIC_INTERFACE(Matrix)
  enum { Options = O };
  using expression::operator=;

  Matrix() : tensor_(least_rows, least_cols, order) {}
  Matrix(const Matrix&) = default;
  /// The other one is left with zeros, or none; `dynamic_fixed`: in its format.
  Matrix(Matrix&& other) noexcept(R == Dynamic || C == Dynamic) : tensor_(zeros_like(other.tensor_)) {
    swap(other);
  }
  /// Copies what is stored; `dynamic_fixed`: converts it to the format of this matrix.
  Matrix& operator=(const Matrix& other) {
    tensor_ = other.tensor_;
    return *this;
  }
  /// The other one is left with what was here; `dynamic_fixed` of another format as it was.
  Matrix& operator=(Matrix&& other) noexcept(std::is_nothrow_move_assignable_v<Tensor>) {
    tensor_ = std::move(other.tensor_);
    return *this;
  }
  /// Quantises an expression.
  template <class X> Matrix(const EigenBase<X>& x) : Matrix() { *this = x.derived(); }

  /// A vector's size, or the one coefficient of a 1 x 1 matrix.
  template <class T>
  requires std::is_convertible_v<T, Scalar>
  explicit Matrix(const T& x) : Matrix() {
    static_assert(IsVectorAtCompileTime,
                  "narrow: a matrix that is not a vector is made from rows and columns");
    if constexpr (R == 1 && C == 1)
      (*this)(0) = static_cast<Scalar>(x);
    else
      resize(static_cast<Index>(x));
  }
  /// Rows and columns, or the coefficients of a vector of two.
  template <class T, class U>
  requires std::is_convertible_v<T, Scalar> && std::is_convertible_v<U, Scalar> Matrix(const T& x, const U& y)
      : Matrix() {
    if constexpr (SizeAtCompileTime == 2)
      *this << static_cast<Scalar>(x), static_cast<Scalar>(y);
    else
      resize(static_cast<Index>(x), static_cast<Index>(y));
  }
  /// The coefficients of a vector of three or more.
  template <class... T>
  requires(sizeof...(T) >= 3 && (std::is_convertible_v<T, Scalar> && ...)) Matrix(const T&... x) : Matrix() {
    static_assert(SizeAtCompileTime == sizeof...(T), "narrow: as many coefficients as the vector has");
    const Scalar values[] = {static_cast<Scalar>(x)...};
    *this = Eigen::Map<const PlainObject>(values);
  }
  /// Rows of coefficients.
  Matrix(const std::initializer_list<std::initializer_list<Scalar>>& rows) : Matrix() {
    *this = PlainObject(rows);
  }

  Index rows() const { return tensor_.rows(); }
  Index cols() const { return tensor_.cols(); }

  /// What is stored.
  const Tensor& tensor() const { return tensor_; }
  /// The stored integers, or elements of `mx`, in storage order.
  auto mantissas() const { return tensor_.mantissas(); }
  /// The scales of the blocks, row by row; `dynamic_fixed` has none.
  auto scales() const { return tensor_.scales(); }
  /// How many NaNs and infinities were written since the last whole assignment, that one included.
  std::size_t nonfinite() const { return tensor_.nonfinite(); }

  /// Assigns x with clipping values from outside, one for all blocks or one for each, and by a policy other
  /// than the format's own; see `narrow::block_tensor::assign`.
  template <class X, class Clips, narrow::rounding_policy Round = typename S::round_policy>
  requires(!narrow::rounding_policy<Clips>) Matrix& quantize(const DenseBase<X>& x, const Clips& clips,
                                                             const Round& round = Round{}) {
    if constexpr (std::is_convertible_v<Clips, float>) {
      const float clip = clips;
      return store(x.derived(), round, std::span<const float>(&clip, 1));
    } else {
      return store(x.derived(), round, std::span<const float>(clips));
    }
  }

  /// Assigns x by a policy other than the format's own.
  template <class X, narrow::rounding_policy Round>
  Matrix& quantize(const DenseBase<X>& x, const Round& round) {
    return store(x.derived(), round);
  }

  /// `dynamic_fixed`: the format that values are rounded to, and the conversion to another one. Assignment
  /// keeps the format of the matrix that is assigned to.
  narrow::fixed_format format() const requires std::same_as<S, narrow::dynamic_fixed> {
    return tensor_.format();
  }
  /// Converts the coefficients to the format f, each rounded once.
  void format(const narrow::fixed_format& f) requires std::same_as<S, narrow::dynamic_fixed> {
    tensor_.format(f);
  }
  using Base::format;

  /// Takes a tensor as it is stored; nothing is rounded. Throws as `require_shape` does, and
  /// std::invalid_argument if it lies in the other storage order.
  void assign_stored(Tensor stored) {
    require_shape(stored.rows(), stored.cols());
    if (stored.order() != tensor_.order())
      narrow::detail::fail<std::invalid_argument>(
          "Eigen::Matrix::assign_stored: the tensor's storage order is not the matrix's");
    tensor_.swap(stored);
  }
  /// Throws std::invalid_argument if the matrix cannot have this shape.
  void require_shape(Index rows, Index cols) const {
    const auto fits = [](Index n, int fixed, int most) {
      return n >= 0 && (fixed == Dynamic || n == fixed) && (most == Dynamic || n <= most);
    };
    narrow::detail::check_shapes(fits(rows, R, MR) && fits(cols, C, MC), "Eigen::Matrix", "what is assigned",
                                 {rows, cols}, "the matrix", {this->rows(), this->cols()});
  }

  /// A new shape, all zeros. As in Eigen, only what is dynamic can change.
  void resize(Index rows, Index cols) {
    check_shape(rows, cols);
    tensor_.resize(rows, cols);
  }
  /// As of other matrices of Eigen.
  void resize(Index size) { IsRowVector ? resize(1, size) : resize(size, 1); }
  void resize(Index rows, NoChange_t) { resize(rows, cols()); }
  void resize(NoChange_t, Index cols) { resize(rows(), cols); }
  /// As of other matrices of Eigen.
  template <class X> void resizeLike(const EigenBase<X>& x) { resize(x.rows(), x.cols()); }
  /// Keeps the coefficients that are in both shapes, rounding them as whole assignment does; the others are
  /// zeros.
  void conservativeResize(Index rows, Index cols) { conservativeResizeLike(PlainObject::Zero(rows, cols)); }
  /// As of other matrices of Eigen.
  void conservativeResize(Index rows, NoChange_t) { conservativeResize(rows, cols()); }
  void conservativeResize(NoChange_t, Index cols) { conservativeResize(rows(), cols); }
  void conservativeResize(Index size) {
    IsRowVector ? conservativeResize(1, size) : conservativeResize(size, 1);
  }
  /// The others are those of x.
  template <class X> void conservativeResizeLike(const DenseBase<X>& x) {
    PlainObject kept = *this;
    kept.conservativeResizeLike(PlainObject(x));
    *this = kept;
  }

  using expression::setConstant;
  using expression::setIdentity;
  using expression::setOnes;
  using expression::setRandom;
  using expression::setZero;
  // Rows and columns are numbers, or NoChange.
  /// As of other matrices of Eigen.
  template <class Rows, class Cols> Matrix& setConstant(Rows rows, Cols cols, const Scalar& x) {
    return *this = Base::Constant(changed(rows, this->rows()), changed(cols, this->cols()), x);
  }
  /// As of other matrices of Eigen.
  template <class Rows, class Cols> Matrix& setRandom(Rows rows, Cols cols) {
    return *this = Base::Random(changed(rows, this->rows()), changed(cols, this->cols()));
  }
  /// As of other matrices of Eigen.
  template <class Rows, class Cols> Matrix& setZero(Rows rows, Cols cols) {
    return setConstant(rows, cols, 0);
  }
  /// As of other matrices of Eigen.
  template <class Rows, class Cols> Matrix& setOnes(Rows rows, Cols cols) {
    return setConstant(rows, cols, 1);
  }
  /// As of other matrices of Eigen.
  Matrix& setIdentity(Index rows, Index cols) { return *this = Base::Identity(rows, cols); }
  Matrix& setConstant(Index size, const Scalar& x) { return *this = Base::Constant(size, x); }
  Matrix& setZero(Index size) { return setConstant(size, 0); }
  Matrix& setOnes(Index size) { return setConstant(size, 1); }
  Matrix& setRandom(Index size) { return *this = Base::Random(size); }

  /// As of other matrices of Eigen.
  Matrix& setLinSpaced(Index size, const Scalar& low, const Scalar& high) {
    return *this = Base::LinSpaced(size, low, high);
  }
  Matrix& setLinSpaced(const Scalar& low, const Scalar& high) {
    return setLinSpaced(this->size(), low, high);
  }

  using expression::swap;
  void swap(Matrix& other) noexcept { tensor_.swap(other.tensor_); }
  friend void swap(Matrix& a, Matrix& b) noexcept { a.swap(b); }
  /// As of other matrices of Eigen.
  void transposeInPlace() { *this = PlainObject(this->transpose()); }

  /// For the library itself.
  template <class X, class... How> Matrix& store(const X& x, const How&... how) {
    const narrow::detail::coefficients<PlainObject, X> of_x(x);
    check_shape(of_x.rows, of_x.cols);
    of_x.visit([&](const auto& values) { tensor_.assign(of_x.rows, of_x.cols, values, how...); });
    return *this;
  }
  /// For the library itself.
  template <class X> Matrix& store_product(const X& x, double factor, double beta) {
    check_shape(x.rows(), x.cols());
    eigen_assert(beta == 0 || (x.rows() == rows() && x.cols() == cols()));
    narrow::detail::multiply_into(tensor_, x, factor, beta);
    return *this;
  }
  /// For the library itself.
  template <class Values> void write_part(const narrow::detail::region& part, const Values& values) {
    tensor_.write(part, values);
  }

 private:
  static constexpr Index least_rows = R == Dynamic ? 0 : R, least_cols = C == Dynamic ? 0 : C;
  static constexpr bool IsRowVector = R == 1;
  static Index changed(Index wanted, Index) { return wanted; }
  static Index changed(NoChange_t, Index present) { return present; }
  static constexpr auto order =
      (O & RowMajor) != 0 ? narrow::storage_order::row_major : narrow::storage_order::column_major;

  static Tensor zeros_like(const Tensor& tensor) {
    if constexpr (std::same_as<S, narrow::dynamic_fixed>)
      return Tensor(least_rows, least_cols, tensor.format(), order);
    else
      return Tensor(least_rows, least_cols, order);
  }
  void check_shape([[maybe_unused]] Index rows, [[maybe_unused]] Index cols) const {
    eigen_assert((R == Dynamic || rows == R) && (C == Dynamic || cols == C) &&
                 (MR == Dynamic || rows <= MR) && (MC == Dynamic || cols <= MC) && rows >= 0 && cols >= 0 &&
                 "the shape does not fit the matrix");
  }

  Tensor tensor_;
};

/// Rows, columns, segments and blocks of such a matrix, to be written.
template <narrow::detail::tensor_part X, int R, int C, bool InnerPanel>
class Block<X, R, C, InnerPanel> : public narrow::detail::tensor_expression<Block<X, R, C, InnerPanel>> {
  using expression = narrow::detail::tensor_expression<Block>;

 public:
  using Base = typename expression::Base;
  using PlainObject = typename expression::PlainObject;
  EIGEN_DENSE_PUBLIC_INTERFACE(Block)
  using NestedExpression = X;
  using expression::operator=;

  Block(X& x, Index i)
      : Block(x, R == 1 && C != 1 ? i : 0, R == 1 && C != 1 ? 0 : i, R == 1 && C != 1 ? 1 : x.rows(),
              R == 1 && C != 1 ? x.cols() : 1) {}
  Block(X& x, Index row, Index col) : Block(x, row, col, R, C) {}
  Block(X& x, Index row, Index col, Index rows, Index cols) : x_(x), part_{row, col, rows, cols} {
    eigen_assert((R == Dynamic || R == rows) && (C == Dynamic || C == cols) && row >= 0 && col >= 0 &&
                 rows >= 0 && cols >= 0 && row <= x.rows() - rows && col <= x.cols() - cols);
  }
  Block(const Block&) = default;
  Block& operator=(const Block& other) {
    expression::operator=(PlainObject(other));
    return *this;
  }

  Index rows() const { return part_.rows; }
  Index cols() const { return part_.cols; }
  Index startRow() const { return part_.row; }
  Index startCol() const { return part_.col; }
  const X& nestedExpression() const { return x_; }
  X& nestedExpression() { return x_; }
  /// What loops over `rowwise()` and `colwise()` give.
  operator Block<const X, R, C, InnerPanel>() const {
    return {x_, part_.row, part_.col, part_.rows, part_.cols};
  }

  template <class Y> void store(const Y& y) {
    const narrow::detail::coefficients<PlainObject, Y> of_y(y);
    eigen_assert(of_y.rows == part_.rows && of_y.cols == part_.cols && "the shapes do not match");
    of_y.visit([&](const auto& values) { write_part({0, 0, part_.rows, part_.cols}, values); });
  }
  template <class Values> void write_part(const narrow::detail::region& part, const Values& values) {
    x_.write_part({part_.row + part.row, part_.col + part.col, part.rows, part.cols}, values);
  }
  template <class Y> Block& store_product(const Y& y, double factor, double beta) {
    narrow::fixed_tensor result(0, 0, format());
    if (beta != 0) result.assign(rows(), cols(), [this](Index i, Index j) { return this->coeff(i, j); });
    narrow::detail::multiply_into(result, y, factor, beta);
    eigen_assert(result.rows() == part_.rows && result.cols() == part_.cols && "the shapes do not match");
    write_part({0, 0, part_.rows, part_.cols}, result);
    return *this;
  }
  /// The format of the elements.
  narrow::fixed_format format() const { return x_.format(); }
  using Base::format;

 private:
  typename internal::ref_selector<X>::non_const_type x_;
  narrow::detail::region part_;
};

// What cannot work, in one line.

template <class Scalar, int Options, class StorageIndex> class SparseMatrix;

template <narrow::detail::tensor_format S, int R, int C, int O, int MR, int MC>
class Array<S, R, C, O, MR, MC> {
  static_assert(narrow::detail::refused<S>,
                "narrow: there is no Eigen::Array of a block format; use Eigen::Matrix and its .array()");
};
template <narrow::detail::tensor_format S, int Options, class StorageIndex>
class SparseMatrix<S, Options, StorageIndex> {
  static_assert(narrow::detail::refused<S>, "narrow: there is no Eigen::SparseMatrix of a block format");
};
template <class X, int MapOptions, class Stride>
requires narrow::detail::tensor_part<std::remove_const_t<X>>
class Map<X, MapOptions, Stride> {
  static_assert(narrow::detail::refused<X>,
                "narrow: there is no Eigen::Map of a block format: its coefficients are not in memory");
};
template <narrow::detail::tensor_part X, int RefOptions, class Stride> class Ref<X, RefOptions, Stride> {
  static_assert(narrow::detail::refused<X>,
                "narrow: there is no Eigen::Ref of a block format: take the matrix itself by reference, or "
                "Eigen::Ref<const Eigen::MatrixXf>");
};
template <narrow::detail::tensor_part X, int RefOptions, class Stride>
class Ref<const X, RefOptions, Stride> : Ref<X, RefOptions, Stride> {};

}  // namespace Eigen

namespace narrow::inline NARROW_ABI {

/// Eigen's assignment loop, found by argument-dependent lookup, for floats in memory: a block at a time.
template <class Dst, block_format S, int R, int C, int O, int MR, int MC>
requires detail::direct_access<Dst> && std::same_as<typename Dst::Scalar, float>
void call_dense_assignment_loop(Dst& dst, const Eigen::Matrix<S, R, C, O, MR, MC>& src,
                                const Eigen::internal::assign_op<float, float>& functor) {
  Eigen::internal::resize_if_allowed(dst, src, functor);
  src.tensor().dequantize(detail::view_of_direct(dst));
}

}  // namespace narrow
