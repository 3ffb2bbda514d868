// The gradients of one tensor over some steps, and how far they point in different directions.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "../kernel/environment.hpp"
#include "array_access.hpp"
#include "parameter.hpp"

NARROW_STRICT_BEGIN

namespace narrow::detail {

/// The sum of the squares, in double; not finite if and only if an element is not. The squares of floats are
/// exact, and too few to overflow.
template <std::floating_point T> NARROW_KERNEL double squared_norm(const T* x, std::size_t n) {
  const float_environment guard;
  constexpr std::size_t lanes = 4;  // additions that do not wait for one another
  double sums[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const double value = x[i + lane];
      sums[lane] += uncontracted(value * value);
    }
  for (; i < n; ++i) {
    const double value = x[i];
    sums[i % lanes] += uncontracted(value * value);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// to += x / divisor.
NARROW_KERNEL inline void add_quotients(const float* x, double divisor, double* to, std::size_t n) {
  const float_environment guard;
  for (std::size_t i = 0; i < n; ++i) to[i] += double{x[i]} / divisor;
}

/// The sum of gradients, and what is needed of each alone.
class gradient_window {
 public:
  gradient_window() = default;
  /// Of gradients of so many elements.
  explicit gradient_window(std::size_t size) : sum_(size) {}

  std::uint64_t count() const { return count_; }
  std::size_t size() const { return sum_.size(); }

  /// Adds g / divisor, whose squared norm is `squares`.
  void add(std::span<const float> g, double divisor, double squares) {
    add_quotients(g.data(), divisor, sum_.data(), g.size());
    squares_ = sum_of(squares_, squares);
    ++count_;
  }

  /// sum ||g|| / ||sum g|| of gradients of norm 1: at least 1, infinite where they cancel.
  NARROW_KERNEL double diversity() const {
    const float_environment guard;
    return std::max(1.0, static_cast<double>(count_) / std::sqrt(squared_norm(sum_.data(), sum_.size())));
  }

  /// sum ||g||^2 / ||sum g||^2: not finite where they cancel or all are zero.
  NARROW_KERNEL double squared_diversity() const {
    const float_environment guard;
    return squares_ / squared_norm(sum_.data(), sum_.size());
  }

  void clear() {
    count_ = 0;
    squares_ = 0;
    sum_.assign(sum_.size(), 0);
  }

  template <class Archive, class Self> static void state(Archive& archive, Self& self) {
    archive("count", self.count_);
    archive("squares", self.squares_);
    archive("sum", self.sum_);
  }

  /// Throws std::invalid_argument unless it is a window of gradients of this layout.
  void check(const array_layout& layout) const {
    check_parameter("narrow::gradient_window", "squares", squares_, 0, std::numeric_limits<double>::max());
    if (!is_layout_of(layout, std::ssize(sum_)))
      throw std::invalid_argument("a window of gradients contradicts their layout");
  }

  friend bool operator==(const gradient_window&, const gradient_window&) = default;

 private:
  NARROW_KERNEL static double sum_of(double a, double b) {
    const float_environment guard;
    return a + b;
  }

  std::uint64_t count_ = 0;
  double squares_ = 0;  // sum ||g||^2
  std::vector<double> sum_;
};

/// Throws std::invalid_argument, naming both shapes where these differ, unless elements that correspond stand
/// at the same place in both arrays.
inline void check_layouts(const array_layout& a, const array_layout& b, std::string_view function,
                          std::string_view role_a, std::string_view role_b) {
  check_shapes(a.same_shape(b), function, role_a, a.shape(), role_b, b.shape());
  if (!a.same_places(b))
    throw std::invalid_argument(std::string(function) + ": " + std::string(role_a) + " and " +
                                std::string(role_b) + " have different storage orders");
}

}  // namespace narrow::detail

NARROW_STRICT_END
