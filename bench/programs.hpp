// Whole programs over a scalar, with nothing but Eigen in them: what changes when somebody writes another
// type for float. Each is a class template, whose objects hold the program's data and return, when called, a
// number by which the program can be judged. T computes; Format is what the data is rounded to (side.hpp).
#pragma once

#include "side.hpp"

namespace narrow_bench::program {

/// Assigns points to the nearest of a few centres: one expression on short columns after the other.
template <class T, class Format> struct k_means {
  matrix<T> points = filled<matrix<T>, Format>(16, 2000, 1);
  matrix<T> centres = filled<matrix<T>, Format>(16, 8, 2);

  double operator()() const {
    double total = 0;
    for (Index i = 0; i < points.cols(); ++i) {
      T nearest = (points.col(i) - centres.col(0)).squaredNorm();
      for (Index c = 1; c < centres.cols(); ++c) {
        const T distance = (points.col(i) - centres.col(c)).squaredNorm();
        if (distance < nearest) nearest = distance;
      }
      total += static_cast<double>(nearest);
    }
    return total;
  }
};

/// Follows a point that moves at constant velocity by 500 inexact sights of it.
template <class T, class Format> struct kalman {
  using vector2 = Eigen::Matrix<T, 2, 1>;
  using vector4 = Eigen::Matrix<T, 4, 1>;
  using matrix2 = Eigen::Matrix<T, 2, 2>;
  using matrix4 = Eigen::Matrix<T, 4, 4>;

  Eigen::Matrix<T, 2, Eigen::Dynamic> sights = filled<Eigen::Matrix<T, 2, Eigen::Dynamic>, Format>(2, 500, 3);
  vector4 state;  // position and velocity

  double operator()() {
    matrix4 step = matrix4::Identity();
    step(0, 2) = step(1, 3) = T(0.1f);
    Eigen::Matrix<T, 2, 4> seen = Eigen::Matrix<T, 2, 4>::Zero();
    seen(0, 0) = seen(1, 1) = T(1.f);
    const matrix4 drift = matrix4::Identity() * T(0.01f);
    const matrix2 noise = matrix2::Identity() * T(0.1f);

    matrix4 covariance = matrix4::Identity();
    state.setZero();
    for (Index i = 0; i < sights.cols(); ++i) {
      state = step * state;
      covariance = step * covariance * step.transpose() + drift;

      const vector2 surprise = sights.col(i) - seen * state;
      const matrix2 expected = seen * covariance * seen.transpose() + noise;
      const T determinant = expected(0, 0) * expected(1, 1) - expected(0, 1) * expected(1, 0);
      matrix2 inverse;
      inverse << expected(1, 1) / determinant, -expected(0, 1) / determinant, -expected(1, 0) / determinant,
          expected(0, 0) / determinant;
      const Eigen::Matrix<T, 4, 2> gain = covariance * seen.transpose() * inverse;
      state = state + gain * surprise;
      covariance = (matrix4::Identity() - gain * seen) * covariance;
    }
    return static_cast<double>(covariance.trace());
  }
};

/// A step of a linear classifier of ten classes, whose master weights are wide.
template <class T, class Format> struct softmax_regression {
  using wide = decltype(T{} + 1.f);

  matrix<T> inputs = filled<matrix<T>, Format>(64, 128, 4),
            weights = filled<matrix<T>, Format>(10, 64, 5, 0.1f);
  matrix<wide> master = weights.template cast<wide>();

  double operator()() {
    matrix<T> outputs = weights * inputs;
    for (Index j = 0; j < outputs.cols(); ++j) {
      const T largest = outputs.col(j).maxCoeff();
      outputs.col(j).array() = (outputs.col(j).array() - largest).exp();
      const T total = outputs.col(j).sum();
      outputs.col(j) /= total;
    }
    for (Index j = 0; j < outputs.cols(); ++j) outputs(j % outputs.rows(), j) -= T(1.f);
    const matrix<T> gradient = outputs * inputs.transpose();
    master -= 0.0001f * gradient.template cast<wide>();
    weights = master.template cast<T>();
    return static_cast<double>(gradient.norm());
  }
};

/// Two layers of a network, forward, with relu and tanh.
template <class T, class Format> struct mlp {
  matrix<T> inputs = filled<matrix<T>, Format>(256, 64, 6);
  matrix<T> first = filled<matrix<T>, Format>(256, 256, 7, 0.06f),
            second = filled<matrix<T>, Format>(10, 256, 8, 0.06f);
  vector<T> first_bias = filled<vector<T>, Format>(256, 1, 9, 0.1f),
            second_bias = filled<vector<T>, Format>(10, 1, 10, 0.1f);

  double operator()() const {
    const matrix<T> hidden = ((first * inputs).colwise() + first_bias).cwiseMax(T(0.f));
    const matrix<T> outputs = ((second * hidden).colwise() + second_bias).array().tanh().matrix();
    return static_cast<double>(outputs.norm());
  }
};

/// Four steps of the heat equation on a square whose border is kept as it is.
template <class T, class Format> struct heat {
  matrix<T> now = filled<matrix<T>, Format>(256, 256, 11), next = now;

  double operator()() {
    const Index n = now.rows() - 2;
    for (int step = 0; step < 4; ++step) {
      next.block(1, 1, n, n) =
          now.block(1, 1, n, n) +
          T(0.2f) * (now.block(0, 1, n, n) + now.block(2, 1, n, n) + now.block(1, 0, n, n) +
                     now.block(1, 2, n, n) - T(4.f) * now.block(1, 1, n, n));
      now.swap(next);
    }
    return static_cast<double>(now.col(n / 2).norm());
  }
};

/// The growth of a vector that is multiplied by a matrix again and again.
template <class T, class Format> struct power_iteration {
  matrix<T> a = filled<matrix<T>, Format>(200, 200, 12);
  vector<T> x = filled<vector<T>, Format>(200, 1, 13);

  double operator()() {
    T growth = T(0.f);
    for (int step = 0; step < 20; ++step) {
      const vector<T> y = a * x;
      growth = y.norm();
      x = y / growth;
    }
    return static_cast<double>(growth);
  }
};

/// Five steps of logistic regression, from the beginning.
template <class T, class Format> struct logistic {
  matrix<T> inputs = filled<matrix<T>, Format>(512, 20, 14);
  vector<T> labels = (filled<vector<T>, Format>(512, 1, 15).array() > T(0.f)).template cast<T>().matrix();

  double operator()() const {
    vector<T> weights = vector<T>::Zero(inputs.cols());
    for (int step = 0; step < 5; ++step) {
      vector<T> probabilities = inputs * weights;
      probabilities = (T(1.f) / (T(1.f) + (-probabilities.array()).exp())).matrix();
      const vector<T> gradient = inputs.transpose() * (probabilities - labels);
      weights -= T(0.01f) * gradient;
    }
    return static_cast<double>(weights.norm());
  }
};

/// The variance along the first principal component of 300 points.
template <class T, class Format> struct pca {
  matrix<T> points = filled<matrix<T>, Format>(300, 24, 16);

  double operator()() const {
    const Eigen::Matrix<T, 1, Eigen::Dynamic> mean = points.colwise().mean();
    const matrix<T> centred = points.rowwise() - mean;
    const matrix<T> covariance = (centred.transpose() * centred) / T(299.f);
    vector<T> component = vector<T>::Ones(points.cols());
    T variance = T(0.f);
    for (int step = 0; step < 10; ++step) {
      component = covariance * component;
      variance = component.norm();
      component /= variance;
    }
    return static_cast<double>(variance);
  }
};

/// A picture smoothed along its columns and then along its rows.
template <class T, class Format> struct blur {
  matrix<T> picture = filled<matrix<T>, Format>(200, 200, 17), half_done = picture, smooth = picture;

  double operator()() {
    const Index n = picture.rows() - 2;
    half_done.middleRows(1, n) =
        T(0.25f) * picture.topRows(n) + T(0.5f) * picture.middleRows(1, n) + T(0.25f) * picture.bottomRows(n);
    smooth.middleCols(1, n) = T(0.25f) * half_done.leftCols(n) + T(0.5f) * half_done.middleCols(1, n) +
                              T(0.25f) * half_done.rightCols(n);
    return static_cast<double>(smooth.col(n / 2).norm());
  }
};

/// A thrown body that turns and bounces; its attitude is made a rotation again after each step.
template <class T, class Format> struct rigid {
  using vector3 = Eigen::Matrix<T, 3, 1>;
  using matrix3 = Eigen::Matrix<T, 3, 3>;

  vector3 position, velocity;

  double operator()() {
    position = vector3(T(0.f), T(0.f), T(1.f));
    velocity = vector3(T(1.f), T(0.f), T(0.f));
    const vector3 gravity(T(0.f), T(0.f), T(-1.f)), spin(T(0.1f), T(0.2f), T(0.3f));
    matrix3 turn;
    turn << T(0.f), -spin(2), spin(1), spin(2), T(0.f), -spin(0), -spin(1), spin(0), T(0.f);
    matrix3 attitude = matrix3::Identity();
    const T time = T(0.01f);
    for (int step = 0; step < 500; ++step) {
      velocity += time * gravity;
      position += time * velocity;
      attitude += time * (turn * attitude);
      attitude.col(0) /= attitude.col(0).norm();
      attitude.col(1) -= attitude.col(0) * attitude.col(0).dot(attitude.col(1));
      attitude.col(1) /= attitude.col(1).norm();
      attitude.col(2) = attitude.col(0).cross(attitude.col(1));
      if (position(2) < T(0.f)) {
        position(2) = -position(2);
        velocity(2) = -velocity(2);
      }
    }
    return static_cast<double>(attitude.norm());
  }
};

/// The nearest of a thousand points.
template <class T, class Format> struct knn {
  matrix<T> points = filled<matrix<T>, Format>(32, 1000, 18);
  vector<T> wanted = filled<vector<T>, Format>(32, 1, 19);

  double operator()() const {
    const Eigen::Matrix<T, 1, Eigen::Dynamic> distances = (points.colwise() - wanted).colwise().squaredNorm();
    Index nearest = 0;
    distances.minCoeff(&nearest);
    return static_cast<double>(distances(nearest));
  }
};

/// A step of gradient descent with momentum, and the size of the weights.
template <class T, class Format> struct sgd {
  vector<T> weights = filled<vector<T>, Format>(10000, 1, 20),
            gradient = filled<vector<T>, Format>(10000, 1, 21, 0.1f), momentum = vector<T>::Zero(10000);

  double operator()() {
    momentum = T(0.9f) * momentum + gradient;
    weights -= T(0.001f) * momentum;
    const T size = weights.cwiseAbs2().sum();
    return static_cast<double>(size);
  }
};

}  // namespace narrow_bench::program
