// What layers compute with: matrices stored in the format S, and products between them.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <narrow/eigen.hpp>
#include <span>
#include <type_traits>
#include <vector>

#include "tensor/stopwatch.hpp"

namespace narrow_train {

/// A tensor as a matrix whose columns are samples (or the pixels of samples); S is the format that it is
/// stored in.
template <class S> using matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;

using fp32_matrix = matrix<float>;

template <class S> [[nodiscard]] std::size_t bytes_of(const matrix<S>& m) {
  return static_cast<std::size_t>(m.size()) * sizeof(S);
}

/// Numbers that lie one after another as floats: in their place, or in `scratch`.
template <class S> const float* in_fp32(const S* from, Eigen::Index size, std::vector<float>& scratch) {
  if constexpr (std::is_same_v<S, float>) return from;
  scratch.resize(static_cast<std::size_t>(size));
  timed(work::conversions, [&] { narrow::convert(std::span(from, scratch.size()), scratch); });
  return scratch.data();
}

/// Where sums go that are to be stored in S: there at once where that is fp32, else to `sums`.
template <class S> fp32_matrix& place_for_sums(matrix<S>& stored, fp32_matrix& sums) {
  if constexpr (std::is_same_v<S, float>)
    return stored;
  else
    return sums;
}

/// Rounds to S the sums that place_for_sums had a place for.
template <class S> void store_sums(const fp32_matrix& sums, matrix<S>& stored) {
  if constexpr (!std::is_same_v<S, float>)
    timed(work::conversions, [&] { stored = sums.template cast<S>(); });
}

/// The first layer of a network spares itself the gradient by its input, which nobody reads.
enum class input_gradient { wanted, unwanted };

/// How products add up. `wide` is mixed precision training: products are summed in fp32 and rounded to S
/// once, when they are stored. `narrow` is the ablation: every single addition is rounded to S.
enum class accumulation { wide, narrow };

/// out = a * b, every addition rounded to S: column by column, one rank-1 term after the other, the order in
/// which a processor without wide accumulators would do it.
template <class S, class Out> void add_terms(Out&& out, const matrix<S>& a, const fp32_matrix& b) {
  Eigen::VectorX<S> sum(a.rows());
  for (Eigen::Index j = 0; j < b.cols(); ++j) {
    sum.setZero();
    for (Eigen::Index k = 0; k < a.cols(); ++k)
      sum = (sum.template cast<float>() + b(k, j) * a.col(k).template cast<float>()).template cast<S>();
    out.col(j) = sum.template cast<typename std::decay_t<Out>::Scalar>();
  }
}

/// out = a * b, every addition rounded to the scalar S of a and b. `out` has the scalar S, or float.
template <class Out, class A, class B> void multiply_narrow(Out& out, const A& a, const B& b) {
  using S = typename A::Scalar;
  out.resize(a.rows(), b.cols());
  // Sums side by side are added together, and so along the longer side.
  if (a.rows() >= b.cols())
    add_terms<S>(out, a, b.template cast<float>());
  else
    add_terms<S>(out.transpose(), b.transpose(), a.transpose().template cast<float>());
}

/// out = a * b. `out` has the scalar S of a and b, or float for sums that are used before they are stored.
template <class Out, class A, class B> void multiply(accumulation mode, Out& out, const A& a, const B& b) {
  timed(work::products, [&] {
    if (mode == accumulation::wide || std::is_same_v<typename A::Scalar, float>)
      out.noalias() = a * b;
    else
      multiply_narrow(out, a, b);
  });
}

}  // namespace narrow_train
