// What sums of products may come to when they are added up in float: their reference in double, with its
// bound.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "input.hpp"

namespace fuzz {

/// A sum in double, and what is known of its terms.
struct sums {
  double value = 0, magnitude = 0;
  std::ptrdiff_t terms = 0;
  bool is_finite = true;

  void add(double a, double b) {
    const double product = a * b;
    value += product;
    magnitude += std::abs(product);
    ++terms;
    is_finite = is_finite && std::isfinite(a) && std::isfinite(b);
  }
  /// One more factor, of what is a product then and no sum. It has a bound if no part of it, in whatever
  /// order, leaves float's normal numbers.
  void multiply(double x) {
    if (terms == 0) value = least_ = most_ = 1;
    value *= x;
    magnitude = std::abs(value);
    ++terms;
    least_ *= std::min(std::abs(x), 1.0);
    most_ *= std::max(std::abs(x), 1.0);
    is_finite = std::isfinite(x) && is_finite && least_ > 0x1p-126 && most_ < 0x1p127;
  }
  /// How far a sum in float may be away, if no part of it leaves float's range. Instructions for bf16 take
  /// what is below float's normal numbers for zero.
  double bound() const {
    constexpr double unit = 0x1p-24, least_normal = 0x1p-126;
    const double ku = static_cast<double>(terms + 1) * unit;
    return ku / (1 - ku) * magnitude + static_cast<double>(terms) * least_normal;
  }
  bool bounds() const { return is_finite && magnitude < double{std::numeric_limits<float>::max()} / 2; }
  bool allows(double got) const { return std::abs(got - value) <= bound(); }

 private:
  double least_ = 0, most_ = 0;  // of the products of some factors
};

/// The words of an input over and over again, each time turned by one more bit.
class words {
 public:
  explicit words(input& in, std::size_t most = 500) : words_(in.numbers<std::uint32_t>(most)) {
    if (words_.empty()) words_.push_back(0x3c00'3f80);  // numbers near 1
  }
  std::uint32_t operator[](std::size_t i) const {
    return std::rotl(words_[i % words_.size()], static_cast<int>(i / words_.size() % 32));
  }
  /// Number i: a narrow one of any code, or a float of any bits.
  template <class T> T number(std::size_t i) const {
    if constexpr (narrow::narrow_scalar<T>)
      return T::from_bits(static_cast<typename T::bits_type>((*this)[i]));
    else
      return std::bit_cast<T>((*this)[i]);
  }

 private:
  std::vector<std::uint32_t> words_;
};

}  // namespace fuzz
