// expect: narrow: SVD and eigenvalue solvers do not terminate on narrow::fixed; use matrix.cast<float>..
#include <narrow/eigen.hpp>

#include <Eigen/Dense>

using matrix = Eigen::Matrix<narrow::fixed<16, 8>, Eigen::Dynamic, Eigen::Dynamic>;

void decompose(const matrix& m) {
  m.cast<float>().jacobiSvd();
#if OFFENCE == 1
  Eigen::JacobiSVD<matrix> refused(m);
#elif OFFENCE == 2
  Eigen::SelfAdjointEigenSolver<matrix> refused(m);
#elif OFFENCE == 3
  m.bdcSvd();
#elif OFFENCE == 4
  m.eigenvalues();
#elif OFFENCE == 5
  m.operatorNorm();
#endif
}
