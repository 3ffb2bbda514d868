// Every decomposition solves to the accuracy of its format, badly scaled matrices included.
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <narrow/eigen.hpp>
#include <string>
#include <tuple>

#include "catch.hpp"

namespace {

template <class S> using matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
template <class S> using vector = Eigen::Matrix<S, Eigen::Dynamic, 1>;

using formats = std::tuple<narrow::fp16, narrow::bf16>;

/// A symmetric positive definite matrix with condition number below 4, times `scale`.
template <class S> matrix<S> definite(float scale) {
  Eigen::MatrixXf m(6, 6);
  for (int j = 0; j < 6; ++j)
    for (int i = 0; i < 6; ++i) m(i, j) = static_cast<float>((i * j + 2 * (i + j)) % 7 - 3) / 16;
  m = (m + m.transpose()).eval() / 2 + 2 * Eigen::MatrixXf::Identity(6, 6);
  return (scale * m).cast<S>();
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("decompositions solve, whatever the scale", "[eigen][solvers]", formats) {
  using S = TestType;
  const float scale = GENERATE(1.0f, 1e-3f, 30.0f);
  const matrix<S> A = definite<S>(scale);
  const vector<S> b = scale * vector<S>::LinSpaced(6, S(1), S(2));
  const Eigen::MatrixXd exact_matrix = A.template cast<double>();
  const Eigen::VectorXd exact = exact_matrix.llt().solve(b.template cast<double>());
  const double epsilon = static_cast<double>(std::numeric_limits<S>::epsilon());
  int solvers = 0;
  std::string inaccurate;
  const auto check = [&](const char* name, const vector<S>& x) {
    ++solvers;
    // 6 x 1, condition below 4: the solution in float is far below one rounding to S.
    if (!((x.template cast<double>() - exact).norm() <= epsilon * exact.norm()))
      inaccurate += std::string(" ") + name;
  };
  check("LLT", A.llt().solve(b));
  check("LDLT", A.ldlt().solve(b));
  check("PartialPivLU", A.partialPivLu().solve(b));
  check("FullPivLU", A.fullPivLu().solve(b));
  check("HouseholderQR", A.householderQr().solve(b));
  check("ColPivHouseholderQR", A.colPivHouseholderQr().solve(b));
  check("FullPivHouseholderQR", A.fullPivHouseholderQr().solve(b));
  check("CompleteOrthogonalDecomposition", A.completeOrthogonalDecomposition().solve(b));
  const auto jacobi = A.jacobiSvd(Eigen::ComputeThinU | Eigen::ComputeThinV);
  check("JacobiSVD", jacobi.solve(b));
  const auto bdc = A.bdcSvd(Eigen::ComputeThinU | Eigen::ComputeThinV);
  check("BDCSVD", bdc.solve(b));
  INFO("scale " << scale << ", inaccurate:" << inaccurate);
  CHECK(inaccurate.empty());
  CHECK(solvers == 10);
}

TEMPLATE_LIST_TEST_CASE("factors multiply back", "[eigen][solvers]", formats) {
  using S = TestType;
  const matrix<S> A = definite<S>(1);
  const double epsilon = static_cast<double>(std::numeric_limits<S>::epsilon());
  const auto near = [&](const matrix<S>& product) {
    return (product.template cast<double>() - A.template cast<double>()).norm() < 4 * epsilon * 6;
  };
  const Eigen::LLT<matrix<S>> llt(A);
  const matrix<S> L = llt.matrixL();
  CHECK(near(L * L.transpose()));
  const Eigen::HouseholderQR<matrix<S>> qr(A);
  const matrix<S> Q = qr.householderQ(), R = qr.matrixQR().template triangularView<Eigen::Upper>();
  CHECK(near(Q * R));
  const Eigen::JacobiSVD<matrix<S>> svd(A, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const matrix<S> U = svd.matrixU(), V = svd.matrixV();
  const vector<S> values = svd.singularValues();
  CHECK(near(U * values.asDiagonal() * V.transpose()));
  const Eigen::SelfAdjointEigenSolver<matrix<S>> eigen(A);
  const matrix<S> vectors = eigen.eigenvectors();
  const vector<S> eigenvalues = eigen.eigenvalues();
  CHECK(near(vectors * eigenvalues.asDiagonal() * vectors.transpose()));
  CHECK(std::abs(static_cast<double>(A.determinant()) / A.template cast<double>().determinant() - 1) <
        16 * epsilon);
  const matrix<S> inverse = A.inverse();
  CHECK((inverse * A - matrix<S>::Identity(6, 6)).template cast<double>().norm() < 4 * epsilon * 6);
  const vector<S> b = vector<S>::Ones(6);
  const vector<S> lower = A.template triangularView<Eigen::Lower>().solve(b);
  CHECK((A.template triangularView<Eigen::Lower>() * lower - b).template cast<double>().norm() < 4 * epsilon);
  CHECK((A.template selfadjointView<Eigen::Upper>() * b - A * b).template cast<double>().norm() <
        16 * epsilon);
}

TEST_CASE("decompositions of fixed run in fixed point", "[eigen][solvers]") {
  using S = narrow::fixed<28, 20>;
  const matrix<S> A = definite<S>(1);
  const vector<S> b = vector<S>::LinSpaced(6, S(1), S(2));
  const Eigen::VectorXd exact = A.cast<double>().llt().solve(b.cast<double>());
  const auto error = [&](const vector<S>& x) { return (x.cast<double>() - exact).norm(); };
  const double bound = 64 * static_cast<double>(std::numeric_limits<S>::epsilon());
  CHECK(error(A.llt().solve(b)) < bound);
  CHECK(error(A.ldlt().solve(b)) < bound);
  CHECK(error(A.partialPivLu().solve(b)) < bound);
  CHECK(error(A.fullPivLu().solve(b)) < bound);
  CHECK(error(A.householderQr().solve(b)) < bound);
  CHECK(error(A.colPivHouseholderQr().solve(b)) < bound);
  CHECK(error(A.inverse() * b) < bound);
}
