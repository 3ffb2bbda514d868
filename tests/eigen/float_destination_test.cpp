// What goes to a float matrix is not rounded to the narrow type on the way, and literals are not rounded at
// all.
#include <cmath>
#include <narrow/eigen.hpp>
#include <tuple>

#include "catch.hpp"

namespace {

using narrow::fp16;
template <class S> using matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
using formats = std::tuple<fp16, narrow::bf16>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("products reach float matrices unrounded", "[eigen][mixed]", formats) {
  using S = TestType;
  constexpr int n = 4097;  // neither fp16 nor bf16 holds it
  const matrix<S> A = matrix<S>::Ones(2, n), B = matrix<S>::Ones(n, 3);
  const Eigen::MatrixXf constructed(A * B);
  CHECK((constructed.array() == n).all());
  Eigen::MatrixXf Y;
  Y.noalias() = Eigen::MatrixXf::Zero(2, 3);
  Y.noalias() += A * B;
  CHECK((Y.array() == n).all());
  Y = A * B;
  CHECK((Y.array() == n).all());
  Y -= A * B;
  CHECK((Y.array() == 0).all());
  Y += 0.5f * (A * B);
  CHECK((Y.array() == n / 2.0f).all());
  Y = A * B - matrix<S>::Constant(2, 3, S(4096));
  CHECK((Y.array() == 1).all());
  const Eigen::MatrixXd D = A * B;
  CHECK((D.array() == n).all());
  const Eigen::MatrixXf mixed = A * Eigen::MatrixXf::Ones(n, 3), other = Eigen::MatrixXf::Ones(2, n) * B;
  CHECK((mixed.array() == n).all());
  CHECK((other.array() == n).all());
}

TEST_CASE("a scaled update keeps all of float", "[eigen][mixed]") {
  const float rate = 1e-3f, scale = 65536;
  matrix<fp16> dW(7, 5);
  for (Eigen::Index i = 0; i < dW.size(); ++i)
    dW(i) = fp16::from_bits(static_cast<std::uint16_t>(1 + 1733 * i));
  Eigen::MatrixXf master = Eigen::MatrixXf::Constant(7, 5, 0.125f), expected = master;
  master -= (rate / scale) * dW;
  for (Eigen::Index i = 0; i < dW.size(); ++i) {
    const volatile float product =
        (rate / scale) * static_cast<float>(dW(i));  // volatile: no fused multiply-add
    expected(i) -= product;
  }
  CHECK(master == expected);
  CHECK((fp16(rate / scale) == 0 &&
         !(master.array() == 0.125f).all()));  // rounded to fp16 the factor would be 0
}

TEST_CASE("literals are not rounded to the narrow type", "[eigen][literals]") {
  using fp8 = narrow::fp8_e4m3fn;
  const matrix<fp8> A = matrix<fp8>::Constant(2, 2, fp8(10));
  const matrix<fp8> scaled = 0.3 * A, divided = A / 3, doubled = 2 * A, after = A * 0.1f;
  STATIC_REQUIRE(std::is_same_v<decltype(0.3 * A)::Scalar, fp8>);
  STATIC_REQUIRE(std::is_same_v<decltype(A / 3)::Scalar, fp8>);
  STATIC_REQUIRE(std::is_same_v<decltype(A * 0.1f)::Scalar, fp8>);
  CHECK((scaled.array() == fp8(3)).all());  // fp8(0.3) is 0.3125, and 3.125 would round to 3.25 or 3
  CHECK((divided.array() == fp8(10.0 / 3)).all());
  CHECK((doubled.array() == fp8(20)).all());
  CHECK((after.array() == fp8(1)).all());
  const auto takes_ref = [](const Eigen::Ref<const matrix<fp8>>& x) { return x(0, 0); };
  CHECK(takes_ref(0.5f * A) == 5);
  Eigen::MatrixXf wide = Eigen::MatrixXf::Zero(2, 2);
  wide += 1e-6 * A;
  CHECK((wide.array() == 1e-6f * 10).all());
}

TEST_CASE("coefficient-wise expressions are computed in float", "[eigen][coefficients]") {
  matrix<fp16> a = matrix<fp16>::Constant(3, 3, fp16(300)), b = a;
  const matrix<fp16> c = (a.cwiseProduct(b) - a.cwiseProduct(a) + b) / 2;  // 90000 on the way
  CHECK((c.array() == 150).all());
  const matrix<fp16> d = (a.array() * b.array()).sqrt().matrix();
  CHECK((d.array() == 300).all());
  a += 0.0625f * b.cwiseProduct(b) / 300;
  CHECK((a.array() == 318.75).all());
}
