// What the units that compute results have in common.
#pragma once

#include <narrow/narrow.hpp>

#include <bit>
#include <tuple>
#include <type_traits>

#include "results.hpp"

namespace odr {

/// Calls f.operator()<T>(name) for each T of a tuple.
template <class Tuple, class F> void for_each_type(const std::string& prefix, F f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (f.template operator()<std::tuple_element_t<I, Tuple>>(prefix + std::to_string(I)), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<Tuple>>{});
}

template <narrow::narrow_scalar T> auto as_unsigned(T x) {
  return static_cast<std::make_unsigned_t<typename T::bits_type>>(x.bits());
}

class recorder {
 public:
  template <class F> void operator()(const std::string& name, F compute) {
    hash h;
    compute(h);
    results_.push_back({name, h.value()});
  }
  odr::results results() && { return std::move(results_); }

 private:
  odr::results results_;
};

// Results of sums and products. All NaNs count as one: which of two a float addition hands on, and so its
// sign, is the compiler's choice.
inline void add(hash& h, float x) {
  h.add(narrow::detail::is_nan(x) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(x));
}
inline void add(hash& h, double x) { h.add(std::bit_cast<std::uint64_t>(x)); }
template <narrow::narrow_scalar T> void add(hash& h, T x) {
  h.add(isnan(x) ? ~std::uint64_t{0} : std::uint64_t{as_unsigned(x)});
}
template <class Word, int FractionLength> void add(hash& h, narrow::fixed_sum<Word, FractionLength> sum) {
  h.add(static_cast<std::uint64_t>(sum.mantissa()));
  h.add(static_cast<std::uint64_t>(sum.mantissa() >> (4 * sizeof(Word)) >> (4 * sizeof(Word) - 1)));
  add(h, static_cast<double>(sum));
}

/// `count` finite numbers, subnormals among them.
template <class T> std::vector<T> finite(std::size_t count, std::uint64_t skip) {
  std::vector<T> result;
  words random;
  for (; skip > 0; --skip) random.next();
  while (result.size() < count) {
    T x{};
    if constexpr (narrow::narrow_scalar<T>)
      x = T::from_bits(static_cast<typename T::bits_type>(random.next()));
    else  // between 2^-140 and 2^20
      x = std::bit_cast<float>(static_cast<std::uint32_t>(random.next() % ((20u + 127) << 23)));
    if constexpr (narrow::narrow_float<T>)
      if (!isfinite(x)) continue;
    result.push_back(x);
  }
  return result;
}

}  // namespace odr
