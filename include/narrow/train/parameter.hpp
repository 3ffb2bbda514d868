// Parameters that must lie in a range.
#pragma once

#include <string>
#include <string_view>

#include "../errors.hpp"
#include "../math.hpp"
#include "../matrix_view.hpp"

namespace narrow::inline NARROW_ABI::detail {

[[noreturn]] inline void refuse_parameter(std::string_view owner, std::string_view name, double value,
                                          const std::string& range) {
  detail::fail<std::invalid_argument>(std::string(owner) + ": " + std::string(name) + " is " +
                                      to_text(value) + ", must be in " + range);
}

/// Throws std::invalid_argument naming the parameter, its value and the range, unless low <= value <= high.
/// NaN and infinity lie in no range.
inline void check_parameter(std::string_view owner, std::string_view name, double value, double low,
                            double high) {
  if (is_finite(value) && low <= value && value <= high) return;
  refuse_parameter(owner, name, value, std::string("[") + to_text(low) + ", " + to_text(high) + "]");
}

/// The same unless low < value < high.
inline void check_parameter_inside(std::string_view owner, std::string_view name, double value, double low,
                                   double high) {
  if (is_finite(value) && low < value && value < high) return;
  refuse_parameter(owner, name, value, std::string("(") + to_text(low) + ", " + to_text(high) + ")");
}

}  // namespace narrow::inline NARROW_ABI::detail
