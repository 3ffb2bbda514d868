// Eigen's expressions of floating formats.
#include "matrices.hpp"

void bits::floating_matrices() {
  expressions_of<narrow::fp16, Eigen::ColMajor>();
  expressions_of<narrow::bf16, Eigen::RowMajor>();
  expressions_of<narrow::fp8_e4m3fn, Eigen::ColMajor>();
  decompositions_of<narrow::fp16>();
}
