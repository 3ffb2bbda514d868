// Every form of a product with a matrix in a block format, against the product of tensors.
#include "tensor_formats.hpp"

using namespace test;
using Eigen::Dynamic;
using Eigen::MatrixXf;
using narrow::column_major;

namespace {

/// alpha a b + beta c by the range function, on tensors and views.
template <class A, class B>
MatrixXf product(const A& a, const B& b, double alpha = 1, const MatrixXf& c = {}) {
  const auto size = [](const auto& x, bool rows) {
    if constexpr (requires { x.view().rows(); })
      return rows ? x.view().rows() : x.view().cols();
    else
      return rows ? x.rows : x.cols;
  };
  MatrixXf result = c.size() > 0 ? c : MatrixXf(size(a, true), size(b, false));
  narrow::gemm(a, b, narrow::detail::view_of_direct(result), alpha, c.size() > 0 ? 1 : 0);
  return result;
}

using block_formats = some_of<std::tuple<in_order<narrow::bfp<8>, Eigen::ColMajor>,
                                         in_order<narrow::bfp<12, narrow::per_row>, Eigen::RowMajor>,
                                         in_order<narrow::bfp<16, narrow::tile<2, 3>>, Eigen::ColMajor>,
                                         in_order<narrow::int8, Eigen::RowMajor>>,
                              0>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("Products run on the stored integers", "[tensor]", block_formats) {
  using M = typename TestType::template matrix<>;
  const MatrixXf x = numbers(5, 7), y = numbers(7, 4, 2), z = numbers(5, 4, 3);
  const M a = x, b = y, at = x.transpose(), bt = y.transpose(), square = numbers(5, 5, 4);
  const auto &ta = a.tensor(), &tb = b.tensor(), &tat = at.tensor(), &tbt = bt.tensor();
  const auto view = [](const auto& m) { return narrow::detail::view_of_direct(m); };
  using narrow::transposed;
  const MatrixXf ab = product(ta, tb);
  tally count;
  const auto expect = [&](const char* name, const MatrixXf& got, const MatrixXf& expected) {
    count.expect(got.rows() == expected.rows() && got.cols() == expected.cols() && got == expected,
                 [&] { return name; });
  };
  expect("tensors", a * b, ab);
  expect("float on the right", a * y, product(ta, view(y)));
  expect("float on the left", x * b, product(view(x), tb));
  const Eigen::Matrix<narrow::fp16, Dynamic, Dynamic> half = y.cast<narrow::fp16>();
  expect("fp16 on the right", a * half, product(ta, view(half)));
  expect("expression on the right", a * (y + y), product(ta, view(MatrixXf(y + y))));
  expect("transposed left", at.transpose() * b, product(transposed(tat), tb));
  expect("transposed right", a * bt.transpose(), product(ta, transposed(tbt)));
  expect("both transposed", bt * at, product(tbt, tat));
  expect("transposes of both", b.transpose() * a.transpose(), product(transposed(tb), transposed(ta)));
  expect("float transposed", a * (bt * 1.0f).transpose(),
         product(ta, view(MatrixXf(MatrixXf(bt).transpose()))));
  expect("with itself", a * a.transpose(), product(ta, transposed(ta)));
  expect("factor", 0.5f * a * b, product(ta, tb, 0.5));
  expect("factor on the right", a * (b * 0.5f), product(ta, tb, 0.5));
  expect("minus", -a * b, product(ta, tb, -1));
  const auto stored = [&](const char* name, auto&& change, const MatrixXf& expected) {
    MatrixXf got = z;
    change(got);
    expect(name, got, expected);
  };
  stored(
      "=", [&](MatrixXf& c) { c = a * b; }, ab);
  stored(
      "noalias =", [&](MatrixXf& c) { c.noalias() = a * b; }, ab);
  stored(
      "+=", [&](MatrixXf& c) { c += a * b; }, product(ta, tb, 1, z));
  stored(
      "noalias +=", [&](MatrixXf& c) { c.noalias() += a * b; }, product(ta, tb, 1, z));
  stored(
      "-=", [&](MatrixXf& c) { c -= a * b; }, product(ta, tb, -1, z));
  stored(
      "noalias -= with a factor", [&](MatrixXf& c) { c.noalias() -= 2 * a * b; }, product(ta, tb, -2, z));
  stored(
      "to a block", [&](MatrixXf& c) { c.topRows(5) = a * b; }, ab);
  stored(
      "sum", [&](MatrixXf& c) { c = z + a * b; }, product(ta, tb, 1, z));
  stored(
      "inside", [&](MatrixXf& c) { c = (a * b).cwiseMax(0); }, ab.cwiseMax(0));
  stored(
      "with a bias", [&](MatrixXf& c) { c = (a * b).colwise() + z.col(0); }, ab.colwise() + z.col(0));
  expect("three factors", square * a * b, product(view(product(square.tensor(), ta)), tb));
  expect("rows", a.topRows(2) * b, ab.topRows(2));
  expect("columns", a * b.rightCols(2), ab.rightCols(2));
  expect("vector", a * y.col(1), product(ta, view(MatrixXf(y.col(1)))));
  expect("row vector", x.row(1) * b, product(view(MatrixXf(x.row(1))), tb));
  expect("inner", a.row(1) * b.col(2), ab.block(1, 2, 1, 1));
  expect("to double", (a * b).template cast<double>().template cast<float>(), ab);
  const Eigen::Matrix<narrow::fp16, Dynamic, Dynamic> narrow_result = a * b;
  expect("to fp16", narrow_result.cast<float>(), ab.cast<narrow::fp16>().cast<float>());
  count.require(32);

  const M stored_product = a * b;
  REQUIRE(holds(stored_product, ab));
  M in_place = square;
  in_place = in_place * in_place.transpose();
  REQUIRE(holds(in_place, product(square.tensor(), transposed(square.tensor()))));
  auto kept = a * b;
  REQUIRE(MatrixXf(kept) == ab);
  const auto with_zero = MatrixXf(M(3, 0) * M(0, 2));
  REQUIRE(with_zero == MatrixXf::Zero(3, 2));
}

TEMPLATE_LIST_TEST_CASE("Fixed sizes multiply as dynamic ones do", "[tensor]", block_formats) {
  using A = typename TestType::template matrix<3, 4>;
  using B = typename TestType::template matrix<4, 2>;
  using V = typename TestType::template matrix<4, 1>;
  const A a = numbers(3, 4);
  const B b = numbers(4, 2, 2);
  const V v = numbers(4, 1, 3);
  REQUIRE(MatrixXf(a * b) == product(a.tensor(), b.tensor()));
  REQUIRE(MatrixXf(a * v) == product(a.tensor(), v.tensor()));
  const Eigen::Matrix<float, 3, 2> fixed = a * b;
  REQUIRE(MatrixXf(fixed) == product(a.tensor(), b.tensor()));
  REQUIRE(float(v.transpose() * v) == product(narrow::transposed(v.tensor()), v.tensor())(0, 0));
  REQUIRE(MatrixXf(v * v.transpose()) == product(v.tensor(), narrow::transposed(v.tensor())));
}

TEST_CASE("Two block formats multiply, whatever their mantissas and scales", "[tensor]") {
  const MatrixXf x = numbers(6, 30), y = numbers(30, 5, 2);
  const Eigen::Matrix<narrow::bfp<8>, Dynamic, Dynamic> a = x;
  const Eigen::Matrix<narrow::bfp<12, narrow::per_column>, Dynamic, Dynamic, Eigen::RowMajor> b = y;
  const Eigen::Matrix<narrow::int8, Dynamic, Dynamic> c = y;
  REQUIRE(MatrixXf(a * b) == product(a.tensor(), b.tensor()));
  REQUIRE(MatrixXf(a * c) == product(a.tensor(), c.tensor()));
  REQUIRE(MatrixXf(a * c).isApprox(MatrixXf(a) * MatrixXf(c), 1e-5f));
}

TEST_CASE("Products of run-time fixed point are exact and round once", "[tensor][fixed]") {
  using narrow::dynamic_fixed;
  using narrow::fixed;
  using D = Eigen::Matrix<dynamic_fixed, Dynamic, Dynamic>;
  using F = Eigen::Matrix<fixed<16, 9>, Dynamic, Dynamic>;
  const MatrixXf x = numbers(6, 40), y = numbers(40, 5, 2), z = numbers(6, 5, 3);
  const F fa = x, fb = y;
  D a, b;
  a.format({16, 9});
  b.format({16, 9});
  a = x;
  b = y;
  tally count;
  const auto check = [&](const char* name, auto&& change) {
    F f = z;
    D d;
    d.format({16, 9});
    d = z;
    change(f, fa, fb);
    change(d, a, b);
    count.expect(d == f.cast<double>(), [&] { return name; });
  };
  check("=", [](auto& c, const auto& l, const auto& r) { c = l * r; });
  check("+=", [](auto& c, const auto& l, const auto& r) { c += l * r; });
  check("-=", [](auto& c, const auto& l, const auto& r) { c -= l * r; });
  check("noalias", [](auto& c, const auto& l, const auto& r) { c.noalias() = l * r; });
  check("factor", [](auto& c, const auto& l, const auto& r) { c = 0.25 * l * r; });
  check("minus a factor", [](auto& c, const auto& l, const auto& r) { c -= 0.25 * l * r; });
  check("transposed",
        [](auto& c, const auto& l, const auto& r) { c = (r.transpose() * l.transpose()).transpose(); });
  check("row", [](auto& c, const auto& l, const auto& r) { c.row(1) = l.row(1) * r; });
  check("block", [](auto& c, const auto& l, const auto& r) { c.topRows(2) = l.topRows(2) * r; });
  check("itself", [](auto& c, const auto&, const auto&) { c = (c * c.transpose()).leftCols(5); });
  count.require(10);

  const Eigen::MatrixXd exact = Eigen::MatrixXd(a) * Eigen::MatrixXd(b);  // 2^-18 times less than 2^53
  REQUIRE(Eigen::MatrixXd(a * b) == exact);
}

TEST_CASE("A matrix of run-time fixed point keeps its format", "[tensor][fixed]") {
  using D = Eigen::Matrix<narrow::dynamic_fixed, Dynamic, Dynamic>;
  D m;
  REQUIRE(m.format() == narrow::fixed_format{8, 4});
  m = Eigen::MatrixXd::Constant(2, 2, 1.15);
  REQUIRE(m(0, 0) == 1.125);  // 18 / 16
  m.format({16, 12});
  REQUIRE(m(0, 0) == 1.125);
  m = Eigen::MatrixXd::Constant(2, 2, 1.15);
  REQUIRE(m(0, 0) == std::nearbyint(1.15 * 4096) / 4096);
  const D other = Eigen::MatrixXd::Constant(2, 2, 9.0);
  m = other;
  REQUIRE(m.format() == narrow::fixed_format{16, 12});
  REQUIRE(m(0, 0) == 8 - 1.0 / 16);  // where 9 saturated
  const D copy = m;
  REQUIRE(copy.format() == narrow::fixed_format{16, 12});
  REQUIRE_THROWS_AS(m.format(narrow::fixed_format(33, 4)), std::invalid_argument);
}
