#if defined(WITH_EIGEN)
#include <narrow/eigen.hpp>
#endif
#include <narrow/narrow.hpp>

#include <cstdio>
#include <vector>

int main() {
  const std::vector<narrow::bf16> ones(4096, narrow::bf16(1));
  float sum = narrow::dot(ones, ones);
#if defined(WITH_EIGEN)
  const Eigen::VectorX<narrow::bf16> other = Eigen::VectorXf::Ones(4096).cast<narrow::bf16>();
  sum = (sum + other.dot(other)) / 2;
#endif
  std::printf("%g\n", static_cast<double>(sum));
  return sum == 4096 ? 0 : 1;
}
