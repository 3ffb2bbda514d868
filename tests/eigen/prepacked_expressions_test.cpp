// Prepacked operands in Eigen: the bits of the products of the matrices that they were made from.
#include <narrow/eigen.hpp>
#include <random>

#include "any_codes.hpp"
#include "every_isa.hpp"
#include "product_checks.hpp"

using namespace test;

namespace {

using Eigen::Index;
constexpr int dynamic = Eigen::Dynamic;

template <class X> bool same_bits(const X& a, const X& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof *a.data()) == 0;
}

template <class T, int Order> matrix_in_order<T, Order> codes(Index rows, Index cols, unsigned seed) {
  if constexpr (narrow::narrow_float<T>) {
    return any_codes<T, Order>(rows, cols, seed);
  } else {
    std::mt19937 random(seed);
    return matrix_in_order<T, Order>::NullaryExpr(
        rows, cols, [&] { return T::from_bits(static_cast<typename T::bits_type>(random())); });
  }
}

/// Every way to store c in place of `x`, and of `y`, which are equal.
template <class C, class X, class Y>
void check_same(tally& count, const std::string& name, const C& c, const X& x, const Y& y) {
  for_each_store([&](const char* way, auto store, int, int) {
    C of_x = c, of_y = c;
    narrow::seed(5);
    store(of_x, x());
    narrow::seed(5);
    store(of_y, y());
    count.expect(same_bits(of_x, of_y), [&] { return name + ", " + way; });
  });
}

/// W as left and as right operand, turned, scaled, inside an expression and as a view.
template <class C, class M, class N, class P>
void check_forms(tally& count, const std::string& name, const M& w, const N& x, const N& z, const P& p) {
  C wx = C::Ones(w.rows(), x.cols()), zw = C::Ones(z.rows(), w.cols()), turned = C::Ones(x.cols(), w.rows());
  check_same(
      count, name + ", W X", wx, [&] { return w * x; }, [&] { return p * x; });
  check_same(
      count, name + ", Z W", zw, [&] { return z * w; }, [&] { return z * p; });
  check_same(
      count, name + ", X' W'", turned, [&] { return x.transpose() * w.transpose(); },
      [&] { return x.transpose() * p.transpose(); });
  check_same(
      count, name + ", -2 W X", wx, [&] { return -2 * w * x; }, [&] { return -2 * p * x; });
  check_same(
      count, name + ", a column", C(wx.col(0)), [&] { return w * x.col(0); }, [&] { return p * x.col(0); });
  check_same(
      count, name + ", a block", wx, [&] { return w.leftCols(1) * x.topRows(1); },
      [&] { return p.leftCols(1) * x.topRows(1); });
}
constexpr int forms = 6 * store_count;

const Eigen::Vector3i shapes[] = {{1, 1, 1}, {3, 33, 40}, {70, 5, 64}, {33, 40, 200}, {66, 34, 257}};

template <class T, int Order> void check_matrix() {
  using matrix = Eigen::Matrix<T, dynamic, dynamic, Order>;
  using other = Eigen::Matrix<T, dynamic, dynamic, Eigen::ColMajor>;
  tally count;
  unsigned seed = 0;
  for (const auto& s : shapes) {
    const matrix w = codes<T, Order>(s[0], s[2], ++seed);
    const other x = codes<T, Eigen::ColMajor>(s[2], s[1], ++seed),
                z = codes<T, Eigen::ColMajor>(s[1], s[0], ++seed);
    const auto p = narrow::prepacked(w);
    const auto strided = narrow::prepacked(
        Eigen::Map<const matrix, 0, Eigen::InnerStride<>>(w.data(), s[0], s[2], Eigen::InnerStride<>(1)));
    for_each_isa([&](const std::string& isa) {
      check_forms<other>(count, isa, w, x, z, p);
      check_forms<Eigen::MatrixXf>(count, isa + " to float", w, x, z, p);
      check_same(
          count, isa + " of a map", other(other::Ones(w.rows(), x.cols())), [&] { return w * x; },
          [&] { return strided * x; });
    });
    const matrix read = w.template cast<float>().template cast<T>();  // which makes NaNs quiet
    count.expect(same_bits(matrix(p), read), [] { return std::string("as an expression"); });
  }
  count.require(std::size(shapes) * (isa_count() * (2 * forms + store_count) + 1));
}

template <class Format, int Order> void check_tensor() {
  using matrix = Eigen::Matrix<Format, dynamic, dynamic, Order>;
  using Eigen::MatrixXf;
  tally count;
  for (const auto& s : shapes) {
    const matrix w = MatrixXf::Random(s[0], s[2]);
    const MatrixXf x = MatrixXf::Random(s[2], s[1]), z = MatrixXf::Random(s[1], s[0]);
    const auto p = narrow::prepacked(w);
    for_each_isa([&](const std::string& isa) { check_forms<MatrixXf>(count, isa, w, x, z, p); });
    count.expect(same_bits(MatrixXf(p), MatrixXf(w)), [] { return std::string("as an expression"); });
  }
  count.require(std::size(shapes) * (isa_count() * forms + 1));
}

}  // namespace

TEST_CASE("prepacked matrices of Eigen: the same bits", "[eigen]") {
  check_matrix<narrow::fp16, Eigen::ColMajor>();
  check_matrix<narrow::fixed<8, 4, narrow::rounding::stochastic>, Eigen::RowMajor>();
}

TEST_CASE("prepacked tensors of Eigen: the same bits", "[eigen]") {
  check_tensor<narrow::bfp<8>, Eigen::ColMajor>();
  check_tensor<narrow::mx<narrow::fp8_e4m3fn>, Eigen::RowMajor>();
}

TEST_CASE("prepacked expressions are values, whose panels products use", "[eigen]") {
  using matrix = Eigen::Matrix<narrow::bf16, dynamic, dynamic>;
  const matrix a = any_codes<narrow::bf16, Eigen::ColMajor>(40, 50, 1), x = matrix::Ones(50, 70);
  matrix b = matrix::Ones(7, 50);
  auto p = narrow::prepacked(a);
  const matrix wanted = a * x, of_b = b * x;
  REQUIRE(same_bits(matrix(p * x), wanted));
  const std::size_t bytes = p.matrix().panel_bytes();
  if (narrow::isa_name() != "portable") REQUIRE(bytes >= 2 * 40 * 50);
  const auto copy = p;
  p = *&p;
  REQUIRE(p.rows() == 40);
  p = narrow::prepacked(b);
  b.setZero();  // of no effect
  REQUIRE(p.rows() == 7);
  REQUIRE(same_bits(matrix(p * x), of_b));
  REQUIRE(same_bits(matrix(copy * x), wanted));
  REQUIRE(copy.matrix().panel_bytes() == bytes);
  const auto late = narrow::prepacked(matrix(a)) * x;  // the product holds what it looks at
  REQUIRE(same_bits(matrix(late), wanted));
  matrix y = x;
  y = copy * y;
  REQUIRE(same_bits(y, wanted));

  const auto sum = narrow::prepacked(a + a);  // as wide as the product takes it
  REQUIRE(same_bits(Eigen::MatrixXf(sum * x), Eigen::MatrixXf((a + a) * x)));

  using tensor = Eigen::Matrix<narrow::int8, dynamic, dynamic>;
  const tensor t = Eigen::MatrixXf::Random(40, 50);
  auto q = narrow::prepacked(t);
  const Eigen::MatrixXf f = Eigen::MatrixXf::Random(50, 30), product = t * f;
  REQUIRE(same_bits(Eigen::MatrixXf(q * f), product));
  if (narrow::isa_name() != "portable") REQUIRE(q.panel_bytes() >= 40 * 50);
  q = *&q;
  const auto other = q;
  q = narrow::prepacked(tensor(Eigen::MatrixXf::Ones(2, 2)));
  REQUIRE(q.rows() == 2);
  REQUIRE(same_bits(Eigen::MatrixXf(other * f), product));
}

TEST_CASE("prepacked matrices of dynamic_fixed are multiplied as before", "[eigen]") {
  using matrix = Eigen::Matrix<narrow::dynamic_fixed, dynamic, dynamic>;
  const matrix w = Eigen::MatrixXd::Random(20, 30), x = Eigen::MatrixXd::Random(30, 9);
  REQUIRE(same_bits(Eigen::MatrixXd(narrow::prepacked(w) * x), Eigen::MatrixXd(w * x)));
}
