// What first looks at functions in float (float_functions.inl) are made of, and how far they are off.
#pragma once

#include "approximations.hpp"
#include "functions.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// What a first look has to know of a format of at most 16 bits
/// whose ties have Bits significant bits.
template <int Bits> struct quick_limits {
  static constexpr int exponent_bits = std::min(detail::binary32::exponent_bits, 17 - Bits);  // at most
  static constexpr bool is_wide = exponent_bits == detail::binary32::exponent_bits;
  /// Below this power of two all is nearer to zero than to another number.
  static constexpr int bias = 1 << (exponent_bits - 1), least_tie = 3 - bias - Bits;
  // Powers of e beyond these are rounded as these are: halfway, as logarithms go, from one number of Bits
  // significant bits to the next. Of a wide format they are zero and infinite.
  static constexpr auto least_log =
                            static_cast<float>((is_wide ? -127 : least_tie - 1.6) * std::numbers::ln2),
                        largest_log = static_cast<float>((is_wide ? 128 : bias + 0.6) * std::numbers::ln2);
  /// As far as e^-x has to go for 1 / (1 + e^-x).
  static constexpr float least_share = is_wide ? largest_log : -least_log;
  // Where 1 / (1 + e^-x) and tanh(x) come so near to 1 that they are halfway from the last such number to 1.
  static constexpr auto log_of_share = static_cast<float>((Bits + 1) * std::numbers::ln2),
                        largest_tanh = static_cast<float>((Bits + 2) * std::numbers::ln2 / 2);
  // Where erf(x) comes so near to 1, and the share of a normal distribution below x.
  static constexpr auto largest_erf = static_cast<float>(approximation::root(Bits * std::numbers::ln2)),
                        largest_share =
                            static_cast<float>(approximation::root(2 * (Bits + 1) * std::numbers::ln2));
  // Powers below these have no part in a sum with 1, or with the number that they are subtracted from.
  static constexpr float least_part = -(detail::binary32::mantissa_bits + 2) * std::numbers::ln2_v<float>;
  /// Where x times the share above it, of a normal distribution, is rounded to zero, and 2 erfc(x / sqrt(2)).
  static constexpr auto largest_tail =
      static_cast<float>(approximation::root(-2 * (least_tie + 1) * std::numbers::ln2));
  /// The power of two beyond which 96 / (1 + 2^x) is rounded to zero; of a wide format infinite.
  static constexpr float end_of_gate = is_wide ? 128 : 7.4f - least_tie;
  /// Whether floats have so many bits to spare that shorter polynomials do.
  static constexpr bool is_coarse = Bits <= 9;

  static constexpr std::size_t terms_of_expm1 = is_coarse ? 5 : 6;
  static constexpr auto series_of_expm1 = approximation::polynomial_near<terms_of_expm1>(
      [](double x) { return approximation::relative_expm1(x); }, -std::numbers::ln2 / 2,
      std::numbers::ln2 / 2);
  /// (log(1 + x) - x) / x^2, of 1 + x between the roots of 1/2 and 2.
  static constexpr std::size_t terms_of_log = is_coarse ? 7 : 9;
  static constexpr auto series_of_log =
      approximation::polynomial_near<terms_of_log>([](double x) { return approximation::rest_of_log1p(x); },
                                                   1 / std::numbers::sqrt2 - 1, std::numbers::sqrt2 - 1);
  /// (sin(x) - x) / x^3 by the square of x, as far as pi / 2.
  static constexpr auto series_of_sin =
      approximation::polynomial_near<4>([](double square) { return approximation::rest_of_sin(square); }, 0,
                                        std::numbers::pi* std::numbers::pi / 4);

  /// (2^x - 1) / x as far as 1/2 from zero.
  static constexpr auto series_of_exp2m1 = approximation::polynomial_near<terms_of_expm1>(
      [](double x) { return std::numbers::ln2 * approximation::relative_expm1(x * std::numbers::ln2); }, -0.5,
      0.5);
  /// log(1 + x) / x of x up to 1.
  static constexpr auto series_of_log1p =
      approximation::polynomial_near < is_coarse
          ? 8
          : 9 > ([](double x) { return approximation::relative_log1p(x); }, 0, 1);
  /// erf(x) / x by the square of x, less the middle of these squares.
  static constexpr float middle_of_erf = largest_erf * largest_erf / 2;
  static constexpr auto series_of_erf =
      approximation::polynomial_near < is_coarse
          ? 10
          : 12 > ([](double x) { return approximation::relative_erf(x + double(middle_of_erf)); },
                  -double(middle_of_erf), double(middle_of_erf));
  /// The share of a normal distribution above x, times e^(x^2 / 2), by 1 / (1 + scale x).
  static constexpr float scale_of_tail = is_coarse ? 0.35f : 0.4f;
  static constexpr float middle_of_tail = 0.65f;
  static constexpr auto series_of_tail = approximation::polynomial_near<is_coarse ? 8 : 9>(
      [](double x) {
        return approximation::scaled_tail((1 / (x + double(middle_of_tail)) - 1) / double(scale_of_tail));
      },
      double(1 / (1 + scale_of_tail * largest_tail) - middle_of_tail), double(1 - middle_of_tail));

  static constexpr std::size_t terms_of_tanh = is_coarse ? 4 : 5;
  /// tanh(x) / x by the square of x.
  static constexpr auto tanh = approximation::quotient_near<terms_of_tanh, 4>(
      [](double square) {
        const double x = approximation::root(square);
        return (1 - 2 / (approximation::exponential(2 * x) + 1)) / x;
      },
      0, double(largest_tanh) * double(largest_tanh));
};

/// Numbers of the format from here on are what the function is rounded to; 0 where it is no such function.
template <int Bits, class Function> inline constexpr float quick_end_of = 0;
template <int Bits>
inline constexpr float quick_end_of<Bits, functions::silu> = quick_limits<Bits>::log_of_share;
template <int Bits>
inline constexpr float quick_end_of<Bits, functions::softplus> = quick_limits<Bits>::log_of_share;
template <int Bits>
inline constexpr float quick_end_of<Bits, functions::gelu> = quick_limits<Bits>::largest_share;
template <int Bits>
inline constexpr float quick_end_of<Bits, functions::gelu_tanh> = quick_limits<Bits>::log_of_share;

/// More units in the last place than `quickly` errs by, a power of two. With AVX-512, for ties of 12 bits
/// (fp16), of all floats whose function is a normal one exp was off by at most 1.4 units, logistic by 3.2,
/// tanh by 4.3, log by 0.95, log2 by 1.8, log10 by 2.1, sin and cos by 3.2, erf by 4.1, erfc by 5.8 and gelu
/// by 6; of every 13th float softplus by 2.8, silu by 3.2, gelu_tanh by 2.3, of every 199th rsqrt by 1.1
/// (1.5 without an estimate), and with AVX2 of every fifth log1p by 1.5. For fewer bits gelu and erfc were
/// off by 17.5, all others by 7.4.
template <int Bits, class Function> inline constexpr std::uint32_t quick_error = 8;
template <int Bits> inline constexpr std::uint32_t quick_error<Bits, functions::erfc> = Bits < 12 ? 32 : 8;
template <int Bits> inline constexpr std::uint32_t quick_error<Bits, functions::gelu> = Bits < 12 ? 32 : 8;
template <> inline constexpr std::uint32_t quick_error<12, functions::exp> = 2;
template <> inline constexpr std::uint32_t quick_error<12, functions::rsqrt> = 2;
template <> inline constexpr std::uint32_t quick_error<12, functions::log> = 2;
template <> inline constexpr std::uint32_t quick_error<12, functions::log2> = 2;
template <> inline constexpr std::uint32_t quick_error<12, functions::log10> = 4;
template <> inline constexpr std::uint32_t quick_error<12, functions::log1p> = 4;
template <> inline constexpr std::uint32_t quick_error<12, functions::sin> = 4;
template <> inline constexpr std::uint32_t quick_error<12, functions::cos> = 4;
template <> inline constexpr std::uint32_t quick_error<12, functions::logistic> = 4;
template <> inline constexpr std::uint32_t quick_error<12, functions::silu> = 4;
template <> inline constexpr std::uint32_t quick_error<12, functions::gelu_tanh> = 4;
template <> inline constexpr std::uint32_t quick_error<12, functions::softplus> = 4;

}  // namespace narrow::kernel

NARROW_STRICT_END
