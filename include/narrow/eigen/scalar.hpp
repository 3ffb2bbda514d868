// Narrow scalars as Eigen scalars: what Eigen asks of a number type (Core/NumTraits.h, Core/MathFunctions.h,
// Core/util/XprHelper.h). A translation unit has to see it before it names a Matrix of them: is_arithmetic
// comes before NumTraits, which Eigen's GenericNumTraits asks for it.
#pragma once

#include <complex>

#include "mixtures.hpp"

NARROW_STRICT_BEGIN
namespace narrow::inline NARROW_ABI::detail {
/// low + (high - low) i / last, the same whatever the flags of the compiler allow it to fuse or to replace.
inline double number_between(double low, double high, double i, double last) {
  const double share = i / last;
  return uncontracted(low * (1 - share)) + uncontracted(high * share);
}
}  // namespace narrow::detail
NARROW_STRICT_END

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

/// The type in which `stableNorm()` sums (Core/Dot.h of Eigen after 5.0).
template <class Real> struct stable_norm_accumulator;
template <narrow::narrow_scalar T> struct stable_norm_accumulator<T> { using type = narrow::carrier_t<T>; };

/// `LinSpaced` (Core/functors/NullaryFunctors.h): each number is rounded once. Eigen's own functor would
/// round the step, and count in T.
template <narrow::narrow_scalar T> class linspaced_op_impl<T, false> {
 public:
  linspaced_op_impl(const T& low, const T& high, Index count)
      : low_(low), high_(high), last_(count > 1 ? count - 1 : 1) {}

  const T operator()(Index i) const {
    return i == last_
               ? high_
               : T(narrow::detail::number_between(static_cast<double>(low_), static_cast<double>(high_),
                                                  static_cast<double>(i), static_cast<double>(last_)));
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
  /// Eigen's default is -highest(), but `fixed` has one number below that.
  static constexpr T lowest() { return std::numeric_limits<T>::lowest(); }
  /// Only `blueNorm()` (Core/StableNorm.h) asks for this; it would compute its constants and its sums in T.
  static constexpr int min_exponent() {
    static_assert(
        !narrow::narrow_scalar<T>,
        "narrow: blueNorm() would sum in the narrow type; use stableNorm(), hypotNorm() or narrow::norm(x)");
    return 0;
  }
  /// The tolerance of `isApprox` unless told: 8 ulps, but never so much that x is approximately 2 x.
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
template <std::floating_point Wide, narrow::narrow_scalar T, class Op>
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
