// floating<E, M, ...>: a binary floating-point number of up to 32 bits that behaves as float does.
#pragma once

#include "../concepts.hpp"
#include "../round/through_float.hpp"

namespace narrow::inline NARROW_ABI {

/// A floating-point number with E exponent bits and M mantissa bits (the leading one not counted).
///
/// Behaves as the built-in types do: implicit from every arithmetic type and unscoped enumeration, implicit
/// to `float`, which holds every value of it. Operators and functions are free templates, in
/// format/operators.hpp and math.hpp.
///
/// Rounding  conversions, + - * /, sqrt and fma give the exact result rounded once by `Round`, overflow by
///           `Overflow`.
/// Special   as `Specials` says (see `narrow::specials`). A signalling NaN becomes quiet, sign and payload
///           kept. Without NaN (fp4, fp6) a NaN becomes +0, infinity the largest finite number.
/// Size      1 + E + M bits, rounded up to 1, 2 or 4 bytes; unused high bits are 0. Trivially copyable.
template <int E, int M, specials Specials, class Round, class Overflow> class floating {
  static_assert(2 <= E && E <= 8, "narrow::floating<E, M>: E must be 2 to 8 exponent bits");
  static_assert(1 <= M && M <= 23, "narrow::floating<E, M>: M must be 1 to 23 mantissa bits");
  static_assert(rounding_policy<Round>,
                "narrow::floating: Round must be a rounding policy, see narrow::rounding");
  static_assert(overflow_policy<Overflow> && !std::same_as<Overflow, overflow::wrap>,
                "narrow::floating: Overflow must be overflow::ieee or overflow::saturate");

 public:
  /// The constants of the format: `bias`, `min_exponent`, `max_exponent`, masks of its fields, ...
  using layout = detail::layout<E, M, Specials>;
  /// The integer type of a code.
  using bits_type = typename layout::bits_type;
  using carrier = float;
  using round_policy = Round;
  using overflow_policy = Overflow;
  static_assert(
      layout::max_exponent <= detail::binary32::max_exponent &&
          layout::min_exponent >= detail::binary32::min_exponent,
      "narrow::floating<E, M, Specials>: float must hold every value; fn, fnuz and none need E of at most 7");

  /// Nothing here throws but a rounding policy of the user's.
  static constexpr bool cannot_throw = detail::rounds_without_throwing<Round>;

  floating() = default;

  /// x, rounded once.
  template <detail::arithmetic_value T>
  constexpr floating(T x) noexcept(cannot_throw) : floating(detail::unpack(x), Round{}, Overflow{}) {}
  /// x, rounded once.
  template <detail::arithmetic_value T>
  requires detail::has_short_way<T, Round>
  constexpr floating(T x) noexcept : bits_(detail::nearest_code<layout>(x, Overflow{})) {}

  /// Between two narrow formats: explicit, one rounding.
  template <narrow_scalar T>
  requires(!std::same_as<T, floating>) constexpr explicit floating(T x) noexcept(cannot_throw)
      : floating(unpack(x), Round{}, Overflow{}) {}

  /// From a number type of another library's: where it has the codes of this format the same code, else one
  /// rounding.
  template <foreign_scalar T>
  constexpr explicit(!std::same_as<foreign_format_t<T>, floating>) floating(T x) noexcept(cannot_throw)
      : floating(detail::as_narrow(x)) {}

  /// The number with code `bits`, of which the lower 1 + E + M bits count.
  static constexpr floating from_bits(bits_type bits) noexcept {
    floating result{};
    result.bits_ = static_cast<bits_type>(bits & (layout::sign_mask | layout::magnitude_mask));
    return result;
  }
  constexpr bits_type bits() const noexcept { return bits_; }

  /// The value, exact.
  constexpr operator float() const noexcept {
#if defined(__x86_64__)
    if constexpr (detail::is_binary16<layout>)
      if (!std::is_constant_evaluated())
        return detail::converts_binary16() ? detail::from_binary16(bits_) : value_elsewhere();
#endif
    return std::bit_cast<float>(widened_bits());
  }

  /// The operators are made of this function, which takes a number apart, and of the constructor from an
  /// unpacked number, which rounds once.
  friend constexpr detail::unpacked<std::uint64_t> unpack(floating x) noexcept {
    return detail::unpack_code<layout>(x.bits_);
  }

  /// The number that `unpack` took apart, rounded once.
  template <class Word, rounding_policy R = Round, narrow::overflow_policy O = Overflow>
  constexpr explicit floating(const detail::unpacked<Word>& x, const R& round,
                              O overflow) noexcept(detail::rounds_without_throwing<R>)
      : bits_(detail::pack_code<layout>(x, round, overflow)) {}

 private:
  /// The value where a processor has no instruction for it: not inlined, and so in nobody's way.
  [[gnu::noinline, gnu::cold]] float value_elsewhere() const noexcept {
    return std::bit_cast<float>(widened_bits());
  }
  constexpr std::uint32_t widened_bits() const noexcept {
    using float_layout = detail::binary32;
    constexpr int shift = float_layout::mantissa_bits - M;
    constexpr std::uint32_t rebias = static_cast<std::uint32_t>(float_layout::bias - layout::bias)
                                     << float_layout::mantissa_bits;
    const std::uint32_t code = bits_;
    const std::uint32_t negative = (code & layout::sign_mask) << (float_layout::width - layout::width);
    const std::uint32_t magnitude = code & layout::magnitude_mask;
    if constexpr (rebias == 0) {  // bf16: subnormals of the one are subnormals of the other
      if (magnitude <= layout::max_finite) [[likely]]
        return code << (float_layout::width - layout::width);
    } else if (magnitude - layout::min_normal <= layout::max_finite - layout::min_normal) [[likely]] {
      return negative | ((magnitude << shift) + rebias);
    }
    if (!layout::is_finite(bits_)) {
      if (layout::is_infinity(bits_)) return negative | float_layout::infinity;
      const std::uint32_t payload = layout::has_payload ? (magnitude & layout::mantissa_mask) << shift : 0;
      return negative | float_layout::quiet_nan | payload;
    }
    if (magnitude == 0) return negative;
    // A subnormal's leading one moves up to float's hidden bit, where it adds 1 to the exponent field.
    const int up = std::countl_zero(magnitude) - (31 - float_layout::mantissa_bits);
    const int field = float_layout::bias + layout::min_exponent - (up - shift);
    return negative |
           ((static_cast<std::uint32_t>(field - 1) << float_layout::mantissa_bits) + (magnitude << up));
  }

  bits_type bits_;
};

}  // namespace narrow
