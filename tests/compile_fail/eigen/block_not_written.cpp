// expect: READ_ONLY|narrow: there is no Eigen::Ref of a block format
#include <narrow/eigen.hpp>

using matrix = Eigen::Matrix<narrow::bfp<8>, Eigen::Dynamic, Eigen::Dynamic>;

void use(matrix& m, const Eigen::VectorXf& v) {
  m.row(0) = v.transpose();
  Eigen::Ref<const Eigen::MatrixXf> fine(m);
#if OFFENCE == 1
  m.diagonal() = v;
#elif OFFENCE == 2
  m.transpose() = m;
#elif OFFENCE == 3
  m.array() = 1;
#elif OFFENCE == 4
  m.reverse() = m;
#elif OFFENCE == 5
  m.triangularView<Eigen::Upper>() = m;
#elif OFFENCE == 6
  m.reshaped(2, 2) = m;
#elif OFFENCE == 7
  Eigen::Ref<matrix> refused(m);
#elif OFFENCE == 8
  Eigen::Ref<const matrix> refused(m);
#endif
}
