// Arrays from one format to another under every rounding mode.
#pragma once

#include "bits.hpp"

namespace bits {

/// Numbers of every kind, not a multiple of any vector's length, or all of a format's codes where they are
/// few.
template <class From> std::vector<From> to_convert() {
  std::vector<From> result;
  if constexpr (narrow::narrow_scalar<From>) {
    using code = decltype(From{}.bits());
    if constexpr (sizeof(From) == 1)
      for (unsigned i = 0; i < 256; ++i) result.push_back(From::from_bits(static_cast<code>(i)));
    generator random(5);
    if constexpr (sizeof(From) > 1)
      for (int i = 0; i < 1500; ++i) result.push_back(From::from_bits(static_cast<code>(random())));
  }
  for (const kind of : all_kinds) {
    const auto some = array<From>(333, of, 11 + static_cast<std::uint64_t>(of));
    result.insert(result.end(), some.begin(), some.end());
  }
  return result;
}

template <class From, class To, class Round> void convert_by(const std::vector<From>& from) {
  report("convert", name<From>() + "->" + name<To>() + "/by_" + name<Round>(), [&](digest& hash) {
    std::vector<To> to(from.size());
    narrow::convert(from, to, policy<Round>());
    // From a place that is not aligned, in another length.
    const auto part = std::span(from).subspan(1, from.size() / 2);
    narrow::convert(part, std::span(to).subspan(to.size() - part.size()), policy<Round>());
    // It is the processor that makes a float a double, and not all keep what a NaN carries.
    if constexpr (std::same_as<To, double>)
      hash.values(to);
    else
      hash.all_bits(to);
  });
}

template <class From, class To> void convert_by_all() {
  const auto from = to_convert<From>();
  for_each_type<test::rounding_modes>([&]<class Round>() { convert_by<From, To, Round>(from); });
}

/// Each pair of formats by some of the modes, which take turns: all of them, where NARROW_BITS_EVERY_MODE is
/// defined, take three times as long to compile.
template <class From> void convert_to_all() {
#if defined(NARROW_BITS_EVERY_MODE)
  for_each_type<scalars>([]<class To>() { convert_by_all<From, To>(); });
#else
  const auto from = to_convert<From>();
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    constexpr std::size_t modes = std::tuple_size_v<test::rounding_modes>;
    constexpr auto turn = static_cast<std::size_t>(std::numeric_limits<From>::digits);
    (convert_by<From, std::tuple_element_t<I, scalars>, narrow::rounding::nearest_even>(from), ...);
    (convert_by<From, std::tuple_element_t<I, scalars>,
                std::tuple_element_t<1 + (turn + I) % (modes - 1), test::rounding_modes>>(from),
     ...);
  }
  (std::make_index_sequence<std::tuple_size_v<scalars>>{});
#endif
}

/// To built-in types, which have one rounding.
template <class From> void convert_to_builtin() {
  const auto from = to_convert<From>();
  for_each_type<std::tuple<float, double, std::int8_t, std::int32_t, std::uint64_t>>(
      [&]<class To>() { convert_by<From, To, narrow::rounding::nearest_even>(from); });
}

}  // namespace bits
