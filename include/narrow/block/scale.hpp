// How a block's scale follows from what is in the block. Everything here works on the bits of the magnitudes.
#pragma once

#include <array>

#include "../kernel/environment.hpp"
#include "../round/arithmetic.hpp"
#include "../round/pack.hpp"

NARROW_STRICT_BEGIN

namespace narrow {

namespace detail {

/// Bits of a float's magnitude, at and above which it is not a finite number.
inline constexpr std::uint32_t nonfinite_bits = binary32::infinity;

constexpr std::uint32_t magnitude_bits(float x) {
  return std::bit_cast<std::uint32_t>(x) & binary32::magnitude_mask;
}

/// The exponent of the leading bit of a number other than 0, from the bits of its magnitude.
constexpr int leading_exponent(std::uint32_t magnitude) {
  const int field = static_cast<int>(magnitude >> binary32::mantissa_bits);
  return field != 0 ? field - binary32::bias
                    : bit_width_of(std::uint64_t{magnitude}) - 1 + binary32::min_quantum;
}

// What a pass over a block gathers. `add` takes the bits of a magnitude and counts only finite ones.

struct largest_magnitude {
  static constexpr bool largest_suffices = true;  // of the finite ones, and infinity if there are others
  std::uint32_t bits = 0;

  constexpr void add(std::uint32_t magnitude) {
    const std::uint32_t finite = magnitude < nonfinite_bits ? magnitude : 0;
    bits = bits < finite ? finite : bits;
  }
  constexpr bool zero() const { return bits == 0; }
  constexpr int leading() const { return leading_exponent(bits); }
};

struct smallest_magnitude {                  // zeros apart
  std::uint32_t below = nonfinite_bits - 1;  // bits less one: a zero becomes the largest number

  constexpr void add(std::uint32_t magnitude) { below = magnitude - 1 < below ? magnitude - 1 : below; }
  constexpr bool zero() const { return below == nonfinite_bits - 1; }
  constexpr int leading() const { return leading_exponent(below + 1); }
};

/// Exact, so that the order of the elements does not matter: one sum of significands for each exponent.
struct mean_magnitude {
  static constexpr std::size_t fields = binary32::exponent_mask >> binary32::mantissa_bits;

  std::array<std::uint64_t, fields> sums{};
  std::uint64_t count = 0;

  constexpr void add(std::uint32_t magnitude) {
    if (magnitude >= nonfinite_bits) return;
    const std::uint32_t field = magnitude >> binary32::mantissa_bits;
    sums[field] += (magnitude & binary32::mantissa_mask) | (field != 0 ? binary32::min_normal : 0);
    ++count;
  }
  constexpr bool zero() const {
    return std::all_of(sums.begin(), sums.end(), [](std::uint64_t sum) { return sum == 0; });
  }
  constexpr int leading() const {
    unpacked<uint128> total;
    for (int field = 0; field < static_cast<int>(sums.size()); ++field) {
      auto term = widened<uint128>(unpack(sums[static_cast<std::size_t>(field)]));
      term.exponent = std::max(field, 1) - binary32::bias - binary32::mantissa_bits;
      total = detail::add(total, term, sign::positive);
    }
    // The sum has up to 126 bits, which a division takes after what is below the first 64 has become one bit.
    const int excess = bit_width_of(total.significand) - 64;
    total.significand = shift_right(total.significand, excess, total.sticky);
    total.exponent += std::max(excess, 0);
    return divide(total, widened<uint128>(unpack(count))).leading();
  }
};

/// Rounds as far from zero as Round may: what decides whether the largest magnitude still fits.
template <rounding_policy Round> struct farthest {
  /// Whether its type tells what it does.
  static constexpr bool is_known =
      std::is_empty_v<Round> && std::default_initializable<Round> && !requires(const Round& round) {
    round.at(0);
  };

  static constexpr bool away(rounding::tail t) {
    if constexpr (is_known) {
      const Round round{};
      t.of = sign::positive;
      const bool above = round.away(t);
      t.of = sign::negative;
      return round.away(t) || above;
    } else {
      return t.inexact();
    }
  }
  static constexpr bool overflows_to_infinity(sign) { return false; }
};

/// The smallest exponent from `lowest` on at which a finite magnitude other than 0, rounded by Round, is an
/// integer of at most `bits` bits. A function of its own: formats of all widths share it.
template <class Round>
NARROW_KERNEL constexpr int exponent_reaching(std::uint32_t magnitude, int bits, int lowest) {
  const int exponent = std::max(leading_exponent(magnitude) - (bits - 1), lowest);
  const auto x = unpack(std::bit_cast<float>(magnitude));
  // Rounding makes an integer longer only if all of its bits are ones.
  if (((x.significand >> (exponent - x.exponent)) + 1) >> bits == 0) return exponent;
  const auto mantissa = round_to_multiple(x, exponent, farthest<Round>{});
  return mantissa >> bits == 0 ? exponent : exponent + 1;
}

/// Powers of two: steps of an integer mantissa of at most `limit` = 2^MagnitudeBits - 1.
template <int MagnitudeBits> struct power_of_two_step {
  static constexpr bool power_of_two = true;
  static constexpr int lowest = binary32::min_quantum;  // a step that divides every float
  // limit * 2^highest is the largest product that is a finite float.
  static constexpr int highest = binary32::max_exponent + 1 - MagnitudeBits;
  static constexpr float smallest = detail::power_of_two(lowest);

  static constexpr float from_exponent(int exponent) {
    return detail::power_of_two(std::clamp(exponent, lowest, highest));
  }

  /// The smallest step at which a magnitude, rounded, is at most the limit.
  template <class Round> static constexpr float reaching(std::uint32_t magnitude) {
    if (magnitude == 0) return smallest;
    return from_exponent(exponent_reaching<Round>(magnitude, MagnitudeBits, lowest));
  }
};

/// Steps of an integer mantissa of at most `limit` = 2^MagnitudeBits - 1 that are no powers of two.
///
/// Their significands leave the mantissa's bits of float's free, so that a mantissa times a step is exact:
/// what was dequantised is a multiple of its step, under any rounding.
template <int MagnitudeBits> struct real_step {
  static constexpr bool power_of_two = false;
  static constexpr int limit = (1 << MagnitudeBits) - 1;
  static constexpr int significand_bits = binary32::mantissa_bits + 1 - MagnitudeBits;
  static constexpr float smallest = detail::power_of_two(binary32::min_quantum);

  /// magnitude / limit, rounded down to significand_bits bits: so the largest magnitude becomes the limit
  /// under any rounding, and quantising again finds the same step. Where float's subnormals lack those bits,
  /// a power of two.
  template <class Round> static constexpr float reaching(std::uint32_t magnitude) {
    if (magnitude == 0) return smallest;
    const auto x = unpack(std::bit_cast<float>(magnitude));
    constexpr int up = 2 * significand_bits;  // enough bits for the smallest significand
    const std::uint64_t quotient = (x.significand << up) / limit;
    const int excess = bit_width_of(quotient) - significand_bits, exponent = x.exponent - up + excess;
    if (exponent < binary32::min_quantum)
      return power_of_two_step<MagnitudeBits>::template reaching<Round>(magnitude);
    return nearest<float>(
        unpacked<std::uint64_t>{kind::finite, sign::positive, false, exponent, quotient >> excess});
  }
};

/// A step at which what Statistic tells keeps Bits bits (0: half of the mantissa's, rounded up).
template <class Statistic, int Bits> struct keep_bits {
  using statistic = Statistic;
  template <class Step, class, int MagnitudeBits> static constexpr float step(const statistic& s) {
    constexpr int kept = Bits == 0 ? (MagnitudeBits + 2) / 2 : Bits;
    static_assert(1 <= kept && kept <= MagnitudeBits,
                  "narrow::exponent: Bits must be 1 to M - 1, where M is the width of the mantissa");
    return s.zero() ? Step::smallest : Step::from_exponent(s.leading() - (kept - 1));
  }
};

}  // namespace detail

/// Where a power-of-two scale is taken from (Drumond et al., "End-to-End DNN Training with Block Floating
/// Point Arithmetic", 2018, arXiv:1804.01526v1). To add a policy, add a struct with these two members.
namespace exponent {

/// The smallest exponent at which the largest magnitude fits, rounded; rounded up where rounding is
/// stochastic, or by a policy that has state. Nothing saturates, save what is within half a step of 2^128.
struct max {
  using statistic = detail::largest_magnitude;
  template <class Step, class Round, int MagnitudeBits> static constexpr float step(const statistic& s) {
    return Step::template reaching<Round>(s.bits);
  }
};

/// The exponent at which the smallest magnitude other than 0 keeps Bits bits, sign not included (0: half of
/// M, rounded up). Larger magnitudes may saturate.
template <int Bits = 0> struct min : detail::keep_bits<detail::smallest_magnitude, Bits> {};

/// The exponent at which the mean magnitude keeps Bits bits, sign not included (0: half of M, rounded up).
/// Larger magnitudes may saturate.
template <int Bits = 0> struct avg : detail::keep_bits<detail::mean_magnitude, Bits> {};

}  // namespace exponent

}  // namespace narrow

NARROW_STRICT_END
