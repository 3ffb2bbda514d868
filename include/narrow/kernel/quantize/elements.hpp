// Blocks of floats to elements that share a scale, and back: the loops, in plain C++.
#pragma once

#include <bit>
#include <cmath>

#include "../../format/operators.hpp"
#include "../../matrix_view.hpp"
#include "../../runtime/environment.hpp"
#include "../../simd/dispatch.hpp"
#include "../../simd/kernel_table.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel::portable {

/// The logical index of element (i, j) of a view: what a policy that draws random numbers tells elements by.
struct element_order {
  std::uint64_t first = 0;
  std::uint64_t row_step = 0, col_step = 1;

  constexpr std::uint64_t operator()(index i, index j) const {
    return first + static_cast<std::uint64_t>(i) * row_step + static_cast<std::uint64_t>(j) * col_step;
  }
  /// Of the part that begins at (i, j).
  constexpr element_order at(index i, index j) const { return {(*this)(i, j), row_step, col_step}; }
  constexpr element_order transposed() const { return {first, col_step, row_step}; }
};

/// Gathers nothing.
struct no_statistic {
  static constexpr bool largest_suffices = true;
  template <class Magnitude> constexpr void add(Magnitude) {}
};

/// The columns of matrices of one shape.
template <class From, class To>
line_block columns_of(const matrix_view<From>& from, const matrix_view<To>& to) {
  return {.n = from.rows, .lines = from.cols, .from_stride = from.col_stride, .to_stride = to.col_stride};
}

/// What is worth the call of a kernel.
inline constexpr index fewest_surveyed = 16;

/// Adds the magnitudes of all elements to the statistic; returns how many are not finite.
template <class T, class Statistic>
NARROW_KERNEL std::size_t survey(matrix_view<const T> x, Statistic& statistic) {
  using layout = std::conditional_t<std::same_as<T, float>, detail::binary32, detail::binary64>;
  if (detail::lies_by_rows(x)) x = x.transposed();
  Statistic local = statistic;
  std::size_t nonfinite = 0;
  if constexpr (std::same_as<T, float> && requires { Statistic::largest_suffices; })
    if (const auto kernel = dispatch::instance().kernels().get<&kernel_table::survey>();
        kernel && x.row_stride == 1 && x.rows * x.cols >= fewest_surveyed) {
      const line_block lines = columns_of(x, x).joined();
      std::uint32_t largest = 0;
      nonfinite = kernel(x.data, lines, block_runs::one(lines), &largest);
      statistic.add(largest);
      if (nonfinite != 0) statistic.add(layout::infinity);
      return nonfinite;
    }
  for (index j = 0; j < x.cols; ++j) {
    std::uint32_t count = 0;
    const auto line = [&](index stride) {
      const T* from = x.col(j).data;
      for (index i = 0; i < x.rows; ++i) {
        const auto magnitude =
            std::bit_cast<typename layout::bits_type>(from[i * stride]) & layout::magnitude_mask;
        count += magnitude >= layout::infinity ? 1 : 0;
        local.add(magnitude);
      }
    };
    x.row_stride == 1 ? line(1) : line(x.row_stride);
    nonfinite += count;
  }
  statistic = local;
  return nonfinite;
}

template <class Statistic>
NARROW_KERNEL std::size_t survey(matrix_view<const long double> x, Statistic& statistic) {
  using layout = detail::binary64;
  std::size_t nonfinite = 0;
  for (index j = 0; j < x.cols; ++j)
    for (index i = 0; i < x.rows; ++i) {
      auto number = detail::unpack(x(i, j));
      number.of = sign::positive;
      nonfinite += number.what == detail::kind::infinite || number.what == detail::kind::nan ? 1 : 0;
      if constexpr (requires { statistic.add(number); })
        statistic.add(number);
      else
        statistic.add(detail::pack_code<layout>(number, rounding::to_odd{}, overflow::ieee{}));
    }
  return nonfinite;
}

/// What the scales of a format are.
enum class scale_kind { power_of_two, real };

/// What numbers are multiplied by to be divided by a positive scale.
inline double inverse_of(double scale) { return 1 / scale; }

// The quotient of an element and its scale, as exact as rounding to an integer can tell. NaN gives 0.

template <std::floating_point T> double number_or_zero(T x) {
  using layout = std::conditional_t<std::same_as<T, float>, detail::binary32, detail::binary64>;
  const bool nan = (std::bit_cast<typename layout::bits_type>(x) & layout::magnitude_mask) > layout::infinity;
  return nan ? T{0} : x;
}

/// By a power of two: exact.
struct exact_quotient {
  double inverse;
  template <class T> double operator()(T x) const { return number_or_zero(x) * inverse; }
};

/// By any float, for quotients of up to 2^17: to the nearest multiple of 2^-30. A quotient of two floats is
/// half an integer, or further than 2^-27 from it; so integers and ties are met, and nothing else is. Near 0,
/// where that is not so, it is left alone.
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

/// How the elements of one line are rounded: most policies treat all of them alike.
template <class Round> struct line_rounding {
  const Round& round;
  line_rounding(const Round& policy, std::uint64_t, std::uint64_t, index) : round(policy) {}
  bool describe(element_draws&) const { return true; }
  template <class Element> Element element(double quotient, const element_range& range, index) const {
    return to_element<Element>(quotient, range, round);
  }
};
template <class Round>
requires requires(const Round& round) { round.at(0); }
struct line_rounding<Round> {
  const Round& round;
  std::uint64_t first, step;
  line_rounding(const Round& policy, std::uint64_t first_index, std::uint64_t index_step, index)
      : round(policy), first(first_index), step(index_step) {}
  bool describe(element_draws&) const { return false; }
  template <class Element> Element element(double quotient, const element_range& range, index i) const {
    return to_element<Element>(quotient, range, round.at(first + static_cast<std::uint64_t>(i) * step));
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

  /// For a kernel; false if the line has more than one key.
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

/// A member of the quantize_kernels of Elements.
template <std::signed_integral Element, auto Member> auto quantizers_of(kernel_set t) {
  if constexpr (sizeof(Element) == 1)
    return t.get<&kernel_table::quantize_int8, Member>();
  else if constexpr (sizeof(Element) == 2)
    return t.get<&kernel_table::quantize_int16, Member>();
  else
    return t.get<&kernel_table::quantize_int32, Member>();
}

/// That of the instruction set in use for Elements rounded by Round; null if there is none.
template <class Element, class Round> auto quantize_kernel() {
  using kernels = quantize_kernels<Element>;
  if constexpr (std::signed_integral<Element> && sizeof(Element) <= sizeof(std::int32_t)) {
    const kernel_set t = dispatch::instance().kernels();
    if constexpr (std::same_as<Round, rounding::nearest_even>)
      return quantizers_of<Element, &kernels::nearest_even>(t);
    if constexpr (std::same_as<Round, rounding::toward_zero>)
      return quantizers_of<Element, &kernels::toward_zero>(t);
    if constexpr (std::same_as<Round, rounding::stochastic>)
      return quantizers_of<Element, &kernels::stochastic>(t);
  }
  return typename kernels::kernel{};
}

/// The same as `quantize` by a kernel; false if there is none for it.
template <class Element, class Round>
bool quantize_lines(matrix_view<const float> x, matrix_view<Element> q, double inverse, scale_kind kind,
                    const element_range& range, const Round& round, const element_order& order) {
  const auto kernel = quantize_kernel<Element, Round>();
  constexpr bool draws = std::same_as<Round, rounding::stochastic>;
  if (!kernel || (q.row_stride != 1 && !draws)) return false;  // cheap policies do not repay two copies
  constexpr index few = 4;                                     // nor do they repay the call
  if (q.rows * q.cols <= few) return false;
  quantization how{range.lowest, range.highest, kind == scale_kind::real};
  if (!describe(how.draws, round, order, q.rows, q.cols)) return false;
  if (x.row_stride == 1 && q.row_stride == 1) {
    const bool joins = !draws || order.col_step == order.row_step * static_cast<std::uint64_t>(q.rows);
    const line_block lines = joins ? columns_of(x, q).joined() : columns_of(x, q);
    kernel(x.data, q.data, lines, how, block_runs::one(lines), &inverse);
    return true;
  }
  // By way of lines without gaps.
  constexpr index longest = 512;
  float floats[longest];
  Element elements[longest];
  for (index j = 0; j < q.cols; ++j)
    for (index i = 0; i < q.rows; i += longest) {
      const index count = std::min(longest, q.rows - i);
      for (index k = 0; k < count; ++k) floats[k] = x(i + k, j);
      quantization part = how;
      part.draws.first += static_cast<std::uint32_t>(order(i, j) - order(0, 0));
      const line_block line{.n = count};
      kernel(floats, elements, line, part, block_runs::one(line), &inverse);
      for (index k = 0; k < count; ++k) q(i + k, j) = elements[k];
    }
  return true;
}

/// The same for any policy, type of number and layout, one number at a time.
template <class T, class Element, class Quotient, class Round>
void quantize_elements(const matrix_view<const T>& x, const matrix_view<Element>& q, const Quotient& quotient,
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

/// q(i, j) from x(i, j) over one scale, rounded under the index order(i, j). Scales of doubles are powers of
/// two.
template <class T, class Element, class Round>
NARROW_KERNEL void quantize(matrix_view<const T> x, matrix_view<Element> q, double scale, scale_kind kind,
                            const element_range& range, const Round& round, element_order order) {
  if (detail::lies_by_rows(q)) {
    x = x.transposed();
    q = q.transposed();
    order = order.transposed();
  }
  const double inverse = inverse_of(scale);
  if constexpr (std::same_as<T, float>) {
    if (quantize_lines(x, q, inverse, kind, range, round, order)) return;
    if (kind == scale_kind::real) return quantize_elements(x, q, real_quotient{inverse}, range, round, order);
  }
  quantize_elements(x, q, exact_quotient{inverse}, range, round, order);
}

}  // namespace narrow::inline NARROW_ABI::kernel::portable

NARROW_STRICT_END
