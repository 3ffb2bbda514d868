// Single numbers: operations that do not wait for each other, and those that each wait for the one before.
#include "side.hpp"

namespace narrow_bench {

namespace {

constexpr Index numbers = 256;

/// Computes in double and rounds each result: for formats of up to 25 bits the exact result rounded once.
template <class T> struct rounded_double {
  double value = 0;

  rounded_double() = default;
  explicit rounded_double(double x) : value(static_cast<double>(T(x))) {}
  explicit operator double() const { return value; }

  friend rounded_double operator+(rounded_double a, rounded_double b) {
    return rounded_double(a.value + b.value);
  }
  friend rounded_double operator-(rounded_double a, rounded_double b) {
    return rounded_double(a.value - b.value);
  }
  friend rounded_double operator*(rounded_double a, rounded_double b) {
    return rounded_double(a.value * b.value);
  }
  friend rounded_double operator/(rounded_double a, rounded_double b) {
    return rounded_double(a.value / b.value);
  }
};

/// The factors 5/4 and 4/5 in turns keep a chain of products in the range of every format.
template <class T, class Format> struct scalars {
  std::vector<T> a, b, factor, y;

  scalars() : y(static_cast<std::size_t>(numbers)) {
    for (const float x : random_floats(y.size(), 1)) a.push_back(number(x));
    for (const float x : random_floats(y.size(), 2)) b.push_back(number(x));
    for (std::size_t i = 0; i < y.size(); ++i) factor.push_back(number(i % 2 == 0 ? 1.25f : 0.8f));
  }
  static T number(float x) { return static_cast<T>(static_cast<double>(static_cast<float>(Format(x)))); }
  Eigen::ArrayXd result() const {
    Eigen::ArrayXd wide(numbers);
    for (Index i = 0; i < numbers; ++i) wide[i] = static_cast<double>(y[static_cast<std::size_t>(i)]);
    return wide;
  }
};

/// Keeps a number where it is, which neither a vector nor a register for the next one would do.
template <class T> void keep(T& x) { asm volatile("" : "+m"(x)); }

template <class Operation> void offer_both(operations& to, const std::string& name, Operation operate) {
  const work amount{"operations/s", static_cast<double>(numbers)};
  offer<scalar_formats, scalars, rounded_double>(to, {"scalar/" + name, "independent", amount},
                                                 [operate](auto& x) {
                                                   for (std::size_t i = 0; i < x.y.size(); ++i) {
                                                     x.y[i] = operate(x.a[i], x.factor[i]);
                                                     keep(x.y[i]);
                                                   }
                                                 });
  offer<scalar_formats, scalars, rounded_double>(to, {"scalar/" + name, "chain", amount}, [operate](auto& x) {
    auto y = x.a[0];
    for (std::size_t i = 0; i < x.y.size(); ++i) {
      y = operate(y, x.factor[i]);
      x.y[i] = y;
    }
  });
}

}  // namespace

namespace NARROW_BENCH_SIDE {

NARROW_BENCH_OFFERED operations scalars() {
  operations result;
  offer_both(result, "add", [](auto a, auto b) { return a + b; });
  offer_both(result, "subtract", [](auto a, auto b) { return a - b; });
  offer_both(result, "multiply", [](auto a, auto b) { return a * b; });
  offer_both(result, "divide", [](auto a, auto b) { return a / b; });
  return result;
}

}  // namespace NARROW_BENCH_SIDE

}  // namespace narrow_bench
