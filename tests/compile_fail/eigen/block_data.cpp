// expect: narrow: a matrix of a block format has no data\(\): its coefficients are not in memory
#include <narrow/eigen.hpp>

using matrix = Eigen::Matrix<narrow::bfp<8>, Eigen::Dynamic, Eigen::Dynamic>;

auto use(const matrix& m) {
#if OFFENCE == 1
  m.data();
#elif OFFENCE == 2
  matrix copy = m;
  copy.row(0).data();
#elif OFFENCE == 3
  Eigen::MatrixX<narrow::dynamic_fixed>().data();
#endif
  return m.mantissas().data();
}
