// The rounding modes and overflow rules that the tests run over, and the formats that carry them as their
// policy.
#pragma once

#include <tuple>
#include <utility>

#include <narrow/narrow.hpp>

#include "exhaustive.hpp"

namespace test {

using rounding_modes =
    std::tuple<narrow::rounding::nearest_even, narrow::rounding::nearest_away, narrow::rounding::toward_zero,
               narrow::rounding::upward, narrow::rounding::downward, narrow::rounding::to_odd,
               narrow::rounding::stochastic>;
using floating_overflows = std::tuple<narrow::overflow::ieee, narrow::overflow::saturate>;
using fixed_overflows = std::tuple<narrow::overflow::saturate, narrow::overflow::wrap>;

/// The floating formats of the tests, of which some stand for all: those of 16 bits, and one without
/// infinities.
using floating_formats = some_of<narrow::all_formats, 0, 1, 3>;
/// The fixed formats of the tests: the extremes of both lengths, and each storage size from both sides.
using fixed_formats =
    some_of<std::tuple<narrow::fixed<2, 0>, narrow::fixed<8, 4>, narrow::fixed<8, 7>, narrow::fixed<12, 6>,
                       narrow::fixed<16, 8>, narrow::fixed<24, 12>, narrow::fixed<25, 3>,
                       narrow::fixed<28, 14>, narrow::fixed<32, 16>, narrow::fixed<32, 31>>,
            1, 4, 8>;
using scalar_formats = decltype(std::tuple_cat(floating_formats{}, fixed_formats{}));

/// The same format under other policies.
template <class T, class Round, class Overflow> struct rebind;
template <int E, int M, narrow::specials S, class R, class O, class Round, class Overflow>
struct rebind<narrow::floating<E, M, S, R, O>, Round, Overflow> {
  using type = narrow::floating<E, M, S, Round, Overflow>;
};
template <int WL, int FL, class R, class O, class Round, class Overflow>
struct rebind<narrow::fixed<WL, FL, R, O>, Round, Overflow> {
  using type = narrow::fixed<WL, FL, Round, Overflow>;
};
template <class T, class Round, class Overflow>
using with_policies = typename rebind<T, Round, Overflow>::type;

/// The overflow rules that T can have.
template <class T>
using overflows_of = std::conditional_t<narrow::narrow_float<T>, floating_overflows, fixed_overflows>;

/// The built-in types that T is mixed with in the tests: all of them for one format, of fixed-point ones only
/// in the exhaustive tests, else each size; for the others one of each word that the library computes in.
using builtin_types =
    std::tuple<bool, char, signed char, unsigned char, short, unsigned short, int, unsigned, long,
               unsigned long, long long, unsigned long long, float, double, long double>;
template <class T>
using mixed_with =
    std::conditional_t<std::same_as<T, narrow::fp16>, builtin_types,
                       std::conditional_t<std::same_as<T, narrow::fixed<32, 16>>,
                                          some_of<builtin_types, 0, 1, 5, 6, 9, 12, 13, 14>,
                                          std::tuple<int, unsigned long, float, double, long double>>>;

/// Calls f.operator()<Type>() for each type of a std::tuple.
template <class List, class F> void for_each_type(F&& f) {
  [&]<class... Types>(std::type_identity<std::tuple<Types...>>) {
    (f.template operator()<Types>(), ...);
  }(std::type_identity<List>{});
}

/// Calls f.operator()<U>() for T under every rounding mode and every overflow rule.
template <class T, class F> void for_each_policy(F&& f) {
  for_each_type<rounding_modes>([&]<class Round>() {
    for_each_type<overflows_of<T>>(
        [&]<class Overflow>() { f.template operator()<with_policies<T, Round, Overflow>>(); });
  });
}
template <class T>
inline constexpr std::uint64_t policy_count =
    std::tuple_size_v<rounding_modes>* std::tuple_size_v<overflows_of<T>>;

}  // namespace test
