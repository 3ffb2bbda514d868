// Ranges that parameters and fields of training state must lie in, and the error where one does not.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "../errors.hpp"
#include "../math.hpp"
#include "../matrix_view.hpp"

namespace narrow::inline NARROW_ABI::detail {

/// What values of T are compared and printed as: counts exactly, everything else as a double.
template <class T> using ranged_t = std::conditional_t<std::unsigned_integral<T>, std::uint64_t, double>;

inline std::string ranged_text(double x) { return to_text(x); }
inline std::string ranged_text(std::uint64_t x) { return std::to_string(x); }

enum class bounds { included, excluded };

/// The finite numbers from low to high. The bounds may be of any arithmetic types and enumerations.
template <class Low, class High, bounds Bounds> struct range {
  Low low;
  High high;

  template <class Number> constexpr bool has(Number x) const {
    if constexpr (std::same_as<Number, double>)
      if (!is_finite(x)) return false;
    const auto l = static_cast<Number>(low), h = static_cast<Number>(high);
    return Bounds == bounds::included ? l <= x && x <= h : l < x && x < h;
  }
  template <class Number> constexpr bool empty() const {
    const auto l = static_cast<Number>(low), h = static_cast<Number>(high);
    if constexpr (std::same_as<Number, double>)
      if (is_nan(l) || is_nan(h)) return true;
    return !(l <= h);
  }
  template <class Number> std::string text() const {
    const std::string ends =
        ranged_text(static_cast<Number>(low)) + ", " + ranged_text(static_cast<Number>(high));
    return Bounds == bounds::included ? "[" + ends + "]" : "(" + ends + ")";
  }
};

/// [low, high].
template <class Low, class High> constexpr range<Low, High, bounds::included> within(Low low, High high) {
  return {low, high};
}
/// (low, high).
template <class Low, class High> constexpr range<Low, High, bounds::excluded> inside(Low low, High high) {
  return {low, high};
}

/// A range for the number of elements of a field.
template <class Range> struct size_range { Range range; };
template <class Range> constexpr size_range<Range> size(const Range& range) { return {range}; }
/// A range for every element of a field, of a map for its values.
template <class Range> struct each_range { Range range; };
template <class Range> constexpr each_range<Range> each(const Range& range) { return {range}; }

/// Throws std::invalid_argument naming the parameter, its value and the range unless the value lies in it.
template <class T, class Range>
void check_parameter(std::string_view owner, std::string_view name, T value, const Range& range) {
  using number = ranged_t<T>;
  const auto x = static_cast<number>(value);
  if (range.has(x)) return;
  detail::fail<std::invalid_argument>(std::string(owner) + ": " + std::string(name) + " is " +
                                      ranged_text(x) + ", must be in " + range.template text<number>());
}

}  // namespace narrow::detail
