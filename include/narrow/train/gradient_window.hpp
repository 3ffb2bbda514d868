// The gradients of one tensor over some steps, and how far they point in different directions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "../errors.hpp"
#include "../kernel/reduce.hpp"
#include "../runtime/environment.hpp"
#include "../runtime/thread_pool.hpp"
#include "array_access.hpp"
#include "parameter.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::detail {

/// The sum of the squares that add(first, count, sums) adds to square_sums sums, for numbers from the first
/// on; by several threads, and the same however many they are.
template <class Add> NARROW_KERNEL double sum_of_squares(std::size_t n, const Add& add) {
  constexpr kernel::index together = 1 << 16;
  const auto size = static_cast<kernel::index>(n);
  std::vector<double> totals((n + together - 1) / together);
  kernel::in_shares(size, together, 1, [&](kernel::index first, kernel::index count) {
    for (const kernel::index end = first + count; first < end; first += together) {
      double sums[kernel::square_sums] = {};
      add(first, std::min(together, end - first), sums);
      double& total = totals[static_cast<std::size_t>(first / together)];
      for (const double sum : sums) total += sum;
    }
  });
  double result = 0;
  for (const double total : totals) result += total;
  return result;
}

/// The sum of the squares, in double; not finite if and only if an element is not. The squares of floats are
/// exact, and too few to overflow.
inline double squared_norm(std::span<const float> x) {
  const float_environment guard;
  return sum_of_squares(x.size(), [&](kernel::index first, kernel::index count, double* sums) {
    kernel::add_squares(x.data() + first, count, sums);
  });
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
  NARROW_KERNEL void add(std::span<const float> g, double divisor, double squares) {
    const float_environment guard;
    squares_of_sum_ = sum_of_squares(g.size(), [&](kernel::index first, kernel::index count, double* sums) {
      kernel::add_quotients(g.data() + first, divisor, sum_.data() + first, count, sums);
    });
    squares_ += squares;
    ++count_;
  }

  /// sum ||g|| / ||sum g|| of gradients of norm 1: at least 1, infinite where they cancel.
  NARROW_KERNEL double diversity() const {
    const float_environment guard;
    return std::max(1.0, static_cast<double>(count_) / std::sqrt(squares_of_sum_));
  }

  /// sum ||g||^2 / ||sum g||^2: not finite where they cancel or all are zero.
  NARROW_KERNEL double squared_diversity() const {
    const float_environment guard;
    return squares_ / squares_of_sum_;
  }

  void clear() {
    count_ = 0;
    squares_ = squares_of_sum_ = 0;
    sum_.assign(sum_.size(), 0);
  }

  template <class Archive, class Self> static void state(Archive& archive, Self& self) {
    archive("count", self.count_);
    archive("squares", self.squares_);
    archive("squares_of_sum", self.squares_of_sum_);
    archive("sum", self.sum_);
  }

  /// Throws std::invalid_argument unless it is a window of gradients of this layout.
  void check(const array_layout& layout) const {
    constexpr double most = std::numeric_limits<double>::max();
    check_parameter("narrow::gradient_window", "squares", squares_, 0, most);
    check_parameter("narrow::gradient_window", "squares_of_sum", squares_of_sum_, 0, most);
    if (!is_layout_of(layout, std::ssize(sum_)))
      detail::fail<std::invalid_argument>("a window of gradients contradicts their layout");
  }

  friend bool operator==(const gradient_window&, const gradient_window&) = default;

 private:
  std::uint64_t count_ = 0;
  double squares_ = 0;         // sum ||g||^2
  double squares_of_sum_ = 0;  // ||sum g||^2
  std::vector<double> sum_;
};

/// Throws std::invalid_argument, naming both shapes where these differ, unless elements that correspond stand
/// at the same place in both arrays.
inline void check_layouts(const array_layout& a, const array_layout& b, std::string_view function,
                          std::string_view role_a, std::string_view role_b) {
  check_shapes(a.same_shape(b), function, role_a, a.shape(), role_b, b.shape());
  if (!a.same_places(b))
    detail::fail<std::invalid_argument>(std::string(function) + ": " + std::string(role_a) + " and " +
                                        std::string(role_b) + " have different storage orders");
}

}  // namespace narrow::inline NARROW_ABI::detail

NARROW_STRICT_END
