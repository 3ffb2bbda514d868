// Numbers with more bits than float to elements that share a scale, one at a time: exact quotients, each
// rounded once, computed in integers but for what is exact.
#pragma once

#include "elements.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel::portable {

// The quotient of a number and a scale as a double that every policy rounds to an element, of at most 16 bits
// and a fraction of 32 that a draw is compared with, as it rounds the quotient itself. Beyond float's range
// numbers are its largest one; NaN gives 0.

template <std::floating_point T> class wide_quotient;

template <> class wide_quotient<double> {
  using layout = detail::binary64;

 public:
  wide_quotient(float scale, scale_kind kind)
      : inverse_(inverse_of(double(scale))),
        tiny_(std::bit_cast<std::uint64_t>(double(scale) * 0x1p-200)),
        divides_(kind == scale_kind::real) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(double(scale));
    divisor_ = significand_of(bits) >> (layout::mantissa_bits + 1 - divisor_bits);
    exponent_ = exponent_of(bits) - (divisor_bits - 1);
  }

  double operator()(double x) const {
    const auto code = std::bit_cast<std::uint64_t>(x);
    std::uint64_t magnitude = code & layout::magnitude_mask;
    if (magnitude > layout::infinity) return 0;
    if (magnitude == 0) return x;  // of either sign
    // Below a 2^200th of the scale nothing rounds otherwise than that does, whose quotient is no subnormal.
    magnitude = std::clamp(magnitude, tiny_, detail::largest_float_bits);
    const double quotient =
        divides_ ? divided(magnitude) : std::bit_cast<double>(magnitude) * inverse_;  // exact
    return (code & layout::sign_mask) != 0 ? -quotient : quotient;
  }

 private:
  // The bits that the scales of int8 have, see `detail::real_step`, so that a quotient of integers has
  // enough: the 7 of an element, 32 of a fraction, and one that tells whether there is more.
  static constexpr int divisor_bits = 17;

  static constexpr std::uint64_t significand_of(std::uint64_t normal) {
    return (normal & layout::mantissa_mask) | layout::min_normal;
  }
  static constexpr int exponent_of(std::uint64_t normal) {
    return static_cast<int>(normal >> layout::mantissa_bits) - layout::bias;
  }
  double divided(std::uint64_t magnitude) const {
    constexpr int up = 63 - layout::mantissa_bits;
    const std::uint64_t numerator = significand_of(magnitude) << up, quotient = numerator / divisor_;
    const std::uint64_t odd = quotient * divisor_ != numerator ? 1 : 0;
    const int exponent = exponent_of(magnitude) - 63 - exponent_;
    const auto unit = static_cast<std::uint64_t>(exponent + layout::bias) << layout::mantissa_bits;
    return static_cast<double>(static_cast<std::int64_t>(quotient | odd)) * std::bit_cast<double>(unit);
  }

  double inverse_;
  std::uint64_t tiny_;
  bool divides_;
  std::uint64_t divisor_;
  int exponent_;  // of the divisor's last bit
};

template <> class wide_quotient<long double> {
 public:
  wide_quotient(float scale, scale_kind) : scale_(detail::widened<detail::uint128>(detail::unpack(scale))) {}

  double operator()(long double x) const {
    auto number = detail::unpack(x);
    if (number.what == detail::kind::nan) return 0;
    // As many bits as a division takes; no quotient that something is rounded at is among what follows them.
    const int excess = detail::bit_width_of(number.significand) - 64;
    if (number.what == detail::kind::finite && excess > 0) {
      number.significand = detail::shift_right(number.significand, excess, number.sticky);
      number.exponent += excess;
    }
    auto quotient = detail::divide(number, scale_);
    quotient.sticky = quotient.sticky || number.sticky;
    return std::bit_cast<double>(
        detail::pack_code<detail::binary64>(quotient, rounding::to_odd{}, overflow::ieee{}));
  }

 private:
  detail::unpacked<detail::uint128> scale_;
};

/// q(i, j) from x(i, j) in steps of 2^-fraction_length, for integers of any width: a quotient of such numbers
/// may be no double that rounds alike.
template <class Element, class Round>
void encode_in_steps(const matrix_view<const long double>& x, const matrix_view<Element>& q,
                     int fraction_length, const element_range& range, const Round& round,
                     const element_order& order) {
  for (index j = 0; j < q.cols; ++j)
    for (index i = 0; i < q.rows; ++i) {
      const auto number = detail::unpack(x(i, j));
      const bool negative = number.of == sign::negative;
      const auto limit = static_cast<std::int64_t>(negative ? -range.lowest : range.highest);
      std::int64_t magnitude = 0;
      if (number.what == detail::kind::infinite)
        magnitude = limit;
      else if (number.what == detail::kind::finite)
        magnitude = number.leading() + fraction_length >= std::numeric_limits<std::uint32_t>::digits
                        ? limit
                        : std::min(limit, static_cast<std::int64_t>(detail::round_to_multiple(
                                              number, -fraction_length, at_element(round, order(i, j)))));
      q(i, j) = static_cast<Element>(negative ? -magnitude : magnitude);
    }
}

}  // namespace narrow::kernel::portable

NARROW_STRICT_END
