#include "unit.hpp"

#if defined(WITH_EIGEN)
#include <narrow/eigen.hpp>

#include <Eigen/Dense>
#else
#include <narrow/narrow.hpp>
#endif

#include <atomic>
#include <cstdio>
#include <sstream>
#include <vector>

namespace UNIT {

namespace {

int failed = 0;
void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "%s\n", what);
  ++failed;
}

using number = narrow::bf16;

void multiply() {
  constexpr int n = 40;
  const std::vector<number> ones(n * n, number(1));
  std::vector<number> product(n * n);
  narrow::gemm(narrow::row_major(ones, n, n), narrow::row_major(ones, n, n),
               narrow::row_major(product, n, n));
  expect(product[n] == n, "a product");
  expect(narrow::dot(ones, ones) == n * n, "an inner product");
}

void quantize() {
  const std::vector<float> values{1, -0.5f, 0.25f, 3};
  const auto tensor = narrow::quantize<narrow::bfp<8>>(values, 2, 2);
  expect(tensor(1, 1) == 3 && tensor(0, 1) == -0.5f, "a quantised tensor");
}

void save() {
  narrow::loss_scaler scaler, other(narrow::static_scale(8));
  std::stringstream text;
  text << scaler;
  text >> other;
  expect(other.scale() == scaler.scale(), "a state that was saved");
}

void share_out() {
  narrow::set_num_threads(3);
  std::atomic<int> sum = 0;
  narrow::parallel_for(100, [&](std::ptrdiff_t i) { sum += static_cast<int>(i); });
  expect(sum == 4950, "a loop shared out");
  narrow::set_num_threads(1);
}

#if defined(WITH_EIGEN)
void use_eigen() {
  using matrix = Eigen::Matrix<narrow::fp16, Eigen::Dynamic, Eigen::Dynamic>;
  const matrix a = matrix::Identity(5, 5) * 2;
  const Eigen::MatrixXf b = (a * a).llt().solve(Eigen::MatrixXf::Ones(5, 1));
  expect(b(0, 0) == 0.25f, "a decomposition");
  const Eigen::Matrix<narrow::bfp<8>, Eigen::Dynamic, Eigen::Dynamic> c = Eigen::MatrixXf::Ones(5, 5);
  expect((c * c)(0, 0) == 5, "a product of tensors");
}
#endif

}  // namespace

int failures() {
  multiply();
  quantize();
  save();
  share_out();
#if defined(WITH_EIGEN)
  use_eigen();
#endif
  return failed;
}

void commit(offence which) {
  const std::vector<float> four(4);
  switch (which) {
    case offence::argument:
      static_cast<void>(narrow::loss_scaler(narrow::static_scale(-1)));
      break;
    case offence::shape:
      static_cast<void>(narrow::quantize<narrow::int8>(four, 2, 3));
      break;
    case offence::length:
      narrow::block_tensor<narrow::int8>(std::ptrdiff_t{1} << 40, std::ptrdiff_t{1} << 40);
      break;
    case offence::state: {
      // One that contradicts itself: what is wrong in a constructor is a wrong text here.
      narrow::exponent_histogram histogram;
      std::istringstream text(
          "narrow::exponent_histogram { bins 1 0 0 zeros 0 infinities 0 nans 0 max_abs 0 }");
      text >> histogram;
      break;
    }
    case offence::instruction_set:
      narrow::use_isa("abacus");
      break;
    case offence::threads:
      narrow::set_num_threads(0);
      break;
    case offence::step:
      narrow::loss_scaler().update();
      break;
  }
}

}  // namespace UNIT
