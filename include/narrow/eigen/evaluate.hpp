// Coefficient-wise expressions of floating formats: computed in float, rounded once where they are stored.
//
// Eigen's evaluators hand a coefficient from one operation to the next. Those below hand on a float where the
// scalar of the expression is a narrow float, and the assignment functors, which every way of storing ends
// in, round it. Operations on `fixed` keep Eigen's evaluators: each gives a fixed-point number.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../runtime/environment.hpp"
#include "scalar.hpp"

namespace Eigen::internal {
/// Found by argument-dependent lookup for the functors of this namespace, which are Eigen's own.
template <class Functor> void narrow_knows_functor(const Functor&);
}  // namespace Eigen::internal

namespace narrow::inline NARROW_ABI::detail {

template <class Functor>
concept functor_of_eigen = requires(const Functor& functor) {
  narrow_knows_functor(functor);
};

/// The same operation on wide numbers, where the functor is a stateless template of Eigen over scalar types;
/// void otherwise.
template <class Functor> struct wide_functor { using type = void; };

template <class... T> using wide_among = std::conditional_t<(std::same_as<T, double> || ...), double, float>;

template <class T, class Wide>
using replaced =
    std::conditional_t<narrow_float<T> || std::same_as<T, literal> || std::same_as<T, float>, Wide, T>;

template <template <class...> class Functor, class... T>
requires(
    functor_of_eigen<Functor<T...>>&& std::is_empty_v<Functor<T...>>) struct wide_functor<Functor<T...>> {
  using type = Functor<replaced<T, wide_among<T...>>...>;
};
// Eigen 5.0 has a functor of its own for squaredNorm().
template <class S> void takes_squares(const Eigen::internal::scalar_abs2_op<S>&);
template <class Op>
concept squares = requires(const Op& op) {
  takes_squares(op);
};
template <squares Op> struct wide_functor<Op> { using type = Eigen::internal::scalar_abs2_op<float>; };
// A cast goes from the wide number to the type that was asked for.
template <class From, class To> struct wide_functor<Eigen::internal::scalar_cast_op<From, To>> {
  using type = Eigen::internal::scalar_cast_op<widened_t<From>, To>;
};
#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
template <class From, class To>
struct wide_functor<Eigen::internal::core_cast_op<From, To>>
    : wide_functor<Eigen::internal::scalar_cast_op<From, To>> {};
#endif
template <class A, class B, int NaNPropagation>
struct wide_functor<Eigen::internal::scalar_min_op<A, B, NaNPropagation>> {
  using wide = wide_among<A, B>;
  using type = Eigen::internal::scalar_min_op<replaced<A, wide>, replaced<B, wide>, NaNPropagation>;
};
template <class A, class B, int NaNPropagation>
struct wide_functor<Eigen::internal::scalar_max_op<A, B, NaNPropagation>> {
  using wide = wide_among<A, B>;
  using type = Eigen::internal::scalar_max_op<replaced<A, wide>, replaced<B, wide>, NaNPropagation>;
};
template <class A, class B, Eigen::internal::ComparisonName Comparison>
struct wide_functor<Eigen::internal::scalar_cmp_op<A, B, Comparison>> {
  using wide = wide_among<A, B>;
  using type = Eigen::internal::scalar_cmp_op<replaced<A, wide>, replaced<B, wide>, Comparison>;
};

#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
/// `x.array().pow(exponent)`, which Eigen 5 computes with multiplications of narrow numbers.
template <class T, class Exponent> class power {
 public:
  power(const Exponent& exponent) : exponent_(static_cast<double>(exponent)) {}
  float operator()(float x) const { return static_cast<float>(std::pow(double{x}, exponent_)); }
  T operator()(const T& x) const { return static_cast<T>((*this)(static_cast<float>(x))); }

 private:
  double exponent_;
};
template <narrow_float T, class Exponent, bool IntegerExponent>
struct wide_functor<Eigen::internal::scalar_unary_pow_op<T, Exponent, false, IntegerExponent, false, false>> {
  using type = Eigen::internal::scalar_unary_pow_op<T, Exponent, false, IntegerExponent, false, false>;
};
#endif

template <class To, class From> constexpr To convert_coefficient(const From& x) {
  if constexpr (std::same_as<To, From>)
    return x;
  else if constexpr (std::same_as<From, literal>)
    return static_cast<To>(x.value);
  else
    return static_cast<To>(x);
}

/// functor(x...) on coefficients that may be wider than the Scalars that the expression names.
template <class... Scalars, class Functor, class... T>
auto apply_wide(const Functor& functor, const T&... x) {
  using wide = typename wide_functor<Functor>::type;
  if constexpr (std::is_void_v<wide>)
    return functor(convert_coefficient<Scalars>(x)...);
  else if constexpr (std::same_as<wide, Functor>)
    return functor(convert_coefficient<replaced<Scalars, wide_among<Scalars...>>>(x)...);
  else
    return wide{}(convert_coefficient<replaced<Scalars, wide_among<Scalars...>>>(x)...);
}

/// What the evaluator of X gives: wide where coefficients are computed, the scalar itself where they are only
/// moved.
template <class X>
using coefficient_t =
    std::remove_cvref_t<decltype(std::declval<const Eigen::internal::evaluator<X>&>().coeff(0, 0))>;

template <class... X>
concept some_narrow_float = (narrow_float<scalar_of<X>> || ...);

/// Not a thing in memory: its coefficients are computed, and so may be wide.
template <class X>
concept computed_narrow_float = narrow_float<scalar_of<X>> &&
                                (Eigen::internal::traits<std::remove_cvref_t<X>>::Flags& Eigen::LvalueBit) ==
                                0;

/// `f(x)`, coefficient by coefficient.
template <class Op, class Arg>
struct unary_functor_evaluator : Eigen::internal::evaluator_base<Eigen::CwiseUnaryOp<Op, Arg>> {
  using XprType = Eigen::CwiseUnaryOp<Op, Arg>;
  using CoeffReturnType = typename XprType::CoeffReturnType;
  using Nested = Eigen::internal::evaluator<Arg>;
  enum {
    CoeffReadCost = int(Nested::CoeffReadCost) + int(Eigen::internal::functor_traits<Op>::Cost),
    Flags = int(Nested::Flags) & (Eigen::HereditaryBits | Eigen::LinearAccessBit),
    Alignment = 0
  };

  explicit unary_functor_evaluator(const XprType& xpr)
      : functor_(xpr.functor()), arg_(xpr.nestedExpression()) {}

  auto coeff(Eigen::Index row, Eigen::Index col) const {
    return apply_wide<typename Arg::Scalar>(functor_, arg_.coeff(row, col));
  }
  auto coeff(Eigen::Index index) const {
    return apply_wide<typename Arg::Scalar>(functor_, arg_.coeff(index));
  }

 private:
  const Op functor_;
  const Nested arg_;
};

}  // namespace narrow::inline NARROW_ABI::detail

namespace Eigen::internal {

template <class Op, class Lhs, class Rhs>
requires narrow::detail::some_narrow_float<Lhs, Rhs>
struct binary_evaluator<CwiseBinaryOp<Op, Lhs, Rhs>, IndexBased, IndexBased>
    : evaluator_base<CwiseBinaryOp<Op, Lhs, Rhs>> {
  using XprType = CwiseBinaryOp<Op, Lhs, Rhs>;
  using CoeffReturnType = typename XprType::CoeffReturnType;
  enum {
    CoeffReadCost = int(evaluator<Lhs>::CoeffReadCost) + int(evaluator<Rhs>::CoeffReadCost) +
                    int(functor_traits<Op>::Cost),
    LhsFlags = evaluator<Lhs>::Flags,
    RhsFlags = evaluator<Rhs>::Flags,
    SameOrder = (int(LhsFlags) & RowMajorBit) == (int(RhsFlags) & RowMajorBit),
    Linear = int(LhsFlags) & int(RhsFlags) & (SameOrder ? LinearAccessBit : 0),
    Flags = ((int(LhsFlags) | int(RhsFlags)) & HereditaryBits & ~RowMajorBit) | Linear |
            (int(LhsFlags) & RowMajorBit),
    Alignment = 0
  };

  explicit binary_evaluator(const XprType& xpr) : functor_(xpr.functor()), lhs_(xpr.lhs()), rhs_(xpr.rhs()) {}

  auto coeff(Index row, Index col) const { return apply(lhs_.coeff(row, col), rhs_.coeff(row, col)); }
  auto coeff(Index index) const { return apply(lhs_.coeff(index), rhs_.coeff(index)); }

 private:
  template <class A, class B> auto apply(const A& a, const B& b) const {
    return narrow::detail::apply_wide<typename Lhs::Scalar, typename Rhs::Scalar>(functor_, a, b);
  }

  const Op functor_;
  evaluator<Lhs> lhs_;
  evaluator<Rhs> rhs_;
};

template <class Op, class Arg>
requires narrow::detail::some_narrow_float<Arg>
struct unary_evaluator<CwiseUnaryOp<Op, Arg>, IndexBased> : narrow::detail::unary_functor_evaluator<Op, Arg> {
  using narrow::detail::unary_functor_evaluator<Op, Arg>::unary_functor_evaluator;
};
#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
template <narrow::narrow_float T, class Exponent>
struct scalar_unary_pow_op<T, Exponent, false, false, false, false> : narrow::detail::power<T, Exponent> {
  using narrow::detail::power<T, Exponent>::power;
};
template <narrow::narrow_float T, class Exponent, bool IntegerBase>
struct scalar_unary_pow_op<T, Exponent, IntegerBase, true, false, false>
    : narrow::detail::power<T, Exponent> {
  using narrow::detail::power<T, Exponent>::power;
};
template <class From, class To, class Arg>
requires narrow::detail::some_narrow_float<Arg>
struct unary_evaluator<CwiseUnaryOp<core_cast_op<From, To>, Arg>, IndexBased>
    : narrow::detail::unary_functor_evaluator<core_cast_op<From, To>, Arg> {
  using narrow::detail::unary_functor_evaluator<core_cast_op<From, To>, Arg>::unary_functor_evaluator;
};
#endif

}  // namespace Eigen::internal
