// Narrow scalars as Eigen scalars: what Eigen asks of a number type. To be seen before any Matrix of them is
// used.
#pragma once

#include <Eigen/Core>

#include "../narrow.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// What an operation on narrow coefficients is computed in: float for floating formats (and for literals
/// beside them).
template <class T> struct widened_scalar { using type = T; };
template <class T>
requires narrow_float<T> || std::same_as<T, literal>
struct widened_scalar<T> {
  using type = float;
};
template <class T> using widened_t = typename widened_scalar<T>::type;

template <class X> using scalar_of = typename Eigen::internal::traits<std::remove_cvref_t<X>>::Scalar;

template <class X> using shape_of = typename Eigen::internal::evaluator_traits<std::remove_cvref_t<X>>::Shape;

template <class X>
concept dense_expression = std::same_as<shape_of<X>, Eigen::DenseShape>;

template <class X>
concept narrow_expression = narrow_scalar<scalar_of<X>>;

/// In memory, with two strides. (Eigen 3.4 says so of every view by indices, which then has no `data()`.)
template <class X>
concept direct_access = (Eigen::internal::traits<std::remove_cvref_t<X>>::Flags & Eigen::DirectAccessBit) !=
                            0 &&
                        requires(const X& x) {
  x.data();
};

/// A matrix of T; Eigen wants vectors that are rows to be stored by rows.
template <class T, int Rows, int Cols, int MaxRows = Rows, int MaxCols = Cols>
using plain_matrix = Eigen::Matrix<T, Rows, Cols, Rows == 1 && Cols != 1 ? Eigen::RowMajor : Eigen::ColMajor,
                                   MaxRows, MaxCols>;

/// A matrix of T of the shape of expression X.
template <class T, class X>
using plain_like = plain_matrix<
    T, Eigen::internal::traits<X>::RowsAtCompileTime, Eigen::internal::traits<X>::ColsAtCompileTime,
    Eigen::internal::traits<X>::MaxRowsAtCompileTime, Eigen::internal::traits<X>::MaxColsAtCompileTime>;

}  // namespace narrow::inline NARROW_ABI::detail

namespace Eigen {

namespace internal {
template <narrow::narrow_scalar T> struct is_arithmetic<T> {
  enum { value = true };
};

/// A factor written beside a narrow matrix (`0.1 * A`, `A / 3`) stays what it is, not rounded to the narrow
/// type, and leaves the expression one of that type.
template <narrow::narrow_scalar T, narrow::detail::arithmetic_operand Factor>
struct promote_scalar_arg<T, Factor, true> {
  using type = narrow::detail::literal;
};
template <narrow::narrow_scalar T, narrow::detail::arithmetic_operand Factor>
struct promote_scalar_arg<T, Factor, false> {
  using type = narrow::detail::literal;
};

template <narrow::narrow_scalar T> struct random_impl<T> {
  static T run(const T& low, const T& high) {
    using wide = narrow::carrier_t<T>;
    return T(random_impl<wide>::run(static_cast<wide>(low), static_cast<wide>(high)));
  }
  static T run() { return T(random_impl<narrow::carrier_t<T>>::run()); }
};

template <class Real> struct stable_norm_accumulator;  // Eigen after 5.0
template <narrow::narrow_scalar T> struct stable_norm_accumulator<T> { using type = narrow::carrier_t<T>; };

/// Evenly spaced, each number rounded once; Eigen's own rounds the step, and counts in T.
template <narrow::narrow_scalar T> class linspaced_op_impl<T, false> {
 public:
  linspaced_op_impl(const T& low, const T& high, Index count)
      : low_(low), high_(high), last_(count > 1 ? count - 1 : 1) {}

  const T operator()(Index i) const {
    const double share = static_cast<double>(i) / static_cast<double>(last_);
    return i == last_ ? high_
                      : T(static_cast<double>(low_) * (1 - share) + static_cast<double>(high_) * share);
  }

 private:
  T low_, high_;
  Index last_;
};
}  // namespace internal

template <narrow::narrow_scalar T> struct NumTraits<T> : GenericNumTraits<T> {
  using Literal = narrow::detail::literal;
  enum {
    IsInteger = 0,  // fixed-point numbers too: an integer matrix has no norm and no solver
    IsSigned = 1,
    RequireInitialization = 0,
    ReadCost = 1,
    AddCost = 4,
    MulCost = 4
  };
  static constexpr T lowest() { return std::numeric_limits<T>::lowest(); }  // of `fixed` not -highest()
  /// Eigen asks for it in `blueNorm()` alone, which would compute its constants and its sums in T.
  static constexpr int min_exponent() {
    static_assert(
        !narrow::narrow_scalar<T>,
        "narrow: blueNorm() would sum in the narrow type; use stableNorm(), hypotNorm() or narrow::norm(x)");
    return 0;
  }
  /// How near is `isApprox` unless told: some last places, but never so far that x is approximately 2 x.
  static constexpr T dummy_precision() {
    const float epsilon = static_cast<float>(std::numeric_limits<T>::epsilon());
    return T(std::min(8 * epsilon, std::max(epsilon, 0.25f)));
  }
};

template <> struct NumTraits<narrow::detail::literal> : NumTraits<double> {
  using Real = narrow::detail::literal;
  using NonInteger = narrow::detail::literal;
  using Nested = narrow::detail::literal;
  using Literal = narrow::detail::literal;
};

// A narrow matrix with a built-in one gives the built-in type, as for scalars; with a literal it stays
// narrow.
template <narrow::narrow_scalar T, std::floating_point Wide, class Op>
struct ScalarBinaryOpTraits<T, Wide, Op> {
  using ReturnType = Wide;
};
template <narrow::narrow_scalar T, std::floating_point Wide, class Op>
struct ScalarBinaryOpTraits<Wide, T, Op> {
  using ReturnType = Wide;
};
template <narrow::narrow_scalar T, class Op> struct ScalarBinaryOpTraits<T, narrow::detail::literal, Op> {
  using ReturnType = T;
};
template <narrow::narrow_scalar T, class Op> struct ScalarBinaryOpTraits<narrow::detail::literal, T, Op> {
  using ReturnType = T;
};

}  // namespace Eigen
