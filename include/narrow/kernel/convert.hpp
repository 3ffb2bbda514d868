// The door to conversions: arrays from one format to another, and matrices from one layout to another.
#pragma once

#include "convert/arrays.hpp"
#include "convert/copy.hpp"
#include "convert/reverse.hpp"
#include "convert/turn.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// to[i] = from[i] in a narrow format, rounded by `round`, element i under index first + i step. The arrays
/// may be the same only where the types are.
template <class From, narrow_scalar To, rounding_policy Round>
void convert(const From* from, To* to, std::size_t n, const Round& round, std::uint64_t first = 0,
             std::uint64_t step = 1) {
  if constexpr (!std::same_as<From, To> && has_float_stand_in<From, To, Round>)
    enter([&](kernel_set t) { convert_through_floats(t, from, to, n, round, first, step); });
  else
    convert_each(from, to, n, round, first, step);
}

/// to[i] = from[i] in a built-in type, to nearest even whatever the policy; beyond an integer's range, its
/// end, and for a NaN 0.
template <class From, builtin_arithmetic To, rounding_policy Round>
void convert(const From* from, To* to, std::size_t n, const Round&) {
  enter([&](kernel_set t) { convert_to_builtin(t, from, to, n); });
}

/// to(i, j) = from(i, j), matrices of one shape that do not overlap.
template <std::floating_point T> void copy(matrix_view<const T> from, matrix_view<T> to) {
  enter([&](kernel_set t) { copy(t, from, to); });
}

}  // namespace narrow::kernel

NARROW_STRICT_END
