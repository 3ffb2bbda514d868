// The formats that are measured, their names, and numbers to measure with.
#pragma once

#include <concepts>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <narrow/narrow.hpp>

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

/// The catalogue; what training uses is measured in more places than the rest.
using floating_formats = narrow::all_formats;
using training_formats = std::tuple<narrow::fp16, narrow::bf16, narrow::fp8_e4m3fn, narrow::fp8_e5m2>;
using fixed_formats = std::tuple<narrow::fixed<8, 4>, narrow::fixed<12, 6>, narrow::fixed<16, 8>>;
using wide_fixed_formats = std::tuple<narrow::fixed<24, 12>, narrow::fixed<32, 16>>;
using block_formats =
    std::tuple<narrow::int8, narrow::bfp<8>, narrow::bfp<8, narrow::tile<24, 24>>, narrow::bfp<12>,
               narrow::bfp<16>, narrow::mx<narrow::int8>, narrow::mx<narrow::fp8_e4m3fn>>;

/// The name of a row's format.
template <class T> std::string name_of() { return narrow::format_name<T>(); }

/// n numbers between -1 and 1.
inline std::vector<float> random_floats(std::size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<float> result(n);
  for (float& x : result) x = distribution(generator);
  return result;
}

}  // namespace narrow_bench
