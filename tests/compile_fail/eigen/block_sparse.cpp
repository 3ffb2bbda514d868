// expect: narrow: there is no Eigen::SparseMatrix of a block format
#include <narrow/eigen.hpp>

#include <Eigen/SparseCore>

Eigen::SparseMatrix<float> fine;
Eigen::SparseMatrix<narrow::fp16> narrow_too;
#if OFFENCE == 1
Eigen::SparseMatrix<narrow::bfp<8>> refused;
#elif OFFENCE == 2
Eigen::SparseMatrix<narrow::int8, Eigen::RowMajor> refused;
#endif
