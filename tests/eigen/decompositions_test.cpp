// Every decomposition solves to the accuracy of its format, badly scaled matrices included.
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <narrow/eigen.hpp>
#include <string>
#include <tuple>
#include <vector>

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

TEMPLATE_LIST_TEST_CASE("decompositions solve, whatever the scale", "[.exhaustive][eigen][solvers]",
                        formats) {
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

TEMPLATE_LIST_TEST_CASE("factors multiply back", "[.exhaustive][eigen][solvers]", formats) {
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

TEST_CASE("decompositions of fixed solve to a few of its last places", "[.exhaustive][eigen][solvers]") {
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

namespace {

/// Every factor of every decomposition of A, one after the other.
template <class M> Eigen::VectorXd all_factors(const M& A, const M& B) {
  std::vector<double> factors;
  const auto add = [&](const auto& x) {
    const auto values = x.eval();
    for (Eigen::Index j = 0; j < values.cols(); ++j)
      for (Eigen::Index i = 0; i < values.rows(); ++i) {
        factors.push_back(static_cast<double>(std::real(values(i, j))));
        factors.push_back(static_cast<double>(std::imag(values(i, j))));
      }
  };
  add(Eigen::LLT<M>(B).matrixLLT());
  add(Eigen::LDLT<M>(B).matrixLDLT());
  add(Eigen::PartialPivLU<M>(A).matrixLU());
  add(Eigen::FullPivLU<M>(A).matrixLU());
  add(Eigen::HouseholderQR<M>(A).matrixQR());
  add(Eigen::ColPivHouseholderQR<M>(A).matrixQR());
  add(Eigen::FullPivHouseholderQR<M>(A).matrixQR());
  add(Eigen::CompleteOrthogonalDecomposition<M>(A).matrixQTZ());
  add(Eigen::HessenbergDecomposition<M>(A).packedMatrix());
  add(Eigen::Tridiagonalization<M>(B).packedMatrix());
  constexpr unsigned thin = Eigen::ComputeThinU | Eigen::ComputeThinV;
  const Eigen::JacobiSVD<M> jacobi(A, thin);
  add(jacobi.singularValues()), add(jacobi.matrixU()), add(jacobi.matrixV());
  const Eigen::BDCSVD<M> divided(A, thin);
  add(divided.singularValues()), add(divided.matrixU()), add(divided.matrixV());
  const Eigen::SelfAdjointEigenSolver<M> symmetric(B);
  add(symmetric.eigenvalues()), add(symmetric.eigenvectors());
  add(Eigen::GeneralizedSelfAdjointEigenSolver<M>(B, B).eigenvalues());
  const Eigen::EigenSolver<M> general(A);
  add(general.eigenvalues()), add(general.eigenvectors());
  add(Eigen::RealSchur<M>(A).matrixT());
  add(Eigen::ComplexEigenSolver<M>(A).eigenvalues());
  add(Eigen::ComplexSchur<M>(A).matrixT());
  add(Eigen::GeneralizedEigenSolver<M>(A, B).alphas());
  add(Eigen::RealQZ<M>(A, B).matrixT());
  return Eigen::Map<const Eigen::VectorXd>(factors.data(), static_cast<Eigen::Index>(factors.size()));
}

}  // namespace

namespace {

/// Numbers next to the smallest, whose squares fixed point does not hold, beside larger ones.
template <class S> matrix<S> with_small_numbers(Eigen::Index n) {
  matrix<S> m(n, n);
  for (Eigen::Index j = 0; j < n; ++j)
    for (Eigen::Index i = 0; i < n; ++i)
      m(i, j) = i > j ? (i + j) * std::numeric_limits<S>::epsilon() : S(i == j ? 2 : 0.3);
  return m;
}

}  // namespace

TEST_CASE("decompositions of fixed are those of float", "[.exhaustive][eigen][solvers]") {
  using S = narrow::fixed<24, 12>;
  for (const Eigen::Index n : {2, 3, 7}) {
    const matrix<S> A = with_small_numbers<S>(n), B = A.transpose() + A;
    const Eigen::VectorXd got = all_factors(A, B),
                          expected = all_factors<Eigen::MatrixXf>(A.cast<float>(), B.cast<float>());
    REQUIRE(expected.allFinite());
    REQUIRE(expected.size() >= 50 * n);
    REQUIRE(got.size() == expected.size());
    CHECK((got.array() == expected.array()).all());
  }
}

TEMPLATE_TEST_CASE("decompositions of fixed beyond 24 bits are those of double",
                   "[.exhaustive][eigen][solvers]", (narrow::fixed<25, 12>), (narrow::fixed<32, 16>)) {
  using S = TestType;
  const matrix<S> A = with_small_numbers<S>(7);
  const Eigen::MatrixXd same = A.template cast<double>();
  CHECK(A.householderQr().matrixQR() == same.householderQr().matrixQR());
  CHECK(A.partialPivLu().matrixLU() == same.partialPivLu().matrixLU());
}

TEST_CASE("reflections keep small numbers of fixed", "[.exhaustive][eigen][solvers]") {
  using S = narrow::fixed<24, 12>;
  matrix<S> A(2, 2);
  A << 1, 0.3, 0.0125, 1;
  const Eigen::HouseholderQR<matrix<S>> qr(A);
  const matrix<S> product = qr.householderQ() * Eigen::MatrixXf(qr.matrixQR().triangularView<Eigen::Upper>());
  CHECK(product == A);
  CHECK(std::abs(A.norm() - S(A.jacobiSvd().singularValues().norm())) <= std::numeric_limits<S>::epsilon());
}
