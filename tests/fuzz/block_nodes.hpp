// The statements of block formats that the fuzz target of expressions chooses from, each beside what it makes
// of the floats in its operands.
#pragma once

#include "nodes.hpp"

namespace nodes {

/// Matrices w and v in a block format, or the floats in them, and x and y of floats.
template <class Blocks> struct block_state {
  Blocks w, v;
  Eigen::MatrixXf x, y;
};

// Statements whose coefficients depend on those in the same place: what is assigned, to what, and the value
// of p and q of w and v, f and g of x and y, l, which is k, and e, which is 1 on the diagonal.
#define NARROW_FUZZED_BLOCKS(NODE)                                                             \
  NODE(w, on.x + on.y * k, f + rounded(g * l))                                                 \
  NODE(v, (k * on.v).cwiseMax(on.x), larger(rounded(q* l), f))                                 \
  NODE(w, on.w.cwiseProduct(on.v) - on.v, rounded(p * q) - q)                                  \
  NODE(y, on.w.cwiseAbs() * k - on.x, rounded(std::abs(p) * l) - f)                            \
  NODE(y, (on.v.cwiseAbs2() + on.w).array().min(on.x.array()), smaller(p + rounded(q * q), f)) \
  NODE(y, on.w.array().exp() + on.x.array(), exp_of(p) + f)                                    \
  NODE(v, (k * on.w).array().tanh().matrix(), tanh_of(rounded(p* l)))                          \
  NODE(w, (on.w.array() < on.x.array()).select(on.v, on.x), p < f ? q : f)                     \
  NODE(w, on.v + k * Eigen::MatrixXf::Identity(on.v.rows(), on.v.cols()), q + rounded(l * e))  \
  NODE(v, (on.v.array() / on.w.array() - k).matrix(), rounded(q / p) - l)
// Statements of other places, which are the same of the floats: no number is computed in two steps.
#define NARROW_FUZZED_BLOCK_VIEWS(NODE)                      \
  NODE(w, on.v.reverse() + on.x)                             \
  NODE(v, on.w(Eigen::all, sources(on.w.cols())))            \
  NODE(y, (on.w.transpose() - on.v.transpose()).transpose()) \
  NODE(v, on.v.colwise() + on.x.col(0))                      \
  NODE(y, on.w.rowwise() - on.v.row(0))                      \
  NODE(w, on.x.col(0).asDiagonal() * on.v)                   \
  NODE(y.bottomRows(on.y.rows() / 2 + 1),                    \
       on.w.topRows(on.y.rows() / 2 + 1).cwiseProduct(on.v.bottomRows(on.y.rows() / 2 + 1)))

#define NARROW_COUNT(...) +1
inline constexpr std::size_t block_coefficient_nodes = 0 NARROW_FUZZED_BLOCKS(NARROW_COUNT),
                             block_nodes =
                                 block_coefficient_nodes NARROW_FUZZED_BLOCK_VIEWS(NARROW_COUNT) + 1;
#undef NARROW_COUNT
/// y = w v, as many of their columns and rows as both have.
inline constexpr std::size_t block_product = block_nodes - 1;

/// Which of the matrices a statement stores in.
inline char destination(std::size_t node) {
#define NARROW_DESTINATION(to, ...) #to,
  constexpr const char* names[] = {NARROW_FUZZED_BLOCKS(NARROW_DESTINATION)
                                       NARROW_FUZZED_BLOCK_VIEWS(NARROW_DESTINATION) "y"};
#undef NARROW_DESTINATION
  return *names[node];
}

/// Runs a statement.
template <class Blocks> void assign(std::size_t node, block_state<Blocks>& on, float k) {
  std::size_t place = 0;
#define NARROW_ASSIGN(to, from, ...) \
  if (place++ == node) on.to = from;
  NARROW_FUZZED_BLOCKS(NARROW_ASSIGN)
  NARROW_FUZZED_BLOCK_VIEWS(NARROW_ASSIGN)
#undef NARROW_ASSIGN
  const Index depth = std::min(on.w.rows(), on.w.cols());
  if (node == block_product) on.y = on.w.leftCols(depth) * on.v.topRows(depth);
}

/// What a statement of one place makes of floats, each by itself.
inline void assign_one_by_one(std::size_t node, block_state<Eigen::MatrixXf>& on, float k) {
  const float l = k;
  for (Index j = 0; j < on.x.cols(); ++j)
    for (Index i = 0; i < on.x.rows(); ++i) {
      const float p = on.w(i, j), q = on.v(i, j), f = on.x(i, j), g = on.y(i, j), e = i == j ? 1.0f : 0.0f;
      std::size_t place = 0;
#define NARROW_VALUE(to, from, value) \
  if (place++ == node) on.to(i, j) = value;
      NARROW_FUZZED_BLOCKS(NARROW_VALUE)
#undef NARROW_VALUE
      static_cast<void>(g), static_cast<void>(e);
    }
}

}  // namespace nodes
