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

/// The sum of n squares. add(first, count, sums) adds those of `count` numbers from number `first` on to
/// square_sums sums. Several threads compute it, and the result does not depend on how many.
template <class Add> double sum_of_squares(std::size_t n, const Add& add) {
  constexpr kernel::index piece = 1 << 16;  // numbers to a partial sum: enough work for a thread to begin on
  const auto size = static_cast<kernel::index>(n);
  std::vector<double> totals((n + piece - 1) / piece);
  kernel::parallel_for_lines(size, piece, 1, [&](kernel::index first, kernel::index count) {
    for (const kernel::index end = first + count; first < end; first += piece) {
      double sums[kernel::square_sums] = {};
      add(first, std::min(piece, end - first), sums);
      double& total = totals[static_cast<std::size_t>(first / piece)];
      for (const double sum : sums) total += sum;
    }
  });
  double result = 0;
  for (const double total : totals) result += total;
  return result;
}

/// The sum of the squares of x in double. It is not finite if and only if an element is not: squares of
/// floats are exact in double, and less than 2^256.
inline double squared_norm(std::span<const float> x) {
  return sum_of_squares(x.size(), [&](kernel::index first, kernel::index count, double* sums) {
    kernel::add_squares(x.data() + first, count, sums);
  });
}

/// The sum of several gradients of one tensor, and of their squared norms.
class gradient_window {
 public:
  gradient_window() = default;
  /// A window of gradients of `size` elements.
  explicit gradient_window(std::size_t size) : sum_(size) {}

  std::uint64_t count() const { return count_; }
  std::size_t size() const { return sum_.size(); }

  /// Adds the gradient g / divisor, of which `squares` is the squared norm.
  void add(std::span<const float> g, double divisor, double squares) {
    squares_of_sum_ = sum_of_squares(g.size(), [&](kernel::index first, kernel::index count, double* sums) {
      kernel::add_quotients(g.data() + first, divisor, sum_.data() + first, count, sums);
    });
    squares_ += squares;
    ++count_;
  }

  /// sum ||g|| / ||sum g|| of gradients of norm 1: at least 1, infinite where they cancel.
  double diversity() const { return std::max(1.0, static_cast<double>(count_) / std::sqrt(squares_of_sum_)); }

  /// sum ||g||^2 / ||sum g||^2: not finite where they cancel or all are zero.
  double squared_diversity() const { return squares_ / squares_of_sum_; }

  void clear() {
    count_ = 0;
    squares_ = squares_of_sum_ = 0;
    sum_.assign(sum_.size(), 0);
  }

  template <class Field, class Self> static void fields(Field& field, Self& self) {
    constexpr double largest = std::numeric_limits<double>::max();
    field("count", self.count_);
    field("squares", self.squares_, within(0, largest));
    field("squares_of_sum", self.squares_of_sum_, within(0, largest));
    field("sum", self.sum_, each(within(-largest_sum(), largest_sum())));
  }

  /// Throws std::invalid_argument unless gradients of this layout have the window's number of elements.
  void check_layout(const array_layout& layout) const {
    if (!is_layout_of(layout, std::ssize(sum_)))
      detail::fail<std::invalid_argument>("a window of gradients contradicts their layout");
  }

  friend bool operator==(const gradient_window&, const gradient_window&) = default;

 private:
  // Gradients are floats, divided by no less than the smallest one, and as many as `count` can tell: the
  // squares of sums from a text are finite, too.
  static double largest_sum() {
    return std::ldexp(1.0, binary32::max_exponent + 1 - binary32::min_quantum + bits_of<std::uint64_t>);
  }

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

/// The layer of this name in a map from names to what has a `layout`; null where there is none. Throws
/// std::invalid_argument unless the gradient's layout is that of the layer's gradients before.
template <class Layers>
typename Layers::mapped_type* known_layer(Layers& layers, std::string_view name, const array_layout& gradient,
                                          std::string_view function) {
  const auto known = layers.find(name);
  if (known == layers.end()) return nullptr;
  check_layouts(gradient, known->second.layout, function, "gradient",
                "that of \"" + std::string(name) + "\" before");
  return &known->second;
}

}  // namespace narrow::detail

NARROW_STRICT_END
