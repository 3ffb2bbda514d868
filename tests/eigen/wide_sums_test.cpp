// 4096 ones add up to 4096, which neither 11 nor 8 bits of accumulator can count to, in every form of product
// and sum.
#include <narrow/eigen.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "catch.hpp"
#include "exhaustive.hpp"

namespace {

constexpr int n = 4096;

template <class S> using matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
template <class S> using row_matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class S> using vector = Eigen::Matrix<S, Eigen::Dynamic, 1>;

/// Counts the forms that were looked at, and remembers the first that went wrong.
class forms {
 public:
  template <class X> void expect(const char* form, const X& values, double value) {
    const Eigen::MatrixXd seen = values.template cast<double>();
    ++count_;
    if (first_wrong_.empty() && !(seen.array() == value).all())
      first_wrong_ = std::string(form) + " gives " + std::to_string(seen(0, 0));
  }
  template <class T> void expect_number(const char* form, T value, double expected) {
    expect(form, Eigen::Matrix<double, 1, 1>::Constant(static_cast<double>(value)), expected);
  }
  int count() const { return count_; }
  const std::string& first_wrong() const { return first_wrong_; }

 private:
  int count_ = 0;
  std::string first_wrong_;
};

using formats = test::some_of<std::tuple<narrow::fp16, narrow::bf16, narrow::fixed<28, 8>>, 0>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("products of ones are wide in every form", "[eigen][product]", formats) {
  using S = TestType;
  const matrix<S> A = matrix<S>::Ones(3, n), B = matrix<S>::Ones(n, 5);
  const row_matrix<S> Ar = A, Br = B;
  const vector<S> v = vector<S>::Ones(n);
  matrix<S> C;
  vector<S> y;
  forms all;

  C = A * B, all.expect("A*B", C, n);
  C = Ar * Br, all.expect("row-major A*B", C, n);
  C = B.transpose() * A.transpose(), all.expect("transposes", C, n);
  C.noalias() = B.transpose() * A.transpose(), all.expect("noalias", C, n);
  C = A * B, C += A * B, all.expect("+=", C, 2 * n);
  C -= A * B, all.expect("-=", C, n);
  C.noalias() += A * B, all.expect("noalias +=", C, 2 * n);
  C.noalias() -= A * B, all.expect("noalias -=", C, n);
  C = 0.5f * A * B, all.expect("0.5f*A*B", C, n / 2);
  C += 0.5f * (A * B), all.expect("+= 0.5f*(A*B)", C, n);
  C = A * B * 0.25, all.expect("A*B*0.25", C, n / 4);
  C = -A * B, all.expect("-A*B", C, -n);
  C = matrix<S>::Ones(3, 5) * S(n) - A * B, all.expect("D - A*B", C, 0);
  C = A.lazyProduct(B), all.expect("lazyProduct", C, n);
  y = A * v, all.expect("A*v", y, n);
  y = Ar * v, all.expect("row-major A*v", y, n);
  y = B.transpose() * v, all.expect("transposed A*v", y, n);
  y = (v.transpose() * B).transpose(), all.expect("v^T*B", y, n);
  y = A.leftCols(n / 2) * v.head(n / 2) + A.rightCols(n / 2) * v.tail(n / 2), all.expect("blocks A*v", y, n);
  C.setZero(6, 10);
  C.block(1, 2, 3, 5) = A * B, all.expect("into a block", C.block(1, 2, 3, 5), n);
  all.expect("around the block", C.row(0), 0);

  std::vector<S> storage(static_cast<std::size_t>(2 * 3 * 5), S(0));
  Eigen::Map<matrix<S>, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>> strided(
      storage.data(), 3, 5, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(6, 2));
  strided = A * B, all.expect("into a map with strides", strided, n);
  all.expect_number("between its elements", storage[1], 0);
  const Eigen::Map<const matrix<S>, 0, Eigen::OuterStride<>> thin(B.data(), n, 2,
                                                                  Eigen::OuterStride<>(2 * n));
  C = A * thin, all.expect("from a map with strides", C, n);
  const vector<S> twice = vector<S>::Ones(2 * n);
  const Eigen::Map<const vector<S>, 0, Eigen::InnerStride<2>> sparse(twice.data(), n);
  y = A * sparse, all.expect("from a vector with strides", y, n);
  const Eigen::Ref<const matrix<S>> ref = A;
  C = ref * B, all.expect("Ref", C, n);

  Eigen::Matrix<S, 1, n> row = Eigen::Matrix<S, 1, n>::Ones();
  const Eigen::Matrix<S, 1, 1> one = row * row.transpose();
  all.expect("fixed size", one, n);
  const Eigen::Matrix<S, 2, n / 64> low = Eigen::Matrix<S, 2, n / 64>::Constant(S(8));
  const Eigen::Matrix<S, 2, 2> square = low * low.transpose();
  all.expect("fixed 2x64x2", square, n);
  all.expect_number("product.sum()", (A * B).sum(), 15 * n);
  all.expect("product.diagonal()", (A.topRows(3) * B.leftCols(3)).diagonal().eval(), n);
  all.expect_number("product(i, j)", (A * B).eval()(2, 4), n);

  INFO(all.first_wrong());
  CHECK(all.first_wrong().empty());
  CHECK(all.count() == 31);
}

TEMPLATE_LIST_TEST_CASE("sums of ones are wide in every form", "[eigen][sum]", formats) {
  using S = TestType;
  const vector<S> v = vector<S>::Ones(n);
  const matrix<S> M = matrix<S>::Ones(n, 3);
  const row_matrix<S> R = M;
  forms all;
  all.expect_number("sum", v.sum(), n);
  all.expect_number("sum of an expression", (v + v).sum(), 2 * n);
  all.expect_number("sum of a matrix", M.sum(), 3 * n);
  all.expect_number("sum of a block", M.middleCols(1, 2).sum(), 2 * n);
  all.expect_number("dot", v.dot(v), n);
  all.expect_number("dot of columns", M.col(0).dot(R.col(2)), n);
  all.expect_number("inner product", (v.transpose() * v).value(), n);
  all.expect_number("squaredNorm", v.squaredNorm(), n);
  all.expect_number("norm", v.norm(), 64);
  all.expect_number("cwiseProduct.sum", v.cwiseProduct(v).sum(), n);
  all.expect("colwise sum", M.colwise().sum().eval(), n);
  all.expect("rowwise sum", R.transpose().rowwise().sum().eval(), n);
  all.expect("colwise squaredNorm", M.colwise().squaredNorm().eval(), n);
  all.expect("rowwise squaredNorm of a transpose", R.transpose().rowwise().squaredNorm().eval(), n);
  all.expect("colwise sum of an expression", (M + M).colwise().sum().eval(), 2 * n);
  all.expect("colwise sum of a product", (M * M.transpose().leftCols(2)).colwise().sum().eval(), 3 * n);
  all.expect_number("trace", matrix<S>::Identity(n, n / 64).trace(), n / 64);
  all.expect_number("array sum", v.array().sum(), n);
  INFO(all.first_wrong());
  CHECK(all.first_wrong().empty());
  CHECK(all.count() == 18);
}

TEST_CASE("narrow::sum, mean, norm and dot return the wide value", "[eigen][sum]") {
  const vector<narrow::fp16> v = vector<narrow::fp16>::Ones(90000);
  STATIC_REQUIRE(std::is_same_v<decltype(narrow::sum(v)), float>);
  CHECK(narrow::sum(v) == 90000);
  CHECK(narrow::mean(v) == 1);
  CHECK(narrow::norm(v) == 300);
  CHECK(narrow::dot(v, v) == 90000);
  CHECK(narrow::dot(0.5f * v, v) == 45000);
  CHECK(isinf(v.sum()));
  using fixed = narrow::fixed<8, 4>;
  const vector<fixed> w = vector<fixed>::Constant(90000, fixed(7.9375));
  CHECK(static_cast<double>(narrow::sum(w)) == 90000 * 7.9375);
  CHECK(static_cast<double>(narrow::dot(w, w)) == 90000 * 7.9375 * 7.9375);
  CHECK(w.sum() == 7.9375);
}
