// Eigen's expressions of fixed point.
#include "matrices.hpp"

void bits::fixed_matrices() {
  expressions_of<narrow::fixed<8, 4>, Eigen::ColMajor>();
  expressions_of<narrow::fixed<16, 8>, Eigen::RowMajor>();
  expressions_of<narrow::fixed<32, 16>, Eigen::ColMajor>();
  decompositions_of<narrow::fixed<16, 8>>();
}
