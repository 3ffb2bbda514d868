// The statements of Eigen that the fuzz target of expressions chooses from, each beside what it makes of one
// coefficient of its operands.
#pragma once

#include <cmath>
#include <narrow/eigen.hpp>

#include "sums.hpp"

namespace nodes {

using Eigen::Index;

/// What expressions of T compute in: float, rounded to T at the end, and for fixed T itself.
template <class T> using number = std::conditional_t<narrow::narrow_float<T>, float, T>;
/// A factor that stands beside matrices.
template <class T> using factor = std::conditional_t<narrow::narrow_float<T>, float, narrow::detail::literal>;

template <class N> N larger(N p, N q) { return p < q ? q : p; }
template <class N> N smaller(N p, N q) { return q < p ? q : p; }
/// A function within an expression gives the float that is nearest to it.
template <class N> N tanh_of(N p) {
  if constexpr (std::same_as<N, float>)
    return static_cast<float>(std::tanh(static_cast<long double>(p)));
  else
    return tanh(p);
}
/// A product that is rounded before it is added to something, whatever the compiler would fuse.
template <class N> N rounded(N product) {
  if constexpr (std::same_as<N, float>) {
    const volatile float kept = product;
    return kept;
  } else {
    return product;
  }
}

// Statements whose coefficients depend on those in the same place: `to` before, a and b of T, x of float, and
// the float k; beside them the values o, p, q, f and l. T is the format, and where an operand is T(p) it is a
// number that was not computed.
#define NARROW_FUZZED_COEFFICIENTS(NODE)                                                     \
  NODE(to = a + b, p + q)                                                                    \
  NODE(to = a - k * b, p - rounded<N>(l * q))                                                \
  NODE(to = a.cwiseProduct(b) + a, rounded<N>(p * q) + p)                                    \
  NODE(to = a.cwiseQuotient(b), p / q)                                                       \
  NODE(to = (a * k).cwiseAbs() - b.cwiseAbs2(), abs(N(p * l)) - rounded<N>(q * q))           \
  NODE(to = a.cwiseAbs().cwiseSqrt() - b, sqrt(abs(p)) - q)                                  \
  NODE(to = a.cwiseMax(b).cwiseMin(T(k)), smaller<N>(larger<N>(p, q), N(T(l))))              \
  NODE(to = (a.array() < b.array()).select(a, b * k), p < q ? p : N(q * l))                  \
  NODE(to = (a.array() <= T(k) && !(b.array() == a.array())).select(a + b, -b),              \
       p <= N(T(l)) && !(q == p) ? p + q : -q)                                               \
  NODE(to.array() = (a - b).array().cube(), N(N((p - q) * (p - q)) * (p - q)))               \
  NODE(to.array() = (a * k).array().floor() + b.array().round(), floor(N(p * l)) + round(q)) \
  NODE(to.array() = a.array().exp(), exp(T(p)))                                              \
  NODE(to.array() = k * a.array().tanh(), l * tanh_of<N>(p))                                 \
  NODE(to += a, o + p)                                                                       \
  NODE(to -= k * b, o - rounded<N>(l * q))                                                   \
  NODE(to.array() *= b.array(), o * q)                                                       \
  NODE(to = (x * k).template cast<T>(), f * k)                                               \
  NODE(to.array() = (a.array() < b.array()).template cast<T>() * b.array(), (p < q ? N(1) : N(0)) * q)

#define NARROW_COUNT(statement, value) +1
inline constexpr std::size_t coefficient_nodes = 0 NARROW_FUZZED_COEFFICIENTS(NARROW_COUNT);
#undef NARROW_COUNT

/// Runs a statement on matrices.
template <class T, class To, class A, class B, class X>
void assign(std::size_t node, To&& to, const A& a, const B& b, const X& x, float k) {
  std::size_t place = 0;
#define NARROW_ASSIGN(statement, value) \
  if (place++ == node) statement;
  NARROW_FUZZED_COEFFICIENTS(NARROW_ASSIGN)
#undef NARROW_ASSIGN
}

/// The same of one coefficient.
template <class T> T value(std::size_t node, T old, T a, T b, float f, float k) {
  using N = number<T>;
  using narrow::abs, narrow::floor, narrow::round, narrow::sqrt, std::abs, std::floor, std::round, std::sqrt;
  const N o(old), p(a), q(b);
  const factor<T> l(k);
  std::size_t place = 0;
#define NARROW_VALUE(statement, value) \
  if (place++ == node) return T(value);
  NARROW_FUZZED_COEFFICIENTS(NARROW_VALUE)
#undef NARROW_VALUE
  return old;
}

// Products and sums: what floats are added up to depends on the instruction set, within a bound.
enum class sum_node { product, scaled_product, sums_of_rows, sums_of_columns, whole };
inline constexpr std::size_t sum_nodes = 5;

template <class T, class To, class A, class B>
void assign(sum_node node, To&& to, const A& a, const B& b, float k) {
  const Index depth = std::min(a.cols(), b.rows());
  switch (node) {
    case sum_node::product:
      to = (a.leftCols(depth) * b.topRows(depth)).eval();
      break;
    case sum_node::scaled_product:
      to.noalias() = k * a.leftCols(depth) * b.topRows(depth);
      break;
    case sum_node::sums_of_rows:
      to.col(0) = a.rowwise().sum();
      break;
    case sum_node::sums_of_columns:
      to.row(0) = a.cwiseProduct(b).colwise().sum();
      break;
    case sum_node::whole:
      to(0, 0) = (a + b).sum();
      break;
  }
}

}  // namespace nodes
