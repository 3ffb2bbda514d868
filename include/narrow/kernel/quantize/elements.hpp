// Numbers to elements that share a scale, one at a time, in plain C++: what the kernels of every instruction
// set give, too.
#pragma once

#include <bit>

#include "../../format/operators.hpp"
#include "../../matrix_view.hpp"
#include "../convert/line_rounding.hpp"

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
