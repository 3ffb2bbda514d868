// Contractions and reductions of Eigen's unsupported tensors against sums of the same terms in double.
// Exhaustive, since their headers take long to compile.
#include <narrow/eigen.hpp>

#include <unsupported/Eigen/CXX11/Tensor>

#include "../samples.hpp"
#include "../tally.hpp"

using namespace test;
using namespace narrow;

namespace {

using pair = Eigen::IndexPair<int>;

/// Small multiples of 1/8.
template <class X> void fill(X& x, generator& random) {
  using T = typename X::Scalar;
  for (Eigen::Index i = 0; i < x.size(); ++i)
    x.data()[i] = T((static_cast<float>(below(random, 31)) - 15) / 8);
}

template <class T, int Rank, int Layout>
Eigen::Tensor<double, Rank, Layout> wide(const Eigen::Tensor<T, Rank, Layout>& x) {
  return x.template cast<double>();
}

/// Whether each number is the exact one, rounded once.
template <class T, int Rank, int Layout>
bool is_rounded(const Eigen::Tensor<T, Rank, Layout>& x, const Eigen::Tensor<double, Rank, Layout>& exact) {
  bool same = x.size() == exact.size();
  for (Eigen::Index i = 0; same && i < x.size(); ++i) same = x.data()[i] == T(exact.data()[i]);
  return same;
}

template <class T, int Layout> void check(tally& count) {
  generator random(8);
  Eigen::Tensor<T, 2, Layout> a(7, 50), b(50, 4);
  Eigen::Tensor<T, 3, Layout> c(5, 50, 3);
  fill(a, random);
  fill(b, random);
  fill(c, random);
  const auto expect = [&](const auto& x, const auto& exact, const char* what) {
    count.expect(is_rounded(x, exact), [&] { return std::string(what) + name_of<T>(); });
  };
  using two = Eigen::Tensor<T, 2, Layout>;
  using exact_two = Eigen::Tensor<double, 2, Layout>;
  using exact_three = Eigen::Tensor<double, 3, Layout>;
  const Eigen::array<pair, 1> inner{pair(1, 0)}, second{pair(1, 1)};
  expect(two(a.contract(b, inner)), exact_two(wide(a).contract(wide(b), inner)), "a b");
  expect(Eigen::Tensor<T, 3, Layout>(a.contract(c, second)), exact_three(wide(a).contract(wide(c), second)),
         "of three dimensions");
  const two product = a.contract(b, inner);
  expect(two(a.contract(b, inner) + product), exact_two(wide(product) + wide(product)), "in an expression");

  const Eigen::array<int, 1> last{1};
  const Eigen::array<int, 2> ends{0, 2};
  expect(Eigen::Tensor<T, 1, Layout>(a.sum(last)), Eigen::Tensor<double, 1, Layout>(wide(a).sum(last)),
         "sum of rows");
  expect(Eigen::Tensor<T, 1, Layout>(c.sum(ends)), Eigen::Tensor<double, 1, Layout>(wide(c).sum(ends)),
         "sum of two");
  expect(Eigen::Tensor<T, 0, Layout>(c.sum()), Eigen::Tensor<double, 0, Layout>(wide(c).sum()), "sum");
  expect(Eigen::Tensor<T, 1, Layout>(c.mean(ends)),
         Eigen::Tensor<double, 1, Layout>(wide(c).template cast<float>().mean(ends).template cast<double>()),
         "mean");
  expect(Eigen::Tensor<T, 0, Layout>(b.maximum()), Eigen::Tensor<double, 0, Layout>(wide(b).maximum()),
         "maximum");
}

}  // namespace

TEST_CASE("contractions and reductions of tensors are wide and rounded once", "[.exhaustive][eigen]") {
  tally count;
  check<fp16, Eigen::ColMajor>(count);
  check<fp16, Eigen::RowMajor>(count);
  check<bf16, Eigen::ColMajor>(count);
  check<fixed<12, 6>, Eigen::RowMajor>(count);
  count.require(4 * 8);
  Eigen::Tensor<bf16, 2> ones(2, 4096);
  ones.setConstant(bf16(1));
  const Eigen::array<pair, 1> inner{pair(1, 1)};
  const Eigen::Tensor<bf16, 2> product = ones.contract(ones, inner);
  REQUIRE(product(1, 0) == 4096);
  const Eigen::Tensor<bf16, 0> sum = ones.sum(), mean = ones.mean();
  REQUIRE((sum() == 8192 && mean() == 1));
}
