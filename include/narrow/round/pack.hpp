// The one place where a number is rounded: from unpacked to the code of a format.
#pragma once

#include <algorithm>

#include "overflow.hpp"
#include "unpacked.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// The sign of a sum that is exactly zero: minus only where every inexact result goes down (IEEE 754-2019
/// section 6.3).
template <rounding_policy Round> constexpr sign sign_of_zero_sum(const Round& round) {
  return round.overflows_to_infinity(sign::negative) && !round.overflows_to_infinity(sign::positive)
             ? sign::negative
             : sign::positive;
}

/// |x| in units of 2^quantum, rounded to an integer by one question to the policy. Before rounding, the
/// result has to fit a word.
template <class Word, rounding_policy Round>
constexpr Word round_to_multiple(const unpacked<Word>& x, int quantum, const Round& round) {
  constexpr int W = bits_of<Word>;
  const int shift = quantum - x.exponent;
  rounding::tail tail{x.of, false, 0, x.sticky};
  Word kept = 0, rest = 0;  // rest / 2^W is the fraction
  if (shift <= 0) {
    kept = -shift < W ? x.significand << -shift : Word{0};
  } else if (shift < W) {
    kept = x.significand >> shift;
    rest = x.significand << (W - shift);
  } else if (shift < 2 * W) {
    rest = x.significand >> (shift - W);
    tail.sticky = tail.sticky || (shift > W && (x.significand << (2 * W - shift)) != 0);
  } else {
    tail.sticky = true;
  }
  if constexpr (W == 64) {
    tail.fraction = rest;
  } else {
    tail.fraction = static_cast<std::uint64_t>(rest >> (W - 64));
    tail.sticky = tail.sticky || static_cast<std::uint64_t>(rest) != 0;
  }
  tail.odd = (kept & 1) != 0;
  return kept + (round.away(tail) ? 1 : 0);
}

/// The code of x, of any sign, exponent and significand, in a floating format. NaNs become quiet and keep
/// their sign and the leading bits of the payload where the format has them.
template <class Layout, class Word, rounding_policy Round, overflow_policy Overflow>
constexpr typename Layout::bits_type pack_code(const unpacked<Word>& x, const Round& round, Overflow) {
  static_assert(!std::same_as<Overflow, overflow::wrap>,
                "narrow::overflow::wrap is for narrow::fixed; a floating format takes overflow::ieee or "
                "overflow::saturate");
  using bits_type = typename Layout::bits_type;
  constexpr int M = Layout::mantissa_bits;
  constexpr bool saturates = std::same_as<Overflow, overflow::saturate> || !Layout::has_nan;

  const auto with_sign = [&](bits_type magnitude) {
    const bool negative = x.of == sign::negative && (magnitude != 0 || Layout::has_negative_zero);
    return static_cast<bits_type>(magnitude | (negative ? Layout::sign_mask : bits_type{0}));
  };
  const auto nan = [&](bits_type payload) {
    if constexpr (!Layout::has_nan) return bits_type{0};
    return Layout::has_negative_zero ? with_sign(static_cast<bits_type>(Layout::quiet_nan | payload))
                                     : Layout::quiet_nan;
  };
  const auto infinity = [&] {
    if constexpr (saturates) return with_sign(Layout::max_finite);
    return Layout::has_infinity ? with_sign(Layout::infinity) : nan(0);
  };

  switch (x.what) {
    case kind::zero:
      return with_sign(0);
    case kind::infinite:
      return infinity();
    case kind::nan:
      return nan(Layout::has_payload ? static_cast<bits_type>(x.significand >> (bits_of<Word> - M))
                                     : bits_type{0});
    case kind::finite:
      break;
  }
  const int leading = x.leading();
  if (leading <= Layout::max_exponent) {
    const int exponent = std::max(leading, Layout::min_exponent);
    // A normal number's leading one adds 1 to the exponent field; so does the carry of a mantissa that rounds
    // up.
    const auto kept = static_cast<bits_type>(round_to_multiple(x, exponent - M, round));
    const auto magnitude = static_cast<bits_type>(
        static_cast<bits_type>(static_cast<bits_type>(exponent - Layout::min_exponent) << M) + kept);
    if (magnitude <= Layout::max_finite) return with_sign(magnitude);
  }
  return round.overflows_to_infinity(x.of) ? infinity() : with_sign(Layout::max_finite);
}

/// The nearest float or double, ties to even; integer arithmetic, as all of this.
template <std::floating_point To, class Word> constexpr To nearest(const unpacked<Word>& x) {
  static_assert(std::same_as<To, float> || std::same_as<To, double>);
  return std::bit_cast<To>(
      pack_code<layout_of_built_in_t<To>>(x, rounding::nearest_even{}, overflow::ieee{}));
}

/// The two's complement mantissa of x with word length wl and fraction length fl. NaN gives 0.
template <class Word, rounding_policy Round, overflow_policy Overflow>
constexpr std::int32_t mantissa_of(const unpacked<Word>& x, int wl, int fl, const Round& round, Overflow) {
  static_assert(!std::same_as<Overflow, overflow::ieee>,
                "narrow::overflow::ieee is for narrow::floating; a fixed format takes overflow::saturate or "
                "overflow::wrap");
  if (x.what == kind::zero || x.what == kind::nan) return 0;
  const bool negative = x.of == sign::negative;
  const Word above = Word{1} << (wl - 1);  // the magnitude of the most negative number
  const Word limit = negative ? above : above - 1;
  Word magnitude = limit;
  // Saturating, a number of 2^wl units or more is over whichever way it rounds, and may not fit a word.
  const bool over =
      x.what == kind::infinite || (std::same_as<Overflow, overflow::saturate> && x.leading() + fl >= wl);
  if (!over) {
    magnitude = round_to_multiple(x, -fl, round);
    if constexpr (std::same_as<Overflow, overflow::saturate>) magnitude = std::min(magnitude, limit);
  }
  // Two's complement: negate in the unsigned word, keep wl bits, then extend the sign.
  const Word wrapped = (negative ? Word{0} - magnitude : magnitude) & ((above << 1) - 1);
  const auto value = static_cast<std::int64_t>(static_cast<std::uint64_t>(wrapped));
  return static_cast<std::int32_t>((wrapped & above) != 0 ? value - (std::int64_t{1} << wl) : value);
}

/// The two's complement mantissa of the exact k 2^-(fl + down) with word length wl and fraction length fl,
/// for `down` from 0 to the bits of k less one. No branch depends on the sign of k, which a processor cannot
/// foresee.
template <class Int, rounding_policy Round, overflow_policy Overflow>
[[gnu::always_inline]] constexpr std::int32_t mantissa_of(Int k, int down, int wl, const Round& round,
                                                          Overflow) {
  using Word = uint_at_least<bits_of<Int>>;
  constexpr int W = bits_of<Word>;
  if (std::same_as<Overflow, overflow::saturate> && down == 0) {  // nothing to round
    const Int end = Int{1} << (wl - 1);
    return static_cast<std::int32_t>(std::clamp(k, -end, end - 1));
  }
  const auto flip = static_cast<Word>(k >> (W - 1));  // all ones for negative numbers
  const Word magnitude = (static_cast<Word>(k) ^ flip) - flip,
             rest = down > 0 ? magnitude << (W - down) : Word{0};
  rounding::tail tail{k < 0 ? sign::negative : sign::positive, (magnitude >> down & 1) != 0,
                      static_cast<std::uint64_t>(rest >> (W - 64)), false};
  if constexpr (W > 64) tail.sticky = static_cast<std::uint64_t>(rest) != 0;
  const Word above = Word{1} << (wl - 1), limit = above - 1 + (flip & 1);
  Word kept = magnitude >> down;
  if constexpr (std::same_as<Overflow, overflow::saturate>) {
    if (k != 0 && kept < 2 * above) kept += Word{round.away(tail)};
    kept = std::min(kept, limit);
  } else {
    if (k != 0) kept += Word{round.away(tail)};
  }
  const auto low = static_cast<std::int64_t>(((kept ^ flip) - flip) & (2 * above - 1)),
             half = static_cast<std::int64_t>(above);
  return static_cast<std::int32_t>((low ^ half) - half);
}

}  // namespace narrow::detail
