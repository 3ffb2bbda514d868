// expect: narrow: numbers of two formats, and of integers and a format, do not mix in one expression; cast
#include <narrow/eigen.hpp>

template <class S> using matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;

void use(matrix<narrow::fp16>& half, const matrix<narrow::bf16>& brain,
         const matrix<narrow::fixed<8, 4>>& fixed, const matrix<int>& integers,
         const matrix<std::int8_t>& bytes, const matrix<Eigen::half>& foreign,
         const matrix<std::complex<float>>& complex) {
#if OFFENCE == 1
  half = half + brain;
#elif OFFENCE == 2
  half = half * brain;
#elif OFFENCE == 3
  half = half.cwiseProduct(fixed);
#elif OFFENCE == 4
  half = bytes + half;
#elif OFFENCE == 5
  half = half * integers;
#elif OFFENCE == 6
  half = integers * half;
#elif OFFENCE == 7
  half = foreign - half;
#elif OFFENCE == 8
  half = half * foreign;
#elif OFFENCE == 9
  half = half * narrow::bf16(2);
#elif OFFENCE == 10
  half += brain;
#elif OFFENCE == 11
  half.array() *= fixed.array();
#elif OFFENCE == 12
  half = half + complex;
#elif OFFENCE == 13
  half(0, 0) = half.col(0).dot(brain.col(0));
#endif
  // What is allowed beside them.
  const auto x = half.array();
  half = half + brain.cast<narrow::fp16>() + integers.cast<narrow::fp16>() + foreign.cast<narrow::fp16>();
  half = 2 * half * 3 - half / 7 + (x + 1).matrix() + (1 - x).min(2).max(true).matrix() + x.pow(2).matrix();
  half = (x > 1).select(half, 0.5f * half.cast<float>()).cast<narrow::fp16>();
  const Eigen::MatrixXf wide = half.cast<float>() * brain.cast<float>() + 3 * half;
  const auto rotated = (half.cast<std::complex<float>>() * complex).eval();
  half(0, 0) = narrow::fp16(wide(0, 0) + rotated(0, 0).real());
}
