// Every way of writing a product, in every storage order, rounds each coefficient once.
#include "catch.hpp"
#include "policies.hpp"
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

/// The orders of C, A and B.
template <int C, int A, int B> struct orders {
  static void scaled() { scaled_forms<C, A, B>(); }
  static void summed() { summed_forms<C, A, B>(); }
};
constexpr int col = Eigen::ColMajor, row_ = Eigen::RowMajor;
using all_orders = std::tuple<orders<col, col, col>, orders<col, row_, col>, orders<row_, col, row_>,
                              orders<row_, row_, row_>>;
// Each order with half of the forms.
using orders_of_scaled = some_of<all_orders, 0, 3>;
using orders_of_summed = some_of<all_orders, 1, 2>;

}  // namespace

TEST_CASE("A product with factors rounds once per coefficient") {
  for_each_type<orders_of_scaled>([]<class Orders>() { Orders::scaled(); });
}

TEST_CASE("A product in a sum, of a sum or of transposes rounds once per coefficient") {
  for_each_type<orders_of_summed>([]<class Orders>() { Orders::summed(); });
}
