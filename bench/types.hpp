// Lists of types.
#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>

namespace narrow_bench {

/// Calls f.operator()<T>() for each T of a tuple.
template <class Tuple, class F> void for_each_type(F f) {
  [&]<class... T>(std::type_identity<std::tuple<T...>>) {
    (f.template operator()<T>(), ...);
  }(std::type_identity<Tuple>{});
}

template <class T, class Tuple> inline constexpr bool is_among = false;
template <class T, class... Ts>
inline constexpr bool is_among<T, std::tuple<Ts...>> = (std::same_as<T, Ts> || ...);

}  // namespace narrow_bench
