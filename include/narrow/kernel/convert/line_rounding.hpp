// How the elements of a line are rounded, one at a time, in plain C++: what the kernels of every instruction
// set give, too.
#pragma once

#include "../../format/operators.hpp"
#include "../../runtime/environment.hpp"
#include "../../simd/dispatch.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel::portable {

// An integer from a quotient of magnitude at most 2^31: the same as round_to_multiple, which the last one
// calls.

inline std::int32_t to_integer(double quotient, const rounding::nearest_even&) {
  constexpr double whole = 0x1.8p52;  // numbers of this size are integers
  return static_cast<std::int32_t>((quotient + whole) - whole);
}

inline std::int32_t to_integer(double quotient, const rounding::toward_zero&) {
  return static_cast<std::int32_t>(quotient);
}

template <rounding_policy Round> std::int32_t to_integer(double quotient, const Round& round) {
  const auto x = detail::unpack(quotient);
  if (x.what == detail::kind::zero) return 0;
  const auto magnitude = static_cast<std::int64_t>(detail::round_to_multiple(x, 0, round));
  return static_cast<std::int32_t>(x.of == sign::negative ? -magnitude : magnitude);
}

/// The ends of what an element can be; what is beyond saturates.
struct element_range {
  double lowest, highest;
  double clamp(double x) const {
    x = x < highest ? x : highest;
    return x > lowest ? x : lowest;
  }
};

/// An element from a quotient: an integer in `range`, or the code of a narrow number in it.
template <std::signed_integral Element, class Round>
Element to_element(double quotient, const element_range& range, const Round& round) {
  return static_cast<Element>(to_integer(range.clamp(quotient), round));
}
template <narrow_scalar Element, class Round>
Element to_element(double quotient, const element_range& range, const Round& round) {
  return narrow_cast<Element>(range.clamp(quotient), round, overflow::saturate{});
}

/// How the elements of one line are rounded: number i under the index first + i step, if the policy asks.
template <class Round> struct line_rounding {
  const Round& round;
  std::uint64_t first, step;
  line_rounding(const Round& policy, std::uint64_t first_index, std::uint64_t index_step, index)
      : round(policy), first(first_index), step(index_step) {}

  /// Tells a kernel the draws; false if no kernel knows the policy.
  bool describe(element_draws&) const { return !detail::draws_per_element<Round>; }
  template <class Element> Element element(double quotient, const element_range& range, index i) const {
    return to_element<Element>(quotient, range,
                               at_element(round, first + static_cast<std::uint64_t>(i) * step));
  }
};

/// Stochastic: the first 32 bits of the fraction plus 32 random ones carry or not. The draws share a key
/// unless the indices pass a multiple of 2^32.
template <> struct line_rounding<rounding::stochastic> {
  const rounding::stochastic& round;
  std::uint64_t first, step;
  detail::random_key key;
  bool one_key;

  line_rounding(const rounding::stochastic& policy, std::uint64_t first_index, std::uint64_t index_step,
                index n)
      : round(policy),
        first(policy.offset() + first_index),
        step(index_step),
        key(policy.seed(), first),
        one_key((first >> 32) == ((first + static_cast<std::uint64_t>(n) * step) >> 32)) {}

  /// Tells a kernel the draws; false if the line has more than one key.
  bool describe(element_draws& draws) const {
    draws = {key, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(step)};
    return one_key;
  }

  template <class Element> Element element(double quotient, const element_range& range, index i) const {
    const std::uint64_t at = first + static_cast<std::uint64_t>(i) * step;
    if constexpr (std::signed_integral<Element>) {
      const double x = range.clamp(quotient), magnitude = x < 0 ? -x : x;
      const auto whole = static_cast<std::int64_t>(magnitude);
      const auto fraction = static_cast<std::int64_t>((magnitude - static_cast<double>(whole)) * 0x1p32);
      const std::int64_t draw = detail::random_bits(one_key ? key : detail::random_key(round.seed(), at),
                                                    static_cast<std::uint32_t>(at));
      const std::int64_t kept = whole + ((fraction + draw) >> 32);
      return static_cast<Element>(x < 0 ? -kept : kept);
    } else {
      return to_element<Element>(quotient, range, rounding::stochastic(round.seed(), at));
    }
  }
};

}  // namespace narrow::kernel::portable

NARROW_STRICT_END
