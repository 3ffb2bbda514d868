// expect: narrow: there is no Eigen::Array of a block format; use Eigen::Matrix and its \.array\(\)
#include <narrow/eigen.hpp>

using matrix = Eigen::Matrix<narrow::bfp<8>, Eigen::Dynamic, Eigen::Dynamic>;

void use(matrix& m) {
  m = m.array().abs().matrix();
#if OFFENCE == 1
  Eigen::Array<narrow::bfp<8>, Eigen::Dynamic, Eigen::Dynamic> refused;
#elif OFFENCE == 2
  Eigen::Array<narrow::int8, 3, 1> refused;
#elif OFFENCE == 3
  Eigen::ArrayX<narrow::dynamic_fixed> refused;
#endif
}
