// Arithmetic of batch normalisation on pixels whose channels lie side by side. In fp32, over pieces of a
// tensor that fit into a cache; sums of pieces are added in double.
#pragma once

#include <Eigen/Core>

namespace narrow_train {

/// Two sums for each channel.
struct channel_sums {
  explicit channel_sums(Eigen::Index channels)
      : first(Eigen::ArrayXd::Zero(channels)), second(Eigen::ArrayXd::Zero(channels)) {}

  Eigen::ArrayXd first, second;
};

/// Adds the sums of d and d^2, where d = x - shift; x (channels x pixels) has `size` elements.
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
