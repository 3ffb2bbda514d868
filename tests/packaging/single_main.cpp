// One file of a program of two: all single headers together, the kernels in the other file.
#include "narrow.hpp"
#if __has_include(<Eigen/Core>)
#include "narrow_eigen.hpp"
#endif
#include "narrow.hpp"

#include <cstdio>
#include <vector>

int main() {
  const std::vector<narrow::bf16> ones(4096, narrow::bf16(1));
  float sum = narrow::dot(ones, ones);
#if __has_include(<Eigen/Core>)
  const Eigen::VectorX<narrow::bf16> other = Eigen::VectorXf::Ones(4096).cast<narrow::bf16>();
  sum = (sum + other.dot(other)) / 2;
#endif
  std::printf("%g\n", static_cast<double>(sum));
  return sum == 4096 ? 0 : 1;
}
