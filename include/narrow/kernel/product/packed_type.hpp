// What the factors of a product are packed as: types that a multiplier takes, and the kernels for each.
#pragma once

#include <algorithm>

#include "../../accumulator.hpp"
#include "../../simd/dispatch.hpp"
#include "../convert/encoding.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// What a word holds: a float, the two bf16 that a number is the sum of, two bf16, two int16, four int8.
/// Floating and integer types each stand in the order in which they hold less.
enum class packed_type { none, fp32, two_bf16, bf16, int16, int8 };

/// The type that holds what is packed as P, and that is tried next where there is no kernel for P.
constexpr packed_type wider_type(packed_type p) {
  if (p == packed_type::bf16 || p == packed_type::two_bf16) return packed_type::fp32;
  return p == packed_type::int8 ? packed_type::int16 : packed_type::none;
}

/// The elements in a word, the lane that sums are added in, and where the kernels are: `panels`, and
/// `large_k` for sums that are long enough for them.
template <class Element, class Lane, auto Panels, auto LargeK> struct packed_as {
  using element = Element;
  using lane = Lane;
  static constexpr auto panels = Panels;
  static constexpr auto large_k = LargeK;
};
template <packed_type> struct packed_traits;
template <>
struct packed_traits<packed_type::fp32> : packed_as<float, float, &kernel_table::fp32, nullptr> {};
template <> struct packed_traits<packed_type::two_bf16> : packed_as<word, float, nullptr, nullptr> {};
template <>
struct packed_traits<packed_type::bf16>
    : packed_as<std::uint16_t, float, &kernel_table::bf16, &kernel_table::large_k_bf16> {};
template <>
struct packed_traits<packed_type::int16>
    : packed_as<std::int16_t, std::int32_t, &kernel_table::int16, &kernel_table::large_k_int16> {};
template <>
struct packed_traits<packed_type::int8>
    : packed_as<std::int8_t, std::int32_t, &kernel_table::int8, &kernel_table::large_k_int8> {};
template <packed_type P> using element_of = typename packed_traits<P>::element;
template <packed_type P> using lane_of = typename packed_traits<P>::lane;

/// How many elements a word holds: neighbours along the summed dimension, a k-pack.
template <packed_type P> inline constexpr index k_pack = sizeof(word) / sizeof(element_of<P>);

/// The k-packs that so many elements fill, the last one perhaps in part.
template <packed_type P> constexpr index packs_in(index depth) { return (depth + k_pack<P> - 1) / k_pack<P>; }

/// How many words of a right factor there are for each of the left one: of two bf16 every one is multiplied
/// by both.
template <packed_type P> inline constexpr index right_words = P == packed_type::two_bf16 ? 2 : 1;

/// The narrowest packed type that holds every T.
template <class T> constexpr packed_type narrowest() {
  if constexpr (narrow_fixed<T> || std::signed_integral<T>)
    return sizeof(T) == 1 ? packed_type::int8 : sizeof(T) == 2 ? packed_type::int16 : packed_type::none;
  else if constexpr (coded_as_bf16<T> || (narrow_float<T> && sizeof(T) == 1))
    return packed_type::bf16;
  else
    return std::same_as<detail::carried_t<T>, float> ? packed_type::fp32 : packed_type::none;
}

/// What sums of type Sum of products of A and B are best multiplied as: the narrowest type that holds both.
template <class Sum, class A, class B> constexpr packed_type best_type() {
  constexpr packed_type a = narrowest<A>(), b = narrowest<B>();
  if constexpr (std::same_as<Sum, float>)
    return a == packed_type::bf16 && b == packed_type::bf16 ? packed_type::bf16 : packed_type::fp32;
  else if constexpr (std::floating_point<Sum> || a == packed_type::none || b == packed_type::none)
    return packed_type::none;
  else
    return std::min(a, b);
}

/// Whether a finite T is the sum of two bf16, and no product of such is below 2^-126.
template <class T> constexpr bool splits_in_bf16() {
  if constexpr (!has_plain_sign<T> || sizeof(T) != 2)
    return false;
  else
    return T::layout::mantissa_bits < 16 && 2 * T::layout::min_quantum >= -126;
}
/// What panels are best packed as.
template <class Sum, class A, class B> constexpr packed_type best_panel_type() {
  constexpr packed_type best = best_type<Sum, A, B>();
  return best == packed_type::fp32 && splits_in_bf16<A>() && splits_in_bf16<B>() ? packed_type::two_bf16
                                                                                 : best;
}

/// use.operator()<P>() until it returns true, for the packed type First and the wider ones.
template <packed_type First, class Use> bool with_packed_type(const Use& use) {
  if constexpr (First == packed_type::none)
    return false;
  else
    return use.template operator()<First>() || with_packed_type<wider_type(First)>(use);
}

/// Whether an element of T is in memory what the multiplier takes.
template <packed_type P, class T>
inline constexpr bool is_element = sizeof(T) == sizeof(element_of<P>) &&
                                   (std::same_as<T, element_of<P>> ||
                                    (narrow_fixed<T> && P != packed_type::fp32) ||
                                    (coded_as_bf16<T> && P == packed_type::bf16));

}  // namespace narrow::kernel

NARROW_STRICT_END
