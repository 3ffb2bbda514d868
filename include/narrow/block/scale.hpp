// How a block's scale follows from what is in the block. Everything here works on the bits of the magnitudes.
#pragma once

#include <array>
#include <string>

#include "../matrix_view.hpp"
#include "../round/arithmetic.hpp"
#include "../round/pack.hpp"
#include "../runtime/environment.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI {

namespace detail {

/// The exponent of the leading bit of a number other than 0, from the bits of its magnitude.
constexpr int leading_exponent(std::uint32_t magnitude) {
  const int field = static_cast<int>(magnitude >> binary32::mantissa_bits);
  return field != 0 ? field - binary32::bias
                    : bit_width_of(std::uint64_t{magnitude}) - 1 + binary32::min_quantum;
}
constexpr int leading_exponent(std::uint64_t magnitude) {
  return unpack(std::bit_cast<double>(magnitude)).leading();
}

/// A finite magnitude, from its bits, as scales are chosen from it.
constexpr unpacked<std::uint64_t> unpacked_magnitude(std::uint32_t bits) {
  return unpack(std::bit_cast<float>(bits));
}
constexpr unpacked<std::uint64_t> unpacked_magnitude(std::uint64_t bits) {
  return unpack(std::bit_cast<double>(std::min(bits, largest_float_bits)));
}

// What a pass over a block gathers. `add` takes the bits of a magnitude and counts only finite ones; `over`
// is what gathers the same of Values of another type.

// Magnitudes of numbers are gathered by their bits, those of floats as such, all others as those of doubles:
// wider numbers are rounded to these, to odd, which keeps their order, and on which side they are of any
// number of up to 52 bits.

/// The largest magnitude.
template <class Layout> struct absmax_of {
  using bits_type = typename Layout::bits_type;
  static constexpr bool absmax_suffices = true;  // of the finite ones, and infinity if there are others
  template <std::floating_point Value> using over = absmax_of<layout_of_built_in_t<Value>>;

  bits_type bits = 0;

  constexpr void add(bits_type magnitude) {
    const bits_type finite = magnitude < Layout::infinity ? magnitude : 0;
    bits = bits < finite ? finite : bits;
  }
  constexpr bool zero() const { return bits == 0; }
  constexpr int leading() const { return leading_exponent(bits); }
};
using absmax = absmax_of<binary32>;

/// The smallest magnitude other than 0.
template <class Layout> struct absmin_of {
  using bits_type = typename Layout::bits_type;
  template <std::floating_point Value> using over = absmin_of<layout_of_built_in_t<Value>>;

  bits_type below = Layout::infinity - 1;  // bits less one: a zero becomes the largest number

  constexpr void add(bits_type magnitude) { below = magnitude - 1 < below ? magnitude - 1 : below; }
  constexpr bool zero() const { return below == Layout::infinity - 1; }
  constexpr int leading() const { return leading_exponent(below + 1); }
};
using absmin = absmin_of<binary32>;

/// The leading exponent of total / count.
constexpr int leading_of_mean(unpacked<uint128> total, std::uint64_t count) {
  // A division takes 64 bits: what is below them cannot bring the total up to a multiple of the count.
  const int excess = bit_width_of(total.significand) - 64;
  total.significand = shift_right(total.significand, excess, total.sticky);
  total.exponent += std::max(excess, 0);
  return divide(total, widened<uint128>(unpack(count))).leading();
}

/// The mean of numbers of a type with more bits than float, exact, so that the order of the elements does not
/// matter: the sum as one integer, in units of the smallest number. Those beyond float's range count as its
/// largest.
template <std::floating_point Value> struct exact_absmean {
  using limits = std::numeric_limits<Value>;
  static constexpr int word_bits = bits_of<std::uint64_t>;
  static constexpr int lowest = limits::min_exponent - limits::digits;
  static constexpr std::size_t words = (binary32::max_exponent + 1 - lowest) / word_bits +
                                       2;  // one more for as many numbers as a word can count

  std::array<std::uint64_t, words> sum{};
  std::uint64_t count = 0;

  /// Takes the bits of a double.
  constexpr void add(std::uint64_t magnitude) {
    if (magnitude < binary64::infinity) add(widened<uint128>(unpacked_magnitude(magnitude)));
  }
  constexpr void add(unpacked<uint128> x) {
    if (x.what == kind::nan || x.what == kind::infinite) return;
    ++count;
    if (x.what == kind::zero) return;
    if (x.leading() > binary32::max_exponent) x = widened<uint128>(unpacked_magnitude(largest_float_bits));
    const int place = x.exponent - lowest;
    add_word(static_cast<std::uint64_t>(x.significand), place);
    if (const auto high = static_cast<std::uint64_t>(x.significand >> word_bits); high != 0)
      add_word(high, place + word_bits);
  }
  constexpr bool zero() const {
    return std::all_of(sum.begin(), sum.end(), [](std::uint64_t word) { return word == 0; });
  }
  constexpr int leading() const {
    std::size_t top = words - 1;
    while (top > 1 && sum[top] == 0) --top;
    unpacked<uint128> total{kind::finite, sign::positive, false,
                            lowest + word_bits * (static_cast<int>(top) - 1),
                            (uint128{sum[top]} << word_bits) | sum[top - 1]};
    return leading_of_mean(total, count);
  }

 private:
  constexpr void add_word(std::uint64_t x, int place) {
    uint128 carried = uint128{x} << (place % word_bits);
    for (auto word = static_cast<std::size_t>(place / word_bits); carried != 0; ++word) {
      carried += sum[word];
      sum[word] = static_cast<std::uint64_t>(carried);
      carried >>= word_bits;
    }
  }
};

/// The mean of floats, exact: one sum of significands for each exponent.
struct absmean {
  static constexpr std::size_t fields = binary32::exponent_mask >> binary32::mantissa_bits;
  template <std::floating_point Value>
  using over = std::conditional_t<std::same_as<Value, float>, absmean, exact_absmean<Value>>;

  std::array<std::uint64_t, fields> sums{};
  std::uint64_t count = 0;

  constexpr void add(std::uint32_t magnitude) {
    if (magnitude >= binary32::infinity) return;
    const std::uint32_t field = magnitude >> binary32::mantissa_bits;
    sums[field] += (magnitude & binary32::mantissa_mask) | (field != 0 ? binary32::min_normal : 0);
    ++count;
  }
  constexpr bool zero() const {
    return std::all_of(sums.begin(), sums.end(), [](std::uint64_t sum) { return sum == 0; });
  }
  constexpr int leading() const {
    unpacked<uint128> total;  // of up to 126 bits
    for (int field = 0; field < static_cast<int>(sums.size()); ++field) {
      auto term = widened<uint128>(unpack(sums[static_cast<std::size_t>(field)]));
      term.exponent = std::max(field, 1) - binary32::bias - binary32::mantissa_bits;
      total = detail::add(total, term, sign::positive);
    }
    return leading_of_mean(total, count);
  }
};

/// What a statistic that knows nothing but floats gathers of doubles: floats that they are rounded to, to
/// odd.
template <class Statistic> struct statistic_of_rounded : Statistic {
  constexpr void add(std::uint64_t magnitude) {
    const auto x = unpack(std::bit_cast<double>(magnitude));
    Statistic::add(pack_code<binary32>(x, rounding::to_odd{}, overflow::ieee{}));
  }
};

/// What gathers of Values what Statistic gathers of floats.
template <class Statistic, std::floating_point Value> struct statistic_of_values {
  using type = std::conditional_t<std::same_as<Value, float>, Statistic, statistic_of_rounded<Statistic>>;
};
template <class Statistic, std::floating_point Value>
requires requires { typename Statistic::template over<Value>; }
struct statistic_of_values<Statistic, Value> {
  using type = typename Statistic::template over<Value>;
};

/// Rounds as far from zero as Round may: what decides whether the largest magnitude still fits.
template <rounding_policy Round> struct farthest {
  /// Whether its type tells what it does.
  static constexpr bool is_known = rounds_by_rule<Round> && std::default_initializable<Round>;

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
template <class Round, class Magnitude>
NARROW_KERNEL constexpr int exponent_reaching(Magnitude magnitude, int bits, int lowest) {
  const auto x = unpacked_magnitude(magnitude);
  const int exponent = std::max(x.leading() - (bits - 1), lowest);
  // Rounding makes an integer longer only if all of its bits are ones.
  const int cut = std::min(exponent - x.exponent, bits_of<std::uint64_t> - 1);
  if (((x.significand >> cut) + 1) >> bits == 0) return exponent;
  const auto mantissa = round_to_multiple(x, exponent, farthest<Round>{});
  return mantissa >> bits == 0 ? exponent : exponent + 1;
}

/// How many bits the significand of a number other than 0 needs.
constexpr int exact_bits(const unpacked<std::uint64_t>& x) {
  return bit_width_of(x.significand) - std::countr_zero(x.significand);
}

/// Powers of two: steps of an integer mantissa of at most `limit` = 2^MagnitudeBits - 1.
template <int MagnitudeBits> struct power_of_two_step {
  static constexpr bool power_of_two = true;
  static constexpr int lowest = binary32::min_quantum;  // a step that divides every float
  // limit * 2^highest is the largest product that is a finite float.
  static constexpr int highest = binary32::max_exponent + 1 - MagnitudeBits;
  static constexpr float smallest = detail::power_of_two(lowest);

  /// What a step must be, in a message.
  static std::string allowed() {
    return "a power of two from 2^" + std::to_string(lowest) + " to 2^" + std::to_string(highest);
  }
  /// Whether it is one of these steps.
  static constexpr bool is_step(float x) {
    const auto u = unpack(x);
    return u.what == kind::finite && u.of == sign::positive && exact_bits(u) == 1 && u.leading() <= highest;
  }

  static constexpr float from_exponent(int exponent) {
    return detail::power_of_two(std::clamp(exponent, lowest, highest));
  }

  /// The smallest step at which a magnitude, rounded, is at most the limit. From the bits of a float or of a
  /// double, as in the other steps.
  template <class Round, std::unsigned_integral Magnitude>
  static constexpr float reaching(Magnitude magnitude) {
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

  static constexpr float highest() { return reaching<rounding::nearest_even>(binary32::infinity - 1); }
  /// What a step must be, in a message.
  static std::string allowed() {
    return "positive, of at most " + std::to_string(significand_bits) + " bits and at most " +
           to_text(highest());
  }
  /// Whether it can be a step: the limit times it is a float, exactly.
  static constexpr bool is_step(float x) {
    const auto u = unpack(x);
    return u.what == kind::finite && u.of == sign::positive && exact_bits(u) <= significand_bits &&
           x <= highest();
  }

  /// magnitude / limit, rounded down to significand_bits bits: so the largest magnitude becomes the limit
  /// under any rounding, and quantising again finds the same step. Where float's subnormals lack those bits,
  /// a power of two.
  template <class Round, std::unsigned_integral Magnitude>
  static constexpr float reaching(Magnitude magnitude) {
    if (magnitude == 0) return smallest;
    auto x = unpacked_magnitude(magnitude);
    if constexpr (std::same_as<Magnitude, std::uint64_t>) {
      // The limit times a step has no more bits than a float: what is below these cannot bring it nearer.
      const int cut = std::max(bit_width_of(x.significand) - (binary32::mantissa_bits + 1), 0);
      x.significand >>= cut;
      x.exponent += cut;
    }
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
  template <class Step, class, int MagnitudeBits, class Gathered>
  static constexpr float step(const Gathered& s) {
    constexpr int kept = Bits == 0 ? (MagnitudeBits + 2) / 2 : Bits;
    static_assert(1 <= kept && kept <= MagnitudeBits,
                  "narrow::exponent: Bits must be 1 to M - 1, where M is the width of the mantissa");
    return s.zero() ? Step::smallest : Step::from_exponent(s.leading() - (kept - 1));
  }
};

}  // namespace detail

/// Where a power-of-two scale is taken from (Drumond et al., "End-to-End DNN Training with Block Floating
/// Point Arithmetic", 2018, arXiv:1804.01526v1). To add a policy, add a struct with these two members; `step`
/// is handed what `statistic` gathered of floats, or what its `over<Value>` gathered of numbers of a wider
/// type.
namespace exponent {

/// The smallest exponent at which the largest magnitude fits, rounded; rounded up where rounding is
/// stochastic, or by a policy that has state. Nothing saturates, save what is within half a step of 2^128.
struct max {
  using statistic = detail::absmax;
  template <class Step, class Round, int MagnitudeBits, class Gathered>
  static constexpr float step(const Gathered& s) {
    return Step::template reaching<Round>(s.bits);
  }
};

/// The exponent at which the smallest magnitude other than 0 keeps Bits bits, sign not included (0: half of
/// M, rounded up). Larger magnitudes may saturate.
template <int Bits = 0> struct min : detail::keep_bits<detail::absmin, Bits> {};

/// The exponent at which the mean magnitude keeps Bits bits, sign not included (0: half of M, rounded up).
/// Larger magnitudes may saturate.
template <int Bits = 0> struct avg : detail::keep_bits<detail::absmean, Bits> {};

}  // namespace exponent

}  // namespace narrow

NARROW_STRICT_END
