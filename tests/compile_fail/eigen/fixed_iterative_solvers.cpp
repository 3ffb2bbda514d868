// expect: narrow: SVD and eigenvalue solvers do not terminate on narrow::fixed; use matrix.cast<float>..
#include <narrow/eigen/solvers.hpp>

#include <Eigen/Dense>

using matrix = Eigen::Matrix<narrow::fixed<16, 8>, Eigen::Dynamic, Eigen::Dynamic>;

void decompose(const matrix& m) {
#ifndef OFFENCE
  m.cast<float>().jacobiSvd();
#elif OFFENCE == 1
  Eigen::JacobiSVD<matrix> refused(m);
#elif OFFENCE == 2
  Eigen::SelfAdjointEigenSolver<matrix> refused(m);
#elif OFFENCE == 3
  m.bdcSvd();
#elif OFFENCE == 4
  m.eigenvalues();
#elif OFFENCE == 5
  m.operatorNorm();
#elif OFFENCE == 6
  Eigen::EigenSolver<matrix> refused(m);
#elif OFFENCE == 7
  Eigen::ComplexEigenSolver<matrix> refused(m);
#elif OFFENCE == 8
  Eigen::GeneralizedEigenSolver<matrix> refused(m, m);
#elif OFFENCE == 9
  Eigen::GeneralizedSelfAdjointEigenSolver<matrix> refused(m, m);
#elif OFFENCE == 10
  Eigen::RealSchur<matrix> refused(m);
#elif OFFENCE == 11
  Eigen::ComplexSchur<matrix> refused(m);
#elif OFFENCE == 12
  Eigen::RealQZ<matrix> refused(m, m);
#elif OFFENCE == 13
  Eigen::BDCSVD<matrix> refused(m);
#endif
}
