// What a user's program makes of the templates, compiled with warnings that the library's own targets are
// not.
#include <sstream>
#include <vector>

#include <narrow/eigen.hpp>

namespace {

using Eigen::Dynamic;

template <class T> void use_scalars() {
  using matrix = Eigen::Matrix<T, Dynamic, Dynamic>;
  const matrix a = matrix::Random(5, 6), b = matrix::Random(6, 7);
  matrix c = a * narrow::prepacked(b);
  c += 0.5f * (a * b);
  c.array() = (c.array() * T(3) + T(1)).max(T(0)).exp();
  const Eigen::MatrixXf wide(a * b);
  T x = c.sum() + c.norm() + a.row(0).dot(a.row(1));
  x = fma(x, sqrt(x), pow(x, exp(x))) * 3 + T(1.5L) + T(7ull);
  std::vector<T> few(9);
  narrow::convert(std::vector<double>(9), few, narrow::rounding::stochastic(1));
  narrow::convert(std::vector<float>(9), few);
  std::stringstream text;
  text << x << static_cast<double>(narrow::sum(few)) << narrow::mean(c) << narrow::norm(few) << wide;
  text >> x;
  narrow::master_weights<T>(std::vector<float>(9)).round();
}

template <class Format> void use_blocks() {
  const Eigen::MatrixXf x = Eigen::MatrixXf::Random(40, 40);
  Eigen::Matrix<Format, Dynamic, Dynamic> a = x;
  const Eigen::Matrix<Format, Dynamic, Dynamic> b = x.cast<double>();
  Eigen::MatrixXf c = a * b;
  c.noalias() += 0.3f * (a * x);
  a -= 0.1f * c;
  a.row(1).setZero();
  a(0, 0) = 3;
  std::vector<float> few(16);
  narrow::dequantize(narrow::quantize<Format>(std::vector<long double>(16), 4, 4), few);
}

}  // namespace

int main() {
  use_scalars<narrow::fp16>();
  use_scalars<narrow::fp8_e4m3fn>();
  use_scalars<narrow::fixed<32, 16>>();
  use_blocks<narrow::bfp<8, narrow::per_row, narrow::rounding::nearest_even, narrow::exponent::avg<>>>();
  use_blocks<narrow::int8>();
}
