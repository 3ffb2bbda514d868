// expect: narrow: decompositions need <Eigen/Dense>
#include <narrow/eigen.hpp>

template <class S> using matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;

void use(matrix<narrow::fp16>& x) {
#if OFFENCE == 1
  x = x.llt().solve(x);
#elif OFFENCE == 2
  x = x.partialPivLu().solve(x);
#elif OFFENCE == 3
  Eigen::HouseholderQR<matrix<narrow::fp16> > qr(x);
#elif OFFENCE == 4
  x.col(0) = x.jacobiSvd().singularValues();
#elif OFFENCE == 5
  Eigen::SelfAdjointEigenSolver<matrix<narrow::fp16> > solver(x);
#endif
  x = x * x;
}
