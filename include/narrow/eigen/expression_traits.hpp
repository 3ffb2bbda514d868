// What the library asks of an Eigen expression (its scalar, its shape, whether it lies in memory) and the
// matrices that hold the values of one.
#pragma once

#include <Eigen/Core>
#include <complex>

#include "../narrow.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// The type in which operations on coefficients of type T are computed: float for floating formats and for
/// literals beside them. Operations on `fixed` give `fixed`.
template <class T>
using widened_t = std::conditional_t<narrow_float<T> || std::same_as<T, literal>, float, T>;

template <class X> using scalar_of = typename Eigen::internal::traits<std::remove_cvref_t<X>>::Scalar;

template <class X> using shape_of = typename Eigen::internal::evaluator_traits<std::remove_cvref_t<X>>::Shape;

template <class X>
concept dense_expression = std::same_as<shape_of<X>, Eigen::DenseShape>;

template <class X>
concept diagonal_expression = std::same_as<shape_of<X>, Eigen::DiagonalShape>;

template <class X>
concept narrow_expression = narrow_scalar<scalar_of<X>>;

template <class... X>
concept some_narrow_expression = (narrow_expression<X> || ...);

template <class T> inline constexpr bool is_complex = false;
template <class Real> inline constexpr bool is_complex<std::complex<Real>> = true;
/// Products of complex numbers are Eigen's own.
template <class... X>
concept some_narrow_factor = some_narrow_expression<X...> &&(!is_complex<scalar_of<X>> && ...);

template <class... X>
concept some_narrow_float = (narrow_float<scalar_of<X>> || ...);

template <class X>
concept narrow_or_float = narrow_float<scalar_of<X>> || std::same_as < scalar_of<X>,
float > ;

template <class X, int Flag>
inline constexpr bool has_flag = (int(Eigen::internal::traits<std::remove_cvref_t<X>>::Flags) & Flag) != 0;

/// An expression of narrow floats whose coefficients are computed, not stored, and so may be wide.
template <class X>
concept computed_narrow_float = narrow_float<scalar_of<X>> && !has_flag<X, Eigen::LvalueBit>;

/// The type of a coefficient from the evaluator of X: wide where coefficients are computed, the scalar itself
/// where they are only moved.
template <class X>
using coefficient_t =
    std::remove_cvref_t<decltype(std::declval<const Eigen::internal::evaluator<X>&>().coeff(0, 0))>;

/// Whether `innerStride()` tells the distance of neighbours. That of a diagonal (Core/Diagonal.h) takes the
/// numbers of a line to follow one another, which those of a map with a stride do not.
template <class X> inline constexpr bool has_true_strides = true;
template <class X> inline constexpr bool has_true_strides<const X> = has_true_strides<X>;
template <class X, int Index>
inline constexpr bool has_true_strides<Eigen::Diagonal<X, Index>> = int(X::InnerStrideAtCompileTime) == 1;
template <class X> inline constexpr bool has_true_strides<Eigen::Transpose<X>> = has_true_strides<X>;
template <class X, int Rows, int Cols, bool InnerPanel>
inline constexpr bool has_true_strides<Eigen::Block<X, Rows, Cols, InnerPanel>> = has_true_strides<X>;
template <class X, int Size>
inline constexpr bool has_true_strides<Eigen::VectorBlock<X, Size>> = has_true_strides<X>;
template <class X> inline constexpr bool has_true_strides<Eigen::ArrayWrapper<X>> = has_true_strides<X>;
template <class X> inline constexpr bool has_true_strides<Eigen::MatrixWrapper<X>> = has_true_strides<X>;

/// An expression in memory, with two strides. The flag is not enough: Eigen 3.4 gives it to every
/// IndexedView, which has no `data()`.
template <class X>
concept direct_access = has_flag<X, Eigen::DirectAccessBit> && has_true_strides<std::remove_cvref_t<X>> &&
    requires(const X& x) {
  x.data();
};

/// The view of an expression that lies in memory.
template <class X> auto view_of_direct(X& x) {
  const Eigen::Index inner = x.innerStride(), outer = x.outerStride();
  return matrix_view<std::remove_pointer_t<decltype(x.data())>>{
      x.data(), x.rows(), x.cols(), X::IsRowMajor ? outer : inner, X::IsRowMajor ? inner : outer};
}

/// Whether the coefficients of an expression in memory follow one another without a gap.
template <class X> bool without_gaps(const X& x) {
  return (x.innerStride() == 1 && (x.outerStride() == x.innerSize() || x.outerSize() <= 1)) || x.size() <= 1;
}

/// So many coefficients of X lie in a line, if that is known when the program is compiled.
template <class X>
inline constexpr int line_length_of = X::IsRowMajor ? int(X::ColsAtCompileTime) : int(X::RowsAtCompileTime);
/// Whether the coefficients of a line of X, which lies in memory, are known to follow one another.
template <class X>
inline constexpr bool always_adjacent = line_length_of<X> == 1 || int(X::InnerStrideAtCompileTime) == 1;
/// Whether they are known not to.
template <class X>
inline constexpr bool never_adjacent =
    !always_adjacent<X> && int(X::InnerStrideAtCompileTime) != Eigen::Dynamic;
/// Whether all coefficients of X are known to follow one another without a gap.
template <class X>
inline constexpr bool always_without_gaps = always_adjacent<X>&& line_length_of<X> != Eigen::Dynamic &&
                                            (int(X::SizeAtCompileTime) == line_length_of<X> ||
                                             int(X::OuterStrideAtCompileTime) == line_length_of<X>);

/// A matrix of T; Eigen wants vectors that are rows to be stored by rows.
template <class T, int Rows, int Cols, int MaxRows = Rows, int MaxCols = Cols>
using plain_matrix = Eigen::Matrix<T, Rows, Cols, Rows == 1 && Cols != 1 ? Eigen::RowMajor : Eigen::ColMajor,
                                   MaxRows, MaxCols>;

/// A matrix of T of the shape of expression X.
template <class T, class X>
using plain_like = plain_matrix<
    T, Eigen::internal::traits<X>::RowsAtCompileTime, Eigen::internal::traits<X>::ColsAtCompileTime,
    Eigen::internal::traits<X>::MaxRowsAtCompileTime, Eigen::internal::traits<X>::MaxColsAtCompileTime>;

/// A matrix of T of any shape, or a vector of any size where X is one, in the storage order of expression X.
template <class T, class X>
using dynamic_like = Eigen::Matrix<T, X::RowsAtCompileTime == 1 ? 1 : Eigen::Dynamic,
                                   X::ColsAtCompileTime == 1 ? 1 : Eigen::Dynamic,
                                   X::IsRowMajor ? Eigen::RowMajor : Eigen::ColMajor>;

/// X with coefficients of type T in place of its own.
template <class T, class X>
using plain_of = std::conditional_t<std::derived_from<X, Eigen::ArrayBase<X>>,
                                    Eigen::Array<T, X::RowsAtCompileTime, X::ColsAtCompileTime,
                                                 X::IsRowMajor ? Eigen::RowMajor : Eigen::ColMajor,
                                                 X::MaxRowsAtCompileTime, X::MaxColsAtCompileTime>,
                                    Eigen::Matrix<T, X::RowsAtCompileTime, X::ColsAtCompileTime,
                                                  X::IsRowMajor ? Eigen::RowMajor : Eigen::ColMajor,
                                                  X::MaxRowsAtCompileTime, X::MaxColsAtCompileTime>>;

/// The type in which Eigen's own routines run in place of narrow expressions: float for floating formats,
/// double for `fixed`, of several the wider one.
template <class T> using routine_t = std::conditional_t<narrow_fixed<T>, double, widened_t<T>>;
template <class... X> using routine_scalar_t = std::common_type_t<routine_t<scalar_of<X>>...>;

/// The values of a dense expression as numbers of type Wide.
template <class Wide, class X> plain_like<Wide, X> wide_copy(const X& x) {
  if constexpr (narrow_expression<X>)
    return x;
  else
    return x.template cast<Wide>();
}

}  // namespace narrow::detail
