// Arrays from one format to another.
#pragma once

#include <array>

#include "format/operators.hpp"
#include "kernel/convert/encode.hpp"
#include "kernel/convert/streaming.hpp"
#include "matrix_view.hpp"
#include "runtime/environment.hpp"

namespace narrow::inline NARROW_ABI {

namespace detail {

/// The policy that a type rounds by: its own, or that of the built-in types.
template <class T> struct policy_of { using type = rounding::nearest_even; };
template <narrow_scalar T> struct policy_of<T> { using type = typename T::round_policy; };

/// Element i under index index + i step.
template <class From, narrow_scalar To, rounding_policy Round>
void convert(const From* from, To* to, std::size_t n, const Round& round, std::uint64_t index = 0,
             std::uint64_t step = 1) {
  const auto one_by_one = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      to[i] = narrow_cast<To>(from[i], at_element(round, index + i * step));
  };
  using overflow = typename To::overflow_policy;
  // Through floats that are rounded to the same; never where both may be the same memory.
  if constexpr (!std::same_as<From, To> && kernel::has_float_stand_in<From, To, Round>) {
    const float_environment guard;
    constexpr std::size_t piece = 2048;  // what is done again where there is a NaN
    std::array<float, std::same_as<From, float> ? 1 : piece> buffer;
    kernel::pieces_of_array<To, piece> pieces(to, n, n * sizeof(From));
    for (std::size_t i = 0; i < n; i += piece) {
      const std::size_t count = std::min(piece, n - i);
      const auto length = static_cast<std::ptrdiff_t>(count);
      const float* const floats = kernel::float_stand_ins(from + i, length, buffer.data());
      if (kernel::encode_line<To, overflow>(floats, pieces.room(i), length, round, index + i * step, step))
        pieces.written(i, count);
      else
        one_by_one(i, i + count);
    }
  } else {
    one_by_one(0, n);
  }
}
/// The nearest integer, ties to even; the nearest one that T has, and for NaN 0.
template <std::integral T, class From> T nearest_integer(const From& x) {
  const auto number = unpack(x);
  using limits = std::numeric_limits<T>;
  const bool negative = number.of == sign::negative;
  if (number.what == kind::nan || number.what == kind::zero) return 0;
  if (number.what == kind::infinite || number.leading() >= limits::digits)
    return negative ? limits::min() : limits::max();
  const auto magnitude = round_to_multiple(number, 0, rounding::nearest_even{});
  constexpr auto most = static_cast<std::uint64_t>(limits::max());
  if (negative) {
    const auto least = limits::is_signed ? most + 1 : 0;
    return magnitude >= least ? limits::min() : static_cast<T>(-static_cast<std::int64_t>(magnitude));
  }
  return magnitude >= most ? limits::max() : static_cast<T>(magnitude);
}

/// Floating-point arithmetic, unlike the conversion into a narrow format: in an environment of its own.
template <class From, builtin_arithmetic To, rounding_policy Round>
void convert(const From* from, To* to, std::size_t n, const Round&) {
  const float_environment guard;
  if constexpr (std::same_as<To, float> && !std::same_as<From, float>) {
    constexpr std::size_t piece = 4096;
    kernel::pieces_of_array<float, piece> pieces(to, n, n * sizeof(From));
    for (std::size_t i = 0, count; i < n; i += count) {
      count = pieces.room_for(n - i);
      kernel::decode(kernel::dispatch::instance().kernels(), from + i, 1, pieces.room(i),
                     static_cast<std::ptrdiff_t>(count));
      pieces.written(i, count);
    }
  } else if constexpr (std::integral<To> && !std::same_as<To, bool>) {
    for (std::size_t i = 0; i < n; ++i) to[i] = nearest_integer<To>(from[i]);
  } else {
    for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
  }
}

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

}  // namespace narrow::inline NARROW_ABI
