// Matrices of any size known at compile time, of numbers that are made one after the other, column by column.
#pragma once

#include <Eigen/Core>

namespace test {

template <class M, class Next> M filled(const Next& next) {
  M m;
  for (Eigen::Index j = 0; j < m.cols(); ++j)
    for (Eigen::Index i = 0; i < m.rows(); ++i) m(i, j) = next();
  return m;
}

}  // namespace test
