// Softmax of columns, of rows and of vectors.
#pragma once

#include "expressions/lane_broadcasts.hpp"
#include "expressions/lane_conditions.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

template <class Kind, Eigen::DirectionType Direction, class T, class X, class Result>
void softmax_of_lines(const T* from, Eigen::Index outer_stride, const X& x, Result& result) {
  constexpr bool of_columns = Direction == Eigen::Vertical;
  const kernel::line_shape shape{of_columns ? x.cols() : x.rows(), of_columns ? x.rows() : x.cols()};
  if constexpr (of_columns == !Result::IsRowMajor)
    kernel::softmax_along<Kind>(from, outer_stride, result.data(), result.outerStride(), shape);
  else
    kernel::softmax_across<Kind>(from, outer_stride, result.data(), result.outerStride(), shape);
}

/// Of a matrix that does not lie in memory line by line, or has coefficients that kernels cannot read, as
/// floats.
template <class Kind, Eigen::DirectionType Direction, class X, class Result>
void softmax_to(const X& x, Result& result) {
  constexpr bool same_order = bool(X::IsRowMajor) == bool(Result::IsRowMajor);
  if (result.size() == 0) return;
  if constexpr (direct_access<X> && same_order && lane_number<typename X::Scalar>)
    if (x.innerStride() == 1) return softmax_of_lines<Kind, Direction>(x.data(), x.outerStride(), x, result);
  dynamic_like<float, Result> floats(x.rows(), x.cols());
  floats = x.matrix().template cast<float>();
  softmax_of_lines<Kind, Direction>(floats.data(), floats.outerStride(), x, result);
}

template <class X> using softmax_t = typename Eigen::internal::remove_all<X>::type::PlainObject;
template <class Kind, Eigen::DirectionType Direction, class X> softmax_t<X> softmax_along(const X& x) {
  using T = typename X::Scalar;
  softmax_t<X> result(x.rows(), x.cols());
  if constexpr (rounds_in_lanes<T>) {
    softmax_to<Kind, Direction>(x, result);
  } else {
    plain_of<float, softmax_t<X>> floats(x.rows(), x.cols());
    softmax_to<Kind, Direction>(x, floats);
    result = floats.template cast<T>();
  }
  return result;
}
template <class X>
inline constexpr Eigen::DirectionType direction_of_vector =
    X::ColsAtCompileTime == 1 ? Eigen::Vertical : Eigen::Horizontal;

template <class X>
concept softmax_operand = narrow_scalar<typename X::Scalar> || std::same_as<typename X::Scalar, float>;

}  // namespace detail

/// e^x divided by the sum of e^x over a column, `softmax(x.colwise())`, a row, `softmax(x.rowwise())`, or a
/// vector, `softmax(x)`: a matrix or array as x is one, of the same shape. The largest number is subtracted
/// first; powers are float, their sum is double. Before it is rounded, once, to the type of x, a share errs
/// by less than 2^-20 (1 - log(share)) of itself, and by no more than the smallest subnormal float; in what
/// order the sum is added up depends on the instruction set. Of a line with NaN or infinity, or with nothing
/// but -infinity, all shares are NaN; other shares of -infinity are zero. Expressions are computed in float
/// and not rounded before that. About 0.6 ns a number for 16-bit formats rounded to nearest even, on a Xeon
/// with AVX-512 (J. S. Bridle, "Probabilistic interpretation of feedforward classification network outputs",
/// 1990).
template <detail::softmax_operand X, int Direction> auto softmax(const Eigen::VectorwiseOp<X, Direction>& x) {
  return detail::softmax_along<kernel::lane_softmax, static_cast<Eigen::DirectionType>(Direction)>(
      x._expression());
}
/// The shares of a vector.
template <class X>
requires(detail::softmax_operand<X>&& bool(X::IsVectorAtCompileTime)) auto softmax(
    const Eigen::DenseBase<X>& x) {
  return detail::softmax_along<kernel::lane_softmax, detail::direction_of_vector<X>>(x.derived());
}

/// The logarithm of what `softmax` gives, x - largest - log(sum of e^(x - largest)). Before it is rounded it
/// errs by less than 2^-20 of itself and 2^-50. Of -infinity it is -infinity; where shares are NaN, so is
/// this. Otherwise as `softmax`.
template <detail::softmax_operand X, int Direction>
auto log_softmax(const Eigen::VectorwiseOp<X, Direction>& x) {
  return detail::softmax_along<kernel::lane_log_softmax, static_cast<Eigen::DirectionType>(Direction)>(
      x._expression());
}
/// The logarithms of the shares of a vector.
template <class X>
requires(detail::softmax_operand<X>&& bool(X::IsVectorAtCompileTime)) auto log_softmax(
    const Eigen::DenseBase<X>& x) {
  return detail::softmax_along<kernel::lane_log_softmax, detail::direction_of_vector<X>>(x.derived());
}

}  // namespace narrow
