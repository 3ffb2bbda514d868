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

/// fp16, bf16, fp8_e4m3fn, fixed<8,4>, ...: as the type is called.
template <narrow::narrow_scalar T> std::string name_of() {
  if constexpr (narrow::narrow_fixed<T>) {
    return "fixed<" + std::to_string(T::word_length) + "," + std::to_string(T::fraction_length) + ">";
  } else if constexpr (std::same_as<T, narrow::fp16>) {
    return "fp16";
  } else if constexpr (std::same_as<T, narrow::bf16>) {
    return "bf16";
  } else {
    using layout = typename T::layout;
    constexpr bool unmarked = layout::has_infinity || !layout::has_nan;
    return "fp" + std::to_string(1 + layout::exponent_bits + layout::mantissa_bits) + "_e" +
           std::to_string(layout::exponent_bits) + "m" + std::to_string(layout::mantissa_bits) +
           (unmarked                    ? ""
            : layout::has_negative_zero ? "fn"
                                        : "fnuz");
  }
}

template <class T> struct block_name {};
template <class Block, class Round> struct block_name<narrow::basic_int8<Block, Round>> {
  static std::string format() { return "int8"; }
};
template <int M, class Block, class Round, class Exponent>
struct block_name<narrow::bfp<M, Block, Round, Exponent>> {
  static std::string format() { return "bfp<" + std::to_string(M) + ">"; }
};
template <class Element, class Block, class Round> struct block_name<narrow::mx<Element, Block, Round>> {
  static std::string format() {
    if constexpr (narrow::narrow_scalar<Element>)
      return "mx<" + name_of<Element>() + ">";
    else
      return "mx<int8>";
  }
};

/// int8, bfp<8>, ...; of tiles their size, too.
template <narrow::block_format T> std::string name_of() {
  const std::string format = block_name<T>::format();
  if constexpr (std::same_as<typename T::block_type, narrow::tile<24, 24>>)
    return format + " 24x24";
  else
    return format;
}

/// n numbers between -1 and 1.
inline std::vector<float> random_floats(std::size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<float> result(n);
  for (float& x : result) x = distribution(generator);
  return result;
}

}  // namespace narrow_bench
