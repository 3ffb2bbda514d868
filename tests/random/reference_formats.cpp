// The formats of the random programs, as tests/oracle.hpp defines and rounds them.
#include <cmath>

#include <narrow/narrow.hpp>

#include "formats.hpp"
#include "oracle.hpp"
#include "reference.hpp"

namespace reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

oracle::datum datum_of(double x) {
  const auto kind = std::isnan(x)   ? oracle::kind::nan
                    : std::isinf(x) ? oracle::kind::infinite
                    : x == 0        ? oracle::kind::zero
                                    : oracle::kind::number;
  return {kind, std::signbit(x), kind == oracle::kind::number ? std::fabs(x) : 0};
}
double value_of(const oracle::datum& x) {
  const double magnitude = x.what == oracle::kind::nan        ? std::numeric_limits<double>::quiet_NaN()
                           : x.what == oracle::kind::infinite ? infinity
                                                              : static_cast<double>(x.magnitude);
  return x.negative ? -magnitude : magnitude;
}
number float_of(double x) { return exactly(static_cast<double>(static_cast<float>(x))); }

template <class S> struct floating_format {
  static double decode(std::uint64_t code) { return value_of(oracle::format_of<S>.decode(code)); }
  static number store(double x) {
    const auto& table = oracle::table_of<S>();
    const auto codes = oracle::encode<typename S::round_policy, typename S::overflow_policy>(
        table, oracle::rounded(table, datum_of(x)));
    return hull(exactly(decode(codes[0])), exactly(decode(codes[1])));
  }
  static format make(const char* name) {
    constexpr oracle::format f = oracle::format_of<S>;
    return {name,     false, true,  f.mantissa_bits + 1, std::ldexp(1, 1 - f.bias()), f.codes(),
            float_of, store, decode};
  }
};

/// Numbers of at most 16 bits: what operations on them give is exact in double, or further from a number of
/// the format and from the middle of two than a double's error.
template <class S> struct fixed_format {
  static double decode(std::uint64_t code) {
    const double unsigned_value = static_cast<double>(code), range = std::ldexp(1, S::word_length);
    return std::ldexp(unsigned_value < range / 2 ? unsigned_value : unsigned_value - range,
                      -S::fraction_length);
  }
  static double fitted(double mantissa) {
    const double range = std::ldexp(1, S::word_length);
    if (std::same_as<typename S::overflow_policy, narrow::overflow::wrap> && !std::isinf(mantissa))
      mantissa -= range * std::floor((mantissa + range / 2) / range);
    return std::ldexp(std::min(std::max(mantissa, -range / 2), range / 2 - 1), -S::fraction_length);
  }
  static number store(double x) {
    if (std::isnan(x)) return exactly(0);
    const double scaled = std::ldexp(std::fabs(x), S::fraction_length), whole = std::floor(scaled);
    const double sign = x < 0 ? -1 : 1, rest = scaled - whole;
    if (std::isinf(x) || rest == 0) return exactly(fitted(sign * scaled) + 0.0);
    const auto where = rest < 0.5   ? oracle::position::low_half
                       : rest > 0.5 ? oracle::position::high_half
                                    : oracle::position::middle;
    const auto chosen = [&] {
      if constexpr (std::same_as<typename S::round_policy, narrow::rounding::stochastic>)
        return oracle::neighbour::either;
      else
        return oracle::choose(typename S::round_policy{}, where, x < 0, std::fmod(whole, 2) == 0);
    }();
    const double low = fitted(sign * whole) + 0.0, high = fitted(sign * (whole + 1)) + 0.0;
    return chosen == oracle::neighbour::lower   ? exactly(low)
           : chosen == oracle::neighbour::upper ? exactly(high)
                                                : hull(exactly(low), exactly(high));
  }
  static format make(const char* name) {
    return {name,           true,  std::same_as<typename S::overflow_policy, narrow::overflow::saturate>,
            S::word_length, 0,     std::uint64_t{1} << S::word_length,
            store,          store, decode};
  }
};

template <class S> format made(const char* name) {
  if constexpr (narrow::narrow_fixed<S>)
    return fixed_format<S>::make(name);
  else
    return floating_format<S>::make(name);
}

}  // namespace

template <> const format& format_of<float>() {
  static const format result{"float", false, true, 24, 0x1p-126, 0, float_of, float_of, nullptr};
  return result;
}
const format& format_of_conditions() {
  static const format result{"bool", false, true, 1, 0, 2, exactly, exactly, nullptr};
  return result;
}
#define NARROW_FORMAT(...)                                        \
  template <> const format& format_of<__VA_ARGS__>() {            \
    static const format result = made<__VA_ARGS__>(#__VA_ARGS__); \
    return result;                                                \
  }
NARROW_RANDOM_FORMATS(NARROW_FORMAT)
#undef NARROW_FORMAT

}  // namespace reference
