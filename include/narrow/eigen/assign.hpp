// How `=`, `+=`, ... store coefficients in narrow matrices: rounded once, in an environment of their own.
#pragma once

#include "staging.hpp"

namespace narrow::inline NARROW_ABI::detail {

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
  using combined = Combine;
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

}  // namespace narrow::inline NARROW_ABI::detail

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

namespace narrow::inline NARROW_ABI {

namespace detail {
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

/// What an assignment computes of two floats, those in the destination and in the source: void where it takes
/// the source as it is. No type where it is not known.
template <class Functor> struct combination {};
template <assigns_narrow Functor> struct combination<Functor> : combination<typename Functor::combined> {};
template <> struct combination<set_value> { using type = void; };
template <> struct combination<Eigen::internal::assign_op<float, float>> { using type = void; };
#define NARROW_COMBINATION(operation, functor, op)                                            \
  template <> struct combination<combine_with<operation>> { using type = op<float, float>; }; \
  template <> struct combination<functor<float, float>> { using type = op<float, float>; };
NARROW_COMBINATION(plus, Eigen::internal::add_assign_op, Eigen::internal::scalar_sum_op)
NARROW_COMBINATION(minus, Eigen::internal::sub_assign_op, Eigen::internal::scalar_difference_op)
NARROW_COMBINATION(times, Eigen::internal::mul_assign_op, Eigen::internal::scalar_product_op)
NARROW_COMBINATION(over, Eigen::internal::div_assign_op, Eigen::internal::scalar_quotient_op)
#undef NARROW_COMBINATION

template <class Dst, class Src, class Functor>
concept assigns_in_pieces = requires {
  typename combination<Functor>::type;
}
&&stored_in_pieces<typename combination<Functor>::type, Dst, uncast<typename Dst::Scalar, Src>>;

template <class Dst, class Src, class Functor>
concept assigned_here = assigns_drawn<Dst, Functor> || assigns_computed<Dst, Src, Functor> ||
    assigns_in_pieces<Dst, Src, Functor>;

/// Out of line, so that nothing of it is computed outside the environment that the caller has set. In a
/// destination that rounds stochastically one ticket serves the whole assignment, and each coefficient takes
/// the draw of its row-major index, whatever the storage order.
template <class Dst, class Src, class Functor>
NARROW_KERNEL void assign_coefficients(Dst& dst, const Src& src, const Functor& functor) {
  using To = typename Dst::Scalar;
  const auto& values = without_cast_to<To>(src);
  const auto in_pieces = [&](const auto& round) {
    if constexpr (assigns_in_pieces<Dst, Src, Functor>)
      return assign_in_pieces<typename combination<Functor>::type>(dst, values, round);
    else
      return false;
  };
  using round_policy = typename policy_of<To>::type;
  if constexpr (assigns_drawn<Dst, Functor>) {
    Eigen::internal::evaluator<std::remove_cvref_t<decltype(values)>> from(values);
    Eigen::internal::resize_if_allowed(dst, src, functor);
    const round_policy round{};
    if (in_pieces(round)) return;
    Eigen::internal::evaluator<Dst> to(dst);
    const Eigen::Index rows = dst.rows(), cols = dst.cols();
    for (Eigen::Index i = 0; i < rows; ++i)
      for (Eigen::Index j = 0; j < cols; ++j)
        Functor::assign(to.coeffRef(i, j), from.coeff(i, j),
                        round.at(static_cast<std::uint64_t>(i * cols + j)));
  } else {
    if constexpr (assigns_in_pieces<Dst, Src, Functor>) Eigen::internal::resize_if_allowed(dst, src, functor);
    if (!in_pieces(round_policy{})) Eigen::internal::call_dense_assignment_loop(dst, src, functor);
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

}  // namespace narrow::inline NARROW_ABI
