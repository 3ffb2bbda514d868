// Coefficient-wise expressions of floating formats: computed in float, rounded once where they are stored.
//
// Eigen's evaluators hand a coefficient from one operation to the next. Those below hand on a float where the
// scalar of the expression is a narrow float, and the assignment functors, which every way of storing ends
// in, round it. Operations on `fixed` keep Eigen's evaluators: each gives a fixed-point number.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../kernel/environment.hpp"
#include "scalar.hpp"

namespace Eigen::internal {
/// Found by argument-dependent lookup for the functors of this namespace, which are Eigen's own.
template <class Functor> void narrow_knows_functor(const Functor&);
}  // namespace Eigen::internal

namespace narrow::detail {

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

}  // namespace narrow::detail

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

namespace narrow::detail {

/// How `=`, `+=`, ... store a coefficient that may be wider than the type which the expression names: the
/// operation in the wider type, then one rounding to the destination's.
template <class To, class Value, class Round> void store(To& to, const Value& value, const Round& round) {
  if constexpr (std::same_as<To, Value>)
    to = value;
  else if constexpr (narrow_scalar<To>)
    to = narrow_cast<To>(value, round);
  else
    to = static_cast<To>(value);
}

struct set_value {
  template <class To, class Value> static constexpr const Value& combine(const To&, const Value& value) {
    return value;
  }
};

/// `to op value`: in the wide type for floating formats, in fixed point for `fixed` with itself.
template <class Op> struct combine_with {
  template <class To, class Value> static constexpr auto combine(const To& to, const Value& value) {
    if constexpr (narrow_float<To> || narrow_float<Value>) {
      using wide = std::common_type_t<widened_t<To>, widened_t<Value>>;
      return Op::native(static_cast<wide>(to), static_cast<wide>(value));
    } else if constexpr (narrow_scalar<To> || narrow_scalar<Value>) {
      return apply<Op>(to, value);
    } else {
      return Op::native(to, value);
    }
  }
};

template <class Combine, class To> struct assign_functor {
  using round_policy = typename policy_of<To>::type;
  static constexpr bool only_stores = std::same_as<Combine, set_value>;

  template <class Value> void assignCoeff(To& to, const Value& value) const {
    assign(to, value, round_policy{});
  }
  template <class Value, class Round> static void assign(To& to, const Value& value, const Round& round) {
    store(to, Combine::combine(to, value), round);
  }
};

template <class To, class From>
concept some_narrow = narrow_scalar<To> || narrow_scalar<From>;

}  // namespace narrow::detail

namespace Eigen::internal {

#define NARROW_ASSIGN_FUNCTOR(functor, ...)                                                           \
  template <class To, class From>                                                                     \
  requires narrow::detail::some_narrow<To, From>                                                      \
  struct functor<To, From> : narrow::detail::assign_functor<__VA_ARGS__, To> {};                      \
  template <class To, class From>                                                                     \
  requires narrow::detail::some_narrow<To, From>                                                      \
  struct functor_traits<functor<To, From>> {                                                          \
    enum { Cost = int(NumTraits<To>::ReadCost) + int(NumTraits<To>::AddCost), PacketAccess = false }; \
  };
NARROW_ASSIGN_FUNCTOR(assign_op, narrow::detail::set_value)
NARROW_ASSIGN_FUNCTOR(add_assign_op, narrow::detail::combine_with<narrow::detail::plus>)
NARROW_ASSIGN_FUNCTOR(sub_assign_op, narrow::detail::combine_with<narrow::detail::minus>)
NARROW_ASSIGN_FUNCTOR(mul_assign_op, narrow::detail::combine_with<narrow::detail::times>)
NARROW_ASSIGN_FUNCTOR(div_assign_op, narrow::detail::combine_with<narrow::detail::over>)
#undef NARROW_ASSIGN_FUNCTOR

}  // namespace Eigen::internal

namespace narrow {

namespace detail {
template <class To, class From> void takes_cast(const Eigen::internal::scalar_cast_op<From, To>&);
template <class Op, class To>
concept casts_to = requires(const Op& op) {
  takes_cast<To>(op);
};

/// An explicit cast to the type of the destination is the rounding of the assignment.
template <class To, class X> const X& without_cast_to(const X& x) { return x; }
template <class To, casts_to<To> Op, class X>
const auto& without_cast_to(const Eigen::CwiseUnaryOp<Op, X>& x) {
  return x.nestedExpression();
}

template <class To>
concept draws_per_element = narrow_scalar<To> && requires(typename To::round_policy round) {
  round.at(0);
};

/// An assignment to or from narrow numbers, with a functor of ours.
template <class Functor>
concept assigns_narrow = requires {
  typename Functor::round_policy;
};
template <class Dst, class Functor>
concept assigns_drawn = assigns_narrow<Functor> && draws_per_element<typename Dst::Scalar>;
/// With arithmetic in float: of an expression, or with what is there already.
template <class Dst, class Src, class Functor>
concept assigns_computed = assigns_narrow<Functor> && some_narrow_float<Dst, Src> &&
    (computed_narrow_float<Src> || !Functor::only_stores);
template <class Dst, class Src, class Functor>
concept assigned_here = assigns_drawn<Dst, Functor> || assigns_computed<Dst, Src, Functor>;

/// Out of line, so that nothing of it is computed outside the environment that the caller has set. In a
/// destination that rounds stochastically one ticket serves the whole assignment, and each coefficient takes
/// the draw of its row-major index, whatever the storage order.
template <class Dst, class Src, class Functor>
NARROW_KERNEL void assign_coefficients(Dst& dst, const Src& src, const Functor& functor) {
  if constexpr (!assigns_drawn<Dst, Functor>) {
    Eigen::internal::call_dense_assignment_loop(dst, src, functor);
  } else {
    using To = typename Dst::Scalar;
    const auto& values = without_cast_to<To>(src);
    Eigen::internal::evaluator<std::remove_cvref_t<decltype(values)>> from(values);
    Eigen::internal::resize_if_allowed(dst, src, functor);
    Eigen::internal::evaluator<Dst> to(dst);
    const typename Functor::round_policy round{};
    const Eigen::Index rows = dst.rows(), cols = dst.cols();
    for (Eigen::Index i = 0; i < rows; ++i)
      for (Eigen::Index j = 0; j < cols; ++j)
        Functor::assign(to.coeffRef(i, j), from.coeff(i, j),
                        round.at(static_cast<std::uint64_t>(i * cols + j)));
  }
}
}  // namespace detail

/// Eigen's assignment loop, found by argument-dependent lookup: here, as at a kernel, the caller's rounding
/// mode and flush-to-zero end.
template <class Dst, class Src, class Functor>
requires detail::assigned_here<Dst, Src, Functor>
void call_dense_assignment_loop(Dst& dst, const Src& src, const Functor& functor) {
  const detail::float_environment environment;
  detail::assign_coefficients(dst, src, functor);
}

}  // namespace narrow
