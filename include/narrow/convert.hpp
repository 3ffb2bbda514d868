// Arrays from one format to another.
#pragma once

#include "kernel/convert.hpp"
#include "matrix_view.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// The policy that a type rounds by: its own, or that of the built-in types.
template <class T> struct policy_of { using type = rounding::nearest_even; };
template <narrow_scalar T> struct policy_of<T> { using type = typename T::round_policy; };

using kernel::convert;

template <class R> using element_t = std::remove_cv_t<std::ranges::range_value_t<R>>;

}  // namespace detail

/// to[i] = from[i] in the format of `to`, each rounded once by `round` (default: the policy of that format).
///
/// Shapes    contiguous ranges of the same size, of any narrow or built-in types; they may be the same memory
///           only where the types are the same.
/// Rounding  into a narrow format by `round`, element i under index i; into a built-in type to nearest, ties to even, under
///           any state of the caller's floating-point control register.
/// Special   into integers: what is beyond their range becomes its end, NaN 0.
/// Throws    std::invalid_argument naming both sizes if they differ.
template <sized_array From, sized_array To,
          rounding_policy Round = typename detail::policy_of<detail::element_t<To>>::type>
void convert(const From& from, To&& to, const Round& round = Round{}) {
  const std::size_t n = std::ranges::size(from), m = std::ranges::size(to);
  detail::check_shapes(n == m, "narrow::convert", "from", n, "to", m);
  detail::convert(std::ranges::data(from), std::ranges::data(to), n, round);
}

}  // namespace narrow
