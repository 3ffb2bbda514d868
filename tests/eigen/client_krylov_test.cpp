// A library of eigenvalue solvers that knows nothing of narrow numbers (clients/krylov.hpp) finds with them
// the eigenvalues that Eigen finds in double, to the accuracy of the format: only the scalar is another one.
#include <narrow/eigen.hpp>
#include <tuple>
#include <vector>

#include "catch.hpp"
#include "clients/krylov.hpp"

namespace {

template <class S> using matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
template <class S> using vector = Eigen::Matrix<S, Eigen::Dynamic, 1>;
using scalars = std::tuple<float, narrow::fp16, narrow::bf16>;
/// The method of Lanczos ends where numbers are small relative to their neighbours, as those of fixed point
/// never are.
using all_scalars = std::tuple<float, narrow::fp16, narrow::bf16, narrow::fixed<28, 20>>;

template <class S> double epsilon_of() { return static_cast<double>(std::numeric_limits<S>::epsilon()); }

/// Symmetric, with eigenvalues 4, 3, 2 and others from -1 to 1.
template <class S> matrix<S> symmetric(Eigen::Index n) {
  std::srand(5);
  const Eigen::MatrixXd Q = Eigen::MatrixXd::Random(n, n).householderQr().householderQ();
  Eigen::VectorXd values = Eigen::VectorXd::LinSpaced(n, -1, 1);
  values.tail(3) << 2, 3, 4;
  return (Q * values.asDiagonal() * Q.transpose()).cast<S>();
}

template <class S> vector<S> start(Eigen::Index n) {
  std::srand(6);
  return vector<S>::Random(n);
}

/// The largest eigenvalues against those of the same numbers in double, and A v = lambda v.
template <class S, class Op>
void check_symmetric(const Op& op, const Eigen::MatrixXd& same, Eigen::Index nev, Eigen::Index ncv) {
  const double epsilon = epsilon_of<S>();
  client::SymEigsSolver<Op> solver(op, nev, ncv);
  const Eigen::Index converged = solver.compute(start<S>(op.rows()), 40, S(4 * epsilon));
  REQUIRE(converged == nev);
  REQUIRE(solver.info() == client::CompInfo::Successful);
  const Eigen::VectorXd exact = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(same).eigenvalues();
  const double norm = exact.cwiseAbs().maxCoeff();
  const Eigen::VectorXd found = solver.eigenvalues().template cast<double>();
  // Products are summed wide; each of ncv columns of H is rounded once, and rotated.
  const double bound = static_cast<double>(ncv) * epsilon * norm;
  CHECK((found - exact.tail(nev).reverse()).cwiseAbs().maxCoeff() <= bound);
  const Eigen::MatrixXd vectors = solver.eigenvectors().template cast<double>();
  CHECK((same * vectors - vectors * found.asDiagonal()).colwise().norm().maxCoeff() <= 2 * bound);
  CHECK((vectors.transpose() * vectors - Eigen::MatrixXd::Identity(nev, nev)).norm() <=
        4 * epsilon * double(nev));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("A client's method of Lanczos finds the largest eigenvalues", "[.exhaustive]",
                        scalars) {
  using S = TestType;
  const matrix<S> A = symmetric<S>(40);
  const matrix<S> lower = A.template triangularView<Eigen::Lower>();
  const Eigen::MatrixXd same = A.template cast<double>().template selfadjointView<Eigen::Lower>();
  const client::DenseSymMatProd<S> op(lower);
  check_symmetric<S>(op, same, 3, 12);
  CHECK_THROWS_AS(client::DenseSymMatProd<S>(A.topRows(3)), std::invalid_argument);
}

TEMPLATE_LIST_TEST_CASE("A client's method of Lanczos takes sparse matrices", "[.exhaustive]", scalars) {
  using S = TestType;
  std::vector<Eigen::Triplet<S>> entries;
  for (int i = 0; i < 60; ++i) {
    entries.emplace_back(i, i, S(i < 57 ? 0.25 * (i % 4) : i - 54));
    if (i > 0) entries.emplace_back(i, i - 1, S(0.125)), entries.emplace_back(i - 1, i, S(0.125));
  }
  Eigen::SparseMatrix<S> A(60, 60);
  A.setFromTriplets(entries.begin(), entries.end());
  const client::SparseMatProd<S> op(A);
  check_symmetric<S>(op, matrix<S>(A).template cast<double>(), 3, 12);
}

TEMPLATE_LIST_TEST_CASE("A client's tridiagonal eigenvalues are those of Eigen", "[.exhaustive]", scalars) {
  using S = TestType;
  for (const Eigen::Index n : {1, 2, 5, 16}) {
    matrix<S> T = matrix<S>::Zero(n, n);
    T.diagonal() = vector<S>::LinSpaced(n, S(-1), S(2));
    if (n > 1) T.diagonal(-1) = vector<S>::LinSpaced(n - 1, S(0.5), S(1));
    const client::TridiagEigen<S> decomposition(T);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> exact(T.template cast<double>());
    Eigen::VectorXd found = decomposition.eigenvalues().template cast<double>();
    std::sort(found.begin(), found.end());
    const double bound = static_cast<double>(2 * n) * epsilon_of<S>();
    CHECK((found - exact.eigenvalues()).cwiseAbs().maxCoeff() <= bound);
    const Eigen::MatrixXd Q = decomposition.eigenvectors().template cast<double>();
    CHECK((Q.transpose() * Q - Eigen::MatrixXd::Identity(n, n)).cwiseAbs().maxCoeff() <= bound);
  }
}

TEMPLATE_LIST_TEST_CASE("A client's method of Arnoldi finds complex eigenvalues", "[.exhaustive]",
                        all_scalars) {
  using S = TestType;
  // Rotations times 3 and 2, and a small rest that is coupled to them.
  std::srand(7);
  Eigen::MatrixXd exact_A = Eigen::MatrixXd::Random(24, 24) / 16;
  exact_A.topLeftCorner(4, 4) << 1.8, -2.4, 0, 0, 2.4, 1.8, 0, 0, 0, 0, 1.2, -1.6, 0, 0, 1.6, 1.2;
  const matrix<S> A = exact_A.cast<S>();
  const Eigen::SparseMatrix<S> sparse = A.sparseView();
  const client::SparseMatProd<S> op(sparse);
  client::GenEigsSolver<client::SparseMatProd<S>> solver(op, 4, 24);
  solver.compute(start<S>(24));
  const Eigen::MatrixXd same = A.template cast<double>();
  Eigen::VectorXcd exact = same.eigenvalues();
  const double bound = 4 * epsilon_of<S>() * same.norm();
  for (Eigen::Index i = 0; i < 4; ++i) {
    const std::complex<double> value(static_cast<double>(solver.eigenvalues()[i].real()),
                                     static_cast<double>(solver.eigenvalues()[i].imag()));
    CHECK((exact.array() - value).abs().minCoeff() <= bound);
    CHECK(std::abs(value) > 1.5);
    CHECK(std::abs(value.imag()) > 1);
  }
}
