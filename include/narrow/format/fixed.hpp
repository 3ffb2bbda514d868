// fixed<WL, FL, ...>: a fixed-point number of up to 32 bits that behaves as the built-in types do.
#pragma once

#include "../concepts.hpp"
#include "../round/fixed_point.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {
/// The most bits that a fixed-point number has.
inline constexpr int max_word_length = 32;
}  // namespace detail

/// A two's complement number of WL bits, FL of them after the binary point: k 2^-FL with -2^(WL-1) <= k <
/// 2^(WL-1).
///
/// Implicit from every arithmetic type and unscoped enumeration; implicit to `carrier`, which holds every
/// value of it: `float`, or `double` where WL > 24. Operators and functions are free templates, in
/// format/operators.hpp and math.hpp.
///
/// Rounding  conversions, + - * /, sqrt and fma give the exact result rounded once by `Round`; what does not
///           fit saturates or wraps, as `Overflow` says.
/// Special   NaN, 0 / 0 and the root of a negative number give 0; infinity and x / 0 saturate.
/// Size      WL bits, rounded up to 1, 2 or 4 bytes, sign-extended. Trivially copyable.
template <int WL, int FL, class Round, class Overflow> class fixed {
  static_assert(2 <= WL && WL <= detail::max_word_length,
                "narrow::fixed<WL, FL>: the word length WL must be 2 to 32 bits");
  static_assert(0 <= FL && FL < WL, "narrow::fixed<WL, FL>: the fraction length FL must be 0 to WL - 1");
  static_assert(rounding_policy<Round>,
                "narrow::fixed: Round must be a rounding policy, see narrow::rounding");
  static_assert(overflow_policy<Overflow> && !std::same_as<Overflow, overflow::ieee>,
                "narrow::fixed: Overflow must be overflow::saturate or overflow::wrap");

 public:
  /// The integer type of a code.
  using bits_type = detail::int_at_least<WL>;
  /// The built-in type that holds every value.
  using carrier = std::conditional_t<(WL > 24), double, float>;
  /// How it is rounded where nothing else is asked for.
  using round_policy = Round;
  /// What becomes of a number beyond the largest.
  using overflow_policy = Overflow;
  /// Bits, the sign included.
  static constexpr int word_length = WL;
  /// Bits after the binary point.
  static constexpr int fraction_length = FL;

  /// Nothing here throws but a rounding policy of the user's.
  static constexpr bool cannot_throw = detail::rounds_without_throwing<Round>;

  fixed() = default;

  /// x, rounded once.
  template <detail::arithmetic_value T>
  constexpr fixed(T x) noexcept(cannot_throw) : fixed(detail::unpack(x), Round{}, Overflow{}) {}
  /// x, rounded once.
  template <detail::arithmetic_value T>
  requires detail::has_short_mantissa<T>
  constexpr fixed(T x) noexcept(cannot_throw)
      : mantissa_(static_cast<bits_type>(detail::mantissa_of_built_in(x, WL, FL, Round{}, Overflow{}))) {}

  /// Between two narrow formats: explicit, one rounding.
  template <narrow_scalar T>
  requires(!std::same_as<T, fixed>) constexpr explicit fixed(T x) noexcept(cannot_throw)
      : fixed(unpack(x), Round{}, Overflow{}) {}

  /// From a number type of another library's: one rounding.
  template <foreign_scalar T>
  constexpr explicit fixed(T x) noexcept(cannot_throw) : fixed(detail::as_narrow(x)) {}

  /// The number with mantissa `bits`, of which the low WL bits count.
  static constexpr fixed from_bits(bits_type bits) noexcept {
    constexpr std::uint32_t above = std::uint32_t{1} << (WL - 1);
    const std::uint32_t low = static_cast<std::uint32_t>(bits) & ((above - 1) | above);
    fixed result{};
    result.mantissa_ = static_cast<bits_type>(std::int64_t{low ^ above} - std::int64_t{above});
    return result;
  }
  /// The code.
  constexpr bits_type bits() const noexcept { return mantissa_; }

  /// The value, exact.
  constexpr operator carrier() const noexcept {
    constexpr auto step = carrier{1} / static_cast<carrier>(std::uint64_t{1} << FL);
    return static_cast<carrier>(mantissa_) * step;
  }

  /// The operators are made of this function, which takes a number apart, and of the constructor from an
  /// unpacked number, which rounds once.
  friend constexpr detail::unpacked<std::uint64_t> unpack(fixed x) noexcept {
    auto result = detail::unpack(x.mantissa_);
    result.exponent = -FL;
    return result;
  }

  /// The number that `unpack` took apart, rounded once.
  template <class Word, rounding_policy R = Round, narrow::overflow_policy O = Overflow>
  constexpr explicit fixed(const detail::unpacked<Word>& x, const R& round,
                           O overflow) noexcept(detail::rounds_without_throwing<R>)
      : mantissa_(static_cast<bits_type>(detail::mantissa_of(x, WL, FL, round, overflow))) {}

 private:
  bits_type mantissa_;
};

}  // namespace narrow
