// What Eigen's functors of floats are where expressions are computed in pieces, by Eigen's packets: the same
// for each number as one by one, whatever the program is compiled for.
#pragma once

#include "wide_functors.hpp"

namespace narrow::inline NARROW_ABI::detail {

template <class Op, template <class, class> class... Functors>
inline constexpr bool is_float_operation = (std::same_as<Op, Functors<float, float>> || ...);
template <class Op, template <class> class... Functors>
inline constexpr bool is_float_function = (std::same_as<Op, Functors<float>> || ...);

template <class Op> inline constexpr bool compares_floats = false;
template <Eigen::internal::ComparisonName Comparison>
inline constexpr bool compares_floats<Eigen::internal::scalar_cmp_op<float, float, Comparison>> = true;

/// Operations that give the same in a packet of floats as one by one.
template <class Op>
inline constexpr bool exact_in_packets =
    compares_floats<Op> ||
    is_float_operation<Op, Eigen::internal::scalar_sum_op, Eigen::internal::scalar_difference_op,
                       Eigen::internal::scalar_quotient_op> ||
    is_float_function<Op, Eigen::internal::scalar_opposite_op, Eigen::internal::scalar_abs_op>;
// Of a NaN and a number the instructions of AArch64 keep the NaN, Eigen's scalar code the second one.
#if !defined(__aarch64__)
template <int NaNs>
inline constexpr bool exact_in_packets<Eigen::internal::scalar_max_op<float, float, NaNs>> = true;
template <int NaNs>
inline constexpr bool exact_in_packets<Eigen::internal::scalar_min_op<float, float, NaNs>> = true;
#endif

template <class Op> struct without_packets {
  template <class... Float> float operator()(const Float&... x) const { return Op{}(x...); }
};

// Where the processor has an instruction for it, a compiler may fuse a product with the sum that it is a term
// of: g++ does, unless it is told not to.
#if defined(__SSE__) || defined(__aarch64__)
inline constexpr bool has_packets = true;
template <class Packet> Packet unfused(Packet product) {
  asm("" : NARROW_FLOAT_OPERAND(product));
  return product;
}
#else
inline constexpr bool has_packets = false;
inline float unfused(float product) { return opaque(product); }
#endif
struct unfused_product {
  float operator()(float a, float b) const { return unfused(a * b); }
  template <class Packet> Packet packetOp(const Packet& a, const Packet& b) const {
    return unfused(Eigen::internal::pmul(a, b));
  }
};
struct unfused_square {
  float operator()(float a) const { return unfused(a * a); }
  template <class Packet> Packet packetOp(const Packet& a) const {
    return unfused(Eigen::internal::pmul(a, a));
  }
};

/// What computes in place of a functor of floats.
template <class Op> struct functor_in_pieces {
  using type = std::conditional_t<exact_in_packets<Op>, Op, without_packets<Op>>;
};
template <> struct functor_in_pieces<Eigen::internal::scalar_product_op<float, float>> {
  using type = unfused_product;
};
template <> struct functor_in_pieces<Eigen::internal::scalar_square_op<float>> {
  using type = unfused_square;
};
template <> struct functor_in_pieces<Eigen::internal::scalar_abs2_op<float>> { using type = unfused_square; };

}  // namespace narrow::detail

namespace Eigen::internal {
template <> struct functor_traits<narrow::detail::unfused_product> {
  enum { Cost = int(NumTraits<float>::MulCost), PacketAccess = narrow::detail::has_packets };
};
template <>
struct functor_traits<narrow::detail::unfused_square> : functor_traits<narrow::detail::unfused_product> {};
}  // namespace Eigen::internal
