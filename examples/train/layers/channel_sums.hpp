// Sums over pixels whose channels lie side by side, and the arithmetic of batch normalisation on them. In
// fp32, over pieces of a tensor that fit into a cache; sums of pieces are added in double.
#pragma once

#include <algorithm>
#include <vector>

#include "tensor/tensor.hpp"

namespace narrow_train {

/// Elements of a piece: whole pixels, as many as are worth a call.
inline Eigen::Index piece_size(Eigen::Index channels) {
  return std::max<Eigen::Index>(4096 / channels, 128) * channels;
}

/// Adds the sums of x (channels x pixels), which has `size` elements.
void add_values(const float* x, Eigen::Index size, Eigen::ArrayXd& sums);

/// Sums over each row of m, whose columns lie one after another.
template <class Matrix> void sum_of_columns(const Matrix& m, fp32_matrix& sums) {
  const Eigen::Index piece = piece_size(m.rows());
  Eigen::ArrayXd total = Eigen::ArrayXd::Zero(m.rows());
  std::vector<float> scratch;
  for (Eigen::Index first = 0; first < m.size(); first += piece) {
    const Eigen::Index size = std::min(piece, m.size() - first);
    add_values(in_fp32(m.data() + first, size, scratch), size, total);
  }
  sums = total.cast<float>().matrix();
}

/// Two sums for each channel.
struct channel_sums {
  explicit channel_sums(Eigen::Index channels)
      : first(Eigen::ArrayXd::Zero(channels)), second(Eigen::ArrayXd::Zero(channels)) {}

  Eigen::ArrayXd first, second;
};

/// Adds the sums of d and d^2, where d = x - shift; x (channels x pixels).
void add_moments(const float* x, Eigen::Index size, const Eigen::ArrayXf& shift, channel_sums& sums);

/// Adds the sums of dy and dy (x - mean); x and dy (channels x pixels).
void add_gradients(const float* x, const float* dy, Eigen::Index size, const Eigen::ArrayXf& mean,
                   channel_sums& sums);

/// y = factor (x - mean) + offset; x and y (channels x pixels) may be the same.
void normalise(const float* x, Eigen::Index size, const Eigen::ArrayXf& mean, const Eigen::ArrayXf& factor,
               const Eigen::ArrayXf& offset, float* y);

/// dx = factor dy + slope (x - mean) + offset; all (channels x pixels), dx may be dy.
void normalise_gradient(const float* x, const float* dy, Eigen::Index size, const Eigen::ArrayXf& mean,
                        const Eigen::ArrayXf& factor, const Eigen::ArrayXf& slope,
                        const Eigen::ArrayXf& offset, float* dx);

}  // namespace narrow_train
