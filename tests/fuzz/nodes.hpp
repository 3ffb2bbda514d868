// The statements of Eigen that the fuzz target of expressions chooses from, each beside what it makes of one
// coefficient of its operands.
#pragma once

#include <cmath>
#include <narrow/eigen.hpp>
#include <vector>

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
inline float exp_of(float p) { return static_cast<float>(std::exp(static_cast<long double>(p))); }
/// What is stored of a function that ends an expression: of formats of at most 16 bits the exact value
/// rounded once, of wider ones the float, which may be half-way between two of their numbers where the value
/// is not.
template <class T> auto last_exp_of(number<T> p) {
  if constexpr (narrow::narrow_float<T>) {
    if constexpr (T::layout::width > 16)
      return exp_of(p);
    else
      return exp(T(p));
  } else {
    return exp(p);
  }
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
  NODE(to.array() = a.array().exp(), last_exp_of<T>(p))                                      \
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

// Products and sums: what floats are added up to, or multiplied, depends on the instruction set, within a
// bound.
enum class sum_node {
  product,
  scaled_product,
  sums_of_rows,
  sums_of_columns,
  whole,
  dot,
  squared_norm,
  product_of_all
};
inline constexpr std::size_t sum_nodes = 8;

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
    case sum_node::dot:
      to(0, 0) = a.row(0).dot(b.row(0));
      break;
    case sum_node::squared_norm:
      to(0, 0) = a.squaredNorm();
      break;
    case sum_node::product_of_all:
      to(0, 0) = a.prod();
      break;
  }
}

// Numbers from other places, and what says something of a line or of all of a matrix: the same on every
// instruction set.
enum class whole_node {
  identity,
  columns,
  rows,
  upside_down,
  turned,
  largest_of_rows,
  smallest_of_columns,
  place_of_largest,
  all,
  any,
  all_finite,
  has_nan,
  count
};
inline constexpr std::size_t whole_nodes = 13;

/// Where each of n lines comes from: some from the same one.
inline Index source_of(Index line, Index n) { return (5 * line + 2) % n; }
inline std::vector<Index> sources(Index n) {
  std::vector<Index> result;
  for (Index line = 0; line < n; ++line) result.push_back(source_of(line, n));
  return result;
}

/// Those that give what is true or a number of places.
template <class T, class A, class B> T told(whole_node node, const A& a, const B& b, float k) {
  const auto truth = [](bool holds) { return T(holds ? 1 : 0); };
  Index row = 0, col = 0;
  switch (node) {
    case whole_node::place_of_largest:
      (a - k * b).maxCoeff(&row, &col);
      return b(row, col);
    case whole_node::all:
      return truth((a.array() <= b.array()).all());
    case whole_node::any:
      return truth((a.array() == T(k)).any());
    case whole_node::all_finite:
      return truth((a + b).allFinite());
    case whole_node::has_nan:
      return truth(a.hasNaN());
    default:
      return truth((a.array() < b.array()).count() % 2 != 0);
  }
}

template <class T, class To, class A, class B>
void assign(whole_node node, To&& to, const A& a, const B& b, float k) {
  using plain = Eigen::Matrix<T, A::RowsAtCompileTime, A::ColsAtCompileTime>;
  switch (node) {
    case whole_node::identity:
      to = a + k * plain::Identity(a.rows(), a.cols());
      break;
    case whole_node::columns:
      to = a(Eigen::all, sources(a.cols()));
      break;
    case whole_node::rows:
      to = a(sources(a.rows()), Eigen::all);
      break;
    case whole_node::upside_down:
      to = a.colwise().reverse();
      break;
    case whole_node::turned:
      to = a.reverse() - b.rowwise().reverse();
      break;
    case whole_node::largest_of_rows:
      to.col(0) = a.rowwise().maxCoeff();
      break;
    case whole_node::smallest_of_columns:
      to.row(0) = (a - b).colwise().minCoeff();
      break;
    default:
      to(0, 0) = told<T>(node, a, b, k);
      break;
  }
}

/// The same of tables a and b, read one number after the other.
template <class T, class Table> T told_of(whole_node node, const Table& a, const Table& b, float k) {
  using N = number<T>;
  bool all = true, any = false, finite = true, has_nan = false, odd = false;
  T kept{}, at_kept{};
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = 0; i < a.rows; ++i) {
      const T x = a(i, j), y = b(i, j), difference(N(x) - rounded<N>(factor<T>(k) * N(y)));
      if ((i == 0 && j == 0) || kept < difference) kept = difference, at_kept = y;
      all = all && x <= y;
      any = any || x == T(k);
      finite = finite && std::isfinite(static_cast<double>(N(x) + N(y)));
      has_nan = has_nan || x != x;
      odd = odd != (x < y);
    }
  const bool says = node == whole_node::all          ? all
                    : node == whole_node::any        ? any
                    : node == whole_node::all_finite ? finite
                    : node == whole_node::has_nan    ? has_nan
                                                     : odd;
  return node == whole_node::place_of_largest ? at_kept : T(says ? 1 : 0);
}

/// What a node stores at i, j, where `old` was.
template <class T, class Table>
T value(whole_node node, T old, const Table& a, const Table& b, float k, Index i, Index j) {
  using N = number<T>;
  N kept{};
  switch (node) {
    case whole_node::identity:
      return T(N(a(i, j)) + rounded<N>(factor<T>(k) * N(i == j ? 1 : 0)));
    case whole_node::columns:
      return a(i, source_of(j, a.cols));
    case whole_node::rows:
      return a(source_of(i, a.rows), j);
    case whole_node::upside_down:
      return a(a.rows - 1 - i, j);
    case whole_node::turned:
      return T(N(a(a.rows - 1 - i, a.cols - 1 - j)) - N(b(i, b.cols - 1 - j)));
    case whole_node::largest_of_rows:
      kept = N(a(i, 0));
      for (Index l = 1; l < a.cols; ++l) kept = larger<N>(kept, N(a(i, l)));
      return j == 0 ? T(kept) : old;
    case whole_node::smallest_of_columns:
      kept = N(a(0, j)) - N(b(0, j));
      for (Index l = 1; l < a.rows; ++l) kept = smaller<N>(kept, N(a(l, j)) - N(b(l, j)));
      return i == 0 ? T(kept) : old;
    default:
      return i == 0 && j == 0 ? told_of<T>(node, a, b, k) : old;
  }
}

}  // namespace nodes
