// Every way of writing a product, in every storage order, rounds each coefficient once.
#include "catch.hpp"
#include "product_checks.hpp"

using namespace test;

namespace {

using S = counted_fp16;
constexpr int rows = 7, depth = 17, cols = 9;

// The operands as doubles and, in one storage order or another, as narrow numbers.
template <class A, class B, class D> struct operands {
  A a, a2, at;
  B b, bt;
  D d;
};

using exact_operands = operands<Eigen::MatrixXd, Eigen::MatrixXd, Eigen::MatrixXd>;

exact_operands exact() {
  exact_operands x;
  x.a = integers(rows, depth, 1);
  x.a2 = integers(rows, depth, 2);
  x.at = x.a.transpose();
  x.b = integers(depth, cols, 3);
  x.bt = x.b.transpose();
  x.d = integers(rows, cols, 4);
  return x;
}

template <class A, class B, class D> operands<A, B, D> narrowed(const exact_operands& x) {
  return {x.a.cast<S>(), x.a2.cast<S>(), x.at.cast<S>(), x.b.cast<S>(), x.bt.cast<S>(), x.d.cast<S>()};
}

template <class C, class A, class B> struct checker {
  tally& result;
  exact_operands x = exact();
  operands<A, B, C> y = narrowed<A, B, C>(x);

  template <class Form> void operator()(const char* name, Form form) {
    C c(rows, cols);
    check_stores(
        result, name, c, [&] { return form(y); }, form(x));
  }
};

template <int C, int A, int B> void scaled_forms() {
  tally result;
  checker<matrix<S, C>, matrix<S, A>, matrix<S, B>> check{result};
  check("a * b", [](const auto& x) { return x.a * x.b; });
  check("0.5f * a * b", [](const auto& x) { return 0.5f * x.a * x.b; });
  check("a * (0.5f * b)", [](const auto& x) { return x.a * (0.5f * x.b); });
  check("-a * b", [](const auto& x) { return -x.a * x.b; });
  check("0.5f * (a * b)", [](const auto& x) { return 0.5f * (x.a * x.b); });
  check("a * b * 2", [](const auto& x) { return x.a * x.b * 2; });
  result.require(6 * store_count);
}

template <int C, int A, int B> void summed_forms() {
  tally result;
  checker<matrix<S, C>, matrix<S, A>, matrix<S, B>> check{result};
  check("d + a * b", [](const auto& x) { return x.d + x.a * x.b; });
  check("d - a * b", [](const auto& x) { return x.d - x.a * x.b; });
  check("a * b - d", [](const auto& x) { return x.a * x.b - x.d; });
  check("(a + a2) * b", [](const auto& x) { return (x.a + x.a2) * x.b; });
  check("at' * b", [](const auto& x) { return x.at.transpose() * x.b; });
  check("a * bt'", [](const auto& x) { return x.a * x.bt.transpose(); });
  result.require(6 * store_count);
}

constexpr int col = Eigen::ColMajor, row_ = Eigen::RowMajor;

}  // namespace

TEST_CASE("A product with factors rounds once per coefficient") {
  scaled_forms<col, col, col>();
  scaled_forms<col, row_, col>();
  scaled_forms<row_, col, row_>();
  scaled_forms<row_, row_, row_>();
}

TEST_CASE("A product in a sum, of a sum or of transposes rounds once per coefficient") {
  summed_forms<col, col, col>();
  summed_forms<col, row_, col>();
  summed_forms<row_, col, row_>();
  summed_forms<row_, row_, row_>();
}
