// Numbers to elements that share a scale, one at a time, in plain C++: what the kernels of every instruction
// set give, too.
#pragma once

#include <bit>
#include <cmath>

#include "../../format/operators.hpp"
#include "../../matrix_view.hpp"
#include "../../runtime/environment.hpp"
#include "../../simd/dispatch.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel::portable {

/// The logical index of element (i, j) of a view: what a policy that draws random numbers tells elements by.
struct element_order {
  std::uint64_t first = 0;
  std::uint64_t row_step = 0, col_step = 1;

  constexpr std::uint64_t operator()(index i, index j) const {
    return first + static_cast<std::uint64_t>(i) * row_step + static_cast<std::uint64_t>(j) * col_step;
  }
  /// The order of the part that begins at (i, j).
  constexpr element_order at(index i, index j) const { return {(*this)(i, j), row_step, col_step}; }
  constexpr element_order transposed() const { return {first, col_step, row_step}; }
};

/// Adds the magnitudes of all elements to a statistic; returns how many are not finite.
template <std::floating_point T, class Statistic>
std::size_t add_magnitudes(const matrix_view<const T>& x, Statistic& statistic) {
  using layout = detail::layout_of_built_in_t<T>;
  Statistic local = statistic;  // in registers
  std::size_t nonfinite = 0;
  const auto add_column = [&](const T* from, index stride) {
    std::uint32_t count = 0;
    for (index i = 0; i < x.rows; ++i) {
      if constexpr (std::same_as<T, long double>) {
        auto number = detail::unpack(from[i * stride]);
        number.of = sign::positive;
        count += number.what == detail::kind::infinite || number.what == detail::kind::nan ? 1 : 0;
        if constexpr (requires { local.add(number); })
          local.add(number);
        else
          local.add(detail::pack_code<layout>(number, rounding::to_odd{}, overflow::ieee{}));
      } else {
        const auto magnitude =
            std::bit_cast<typename layout::bits_type>(from[i * stride]) & layout::magnitude_mask;
        count += magnitude >= layout::infinity ? 1 : 0;
        local.add(magnitude);
      }
    }
    nonfinite += count;
  };
  for (index j = 0; j < x.cols; ++j)
    x.row_stride == 1 ? add_column(x.col(j).data, 1) : add_column(x.col(j).data, x.row_stride);
  statistic = local;
  return nonfinite;
}

/// What the scales of a format are.
enum class scale_kind { power_of_two, real };

/// What numbers are multiplied by to be divided by a positive scale.
inline double inverse_of(double scale) { return 1 / scale; }

// The quotient of an element and its scale, as exact as rounding to an integer can tell. NaN gives 0.

template <std::floating_point T> double number_or_zero(T x) {
  using layout = detail::layout_of_built_in_t<T>;
  const bool nan = (std::bit_cast<typename layout::bits_type>(x) & layout::magnitude_mask) > layout::infinity;
  return nan ? 0.0 : static_cast<double>(x);
}

/// Divides by a power of two, exactly.
struct exact_quotient {
  double inverse;
  template <class T> double operator()(T x) const { return number_or_zero(x) * inverse; }
};

/// Divides by any float, to the nearest multiple of 2^-30, where quotients are up to 2^17. A quotient of two
/// floats is half an integer, or further than 2^-27 from it; so integers and ties are met, and nothing else
/// is. Near 0, where that is not so, it is left alone.
struct real_quotient {
  double inverse;
  double operator()(float x) const {
    constexpr double snap = 0x1.8p22, bound = 0x1p17;  // numbers of the size of snap are multiples of 2^-30
    double quotient = number_or_zero(x) * inverse;
    quotient = quotient < bound ? quotient : bound;
    quotient = quotient > -bound ? quotient : -bound;
    const double snapped = (quotient + snap) - snap;
    return snapped * snapped > 0.0625 ? snapped : quotient;
  }
};

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

/// The draws for a matrix whose columns are lines. False if they have more than one key.
template <class Round>
bool describe(element_draws& draws, const Round& round, const element_order& order, index rows, index cols) {
  const std::uint64_t first = order(0, 0), last = order(rows - 1, cols - 1);
  if (!line_rounding<Round>(round, first, 1, static_cast<index>(last - first)).describe(draws)) return false;
  draws.step = static_cast<std::uint32_t>(order.row_step);
  draws.line_step = static_cast<std::uint32_t>(order.col_step);
  return true;
}

/// q(i, j) from quotient(x(i, j)), rounded under the index order(i, j): any policy, type of number and
/// layout.
template <class T, class Element, class Quotient, class Round>
void encode_elements(const matrix_view<const T>& x, const matrix_view<Element>& q, const Quotient& quotient,
                     const element_range& range, const Round& round, const element_order& order) {
  const bool contiguous = x.row_stride == 1 && q.row_stride == 1;
  for (index j = 0; j < q.cols; ++j) {
    const line_rounding<Round> line(round, order(0, j), order.row_step, q.rows);
    const T* from = x.col(j).data;
    Element* to = q.col(j).data;
    const auto run = [&, from_stride = x.row_stride, to_stride = q.row_stride](auto side_by_side) {
      const index a = side_by_side ? 1 : from_stride, b = side_by_side ? 1 : to_stride;
      for (index i = 0; i < q.rows; ++i)
        to[i * b] = line.template element<Element>(quotient(from[i * a]), range, i);
    };
    if (contiguous)
      run(std::true_type{});
    else
      run(std::false_type{});
  }
}

/// q(i, j) from x(i, j) over a scale that is NaN, and makes NaNs of all values. Its inverse counts as 0:
/// numbers become zeros, and infinities the largest element.
template <class T, class Element>
void encode_over_nan(const matrix_view<const T>& x, const matrix_view<Element>& q,
                     const element_range& range) {
  for (index j = 0; j < q.cols; ++j)
    for (index i = 0; i < q.rows; ++i) {
      const auto number = detail::unpack(x(i, j));
      const bool infinite = number.what == detail::kind::infinite;
      if constexpr (narrow_float<Element>) {
        using layout = typename Element::layout;
        const bool negative = number.of == sign::negative && number.what != detail::kind::nan;
        q(i, j) = infinite                                ? std::numeric_limits<Element>::max()
                  : negative && layout::has_negative_zero ? Element::from_bits(layout::sign_mask)
                                                          : Element();
      } else {
        q(i, j) = static_cast<Element>(infinite ? range.highest : 0);
      }
    }
}

/// x(i, j) = q(i, j) scale, rounded to float.
template <class Element>
void decode_elements(const matrix_view<const Element>& q, float scale, const matrix_view<float>& x) {
  for (index j = 0; j < x.cols; ++j)
    for (index i = 0; i < x.rows; ++i)
      x(i, j) = static_cast<float>(static_cast<double>(static_cast<float>(q(i, j))) * double(scale));
}

}  // namespace narrow::kernel::portable

NARROW_STRICT_END
