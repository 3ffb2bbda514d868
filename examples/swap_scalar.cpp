// One function of ordinary Eigen code, run with every scalar: only the type changes.
//
// Ridge regression by its normal equations: rows of features X (samples x features), targets y. The products
// sum wide in every format, so what remains of the error comes from storing the data and the result.
#include <narrow/eigen.hpp>

#include <Eigen/Cholesky>
#include <cstdio>

template <class S> using Matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
template <class S> using Vector = Eigen::Matrix<S, Eigen::Dynamic, 1>;

template <class S> Vector<S> ridge(const Matrix<S>& X, const Vector<S>& y, double penalty) {
  const double scale = 1.0 / static_cast<double>(X.rows());  // a factor is not rounded to S
  Matrix<S> gram = scale * X.transpose() * X;
  gram.diagonal().array() += S(penalty);
  const Vector<S> moment = scale * X.transpose() * y;
  return gram.llt().solve(moment);
}

/// Runs the regression in S and returns |w - truth| / |truth|.
template <class S> double error_of_fit() {
  std::srand(11);
  const Eigen::VectorXf truth = Eigen::VectorXf::Random(12);
  const Eigen::MatrixXf features = Eigen::MatrixXf::Random(4096, 12);
  const Matrix<S> X = features.cast<S>();
  const Vector<S> y = (features * truth).cast<S>();
  const Vector<S> w = ridge<S>(X, y, 0);
  return (w.template cast<float>() - truth).norm() / truth.norm();
}

template <class S> bool report(const char* name, double limit) {
  const double error = error_of_fit<S>();
  std::printf("%-14s relative error %.2e (at most %.0e)\n", name, error, limit);
  return error < limit;
}

int main() {
  bool fits = true;
  fits &= report<float>("float", 1e-5);
  fits &= report<narrow::fp16>("fp16", 1e-3);
  fits &= report<narrow::bf16>("bf16", 1e-2);
  fits &= report<narrow::fp8_e4m3fn>("fp8_e4m3fn", 1e-1);
  fits &= report<narrow::fixed<28, 20>>("fixed<28, 20>", 1e-3);
  fits &= report<narrow::fixed<16, 12>>("fixed<16, 12>", 1e-1);
  return fits ? 0 : 1;
}
