// How `=`, `+=`, ... store one coefficient in a narrow matrix: combined with the one that is there in the
// wider type, then rounded once. Eigen's functors for this are in Core/functors/AssignmentFunctors.h.
#pragma once

#include "../scalar.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// Stores a coefficient that may be wider than the type which the expression names.
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

  template <class Value> void assignCoeff(To& to, const Value& value) const {
    assign(to, value, round_policy{});
  }
  template <class Value, class Round> static void assign(To& to, const Value& value, const Round& round) {
    store(to, Combine::combine(to, value), round);
  }
};

template <class Functor>
concept assigns_narrow = requires {
  typename Functor::round_policy;
};

/// The operation on floats that an assignment applies to the destination and the source: void where it takes
/// the source as it is, no type where it is not known.
template <class Functor> struct combination {};
template <assigns_narrow Functor> struct combination<Functor> : combination<typename Functor::combined> {};

template <class, class> using source_alone = void;

}  // namespace narrow::detail

#define NARROW_ASSIGN_FUNCTOR(functor, Combine, float_operation)                                             \
  template <class To, class From>                                                                            \
  requires(narrow::narrow_scalar<To> ||                                                                      \
           narrow::narrow_scalar<From>) struct Eigen::internal::functor<To, From>                            \
      : narrow::detail::assign_functor<narrow::detail::Combine, To> {};                                      \
  template <class To, class From>                                                                            \
  requires(narrow::narrow_scalar<To> || narrow::narrow_scalar<From>) struct Eigen::internal::functor_traits< \
      Eigen::internal::functor<To, From>> {                                                                  \
    enum {                                                                                                   \
      Cost = int(Eigen::NumTraits<To>::ReadCost) + int(Eigen::NumTraits<To>::AddCost),                       \
      PacketAccess = false                                                                                   \
    };                                                                                                       \
  };                                                                                                         \
  template <> struct narrow::detail::combination<narrow::detail::Combine> {                                  \
    using type = float_operation<float, float>;                                                              \
  };                                                                                                         \
  template <> struct narrow::detail::combination<Eigen::internal::functor<float, float>> {                   \
    using type = float_operation<float, float>;                                                              \
  };
NARROW_ASSIGN_FUNCTOR(assign_op, set_value, source_alone)
NARROW_ASSIGN_FUNCTOR(add_assign_op, combine_with<narrow::detail::plus>, Eigen::internal::scalar_sum_op)
NARROW_ASSIGN_FUNCTOR(sub_assign_op, combine_with<narrow::detail::minus>,
                      Eigen::internal::scalar_difference_op)
NARROW_ASSIGN_FUNCTOR(mul_assign_op, combine_with<narrow::detail::times>, Eigen::internal::scalar_product_op)
NARROW_ASSIGN_FUNCTOR(div_assign_op, combine_with<narrow::detail::over>, Eigen::internal::scalar_quotient_op)
#undef NARROW_ASSIGN_FUNCTOR
