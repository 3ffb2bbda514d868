// Softmax and cross-entropy, the loss of every network here. Reads and writes S, computes in fp32.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "tensor/tensor.hpp"

namespace narrow_train {

template <class S> struct classification {
  float loss = 0;  // mean over the batch of -log p(label), never scaled
  std::size_t correct = 0;
  matrix<S> gradient;         // (classes x batch): factor * dLoss/dLogits
  fp32_matrix probabilities;  // scratch
};

/// Loss of the logits (classes x batch) of samples with these labels, and `factor` times its gradient. The
/// factor carries the loss scale: it enters in fp32, before the gradient is rounded to S for the first time.
template <class S>
void softmax_cross_entropy(const matrix<S>& logits, std::span<const std::uint8_t> labels, float factor,
                           classification<S>& out) {
  fp32_matrix& p = out.probabilities;
  p = logits.template cast<float>();
  double loss = 0;
  out.correct = 0;
  for (Eigen::Index n = 0; n < p.cols(); ++n) {
    auto column = p.col(n).array();
    const auto label = static_cast<Eigen::Index>(labels[static_cast<std::size_t>(n)]);
    const float largest = column.maxCoeff();
    if (column(label) == largest) {
      Eigen::Index best = 0;  // the first, where several are as large
      column.maxCoeff(&best);
      if (best == label) ++out.correct;
    }
    column = (column - largest).exp();
    const float sum = column.sum();
    column /= sum;
    // -log p(label), without the detour over a p that may be too small for fp32.
    loss += std::log(sum) + largest - static_cast<float>(logits(label, n));
    column(label) -= 1;
  }
  const auto batch = static_cast<float>(p.cols());
  out.loss = static_cast<float>(loss) / batch;
  out.gradient = (p * (factor / batch)).template cast<S>();
}

}  // namespace narrow_train
