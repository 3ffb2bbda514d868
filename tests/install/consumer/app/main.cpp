#ifdef WITH_EIGEN
#include <narrow/eigen.hpp>

#include <Eigen/Core>
#else
#include <narrow/narrow.hpp>
#endif

#include <cstdio>
#include <vector>

int main() {
#ifdef WITH_EIGEN
  const Eigen::VectorX<narrow::bf16> ones = Eigen::VectorXf::Ones(4096).cast<narrow::bf16>();
  const float sum = ones.dot(ones);
#else
  const std::vector<narrow::bf16> ones(4096, narrow::bf16(1));
  const float sum = narrow::dot(ones, ones);
#endif
  std::printf("%g\n", static_cast<double>(sum));
  return sum == 4096 ? 0 : 1;
}
