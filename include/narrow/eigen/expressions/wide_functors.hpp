// Eigen's functors on wide numbers: for an operation on narrow floats, the same operation on floats.
#pragma once

#include "../../kernel/elementwise.hpp"
#include "../scalar.hpp"

namespace Eigen::internal {
/// Found by argument-dependent lookup for the functors of this namespace, which are Eigen's own.
template <class Functor> void narrow_knows_functor(const Functor&);
}  // namespace Eigen::internal

namespace narrow::inline NARROW_ABI::detail {

template <class Functor>
concept functor_of_eigen = std::is_empty_v<Functor> && requires(const Functor& functor) {
  narrow_knows_functor(functor);
};

/// The operation of a functor on wide numbers, where the functor is a stateless template of Eigen over scalar
/// types; void otherwise.
template <class Functor> struct wide_functor { using type = void; };

template <class T>
concept float_or_rounded_to = narrow_float<T> || std::same_as<T, float> || std::same_as<T, literal>;

template <class... T> using wide_among = std::conditional_t<(std::same_as<T, double> || ...), double, float>;

template <class T, class Wide>
using replaced =
    std::conditional_t<narrow_float<T> || std::same_as<T, literal> || std::same_as<T, float>, Wide, T>;

template <template <class...> class Functor, class... T>
requires(functor_of_eigen<Functor<T...>> && !(is_complex<T> || ...)) struct wide_functor<Functor<T...>> {
  using type = Functor<replaced<T, wide_among<T...>>...>;
};
// scalar_min_op and scalar_max_op, which also say how NaNs propagate.
template <template <class, class, int> class Functor, class A, class B, int NaNs>
requires functor_of_eigen<Functor<A, B, NaNs>>
struct wide_functor<Functor<A, B, NaNs>> {
  using wide = wide_among<A, B>;
  using type = Functor<replaced<A, wide>, replaced<B, wide>, NaNs>;
};
template <class A, class B, Eigen::internal::ComparisonName Comparison>
struct wide_functor<Eigen::internal::scalar_cmp_op<A, B, Comparison>> {
  using wide = wide_among<A, B>;
  using type = Eigen::internal::scalar_cmp_op<replaced<A, wide>, replaced<B, wide>, Comparison>;
};
#if !EIGEN_VERSION_AT_LEAST(4, 0, 0)
// `cwiseEqual` and `cwiseNotEqual`.
template <narrow_float T> struct wide_functor<Eigen::numext::equal_to<T>> {
  using type = Eigen::internal::scalar_cmp_op<float, float, Eigen::internal::cmp_EQ>;
};
template <narrow_float T> struct wide_functor<Eigen::numext::not_equal_to<T>> {
  using type = Eigen::internal::scalar_cmp_op<float, float, Eigen::internal::cmp_NEQ>;
};
template <> struct wide_functor<Eigen::internal::scalar_boolean_and_op> {
  using type = Eigen::internal::scalar_boolean_and_op;
};
template <> struct wide_functor<Eigen::internal::scalar_boolean_or_op> {
  using type = Eigen::internal::scalar_boolean_or_op;
};
template <float_or_rounded_to T> struct wide_functor<Eigen::internal::scalar_sign_op<T, false, false>> {
  using type = Eigen::internal::scalar_sign_op<float>;
};
#endif
// In Eigen 5.0 squaredNorm() (Core/Dot.h) has a functor of its own, which derives from scalar_abs2_op.
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

/// A function as the nearest float, which is the same however it is computed.
template <class Function> struct rounded_function {
  float operator()(float x) const { return kernel::function_of<Function>(x); }
};
/// A function as a float that is rounded to the same number of a format as the exact value: none of the
/// format's ties, which have Bits significant bits, lies between the two. That is the C library's float,
/// unless it lies within its error of such a tie.
template <class Function, int Bits> struct function_before_rounding {
  float operator()(float x) const {
    constexpr int error = 8;  // more units in the last place than the functions of floats in use err by
    const auto y = static_cast<float>(Function::of(x));
    const bool is_decided =
        is_far_from_ties<Bits>(y, error) || binary32::is_nan(std::bit_cast<std::uint32_t>(y));
    return is_decided ? y : kernel::function_of<Function, rounding::to_odd>(x);
  }
};
/// The same of a format that is rounded to otherwise than to nearest even, where more than the side of ties
/// counts: in lanes a small number may be zero, or 1 what is next to it.
template <class Function, int Bits>
struct function_before_other_rounding : function_before_rounding<Function, Bits> {};

/// The function that a functor of Eigen is; void for others. As an operation among others it is computed as
/// rounded_function where there are vectors for it, elsewhere by Eigen, in float.
template <class Functor> struct function_of_functor { using type = void; };
/// The same of a functor on fixed-point numbers, and their type.
template <class Functor> struct fixed_function { using type = void; };
#define NARROW_FUNCTION(function)                                                                           \
  template <float_or_rounded_to T>                                                                          \
  requires kernel::has_lanes<functions::function>                                                           \
  struct wide_functor<Eigen::internal::scalar_##function##_op<T>> {                                         \
    using type = rounded_function<functions::function>;                                                     \
  };                                                                                                        \
  template <float_or_rounded_to T> struct function_of_functor<Eigen::internal::scalar_##function##_op<T>> { \
    using type = functions::function;                                                                       \
  };                                                                                                        \
  template <narrow_fixed T> struct fixed_function<Eigen::internal::scalar_##function##_op<T>> {             \
    using type = functions::function;                                                                       \
    using number = T;                                                                                       \
  };
NARROW_ELEMENTARY_FUNCTIONS(NARROW_FUNCTION)
NARROW_FUNCTION(erf)
NARROW_FUNCTION(erfc)
#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
NARROW_FUNCTION(exp2)
NARROW_FUNCTION(cbrt)
#endif
#undef NARROW_FUNCTION

/// A functor of a function that Eigen has not, or has only in its unsupported modules.
template <class Function, class T> struct function_functor {
  T operator()(const T& x) const {
    if constexpr (std::same_as<T, float>)
      return kernel::function_of<Function>(x);
    else
      return function_of<Function>(x);
  }
};
template <class Function, float_or_rounded_to T> struct wide_functor<function_functor<Function, T>> {
  using type = rounded_function<Function>;
};
template <class Function, float_or_rounded_to T> struct function_of_functor<function_functor<Function, T>> {
  using type = Function;
};
template <class Function, narrow_fixed T> struct wide_functor<function_functor<Function, T>> {
  using type = function_functor<Function, T>;
};
template <class Function, narrow_fixed T> struct fixed_function<function_functor<Function, T>> {
  using type = Function;
  using number = T;
};

/// A function whose results are only rounded, to a format where numbers half-way between two have so many
/// significant bits: once, as those of numbers are. Before: one of the above, what it is as a float.
template <class Function, int Bits, class T, template <class, int> class Before> struct last_function {
  T operator()(const T& x) const {
    if constexpr (std::same_as<T, float>)
      return Before<Function, Bits>()(x);
    else
      return function_of<Function>(x);
  }
};
template <class Function, int Bits, float_or_rounded_to T, template <class, int> class Before>
struct wide_functor<last_function<Function, Bits, T, Before>> {
  using type = Before<Function, Bits>;
};

#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
template <class From, class To>
struct wide_functor<Eigen::internal::core_cast_op<From, To>>
    : wide_functor<Eigen::internal::scalar_cast_op<From, To>> {};

/// `x.array().pow(exponent)`, which Eigen 5 (Core/functors/UnaryFunctors.h) would compute with
/// multiplications of narrow numbers.
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

/// A number as it was computed: the flags of the program that this is compiled in may ask for products to be
/// fused with the sums that they are terms of.
template <class T> T as_computed(const T& x) {
  if constexpr (std::same_as<T, float> || std::same_as<T, double>)
    return opaque(x);
  else
    return x;
}
/// functor(x...) on coefficients that may be wider than the Scalars that the expression names.
template <class... Scalars, class Functor, class... T>
auto apply_wide(const Functor& functor, const T&... x) {
  using wide = typename wide_functor<Functor>::type;
  if constexpr (std::is_void_v<wide>)
    return functor(convert_coefficient<Scalars>(x)...);
  else if constexpr (std::same_as<wide, Functor>)
    return as_computed(functor(convert_coefficient<replaced<Scalars, wide_among<Scalars...>>>(x)...));
  else
    return as_computed(wide{}(convert_coefficient<replaced<Scalars, wide_among<Scalars...>>>(x)...));
}

}  // namespace narrow::detail

namespace Eigen::internal {
template <class Function, int Bits, class T, template <class, int> class Before>
struct functor_traits<narrow::detail::last_function<Function, Bits, T, Before>> {
  enum { Cost = 50 * NumTraits<T>::AddCost, PacketAccess = false };
};
template <class Function, class T> struct functor_traits<narrow::detail::function_functor<Function, T>> {
  enum { Cost = 50 * NumTraits<T>::AddCost, PacketAccess = false };
};

// Functions that Eigen composes of others, which would round in between.
template <narrow::narrow_fixed T>
struct scalar_log2_op<T> : narrow::detail::function_functor<narrow::detail::functions::log2, T> {};
template <narrow::narrow_fixed T>
struct scalar_rsqrt_op<T> : narrow::detail::function_functor<narrow::detail::functions::rsqrt, T> {};
template <narrow::narrow_fixed T>
struct scalar_logistic_op<T> : narrow::detail::function_functor<narrow::detail::functions::logistic, T> {};

// `x.erf()` and `x.erfc()`, for which other scalars need <unsupported/Eigen/SpecialFunctions>.
template <narrow::narrow_scalar T>
struct scalar_erf_op<T> : narrow::detail::function_functor<narrow::detail::functions::erf, T> {};
template <narrow::narrow_scalar T>
struct scalar_erfc_op<T> : narrow::detail::function_functor<narrow::detail::functions::erfc, T> {};
template <narrow::narrow_scalar T>
struct functor_traits<scalar_erf_op<T>>
    : functor_traits<narrow::detail::function_functor<narrow::detail::functions::erf, T>> {};
template <narrow::narrow_scalar T>
struct functor_traits<scalar_erfc_op<T>>
    : functor_traits<narrow::detail::function_functor<narrow::detail::functions::erfc, T>> {};
}  // namespace Eigen::internal

#if EIGEN_VERSION_AT_LEAST(4, 0, 0)
namespace Eigen::internal {
template <narrow::narrow_float T, class Exponent>
struct scalar_unary_pow_op<T, Exponent, false, false, false, false> : narrow::detail::power<T, Exponent> {
  using narrow::detail::power<T, Exponent>::power;
};
template <narrow::narrow_float T, class Exponent, bool IntegerBase>
struct scalar_unary_pow_op<T, Exponent, IntegerBase, true, false, false>
    : narrow::detail::power<T, Exponent> {
  using narrow::detail::power<T, Exponent>::power;
};
}  // namespace Eigen::internal
#endif
