// OCP Microscaling (MX) formats: small elements that share a power of two in blocks of 32.
#pragma once

#include "../format/catalog.hpp"
#include "../format/limits.hpp"
#include "product.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI {

/// A power of two from 2^-127 to 2^127, or NaN: E8M0, eight bits that are an exponent and nothing else.
class e8m0 {
 public:
  /// The code of 2^0.
  static constexpr int bias = detail::binary32::bias;

  constexpr e8m0() = default;
  /// x is a power of two in the range, or not finite, which gives NaN.
  explicit constexpr e8m0(float x) noexcept
      : bits_(detail::magnitude_bits(x) >= detail::binary32::infinity
                  ? nan_bits
                  : static_cast<std::uint8_t>(detail::leading_exponent(detail::magnitude_bits(x)) + bias)) {}
  /// The number with code `bits`; 255 is NaN.
  static constexpr e8m0 from_bits(std::uint8_t bits) noexcept {
    e8m0 result;
    result.bits_ = bits;
    return result;
  }

  constexpr std::uint8_t bits() const noexcept { return bits_; }
  /// The value, exact.
  constexpr operator float() const noexcept {
    return bits_ == nan_bits ? std::numeric_limits<float>::quiet_NaN()
                             : detail::power_of_two(int{bits_} - bias);
  }
  /// Whether the codes are equal: NaN equals itself.
  friend constexpr bool operator==(e8m0 a, e8m0 b) noexcept { return a.bits_ == b.bits_; }

 private:
  static constexpr std::uint8_t nan_bits = 0xff;
  std::uint8_t bits_ = 0;  // 2^-127
};

namespace detail {

template <class Element> struct mx_element { using type = Element; };
template <> struct mx_element<int8> { using type = fixed<8, 6>; };

template <class Element>
concept mx_scalar = narrow_scalar<Element> && sizeof(Element) == 1;

/// The largest magnitude of a block, or that something in it is not finite.
template <class Layout> struct largest_or_nonfinite {
  using bits_type = typename Layout::bits_type;
  static constexpr bool absmax_suffices = true;
  template <std::floating_point Value> using over = largest_or_nonfinite<layout_of_built_in_t<Value>>;

  bits_type bits = 0;
  constexpr void add(bits_type magnitude) { bits = bits < magnitude ? magnitude : bits; }
};

/// The exponent of the largest magnitude less that of the largest element, from -127 to 127; NaN where
/// something is not finite.
template <class Element> struct mx_step {
  static constexpr bool power_of_two = true;
  static constexpr float smallest = e8m0::from_bits(0);
  static constexpr int largest_element =
      leading_exponent(magnitude_bits(static_cast<float>(std::numeric_limits<Element>::max())));

  template <class Round, std::unsigned_integral Magnitude>
  static constexpr float reaching(Magnitude magnitude) {
    using layout = std::conditional_t<std::same_as<Magnitude, std::uint32_t>, binary32, binary64>;
    if (magnitude >= layout::infinity) return std::numeric_limits<float>::quiet_NaN();
    if (magnitude == 0) return smallest;
    const int leading = std::min(leading_exponent(magnitude), binary32::max_exponent);
    return detail::power_of_two(std::clamp(leading - largest_element, -e8m0::bias, e8m0::bias));
  }
};

}  // namespace detail

/// The MX formats: elements of at most 8 bits times an E8M0 scale for each block, 32 along a row.
///
/// Element   fp8_e5m2, fp8_e4m3fn, fp6_e3m2, fp6_e2m3, fp4_e2m1; int8 stands for integers from -127 to 127 in
///           units of 2^-6, which are stored as fixed<8, 6>.
/// Scale     2^(floor(log2(largest magnitude)) - exponent of the largest element), held to -127..127.
/// Rounding  x / scale once by Round, subnormals kept; what is beyond the largest element saturates.
/// Special   a NaN or an infinity makes its block's scale NaN, and with it every value of the block. What is
///           finite but beyond float's range counts as float's largest number. A block of zeros has the scale
///           2^-127.
/// Products  a factor that is not in blocks is quantised likewise, in blocks along the summed dimension; so do
///           two tensors meet in gemm(a, transposed(b), c). Of int8, fp6 and fp4 32 products at a time are
///           added exactly then, the scaled sums in float, with the same bits everywhere. Of fp8, and where
///           blocks lie across the sums, as those of b do in gemm(a, b, c), the values are multiplied and
///           added in float: as bf16, which holds them, unless they or sums of them leave the normal floats.
/// Source    OCP Microscaling Formats (MX) Specification v1.0 (2023), sections 5 and 6.
template <class Element, class Block = tile<1, 32>, class Round = rounding::nearest_even>
class mx : public detail::lone_number<float> {
 public:
  using lone_number::lone_number;

  using element_type = typename detail::mx_element<Element>::type;
  using scale_type = e8m0;
  using block_type = Block;
  using round_policy = Round;
  template <class OtherBlock, class OtherRound = Round> using with = mx<Element, OtherBlock, OtherRound>;
  /// For the library itself: what the other factor of a product is quantised to.
  template <detail::side Side>
  using partner = with<std::conditional_t<Side == detail::side::left, tile<1, 32>, tile<32, 1>>>;

  static_assert(detail::mx_scalar<element_type>,
                "narrow::mx<Element>: Element must be int8 or a narrow scalar of at most 8 bits");
  static_assert(granularity<Block>,
                "narrow::mx: Block must be per_tensor, per_row, per_column or tile<Rows, Cols>");
  static_assert(rounding_policy<Round>, "narrow::mx: Round must be a rounding policy, see narrow::rounding");

  /// For the library itself.
  using step = detail::mx_step<element_type>;
  using statistic = detail::largest_or_nonfinite<detail::binary32>;
  using write_statistic = statistic;
  /// The largest magnitude of an element.
  static constexpr float limit = static_cast<float>(std::numeric_limits<element_type>::max());
};

}  // namespace narrow

NARROW_STRICT_END
