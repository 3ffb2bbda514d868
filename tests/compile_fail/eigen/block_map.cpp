// expect: narrow: there is no Eigen::Map of a block format: its coefficients are not in memory
#include <narrow/eigen.hpp>

using matrix = Eigen::Matrix<narrow::bfp<8>, Eigen::Dynamic, Eigen::Dynamic>;

void use(float* values, [[maybe_unused]] narrow::bfp<8>* block) {
  matrix m = Eigen::Map<Eigen::MatrixXf>(values, 2, 2);
#if OFFENCE == 1
  Eigen::Map<matrix> refused(block, 2, 2);
#elif OFFENCE == 2
  Eigen::Map<const matrix> refused(block, 2, 2);
#endif
}
