// The block formats: integer mantissas times a scale that a block of elements shares.
#pragma once

#include <istream>
#include <limits>
#include <ostream>

#include "grid.hpp"
#include "scale.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// What a single object of a block format is, outside of any block: one number, not rounded.
template <std::floating_point Value> class lone_number {
 public:
  constexpr lone_number() = default;
  template <class T>
  requires arithmetic_value<T> || narrow_scalar<T>
  constexpr lone_number(T x) noexcept : value_(static_cast<Value>(x)) {}
  constexpr operator Value() const noexcept { return value_; }

  constexpr lone_number& operator+=(Value x) { return value_ += x, *this; }
  constexpr lone_number& operator-=(Value x) { return value_ -= x, *this; }
  constexpr lone_number& operator*=(Value x) { return value_ *= x, *this; }
  constexpr lone_number& operator/=(Value x) { return value_ /= x, *this; }

  template <class Char, class Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out, lone_number x) {
    return out << x.value_;
  }
  template <class Char, class Traits>
  friend std::basic_istream<Char, Traits>& operator>>(std::basic_istream<Char, Traits>& in, lone_number& x) {
    return in >> x.value_;
  }

 private:
  Value value_ = 0;
};

/// Integers of at most MagnitudeBits bits and a sign: symmetric, so that a negated block is exact.
template <int MagnitudeBits> struct integer_mantissa {
  using type = int_at_least<MagnitudeBits + 1>;
  static constexpr int limit = (1 << MagnitudeBits) - 1;
};

}  // namespace detail

/// Block floating point: m 2^e with |m| < 2^(M-1), and one exponent e for each block.
///
/// M         width of a mantissa, sign included: 2 to 16. int8 in memory up to 8, int16 above.
/// Block     what shares an exponent: per_tensor, per_row, per_column, tile<R, C>.
/// Rounding  each element to a multiple of 2^e by Round, once; a stochastic policy draws under the element's
///           row-major index.
/// Scale     2^e from Exponent: `exponent::max` (nothing saturates), `min<Bits>`, `avg<Bits>`; e is -149 (the
///           unit of float's subnormals: then the block is exact) to 129 - M.
/// Special   the scale ignores NaN and infinity; infinity saturates, NaN becomes 0. What is finite but beyond
///           float's range counts as float's largest number.
/// Source    Drumond et al., "End-to-End DNN Training with Block Floating Point Arithmetic" (2018,
///           arXiv:1804.01526v1); later versions are called "Training DNNs with Hybrid Block Floating Point".
///
/// An object of this type is one float, not rounded; arrays are `block_tensor<bfp<M>>` and, with Eigen,
/// `Eigen::Matrix<bfp<M>, ...>`.
template <int M, class Block = per_tensor, class Round = rounding::nearest_even,
          class Exponent = exponent::max>
class bfp : public detail::lone_number<float> {
  static_assert(2 <= M && M <= 16, "narrow::bfp<M>: the mantissa width M must be 2 to 16 bits");
  static_assert(granularity<Block>,
                "narrow::bfp: Block must be per_tensor, per_row, per_column or tile<Rows, Cols>");
  static_assert(rounding_policy<Round>, "narrow::bfp: Round must be a rounding policy, see narrow::rounding");

 public:
  using lone_number::lone_number;

  /// What an element is stored as.
  using element_type = typename detail::integer_mantissa<M - 1>::type;
  /// What a scale is stored as.
  using scale_type = float;
  /// What shares a scale.
  using block_type = Block;
  using round_policy = Round;
  /// This format with other blocks, or rounded otherwise.
  template <class OtherBlock, class OtherRound = Round> using with = bfp<M, OtherBlock, OtherRound, Exponent>;

  /// For the library itself.
  using step = detail::power_of_two_step<M - 1>;
  /// For the library itself.
  using statistic = typename Exponent::statistic;
  /// For the library itself.
  using write_statistic = detail::absmax;
  /// The largest magnitude of an integer.
  static constexpr int limit = detail::integer_mantissa<M - 1>::limit;

  /// For the library itself.
  template <class R, class Gathered> static constexpr float scale_of(const Gathered& s) {
    return Exponent::template step<step, R, M - 1>(s);
  }
};

/// Symmetric uniform quantisation: q s with -127 <= q <= 127, and one float s for each block.
///
/// Rounding  q is x / s rounded once by Round; a stochastic policy draws under the element's row-major index,
///           and sees 30 bits of the fraction, of types wider than float 32.
/// Scale     s is the block's largest magnitude over 127, rounded down to 17 bits: so q s is exact, the
///           largest magnitude becomes +-127 and quantising again changes nothing. Below 2^-126, where
///           float lacks those bits, the power of two that bfp<8> takes.
/// Special   the scale ignores NaN and infinity; infinity saturates, NaN becomes 0. What is finite but beyond
///           float's range counts as float's largest number.
/// Source    Zhao et al., "Distribution Adaptive INT8 Quantization for Training CNNs" (2021), section 3.
template <class Block = per_tensor, class Round = rounding::nearest_even>
class basic_int8 : public detail::lone_number<float> {
  static_assert(granularity<Block>,
                "narrow::basic_int8: Block must be per_tensor, per_row, per_column or tile<Rows, Cols>");
  static_assert(rounding_policy<Round>,
                "narrow::basic_int8: Round must be a rounding policy, see narrow::rounding");

 public:
  using lone_number::lone_number;

  using element_type = typename detail::integer_mantissa<7>::type;
  using scale_type = float;
  using block_type = Block;
  using round_policy = Round;
  template <class OtherBlock, class OtherRound = Round> using with = basic_int8<OtherBlock, OtherRound>;

  /// The largest magnitude of an integer.
  static constexpr int limit = detail::integer_mantissa<7>::limit;
  using step = detail::real_step<7>;
  using statistic = detail::absmax;
  using write_statistic = statistic;
};

/// Integers of 8 bits with one scale for the whole matrix.
using int8 = basic_int8<>;

/// A format of elements that share scales: what `block_tensor` and, with Eigen, `Eigen::Matrix` take.
template <class T>
concept block_format = granularity<typename T::block_type> && rounding_policy<typename T::round_policy> &&
    requires(const typename T::statistic& s) {
  typename T::element_type;
  typename T::scale_type;
  typename T::step;
  typename T::write_statistic;
};

}  // namespace narrow

/// A single object is a float, and has its limits.
template <narrow::block_format T> class std::numeric_limits<T> : public std::numeric_limits<float> {};
