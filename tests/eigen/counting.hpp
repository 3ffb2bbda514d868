// A format that counts its roundings, and matrices of integers whose products float holds exactly.
#pragma once

#include <narrow/eigen.hpp>

#include <random>

#include "shared/counted.hpp"

namespace test {

/// How many roundings `f()` took.
template <class F> long roundings(F&& f) {
  counting_nearest::calls = 0;
  f();
  return counting_nearest::calls;
}

template <class S, int Order = Eigen::ColMajor>
using matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Order>;
template <class S> using column = Eigen::Matrix<S, Eigen::Dynamic, 1>;
template <class S> using row = Eigen::Matrix<S, 1, Eigen::Dynamic>;

/// Integers of 1 to `largest`, of either sign, the same on every call with the same seed.
inline Eigen::MatrixXd integers(Eigen::Index rows, Eigen::Index cols, unsigned seed, int largest = 15) {
  std::mt19937 random(seed);
  Eigen::MatrixXd result(rows, cols);
  for (double& x : result.reshaped()) {
    x = 1 + static_cast<int>(random() % static_cast<unsigned>(largest));
    if (random() % 2 == 0) x = -x;
  }
  return result;
}

/// Uniform in [-1, 1).
inline Eigen::MatrixXd reals(Eigen::Index rows, Eigen::Index cols, unsigned seed) {
  std::mt19937 random(seed);
  Eigen::MatrixXd result(rows, cols);
  for (double& x : result.reshaped()) x = static_cast<double>(random()) / 0x8000'0000u - 1;
  return result;
}

template <class X> Eigen::MatrixXd as_double(const Eigen::DenseBase<X>& x) {
  Eigen::MatrixXd result(x.rows(), x.cols());
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    for (Eigen::Index j = 0; j < x.cols(); ++j) result(i, j) = static_cast<double>(x.derived().coeff(i, j));
  return result;
}

/// Each number rounded once to S.
template <class S> Eigen::MatrixXd rounded_to(const Eigen::MatrixXd& x) {
  return x.unaryExpr([](double v) { return static_cast<double>(S(v)); });
}

}  // namespace test
